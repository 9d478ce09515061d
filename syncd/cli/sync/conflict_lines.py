"""Pages in conflict for people and programs: hunk by hunk, each side with its authors and times."""

import re
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC
from difflib import SequenceMatcher
from typing import Any

from syncd.cli.terminal.text import escape, find_width, format_time, is_coloured, style_text, wrap_line
from syncd.plan.merge.hunks import Hunk, list_hunks, split_lines
from syncd.plan.merge.pages import SIDES, TITLES, Page, Side
from syncd.sync.integrate.authors import Author, HunkSide, HunkView, find_author, view_hunks
from syncd.sync.integrate.drafts import read_draft
from syncd.sync.integrate.resolve import PageConflict
from syncd.sync.workspace import Workspace

CONTEXT = 2
"""So many lines are shown before and after a hunk."""
AUTHORS_SHOWN = 2
_SIGNS, _COLOURS = {"ours": "<", "base": "|", "theirs": ">"}, {"ours": 32, "base": 90, "theirs": 36}
"""The signs are those of Git's markers."""
WORDS_COMPARED = 2000
"""In hunks of up to so many words, the new ones are underlined."""
_WORD = re.compile(r"(?<!\s)\s*\S+")
"""A word with the space before it. It begins after no space, so that a long line of spaces is read once."""
_UNDERLINED = re.compile(r"(\s*)(\S+)")
_GUTTER = 10
"""The columns before the text of a line: its number, a sign, and spaces."""


def format_conflict(workspace: Workspace, conflict: PageConflict) -> list[str]:
    """Return a page in conflict as lines for people: why it is in conflict, and who changed what on each side."""
    lines = [format_headline(conflict)]
    open_numbers = {hunk.number for hunk in list_hunks(read_draft(workspace, conflict))}
    views = view_hunks(workspace, conflict, context=CONTEXT) if conflict.parts else []
    for view in views:
        if view.hunk.number in open_numbers:
            lines += [*([""] if len(lines) > 1 else []), *format_hunk(conflict, view, len(views))]
    if open_numbers and len(open_numbers) < len(views):
        lines.append(
            f"  {len(views) - len(open_numbers)} of {len(views)} hunks are settled; nothing is recorded before all are"
        )
    if 0 in open_numbers:
        lines.append("  Some were changed between their markers: --edit shows them")
    if views and not open_numbers:
        lines.append("  No hunk is left, but nothing is recorded yet: --edit shows the text and records it")
    return lines if views else [*lines, *_format_actions(workspace, conflict)]


def format_headline(conflict: PageConflict) -> str:
    """Return one line with the path of a page in conflict, the reason, and the names of both sides."""
    sides = f"({escape(conflict.branch)} and {escape(conflict.lane)})"
    return f"{style_text(f'! {escape(conflict.path)}:', 31, sys.stdout)} {escape(conflict.entry.reason)} {sides}"


def format_hunk(conflict: PageConflict, view: HunkView, count: int) -> Iterator[str]:
    """Return the lines of one hunk, with its context; `count` is how many hunks the page has."""
    yield style_text(f"  Hunk {view.hunk.number} of {count}", 1, sys.stdout)
    first_number = view.ours.line - len(view.ours.before)
    yield from _format_lines(view.ours.before, first_number)
    if view.hunk.base is not None:
        yield style_text("    base, as both sides knew it", _COLOURS["base"], sys.stdout)
        yield from _format_lines(split_lines(view.hunk.base), 0, "base")
    for side, hunk_side in _list_sides(view):
        name = conflict.name_side(side)
        yield style_text(
            f"    {side}, {escape(name)}: {_format_authors(hunk_side.authors, side)}", _COLOURS[side], sys.stdout
        )
        old_lines = split_lines(view.hunk.base) if view.hunk.base is not None else ()
        yield from _format_lines(hunk_side.lines, hunk_side.line, side, old_lines=old_lines)
    yield from _format_lines(view.ours.after, view.ours.line + len(view.ours.lines))


def _list_sides(view: HunkView) -> tuple[tuple[Side, HunkSide], ...]:
    return ("ours", view.ours), ("theirs", view.theirs)


def _format_lines(
    lines: Sequence[bytes], first_number: int, side: str = "", *, old_lines: Sequence[bytes] = ()
) -> Iterator[str]:
    """Lines of a text with their numbers, unless `first_number` is 0; they are wrapped on a terminal."""
    width = find_width(sys.stdout)
    sign = _SIGNS.get(side, " ")
    if side and not lines:
        yield _style_side(f"{'':>7} {sign} (no lines)", side)
    words = [escape(_decode_line(line)) for line in lines]
    if old_lines and is_coloured(sys.stdout):
        words = underline_new_words(words, [escape(_decode_line(line)) for line in old_lines])
    for number, line in enumerate(words, first_number):
        parts = wrap_line(line, max(width - _GUTTER, 20), extra_indent=0) if width is not None else [line]
        for at, part in enumerate(parts):
            label = str(number) if first_number and not at else ""
            yield _style_side(f"{label:>7} {sign} {part}".rstrip(), side)


