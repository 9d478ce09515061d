"""Pages in conflict as people and programs read them: hunk by hunk, each side with who wrote it and when."""

import re
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC
from difflib import SequenceMatcher
from typing import Any

from syncd.cli.terminal.text import columns_of, is_coloured, moment, paint, safe, wrap_line
from syncd.plan.merge.hunks import Hunk, list_hunks, split_lines
from syncd.plan.merge.pages import SIDES, TITLES, Page, Side
from syncd.sync.integrate.authors import Author, HunkSide, HunkView, find_author, find_title, view_hunks
from syncd.sync.integrate.drafts import read_draft
from syncd.sync.integrate.resolve import PageConflict
from syncd.sync.workspace import Workspace

CONTEXT = 2
"""Lines that are shown around a hunk."""
AUTHORS_SHOWN = 2
_SIGNS, _COLOURS = {"ours": "<", "base": "|", "theirs": ">"}, {"ours": 32, "base": 90, "theirs": 36}
"""The signs are those of Git's markers."""
WORDS_COMPARED = 2000
"""Words of a hunk up to which those that are new are looked for."""
_WORD = re.compile(r"\s*\S+\s*$|\s*\S+")
_UNDERLINED = re.compile(r"(\s*)(\S+)")
_GUTTER = 10
"""Columns before the words: a number, a sign, and spaces."""


def conflict_lines(workspace: Workspace, conflict: PageConflict) -> list[str]:
    """Given a page in conflict, return what a person has to know to decide: why, and who did what on each side."""
    lines = [headline(conflict)]
    left = {hunk.number for hunk in list_hunks(read_draft(workspace, conflict))}
    views = view_hunks(workspace, conflict, context=CONTEXT) if conflict.parts else []
    for view in views:
        if view.hunk.number in left:
            lines += [*([""] if len(lines) > 1 else []), *hunk_lines(conflict, view, len(views))]
    if left and len(left) < len(views):
        lines.append(
            f"  {len(views) - len(left)} of {len(views)} hunks are settled; nothing is recorded before all are"
        )
    if 0 in left:
        lines.append("  Some were changed between their markers: --edit shows them")
    if views and not left:
        lines.append("  No hunk is left, but nothing is recorded yet: --edit shows the text and records it")
    return lines if views else [*lines, *_deed_lines(workspace, conflict)]


def headline(conflict: PageConflict) -> str:
    """Given a page in conflict, return one line that says which, why, and with what."""
    both = f"({safe(conflict.branch)} and {safe(conflict.lane.name)})"
    return f"{paint(f'! {safe(conflict.path)}:', 31, sys.stdout)} {safe(conflict.entry.why)} {both}"


def hunk_lines(conflict: PageConflict, view: HunkView, count: int) -> Iterator[str]:
    """Given a hunk and how many the page has, return the lines that show it."""
    yield paint(f"  Hunk {view.hunk.number} of {count}", 1, sys.stdout)
    first = view.ours.line - len(view.ours.before)
    yield from _text_lines(view.ours.before, first)
    if view.hunk.base is not None:
        yield paint("    base, as both sides knew it", _COLOURS["base"], sys.stdout)
        yield from _text_lines(split_lines(view.hunk.base), 0, "base")
    for side, told in _sides_of(view):
        name = conflict.branch if side == "ours" else conflict.lane.name
        yield paint(f"    {side}, {safe(name)}: {_render_authors(told.authors, side)}", _COLOURS[side], sys.stdout)
        former = split_lines(view.hunk.base) if view.hunk.base is not None else ()
        yield from _text_lines(told.lines, told.line, side, former=former)
    yield from _text_lines(view.ours.after, view.ours.line + len(view.ours.lines))


def _sides_of(view: HunkView) -> tuple[tuple[Side, HunkSide], ...]:
    return ("ours", view.ours), ("theirs", view.theirs)


def _text_lines(lines: Sequence[bytes], first: int, side: str = "", *, former: Sequence[bytes] = ()) -> Iterator[str]:
    """Lines of a text with their numbers (none: 0), broken below each other where the terminal is narrow."""
    width = columns_of(sys.stdout)
    sign = _SIGNS.get(side, " ")
    if side and not lines:
        yield _painted(f"{'':>7} {sign} (no lines)", side)
    words = [safe(_decode(line)) for line in lines]
    if former and is_coloured(sys.stdout):
        words = underline_news(words, [safe(_decode(line)) for line in former])
    for number, line in enumerate(words, first):
        parts = wrap_line(line, max(width - _GUTTER, 20), hang=0) if width is not None else [line]
        for at, part in enumerate(parts):
            label = str(number) if first and not at else ""
            yield _painted(f"{label:>7} {sign} {part}".rstrip(), side)


