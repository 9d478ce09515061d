"""Integrate: merge what the platform has into a writer's branch, page by page; pages in conflict are left out."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace

from syncd.errors import MergeConflict
from syncd.fault_points import FaultPoint, reach
from syncd.model.wording import format_first
from syncd.plan.change import Change
from syncd.plan.message import RESOLVED
from syncd.sync.binding import Binding
from syncd.sync.branches import HEADS
from syncd.sync.merge.base import list_former_tips, record_missed_tip, record_tip
from syncd.sync.merge.compose import apply_choices
from syncd.sync.merge.leave_out import leave_out
from syncd.sync.merge.lossy_forms import find_unseen_edits
from syncd.sync.merge.merge import find_moves, merge
from syncd.sync.merge.result import Choice, MergeResult, OwnText
from syncd.sync.merge.write_part import CONFLICTS, write_part
from syncd.sync.outcome import Applied, Outcome, Unchanged
from syncd.sync.state.conflicts import KEEP_MERGE, describe_conflicts, find_shared_branch
from syncd.sync.workspace import Workspace


@dataclass(frozen=True)
class Integrated:
    """A branch merged with a commit of the platform: `commit` is the branch's own where nothing is new.

    Shape: `result` is None when one side has all of the other.
    """

    commit: str
    result: MergeResult | None = None


def integrate(workspace: Workspace, branch: str, ref: str, *, choices: Mapping[str, Choice] | None = None) -> Outcome:
    """Merge the commit of a ref of the platform into a branch.

    Shape: pages in conflict stay as the branch has them; the others come by a merge with a part of the ref's commit.
    `choices` are a person's decisions by path; a merge records them too. No work tree is needed; a checked-out branch
    moves only if that touches no uncommitted edit.
    Raises: MergeConflict for paths outside of every space; WorkTreeInTheWay, OperationInProgress, RefMoved.
    Source: docs/decisions/0002-one-recorded-base.md.
    """
    repository = workspace.repository
    theirs, ours = repository.resolve(ref), repository.resolve(f"{HEADS}{branch}")
    if theirs is None or ours is None:
        return Unchanged()
    name = name_lane(ref)
    found = integrate_commit(
        workspace, branch, ours, theirs, name=name, choices=choices, is_request=is_change_request(workspace, ref)
    )
    result = found.result
    if result is not None and result.outside_paths:
        raise _build_outside_error(workspace, result, branch, name)
    conflicts = describe_conflicts(workspace, result, branch, name) if result is not None else ()
    if found.commit == ours:
        record_missed_tip(workspace, branch, ours, theirs)
        return Unchanged(conflicts)
    reach(FaultPoint.MERGE_WRITTEN)
    elsewhere = workspace.repository.fast_forward(branch, old=ours, new=found.commit)
    record_tip(workspace, branch)
    description = (
        f"fast-forwarded to {name}" if result is None else f"took in {name}" if conflicts else f"merged with {name}"
    )
    if elsewhere is not None:
        description += f", with the files in {elsewhere}"
    change = Change("update", "branch", branch, description, before=ours, after=found.commit)
    return Applied((change,), result.notes if result is not None else (), conflicts)


def list_ahead(workspace: Workspace, branch: str, lanes: Mapping[str, Binding]) -> list[str]:
    """Return the refs of change requests that bring a branch main content by the same merge; `lanes` has the space of
    each by its ref.

    Shape: such a change request holds main content, and main content has nothing new for the branch in other spaces,
    nor in one that a page of the branch has left: of a page that the branch has moved to another space, and that main
    content changed, the change request holds only its own half, and says nothing of that change.
    """
    repository = workspace.repository
    main, ours = repository.resolve(workspace.main), repository.resolve(f"{HEADS}{branch}")
    tips = {ref: repository.resolve(ref) for ref in lanes}
    ahead = [ref for ref, tip in tips.items() if main and tip and repository.is_ancestor(main, tip)]
    base = repository.find_merge_base(main, ours) if main and ours and ahead else None
    if main is None or ours is None or base is None or len(workspace.bindings) == 1:
        return ahead
    paths = [change.path for change in repository.compare_trees(base, main)]
    news = {binding for binding in workspace.bindings if any(map(binding.holds, paths))}
    moves = find_moves(workspace, base, ours) if news else {}
    if any(one.holds(old) and not one.holds(new) for one in news for old, new in moves.items()):
        return []
    return [ref for ref in ahead if news <= {lanes[ref]}]


def name_lane(ref: str) -> str:
    """Return what people call a ref that a branch takes in, such as `platform/main`."""
    return ref.removeprefix("refs/remotes/")


def is_change_request(workspace: Workspace, ref: str) -> bool:
    """Return whether a ref that a branch takes in holds the content of a change request."""
    return ref.startswith(f"refs/remotes/{workspace.remote}/changes/")


def integrate_commit(
    workspace: Workspace,
    branch: str,
    ours: str,
    theirs: str,
    *,
    name: str,
    choices: Mapping[str, Choice] | None = None,
    is_request: bool = False,
) -> Integrated:
    """Return a commit that has a branch's commit and one of the platform; no ref is moved.

    Shape: a branch without commits of its own is fast-forwarded. `is_request` says that `theirs` is the content of a
    change request: a rewritten branch is not fast-forwarded to that, and commits that it dropped do not come back,
    since the merge has a part in their place.
    """
    repository = workspace.repository
    if repository.is_ancestor(theirs, ours):
        return Integrated(ours)
    is_rewritten = is_request and bool(list_former_tips(workspace, branch, ours, theirs))
    main = repository.resolve(workspace.main)
    if is_rewritten and main is not None and repository.is_ancestor(ours, main):
        return Integrated(ours)  # a person reset it to main content, and there it stays
    # A fast-forward takes all of theirs as it is, also text that replaced words which its editor could not see.
    if not is_rewritten and repository.is_ancestor(ours, theirs) and not find_unseen_edits(workspace, ours, theirs):
        return Integrated(theirs)
    # What an upstream has is known by Git's graph alone. The former tip may have commits of others who share the
    # branch; a reset that left them out would be merged as if it had taken them back.
    upstream = workspace.upstream
    is_shared = upstream is not None and name == f"{upstream.name}/{branch}"
    merged = merge(workspace, ours, theirs, branch="" if is_shared else branch)
    result = apply_choices(workspace, merged, choices or {})
    tree = repository.find_tree(ours)
    if is_request and result.tree_with_ours == tree and not choices:
        return Integrated(ours, result)  # nothing new; that it was taken in is recorded when the branch is sent
    if not result.conflicts and not is_rewritten:
        message = _render_message(f"Merge {name} into {branch}", choices)
        return Integrated(_merge_commit(workspace, result, theirs, message), result)
    left_out = [paths for page in result.conflicts for paths in page.paths_per_page]
    part_tree = leave_out(repository, workspace.bindings, theirs, result.base.tree, left_out)
    if part_tree == result.base.tree and result.tree_with_ours == tree and not choices:
        return Integrated(ours, result)  # all that is new is in conflict
    # With the commit itself as a parent, Git would take the pages that are left out for merged: `git merge` would say
    # "Already up to date" while they are open.
    lacks = CONFLICTS if left_out else ""
    part = write_part(repository, theirs, result.base.commits, part_tree, name=name, lacks=lacks)
    if repository.is_ancestor(part, ours) and result.tree_with_ours == tree:
        return Integrated(ours, result)  # an earlier run has merged just this
    subject = f"Merge {name} into {branch}" + (", but for conflicts" if left_out else "")
    return Integrated(_merge_commit(workspace, result, part, _render_message(subject, choices)), result)


def _render_message(subject: str, choices: Mapping[str, Choice] | None) -> str:
    """The message of a merge, with what a person decided in it."""
    kinds = {"edited" if isinstance(choice, OwnText) else choice for choice in (choices or {}).values()}
    return f"{subject}\n" + (f"\n{RESOLVED}: {', '.join(sorted(kinds))}\n" if kinds else "")


def _merge_commit(workspace: Workspace, result: MergeResult, theirs: str, message: str) -> str:
    """Write the merge commit; the same each time, so that a branch that may not move gets the same in every run."""
    repository = workspace.repository
    dates = (repository.read_commit(side).author.when for side in (result.ours, result.theirs))
    person = replace(workspace.committer(), when=max(dates))
    return repository.commit_tree(
        result.tree_with_ours, parents=[result.ours, theirs], message=message, author=person, committer=person
    )


def _build_outside_error(workspace: Workspace, result: MergeResult, branch: str, name: str) -> MergeConflict:
    directories = {binding.directory for binding in workspace.bindings}
    if taken := [path for path in result.outside_paths if path in directories]:
        return MergeConflict(
            f"{branch} has a submodule or link at {taken[0]}, the directory of a space; nothing was moved",
            paths=result.outside_paths,
            hint=f"give it another place; git checkout {name} -- {shlex.quote(taken[0])} brings the pages back; commit",
        )
    shared = find_shared_branch(workspace, name, branch)
    elsewhere = f" (in any other clone: git merge {shared})" if shared else ""
    paths = format_first(result.outside_paths, 5)
    return MergeConflict(
        f"{branch} and {name} changed the same lines of {paths}, which no space holds; nothing was moved",
        paths=result.outside_paths,
        hint=f"git merge {name}{elsewhere}, settle the conflict, commit, then syncd push\n{KEEP_MERGE}",
    )
