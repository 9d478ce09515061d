"""Lines of main content that a merge on the platform took out: where both had changed the same, it keeps those of the
change request alone."""

from collections.abc import Iterable, Iterator

from syncd.plan.merge.hunks import list_hunks
from syncd.repo.repository import Repository
from syncd.sync.binding import Binding
from syncd.sync.merge.result import EntryConflict
from syncd.sync.merge.texts import split_conflict


def find_dropped(
    repository: Repository, binding: Binding, conflicts: Iterable[EntryConflict], *, after: str
) -> Iterator[str]:
    """Yield the paths of a space's pages that lost lines of main content when a change request was merged.

    Shape: `conflicts` are those between main content, as ours, and the change request; `after` is the commit
    of main content that came of it. Titles and files without lines are not looked at.
    """
    for conflict in conflicts:
        hunks, oid = list_hunks(split_conflict(repository, conflict)), repository.lookup(after, conflict.path)
        now = set(repository.read(oid).splitlines()) if oid is not None else set[bytes]()
        is_dropped = any(line.strip() and line not in now for hunk in hunks for line in hunk.ours.splitlines())
        if is_dropped and oid is not None and binding.holds(conflict.path):
            yield conflict.path
