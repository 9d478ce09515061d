"""Review: what reviewers and the platform do to own change requests comes back into Git."""

from dataclasses import replace

from syncd.plan.change import Change
from syncd.sync.content import proposed_content
from syncd.sync.outcome import Applied, Outcome, Unchanged
from syncd.sync.proposals import Proposal
from syncd.sync.workspace import Binding, Workspace


def review(workspace: Workspace, binding: Binding, proposal: Proposal) -> tuple[Proposal, Outcome]:
    """Given an own change request, return it as it now is after its news came into Git.

    Shape: an outdated one that does not conflict is updated from main content; changed content becomes a commit on its
    ref; an unchanged one costs nothing. Source: house, section 6, "Review".
    """
    if not proposal.change_request.is_live:
        return proposal, Unchanged()
    name = f"#{proposal.change_request.number}"
    changes: list[Change] = []
    if proposal.change_request.outdated and _merges(workspace, binding, proposal):
        workspace.client.change_requests.refresh(binding.space, proposal.change_request.id)
        fresh = workspace.client.change_requests.get(binding.space, proposal.change_request.id)
        proposal = replace(proposal, change_request=fresh)
        changes.append(Change("update", "change request", name, "updated from main content"))
    seen = workspace.store.seen(binding.space, proposal.lane)
    here = workspace.repository.resolve(workspace.changes(binding, proposal.change_request.number))
    if seen is None or seen.commit != here or seen.revision != proposal.change_request.revision:
        commit = proposed_content(workspace, binding, proposal, {}).commit
        if commit != here:
            changes.append(Change("update", "change request", name, "its content was fetched", after=commit))
    return proposal, Applied(tuple(changes)) if changes else Unchanged()


def _merges(workspace: Workspace, binding: Binding, proposal: Proposal) -> bool:
    """Whether main content and the change request merge without a conflict."""
    tip = workspace.repository.resolve(workspace.main)
    here = workspace.repository.resolve(workspace.changes(binding, proposal.change_request.number)) or proposal.commit
    return tip is not None and not workspace.repository.merge(tip, here).conflicts
