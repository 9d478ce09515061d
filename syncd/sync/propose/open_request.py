"""Open a branch's change request exactly once, and write its description."""

from collections.abc import Sequence
from dataclasses import replace

from syncd.errors import AnswerLost
from syncd.fault_points import FaultPoint, reach
from syncd.model.change_request import ChangeRequest, ChangeRequestCreate, ChangeRequestUpdate
from syncd.plan.change import Change, Verb
from syncd.plan.message import REVISION, add_marker, build_marker, choose_subject
from syncd.plan.propose.description import (
    NOTHING_SENT,
    CommitSummary,
    Description,
    SentPart,
    read_base_revision,
    read_commit_unless_partial,
    read_proposed_commit,
    read_sent_part,
    read_start,
    read_written_revision,
    update_description,
)
from syncd.plan.propose.description_paths import compute_path_digest, list_manual_paths
from syncd.repo.values import Commit
from syncd.sync.binding import Binding
from syncd.sync.merge.parts import find_original
from syncd.sync.propose.conflict_report import report_conflicts
from syncd.sync.propose.intent import Intent
from syncd.sync.state.lane_content import has_equal_content
from syncd.sync.state.notes import ADDRESS, FILES_BY_HAND, add_notes, read_notes
from syncd.sync.state.proposals import Proposal, is_marked, list_records
from syncd.sync.state.request_state import record_request
from syncd.sync.workspace import Workspace

LEFT_OUT_MAX = 100
"""Pages that a description names as left out: where there are more, it says nothing of what was sent."""


def open_proposal(workspace: Workspace, binding: Binding, intent: Intent, subject: str) -> Proposal:
    """Return the branch's change request: one that an earlier run left behind, or a new one.

    A create whose answer was lost is found by the marker in its subject, so there is never a second one.
    """
    left = _find_marked(workspace, binding, intent.branch)
    if left is not None:
        return Proposal(intent.branch, _find_origin(workspace, intent, left), left)
    words = subject or _choose_words(workspace, intent)
    body = ChangeRequestCreate(subject=add_marker(words, build_marker(intent.branch, workspace.instance)))
    try:
        made = workspace.client.change_requests.create(binding.space, body)
    except AnswerLost:
        arrived = _find_marked(workspace, binding, intent.branch)
        if arrived is None:
            raise
        return Proposal(intent.branch, _find_origin(workspace, intent, arrived), arrived)
    reach(FaultPoint.CHANGE_REQUEST_OPENED)
    return Proposal(intent.branch, intent.main, made, is_fresh=True)


def report_request(request: ChangeRequest, verb: Verb) -> Change:
    """Return the line that tells people of a change request that was written."""
    return Change(verb, "change request", f"#{request.number}", request.subject, where=request.address)


def find_newer(workspace: Workspace, binding: Binding, intent: Intent, live: Proposal) -> Proposal | None:
    """Return a newer change request of the branch, which counts from then on, or None."""
    found = _find_marked(workspace, binding, intent.branch)
    if found is None or found.number <= live.change_request.number:
        return None
    return Proposal(intent.branch, _find_origin(workspace, intent, found), found)


def _find_origin(workspace: Workspace, intent: Intent, request: ChangeRequest) -> str:
    """Return the mirror commit of the main content that a change request started from or last took in."""
    start = request.revision_merged_ancestor or request.revision_initial or ""
    found = workspace.repository.find_commit(workspace.main, REVISION, start)
    return found.oid if found is not None else intent.main


def _find_marked(workspace: Workspace, binding: Binding, branch: str) -> ChangeRequest | None:
    """The newest live change request whose subject carries the marker; no list has both states at once."""
    requests, instance = workspace.client.change_requests, workspace.instance
    mark = build_marker(branch, instance)
    found = [
        request
        for status in ("draft", "open")
        for request in requests.list(binding.space, status=status)
        if is_marked(request, branch, instance)
        and (request.subject.endswith(mark) or not _is_of_another(workspace, binding, request, branch))
    ]
    return max(found, key=lambda request: request.number, default=None)


def _is_of_another(workspace: Workspace, binding: Binding, request: ChangeRequest, branch: str) -> bool:
    """Whether a change request with a former marker is recorded as that of another branch with the same end."""
    known = {item.branch for item in list_records(workspace, binding) if item.number == str(request.number)}
    return bool(known - {branch})


