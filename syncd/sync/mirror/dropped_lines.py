"""What a merge on the platform took out of main content: where both had changed the same, it keeps the lines and titles
of the change request alone, and where that had deleted the page, none."""

from collections.abc import Iterator

from syncd.plan.merge.hunks import list_hunks
from syncd.repo.repository import Repository
from syncd.sync.binding import Binding
from syncd.sync.merge.merge import find_moves
from syncd.sync.merge.result import EntryConflict, MergeResult
from syncd.sync.merge.summaries import read_summary
from syncd.sync.merge.texts import split_conflict
from syncd.sync.workspace import Workspace


def find_dropped(workspace: Workspace, binding: Binding, both: MergeResult, *, after: str) -> Iterator[str]:
    """Yield the paths of a space's pages that lost lines of main content when a change request was merged.

    Shape: a page that moved has two paths, and for a title there is that of the table of contents. `both` is Git's
    merge of main content, as ours, and the change request; `after` is the commit of main content that came of it. Files
    without lines are not looked at: a change request cannot replace them.
    """
    repository = workspace.repository
    moves = find_moves(workspace, both.ours, after) if both.conflicts else {}
    summary = read_summary(repository, binding, after) if both.conflicts else None
    for conflict in both.conflicts:
        ours = conflict.pages[0].ours
        path = moves.get(ours.path, ours.path) if ours is not None else ""
        oid = repository.lookup(after, path)
        if ours is None or oid is None or not binding.holds(path):
            continue
        if _lacks_lines(repository, conflict, oid):
            yield from dict.fromkeys((ours.path, path))
        entry = summary.index_pages().get(path) if summary is not None else None
        if summary is not None and entry is not None and conflict.find_title("ours") not in ("", entry.title):
            yield summary.path
    for path in both.revived_paths:
        had, has = (repository.lookup(commit, path) is not None for commit in (both.ours, after))
        if binding.holds(path) and had and not has:
            yield path


def _lacks_lines(repository: Repository, conflict: EntryConflict, now: str) -> bool:
    """Whether a blob lacks some of the lines in conflict that main content had."""
    lines = set(repository.read(now).splitlines())
    hunks = list_hunks(split_conflict(repository, conflict))
    return any(line.strip() and line not in lines for hunk in hunks for line in hunk.ours.splitlines())
