"""`site pending` and `site approve`: the plans that wait for a person; nothing is asked of the platform."""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from syncd.cli.sites.colours import painted
from syncd.cli.terminal.context import configuration
from syncd.cli.terminal.output import emit
from syncd.cli.terminal.text import moment, print_text, safe
from syncd.daemon.locks import DAEMON, STATE, WAKE, holder
from syncd.daemon.workplace import now
from syncd.repo import Repository
from syncd.store.glance import Pending, glance
from syncd.store.store import Store
from syncd.sync.site.approvals import VALID, is_valid, meant

NOTHING = "No plan waits for approval."


def show_pending(config_file: Path | None, beginning: str, *, as_json: bool) -> int:
    """Print the plans that are held, or the whole of the one whose digest begins so."""
    held = [plan for _, plan in _held(config_file)]
    chosen = [meant(held, beginning)] if beginning else held
    if as_json:
        emit({"pending": [_document(plan) for plan in chosen]})
    elif beginning:
        words = json.loads(chosen[0].document)["text"]
        told = painted((style, text) for style, text in words if style not in ("gate", "hint"))
        print_text("\n".join([*_lines(chosen[0]), "", *told]))
    else:
        print_text("\n\n".join("\n".join(_lines(plan)) for plan in chosen) or NOTHING)
    return 0


def run_approve(config_file: Path | None, beginning: str, comment: str, *, as_json: bool) -> int:
    """Let the plan whose digest begins so through, once, within a day, and wake the service that will apply it."""
    held = _held(config_file)
    plan = meant([plan for _, plan in held], beginning)
    git_dir = next(git_dir for git_dir, one in held if one is plan)
    at = now().isoformat(timespec="seconds")
    with Store(git_dir / STATE) as store:
        store.plans.approve(plan, at=at, comment=comment)
    process = holder(git_dir / DAEMON)
    (git_dir / WAKE).touch(mode=0o600)
    if as_json:
        emit({"approved": plan.digest, "site": plan.site, "at": at, "daemon": process})
        return 0
    print(f"Approved plan {plan.digest} of {safe(plan.file)}, once, for {VALID.total_seconds() / 3600:.0f} hours.")
    if process:
        print(f"The service (process {process}) applies it now: syncd status")
    else:
        print("No service runs. Next: syncd sync, or syncd site apply")
    return 0


def _held(config_file: Path | None) -> list[tuple[Path, Pending]]:
    """Every plan that is held, with the git directory of its repository."""
    places = []
    for repository in configuration(config_file).repository:
        with Repository.open(repository.path) as git:
            places.append(git.git_dir)
    return [(git_dir, plan) for git_dir in places for plan in glance(git_dir / STATE).plans]


def _lines(plan: Pending) -> Iterator[str]:
    document: dict[str, Any] = json.loads(plan.document)
    state = f"approved at {moment(plan.approved)}" if is_valid(plan, now()) else f"waiting since {moment(plan.at)}"
    yield f"! {plan.digest}  {safe(plan.file)} (site {safe(plan.site)})  {state}"
    yield from (f"    {safe(gate['scope'])}: {safe(gate['why'])}" for gate in document["plan"]["gates"])
    if plan.comment:
        yield f"    {safe(plan.comment)}"
    if not is_valid(plan, now()):
        yield f"    read it: syncd site pending {plan.digest}"
        yield f"    let it through: syncd site approve {plan.digest}"


def _document(plan: Pending) -> dict[str, Any]:
    facts = {"site": plan.site, "digest": plan.digest, "file": plan.file, "at": plan.at}
    moment = datetime.fromisoformat(plan.approved) if plan.approved else None
    until = (moment + VALID).isoformat(timespec="seconds") if moment else None
    said = {"approved": plan.approved or None, "until": until, "comment": plan.comment}
    return {**facts, **said, "plan": json.loads(plan.document)["plan"]}