def underline_new_words(lines: Sequence[str], old_lines: Sequence[str]) -> list[str]:
    """Return lines with the words underlined that the old lines do not have, unless most words are new."""
    words = [_WORD.findall(line) for line in lines]
    now, before = (
        [word.strip() for words in side for word in words] for side in (words, map(_WORD.findall, old_lines))
    )
    if max(len(now), len(before)) > WORDS_COMPARED:
        return list(lines)
    blocks = SequenceMatcher(None, before, now, autojunk=False).get_matching_blocks()
    same = {at for _, start, size in blocks for at in range(start, start + size)}
    if 2 * len(same) < len(now):
        return list(lines)
    numbers = iter(range(len(now)))
    return ["".join(word if next(numbers) in same else _underline_changes(word) for word in line) for line in words]


def _underline_changes(word: str) -> str:
    return _UNDERLINED.sub("\\1\x1b[4m\\2\x1b[24m", word)


def _style_side(line: str, side: str) -> str:
    return style_text(line, _COLOURS[side], sys.stdout) if side else line


def _format_actions(workspace: Workspace, conflict: PageConflict) -> Iterator[str]:
    """What each side did to each page of a conflict that is not about lines."""
    for page in conflict.entry.pages:
        where = "" if page is conflict.page else f"{escape(page.path)}: "
        for side in SIDES:
            name = conflict.name_side(side)
            author = find_author(workspace, conflict, page, side)
            who = f": {_format_authors([author], side)}" if author is not None else ""
            words = f"{side}, {escape(name)}: {where}{escape(_describe_action(conflict, page, side))}{who}"
            yield style_text(f"    {words}", _COLOURS[side], sys.stdout)


def describe_actions(workspace: Workspace, conflict: PageConflict) -> Iterator[tuple[str, str]]:
    """Yield what each side did to each page of a conflict that is not about lines: who, and what."""
    for page in conflict.entry.pages:
        for side in SIDES:
            name = conflict.name_side(side)
            author = find_author(workspace, conflict, page, side)
            who = f" ({format_author(author, find_nobody(side))})" if author is not None else ""
            yield f"{name} ({side})", f"{escape(page.path)}: {_describe_action(conflict, page, side)}{who}"


def find_nobody(side: Side) -> str:
    """Return what the author of a side's commit is called who has no name."""
    return "syncd" if side == "ours" else "somebody on the platform"


def format_author(author: Author, nobody: str) -> str:
    """Return who made a commit, when, and its subject, in one line."""
    who = escape(author.name or nobody)
    return f"{who}, {_format_author_time(author)}, {author.commit[:7]} {escape(author.subject)}"


def _describe_action(conflict: PageConflict, page: Page, side: Side) -> str:
    """What a side did to a page since the base, in words."""
    base, version = page.base, page.at(side)
    if conflict.entry.why == TITLES:
        return f"calls it “{conflict.entry.find_title(side)}”"
    if version is None:
        return "deleted it" if base is not None else "does not have it"
    if base is None:
        return f"added it as {version.path}"
    actions = [f"moved it to {version.path}"] if version.path != base.path else []
    actions += ["changed it"] if page.is_edited(side) else []
    return " and ".join(actions) or "left it as it was"


def _format_authors(authors: Sequence[Author], side: Side) -> str:
    described = [format_author(author, find_nobody(side)) for author in authors[:AUTHORS_SHOWN]]
    more = len(authors) - AUTHORS_SHOWN
    return "; ".join([*described, *([f"and {more} more"] if more > 0 else [])])


def _format_author_time(author: Author) -> str:
    return format_time(author.at.astimezone(UTC).isoformat(timespec="seconds"))


def _decode_line(line: bytes) -> str:
    return line.decode("utf-8", "replace").removesuffix("\n").removesuffix("\r")


def build_conflict_document(workspace: Workspace, conflict: PageConflict) -> dict[str, Any]:
    """Return the JSON object of a page in conflict."""
    open_numbers = {hunk.number for hunk in list_hunks(read_draft(workspace, conflict))}
    views = view_hunks(workspace, conflict, context=0) if conflict.parts else []
    pages = conflict.entry.pages if not views else ()
    return {
        "path": conflict.path,
        "why": conflict.entry.reason,
        "with": conflict.lane,
        "ours": list(conflict.entry.list_paths("ours")),
        "theirs": list(conflict.entry.list_paths("theirs")),
        "hunks": [_build_hunk_document(view, is_settled=view.hunk.number not in open_numbers) for view in views],
        "pages": [
            {"path": page.path, **{side: _build_action_document(workspace, conflict, page, side) for side in SIDES}}
            for page in pages
        ],
    }


def _build_hunk_document(view: HunkView, *, is_settled: bool) -> dict[str, Any]:
    hunk: Hunk = view.hunk
    sides: dict[str, Any] = {
        side: {
            "line": hunk_side.line or None,
            "lines": [_decode_line(line) for line in hunk_side.lines],
            "authors": [_build_author_document(author) for author in hunk_side.authors],
        }
        for side, hunk_side in _list_sides(view)
    }
    base = None if hunk.base is None else [_decode_line(line) for line in split_lines(hunk.base)]
    return {"number": hunk.number, "is_settled": is_settled, "base": base, **sides}


def _build_action_document(workspace: Workspace, conflict: PageConflict, page: Page, side: Side) -> dict[str, Any]:
    author = find_author(workspace, conflict, page, side)
    authors = [_build_author_document(author)] if author is not None else []
    return {"what": _describe_action(conflict, page, side), "authors": authors}


def _build_author_document(author: Author) -> dict[str, Any]:
    """The JSON object of an author; commits that syncd made for people on the platform have no name."""
    at = author.at.astimezone(UTC).isoformat(timespec="seconds")
    return {"name": author.name or None, "at": at, "commit": author.commit, "subject": author.subject}
