"""Lines of main content that a merge on the platform took out: where both had changed the same, it keeps those of the
change request alone, and where that had deleted the page, none."""

from collections.abc import Iterator

from syncd.plan.merge.hunks import list_hunks
from syncd.repo.repository import Repository
from syncd.sync.binding import Binding
from syncd.sync.merge.result import EntryConflict, MergeResult
from syncd.sync.merge.texts import split_conflict


def find_dropped(repository: Repository, binding: Binding, both: MergeResult, *, after: str) -> Iterator[str]:
    """Yield the paths of a space's pages that lost lines of main content when a change request was merged.

    Shape: `both` is Git's merge of main content, as ours, and the change request; `after` is the commit of main content
    that came of it. Titles and files without lines are not looked at.
    """
    for conflict in both.conflicts:
        if binding.holds(conflict.path) and _lacks_lines(repository, conflict, after):
            yield conflict.path
    for path in both.revived_paths:
        had, has = (repository.lookup(commit, path) is not None for commit in (both.ours, after))
        if binding.holds(path) and had and not has:
            yield path


def _lacks_lines(repository: Repository, conflict: EntryConflict, after: str) -> bool:
    """Whether a commit has a page without some of the lines in conflict that main content had."""
    hunks, oid = list_hunks(split_conflict(repository, conflict)), repository.lookup(after, conflict.path)
    if oid is None:
        return False
    now = set(repository.read(oid).splitlines())
    return any(line.strip() and line not in now for hunk in hunks for line in hunk.ours.splitlines())
