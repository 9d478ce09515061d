"""Integrate: bring what the platform has into a writer's branch, page by page; what needs a person waits alone."""

from collections.abc import Mapping, Sequence

from syncd.errors import MergeConflict
from syncd.fault_points import FaultPoint, reach
from syncd.plan.change import Change
from syncd.plan.met import Claim, met_message
from syncd.sync.ancestry import held_by
from syncd.sync.branches import HEADS
from syncd.sync.conflicts import conflicts_of
from syncd.sync.forms import contested
from syncd.sync.meeting import Choice, Meeting, meet
from syncd.sync.memory import caught_up, merged_origins
from syncd.sync.outcome import Applied, Held, Outcome, Unchanged
from syncd.sync.renditions import meant, renditions
from syncd.sync.workspace import Workspace


def integrate(
    workspace: Workspace, branch: str, ref: str, *, origin: str = "", choices: Mapping[str, Choice] | None = None
) -> Outcome:
    """Given a branch and a ref of the platform, bring the ref's commits into the branch.

    Shape: `origin` is what the branch said of a change request (`origin_of`); when the branch does not hold that, since
    it was rewritten or the change request lacks main content, only what reviewers did comes in. Pages in conflict stay
    as the branch has them, all others come by a commit that says so, and a merge follows when a person has decided.
    Computed without a work tree; a checked-out branch moves only when no uncommitted edit is touched.
    Raises: MergeConflict for paths outside of every space; WorkTreeInTheWay, OperationInProgress, RefMoved.
    Source: house, section 4, "Integrating".
    """
    outcome = _integrate(workspace, branch, ref, origin, choices or {})
    if ref == workspace.main:
        caught_up(workspace, branch)
    return outcome


def meeting_with(
    workspace: Workspace, branch: str, ref: str, *, origin: str = "", choices: Mapping[str, Choice] | None = None
) -> Meeting | None:
    """Given a branch and a ref of the platform, return what they come to together; None when nothing has to meet."""
    repository = workspace.repository
    theirs, ours = meant(repository, repository.resolve(ref)), repository.resolve(f"{HEADS}{branch}")
    if theirs is None or ours is None or repository.is_ancestor(theirs, ours):
        return None
    rewritten = _is_rewritten(workspace, ours, origin)
    behind = _has_nothing(workspace, ours) if rewritten else repository.is_ancestor(ours, theirs)
    if behind and not (contested(workspace, ours, theirs) or renditions(repository, ours, theirs)):
        return None
    main = merged_origins(workspace, branch) if ref == workspace.main else ()
    met = Claim.whole(origin) if rewritten else main
    return meet(workspace, ours, theirs, met=met, choices=choices)


def _integrate(workspace: Workspace, branch: str, ref: str, origin: str, choices: Mapping[str, Choice]) -> Outcome:
    repository = workspace.repository
    name = ref.removeprefix("refs/remotes/")
    meeting = meeting_with(workspace, branch, ref, origin=origin, choices=choices)
    if meeting is None:
        return _followed(workspace, branch, ref, origin)
    if meeting.outside:
        raise _outside(meeting, branch, name)
    conflicts = conflicts_of(workspace, meeting, branch, name)
    ours, theirs = meeting.ours, meeting.theirs
    if ref != workspace.main and not choices and _waits(workspace, meeting):
        return Unchanged(conflicts)
    rewritten = _is_rewritten(workspace, ours, origin)
    apart = rewritten or bool(origin and not repository.is_ancestor(origin, theirs))
    if not choices and meeting.kept_ours == repository.subtree(ours) and (apart or origin or meeting.held):
        return Unchanged(conflicts)
    if not apart and not meeting.held:
        commit = _commit(workspace, meeting, [ours, theirs], f"Merge {name} into {branch}\n")
        return _moved(workspace, branch, ours, commit, f"merged with {name}", notes=meeting.notes)
    since = repository.merge_bases(ours, origin) if rewritten else meeting.since
    met = (origin, theirs) if rewritten else (theirs,)
    held = [page.paths for page in meeting.held]
    if rewritten and not repository.is_ancestor(repository.resolve(workspace.main) or ours, ours):
        held += [tuple(sorted(knot)) for knot in held_by(repository, origin)]
    message = met_message(f"Bring {name} into {branch}", met=met, since=since, held=held)
    commit = _commit(workspace, meeting, [ours], message)
    return _moved(workspace, branch, ours, commit, f"took in {name}", notes=meeting.notes, conflicts=conflicts)


def _followed(workspace: Workspace, branch: str, ref: str, origin: str) -> Outcome:
    """A branch with nothing of its own is where the ref is."""
    repository = workspace.repository
    theirs, ours = meant(repository, repository.resolve(ref)), repository.resolve(f"{HEADS}{branch}")
    if theirs is None or ours is None or repository.is_ancestor(theirs, ours) or _is_rewritten(workspace, ours, origin):
        return Unchanged()
    return _moved(workspace, branch, ours, theirs, f"fast-forwarded to {ref.removeprefix('refs/remotes/')}")


def _waits(workspace: Workspace, meeting: Meeting) -> bool:
    """Whether a change request has no news, and lacks only what a person has to do on the platform."""
    repository, ours, theirs = workspace.repository, meeting.ours, meeting.theirs
    return meeting.kept_ours == repository.subtree(ours) and bool(renditions(repository, ours, theirs))


def _is_rewritten(workspace: Workspace, ours: str, origin: str) -> bool:
    """Whether the branch has lost the commit that a change request was made from."""
    return bool(origin) and not workspace.repository.is_ancestor(origin, ours)


def _has_nothing(workspace: Workspace, tip: str) -> bool:
    """Whether a branch was reset to what main content has."""
    main = workspace.repository.resolve(workspace.main)
    return main is not None and workspace.repository.is_ancestor(tip, main)


def _commit(workspace: Workspace, meeting: Meeting, parents: Sequence[str], message: str) -> str:
    person = workspace.committer()
    commit = workspace.repository.commit_tree(
        meeting.kept_ours, parents=parents, message=message, author=person, committer=person
    )
    reach(FaultPoint.MERGE_WRITTEN)
    return commit


def _moved(
    workspace: Workspace,
    branch: str,
    ours: str,
    commit: str,
    message: str,
    *,
    notes: tuple[str, ...] = (),
    conflicts: tuple[Held, ...] = (),
) -> Applied:
    workspace.repository.fast_forward(branch, old=ours, new=commit)
    return Applied((Change("update", "branch", branch, message, before=ours, after=commit),), notes, conflicts)


def _outside(meeting: Meeting, branch: str, name: str) -> MergeConflict:
    paths = ", ".join(meeting.outside[:5]) + (", …" if len(meeting.outside) > 5 else "")
    return MergeConflict(
        f"{branch} and {name} changed the same lines of {paths}, which no space holds; nothing was moved",
        paths=meeting.outside,
        hint=f"git merge {name}, settle the conflict, commit, then syncd push",
    )
