"""Compare what a change request holds with what its branch has."""

from syncd.sync.binding import Binding
from syncd.sync.merge.merge import merge
from syncd.sync.merge.result import MergeResult
from syncd.sync.workspace import Workspace


def has_equal_content(workspace: Workspace, binding: Binding, here: str, commit: str) -> bool:
    """Return whether a change request and a commit of its branch have the same content of the space.

    Shape: main content that the branch has not taken in yet is merged into it first, if that needs no person.
    """
    repository = workspace.repository
    if workspace.has_same_content(binding, here, commit):
        return True
    main = repository.resolve(workspace.main)
    if main is None or repository.is_ancestor(main, commit):
        return False
    both = merge(workspace, commit, main)
    return not has_conflict(binding, both) and workspace.has_same_content(binding, here, both.tree_with_ours)


def has_conflict(binding: Binding, result: MergeResult) -> bool:
    """Return whether a page of a space is in conflict."""
    return any(binding.holds(path) for page in result.conflicts for path in page.paths)
