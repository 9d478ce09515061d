"""Merge by policy: a change request that nobody objects to becomes main content, so that Git alone publishes."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace

from syncd.errors import AnswerLost, PlatformError, Rejected, Unauthorized
from syncd.model.change_request import ChangeRequest
from syncd.model.review import Review
from syncd.model.text import join_lines
from syncd.model.wording import format_first
from syncd.plan.change import Change
from syncd.sync.binding import Binding
from syncd.sync.branches import HEADS
from syncd.sync.outcome import Applied, Held, Outcome, Unchanged, Waiting
from syncd.sync.state.lane_content import has_equal_content
from syncd.sync.state.notes import FILES_BY_HAND, add_notes, read_notes
from syncd.sync.state.proposals import Proposal, detect_end
from syncd.sync.state.request_commits import find_content
from syncd.sync.workspace import Workspace

REFUSED = "merge_refused"
_NO_SUCH_OPERATION = (404, 405, 501)
"""Statuses by which a server says that it has no reviews."""


def merge_proposal(workspace: Workspace, binding: Binding, proposal: Proposal) -> Outcome:
    """Merge a branch's change request when all who have a say approve; else return what is missing.

    Shape: a draft is nobody's to merge. A refusal is remembered, and the same state is never tried again. Waiting for
    people has exit code 0. Raises: AnswerLost when the merge may or may not have happened.
    """
    request = proposal.change_request
    if request.status != "open":
        return Unchanged()
    missing = _find_missing(workspace, binding, proposal)
    if missing:
        return _build_waiting(request, missing)
    verdicts = list_verdicts(workspace, binding, request)
    against = sorted(review.reviewer.display_name for review in verdicts if review.status == "changes-requested")
    if against:
        return _build_waiting(request, f"changes are requested by {join_lines(', '.join(against))}")
    state = _compute_state(request, verdicts)
    refused = read_notes(workspace.repository, binding, request.number).get(REFUSED)
    if isinstance(refused, dict) and refused.get("state") == state:
        return _build_waiting(request, str(refused.get("why", "")))
    now = workspace.client.change_requests.get(binding.space, request.id)
    if _compute_state(now, verdicts) != state:
        return _build_waiting(now, "it changed just now; the next run looks at it again")
    return _merge_request(workspace, binding, replace(proposal, change_request=now), state)


def _find_missing(workspace: Workspace, binding: Binding, proposal: Proposal) -> str:
    """What keeps an open change request from being merged, as far as that is known without asking; or ""."""
    request = proposal.change_request
    if request.comments:
        return f"{request.comments} comment{'s are' if request.comments > 1 else ' is'} open"
    if request.outdated:
        return "main content has moved on since"
    repository = workspace.repository
    tip = repository.resolve(f"{HEADS}{proposal.branch}")
    here = repository.resolve(workspace.change_ref(binding, request.number))
    seen = workspace.store.read_last_seen(binding.space, proposal.lane)
    if tip is None or here is None or seen is None or seen.revision != request.revision or seen.commit != here:
        return "what it holds was not read yet"
    if files := _list_missing_files(workspace, binding, proposal):
        return f"somebody has to upload {format_first(files, 5)} by hand"
    if not has_equal_content(workspace, binding, find_content(repository, here), tip):
        return f"it does not hold exactly what {proposal.branch} says"
    return ""


def _list_missing_files(workspace: Workspace, binding: Binding, proposal: Proposal) -> list[str]:
    """Files that nobody has brought to the platform yet; of those outside of the assets no tree shows that."""
    noted = read_notes(workspace.repository, binding, proposal.change_request.number).get(FILES_BY_HAND, [])
    if not noted:
        return []
    lanes = [workspace.store.read_last_seen(binding.space, lane) for lane in ("main", proposal.lane)]
    present_paths = {anchor.path for lane in lanes if lane is not None for anchor in lane.anchors.values()}
    return [path for path in noted if isinstance(path, str) and path not in present_paths]


def list_verdicts(workspace: Workspace, binding: Binding, request: ChangeRequest) -> list[Review]:
    """Return the latest review of a change request by each reviewer; none from a server that has no reviews.

    Raises: what the client raises; a refusal may hide that somebody objects.
    """
    try:
        reviews = sorted(workspace.client.reviews.list(binding.space, request.id), key=lambda review: review.created_at)
    except PlatformError as error:
        if error.status not in _NO_SUCH_OPERATION:
            raise
        return []
    return list({review.reviewer.id: review for review in reviews}.values())


def _compute_state(request: ChangeRequest, verdicts: Sequence[Review]) -> str:
    """A digest of all that can change a platform's mind about a merge."""
    facts = [request.status, request.revision, request.comments, request.outdated, request.updated_at]
    text = json.dumps([*facts, sorted((review.id, review.status) for review in verdicts)])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _merge_request(workspace: Workspace, binding: Binding, proposal: Proposal, state: str) -> Outcome:
    request = proposal.change_request
    name = f"#{request.number}"
    try:
        with detect_end(workspace, binding, proposal):
            result = workspace.client.change_requests.merge(binding.space, request.id)
    except AnswerLost:
        found = workspace.client.change_requests.get(binding.space, request.id)
        if found.status != "merged":
            raise
        message = "merged into main content; the answer was lost, so whether that went without a conflict is not known"
        return Applied((Change("update", "change request", name, message, after=found.revision_merged),))
    except (Rejected, Unauthorized) as refusal:
        if refusal.status == 401:
            raise
        add_notes(workspace.repository, binding, request.number, {REFUSED: {"state": state, "why": refusal.what}})
        return _build_waiting(request, refusal.what)
    if result.result != "conflicts":
        return Applied((Change("update", "change request", name, "merged into main content", after=result.revision),))
    return Held(
        f"{name} was merged, but main content had changed the same meanwhile, and what the platform made of both may be"
        f" wrong (revision {result.revision})",
        hint=f"read git log -p -2 {workspace.remote}/main, put right what is missing, then syncd push",
        exit_code=6,
    )


def _build_waiting(request: ChangeRequest, why: str) -> Outcome:
    return Waiting(f"#{request.number} is not merged yet: {why}", exit_code=0)
