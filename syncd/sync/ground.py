"""The ground of a proposal: what a branch asks of one space, merged with all that is known of the other side."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from syncd.errors import MergeConflict
from syncd.repo import Commit
from syncd.sync.content import Content
from syncd.sync.proposals import Proposal
from syncd.sync.workspace import Binding, Workspace

COMMITS_SHOWN = 50


@dataclass(frozen=True)
class Ground:
    """What a branch asks of one space: `desired` is a commit whose tree is the branch merged with all that is known."""

    branch: str
    tip: str
    main: str
    desired: str
    commits: tuple[Commit, ...]


def own_proposal(proposals: Sequence[Proposal], branch: str) -> Proposal | None:
    """The branch's newest change request that is not merged."""
    mine = [p for p in proposals if p.branch == branch and p.change_request.status != "merged"]
    return max(mine, key=lambda p: p.change_request.number, default=None)


def ground_of(workspace: Workspace, binding: Binding, branch: str, proposals: Sequence[Proposal]) -> Ground | None:
    """Given a branch, return what it asks of the space, or None when that is what the platform has already."""
    repository = workspace.repository
    tip, main = repository.resolve(f"refs/heads/{branch}"), repository.resolve(workspace.main)
    if tip is None or main is None or tip == main or repository.is_ancestor(tip, main):
        return None
    desired = _joined(workspace, binding, tip, main, branch, f"{workspace.remote}/main")
    own = own_proposal(proposals, branch)
    if own is not None and own.change_request.is_live:
        number = own.change_request.number
        edits = repository.resolve(workspace.changes(binding, number))
        if edits is not None:
            name = f"{workspace.remote}/changes/{binding.name}/{number}"
            desired = _joined(workspace, binding, desired, edits, branch, name)
    elif workspace.alike(binding, desired, main):
        return None
    commits = tuple(repository.commits(main, tip, limit=COMMITS_SHOWN))
    return Ground(branch, tip, main, desired, commits)


def joined_with(workspace: Workspace, binding: Binding, ground: Ground, live: Proposal, content: Content) -> Ground:
    """Given content read back, return the ground joined with it: what a reviewer did meanwhile is kept, not undone."""
    name = f"{workspace.remote}/changes/{binding.name}/{live.change_request.number}"
    joined = _joined(workspace, binding, ground.desired, content.commit, ground.branch, name)
    return ground if workspace.alike(binding, joined, ground.desired) else replace(ground, desired=joined)


def _joined(workspace: Workspace, binding: Binding, ours: str, theirs: str, branch: str, name: str) -> str:
    """Given two commits, return one that merges them, without moving any ref."""
    repository = workspace.repository
    if repository.is_ancestor(theirs, ours):
        return ours
    if repository.is_ancestor(ours, theirs):
        return theirs
    merged = repository.merge(ours, theirs)
    paths = tuple(path for path in merged.conflicts if binding.holds(path))
    if paths:
        raise MergeConflict(
            f"{branch} and {name} changed the same lines of {', '.join(paths[:5])}; nothing was proposed",
            paths=paths,
            hint=f"git merge {name}, settle the conflict, commit, then syncd push",
        )
    person = workspace.committer()
    return repository.commit_tree(
        merged.tree,
        parents=[ours, theirs],
        message=f"Merge {name} into {branch}\n",
        author=person,
        committer=person,
    )
