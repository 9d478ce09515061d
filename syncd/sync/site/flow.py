"""Reconcile: the site flow. What is committed is planned against the site; gates wait for a person; else it is done."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

from syncd.errors import Conflict, FileInvalid
from syncd.fault_points import FaultPoint, reach
from syncd.layout.lint.finding import Finding
from syncd.layout.site.read.declared import SiteFile
from syncd.plan.site.compose import plan_site
from syncd.plan.site.live_state import LiveSite, SiteLock
from syncd.plan.site.online import check_live
from syncd.plan.site.options import Options
from syncd.plan.site.steps import Gate, Line, SitePlan
from syncd.sync.gc_tuning import collect_seldom
from syncd.sync.outcome import PARTLY_DONE, Applied, Held, Outcome, Unchanged, Waiting, format_pending_command
from syncd.sync.site.accept_drift import accept_on_branch
from syncd.sync.site.apply import ApplyResult, apply_plan
from syncd.sync.site.approvals import find_closed_gates, hold_plan
from syncd.sync.site.backup import save_backup
from syncd.sync.site.executor import list_few
from syncd.sync.site.lock import LockWriter
from syncd.sync.site.options import SiteOptions
from syncd.sync.site.poll_cache import LastLook, summarize_site
from syncd.sync.site.read.site import read_live
from syncd.sync.site.read.site_file import SiteFileTexts, read_committed, read_source, refuse_errors
from syncd.sync.workspace import Workspace

_LATER = Waiting("").exit_code
_SHOWN = 3
"""Parts that cannot be carried out that an outcome names each."""


@dataclass(frozen=True)
class PreparedPlan:
    """A site's plan with all that it was made from; `findings` are warnings about the file."""

    source: SiteFileTexts
    file: SiteFile
    lock: SiteLock
    live: LiveSite
    plan: SitePlan
    options: Options = field(default_factory=Options)
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class PlanResult:
    """What became of a plan: the outcome for the run, and what was done, when it came to that."""

    outcome: Outcome
    done: ApplyResult | None = None


def reconcile(workspace: Workspace, options: SiteOptions) -> Outcome:
    """Let the site follow the file that is committed on the tracked branch, when it is time to look.

    Raises: ConfigInvalid, FileInvalid, OperationInProgress, PlatformError; a file that is missing or cannot be read is
    never an empty one. Source: ARCHITECTURE.md, "A redirect is applied".
    """
    workspace.repository.require_movable(workspace.branch)
    source = read_committed(workspace.repository, workspace.branch, options.file)
    last = LastLook.of(workspace, options, source)
    if not last.is_due():
        return last.repeat_outcome()
    return run_plan(workspace, prepare_plan(workspace, source, options), options).outcome


@collect_seldom()
def prepare_plan(
    workspace: Workspace, source: SiteFileTexts, site_options: SiteOptions, options: Options | None = None
) -> PreparedPlan:
    """Return what the texts of a site file ask of the site now; nothing is written.

    Raises: FileInvalid with every mistake; ConfigInvalid for a lock that cannot be used; PlatformError.
    """
    file, findings = read_source(source)
    lock = LockWriter(workspace, file, site_options.lock).load()
    live = read_live(workspace, file, lock, kinds=site_options.kinds)
    online = check_live(file, live, lock)
    refuse_errors(online, "syncd site validate --online")
    file, live = _apply_ordering(file, live, site_options)
    chosen = replace(options or Options(), previous=_read_previous(workspace, source, site_options))
    return PreparedPlan(source, file, lock, live, plan_site(file, live, lock, chosen), chosen, (*findings, *online))


@collect_seldom()
def run_plan(workspace: Workspace, prepared: PreparedPlan, options: SiteOptions) -> PlanResult:
    """Hold a plan when a gate is closed, else carry it out, and record how the site is.

    An approval is used up by that. Raises: PlatformError, Stopped, ConfigInvalid; what was done stays recorded.
    """
    plan, last = prepared.plan, LastLook.of(workspace, options, prepared.source)
    closed = find_closed_gates(workspace, plan)
    if closed:
        hold_plan(workspace, plan, options.file)
        held = refuse_plan(plan, closed, options.commands)
        if prepared.options.is_whole:
            last.note(summarize_site(plan, prepared.lock), held)
        return PlanResult(held)
    workspace.store.plans.delete(plan.site)
    if plan:
        last.expire()  # a run that is cut off leaves something to look at
        reach(FaultPoint.PLAN_BEGUN)
    done = _carry_out(workspace, prepared, options)
    if plan:
        reach(FaultPoint.PLAN_DONE)
    offer = accept_on_branch(workspace, prepared.source, prepared.file, prepared.live, plan)
    facts = summarize_site(done.left, done.lock)
    outcome = _build_outcome(workspace, prepared, done, options)
    notes = (*list_notes(prepared), *offer.left)
    if isinstance(outcome, Applied):
        changes = (*outcome.changes, offer.change) if offer.change is not None else outcome.changes
        outcome = Applied(changes, (*outcome.notes, *offer.left))
    elif isinstance(outcome, Unchanged) and offer.change is not None:
        outcome = Applied((offer.change,), notes)
    elif isinstance(outcome, Unchanged) and last.has_changed(facts) and notes:
        outcome = Applied((), notes)  # that somebody edited the site is told once, not at every look
    if not isinstance(outcome, Waiting) and prepared.options.is_whole:
        last.note(facts, outcome, carried=not done.failed and not done.left.steps)
    return PlanResult(outcome, done)


