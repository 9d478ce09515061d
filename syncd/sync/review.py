"""Review: what reviewers and the platform do to own change requests comes back into Git."""

from dataclasses import replace

from syncd.plan.change import Change
from syncd.sync.ancestry import origin_of
from syncd.sync.branches import HEADS
from syncd.sync.content import proposed_content
from syncd.sync.integrate import meeting_with
from syncd.sync.notes import note, notes_of
from syncd.sync.outcome import Applied, Outcome, Unchanged
from syncd.sync.proposals import Proposal, is_gone
from syncd.sync.reviewers import ask_reviewers
from syncd.sync.taken import NO_UPDATE, Update, takes
from syncd.sync.workspace import Binding, Workspace

DISPUTED = "disputed"


def review(workspace: Workspace, binding: Binding, proposal: Proposal) -> tuple[Proposal, Outcome]:
    """Given an own change request, return it as it now is after its news came into Git.

    Shape: an outdated one that does not conflict is updated from main content, where the policy says so; changed
    content becomes a commit on its ref; an unchanged one costs nothing. Source: house, section 6, "Review".
    """
    if not proposal.change_request.is_live:
        return proposal, Unchanged()
    name = f"#{proposal.change_request.number}"
    changes: list[Change] = []
    remarks = list(ask_reviewers(workspace, binding, proposal))
    update = NO_UPDATE
    if _is_due(workspace, proposal):
        # What reviewers did since decides whether it conflicts, and an update would hide what was theirs.
        changes += _fetched(workspace, binding, proposal)
        settled = _settled(workspace, binding, proposal)
        if settled or _merges(workspace, binding, proposal):
            proposal, conflicts = _updated(workspace, binding, proposal)
            update = Update(fresh=True, disputed=conflicts, settled=settled)
            if conflicts and not settled:
                remarks.append(f"{name} was updated from main content, and the platform found conflicts: read it there")
            changes.append(Change("update", "change request", name, "updated from main content"))
    changes += _fetched(workspace, binding, proposal, update)
    return proposal, Applied(tuple(changes), tuple(remarks)) if changes or remarks else Unchanged()


def _updated(workspace: Workspace, binding: Binding, proposal: Proposal) -> tuple[Proposal, bool]:
    """Pull main content into a change request, and return it as it is then, and whether the platform found conflicts.

    After conflicts it may lack some of main content, and its commit must not claim that; somebody may just have written
    what makes one, so until the platform has answered there may be some.
    """
    requests, id = workspace.client.change_requests, proposal.change_request.id
    _note_dispute(workspace, binding, proposal, is_open=True)
    conflicts = requests.refresh(binding.space, id).result == "conflicts"
    _note_dispute(workspace, binding, proposal, is_open=conflicts)
    return replace(proposal, change_request=requests.get(binding.space, id)), conflicts


def _fetched(workspace: Workspace, binding: Binding, proposal: Proposal, update: Update = NO_UPDATE) -> list[Change]:
    """Bring what a change request holds to its ref, when that is not there yet."""
    number = proposal.change_request.number
    seen = workspace.store.seen(binding.space, proposal.lane)
    here = workspace.repository.resolve(workspace.changes(binding, number))
    if seen is not None and seen.commit == here and seen.revision == proposal.change_request.revision:
        return []
    disputed = bool(notes_of(workspace, binding, number).get(DISPUTED))
    commit = proposed_content(workspace, binding, proposal, {}, update=replace(update, disputed=disputed)).commit
    _note_dispute(workspace, binding, proposal, is_open=False)
    if commit == here:
        return []
    return [Change("update", "change request", f"#{number}", "its content was fetched", after=commit)]


def _is_due(workspace: Workspace, proposal: Proposal) -> bool:
    """Whether main content is to be pulled into it: not for a branch that is gone."""
    wanted = workspace.policy.update == "auto" and proposal.change_request.outdated
    return wanted and not is_gone(workspace, proposal.branch)


def _merges(workspace: Workspace, binding: Binding, proposal: Proposal) -> bool:
    main = workspace.repository.resolve(workspace.main)
    here = workspace.repository.resolve(workspace.changes(binding, proposal.change_request.number)) or proposal.commit
    return main is not None and takes(workspace, binding, here, main)


def _settled(workspace: Workspace, binding: Binding, proposal: Proposal) -> str:
    """The branch's commit, if that has taken in both sides, so that what is in dispute between them is decided."""
    repository, request = workspace.repository, proposal.change_request
    tip, main = repository.resolve(f"{HEADS}{proposal.branch}"), repository.resolve(workspace.main)
    here = repository.resolve(workspace.changes(binding, request.number))
    seen = workspace.store.seen(binding.space, proposal.lane)
    if tip is None or main is None or here is None or seen is None or seen.revision != request.revision:
        return ""
    if not repository.is_ancestor(main, tip):
        return ""
    ref, origin = workspace.changes(binding, request.number), origin_of(workspace, proposal.commit)
    meeting = meeting_with(workspace, proposal.branch, ref, origin=origin)
    is_settled = meeting is None or (not meeting.held and meeting.kept_ours == repository.subtree(tip))
    return tip if is_settled else ""


def _note_dispute(workspace: Workspace, binding: Binding, proposal: Proposal, *, is_open: bool) -> None:
    """Remember, before the platform is asked, that an update may end in conflicts, until its content was read."""
    number = proposal.change_request.number
    if bool(notes_of(workspace, binding, number).get(DISPUTED)) != is_open:
        note(workspace, binding, number, {DISPUTED: is_open})