def describe_proposal(
    workspace: Workspace,
    binding: Binding,
    proposal: Proposal,
    intent: Intent,
    *,
    by_hand: Sequence[Change] = (),
    lost: Sequence[str] = (),
    last_own_revision: str = "",
) -> Proposal:
    """Write the description of a change request whose content is complete, open it, and return it.

    Shape: `by_hand` are manual steps and `lost` lines on words that the platform lost; `last_own_revision` is the one
    that the last write of this run made, or "". A description that a person rewrote stays, and so does the status: only
    a draft without a description is opened, and only where the policy opens change requests.
    """
    requests, id = workspace.client.change_requests, proposal.change_request.id
    # A person may have edited the description while content was written.
    request = proposal.change_request if proposal.is_fresh else requests.get(binding.space, id)
    commits = [_describe_commit(commit) for commit in _list_authored(intent)]
    tip, state = _choose_state(workspace, binding, replace(proposal, change_request=request), intent, last_own_revision)
    part = _choose_part(binding, request, intent, by_hand, last_own_revision)
    conflicts = report_conflicts(workspace, binding, intent)
    start = workspace.starts.get(binding.space) or read_start(request.description)
    text = update_description(
        request.description, Description(intent.branch, tip, commits, by_hand, lost, state, part, conflicts, start)
    )
    fields: dict[str, object] = {} if text is None else {"description": text}
    unseen = request.status == "draft" and not read_proposed_commit(request.description)
    if unseen and workspace.policy.status == "open":
        fields["status"] = "open"
    if fields:
        request = requests.update(binding.space, id, ChangeRequestUpdate.model_validate(fields))
    files = sorted(change.key for change in by_hand if change.noun == "file")
    former = read_notes(workspace.repository, binding, request.number)
    if files != former.get(FILES_BY_HAND, []) or request.address != former.get(ADDRESS, ""):
        add_notes(workspace.repository, binding, request.number, {FILES_BY_HAND: files, ADDRESS: request.address})
    record_request(workspace, binding, request)
    return replace(proposal, change_request=request)


def _choose_state(
    workspace: Workspace, binding: Binding, proposal: Proposal, intent: Intent, last_own_revision: str
) -> tuple[str, str]:
    """The branch's commit that the change request holds, and the revisions that the next run in a fresh clone compares
    with. While pages are in conflict, the commit that it held before stays named."""
    tip, description = intent.named_tip, proposal.change_request.description
    sign, former = read_base_revision(description)
    written = read_written_revision(description)
    before = read_commit_unless_partial(description)
    at = f" @{written}" if sign == "-" and written else ""
    if _list_left_out(binding, intent):
        return (before, f"{sign}{former}{at}") if before else (tip, f"!{former}")
    seen = workspace.store.read_last_seen(binding.space, proposal.lane)
    if seen is None:
        return tip, f"-{former}" if former else ""
    is_whole = sign in ("=", "+")
    is_known = is_whole and former == seen.revision
    if not is_known and not _has_only_own(workspace, binding, seen.commit, intent.tip):
        # What came without a write, such as by an update from main content, is in no revision that is known.
        if (is_whole and before == tip) or (before and written and not last_own_revision):
            return before, f"{sign}{former}{at}"
        # Only what this run wrote is known to have arrived; whatever lacks later, reviewers took out.
        return tip, f"-{former} @{last_own_revision or written or seen.revision}"
    return tip, ("=" if workspace.has_same_content(binding, seen.commit, intent.tip) else "+") + seen.revision


def _choose_part(
    binding: Binding, request: ChangeRequest, intent: Intent, by_hand: Sequence[Change], last_own_revision: str
) -> SentPart:
    """What of the branch's commit was sent, where pages are left out: another clone has no other way to tell that the
    pages in the change request are the branch's."""
    lacks = _list_left_out(binding, intent)
    if lacks and not last_own_revision:
        return read_sent_part(request.description)  # nothing was sent since
    lacks |= list_manual_paths(by_hand) if lacks else set()
    if not lacks or len(lacks) > LEFT_OUT_MAX:
        return NOTHING_SENT
    return SentPart(intent.named_tip, last_own_revision, frozenset(map(compute_path_digest, lacks)))


def _list_left_out(binding: Binding, intent: Intent) -> set[str]:
    """The paths of what is not sent to this space, below its directory; a page of another space is no part of it."""
    return {binding.inner(path) for paths in intent.left_out for path in paths if binding.holds(path)}


def _has_only_own(workspace: Workspace, binding: Binding, here: str, tip: str) -> bool:
    """Whether a change request holds nothing but main content and the branch's commit, or the part of it that has
    arrived: content that is left out must not be taken for edits of reviewers."""
    repository = workspace.repository
    parents = repository.read_commit(here).parents
    parts = (repository.read_commit(parent) for parent in parents)
    arrived = [part.oid for part in parts if find_original(repository, part) == tip]
    return any(has_equal_content(workspace, binding, here, commit) for commit in (tip, *arrived))


def _list_authored(intent: Intent) -> list[Commit]:
    """The commits that people made, newest first; all commits when there is none."""
    theirs = [
        commit
        for commit in intent.commits
        if len(commit.parents) < 2 and not any(key.startswith("Syncd-") for key in commit.trailers)
    ]
    return theirs or list(intent.commits)


def _choose_words(workspace: Workspace, intent: Intent) -> str:
    """The subject by what people committed; a merge of the platform, as by `syncd init`, says nothing of that."""
    commits = _list_authored(intent)
    if commits and all(commit.subject.startswith(f"Merge {workspace.remote}/") for commit in commits):
        return f"What {intent.branch} has in Git"
    return choose_subject([commit.subject for commit in commits])


def _describe_commit(commit: Commit) -> CommitSummary:
    body = commit.body.rpartition("\n\n")[0] if commit.trailers else commit.body
    return CommitSummary(commit.oid, commit.subject, body)
