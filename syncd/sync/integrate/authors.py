"""Who wrote what is in conflict, and when: of each side's lines, or of what became of a whole page there."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from syncd.plan.merge.hunks import Hunk, find_lines, list_hunks, split_lines
from syncd.plan.merge.pages import SIDES, TITLES, Page, Side
from syncd.sync.committer import name_author
from syncd.sync.integrate.resolve import PageConflict
from syncd.sync.merge.parts import read_original
from syncd.sync.merge.summaries import read_summary
from syncd.sync.workspace import Workspace


@dataclass(frozen=True)
class Author:
    """Who made a commit that changed something; `name` is "" where only syncd is named, for people on the platform."""

    name: str
    at: datetime
    commit: str
    subject: str


@dataclass(frozen=True)
class HunkSide:
    """A hunk on one side: its first line there, from 1, its lines, those around it, and who wrote it, newest first.

    Shape: a title is in no line of the page, and has the number 0.
    """

    line: int
    lines: tuple[bytes, ...]
    before: tuple[bytes, ...]
    after: tuple[bytes, ...]
    authors: tuple[Author, ...]


@dataclass(frozen=True)
class HunkView:
    """A hunk with all that a person wants to know of it."""

    hunk: Hunk
    ours: HunkSide
    theirs: HunkSide


def view_hunks(workspace: Workspace, conflict: PageConflict, *, context: int) -> list[HunkView]:
    """Return the hunks of a page in conflict with where they are and who wrote them. Units: `context` in lines."""
    hunks = list_hunks(conflict.parts)
    sides = {side: _view_side(workspace, conflict, side, context) for side in SIDES}
    if conflict.entry.titles and hunks:
        for side in SIDES:
            sides[side][hunks[0].number] = _view_title(workspace, conflict, hunks[0], side)
    return [HunkView(hunk, sides["ours"][hunk.number], sides["theirs"][hunk.number]) for hunk in hunks]


def find_author(workspace: Workspace, conflict: PageConflict, page: Page, side: Side) -> Author | None:
    """Return who changed a page in conflict, or one that is left out with it, last on a side; None where nobody did."""
    if conflict.entry.why == TITLES:
        return _find_title_author(workspace, conflict, side)
    version = page.at(side) or page.base
    path = version.path if version is not None else ""
    return _read_author(workspace, _find_last_change(workspace, conflict, _find_side_commit(conflict, side), path))


def _view_side(workspace: Workspace, conflict: PageConflict, side: Side, context: int) -> dict[int, HunkSide]:
    text, version, commit = conflict.texts[side], conflict.page.at(side), _find_side_commit(conflict, side)
    assert version is not None
    places, lines = find_lines(conflict.text_parts, side, text), split_lines(text)
    wrote = workspace.repository.find_line_commits(
        commit, version.path, list(places.values()), exclude=conflict.result.base.commits
    )
    edges = [(0, 0), *places.values(), (len(lines), len(lines))]
    found = {}
    for at, (number, (start, end)) in enumerate(places.items()):
        known = dict.fromkeys(oid for line in range(start, end) if (oid := wrote.get(line)))
        oids = list(known) or [_find_last_change(workspace, conflict, commit, version.path)]
        found[number] = HunkSide(
            start + 1,
            tuple(lines[start:end]),
            tuple(lines[max(edges[at][1], start - context) : start]),
            tuple(lines[end : min(edges[at + 2][0], end + context)]),
            _newest_first(author for oid in oids if (author := _read_author(workspace, oid)) is not None),
        )
    return found


def _view_title(workspace: Workspace, conflict: PageConflict, hunk: Hunk, side: Side) -> HunkSide:
    author = _find_title_author(workspace, conflict, side)
    return HunkSide(0, (hunk.at(side),), (), (), (author,) if author is not None else ())


def _find_title_author(workspace: Workspace, conflict: PageConflict, side: Side) -> Author | None:
    """Who wrote the line of the table of contents that gives a page its title."""
    repository, commit = workspace.repository, _find_side_commit(conflict, side)
    version, exclude = conflict.page.at(side), conflict.result.base.commits
    for binding in workspace.bindings:
        table = read_summary(repository, binding, commit)
        entry = table.index_pages().get(version.path) if table is not None and version is not None else None
        if table is None or entry is None:
            continue
        at = entry.line - 1
        # The other side may have moved the line, which a merge has at another place then.
        wrote = repository.find_line_commits(
            commit, table.path, [(at, at + 1)], exclude=exclude, should_follow_moves=True
        )
        return _read_author(workspace, wrote.get(at) or _find_last_change(workspace, conflict, commit, table.path))
    return None


def _find_last_change(workspace: Workspace, conflict: PageConflict, commit: str, path: str) -> str:
    return workspace.repository.find_last_change(commit, path, exclude=conflict.result.base.commits) if path else ""


def _read_author(workspace: Workspace, oid: str) -> Author | None:
    """Who made a commit; a part has the author of the commit that it stands for."""
    if not oid:
        return None
    commit = read_original(workspace.repository, oid)
    return Author(name_author(commit), commit.author.when, commit.oid, commit.subject)


def _newest_first(authors: Iterable[Author]) -> tuple[Author, ...]:
    return tuple(sorted(set(authors), key=lambda author: author.at, reverse=True))


def _find_side_commit(conflict: PageConflict, side: Side) -> str:
    return conflict.result.ours if side == "ours" else conflict.result.theirs
