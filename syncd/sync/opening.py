"""Open a branch's change request once and only once, and say what it holds."""

from syncd.errors import AnswerLost
from syncd.model.change_request import ChangeRequest, ChangeRequestCreate, ChangeRequestUpdate
from syncd.model.document import Document
from syncd.plan.message import REVISION, marked_subject, marker, one_line, proposal_subject
from syncd.sync.ground import Ground
from syncd.sync.proposals import Proposal
from syncd.sync.workspace import Binding, Workspace


def open_proposal(workspace: Workspace, binding: Binding, ground: Ground, subject: str) -> Proposal:
    """Return the branch's change request: one that an earlier run left behind, or a new one.

    A create whose answer was lost is found by the marker in its subject, so there is never a second one.
    """
    mark = marker(ground.branch, workspace.instance)
    left = _marked(workspace, binding, mark)
    if left is not None:
        return Proposal(ground.branch, _origin(workspace, ground, left), left)
    words = subject or proposal_subject([commit.subject for commit in ground.commits])
    body = ChangeRequestCreate(subject=marked_subject(words, mark))
    try:
        made = workspace.client.change_requests.create(binding.space, body)
    except AnswerLost:
        arrived = _marked(workspace, binding, mark)
        if arrived is None:
            raise
        return Proposal(ground.branch, _origin(workspace, ground, arrived), arrived)
    return Proposal(ground.branch, ground.main, made, fresh=True)


def _origin(workspace: Workspace, ground: Ground, request: ChangeRequest) -> str:
    """Given a change request, return the mirror commit of the main content that it started from or last took in."""
    start = request.revision_merged_ancestor or request.revision_initial or ""
    found = workspace.repository.find(workspace.main, REVISION, start)
    return found.oid if found is not None else ground.main


def _marked(workspace: Workspace, binding: Binding, mark: str) -> ChangeRequest | None:
    """The live change request whose subject carries the marker; the list has no filter for both states at once."""
    requests = workspace.client.change_requests
    for status in ("draft", "open"):
        for found in requests.list(binding.space, status=status):
            if found.subject.endswith(mark):
                return found
    return None


def describe(workspace: Workspace, binding: Binding, proposal: Proposal, ground: Ground, *, opened: bool) -> None:
    """Open the change request for review and say what it holds, once its content is complete."""
    request: ChangeRequest = proposal.change_request
    lines = [f"Proposed by syncd from branch {ground.branch}."]
    lines += [f"{commit.oid[:10]} {one_line(commit.subject)}" for commit in ground.commits]
    text = "\n\n".join(lines)
    if not opened and request.description is not None and request.description.text() == text:
        return
    status = "open" if request.status == "draft" and opened else None
    fields = {"description": Document.of_text(text)} | ({"status": status} if status else {})
    workspace.client.change_requests.update(binding.space, request.id, ChangeRequestUpdate.model_validate(fields))
