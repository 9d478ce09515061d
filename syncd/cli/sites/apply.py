"""`site apply`: show the plan of the committed site file, ask, apply it, and print the result."""

import re
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import typer

from syncd.cli.service.stop_signals import StopRequest
from syncd.cli.sites.plan import PlanOptions, build_plan_document, format_site_plan, print_notes
from syncd.cli.sites.saved import SavedPlan, check_age, check_same_plan, load_plan
from syncd.cli.sites.session import (
    SiteSession,
    check_targets,
    describe_lock,
    find_one_site,
    find_sites,
    find_source,
    parse_gate_force,
)
from syncd.cli.terminal.output import print_document
from syncd.cli.terminal.progress import show_progress
from syncd.cli.terminal.text import escape, print_error, print_text, style_text
from syncd.daemon.workspaces import read_time, record_command
from syncd.errors import FileInvalid, StalePlan, SyncdError
from syncd.plan.site.format import format_place, format_ref
from syncd.plan.site.render.text import APPLY
from syncd.plan.site.steps import Gate
from syncd.sync.outcome import Held, Outcome, Waiting, describe_outcome, outcome_from
from syncd.sync.run.record import record_results
from syncd.sync.run.values import Result, RunOptions
from syncd.sync.site.apply import ApplyResult
from syncd.sync.site.approvals import find_closed_gates
from syncd.sync.site.executor import FailedStep
from syncd.sync.site.flow import PlanResult, PreparedPlan, format_tally, prepare_plan, refuse_plan, run_plan
from syncd.sync.site.read.site_file import read_committed
from syncd.sync.workspace import Workspace

REFS_SHOWN = 5
_ROUTE = re.compile(r"[A-Z]+ /\S+: ")
"""The request in front of the platform's message."""
_VERBS = {"create": "add", "delete": "delete", "move": "move", "sort": "move", "adopt": "adopt", "forget": "forget"}
"""The verb of a plan for each kind of request; any other request is a change."""


@dataclass(frozen=True)
class Consent:
    """What the person has agreed to on the command line."""

    yes: bool = False
    expect: str = ""
    force: Sequence[str] = field(default=())
    saved: SavedPlan | None = None
    command: str = ""
    """The command that asks for the same again."""

    @property
    def is_given(self) -> bool:
        """Whether the plan may be applied without asking."""
        return self.yes or bool(self.expect) or self.saved is not None


def run_apply(options: PlanOptions, plan_file: Path | None, consent: Consent, *, as_json: bool) -> int:
    """Show and apply the plan of each selected site, or the saved plan; return the exit code.

    Raises: BadParameter; ConfigInvalid, FileInvalid; StalePlan when the plan is not the expected or saved one.
    """
    if plan_file is not None:
        saved = load_plan(plan_file)
        check_age(saved, read_time())
        consent = replace(consent, saved=saved, command=f"{APPLY} {shlex.quote(str(plan_file))}")
        saved_options = saved.asked
        options = replace(
            options,
            areas=saved_options["areas"],
            target=saved_options["target"],
            allow_replace=saved_options["replace"],
            prefer=saved_options["prefer"],
        )
        sessions = [find_one_site(options.config, options.file, "a saved plan")]
    else:
        sessions = find_sites(options.config, options.file)
    stop_request = StopRequest()  # one for all sites: a signal stops the remaining ones, too
    codes = []
    for number, session in enumerate(sessions):
        if number and not as_json:
            print()
        command = consent.command or options.for_site(session, of=len(sessions)).format_command()
        codes.append(_apply_site(session, options, replace(consent, command=command), stop_request, as_json=as_json))
    return max(codes)


def _apply_site(
    session: SiteSession, options: PlanOptions, consent: Consent, stop_request: StopRequest, *, as_json: bool
) -> int:
    with show_progress() as on_progress, session.open(on_progress, stop_request) as workspace:
        workspace.repository.require_movable(workspace.branch)
        source = read_committed(workspace.repository, workspace.branch, session.site_options.file)
        prepared = prepare_plan(workspace, source, session.site_options, options.build_options())
        check_targets(options.target, prepared)
        _check_digest(prepared, consent)
        workspace = replace(workspace, force=parse_gate_force(consent.force, prepared.plan))
        closed = find_closed_gates(workspace, prepared.plan)
        print_notes(_describe_edits(workspace, session), describe_lock(session, prepared))
        if not as_json:
            print_text("\n".join(format_site_plan(prepared, closed)))
        if prepared.plan and not closed and not consent.is_given:
            _confirm(prepared, consent)
        with stop_request.handle_signals():
            started_at = time.monotonic()
            settled = _run_plan(workspace, session, prepared)
            seconds = time.monotonic() - started_at
        if closed and settled.done is None:
            settled = replace(settled, outcome=_build_refusal(prepared, closed, consent))
        return _print_result(prepared, settled, consent, seconds=seconds, as_json=as_json)


def _run_plan(workspace: Workspace, session: SiteSession, prepared: PreparedPlan) -> PlanResult:
    """Carry out a plan as a run would, and record what it came to, where `status` finds it. Raises: as `run_plan`."""
    try:
        settled = run_plan(workspace, prepared, session.site_options)
    except SyncdError as error:
        _record(workspace, session, outcome_from(error))
        raise
    _record(workspace, session, settled.outcome)
    return settled


