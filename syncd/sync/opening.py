"""Open a branch's change request once and only once, and say what it holds."""

from collections.abc import Sequence
from dataclasses import replace

from syncd.errors import AnswerLost
from syncd.fault_points import FaultPoint, reach
from syncd.model.change_request import ChangeRequest, ChangeRequestCreate, ChangeRequestUpdate
from syncd.plan.change import Change
from syncd.plan.description import Description, Said, base_revision, held_commit, proposed_commit, renewed, speaks_of
from syncd.plan.message import REVISION, former_marker, marked_subject, marker, proposal_subject
from syncd.repo import Commit
from syncd.sync.ancestry import tip_of
from syncd.sync.ground import Ground
from syncd.sync.notes import ADDRESS, FILES_BY_HAND, note, notes_of
from syncd.sync.proposals import Proposal, anchored, says_the_same
from syncd.sync.workspace import Binding, Workspace


def open_proposal(workspace: Workspace, binding: Binding, ground: Ground, subject: str) -> Proposal:
    """Return the branch's change request: one that an earlier run left behind, or a new one.

    A create whose answer was lost is found by the marker in its subject, so there is never a second one.
    """
    left = _marked(workspace, binding, ground.branch)
    if left is not None:
        return Proposal(ground.branch, _origin(workspace, ground, left), left)
    words = subject or proposal_subject([commit.subject for commit in _speaking(ground)])
    body = ChangeRequestCreate(subject=marked_subject(words, marker(ground.branch, workspace.instance)))
    try:
        made = workspace.client.change_requests.create(binding.space, body)
    except AnswerLost:
        arrived = _marked(workspace, binding, ground.branch)
        if arrived is None:
            raise
        return Proposal(ground.branch, _origin(workspace, ground, arrived), arrived)
    reach(FaultPoint.CHANGE_REQUEST_OPENED)
    return Proposal(ground.branch, ground.main, made, fresh=True)


def _origin(workspace: Workspace, ground: Ground, request: ChangeRequest) -> str:
    """Given a change request, return the mirror commit of the main content that it started from or last took in."""
    start = request.revision_merged_ancestor or request.revision_initial or ""
    found = workspace.repository.find(workspace.main, REVISION, start)
    return found.oid if found is not None else ground.main


def _marked(workspace: Workspace, binding: Binding, branch: str) -> ChangeRequest | None:
    """The live change request whose subject carries the marker; the list has no filter for both states at once."""
    requests, instance = workspace.client.change_requests, workspace.instance
    mark, former = marker(branch, instance), former_marker(branch, instance)
    for status in ("draft", "open"):
        for found in requests.list(binding.space, status=status):
            if found.subject.endswith(mark):
                return found
            if found.subject.endswith(former) and _is_of(workspace, binding, found, branch):
                return found
    return None


def _is_of(workspace: Workspace, binding: Binding, request: ChangeRequest, branch: str) -> bool:
    """Whether a change request with a former marker is this branch's, and not that of another with the same end."""
    known = {item.branch for item in anchored(workspace, binding) if item.number == str(request.number)}
    return not known - {branch} and speaks_of(request.description, branch)


def describe(
    workspace: Workspace,
    binding: Binding,
    proposal: Proposal,
    ground: Ground,
    *,
    opened: bool,
    by_hand: Sequence[Change] = (),
    lost: Sequence[str] = (),
) -> Proposal:
    """Say what the change request holds, once its content is complete, open it, and return it as it is then.

    Shape: `by_hand` and `lost` are told too. A description that a person rewrote stays, and so does what people made of
    the status: only one that was never described is opened, and only where the policy opens change requests.
    """
    requests, id = workspace.client.change_requests, proposal.change_request.id
    request = proposal.change_request if proposal.fresh else requests.get(binding.space, id)
    commits = [_said(commit) for commit in _speaking(ground)]
    tip, base = _held_full(workspace, binding, replace(proposal, change_request=request), ground)
    text = renewed(request.description, Description(ground.branch, tip, commits, by_hand, lost, base))
    fields: dict[str, object] = {} if text is None else {"description": text}
    unseen = request.status == "draft" and not proposed_commit(request.description)
    if opened and unseen and workspace.policy.status == "open":
        fields["status"] = "open"
    if fields:
        request = requests.update(binding.space, id, ChangeRequestUpdate.model_validate(fields))
    files = sorted(change.key for change in by_hand if change.noun == "file")
    former = notes_of(workspace, binding, request.number)
    if files != former.get(FILES_BY_HAND, []) or request.address != former.get(ADDRESS, ""):
        note(workspace, binding, request.number, {FILES_BY_HAND: files, ADDRESS: request.address})
    return replace(proposal, change_request=request)


def _held_full(workspace: Workspace, binding: Binding, proposal: Proposal, ground: Ground) -> tuple[str, str]:
    """The branch's commit that the change request holds, and a revision that says no more: what the next run without
    memory compares with. While pages are held, the commit that it held before stands."""
    tip, description = tip_of(workspace, ground.tip), proposal.change_request.description
    sign, former = base_revision(description)
    if ground.held:
        before = held_commit(description)
        return (before, f"{sign}{former}") if before else (tip, f"!{former}")
    seen = workspace.store.seen(binding.space, proposal.lane)
    if seen is None or not says_the_same(workspace, binding, proposal.commit, ground.tip):
        return tip, f"-{former}" if former else ""
    return tip, ("=" if workspace.alike(binding, proposal.commit, ground.tip) else "+") + seen.revision


def _speaking(ground: Ground) -> list[Commit]:
    """The commits in which people say something, newest first; all of them when there is none."""
    theirs = [
        commit
        for commit in ground.commits
        if len(commit.parents) < 2 and not any(key.startswith("Syncd-") for key in commit.trailers)
    ]
    return theirs or list(ground.commits)


def _said(commit: Commit) -> Said:
    body = commit.body.rpartition("\n\n")[0] if commit.trailers else commit.body
    return Said(commit.oid, commit.subject, body)
