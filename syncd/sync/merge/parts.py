"""Parts: a commit that stands for another commit X but for some entries, so that a merge can leave these out.

A part of X has X's tree, but with the left-out entries as the merge base has them. Its parents are the commits of that
base and not X, so that Git never takes X for merged. A part counts only while its tree is the one that its trailer
names: a rebase or a cherry-pick copies the trailer, but not the tree. Source: two-way, sections 1 and 2.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime

from syncd.plan.merge.left_out import restore_entries
from syncd.repo import Blob, Commit, Person, Repository
from syncd.sync.merge.tables import read_summary
from syncd.sync.workspace import Binding

PART_TRAILER = "Syncd-Part"
"""Names the commit that a part stands for, and the tree that makes it one."""
UNNAMED = Person("syncd", "syncd@localhost", datetime(2100, 1, 1, tzinfo=UTC))
"""Author of commits that no ref ever names. It is always the same, so that the same content is the same object; its
date is late, because git looks for common ancestors from the youngest commit on."""


def find_original(repository: Repository, commit: Commit) -> str | None:
    """Given a commit, return the commit that it is a part of; None when it is no part."""
    words = commit.trailers.get(PART_TRAILER, [""])[-1].split()
    if len(words) != 2 or repository.subtree(commit.oid) != words[1]:
        return None
    return words[0]


def leave_out(
    repository: Repository,
    bindings: Iterable[Binding],
    tree: str,
    base: str,
    entries: Collection[Collection[str]],
    *,
    directories: Sequence[str] = (),
) -> str:
    """Given a commit or tree, return its tree with some entries, and whole directories, as the base's tree has them.

    Shape: an entry is named by all paths that its page has on any side. Its place and title in SUMMARY.md become the
    base's too.
    """
    changes: dict[str, Blob | bytes | None] = {}
    paths = {path for paths in entries for path in paths}
    if paths or directories:
        inside = tuple(f"{directory}/" for directory in directories)
        for found in repository.differences(tree, base):
            if found.path in paths or found.path.startswith(inside):
                changes[found.path] = found.after
    for binding in bindings:
        left_out = [frozenset(entry) for entry in entries if any(map(binding.holds, entry))]
        summary, former = (read_summary(repository, binding, side) for side in (tree, base))
        if not left_out or summary is None or former is None or summary.oid == former.oid or summary.path in changes:
            continue
        restored = restore_entries(summary.entries, left_out, former.index_pages())
        if restored != summary.entries:
            changes[summary.path] = summary.render_entries(restored)
    full_tree = repository.subtree(tree)
    assert full_tree is not None
    return repository.replaced(full_tree, changes) if changes else full_tree
