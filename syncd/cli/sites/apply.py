"""`site apply`: show the plan of what is committed, ask, carry it out, and say what came of it."""

import re
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import typer

from syncd.cli.service.stop_signals import Stopping
from syncd.cli.sites.plan import Asked, document_of, plan_lines, tell_notes
from syncd.cli.sites.saved import Saved, check_plan, check_text, load
from syncd.cli.sites.session import Sited, forced, lock_note, one_site, require_targets, sited
from syncd.cli.terminal.output import emit
from syncd.cli.terminal.progress import progress
from syncd.cli.terminal.text import complain, paint, print_text, safe
from syncd.daemon.workplace import now
from syncd.errors import StalePlan
from syncd.plan.site.format import called, place_of
from syncd.plan.site.render.text import APPLY
from syncd.plan.site.steps import Gate
from syncd.sync.outcome import Held, Waiting, describe_outcome
from syncd.sync.site.apply import Done
from syncd.sync.site.approvals import open_gates
from syncd.sync.site.executor import Failed
from syncd.sync.site.flow import Prepared, Settled, prepare, refusal, settle, tally
from syncd.sync.site.read.site_file import committed
from syncd.sync.workspace import Workspace

SHOWN = 5
_ROUTE = re.compile(r"[A-Z]+ /\S+: ")
"""What was asked of the platform, in front of what it said."""
_VERBS = {"create": "add", "delete": "delete", "move": "move", "sort": "move", "adopt": "adopt", "forget": "forget"}
"""What a request does, in the words of a plan; any other changes something."""


@dataclass(frozen=True)
class Consent:
    """What the person has agreed to beforehand."""

    yes: bool = False
    expect: str = ""
    force: Sequence[str] = field(default=())
    saved: Saved | None = None
    command: str = ""
    """What to type to ask for the same again."""

    @property
    def is_given(self) -> bool:
        """Whether nobody has to be asked."""
        return self.yes or bool(self.expect) or self.saved is not None


def run_apply(asked: Asked, plan_file: Path | None, consent: Consent, *, as_json: bool) -> int:
    """Show and carry out the plan of each site that is meant, or the one that was saved; return the exit code."""
    if plan_file is not None:
        saved = load(plan_file)
        check_text(saved, now())
        consent = replace(consent, saved=saved, command=f"{APPLY} {shlex.quote(str(plan_file))}")
        words = saved.asked
        asked = replace(asked, areas=words["areas"], target=words["target"], anew=words["replace"])
        asked = replace(asked, prefer=words["prefer"])
        each = [one_site(asked.config, asked.file, "a saved plan")]
    else:
        each = sited(asked.config, asked.file)
    stopping = Stopping()  # one for all sites: who asks one to stop means the others, too
    codes = []
    for number, one in enumerate(each):
        if number and not as_json:
            print()
        command = consent.command or asked.about(one, of=len(each)).command()
        codes.append(_apply(one, asked, replace(consent, command=command), stopping, as_json=as_json))
    return max(codes)


def _apply(each: Sited, asked: Asked, consent: Consent, stopping: Stopping, *, as_json: bool) -> int:
    with progress() as tell, each.open(tell, stopping) as workspace:
        workspace.repository.is_checked_out(workspace.branch)
        source = committed(workspace.repository, workspace.branch, each.wish.file)
        prepared = prepare(workspace, source, each.wish, asked.options())
        require_targets(asked.target, prepared)
        _check(prepared, consent)
        workspace = replace(workspace, force=forced(consent.force, prepared.plan))
        closed = open_gates(workspace, prepared.plan)
        tell_notes(lock_note(each, prepared))
        if not as_json:
            print_text("\n".join(plan_lines(prepared, closed)))
        if prepared.plan and not closed and not consent.is_given:
            _ask(prepared, consent)
        with stopping.heeded():
            settled, seconds = _timed(workspace, prepared, each)
        if closed and settled.done is None:
            settled = replace(settled, outcome=_refused(prepared, closed, consent))
        return _tell(prepared, (settled, seconds), consent, as_json=as_json)


