"""Merge, archive and reopen a change request that a person names; each says what keeps it from being done."""

from collections.abc import Iterator
from contextlib import suppress

from syncd.errors import AnswerLost, Conflict, GuardRefused, NotFound, RefMoved, Rejected, Unauthorized
from syncd.model.change_request import ChangeRequest, ChangeRequestUpdate, MergeResult
from syncd.model.merge_check import LatestReview, MergeFacts, list_unmet_rules
from syncd.model.merge_rules import ObservedMergeRules
from syncd.model.space import Space
from syncd.plan.propose.description_conflicts import read_fingerprint
from syncd.sync.binding import format_space_option
from syncd.sync.review.requests import FoundRequest
from syncd.sync.state.conflicts import list_conflict_paths
from syncd.sync.state.notes import note_status
from syncd.sync.state.request_state import record_request
from syncd.sync.workspace import Workspace


def refresh_request(workspace: Workspace, found: FoundRequest) -> ChangeRequest:
    """Merge main content into a change request, and return the change request as it is then.

    Raises: Conflict when main content had changed the same.
    """
    number, address = found.request.number, found.request.address
    option = format_space_option(found.binding.name, workspace.bindings)
    result = workspace.client.change_requests.refresh(found.binding.space, found.request.id)
    if result.result == "conflicts":
        # The platform keeps what the change request says; in Git, a person can choose.
        look = f"see what became of it: {address or f'syncd cr show {number}{option}'}"
        raise Conflict(
            f"#{number} and main content changed the same; #{number} was updated, and not merged: a merge now takes"
            " what main content says there out",
            hint="syncd pull, syncd resolve, then syncd push" if found.branch else look,
        )
    return workspace.client.change_requests.get(found.binding.space, found.request.id)


def merge_request(workspace: Workspace, found: FoundRequest) -> MergeResult:
    """Merge a change request into main content.

    Shape: what is in the way is found before the merge, so that a refusal leaves everything as it was.
    Raises: Conflict when it is outdated or in conflict; GuardRefused when a rule or its status forbids it;
    Unauthorized.
    """
    _require_mergeable(workspace, found)
    number, requests = found.request.number, workspace.client.change_requests
    try:
        result = requests.merge(found.binding.space, found.request.id)
    except AnswerLost:
        now = requests.get(found.binding.space, found.request.id)
        if now.status != "merged":
            raise
        return MergeResult(revision=now.revision_merged or "", result="merge")
    except Rejected as refusal:
        raise GuardRefused(f"the platform does not merge #{number}: {refusal.what}", hint=refusal.hint) from refusal
    if result.result == "conflicts":
        raise Conflict(
            f"#{number} was merged, but main content had changed the same meanwhile, and what the platform made of"
            f" both may be wrong (revision {result.revision})",
            hint=f"syncd pull, then read git log -p -2 {workspace.remote}/main and put right what is missing",
        )
    return result


def set_request_status(workspace: Workspace, found: FoundRequest, status: str) -> ChangeRequest:
    """Give a change request the status "open" or "archived", and return it.

    Raises: GuardRefused for one that is merged.
    """
    number = found.request.number
    if found.request.status == "merged":
        raise GuardRefused(
            f"#{number} is merged, which is final", hint="a commit that reverts it can be proposed: git revert"
        )
    update = ChangeRequestUpdate.model_validate({"status": status})
    return workspace.client.change_requests.update(found.binding.space, found.request.id, update)


def record_decision(workspace: Workspace, found: FoundRequest, now: ChangeRequest) -> None:
    """Record what became of a change request of this repository, so that `status` knows it before the next run."""
    if not found.branch:
        return
    record_request(workspace, found.binding, now)
    with suppress(RefMoved):  # a run has noted it at this moment
        note_status(workspace.repository, found.binding, now)


def _require_mergeable(workspace: Workspace, found: FoundRequest) -> None:
    request, number = found.request, found.request.number
    option = format_space_option(found.binding.name, workspace.bindings)
    if not request.is_live:
        raise GuardRefused(f"#{number} is {request.status}", hint=f"syncd cr reopen {number}{option}")
    if request.status == "draft":
        raise GuardRefused(
            f"#{number} is a draft, which nobody was asked to review",
            hint=f"syncd cr reopen {number}{option} opens it",
        )
    space = workspace.client.spaces.get(found.binding.space)
    if space.permissions.get("merge") is False:
        raise Unauthorized(
            f"the user of this token may not merge change requests of {found.binding.name}",
            hint="ask somebody who may, or an administrator of the space for the right to",
        )
    if read_fingerprint(request.description):
        paths = ", ".join(list_conflict_paths(workspace, found.binding, found.branch) if found.branch else ())
        raise Conflict(
            f"pages are in conflict, and were left out of #{number}: {paths or 'its description names them'}",
            hint="syncd resolve, then syncd push; or merge the rest of it on the platform",
        )
    if request.outdated:
        raise Conflict(
            f"#{number} is outdated: main content has moved on since",
            hint=f"syncd cr merge {number}{option} --update brings main content into it first",
        )
    for reason in _list_unmet_rules(workspace, found, space):
        raise GuardRefused(f"a merge rule of {found.binding.name} forbids to merge #{number}: {reason}")


def _list_unmet_rules(workspace: Workspace, found: FoundRequest, space: Space) -> Iterator[str]:
    """What rules forbid, as far as it can be known here; of what cannot, the platform is the judge."""
    rules = space.merge_rules
    if rules is not None and rules.type == "inherit" and space.organization is not None:
        rules = _read_organization_rules(workspace, space.organization)
    if rules is None or rules.type != "rules":
        return
    request = found.request
    described = request.description is not None and bool(request.description.nodes)
    facts = MergeFacts(
        workspace.client.users.get_current().id,
        request.created_by.id if request.created_by is not None else "",
        request.subject,
        described,
        request.outdated,
        {review.reviewer.id: LatestReview(review.status, not review.outdated) for review in found.reviews},
    )
    for unmet in list_unmet_rules(rules, facts):
        if unmet.remedy:
            yield f"{unmet.rule.message or unmet.remedy} ({unmet.rule.rule})"


def _read_organization_rules(workspace: Workspace, organization: str) -> ObservedMergeRules | None:
    try:
        return workspace.client.organizations.get(organization).merge_rules
    except (NotFound, Unauthorized, Rejected):
        return None  # not everybody may read it; the platform knows its rules
