"""Integrate: bring what the platform has into a writer's branch, by fast-forward or merge, or move nothing."""

from syncd.errors import MergeConflict
from syncd.plan.change import Change
from syncd.sync.outcome import Applied, Outcome, Unchanged
from syncd.sync.workspace import Workspace


def integrate(workspace: Workspace, branch: str, ref: str) -> Outcome:
    """Given a branch and a ref of the platform, bring the ref's commits into the branch.

    Shape: computed without a work tree; a checked-out branch moves only when no uncommitted edit is touched.
    Raises: MergeConflict naming the paths and the command; WorkTreeInTheWay, OperationInProgress, RefMoved.
    Source: house, section 4, "Integrating".
    """
    repository = workspace.repository
    theirs, ours = repository.resolve(ref), repository.resolve(f"refs/heads/{branch}")
    if theirs is None or ours is None or repository.is_ancestor(theirs, ours):
        return Unchanged()
    name = ref.removeprefix("refs/remotes/")
    if repository.is_ancestor(ours, theirs):
        repository.fast_forward(branch, old=ours, new=theirs)
        return Applied((Change("update", "branch", branch, f"fast-forwarded to {name}", before=ours, after=theirs),))
    merged = repository.merge(ours, theirs)
    if merged.conflicts:
        paths = ", ".join(merged.conflicts[:5]) + (", …" if len(merged.conflicts) > 5 else "")
        raise MergeConflict(
            f"{branch} and {name} changed the same lines of {paths}; nothing was moved",
            paths=merged.conflicts,
            hint=f"git merge {name}, settle the conflict, commit, then syncd push",
        )
    commit = repository.commit_tree(
        merged.tree,
        parents=[ours, theirs],
        message=f"Merge {name} into {branch}\n",
        author=workspace.committer(),
        committer=workspace.committer(),
    )
    repository.fast_forward(branch, old=ours, new=commit)
    return Applied((Change("update", "branch", branch, f"merged with {name}", before=ours, after=commit),))
