"""`site history` and `site rollback`: the plans that ran on a site, and the way back from one of them."""

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import typer

from syncd.cli.service.stop_signals import Stopping
from syncd.cli.sites.colours import is_narrow, painted
from syncd.cli.sites.session import forced, one_site, source_of
from syncd.cli.terminal.context import configuration
from syncd.cli.terminal.output import emit
from syncd.cli.terminal.progress import progress
from syncd.cli.terminal.text import complain, moment, paint, print_text, safe
from syncd.daemon.locks import STATE
from syncd.errors import Held
from syncd.model.wording import format_count
from syncd.plan.site.format import called
from syncd.plan.site.render.document import plan_document
from syncd.plan.site.render.text import plan_text
from syncd.plan.site.rollback import Former, parse_former
from syncd.repo import Repository
from syncd.store.glance import Backup
from syncd.store.store import Store
from syncd.sync.site.apply import Done
from syncd.sync.site.flow import find_unfinished, refusal
from syncd.sync.site.read.site_file import read_source
from syncd.sync.site.rollback import Back, closed_gates, plan_back, take_back
from syncd.sync.workspace import Workspace

_SHOWN = 3
_DONE = {"create": "added", "update": "changed", "move": "moved", "delete": "deleted", "adopt": "adopted"}


@dataclass(frozen=True)
class Asked:
    """Which plan is taken back, on which site, and what the person agrees to beforehand."""

    digest: str
    config: Path | None = None
    file: Path | None = None
    yes: bool = False
    force: Sequence[str] = field(default=())


def show_history(config_file: Path | None, *, as_json: bool) -> int:
    """Print the plans that ran on the configured sites and can be taken back, the newest first."""
    kept: list[tuple[Backup, Former]] = []
    for repository in configuration(config_file).repository:
        with Repository.open(repository.path) as git:
            state = git.git_dir / STATE
        if state.is_file():
            with Store(state) as store:
                kept += [(one, parse_former(one.document)) for one in store.backups.kept()]
    if as_json:
        emit({"plans": [_document(*one) for one in kept]})
        return 0
    for backup, former in kept:
        digest = paint(backup.digest, 33, sys.stdout)
        print(f"{digest}  {moment(backup.at)}  {safe(former.path)} (site {safe(backup.site)})  {safe(_told(former))}")
    last = f"Take the newest back: syncd site rollback {kept[0][0].digest}" if kept else ""
    print(last or "No plan that changed a site is kept on this machine.")
    return 0


def run_rollback(asked: Asked, *, as_json: bool) -> int:
    """Show the inverse of a plan that ran, ask, and carry it out; return the exit code."""
    each = one_site(asked.config, asked.file, "rollback")
    stopping = Stopping()
    with progress() as tell, each.open(tell, stopping) as workspace:
        source, _ = source_of(workspace, each.wish)
        file, _ = read_source(source)
        back = plan_back(workspace, file, each.wish, asked.digest)
        workspace = replace(workspace, force=forced(asked.force, back.plan))
        if not as_json:
            print_text("\n".join(_lines(back)))
        done = Done(back.keeping.lock, back.plan)
        if back.plan:
            _agree(workspace, back, asked)
            with stopping.heeded():
                done = take_back(workspace, back)
    unfinished = find_unfinished(done.left)
    code = done.exit_code or (unfinished.exit_code if unfinished else 0)
    if as_json:
        emit({"digest": back.backup.digest, "plan": plan_document(back.plan), "exit_code": code})
        return code
    if code:
        complain(
            f"not all of it is taken back: {_left(done)}", "" if unfinished else "run it again", code, as_json=False
        )
    elif done.steps:
        print(f"Taken back: {format_count(len(done.steps), 'step')} of plan {back.backup.digest}.")
        note = paint("note:", 33, sys.stdout)
        print(f"  {note} {safe(source.path)} still says the opposite: git revert the commit that")
        print("  asked for it, or the next apply, also by a service, does it again.")
    return code


def _left(done: Done) -> str:
    """What of a way back was not gone, and why."""
    if done.exit_code:
        return "; ".join(f"{called(one.step.ref)}: {one.why}" for one in done.failed) or "the site changed meanwhile"
    blocked = done.left.only("blocked")
    more = f" and {len(blocked) - _SHOWN} more" if len(blocked) > _SHOWN else ""
    return "; ".join(f"{called(line.ref)}: {line.note}" for line in blocked[:_SHOWN]) + more


def _agree(workspace: Workspace, back: Back, asked: Asked) -> None:
    """Raises: Held when a gate is closed; Exit when the person says no."""
    closed = closed_gates(workspace, back)
    if closed:
        flags = " ".join(gate.flag for gate in closed)
        held = refusal(back.plan, closed)
        raise Held(held.why, hint=f"syncd site rollback {back.backup.digest} {flags}")
    if asked.yes:
        return
    if not sys.stdin.isatty():
        raise typer.BadParameter("nobody is here to ask; nothing was taken back: add --yes")
    if not typer.confirm("Take this plan back?", err=True):
        print("Nothing was taken back.", file=sys.stderr)
        raise typer.Exit(1)


def _lines(back: Back) -> list[str]:
    said = [(style, text) for style, text in plan_text(back.plan, narrow=is_narrow()) if style != "hint"]
    lines = [f"The way back from plan {back.backup.digest} of {moment(back.backup.at)}:", *painted(said)]
    if not back.plan:
        left = ["Nothing is left to take back."] if not back.plan.only("blocked") else []
        return [*(lines if back.plan.lines else lines[:1]), *left]
    if back.anew:
        some = ", ".join(map(called, back.anew[:_SHOWN])) + (
            f" and {len(back.anew) - _SHOWN} more" if len(back.anew) > _SHOWN else ""
        )
        lines.append(f"{paint('note:', 33, sys.stdout)} made again under a new id: {safe(some)}")
    return lines


def _told(former: Former) -> str:
    """What a plan did, in numbers, and to what first."""
    counts = Counter(former.actions.values())
    numbers = ", ".join(f"{count} {_DONE.get(action, action)}" for action, count in sorted(counts.items()))
    some = ", ".join(map(called, list(former.actions)[:_SHOWN])) + (", …" if len(former.actions) > _SHOWN else "")
    return f"{numbers}: {some}"


def _document(backup: Backup, former: Former) -> dict[str, object]:
    return {"digest": backup.digest, "site": backup.site, "at": backup.at, "actions": dict(former.actions)}
