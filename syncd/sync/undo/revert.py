"""Take back what was merged into main content: a commit on a branch that says the opposite, for a push to propose."""

from collections.abc import Sequence
from dataclasses import dataclass

from syncd.errors import Conflict, GuardRefused, SyncdError
from syncd.model.wording import format_first
from syncd.plan.message import CHANGE_REQUEST, PROPOSED, REVISION, SPACE
from syncd.repo.values import Commit, FileChange, Person
from syncd.sync.binding import Binding
from syncd.sync.branches import HEADS
from syncd.sync.committer import COMMITTER
from syncd.sync.merge.leave_out import leave_out, list_other_directories
from syncd.sync.merge.merge import merge
from syncd.sync.merge.result import Base
from syncd.sync.workspace import Workspace

COMMITS_MAX = 1000
"""Commits of a branch that are searched for a revert that is there already."""
_REVERTS = "This reverts commit "


@dataclass(frozen=True)
class Revert:
    """How a merge is taken back on a branch: `tree` is what the branch holds then, `changes` what that changes.

    Shape: `merged` is the mirror commit of the merge, `numbers` the change requests that it stands for; `existing` is
    the commit that has taken it back already, or "". `kept` are files that stay, because they were edited since.
    `commit` is what the branch is at then, though no ref names it.
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
    commit: str = ""


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


def plan_revert(
    workspace: Workspace, binding: Binding, number: int, branch: str, *, previous: Revert | None = None
) -> Revert:
    """Return how a branch takes back the merge of a change request; no ref is moved.

    Shape: `previous` is what the branch takes back before.
    Raises: SyncdError without such a branch; GuardRefused when the merge is not in it; Conflict when later changes are
    in the same place.
    """
    repository = workspace.repository
    merged, tip = find_merge_commit(workspace, binding, number), repository.resolve(f"{HEADS}{branch}")
    tip = previous.commit if previous is not None else tip
    if tip is None:
        raise SyncdError(f"there is no branch {branch}")
    if merged is None or not _has_former(workspace, binding, merged) or not repository.is_ancestor(merged.oid, tip):
        raise _build_absent_error(workspace, binding, number, branch, merged)
    numbers = tuple(int(each) for each in merged.trailers[CHANGE_REQUEST] if each.isdecimal())
    tree = repository.find_tree(tip) or ""
    existing = find_revert(workspace, merged, tip)
    base = Base(repository.find_tree(merged.oid) or "", (merged.oid,))
    result = merge(workspace, tip, merged.parents[0], base=base)
    # A page that went on to another space is not that space's page: what is there is nothing of this merge.
    others = list_other_directories(workspace.bindings, binding)
    reverted = leave_out(repository, (), result.tree_with_ours, tip, (), directories=others)
    paths = [*(conflict.path for conflict in result.conflicts), *result.outside_paths]
    # A revert may have been taken back itself since; then it changes something once more.
    if existing and (paths or reverted == tree):
        return Revert(binding, numbers, merged, branch, tip, tree, existing=existing, commit=tip)
    if paths:
        raise Conflict(
            f"what #{number} changed was changed again since, in {format_first(paths, 5)}; nothing was reverted",
            hint=f"git revert -m 1 {merged.oid[:10]}, settle the conflict, commit, then syncd push"
            if len(merged.parents) > 1
            else f"git revert {merged.oid[:10]}, settle the conflict, commit, then syncd push",
        )
    commit = _write(workspace, merged, tip, reverted)
    changes = tuple(repository.list_changes(tip, commit))
    last, kept = commit if changes else tip, result.revived_paths
    return Revert(binding, numbers, merged, branch, tip, reverted, changes, kept=kept, commit=last)


def _has_former(workspace: Workspace, binding: Binding, merged: Commit) -> bool:
    """Whether Git has what a space was before the merge that a commit stands for: the first commit of a space has all
    that the space had by then."""
    for parent in merged.parents[:1]:
        found = workspace.repository.find_carrying(parent, SPACE, binding.space, committer=COMMITTER[1])
        return next(found, None) is not None
    return False


def _build_absent_error(
    workspace: Workspace, binding: Binding, number: int, branch: str, merged: Commit | None
) -> GuardRefused:
    """The refusal where a branch has no commit of a merge: it is still to be pulled, or Git begins after it."""
    last = workspace.repository.find_commit(workspace.main, SPACE, binding.space)
    newest = workspace.client.spaces.get(binding.space).revision if merged is None else None
    is_pulled = last is not None and last.trailers.get(REVISION) == [newest]
    if not is_pulled if merged is None else _has_former(workspace, binding, merged):
        return GuardRefused(f"the merge of #{number} is not in {branch} yet", hint="syncd pull, then undo again")
    return GuardRefused(
        f"Git does not know here what #{number} changed: this clone began after it was merged",
        hint="undo it in a clone from before the merge; or change the pages back, commit, then syncd push",
    )


def write_reverts(workspace: Workspace, reverts: Sequence[Revert], author: Person | None = None) -> None:
    """Add the commits that take back merges to their branch, each upon the one before.

    Shape: one that is there already, or would change nothing, is not added. `author` is who decided it; without one,
    syncd is the author, too.
    Raises: WorkTreeInTheWay, OperationInProgress, RefMoved.
    """
    old = new = reverts[0].tip
    for revert in reverts:
        if revert.changes:
            new = _write(workspace, revert.merged, new, revert.tree, author)
    if new != old:
        workspace.repository.fast_forward(reverts[0].branch, old=old, new=new)


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
