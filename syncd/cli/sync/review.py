"""`review`: show the comments on the live change requests with file and line, and answer them."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from shlex import quote
from typing import Any

import typer

from syncd.cli.sync.people import choose_user_name, format_author
from syncd.cli.terminal.context import load_configuration, load_whole_configuration
from syncd.cli.terminal.output import RepositoryFailures, print_document
from syncd.cli.terminal.progress import make_environment
from syncd.cli.terminal.text import escape, name_config, print_text, style_text
from syncd.config import RepositoryConfig
from syncd.daemon.workspaces import open_for_reading
from syncd.layout.richtext.nodes import count_common_prefix
from syncd.model.comment import TEXT_MAX, CommentBody
from syncd.model.review import Review
from syncd.model.text import join_lines
from syncd.model.wording import format_first
from syncd.plan.message import remove_marker
from syncd.sync.review.comments import Discussion, FoundComment, Remark, find_comments, list_discussions, reply, resolve
from syncd.sync.workspace import Workspace

ID_LENGTH_MIN = 6
"""The least number of characters of an id that is shown."""


def show_review(config_file: Path | None, *, with_resolved: bool, quickfix: bool, as_json: bool) -> int:
    """Print the discussion of every live change request of every configured repository; return the exit code.

    Raises: what the only repository raises.
    """
    config, broken = load_whole_configuration(config_file)
    codes: list[int] = []
    found: list[tuple[Path, Discussion]] = []
    failures = RepositoryFailures(broken, as_json=as_json)
    for repository in config.repository:
        with failures.catch(), open_for_reading(config, repository, make_environment()) as workspace:
            found += [(repository.path, each) for each in list_discussions(workspace, resolved=with_resolved)]
            codes.append(0)
    if not codes:
        return failures.finish(codes)
    if as_json:
        print_document({"change_requests": [_build_document(root, discussion) for root, discussion in found]})
    elif quickfix:
        for root, discussion in found:
            sys.stdout.writelines(f"{line}\n" for line in _format_quickfix(root, discussion))
    else:
        print_text(
            "\n\n".join("\n".join(_format_discussion(root, discussion, config_file)) for root, discussion in found)
            or "No change request is live."
        )
    return failures.finish(codes)


def reply_to_comment(config_file: Path | None, comment: str, text: str) -> None:
    """Post a reply to the comment whose id begins with `comment`; the text `-` is read from stdin.

    Raises: BadParameter.
    """
    words = sys.stdin.read() if text == "-" else text
    if not words.strip():
        raise typer.BadParameter("the reply is empty")
    if len(words) > TEXT_MAX:
        raise typer.BadParameter(f"the reply has {len(words)} characters; {TEXT_MAX} are the most")
    found = _act_on_comment(config_file, comment, lambda workspace, found: reply(workspace, found, words))
    print(f"Replied to {_format_title(found)}.")


def resolve_comment(config_file: Path | None, comment: str, *, resolved: bool) -> None:
    """Resolve the comment whose id begins with `comment`, or open it again. Raises: BadParameter."""
    found = _act_on_comment(config_file, comment, lambda workspace, found: resolve(workspace, found, resolved=resolved))
    print(f"{'Resolved' if resolved else 'Opened again'}: {_format_title(found)}.")


def _act_on_comment(
    config_file: Path | None, beginning: str, work: Callable[[Workspace, FoundComment], None]
) -> FoundComment:
    """Call `work` with the comment whose id begins with `beginning`, and return the comment.

    Raises: BadParameter when there is none, or there are several; why the first repository that cannot be read cannot,
    when there is none in the others.
    """
    config = load_configuration(config_file)
    matches: dict[str, tuple[RepositoryConfig, FoundComment]] = {}
    failures = RepositoryFailures({}, as_json=False)
    for repository in config.repository if beginning else ():
        with failures.catch(), open_for_reading(config, repository, make_environment()) as workspace:
            matches |= {found.comment.id: (repository, found) for found in find_comments(workspace, beginning)}
    if failures.errors and not matches:
        raise failures.errors[0]
    if len(matches) != 1:
        known = ": " + format_first(list(matches), 5) if matches else ""
        raise typer.BadParameter(f"{len(matches) or 'no'} comments have an id that begins with {beginning!r}{known}")
    repository, found = next(iter(matches.values()))
    with open_for_reading(config, repository, make_environment()) as workspace:
        work(workspace, found)
    return found


def _format_title(found: FoundComment) -> str:
    author = choose_user_name(found.comment.posted_by)
    return escape(f"{found.comment.id}, {author} on #{found.request.number} {remove_marker(found.request.subject)}")


def _format_discussion(root: Path, discussion: Discussion, config_file: Path | None) -> Iterator[str]:
    request = discussion.request
    head = f"#{request.number} {discussion.binding.name}/{discussion.branch}  {remove_marker(request.subject)}"
    yield f"{style_text(escape(head), 1, sys.stdout)}  ({escape(request.status)})"
    if request.address:
        yield f"  {request.address}"
    problems = _format_problems(discussion, config_file)
    yield from (f"  {style_text('!', 31, sys.stdout)} {escape(problem)}" for problem in problems)
    yield from _format_approvals(discussion)
    short_ids = _shorten_ids([remark.comment.id for remark in discussion.comments])
    for remark in discussion.comments:
        comment = remark.comment
        state = "" if remark.is_open else ", resolved"
        place = _format_location(root, remark) or "the whole change request"
        author = format_author(comment.posted_by, comment.posted_at)
        yield f"  {escape(place)}  {author}{state}  [{escape(short_ids[comment.id])}]"
        yield from (f"      {escape(line)}" for line in _list_text_lines(comment.body))
        for answer in remark.replies:
            yield f"      > {format_author(answer.posted_by, answer.posted_at)}"
            yield from (f"        {escape(line)}" for line in _list_text_lines(answer.body))
    if not discussion.has_problems:
        yield "  nothing is open"


def _format_problems(discussion: Discussion, config_file: Path | None) -> Iterator[str]:
    for path in discussion.conflicts:
        yield f"conflict in {path}: {name_config(f'syncd resolve {quote(path)}', config_file)}"
    for review in discussion.objections:
        yield f"changes requested by {format_author(review.reviewer, review.updated_at)}"
    if discussion.request.outdated:
        push = name_config(f"syncd push {quote(discussion.branch)}", config_file)
        yield f"outdated: main content has moved on; {push}"
    if discussion.request.comments:
        yield f"open comments: {discussion.request.comments}"


def _format_approvals(discussion: Discussion) -> Iterator[str]:
    """Who has approved, and whether the content has changed since."""
    for review in discussion.reviews:
        if review.status == "approved":
            since = ", before the last change" if review.outdated else ""
            approved = style_text("approved", 32, sys.stdout)
            yield f"  {approved} by {format_author(review.reviewer, review.updated_at)}{since}"
    if not discussion.reviews and discussion.request.status == "open":
        yield "  nobody has reviewed it yet"


def _format_quickfix(root: Path, discussion: Discussion) -> Iterator[str]:
    for remark in discussion.comments:
        remarks = [f"{choose_user_name(remark.comment.posted_by)}: {' '.join(_list_text_lines(remark.comment.body))}"]
        remarks += [
            f"{choose_user_name(answer.posted_by)}: {' '.join(_list_text_lines(answer.body))}"
            for answer in remark.replies
        ]
        place = f"{_format_location(root, remark)}:1: " if remark.path else ""
        state = "" if remark.is_open else " (resolved)"
        yield escape(
            f"{place}#{discussion.request.number}{state} {join_lines(' | '.join(remarks))} [{remark.comment.id}]"
        )


def _format_location(root: Path, remark: Remark) -> str:
    """The path and line of a remark, relative to the current directory; "" for one without a path."""
    return f"{os.path.relpath(root / remark.path)}:{remark.line}" if remark.path else ""


def _list_text_lines(body: CommentBody) -> list[str]:
    words = body.markdown if body.markdown is not None else body.document.text() if body.document is not None else ""
    return [line for line in words.splitlines() if line.strip()]


def _shorten_ids(ids: Sequence[str]) -> dict[str, str]:
    """The shortest beginning of each id that no other of them has."""
    ordered = sorted(ids)
    short_ids: dict[str, str] = {}
    for before, id, after in zip(["", *ordered], ordered, [*ordered[1:], ""], strict=False):
        shared = max(count_common_prefix(id, other) for other in (before, after))
        short_ids[id] = id[: max(ID_LENGTH_MIN, shared + 1)]
    return short_ids


def _build_document(root: Path, discussion: Discussion) -> dict[str, Any]:
    request = discussion.request
    return {
        "repository": str(root),
        "space": discussion.binding.space,
        "name": discussion.binding.name,
        "branch": discussion.branch,
        "number": request.number,
        "id": request.id,
        "subject": request.subject,
        "status": request.status,
        "outdated": request.outdated,
        "open_comments": request.comments,
        "conflicts": list(discussion.conflicts),
        "reviews": [build_review_document(review) for review in discussion.reviews],
        "comments": [_build_comment(remark) for remark in discussion.comments],
        "url": request.address or None,
    }


def build_review_document(review: Review) -> dict[str, Any]:
    """Return the JSON object of a review."""
    facts = {"id": review.id, "reviewer": choose_user_name(review.reviewer), "status": review.status}
    return facts | {"outdated": review.outdated, "at": review.updated_at}


def _build_comment(remark: Remark) -> dict[str, Any]:
    comment = remark.comment
    return {
        "id": comment.id,
        "path": remark.path,
        "line": remark.line,
        "author": choose_user_name(comment.posted_by),
        "at": comment.posted_at,
        "status": comment.status,
        "text": "\n".join(_list_text_lines(comment.body)),
        "replies": [
            {
                "author": choose_user_name(answer.posted_by),
                "at": answer.posted_at,
                "text": "\n".join(_list_text_lines(answer.body)),
            }
            for answer in remark.replies
        ],
    }
