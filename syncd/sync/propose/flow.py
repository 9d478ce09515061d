"""Propose a branch: its commits become the content of a change request in each space that they touch."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from syncd.errors import GuardRefused
from syncd.fault_points import FaultPoint, reach
from syncd.layout.tree.placement import SUMMARY
from syncd.model.space import Space
from syncd.plan.change import Change
from syncd.plan.guard import FREE_OPENINGS, guard_openings
from syncd.plan.propose.proposal import ContentPlan
from syncd.sync.binding import Binding
from syncd.sync.branches import HEADS, Branch
from syncd.sync.outcome import Applied, Outcome, Unchanged, join_outcomes, outcome_of
from syncd.sync.propose.conflict_report import has_report, refresh_conflicts
from syncd.sync.propose.elsewhere import find_proposed_elsewhere
from syncd.sync.propose.gather_intent import find_own_proposal, gather_intent
from syncd.sync.propose.intent import Intent
from syncd.sync.propose.lost_words import comment_on_losses, find_losses, format_losses
from syncd.sync.propose.open_request import describe_proposal, find_newer, report_request
from syncd.sync.propose.reviewers import ask_reviewers
from syncd.sync.propose.via_comments import is_commented, report_comments
from syncd.sync.propose.write_intent import WrittenIntent, write_intent
from syncd.sync.state import sent_log
from syncd.sync.state.manual_steps import (
    describe_state,
    find_waiting_steps,
    has_waiting_steps,
    is_state_noted,
    note_waiting_steps,
)
from syncd.sync.state.notes import NO_REQUEST
from syncd.sync.state.proposals import Proposal, detect_end, has_foreign_requests, record_proposal
from syncd.sync.state.proposed_refs import note_awaited
from syncd.sync.state.request_commits import find_content
from syncd.sync.state.resend import has_new_work
from syncd.sync.workspace import Workspace


def propose(
    workspace: Workspace,
    binding: Binding,
    branch: str,
    *,
    space: Space,
    proposals: Sequence[Proposal],
    done: list[Applied],
    subject: str = "",
    is_requested: bool = True,
) -> Outcome:
    """Bring the content of a branch into its change request.

    Shape: there is one change request for each space and branch, and none for a branch that changes nothing. A space
    that the platform's own Git Sync writes gets only a note. `is_requested` says that a person asked for just this.
    `done` gets what was written, also when an error ends the flow.
    Raises: GuardRefused for a space with Git Sync when `is_requested`; BecameEmpty and TooMuch from the guards;
    ProposalEnded when somebody merged or archived the change request meanwhile.
    Source: docs/decisions/0002-one-recorded-base.md.
    """
    own = find_own_proposal(proposals, branch)
    live = own if own is not None and own.change_request.is_live else None
    # A description that names conflicts has to be compared with those of now, which takes the merge.
    if live is not None and not has_report(live) and _is_in_step(workspace, binding, live):
        return Unchanged()
    elsewhere = find_proposed_elsewhere(workspace, binding, branch, space, proposals)
    intent = gather_intent(workspace, binding, branch, live, elsewhere)
    if intent is None:
        refresh_conflicts(workspace, binding, live, None)
        return Unchanged()
    _note_awaited(workspace, binding, branch, intent)
    number = live.change_request.number if live is not None else NO_REQUEST
    owner = "" if live is not None else branch
    state = describe_state(workspace.repository, binding, intent.desired, intent.existing, branch=owner)
    if _needs_no_write(workspace, binding, intent, own, state):
        refresh_conflicts(workspace, binding, live, intent)
        return _report_waiting(intent, find_waiting_steps(workspace.repository, binding, number, state))
    if space.git_sync:
        why = f"{binding.name} is kept in Git by the platform itself; two exporters would fight over it"
        hint = "syncd mirrors it; propose changes through the repository that the platform syncs with"
        if is_requested:
            raise GuardRefused(why, hint=hint)
        return Applied((), (f"{why}: {hint}",), intent.conflict_outcomes)
    opened, older = live is None, live
    # Another clone, or a CI job, may have opened one for the same branch.
    if live is not None and has_foreign_requests(space, proposals):
        newer = find_newer(workspace, binding, intent, live)
        if newer is not None:
            live, intent = newer, gather_intent(workspace, binding, branch, newer, elsewhere) or intent
    written = write_intent(workspace, binding, intent, live, subject=subject, done=done)
    plan, outcomes = written.plan, written.intent.conflict_outcomes
    if written.live is None and not workspace.is_dry_run:
        note_waiting_steps(workspace.repository, binding, NO_REQUEST, state, plan.report.select("report"))
    if written.live is None or workspace.is_dry_run:
        return Applied(plan.report.changes, written.notes, outcomes) if plan.report.changes else Unchanged(outcomes)
    done.append(_report_written(written, written.live, is_new=opened))
    live, notes = _describe_written(workspace, binding, written, written.live)
    done.append(Applied((), (*_report_others(workspace, own, older, live), *notes), outcomes))
    return join_outcomes(done)


def _note_awaited(workspace: Workspace, binding: Binding, branch: str, intent: Intent) -> None:
    """Note what waits for a change request; so does a table of contents that differs by that alone."""
    repository, awaited = workspace.repository, intent.awaited
    if workspace.is_dry_run:
        return
    if awaited:
        lookup, existing = repository.lookup, find_content(repository, intent.existing)
        left = [found.path for found in repository.compare_trees(intent.desired, intent.tip)]
        tables = [path for path in left if path.endswith(SUMMARY) and binding.holds(path)]
        same = [path for path in tables if lookup(intent.desired, path) == lookup(existing, path)]
        awaited |= dict.fromkeys(same, min(awaited.values()))
    note_awaited(repository, binding, branch, (intent.tip, intent.main), awaited)


def _report_written(written: WrittenIntent, live: Proposal, *, is_new: bool) -> Applied:
    """What was written to a change request; one that was found may have held all of it."""
    head = report_request(live.change_request, "create" if is_new and not written.is_found else "update")
    report = written.plan.report
    return Applied((head, *(report.select("report") if written.is_found and not written.revision else report.changes)))


def _describe_written(
    workspace: Workspace, binding: Binding, written: WrittenIntent, live: Proposal
) -> tuple[Proposal, tuple[str, ...]]:
    """Say in a change request what was written to it, and record that it was sent; return it with notes for people."""
    lost = find_losses(workspace, binding, live)
    steps = (*report_comments(workspace, binding, live), *written.plan.report.select("report"))
    lines = format_losses(lost)
    with detect_end(workspace, binding, live):
        live = describe_proposal(
            workspace, binding, live, written.intent, by_hand=steps, lost=lines, last_own_revision=written.revision
        )
    _record(workspace, binding, written.intent, live, written.plan)
    comment_on_losses(workspace, binding, live, lost)
    # Last of all: while this record exists, the next run reads back what a killed one may have written.
    sent_log.end_sending(workspace, binding, live.change_request.number)
    return live, (*lines, *written.notes, *ask_reviewers(workspace, binding, live))


def _record(workspace: Workspace, binding: Binding, intent: Intent, live: Proposal, plan: ContentPlan) -> None:
    """Note what waits for a person, and which commit was sent."""
    number = live.change_request.number
    here = workspace.repository.resolve(workspace.change_ref(binding, number)) or intent.existing
    state = describe_state(workspace.repository, binding, intent.desired, here)
    note_waiting_steps(workspace.repository, binding, number, state, plan.report.select("report"))
    reach(FaultPoint.CHANGE_REQUEST_DESCRIBED)
    record_proposal(workspace, binding, replace(live, commit=intent.tip))


def _report_others(
    workspace: Workspace, own: Proposal | None, older: Proposal | None, newer: Proposal
) -> tuple[str, ...]:
    """Notes about the branch's other change requests: one that was archived, and one that a newer one replaces."""
    number = newer.change_request.number
    if own is not None and not own.change_request.is_live and own.lane != newer.lane:
        tip = workspace.repository.resolve(f"{HEADS}{newer.branch}")
        if tip is None or not workspace.repository.is_ancestor(own.commit, tip):
            return ()  # the branch was reset or rewritten since
        archived = own.change_request.number
        return (f"#{archived} was archived; what {newer.branch} still has of it is proposed again with #{number}",)
    if older is None or older.lane == newer.lane:
        return ()
    one = older.change_request.number
    return (
        f"#{one} and #{number} are both for {newer.branch}: #{number} counts, and #{one} is not written to any more",
    )


