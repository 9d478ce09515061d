"""Close the change requests whose branch was deleted, and keep what reviewers wrote in them."""

from collections.abc import Sequence
from dataclasses import replace

from syncd.model.change_request import ChangeRequestUpdate
from syncd.plan.change import Change
from syncd.plan.guard import guard_deletions
from syncd.sync.binding import Binding
from syncd.sync.merge.base import forget_tips
from syncd.sync.outcome import Applied, Outcome, join_outcomes
from syncd.sync.review.flow import fetch_content
from syncd.sync.state.lane_content import has_equal_content
from syncd.sync.state.proposals import Proposal, detect_end, forget_proposal, is_branch_gone
from syncd.sync.state.proposed_refs import archived_refs
from syncd.sync.workspace import Workspace


def is_over(workspace: Workspace, proposal: Proposal, proposals: Sequence[Proposal]) -> bool:
    """Return whether nothing will come of a proposal any more.

    Shape: its branch is gone and the policy archives it or a person did, or it was archived and another one followed.
    """
    if not proposal.change_request.is_live:
        number = proposal.change_request.number
        followed = any(p.branch == proposal.branch and p.change_request.number > number for p in proposals)
        return followed or is_branch_gone(workspace, proposal.branch)
    return workspace.policy.deleted_branch == "archive" and is_branch_gone(workspace, proposal.branch)


def close_proposals(
    workspace: Workspace, binding: Binding, over: Sequence[Proposal], *, existing: int, done: list[Applied]
) -> Outcome:
    """Archive those proposals that are over and still live, and forget all that are over.

    Shape: `existing` counts the space's proposals; edits of reviewers that the branch never had stay in Git. A branch
    that comes back is proposed afresh. `done` gets what was done of each, also where an error ends the rest.
    Raises: TooMuch.
    """
    live = [proposal for proposal in over if proposal.change_request.is_live]
    names = [proposal.branch for proposal in live]
    guard_deletions(f"archive.{binding.name}", names, existing, remain=1, force=workspace.force)
    for proposal in over:
        if proposal.change_request.is_live:
            _archive(workspace, binding, proposal, done)
        kept = _keep_edits(workspace, binding, proposal)
        if kept:
            number, look = proposal.change_request.number, f"git diff {proposal.commit[:10]} {kept}"
            done.append(Applied((), (f"#{number} holds edits that {proposal.branch} never had: {look}",)))
        forget_proposal(workspace, binding, proposal)
        if is_branch_gone(workspace, proposal.branch):
            forget_tips(workspace.repository, proposal.branch)
    return join_outcomes(done)


def _archive(workspace: Workspace, binding: Binding, proposal: Proposal, done: list[Applied]) -> None:
    """Archive a proposal, and read what a reviewer may have written just before."""
    request = proposal.change_request
    with detect_end(workspace, binding, proposal):
        update = ChangeRequestUpdate(status="archived")
        archived = workspace.client.change_requests.update(binding.space, request.id, update)
    message = f"archived: branch {proposal.branch} was deleted"
    done.append(Applied((Change("update", "change request", f"#{request.number}", message),)))
    if fetched := fetch_content(workspace, binding, replace(proposal, change_request=archived)):
        done.append(Applied(tuple(fetched)))


def _keep_edits(workspace: Workspace, binding: Binding, proposal: Proposal) -> str:
    """Let a ref keep what the change request holds beyond its branch; return that ref, or ""."""
    repository, number = workspace.repository, proposal.change_request.number
    here = repository.resolve(workspace.change_ref(binding, number))
    if here is None or repository.is_ancestor(here, proposal.commit):
        return ""
    if has_equal_content(workspace, binding, here, proposal.commit):
        return ""
    ref = f"{archived_refs(binding)}{number}/{proposal.branch}"
    repository.set_ref(ref, here)
    return ref
