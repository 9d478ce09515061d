"""Change requests as people and programs read them; text from outside is escaped before a terminal gets it."""

import sys
from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from typing import Any

from syncd.cli.sync.people import choose_user_name, format_age, format_author
from syncd.cli.sync.review import build_review_document
from syncd.cli.terminal.output import build_change_document, format_changes
from syncd.cli.terminal.text import escape, name_config, style_text
from syncd.model.wording import format_count
from syncd.plan.message import remove_marker
from syncd.sync.review.requests import FoundRequest, RequestDetails

CHANGES_SHOWN = 100


def format_title(found: FoundRequest) -> str:
    """Return number, space, branch, subject and status as one line."""
    request = found.request
    place = f"{found.binding.name}/{found.branch}" if found.branch else found.binding.name
    head = escape(f"#{request.number} {place}  {remove_marker(request.subject)}")
    return f"{style_text(head, 1, sys.stdout)}  ({escape(request.status)})"


def format_request(found: FoundRequest) -> Iterator[str]:
    """Return the lines of one change request in a list: what it is, problems, who wrote and who approved it."""
    yield format_title(found)
    yield from format_problems(found)
    parts = [_format_origin(found), *_list_approvals(found)]
    if found.request.comments:
        parts.append(format_count(found.request.comments, "open comment"))
    yield f"  {'; '.join(parts)}"


def format_details(details: RequestDetails, config_file: Path | None) -> Iterator[str]:
    """Return all that `syncd cr show` says of a change request; `config_file` is what the command line names."""
    found, request = details.found, details.found.request
    yield format_title(found)
    if request.address:
        yield f"  {request.address}"
    for path in details.conflicts:
        resolve = escape(name_config(f"syncd resolve {quote(path)}", config_file))
        yield f"  {_format_mark()} conflict in {escape(path)}: {resolve}"
    yield from format_problems(found)
    yield f"  {'; '.join([_format_origin(found), *_list_approvals(found)])}"
    if request.is_live and not found.reviews:
        yield "  nobody has reviewed it yet"
    comments = format_count(request.comments, "open comment") if request.comments else "no open comments"
    review = f"; {escape(name_config('syncd review', config_file))} shows them"
    yield f"  {comments}{review if request.comments and found.branch else ''}"
    text = request.description.text().strip() if request.description is not None else ""
    if text:
        yield ""
        yield from (f"  {escape(line)}".rstrip() for line in text.splitlines())
    yield ""
    yield from _format_page_changes(details)


def format_problems(found: FoundRequest) -> Iterator[str]:
    """Return a line for each reason why a live change request cannot simply be merged."""
    if not found.request.is_live:
        return
    for review in found.objections:
        yield f"  {_format_mark()} changes requested by {format_author(review.reviewer, review.updated_at)}"
    if found.request.outdated:
        yield f"  {_format_mark()} outdated: main content has moved on"


def _format_page_changes(details: RequestDetails) -> Iterator[str]:
    if details.changes is None:
        yield "What it changes is not known: the platform does not say, and Git has not seen it."
        return
    if not details.changes:
        yield "It changes nothing."
        return
    yield "Changes:"
    yield from format_changes(details.changes, shown=CHANGES_SHOWN)
    if details.more:
        yield f"  and {details.more} more"


def _format_mark() -> str:
    return style_text("!", 31, sys.stdout)


def _format_origin(found: FoundRequest) -> str:
    """Who opened it, and what happened to it last."""
    request = found.request
    author = escape(choose_user_name(request.created_by)) if request.created_by is not None else "somebody"
    if request.status == "merged" and request.merged_at:
        by = f" by {escape(choose_user_name(request.merged_by))}" if request.merged_by is not None else ""
        return f"by {author}, merged{by} {escape(format_age(request.merged_at))}"
    return f"by {author}" + (f", changed {escape(format_age(request.updated_at))}" if request.updated_at else "")


def _list_approvals(found: FoundRequest) -> Iterator[str]:
    for review in found.reviews:
        if review.status == "approved":
            since = ", before the last change" if review.outdated else ""
            yield f"{style_text('approved', 32, sys.stdout)} by {escape(choose_user_name(review.reviewer))}{since}"


def build_request_document(root: Path, found: FoundRequest) -> dict[str, Any]:
    """Return the JSON object of a change request; `branch` is null for one that is not proposed from here."""
    request = found.request
    return {
        "repository": str(root),
        "space": found.binding.space,
        "name": found.binding.name,
        "branch": found.branch or None,
        "number": request.number,
        "id": request.id,
        "subject": remove_marker(request.subject),
        "status": request.status,
        "author": choose_user_name(request.created_by) if request.created_by is not None else None,
        "updated_at": request.updated_at,
        "merged_at": request.merged_at,
        "outdated": request.outdated and request.is_live,
        "open_comments": request.comments,
        "reviews": [build_review_document(review) for review in found.reviews],
        "url": request.address or None,
    }


def build_details_document(root: Path, details: RequestDetails) -> dict[str, Any]:
    """Return the JSON object of `syncd cr show`; `changes` is null where nobody knows them."""
    request = details.found.request
    changes = None if details.changes is None else [build_change_document(change) for change in details.changes]
    return build_request_document(root, details.found) | {
        "description": request.description.text() if request.description is not None else "",
        "conflicts": list(details.conflicts),
        "changes": changes,
        "changes_left_out": details.more,
    }
