"""`review`: what is said of the live change requests, with file and line, and answers to it."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import typer

from syncd.cli.terminal.context import configuration
from syncd.cli.terminal.output import emit
from syncd.cli.terminal.text import paint, print_text, safe
from syncd.config import RepositoryConfig
from syncd.daemon.workplace import Circumstances, now, reading
from syncd.layout.richtext.nodes import common
from syncd.model.comment import TEXT_MAX, CommentBody
from syncd.model.text import one_line
from syncd.model.user import User
from syncd.model.wording import format_count
from syncd.plan.message import bare_subject
from syncd.sync.review.comments import Discussion, Found, Remark, discussions, find_comments, reply, resolve
from syncd.sync.workspace import Workspace

SHORTEST = 6
"""Characters of an id that are shown at least."""
_STEPS = (("year", 31_536_000), ("month", 2_592_000), ("day", 86_400), ("hour", 3600), ("minute", 60))


def show_review(config_file: Path | None, *, everything: bool, quickfix: bool, as_json: bool) -> int:
    """Print the discussion of every live change request of every configured repository."""
    found: list[tuple[Path, Discussion]] = []
    for root, workspace in _workspaces(config_file):
        found += [(root, each) for each in discussions(workspace, resolved=everything)]
    if as_json:
        emit({"change_requests": [_document(root, each) for root, each in found]})
    elif quickfix:
        for root, each in found:
            sys.stdout.writelines(f"{line}\n" for line in _quickfix(root, each))
    else:
        print_text("\n\n".join("\n".join(_lines(root, each)) for root, each in found) or "No change request is live.")
    return 0


def reply_to(config_file: Path | None, comment: str, text: str) -> None:
    """Post a reply to the one comment that is meant. Shape: `-` takes the text from stdin."""
    words = sys.stdin.read() if text == "-" else text
    if not words.strip():
        raise typer.BadParameter("the reply is empty")
    if len(words) > TEXT_MAX:
        raise typer.BadParameter(f"the reply has {len(words)} characters; {TEXT_MAX} are the most")
    found = _meant(config_file, comment, lambda workspace, found: reply(workspace, found, words))
    print(f"Replied to {_titled(found)}.")


def settle(config_file: Path | None, comment: str, *, resolved: bool) -> None:
    """Resolve the one comment that is meant, or open it again."""
    found = _meant(config_file, comment, lambda workspace, found: resolve(workspace, found, resolved=resolved))
    print(f"{'Resolved' if resolved else 'Opened again'}: {_titled(found)}.")


def _workspaces(config_file: Path | None) -> Iterator[tuple[Path, Workspace]]:
    config = configuration(config_file)
    for repository in config.repository:
        with reading(config, repository, Circumstances(os.environ)) as workspace:
            yield repository.path, workspace


def _meant(config_file: Path | None, beginning: str, work: Callable[[Workspace, Found], None]) -> Found:
    """Given how an id begins, do the work on the one comment that is meant.

    Raises: BadParameter when it is none, or several.
    """
    config = configuration(config_file)
    several: dict[str, tuple[RepositoryConfig, Found]] = {}
    for repository in config.repository if beginning else ():
        with reading(config, repository, Circumstances(os.environ)) as workspace:
            several |= {found.comment.id: (repository, found) for found in find_comments(workspace, beginning)}
    if len(several) != 1:
        known = ": " + ", ".join(list(several)[:5]) if several else ""
        raise typer.BadParameter(f"{len(several) or 'no'} comments have an id that begins with {beginning!r}{known}")
    repository, found = next(iter(several.values()))
    with reading(config, repository, Circumstances(os.environ)) as workspace:
        work(workspace, found)
    return found


def _titled(found: Found) -> str:
    author = _name(found.comment.posted_by)
    return safe(f"{found.comment.id}, {author} on #{found.request.number} {bare_subject(found.request.subject)}")


def _lines(root: Path, each: Discussion) -> Iterator[str]:
    request = each.request
    head = f"#{request.number} {each.binding.name}/{each.branch}  {bare_subject(request.subject)}"
    yield f"{paint(safe(head), 1, sys.stdout)}  ({safe(request.status)})"
    if request.address:
        yield f"  {request.address}"
    yield from (f"  {paint('!', 31, sys.stdout)} {safe(problem)}" for problem in _problems(each))
    yield from _approvals(each)
    short = _shortened([remark.comment.id for remark in each.remarks])
    for remark in each.remarks:
        comment = remark.comment
        state = "" if remark.is_open else ", resolved"
        place = _place(root, remark) or "the whole change request"
        yield f"  {safe(place)}  {_said_by(comment.posted_by, comment.posted_at)}{state}  [{safe(short[comment.id])}]"
        yield from (f"      {safe(line)}" for line in _text(comment.body))
        for answer in remark.replies:
            yield f"      > {_said_by(answer.posted_by, answer.posted_at)}"
            yield from (f"        {safe(line)}" for line in _text(answer.body))
    if not each.has_problems:
        yield "  nothing is open"


def _problems(each: Discussion) -> Iterator[str]:
    for path in each.conflicts:
        yield f"conflict in {path}: syncd resolve {path}"
    for review in each.objections:
        yield f"changes requested by {_said_by(review.reviewer, review.updated_at)}"
    if each.request.outdated:
        yield "outdated: main content has moved on; syncd pull"
    if each.request.comments:
        yield f"open comments: {each.request.comments}"


def _approvals(each: Discussion) -> Iterator[str]:
    """Who has approved, and whether the content has changed since."""
    for review in each.reviews:
        if review.status == "approved":
            since = ", before the last change" if review.outdated else ""
            yield f"  {paint('approved', 32, sys.stdout)} by {_said_by(review.reviewer, review.updated_at)}{since}"
    if not each.reviews and each.request.status == "open":
        yield "  nobody has reviewed it yet"


def _quickfix(root: Path, each: Discussion) -> Iterator[str]:
    for remark in each.remarks:
        said = [f"{_name(remark.comment.posted_by)}: {' '.join(_text(remark.comment.body))}"]
        said += [f"{_name(answer.posted_by)}: {' '.join(_text(answer.body))}" for answer in remark.replies]
        place = f"{_place(root, remark)}:1: " if remark.path else ""
        state = "" if remark.is_open else " (resolved)"
        yield safe(f"{place}#{each.request.number}{state} {one_line(' | '.join(said))} [{remark.comment.id}]")


def _place(root: Path, remark: Remark) -> str:
    """Path and line as an editor that was started here wants them."""
    return f"{os.path.relpath(root / remark.path)}:{remark.line}" if remark.path else ""


def _said_by(user: User, at: str) -> str:
    return safe(f"{_name(user)}, {_age(at)}")


def _name(user: User) -> str:
    return one_line(user.display_name) or user.email or user.id


def _age(at: str) -> str:
    """How long ago a moment was, in words."""
    try:
        moment = datetime.fromisoformat(at)
        seconds = (now() - moment).total_seconds()
    except (ValueError, TypeError):
        return at
    for unit, size in _STEPS:
        count = int(seconds // size)
        if count > 0:
            return f"{format_count(count, unit)} ago"
    return "just now"


def _text(body: CommentBody) -> list[str]:
    words = body.markdown if body.markdown is not None else body.document.text() if body.document is not None else ""
    return [line for line in words.splitlines() if line.strip()]


def _shortened(ids: Sequence[str]) -> dict[str, str]:
    """Ids as short as they can be typed: each tells one of these comments from all others."""
    ordered = sorted(ids)
    short: dict[str, str] = {}
    for before, id, after in zip(["", *ordered], ordered, [*ordered[1:], ""], strict=False):
        shared = max(common(id, other) for other in (before, after))
        short[id] = id[: max(SHORTEST, shared + 1)]
    return short


def _document(root: Path, each: Discussion) -> dict[str, Any]:
    request = each.request
    return {
        "repository": str(root),
        "space": each.binding.space,
        "name": each.binding.name,
        "branch": each.branch,
        "number": request.number,
        "id": request.id,
        "subject": request.subject,
        "status": request.status,
        "outdated": request.outdated,
        "open_comments": request.comments,
        "conflicts": list(each.conflicts),
        "reviews": [_review(review) for review in each.reviews],
        "comments": [_comment(remark) for remark in each.remarks],
        "url": request.address or None,
    }


def _review(review: Any) -> dict[str, Any]:
    facts = {"id": review.id, "reviewer": _name(review.reviewer), "status": review.status}
    return facts | {"outdated": review.outdated, "at": review.updated_at}


def _comment(remark: Remark) -> dict[str, Any]:
    comment = remark.comment
    return {
        "id": comment.id,
        "path": remark.path,
        "line": remark.line,
        "author": _name(comment.posted_by),
        "at": comment.posted_at,
        "status": comment.status,
        "text": "\n".join(_text(comment.body)),
        "replies": [
            {"author": _name(each.posted_by), "at": each.posted_at, "text": "\n".join(_text(each.body))}
            for each in remark.replies
        ],
    }
