"""Own change requests: found again from Git's refs, read from the platform, and forgotten when they are done."""

from dataclasses import dataclass

from syncd.errors import NotFound
from syncd.model.change_request import ChangeRequest
from syncd.sync.workspace import Binding, Workspace


@dataclass(frozen=True)
class Proposal:
    """One change request that stands for a branch; `commit` is the commit whose content it holds.

    Shape: `fresh` is true only in the run that created it, while its content is still main content.
    """

    branch: str
    commit: str
    change_request: ChangeRequest
    fresh: bool = False

    @property
    def lane(self) -> str:
        """The change request's key in the store."""
        return self.change_request.id


def own_proposals(workspace: Workspace, binding: Binding) -> list[Proposal]:
    """Given a space, return its own change requests as they are now: one request each."""
    prefix = workspace.proposed(binding)
    found: list[Proposal] = []
    for ref, commit in sorted(workspace.repository.refs(prefix).items()):
        number, _, branch = ref.removeprefix(prefix).partition("/")
        try:
            change_request = workspace.client.change_requests.get(binding.space, number)
        except NotFound:  # gone on the platform: the branch is simply not proposed
            workspace.repository.delete_ref(ref, old=commit)
            continue
        found.append(Proposal(branch, commit, change_request))
    return found


def head_of(workspace: Workspace, binding: Binding, proposal: Proposal) -> str:
    """Given a proposal, return the commit that holds its content as last seen: with what reviewers did to it."""
    seen = workspace.repository.resolve(workspace.changes(binding, proposal.change_request.number))
    is_later = seen is not None and workspace.repository.is_ancestor(proposal.commit, seen)
    return seen if seen is not None and is_later else proposal.commit


def remember(workspace: Workspace, binding: Binding, proposal: Proposal) -> None:
    """Given a proposal whose content is on the platform, anchor its commit in Git."""
    ref = f"{workspace.proposed(binding)}{proposal.change_request.number}/{proposal.branch}"
    old = workspace.repository.resolve(ref)
    if old != proposal.commit:
        workspace.repository.update_ref(ref, proposal.commit, old=old)


def forget(workspace: Workspace, binding: Binding, proposal: Proposal) -> None:
    """Given a proposal that is merged and mirrored, drop its refs and its lane."""
    number = proposal.change_request.number
    refs = (workspace.changes(binding, number), f"{workspace.proposed(binding)}{number}/{proposal.branch}")
    workspace.store.forget(binding.space, proposal.lane)
    for ref in refs:
        if (old := workspace.repository.resolve(ref)) is not None:
            workspace.repository.delete_ref(ref, old=old)
