"""Take back what was merged into main content: a commit on a branch that says the opposite, for a push to propose."""

from dataclasses import dataclass

from syncd.errors import Conflict, GuardRefused, SyncdError
from syncd.plan.message import CHANGE_REQUEST, PROPOSED, SPACE
from syncd.repo.values import Commit, FileChange, Person
from syncd.sync.binding import Binding
from syncd.sync.branches import HEADS
from syncd.sync.merge.merge import merge
from syncd.sync.merge.result import Base
from syncd.sync.workspace import COMMITTER, Workspace

COMMITS_MAX = 1000
"""Commits of a branch that are searched for a revert that is there already."""
_REVERTS = "This reverts commit "


@dataclass(frozen=True)
class Revert:
    """How a merge is taken back on a branch: `tree` is what the branch holds then, `changes` what that changes.

    Shape: `merged` is the mirror commit of the merge, `numbers` the change requests that it stands for; `existing` is
    the commit that has taken it back already, or "". `kept` are files that stay, because they were edited since.
    """

    binding: Binding
    numbers: tuple[int, ...]
    merged: Commit
    branch: str
    tip: str
    tree: str
    changes: tuple[FileChange, ...] = ()
    existing: str = ""
    kept: tuple[str, ...] = ()


def find_merge_commit(workspace: Workspace, binding: Binding, number: int) -> Commit | None:
    """Return the mirror commit of a change request's merge; None when that is not in Git."""
    main = workspace.repository.resolve(workspace.main)
    if main is None:
        return None
    found = workspace.repository.find_carrying(main, CHANGE_REQUEST, str(number), committer=COMMITTER[1])
    return next((commit for commit in found if is_merge_commit(commit, binding)), None)


def is_merge_commit(commit: Commit, binding: Binding) -> bool:
    """Return whether a commit is main content of a space after a change request was merged."""
    trailers = commit.trailers
    is_main = CHANGE_REQUEST in trailers and not commit.subject.startswith(PROPOSED)
    return is_main and binding.space in trailers.get(SPACE, [])


def find_revert(workspace: Workspace, merged: Commit, tip: str) -> str:
    """Return the commit of a branch that takes back a merge, by the mirror commit of this one, or ""."""
    words = f"{_REVERTS}{merged.oid}"  # of a commit with several parents, `git revert` says more behind it
    for commit in workspace.repository.list_commits(merged.oid, tip, limit=COMMITS_MAX):
        if words in commit.body:
            return commit.oid
    return ""


def plan_revert(workspace: Workspace, binding: Binding, number: int, branch: str) -> Revert:
    """Return how a branch takes back the merge of a change request; no ref is moved.

    Raises: SyncdError without such a branch; GuardRefused when the merge is not in it yet; Conflict when later
    changes are in the same place.
    """
    repository = workspace.repository
    merged, tip = find_merge_commit(workspace, binding, number), repository.resolve(f"{HEADS}{branch}")
    if tip is None:
        raise SyncdError(f"there is no branch {branch}")
    if merged is None or not merged.parents or not repository.is_ancestor(merged.oid, tip):
        raise GuardRefused(f"the merge of #{number} is not in {branch} yet", hint="syncd pull, then undo again")
    numbers = tuple(int(each) for each in merged.trailers[CHANGE_REQUEST] if each.isdecimal())
    tree = repository.find_tree(tip) or ""
    existing = find_revert(workspace, merged, tip)
    base = Base(repository.find_tree(merged.oid) or "", (merged.oid,))
    result = merge(workspace, tip, merged.parents[0], base=base)
    paths = [*(conflict.path for conflict in result.conflicts), *result.outside_paths]
    # A revert may have been taken back itself since; then it changes something once more.
    if existing and (paths or result.tree_with_ours == tree):
        return Revert(binding, numbers, merged, branch, tip, tree, existing=existing)
    if paths:
        raise Conflict(
            f"what #{number} changed was changed again since, in {', '.join(paths[:5])}; nothing was reverted",
            hint=f"git revert -m 1 {merged.oid[:10]}, settle the conflict, commit, then syncd push"
            if len(merged.parents) > 1
            else f"git revert {merged.oid[:10]}, settle the conflict, commit, then syncd push",
        )
    commit = _write(workspace, merged, tip, result.tree_with_ours)
    changes = tuple(repository.list_changes(tip, commit))
    return Revert(binding, numbers, merged, branch, tip, result.tree_with_ours, changes, kept=result.revived_paths)


def write_revert(workspace: Workspace, revert: Revert, author: Person | None = None) -> str:
    """Add the commit that takes back a merge to its branch, and return it; one that is there already stays alone.

    Shape: `author` is who decided it; without one, syncd is the author, too.
    Raises: WorkTreeInTheWay, OperationInProgress, RefMoved.
    """
    if revert.existing:
        return revert.existing
    commit = _write(workspace, revert.merged, revert.tip, revert.tree, author)
    workspace.repository.fast_forward(revert.branch, old=revert.tip, new=commit)
    return commit


def _write(workspace: Workspace, merged: Commit, tip: str, tree: str, author: Person | None = None) -> str:
    person = workspace.committer()
    numbers = ", ".join(f"#{each}" for each in merged.trailers[CHANGE_REQUEST])
    message = (
        f'Revert "{merged.subject}"\n\n{_format_line(merged.oid)}\nIt was the merge of change request {numbers}.\n'
    )
    return workspace.repository.commit_tree(
        tree, parents=[tip], message=message, author=author or person, committer=person
    )


def _format_line(oid: str) -> str:
    """As git revert says it."""
    return f"{_REVERTS}{oid}."
