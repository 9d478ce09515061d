"""Lines of main content that a merge on the platform took out: where both had changed the same, it keeps those of the
change request alone."""

from collections.abc import Iterable, Iterator

from syncd.plan.merge.hunks import list_hunks, split_merged_text
from syncd.plan.merge.pages import SIDES
from syncd.repo.repository import Repository
from syncd.sync.binding import Binding
from syncd.sync.merge.result import EntryConflict


def find_dropped(
    repository: Repository, binding: Binding, conflicts: Iterable[EntryConflict], *, after: str
) -> Iterator[str]:
    """Yield the paths of a space's pages that lost lines of main content when a change request was merged.

    Shape: `conflicts` are those between main content, as ours, and the change request; `after` is the commit
    of main content that came of it. Titles and files without lines are not looked at.
    """
    for conflict in conflicts:
        page, oid = conflict.pages[0], repository.lookup(after, conflict.path)
        if not conflict.text or page.ours is None or page.theirs is None or oid is None:
            continue
        versions = {"ours": page.ours, "theirs": page.theirs}
        texts = {side: repository.read(versions[side].oid) for side in SIDES}
        hunks = list_hunks(split_merged_text(conflict.text, texts))
        now = set(repository.read(oid).splitlines())
        is_dropped = any(line.strip() and line not in now for hunk in hunks for line in hunk.ours.splitlines())
        if is_dropped and binding.holds(conflict.path):
            yield conflict.path