def underline_news(lines: Sequence[str], former: Sequence[str]) -> list[str]:
    """Given lines and former ones, return the lines with their new words underlined, unless most of them are new."""
    words = [_WORD.findall(line) for line in lines]
    now, before = ([word.strip() for words in side for word in words] for side in (words, map(_WORD.findall, former)))
    if max(len(now), len(before)) > WORDS_COMPARED:
        return list(lines)
    blocks = SequenceMatcher(None, before, now, autojunk=False).get_matching_blocks()
    same = {at for _, start, size in blocks for at in range(start, start + size)}
    if 2 * len(same) < len(now):
        return list(lines)
    numbers = iter(range(len(now)))
    return ["".join(word if next(numbers) in same else _underline(word) for word in line) for line in words]


def _underline(word: str) -> str:
    return _UNDERLINED.sub("\\1\x1b[4m\\2\x1b[24m", word)


def _painted(line: str, side: str) -> str:
    return paint(line, _COLOURS[side], sys.stdout) if side else line


def _deed_lines(workspace: Workspace, conflict: PageConflict) -> Iterator[str]:
    """What became of each page of a conflict without lines, on each side."""
    for page in conflict.entry.pages:
        where = "" if page is conflict.page else f"{safe(page.path)}: "
        for side in SIDES:
            name = conflict.branch if side == "ours" else conflict.lane.name
            author = find_author(workspace, conflict, page, side)
            who = f": {_render_authors([author], side)}" if author is not None else ""
            words = f"{side}, {safe(name)}: {where}{safe(_describe_deed(workspace, conflict, page, side))}{who}"
            yield paint(f"    {words}", _COLOURS[side], sys.stdout)


def _describe_deed(workspace: Workspace, conflict: PageConflict, page: Page, side: Side) -> str:
    """What a side did to a page since the base."""
    base, version = page.base, page.at(side)
    if conflict.entry.why == TITLES:
        return f"calls it “{find_title(workspace, conflict, side)}”"
    if version is None:
        return "deleted it" if base is not None else "does not have it"
    if base is None:
        return f"added it as {version.path}"
    deeds = [f"moved it to {version.path}"] if version.path != base.path else []
    deeds += ["changed it"] if page.is_edited(side) else []
    return " and ".join(deeds) or "left it as it was"


def _render_authors(authors: Sequence[Author], side: Side) -> str:
    nobody = "syncd" if side == "ours" else "somebody on the platform"
    told = [
        f"{safe(author.name or nobody)}, {_when(author)}, {author.commit[:7]} {safe(author.subject)}"
        for author in authors[:AUTHORS_SHOWN]
    ]
    more = len(authors) - AUTHORS_SHOWN
    return "; ".join([*told, *([f"and {more} more"] if more > 0 else [])])


def _when(author: Author) -> str:
    return moment(author.at.astimezone(UTC).isoformat(timespec="seconds"))


def _decode(line: bytes) -> str:
    return line.decode("utf-8", "replace").removesuffix("\n").removesuffix("\r")


def conflict_document(workspace: Workspace, conflict: PageConflict) -> dict[str, Any]:
    """Given a page in conflict, return its JSON object, with the same facts."""
    left = {hunk.number for hunk in list_hunks(read_draft(workspace, conflict))}
    views = view_hunks(workspace, conflict, context=0) if conflict.parts else []
    pages = conflict.entry.pages if not views else ()
    return {
        "path": conflict.path,
        "why": conflict.entry.why,
        "with": conflict.lane.name,
        "ours": list(conflict.entry.list_paths("ours")),
        "theirs": list(conflict.entry.list_paths("theirs")),
        "hunks": [_hunk_document(view, is_settled=view.hunk.number not in left) for view in views],
        "pages": [
            {"path": page.path, **{side: _deed_document(workspace, conflict, page, side) for side in SIDES}}
            for page in pages
        ],
    }


def _hunk_document(view: HunkView, *, is_settled: bool) -> dict[str, Any]:
    hunk: Hunk = view.hunk
    sides: dict[str, Any] = {
        side: {
            "line": told.line,
            "lines": [_decode(line) for line in told.lines],
            "authors": [_author_document(author) for author in told.authors],
        }
        for side, told in _sides_of(view)
    }
    base = None if hunk.base is None else [_decode(line) for line in split_lines(hunk.base)]
    return {"number": hunk.number, "is_settled": is_settled, "base": base, **sides}


def _deed_document(workspace: Workspace, conflict: PageConflict, page: Page, side: Side) -> dict[str, Any]:
    author = find_author(workspace, conflict, page, side)
    authors = [_author_document(author)] if author is not None else []
    return {"what": _describe_deed(workspace, conflict, page, side), "authors": authors}


def _author_document(author: Author) -> dict[str, Any]:
    """A commit of syncd's own for people on the platform has no name to tell."""
    at = author.at.astimezone(UTC).isoformat(timespec="seconds")
    return {"name": author.name or None, "at": at, "commit": author.commit, "subject": author.subject}