def _check(prepared: Prepared, consent: Consent) -> None:
    digest = prepared.plan.digest()
    if consent.expect and consent.expect != digest:
        raise StalePlan(
            f"the plan is {digest} now, not {consent.expect}; nothing was applied", hint="read it: syncd site plan"
        )
    if consent.saved is not None:
        check_plan(consent.saved, prepared)


def _ask(prepared: Prepared, consent: Consent) -> None:
    if not sys.stdin.isatty():
        just = f"{consent.command} --expect {prepared.plan.digest()}"
        raise typer.BadParameter(f"nobody is here to ask: add --yes, or apply just this plan: {just}")
    if not typer.confirm("Apply this plan?", err=True):
        print("Nothing was applied.", file=sys.stderr)
        raise typer.Exit(1)


def _refused(prepared: Prepared, closed: Sequence[Gate], consent: Consent) -> Held:
    """The outcome of a plan that is held, with what the person at the terminal can do about it."""
    flags = " ".join(gate.flag for gate in closed)
    digest = prepared.plan.digest()
    hint = (
        f"if this is intended: {consent.command} {flags}\nor approve it for the next run: syncd site approve {digest}"
    )
    return replace(refusal(prepared.plan, closed), hint=hint)


def _timed(workspace: Workspace, prepared: Prepared, each: Sited) -> tuple[Settled, float]:
    began = time.monotonic()
    settled = settle(workspace, prepared, each.wish)
    return settled, time.monotonic() - began


def _tell(prepared: Prepared, came: tuple[Settled, float], consent: Consent, *, as_json: bool) -> int:
    settled, seconds = came
    outcome, done = settled.outcome, settled.done
    if as_json:
        emit(document_of(prepared) | {"result": _result(settled), "exit_code": outcome.exit_code})
        return outcome.exit_code
    if done is not None and (done.steps or done.failed):
        print_text("\n".join(_done(prepared, done, seconds)))
    if isinstance(outcome, Held | Waiting):
        why, hint = outcome.why, outcome.hint
        if done is not None and done.failed:  # each was told just now
            again = f"mend this, commit it, and run the same again: {consent.command}"
            why, hint = tally(done), done.failed[0].hint or again
        complain(why, hint, outcome.exit_code, as_json=False)
    return outcome.exit_code


def _plainly(failed: Failed) -> str:
    """Why a step failed, without what the line says already, and without the address that was asked."""
    return _ROUTE.sub("", failed.why.removeprefix(f"{failed.step.ref}: "))


def _done(prepared: Prepared, done: Done, seconds: float) -> Iterator[str]:
    """What became of the steps: those that failed, those that were left because of them, and how many are done."""
    for one in sorted(done.failed, key=lambda one: one.step.ref):
        what = f"{_VERBS.get(one.step.call.partition('.')[2], 'change')} {called(one.step.ref)}"
        where = f"  [{place_of(one.step.where)}]" if one.step.where else ""
        yield f"{paint('! failed', 31, sys.stdout)}  {safe(what)}: {safe(_plainly(one))}{safe(where)}"
    if done.skipped:
        refs = ", ".join(dict.fromkeys(called(step.ref) for step in done.skipped[:SHOWN]))
        why = "of what failed" if done.failed else "the site changed meanwhile"
        yield f"! left    {safe(refs)}{', …' if len(done.skipped) > SHOWN else ''}, because {why}"
    yield from (f"  note: {safe(note)}" for note in done.notes)
    total = len(done.steps) + len(done.failed) + len(done.skipped)
    count = f"{total}" if total == len(done.steps) else f"{len(done.steps)} of {total}"
    moved = done.lock.serial != prepared.lock.serial
    lock = f"; lock serial {done.lock.serial} is committed" if moved else ""
    yield f"Applied {count} step{'' if total == 1 else 's'} in {seconds:.1f} s{lock}."


def _result(settled: Settled) -> dict[str, Any]:
    outcome, done = settled.outcome, settled.done
    state, why = describe_outcome(outcome)
    if done is None:
        return {"state": state, "why": why}
    failed = [{"ref": one.step.ref, "call": one.step.call, "why": one.why} for one in done.failed]
    counts = {"done": len(done.steps), "skipped": len(done.skipped), "lock_serial": done.lock.serial}
    return {"state": state, "why": why, **counts, "failed": failed, "notes": list(done.notes)}
