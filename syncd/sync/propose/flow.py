"""Propose: the commits of a branch become the content of one change request for each space they touch."""

from collections.abc import Sequence
from dataclasses import replace

from syncd.errors import Held
from syncd.fault_points import FaultPoint, reach
from syncd.model.change_request import ChangeRequest
from syncd.model.space import Space
from syncd.plan.change import Change, Verb
from syncd.plan.propose.proposal import Proposal as ProposalPlan
from syncd.sync.branches import HEADS
from syncd.sync.outcome import Applied, Outcome, Unchanged
from syncd.sync.propose.conflict_report import has_report, refresh_conflicts
from syncd.sync.propose.intent import Intent, gather_intent, own_proposal
from syncd.sync.propose.lost_words import lines_of, losses_of, tell_losses
from syncd.sync.propose.open_request import describe, find_newer
from syncd.sync.propose.reviewers import ask_reviewers
from syncd.sync.propose.via_comments import carried, carries
from syncd.sync.propose.write_intent import write_intent
from syncd.sync.state import sent_log
from syncd.sync.state.lane import content_of
from syncd.sync.state.manual_steps import NO_REQUEST, has_waiting, is_noted, keep_waiting, state_of, waiting
from syncd.sync.state.proposals import Proposal, noticing_end, remember
from syncd.sync.workspace import Binding, Workspace


def propose(
    workspace: Workspace,
    binding: Binding,
    branch: str,
    *,
    space: Space,
    proposals: Sequence[Proposal],
    subject: str = "",
    asked: bool = True,
) -> Outcome:
    """Given a branch and the space's own proposals, make the branch's change request say what the branch says.

    Shape: one change request for each space and branch; nothing to say opens none. A space that is not syncd's to write
    is told of in a note, unless a person `asked` for just this: then Held. Raises: MergeConflict naming paths and
    command; the guards; Held. Source: two-way, section 4, "propose".
    """
    own = own_proposal(proposals, branch)
    live = own if own is not None and own.change_request.is_live else None
    if live is not None and not has_report(live) and _is_in_step(workspace, binding, live):
        return Unchanged()
    intent = gather_intent(workspace, binding, branch, live)
    if intent is None:
        refresh_conflicts(workspace, binding, live, None)
        return Unchanged()
    number = live.change_request.number if live is not None else NO_REQUEST
    state = state_of(workspace.repository, binding, intent.desired, intent.here)
    if _is_said(workspace, binding, intent, own, state):
        refresh_conflicts(workspace, binding, live, intent)
        return _report_waiting(intent, waiting(workspace, binding, number, state))
    if space.git_sync:
        why = f"{binding.name} is kept in Git by the platform itself; two exporters would fight over it"
        hint = "syncd mirrors it; propose changes through the repository that the platform syncs with"
        if asked:
            raise Held(why, hint=hint)
        return Applied((), (f"{why}: {hint}",), intent.conflicts)
    opened, older = live is None, live
    if live is not None and (newer := find_newer(workspace, binding, intent, live, space)) is not None:
        live, intent = newer, gather_intent(workspace, binding, branch, newer) or intent
    done = write_intent(workspace, binding, intent, live, subject=subject)
    plan, live, intent, notes = done.plan, done.live, done.intent, done.notes
    if live is None and not workspace.rehearse:
        keep_waiting(workspace, binding, NO_REQUEST, state, plan.plan.only("report"))
    if live is None or workspace.rehearse:
        return Applied(plan.plan.changes, notes, intent.conflicts) if plan.plan.changes else Unchanged(intent.conflicts)
    lost = losses_of(workspace, binding, live)
    hand = (*carried(workspace, binding, live), *plan.plan.only("report"))
    lines = lines_of(lost)
    with noticing_end(workspace, binding, live):
        live = describe(workspace, binding, live, intent, by_hand=hand, lost=lines, wrote=done.wrote)
    _record(workspace, binding, intent, live, plan)
    tell_losses(workspace, binding, live, lost)
    sent_log.end(workspace, binding, live.change_request.number)
    notes = (*_tell_double(older, live), *lines, *notes, *ask_reviewers(workspace, binding, live))
    head = _report_request(live.change_request, "create" if opened else "update")
    return Applied((head, *plan.plan.changes), notes, intent.conflicts)


def _record(workspace: Workspace, binding: Binding, intent: Intent, live: Proposal, plan: ProposalPlan) -> None:
    """Note what waits for a person, and which commit was sent."""
    number = live.change_request.number
    here = workspace.repository.resolve(workspace.changes(binding, number)) or intent.here
    state = state_of(workspace.repository, binding, intent.desired, here)
    keep_waiting(workspace, binding, number, state, plan.plan.only("report"))
    reach(FaultPoint.CHANGE_REQUEST_DESCRIBED)
    remember(workspace, binding, replace(live, commit=intent.tip))


def _report_request(request: ChangeRequest, verb: Verb) -> Change:
    return Change(verb, "change request", f"#{request.number}", request.subject, where=request.address)


def _tell_double(older: Proposal | None, newer: Proposal) -> tuple[str, ...]:
    if older is None or older.lane == newer.lane:
        return ()
    one, other = older.change_request.number, newer.change_request.number
    return (f"#{one} and #{other} are both for {newer.branch}: #{other} counts, and #{one} is not written to any more",)


def _report_waiting(intent: Intent, reports: tuple[Change, ...]) -> Outcome:
    """Nothing is to be written; what waits for a person is told again."""
    return Applied(reports, conflicts=intent.conflicts) if reports else Unchanged(intent.conflicts)


def _is_in_step(workspace: Workspace, binding: Binding, live: Proposal) -> bool:
    """Whether nobody has done anything since the branch was sent whole; asks for no merge, since most runs end here."""
    repository, number = workspace.repository, live.change_request.number
    tip, main = repository.resolve(f"{HEADS}{live.branch}"), repository.resolve(workspace.main)
    here = repository.resolve(workspace.changes(binding, number))
    seen = workspace.store.seen(binding.space, live.lane)
    if tip is None or main is None or here is None or seen is None or live.commit != tip:
        return False
    is_read = (seen.revision, seen.commit) == (live.change_request.revision, here)
    is_quiet = not sent_log.is_sending(workspace, binding, number) and not has_waiting(workspace, binding, number)
    return (
        is_read
        and is_quiet
        and sent_log.commented(workspace, binding, number) is None
        and repository.is_ancestor(main, tip)
        and workspace.alike(binding, content_of(repository, here), tip)
    )


def _is_said(workspace: Workspace, binding: Binding, intent: Intent, own: Proposal | None, state: str) -> bool:
    """Whether nothing is left to write: the platform holds what is desired, or all of it that can be written, or a
    person archived just this."""
    repository = workspace.repository
    if own is None or not own.change_request.is_live:
        if own is not None and own.commit == intent.tip:
            return True
        return workspace.alike(binding, intent.desired, intent.main) or is_noted(workspace, binding, NO_REQUEST, state)
    number = own.change_request.number
    seen = workspace.store.seen(binding.space, own.lane)
    if seen is None or (seen.revision, seen.commit) != (own.change_request.revision, intent.here):
        return False
    if own.commit not in (intent.tip, intent.named_tip) or sent_log.is_sending(workspace, binding, number):
        return False
    if sent_log.commented(workspace, binding, number) is not None:
        return carries(workspace, binding, intent, own)
    content = content_of(repository, intent.here)
    return workspace.alike(binding, content, intent.desired) or is_noted(workspace, binding, number, state)
