"""Write a tree in which some entries are left out.

"Left out" means everywhere: as the merge base has it, and not absent.
"""

from collections.abc import Collection, Iterable, Sequence

from syncd.plan.merge.restore_entries import restore_entries
from syncd.repo.repository import Repository
from syncd.repo.values import Blob
from syncd.sync.binding import Binding
from syncd.sync.directories import follow_roots
from syncd.sync.merge.summaries import read_summary


def leave_out(
    repository: Repository,
    bindings: Iterable[Binding],
    tree: str,
    base: str,
    entries: Collection[Collection[str]],
    *,
    directories: Sequence[str] = (),
) -> str:
    """Return the tree of a commit or tree with some entries, and whole directories, as the base's tree has them.

    Shape: an entry is named by all paths that its page has on any side. Its place and title in SUMMARY.md become the
    base's too. The base counts as if it had each space below the root that the tree gives it.
    """
    bindings = tuple(bindings)
    if entries or directories:
        base = follow_roots(repository, bindings, base, tree)
    changes: dict[str, Blob | bytes | None] = {}
    paths = {path for paths in entries for path in paths}
    if paths or directories:
        inside = tuple(f"{directory}/" for directory in directories)
        for found in repository.compare_trees(tree, base):
            if found.path in paths or found.path.startswith(inside):
                changes[found.path] = found.after
    for binding in bindings:
        left_out = [frozenset(entry) for entry in entries if any(map(binding.holds, entry))]
        if not left_out:
            continue
        summary, former = (read_summary(repository, binding, side) for side in (tree, base))
        if summary is None or former is None or summary.oid == former.oid or summary.path in changes:
            continue
        restored = restore_entries(summary.entries, left_out, former.index_pages())
        if restored != summary.entries:
            changes[summary.path] = summary.render_entries(restored)
    return repository.write_tree(repository.read_root_tree(tree), changes)


def list_other_directories(bindings: Iterable[Binding], binding: Binding) -> list[str]:
    """Return the directories of other spaces that a space does not lie in."""
    others = (other.directory for other in bindings if other != binding and other.directory)
    return [directory for directory in others if not binding.path("").startswith(f"{directory}/")]
