"""`site history` and `site rollback`: list the plans that were applied to a site, and reverse one of them."""

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import typer

from syncd.cli.service.stop_signals import StopRequest
from syncd.cli.sites.colours import is_narrow, style_lines
from syncd.cli.sites.session import find_one_site, find_source, parse_gate_force
from syncd.cli.terminal.context import load_configuration
from syncd.cli.terminal.output import print_document
from syncd.cli.terminal.progress import show_progress
from syncd.cli.terminal.text import escape, format_time, print_error, print_text, style_text
from syncd.daemon.locks import STATE_FILE
from syncd.errors import GuardRefused
from syncd.model.wording import format_count, format_first
from syncd.plan.site.format import format_ref
from syncd.plan.site.render.document import render_plan_document
from syncd.plan.site.render.text import render_plan_text
from syncd.plan.site.rollback import UNANSWERED, FormerState, parse_former_state
from syncd.repo.repository import Repository
from syncd.store.backups import read_backups
from syncd.store.status import Backup
from syncd.sync.site.apply import ApplyResult
from syncd.sync.site.approvals import find_closed_gates
from syncd.sync.site.flow import find_unfinished, refuse_plan
from syncd.sync.site.read.site_file import read_source
from syncd.sync.site.rollback import Rollback, plan_rollback, roll_back
from syncd.sync.workspace import Workspace

_SHOWN = 3
_DONE = {
    "create": "added",
    "update": "changed",
    "move": "moved",
    "delete": "deleted",
    "adopt": "adopted",
    UNANSWERED: "perhaps changed",
}


@dataclass(frozen=True)
class RollbackOptions:
    """What a person typed behind `site rollback`."""

    digest: str
    config: Path | None = None
    file: Path | None = None
    yes: bool = False
    force: Sequence[str] = field(default=())
    dry_run: bool = False


def show_history(config_file: Path | None, *, as_json: bool) -> int:
    """Print the applied plans of the configured sites that can be taken back, the newest first."""
    backups: list[tuple[Backup, FormerState]] = []
    for repository in load_configuration(config_file).repository:
        with Repository.open(repository.path) as git:
            kept = read_backups(git.git_dir / STATE_FILE)
        backups += [(one, parse_former_state(one.document)) for one in kept]
    if as_json:
        print_document({"plans": [_build_document(*one) for one in backups]})
        return 0
    for backup, former in backups:
        digest = style_text(backup.digest, 33, sys.stdout)
        where = f"{escape(former.path)} (site {escape(backup.site)})"
        print(f"{digest}  {format_time(backup.at)}  {where}  {escape(format_former_plan(former))}")
    last = f"Take the newest back: syncd site rollback {backups[0][0].digest}" if backups else ""
    print(last or "No plan that changed a site is kept on this machine.")
    return 0


def run_rollback(options: RollbackOptions, *, as_json: bool) -> int:
    """Show the inverse of an applied plan, ask, apply it, and return the exit code.

    Raises: GuardRefused when a gate is closed; BadParameter; ConfigInvalid; FileInvalid; PlatformError.
    """
    session = find_one_site(options.config, options.file, "rollback")
    stop_request = StopRequest()
    with show_progress() as on_progress, session.open(on_progress, stop_request) as workspace:
        source, _ = find_source(workspace, session)
        file, _ = read_source(source)
        back = plan_rollback(workspace, file, session.site_options, options.digest)
        workspace = replace(workspace, force=parse_gate_force(options.force, back.plan))
        if not as_json:
            print_text("\n".join(_format_rollback(back)))
        done = ApplyResult(back.lock_writer.lock, back.plan)
        if back.plan and not options.dry_run:
            _confirm(workspace, back, options)
            with stop_request.handle_signals():
                done = roll_back(workspace, back)
    unfinished = find_unfinished(done.left)
    code = 0 if options.dry_run else done.exit_code or (unfinished.exit_code if unfinished else 0)
    if as_json:
        print_document({"digest": back.backup.digest, "plan": render_plan_document(back.plan), "exit_code": code})
        return code
    if code:
        print_error(
            f"not all of it is taken back: {_describe_remaining(done)}",
            "" if unfinished else "run it again",
            code,
            as_json=False,
        )
    elif done.steps:
        print(f"Taken back: {format_count(len(done.steps), 'step')} of plan {back.backup.digest}.")
        note = style_text("note:", 33, sys.stdout)
        print(f"  {note} {escape(source.path)} still says the opposite: git revert the commit that")
        print("  asked for it, or the next apply, also by a service, does it again.")
    return code


def _describe_remaining(done: ApplyResult) -> str:
    """The steps of a rollback that were not done, and why."""
    if done.exit_code:
        return (
            "; ".join(f"{format_ref(one.step.ref)}: {one.why}" for one in done.failed) or "the site changed meanwhile"
        )
    blocked = done.left.select_lines("blocked")
    more = f" and {len(blocked) - _SHOWN} more" if len(blocked) > _SHOWN else ""
    return "; ".join(f"{format_ref(line.ref)}: {line.note}" for line in blocked[:_SHOWN]) + more


def _confirm(workspace: Workspace, back: Rollback, options: RollbackOptions) -> None:
    """Ask whether to roll back. Raises: GuardRefused when a gate is closed; Exit when the person says no."""
    closed = find_closed_gates(workspace, back.plan)
    if closed:
        flags = " ".join(gate.flag for gate in closed)
        held = refuse_plan(back.plan, closed)
        raise GuardRefused(held.why, hint=f"syncd site rollback {back.backup.digest} {flags}")
    if options.yes:
        return
    if not sys.stdin.isatty():
        raise typer.BadParameter("nobody is here to ask; nothing was taken back: add --yes")
    if not typer.confirm("Take this plan back?", err=True):
        print("Nothing was taken back.", file=sys.stderr)
        raise typer.Exit(1)


def _format_rollback(back: Rollback) -> list[str]:
    plan_lines = [(style, text) for style, text in render_plan_text(back.plan, narrow=is_narrow()) if style != "hint"]
    lines = [
        f"The way back from plan {back.backup.digest} of {format_time(back.backup.at)}:",
        *style_lines(plan_lines),
    ]
    if not back.plan:
        left = ["Nothing is left to take back."] if not back.plan.select_lines("blocked") else []
        return [*(lines if back.plan.lines else lines[:1]), *left]
    if back.anew:
        refs = format_first(list(map(format_ref, back.anew)), _SHOWN)
        lines.append(f"{style_text('note:', 33, sys.stdout)} made again under a new id: {escape(refs)}")
    return lines


def format_former_plan(former: FormerState) -> str:
    """How many resources a plan added, changed and so on, and the first of them."""
    counts = Counter(former.actions.values())
    numbers = ", ".join(f"{count} {_DONE.get(action, action)}" for action, count in sorted(counts.items()))
    refs = format_first(list(map(format_ref, former.actions)), _SHOWN)
    return f"{numbers}: {refs}"


def _build_document(backup: Backup, former: FormerState) -> dict[str, object]:
    return {"digest": backup.digest, "site": backup.site, "at": backup.at, "actions": dict(former.actions)}