def _report_waiting(intent: Intent, reports: tuple[Change, ...]) -> Outcome:
    """The outcome when nothing is to be written: manual steps are reported again."""
    if reports or intent.notes:
        return Applied(reports, intent.notes, intent.conflict_outcomes)
    return Unchanged(intent.conflict_outcomes)


def _is_in_step(workspace: Workspace, binding: Binding, live: Proposal) -> bool:
    """Whether nothing changed since all of the branch was sent. Needs no merge, since most runs end here."""
    repository, number = workspace.repository, live.change_request.number
    tip, main = repository.resolve(f"{HEADS}{live.branch}"), repository.resolve(workspace.main)
    here = repository.resolve(workspace.change_ref(binding, number))
    seen = workspace.store.read_last_seen(binding.space, live.lane)
    if tip is None or main is None or here is None or seen is None or live.commit != tip:
        return False
    is_read = (seen.revision, seen.commit) == (live.change_request.revision, here)
    is_sending = sent_log.is_sending(workspace, binding, number)
    is_quiet = not is_sending and not has_waiting_steps(repository, binding, number)
    return (
        is_read
        and is_quiet
        and sent_log.find_commented(workspace, binding, number) is None
        and repository.is_ancestor(main, tip)
        and workspace.has_same_content(binding, find_content(repository, here), tip)
    )