def _record(workspace: Workspace, session: SiteSession, outcome: Outcome) -> None:
    results = [Result("site", session.site_options.file, outcome)]
    with suppress(SyncdError):  # where it cannot be kept, the command's own message stands
        record_results(workspace, RunOptions(), results, is_whole=False)
    record_command(session.repository, results, site=True)


def _describe_edits(workspace: Workspace, session: SiteSession) -> str:
    """A sentence about a site file that is edited and not committed, else ""."""
    with suppress(FileInvalid):
        return find_source(workspace, session)[1]
    return f"{session.site_options.file} has a mistake on disk, and is not committed; what is committed is applied"


def _check_digest(prepared: PreparedPlan, consent: Consent) -> None:
    digest = prepared.plan.digest
    if consent.expect and consent.expect != digest:
        raise StalePlan(
            f"the plan is {digest} now, not {consent.expect}; nothing was applied", hint="read it: syncd site plan"
        )
    if consent.saved is not None:
        check_same_plan(consent.saved, prepared)


def _confirm(prepared: PreparedPlan, consent: Consent) -> None:
    if not sys.stdin.isatty():
        command = f"{consent.command} --expect {prepared.plan.digest}"
        raise typer.BadParameter(f"nobody is here to ask: add --yes, or apply just this plan: {command}")
    if not typer.confirm("Apply this plan?", err=True):
        print("Nothing was applied.", file=sys.stderr)
        raise typer.Exit(1)


def _build_refusal(prepared: PreparedPlan, closed: Sequence[Gate], consent: Consent) -> Held:
    """The outcome of a plan that a gate holds, with the commands that open the gate."""
    flags = " ".join(gate.flag for gate in closed)
    digest = prepared.plan.digest
    hint = (
        f"if this is intended: {consent.command} {flags}\nor approve it for the next run: syncd site approve {digest}"
    )
    return replace(refuse_plan(prepared.plan, closed), hint=hint)


def _print_result(
    prepared: PreparedPlan, settled: PlanResult, consent: Consent, *, seconds: float, as_json: bool
) -> int:
    outcome, done = settled.outcome, settled.done
    if as_json:
        print_document(
            build_plan_document(prepared) | {"result": _build_result(settled), "exit_code": outcome.exit_code}
        )
        return outcome.exit_code
    if done is not None and (done.steps or done.failed):
        print_text("\n".join(_format_steps(prepared, done, seconds)))
    if isinstance(outcome, Held | Waiting):
        why, hint = outcome.why, outcome.hint
        if done is not None and done.failed:  # each failure was printed just now
            again = f"mend this, commit it, and run the same again: {consent.command}"
            why, hint = format_tally(done), done.failed[0].hint or again
        print_error(why, hint, outcome.exit_code, as_json=False)
    return outcome.exit_code


def _format_reason(failed: FailedStep) -> str:
    """Why a step failed, without its ref and its route, which the line does not need."""
    return _ROUTE.sub("", failed.why.removeprefix(f"{failed.step.ref}: "))


def _format_steps(prepared: PreparedPlan, done: ApplyResult, seconds: float) -> Iterator[str]:
    """Lines about the steps: those that failed, those that were skipped because of them, and how many are done."""
    for failure in sorted(done.failed, key=lambda failure: failure.step.ref):
        what = f"{_VERBS.get(failure.step.call.partition('.')[2], 'change')} {format_ref(failure.step.ref)}"
        where = f"  [{format_place(failure.step.where)}]" if failure.step.where else ""
        failed = style_text("! failed", 31, sys.stdout)
        yield f"{failed}  {escape(what)}: {escape(_format_reason(failure))}{escape(where)}"
    if done.skipped:
        refs = ", ".join(dict.fromkeys(format_ref(step.ref) for step in done.skipped[:REFS_SHOWN]))
        why = "of what failed" if done.failed else "the site changed meanwhile"
        yield f"! left    {escape(refs)}{', …' if len(done.skipped) > REFS_SHOWN else ''}, because {why}"
    yield from (f"  note: {escape(note)}" for note in done.notes)
    total = len(done.steps) + len(done.failed) + len(done.skipped)
    count = f"{total}" if total == len(done.steps) else f"{len(done.steps)} of {total}"
    moved = done.lock.serial != prepared.lock.serial
    lock = f"; lock serial {done.lock.serial} is committed" if moved else ""
    yield f"Applied {count} step{'' if total == 1 else 's'} in {seconds:.1f} s{lock}."


def _build_result(settled: PlanResult) -> dict[str, Any]:
    outcome, done = settled.outcome, settled.done
    state, why = describe_outcome(outcome)
    if done is None:
        return {"state": state, "why": why}
    failed = [{"ref": failure.step.ref, "call": failure.step.call, "why": failure.why} for failure in done.failed]
    counts = {"done": len(done.steps), "skipped": len(done.skipped), "lock_serial": done.lock.serial}
    return {"state": state, "why": why, **counts, "failed": failed, "notes": list(done.notes)}
