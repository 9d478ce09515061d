"""Find syncd's own change requests through refs in Git, read them from the platform, and forget those that are done."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from syncd.errors import NotFound, Rejected, Unreachable
from syncd.model.change_request import ChangeRequest
from syncd.model.space import Space
from syncd.plan.message import build_former_marker, build_marker
from syncd.plan.propose.description import is_about
from syncd.sync.binding import Binding
from syncd.sync.branches import HEADS
from syncd.sync.merge.base import record_former_tip
from syncd.sync.state.notes import forget_space, note_space, notes_ref
from syncd.sync.state.proposed_refs import ProposalRecord, read_records
from syncd.sync.state.request_state import is_older, read_recorded_id, record_request
from syncd.sync.state.sent_log import forget_sent
from syncd.sync.state.space import read_space
from syncd.sync.workspace import Workspace

LISTING_MAX = 1000
"""Change requests that one request lists."""


class ProposalEnded(Unreachable):
    """A change request was merged or archived after it was read; the next run sees it as it is."""


@dataclass(frozen=True)
class Proposal:
    """A change request that syncd opened for a branch.

    Shape: `commit` is the branch's commit that was last sent whole; before that, the mirror commit that the change
    request started from. `is_fresh` is true only in the run that created it, while its content is still main content.
    """

    branch: str
    commit: str
    change_request: ChangeRequest
    is_fresh: bool = False

    @property
    def lane(self) -> str:
        """The change request's lane, the stream of content under whose key the store keeps anchors: here its id; that
        of main content is "main"."""
        return self.change_request.id

    @property
    def is_merged(self) -> bool:
        """Whether its content has become main content."""
        return self.change_request.status == "merged"


def list_records(workspace: Workspace, binding: Binding) -> list[ProposalRecord]:
    """Return the proposals of a space as Git has recorded them."""
    return read_records(workspace.repository, binding)


def is_marked(request: ChangeRequest, branch: str, instance: str) -> bool:
    """Return whether the subject of a change request has the marker of a branch; one of version 0.1 also stands for
    other branches, so that the description must not name another."""
    if request.subject.endswith(build_marker(branch, instance)):
        return True
    return request.subject.endswith(build_former_marker(branch, instance)) and is_about(request.description, branch)


def is_own(workspace: Workspace, binding: Binding, branch: str, request: ChangeRequest) -> bool:
    """Return whether a change request with a recorded number is the one that syncd opened for the branch.

    Shape: it is known by the id that was recorded, whatever its subject is now. Where nothing is recorded, the marker
    in its subject decides. A platform that was restored from a backup gives numbers again.
    """
    known = read_recorded_id(workspace, binding, request.number)
    return known == request.id if known else is_marked(request, branch, workspace.instance)


def list_proposals(workspace: Workspace, binding: Binding, space: Space | None = None) -> list[Proposal]:
    """Return the space's own change requests as they are now.

    Shape: one request each, or, when `space` says that this is less, a listing of all that are live. One that is gone,
    that was restored from a backup, or whose number is another's, is forgotten in Git. Raises: NotFound when the space
    itself is gone.
    """
    records = list_records(workspace, binding)
    listed = _list_live(workspace, binding) if space is not None and _count_requests(space) < len(records) else {}
    found: list[Proposal] = []
    for item in records:
        try:
            request = listed.get(item.number) or workspace.client.change_requests.get(binding.space, item.number)
        except NotFound:
            if (again := _read_again(workspace, binding, item.number)) is None:  # the branch is simply not proposed
                workspace.repository.delete_ref(item.ref, old=item.commit)
                continue
            request = again
        proposal = Proposal(item.branch, item.commit, request)
        if is_own(workspace, binding, item.branch, request) and not is_older(workspace, binding, request):
            found.append(proposal)
        else:  # the branch is proposed as in a new clone, which finds its own
            forget_proposal(workspace, binding, proposal)
    if records:
        _note_space(workspace, binding)
    return found


def has_foreign_requests(space: Space, proposals: Iterable[Proposal]) -> bool:
    """Return whether a space has more live change requests than its own ones, as both were read."""
    own = {proposal.lane for proposal in proposals if proposal.change_request.is_live}
    return (space.change_requests_open or 0) + (space.change_requests_draft or 0) > len(own)


def _read_again(workspace: Workspace, binding: Binding, number: str) -> ChangeRequest | None:
    """A change request that was not found, asked for once more; None where it is gone and its space answers.

    Raises: NotFound when the space itself is gone, if only for a moment: nothing of it may be forgotten then.
    """
    read_space(workspace.client, binding.space)
    try:
        return workspace.client.change_requests.get(binding.space, number)
    except NotFound:
        return None


def find_proposal(workspace: Workspace, binding: Binding, branch: str) -> Proposal | None:
    """Return the newest change request of a branch as it is now; None where there is none, or another one has its
    number."""
    numbers = [item for item in list_records(workspace, binding) if item.branch == branch and item.number.isdecimal()]
    if not numbers:
        return None
    newest = max(numbers, key=lambda item: int(item.number))
    request = workspace.client.change_requests.get(binding.space, newest.number)
    return Proposal(branch, newest.commit, request) if is_own(workspace, binding, branch, request) else None


@contextmanager
def detect_end(workspace: Workspace, binding: Binding, proposal: Proposal | None) -> Iterator[None]:
    """Translate a refusal in the block when the change request has ended meanwhile.

    Raises: ProposalEnded instead of Rejected, when it was merged or archived meanwhile.
    """
    try:
        yield
    except Rejected as refusal:
        if proposal is None:
            raise
        now = workspace.client.change_requests.get(binding.space, proposal.lane)
        if now.is_live:
            raise
        what = f"#{now.number} was {now.status} while syncd worked on it"
        raise ProposalEnded(what, hint="run syncd sync again: it goes on from there") from refusal


def _count_requests(space: Space) -> float:
    """Requests that a listing of all live change requests takes; without the counts nobody knows."""
    if space.change_requests_open is None or space.change_requests_draft is None:
        return float("inf")
    return 2 + space.change_requests_open // LISTING_MAX + space.change_requests_draft // LISTING_MAX


def _list_live(workspace: Workspace, binding: Binding) -> dict[str, ChangeRequest]:
    requests = workspace.client.change_requests
    return {
        str(request.number): request
        for status in ("draft", "open")
        for request in requests.list(binding.space, status=status)
    }


def find_head(workspace: Workspace, binding: Binding, proposal: Proposal) -> str:
    """Return the commit that holds the content of a proposal as last read, with what reviewers did to it."""
    return (
        workspace.repository.resolve(workspace.change_ref(binding, proposal.change_request.number)) or proposal.commit
    )


def is_branch_gone(workspace: Workspace, branch: str) -> bool:
    """Return whether the branch of a proposal no longer exists."""
    return workspace.repository.resolve(f"{HEADS}{branch}") is None


def record_proposal(workspace: Workspace, binding: Binding, proposal: Proposal) -> None:
    """Record the branch's commit whose content is on the platform now by a ref, which also keeps it in Git."""
    request = proposal.change_request
    if not read_recorded_id(workspace, binding, request.number):
        record_request(workspace, binding, request)
    note_space(workspace.repository, binding)
    workspace.repository.set_ref(f"{binding.proposed_refs}{request.number}/{proposal.branch}", proposal.commit)


def forget_proposal(workspace: Workspace, binding: Binding, proposal: Proposal) -> None:
    """Delete the refs and the lane of a proposal that is merged and mirrored, or closed."""
    if proposal.is_merged:
        record_former_tip(workspace, proposal.branch, proposal.commit)
    number = proposal.change_request.number
    anchor = f"{binding.proposed_refs}{number}/{proposal.branch}"
    workspace.store.forget(binding.space, proposal.lane)
    workspace.store.forget_request(binding.space, number)
    for ref in (workspace.change_ref(binding, number), notes_ref(binding, number), anchor):
        workspace.repository.set_ref(ref, None)
    forget_sent(workspace, binding, number)
    _note_space(workspace, binding)


def _note_space(workspace: Workspace, binding: Binding) -> None:
    """Note whose the records under the name of a space are, as long as there are any."""
    if list_records(workspace, binding):
        note_space(workspace.repository, binding)
    else:
        forget_space(workspace.repository, binding)
