"""`site apply`: show the plan of what is committed, ask, carry it out, and say what came of it."""

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import typer

from syncd.cli.output import emit
from syncd.cli.progress import progress
from syncd.cli.sites.plan import Asked, document_of, plan_lines
from syncd.cli.sites.saved import Saved, check_plan, check_text, load
from syncd.cli.sites.session import Sited, forced, one_site, require_targets, sited
from syncd.cli.terminal import complain, paint, safe
from syncd.daemon.workplace import now
from syncd.errors import StalePlan
from syncd.sync.outcome import Held, Waiting, describe
from syncd.sync.reconcile.apply import Done
from syncd.sync.reconcile.approvals import open_gates
from syncd.sync.reconcile.flow import Prepared, Settled, prepare, settle
from syncd.sync.reconcile.source import committed
from syncd.sync.workspace import Workspace

SHOWN = 5


@dataclass(frozen=True)
class Consent:
    """What the person has agreed to beforehand."""

    yes: bool = False
    expect: str = ""
    force: Sequence[str] = field(default=())
    saved: Saved | None = None

    @property
    def is_given(self) -> bool:
        """Whether nobody has to be asked."""
        return self.yes or bool(self.expect) or self.saved is not None


def run_apply(asked: Asked, plan_file: Path | None, consent: Consent, *, as_json: bool) -> int:
    """Show and carry out the plan of each site that is meant, or the one that was saved; return the exit code."""
    if plan_file is not None:
        saved = load(plan_file)
        check_text(saved, now())
        consent = replace(consent, saved=saved)
        words = saved.asked
        asked = replace(asked, areas=words["areas"], target=words["target"], replace=words["replace"])
        asked = replace(asked, prefer=words["prefer"])
        each = [one_site(asked.config, asked.file, "a saved plan")]
    else:
        each = sited(asked.config, asked.file)
    codes = [_apply(one, asked, consent, as_json=as_json) for one in each]
    return max(codes)


def _apply(each: Sited, asked: Asked, consent: Consent, *, as_json: bool) -> int:
    with progress() as tell, each.open(tell) as workspace:
        workspace.repository.shows(workspace.branch)
        source = committed(workspace.repository, workspace.branch, each.wish.file)
        prepared = prepare(workspace, source, each.wish, asked.options())
        require_targets(asked.target, prepared)
        _check(prepared, consent)
        workspace = replace(workspace, force=forced(consent.force, prepared.plan))
        closed = open_gates(workspace, prepared.plan)
        if not as_json:
            print("\n".join(plan_lines(prepared, closed)))
        if prepared.plan and not closed and not consent.is_given:
            _ask()
        return _tell(prepared, *_timed(workspace, prepared, each), as_json=as_json)


def _check(prepared: Prepared, consent: Consent) -> None:
    digest = prepared.plan.digest()
    if consent.expect and consent.expect != digest:
        raise StalePlan(
            f"the plan is {digest} now, not {consent.expect}; nothing was applied", hint="read it: syncd site plan"
        )
    if consent.saved is not None:
        check_plan(consent.saved, prepared)


def _ask() -> None:
    if not sys.stdin.isatty():
        raise typer.BadParameter("nobody is here to ask: add --yes, or --expect with the plan's digest")
    typer.confirm("Apply this plan?", abort=True)


def _timed(workspace: Workspace, prepared: Prepared, each: Sited) -> tuple[Settled, float]:
    began = time.monotonic()
    settled = settle(workspace, prepared, each.wish)
    return settled, time.monotonic() - began


def _tell(prepared: Prepared, settled: Settled, seconds: float, *, as_json: bool) -> int:
    outcome, done = settled.outcome, settled.done
    if as_json:
        emit(document_of(prepared) | {"result": _result(settled), "exit_code": outcome.exit_code})
        return outcome.exit_code
    if done is not None and (done.steps or done.failed):
        print("\n".join(_done(prepared, done, seconds)))
    if isinstance(outcome, Held | Waiting):
        complain(outcome.why, outcome.hint, outcome.exit_code, as_json=False)
    return outcome.exit_code


def _done(prepared: Prepared, done: Done, seconds: float) -> Iterator[str]:
    """What became of the steps: those that failed, those that were left because of them, and how many are done."""
    for one in done.failed:
        yield f"{paint('! failed', 31, sys.stdout)}  {safe(one.step.ref)}  {one.step.call}: {safe(one.why)}"
    if done.skipped:
        refs = ", ".join(dict.fromkeys(step.ref for step in done.skipped[:SHOWN]))
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
    state, why = describe(outcome)
    if done is None:
        return {"state": state, "why": why}
    failed = [{"ref": one.step.ref, "call": one.step.call, "why": one.why} for one in done.failed]
    counts = {"done": len(done.steps), "skipped": len(done.skipped), "lock_serial": done.lock.serial}
    return {"state": state, "why": why, **counts, "failed": failed, "notes": list(done.notes)}