def list_notes(prepared: PreparedPlan) -> tuple[str, ...]:
    """Return what a person should know of a plan that is no change: drift and warnings."""
    plan = prepared.plan
    drifted = [_describe_drift(line) for line in plan.list_drift()]
    warned = [f"{one.path}:{one.line}:{one.column}: {one.message}" for one in prepared.findings]
    return (*drifted, *plan.warnings, *warned)


def refuse_plan(plan: SitePlan, closed: Sequence[Gate], commands: str = "syncd site") -> Held:
    """Return the outcome of a plan that gates hold: why, and how to let it through by a group of commands."""
    digest = plan.digest
    why = "; ".join(f"{gate.scope}: {gate.why}" for gate in closed)
    command = format_pending_command(digest, commands)
    hint = f"{command} shows it; {commands} approve {digest} lets it through"
    return Held(f"plan {digest} waits for approval: {why}", hint, approval=True, command=command)


def _carry_out(workspace: Workspace, prepared: PreparedPlan, site_options: SiteOptions) -> ApplyResult:
    plan, lock_writer = prepared.plan, LockWriter(workspace, prepared.file, site_options.lock)
    if plan:
        keep = partial(save_backup, workspace, prepared.source.path, lock=prepared.lock)
        options = prepared.options
        return apply_plan(workspace, prepared.file, plan, prepared.live, lock_writer, options=options, keep_before=keep)
    # What a run left that was killed, or that a person's edit was in the way of.
    note = lock_writer.finish(settled=prepared.options.is_whole)
    return ApplyResult(lock_writer.lock, plan, notes=(note,) if note else ())


def _build_outcome(workspace: Workspace, prepared: PreparedPlan, done: ApplyResult, options: SiteOptions) -> Outcome:
    plan = prepared.plan
    if interruption := find_interruption(done):
        return interruption
    if closed := find_closed_gates(workspace, done.left):
        hold_plan(workspace, done.left, options.file)
        return refuse_plan(done.left, closed, options.commands)
    if done.left.steps:
        refs = list_few(step.ref.label for step in done.left.steps)
        return Held(f"the site does not become what the file says: {refs}", "syncd site plan", exit_code=PARTLY_DONE)
    if unfinished := find_unfinished(done.left):
        return unfinished
    return Applied(plan.changes(), (*list_notes(prepared), *done.notes)) if plan else Unchanged()


def find_interruption(done: ApplyResult) -> Outcome | None:
    """Return why a plan was not carried out to its end: the platform refused a step, or somebody changed the site."""
    if done.failed:
        first = done.failed[0]
        why = f"{first.step.ref.label}: {first.why.removeprefix(f'{first.step.ref}: ')} ({format_tally(done)})"
        if all(one.exit_code == _LATER for one in done.failed):
            return Waiting(why, first.hint)
        return Held(why, first.hint or "mend it and run the same again", exit_code=PARTLY_DONE)
    if done.stale:
        why = f"somebody changed the site meanwhile: {', '.join(done.stale)}; {format_tally(done)}"
        return Waiting(why, "run it again", exit_code=Conflict.exit_code)
    return None


def find_unfinished(plan: SitePlan) -> Held | None:
    """Return what of a plan waits for a person although no gate holds it: conflicts, else manual steps."""
    if refs := list_few(line.ref.label for line in plan.lines if line.is_conflict):
        return Held(
            f"the file and the site both changed {refs}; these stay as each side has them",
            "syncd site plan shows both; then syncd site apply --prefer file, or --prefer live",
            exit_code=Conflict.exit_code,
        )
    blocked = plan.select_lines("blocked")
    if not blocked:
        return None
    why = "; ".join(f"{line.ref.label}: {line.note}" for line in blocked[:_SHOWN])
    more = f" (and {len(blocked) - _SHOWN} more)" if len(blocked) > _SHOWN else ""
    steps = dict.fromkeys(f"{line.ref.label}: {line.manual}" for line in blocked[:_SHOWN] if line.manual)
    hint = "\n".join([*steps, "what is blocked, and where the file says it: syncd site plan"])
    return Held(f"a person has to do what syncd cannot: {why}{more}", hint, exit_code=PARTLY_DONE, manual=True)


def format_tally(done: ApplyResult) -> str:
    """Return in words how many steps of a plan failed, were left and are done."""
    failed, left, count = len(done.failed), len(done.skipped), len(done.steps)
    parts = [f"{failed} {'step' if failed == 1 else 'steps'} failed"] if failed else []
    parts += [f"{left} {'was' if left == 1 else 'were'} left"] if left else []
    return ", ".join([*parts, f"{count or 'none'} {'is' if count == 1 else 'are'} done"])


def _read_previous(workspace: Workspace, source: SiteFileTexts, options: SiteOptions) -> SiteFile | None:
    """The site file as it was when it was last carried out, where it can still be read."""
    with suppress(FileInvalid):
        previous = LastLook.of(workspace, options, source).read_last_applied()
        return read_source(previous)[0] if previous is not None else None
    return None


def _apply_ordering(file: SiteFile, live: LiveSite, options: SiteOptions) -> tuple[SiteFile, LiveSite]:
    """The site file and what the server can do, as the operator wants siblings to get their order."""
    sort = live.abilities.sort and options.ordering in ("auto", "sort")
    if options.ordering == "off" or (options.ordering == "sort" and not sort):
        file = replace(file, orders={})
    return file, replace(live, abilities=replace(live.abilities, sort=sort))


def _describe_drift(line: Line) -> str:
    fields = ", ".join(one.name for one in line.fields if one.cause in ("drift", "conflict"))
    where = f" ({line.where})" if line.where else ""
    if line.gone:
        return f"{line.ref.label} was deleted on the platform{where}; syncd site drift shows it"
    return f"{line.ref.label}: {fields} changed on the platform{where}; syncd site drift shows it"
