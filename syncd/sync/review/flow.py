"""Review: what reviewers and the platform do to our change requests comes back into Git."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from syncd.errors import PlatformError
from syncd.model.change_request import ChangeRequest
from syncd.model.space import Space
from syncd.plan.change import Change
from syncd.sync.binding import Binding
from syncd.sync.branches import HEADS
from syncd.sync.integrate.flow import integrate_commit
from syncd.sync.merge.leave_out import leave_out
from syncd.sync.merge.merge import add_page_names, merge
from syncd.sync.merge.result import Base
from syncd.sync.merge.write_part import NOT_SENT, write_part
from syncd.sync.mirror.history import NOT_SHOWN
from syncd.sync.mirror.values import MainMoved
from syncd.sync.outcome import Applied, Outcome, Unchanged, join_outcomes
from syncd.sync.policy import ReadReviews
from syncd.sync.propose.elsewhere import find_proposed_elsewhere, list_waiting
from syncd.sync.propose.existing import find_mirrored, record_proposed_content
from syncd.sync.propose.reviewers import ask_reviewers
from syncd.sync.review.auto_merge import list_verdicts
from syncd.sync.state.lane_content import NO_UPDATE, Update
from syncd.sync.state.notes import note_status
from syncd.sync.state.proposals import Proposal, is_branch_gone
from syncd.sync.state.request_commits import find_taken_main
from syncd.sync.state.request_state import record_request, record_reviews
from syncd.sync.state.sent_log import list_sent
from syncd.sync.workspace import Workspace


def review(
    workspace: Workspace,
    binding: Binding,
    proposal: Proposal,
    *,
    space: Space,
    proposals: Sequence[Proposal],
    done: list[Applied],
    reviews: ReadReviews = "never",
    is_updated: bool = False,
    will_propose: bool = True,
) -> tuple[Proposal, Outcome]:
    """Bring what is new in one of our change requests into Git, and return the change request as it is then.

    Shape: `space` and all its `proposals` are as they are now. An outdated change request without conflicts is updated
    from main content, if the policy says so and the run `will_propose`. Changed content becomes a commit on its ref. An
    unchanged change request costs nothing, unless its reviews are to be read; an archived one is read a last time.
    `is_updated` says that this run has updated it, and has not read the result yet. `done` gets what was done, also
    when an error ends the rest.
    Raises: MainMoved when it has taken in, or is about to take in, main content that the mirror lacks.
    Source: docs/decisions/0002-one-recorded-base.md.
    """
    if proposal.change_request.status == "merged":
        return proposal, Unchanged()
    note_status(workspace.repository, binding, proposal.change_request)
    if asked := tuple(ask_reviewers(workspace, binding, proposal)):
        done.append(Applied((), asked))
    _record_state(workspace, binding, proposal.change_request, reviews)
    update = Update(is_fresh=is_updated)
    # The platform merges lines otherwise than Git: what an update lost is written right after it, or could be merged.
    if will_propose and _is_due(workspace, proposal):
        # What reviewers did since decides whether it conflicts, and an update would hide what was theirs.
        done.append(Applied(fetch_content(workspace, binding, proposal)))
        settled = _find_settling_commit(workspace, binding, proposal, space, proposals)
        if settled or _can_merge(workspace, binding, proposal):
            _guard_main_current(workspace, binding)
            requests, id = workspace.client.change_requests, proposal.change_request.id
            has_conflicts = requests.refresh(binding.space, id).result == "conflicts" and not settled
            done.append(_report_update(proposal.change_request, has_conflicts=has_conflicts))
            proposal = replace(proposal, change_request=requests.get(binding.space, id))
            record_request(workspace, binding, proposal.change_request)
            update = Update(is_fresh=True, merged_commit=settled)
    try:
        done.append(Applied(fetch_content(workspace, binding, proposal, update)))
    except MainMoved as moved:
        raise MainMoved(binding.space, is_updated=update.is_fresh) from moved
    return proposal, join_outcomes(done)


def _report_update(request: ChangeRequest, *, has_conflicts: bool) -> Applied:
    name = f"#{request.number}"
    remark = f"{name} was updated from main content, and the platform found conflicts: read it there"
    change = Change("update", "change request", name, "updated from main content")
    return Applied((change,), (remark,) if has_conflicts else ())


def read_merged(workspace: Workspace, binding: Binding, proposal: Proposal) -> None:
    """Bring the content of a merged change request to its ref, if something was sent to it that no run has read back.

    Otherwise Git would not know that main content has what the branch had sent, and a later deletion of that in the
    branch would be undone.
    """
    if list_sent(workspace, binding, proposal.change_request.number):
        with suppress(*NOT_SHOWN):
            fetch_content(workspace, binding, proposal)


def _record_state(workspace: Workspace, binding: Binding, request: ChangeRequest, reviews: ReadReviews) -> None:
    """Note how a change request is, and what reviewers said, where that may be news.

    Reviews only inform people, so no failure to read them stops a run.
    """
    is_news = record_request(workspace, binding, request)
    if not request.is_live or not (reviews == "always" or (is_news and reviews == "changed")):
        return
    with suppress(PlatformError):
        requested = list(workspace.client.reviews.list_requested(binding.space, request.id))
        record_reviews(workspace, binding, request, list_verdicts(workspace, binding, request), requested)


def fetch_content(
    workspace: Workspace, binding: Binding, proposal: Proposal, update: Update = NO_UPDATE
) -> tuple[Change, ...]:
    """Bring what a change request holds to its ref, when that is not there yet, and return what that changed."""
    number = proposal.change_request.number
    seen = workspace.store.read_last_seen(binding.space, proposal.lane)
    here = workspace.repository.resolve(workspace.change_ref(binding, number))
    if seen is not None and seen.commit == here and seen.revision == proposal.change_request.revision:
        return ()
    commit = record_proposed_content(workspace, binding, proposal, {}, update=update).commit
    if commit == here:
        return ()
    return (Change("update", "change request", f"#{number}", "its content was fetched", after=commit),)


def _is_due(workspace: Workspace, proposal: Proposal) -> bool:
    """Whether a change request is to be updated from main content; not when its branch is gone."""
    request = proposal.change_request
    wanted = workspace.policy.update == "auto" and request.outdated and request.is_live
    return wanted and not is_branch_gone(workspace, proposal.branch)


def _guard_main_current(workspace: Workspace, binding: Binding) -> None:
    """Check that Git has the newest main content: an update from a newer one could conflict, and in a conflict the
    platform keeps only the lines of the change request. Raises: MainMoved."""
    revision = workspace.client.spaces.get(binding.space).revision or ""
    if find_mirrored(workspace, binding, revision) is None:
        raise MainMoved(binding.space)


def _can_merge(workspace: Workspace, binding: Binding, proposal: Proposal) -> bool:
    """Whether a change request and main content merge without a person, by what Git knows and by what the platform
    does: then the update conflicts with nothing that anybody wrote."""
    repository = workspace.repository
    main = repository.resolve(workspace.main)
    here = repository.resolve(workspace.change_ref(binding, proposal.change_request.number))
    if main is None or here is None:
        return False
    bases: list[Base | None] = [None]
    former = find_taken_main(workspace, proposal.change_request)
    if former is not None:
        bases.append(Base(repository.find_tree(former) or "", (former,)))
    results = [merge(workspace, here, main, base=base) for base in bases]
    return not any(
        result.has_conflict_in(binding) or any(map(binding.holds, result.revived_paths)) for result in results
    )


def _find_settling_commit(
    workspace: Workspace, binding: Binding, proposal: Proposal, space: Space, proposals: Sequence[Proposal]
) -> str:
    """The branch's commit, if it has taken in both sides, which decides all conflicts between them; else "".

    Shape: a part of that commit, where it has more than what both sides have and what it decided: the rest is not sent
    yet, waits for a change request that adds it already, or cannot be sent at all.
    """
    repository, request = workspace.repository, proposal.change_request
    tip, main = repository.resolve(f"{HEADS}{proposal.branch}"), repository.resolve(workspace.main)
    here = repository.resolve(workspace.change_ref(binding, request.number))
    seen = workspace.store.read_last_seen(binding.space, proposal.lane)
    if tip is None or main is None or here is None or seen is None or seen.revision != request.revision:
        return ""
    if not repository.is_ancestor(main, tip):
        return ""
    both = integrate_commit(workspace, proposal.branch, tip, here, name=proposal.branch, is_request=True)
    if both.commit != tip or (both.result is not None and both.result.conflicts):
        return ""
    if both.result is None and not repository.is_ancestor(here, tip):
        return ""  # a branch that was reset to main content has decided nothing about what reviewers wrote
    elsewhere = find_proposed_elsewhere(workspace, binding, proposal.branch, space, proposals)
    waiting = list_waiting(workspace, elsewhere, here, tip)
    merged = merge(workspace, here, main)
    conflicts = [paths for page in merged.conflicts for paths in page.paths_per_page]
    decided = [paths for paths in add_page_names(workspace, conflicts, main, tip, here) if waiting.isdisjoint(paths)]
    tree = leave_out(repository, workspace.bindings, merged.tree_with_ours, tip, decided)
    if tree == repository.find_tree(tip):
        return tip
    return write_part(repository, tip, (main,), tree, name=proposal.branch, lacks=NOT_SENT)
