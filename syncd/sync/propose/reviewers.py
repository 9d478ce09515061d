"""Ask the people whom the policy names for a review, once for each change request."""

from collections.abc import Sequence

from syncd.errors import NotFound, PlatformError, Rejected, Unauthorized
from syncd.model.review import ReviewersRequest
from syncd.sync.binding import Binding
from syncd.sync.state.notes import add_notes, read_notes
from syncd.sync.state.proposals import Proposal
from syncd.sync.workspace import Workspace

ASKED = "reviewers_asked"


def ask_reviewers(workspace: Workspace, binding: Binding, proposal: Proposal) -> tuple[str, ...]:
    """Ask the policy's reviewers for a review of an open change request, when they were never asked.

    Shape: returns what a person should know; whom a person takes off the list is not asked again. The operations are
    beyond the API document: a server without them, or an address that nobody has, is noted and holds nothing up.
    """
    request, wanted = proposal.change_request, workspace.policy.reviewers
    if not wanted or request.status != "open" or read_notes(workspace.repository, binding, request.number).get(ASKED):
        return ()
    users, remarks = _find_users(workspace, binding, wanted)
    if proposal.is_fresh or not _is_requested(workspace, binding, request.id, users):
        remarks += _ask(workspace, binding, request.id, users)
    add_notes(workspace.repository, binding, request.number, {ASKED: True})
    return tuple(remarks)


def _find_users(workspace: Workspace, binding: Binding, wanted: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the ids of users named by e-mail address or id, and a remark for each address that nobody has."""
    known: dict[str, str] = {}
    if any("@" in name for name in wanted):
        try:
            organization = workspace.client.spaces.get(binding.space).organization or ""
            members = workspace.client.members.list(organization)
            known = {member.user.email.casefold(): member.user.id for member in members if member.user.email}
        except (NotFound, Rejected, Unauthorized) as refusal:
            return [name for name in wanted if "@" not in name], [f"reviewers by e-mail: {refusal.what}"]
    found = {name: known.get(name.casefold(), "") if "@" in name else name for name in wanted}
    remarks = [f"nobody to ask for a review has the e-mail {name}" for name, id in found.items() if not id]
    return list(dict.fromkeys(id for id in found.values() if id)), remarks


def _is_requested(workspace: Workspace, binding: Binding, id: str, users: Sequence[str]) -> bool:
    """Whether one of these people is asked already: a place without memory, such as a CI job, did so before."""
    try:
        requested = {each.user.id for each in workspace.client.reviews.list_requested(binding.space, id) if each.user}
    except (NotFound, Rejected, Unauthorized):
        return False
    return bool(requested.intersection(users))


def _ask(workspace: Workspace, binding: Binding, id: str, users: Sequence[str]) -> list[str]:
    """Ask all at once; when that is refused, each alone, so that one who cannot be asked stands in nobody's way."""
    groups = [users] if users else []
    remarks: list[str] = []
    while groups:
        group = groups.pop()
        try:
            workspace.client.reviews.request(binding.space, id, ReviewersRequest(users=tuple(group)))
        except (NotFound, Rejected, Unauthorized) as refusal:
            if len(group) > 1 and _is_about_one(refusal):
                groups += [[user] for user in reversed(group)]
            else:
                remarks.append(f"no review was asked of {', '.join(group)}: {refusal.what}")
    return remarks


def _is_about_one(refusal: PlatformError) -> bool:
    """Whether others could be asked: a server without the operation refuses everybody."""
    return refusal.status not in (401, 403, 404, 405, 501)