def _needs_no_write(workspace: Workspace, binding: Binding, intent: Intent, own: Proposal | None, state: str) -> bool:
    """Whether nothing is left to write: the platform has what is desired, or as much of it as can be written, or a
    person has archived a change request with just that."""
    repository = workspace.repository
    if own is None or not own.change_request.is_live:
        if own is not None and not has_new_work(repository, own.commit, intent.main, intent.tip):
            return True
        is_same = workspace.has_same_content(binding, intent.desired, intent.main)
        return is_same or is_state_noted(repository, binding, NO_REQUEST, state)
    number = own.change_request.number
    seen = workspace.store.read_last_seen(binding.space, own.lane)
    if seen is None or (seen.revision, seen.commit) != (own.change_request.revision, intent.existing):
        return False
    if own.commit not in (intent.tip, intent.named_tip) or sent_log.is_sending(workspace, binding, number):
        return False
    if sent_log.find_commented(workspace, binding, number) is not None:
        return is_commented(workspace, binding, intent, own)
    content = find_content(repository, intent.existing)
    is_same = workspace.has_same_content(binding, content, intent.desired)
    return is_same or is_state_noted(repository, binding, number, state)


def find_new_branches(
    workspace: Workspace, binding: Binding, branches: Sequence[Branch], space: Space, proposals: Sequence[Proposal]
) -> list[str]:
    """Return the tracked branches that would be proposed for the first time.

    Shape: names of branches that only a pattern matches; none while there are so few that no guard asks.
    """
    known = {proposal.branch for proposal in proposals}
    new = [branch for branch in branches if not branch.is_named and branch.name not in known]
    if len(new) <= FREE_OPENINGS:
        return []
    ahead = (branch.name for branch in new if _has_changes(workspace, binding, branch))
    return [name for name in ahead if _would_open(workspace, binding, name, space)]


def guard_new_branches(workspace: Workspace, binding: Binding, names: Sequence[str]) -> Outcome:
    """Refuse to open change requests for too many new branches of a space; nothing is written. Raises: TooMuch."""
    guard_openings(f"open.{binding.name}", names, force=workspace.force)
    return Unchanged()


def _has_changes(workspace: Workspace, binding: Binding, branch: Branch) -> bool:
    """Whether a branch changed anything of a space since it left main content; that costs far less than a dry run."""
    repository = workspace.repository
    tip, main = repository.resolve(branch.ref), repository.resolve(workspace.main)
    if tip is None or main is None:
        return False
    base = repository.find_merge_base(main, tip)
    return base is None or not workspace.has_same_content(binding, base, tip)


def _would_open(workspace: Workspace, binding: Binding, branch: str, space: Space) -> bool:
    dry = replace(workspace, is_dry_run=True)
    run = partial(propose, dry, binding, branch, space=space, proposals=[], done=[], is_requested=False)
    outcome = outcome_of(run)
    return isinstance(outcome, Applied) and any(change.verb != "report" for change in outcome.changes)
