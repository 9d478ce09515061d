"""`site pending` and `site approve`: the plans that wait for a person; no request is sent."""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from syncd.cli.sites.colours import style_lines
from syncd.cli.terminal.context import load_configuration
from syncd.cli.terminal.output import print_document
from syncd.cli.terminal.text import escape, format_time, name_config, print_text
from syncd.config import RepositoryConfig
from syncd.daemon.locks import SERVICE_LOCK, STATE_FILE, UNKNOWN, WAKE_FILE, find_holder
from syncd.daemon.workspaces import read_time
from syncd.repo.repository import Repository
from syncd.store.status import PendingPlan, read_store_summary
from syncd.store.store import Store
from syncd.sync.site.approvals import VALID, find_held_plan, is_approval_valid

NOTHING = "No plan waits for approval."


def show_pending(config_file: Path | None, beginning: str, *, as_json: bool) -> int:
    """Print the plans that wait, or all of the one whose digest begins with `beginning`."""
    held = [plan for _, plan in find_held_plans(load_configuration(config_file).repository)]
    selected = [find_held_plan(held, beginning)] if beginning else held
    if as_json:
        print_document({"pending": [build_plan_document(plan) for plan in selected]})
    elif beginning:
        print_text("\n".join([*format_plan(selected[0]), "", *format_plan_lines(selected[0])]))
    else:
        print_text("\n\n".join("\n".join(format_plan(plan)) for plan in selected) or NOTHING)
    return 0


def run_approve(config_file: Path | None, beginning: str, comment: str, *, as_json: bool) -> int:
    """Approve the plan whose digest begins with `beginning` for one run within a day, and wake the service."""
    held = find_held_plans(load_configuration(config_file).repository)
    plan = find_held_plan([plan for _, plan in held], beginning)
    git_dir = next(git_dir for git_dir, one in held if one is plan)
    at = approve_plan(git_dir, plan, comment)
    holder = find_holder(git_dir / SERVICE_LOCK)
    process = holder if isinstance(holder, int) else None
    if as_json:
        print_document({"approved": plan.digest, "site": plan.site, "at": at, "daemon": process})
        return 0
    print(f"Approved plan {plan.digest} of {escape(plan.file)}, once, for {VALID.total_seconds() / 3600:.0f} hours.")
    if process:
        print(f"The service (process {process}) applies it now: {escape(name_config('syncd status', config_file))}")
    else:
        sync, apply = (escape(name_config(command, config_file)) for command in ("syncd sync", "syncd site apply"))
        found = "Your user cannot see whether a service runs" if holder == UNKNOWN else "No service runs"
        print(f"{found}. Next: {sync}, or {apply}")
    return 0


def approve_plan(git_dir: Path, plan: PendingPlan, comment: str) -> str:
    """Approve a plan that waits in a repository, wake the service, and return when that was. Raises: StoreError."""
    at = read_time().isoformat(timespec="seconds")
    with Store(git_dir / STATE_FILE) as store:
        store.plans.approve(plan, at=at, comment=comment)
    (git_dir / WAKE_FILE).touch(mode=0o600)
    return at


def find_held_plans(repositories: Sequence[RepositoryConfig]) -> list[tuple[Path, PendingPlan]]:
    """Return every plan that waits, with the git directory of its repository. Raises: NotARepository, StoreError."""
    git_dirs = []
    for repository in repositories:
        with Repository.open(repository.path) as git:
            git_dirs.append(git.git_dir)
    return [(git_dir, plan) for git_dir in git_dirs for plan in read_store_summary(git_dir / STATE_FILE).pending_plans]


def format_plan(plan: PendingPlan, *, commands: str = "syncd site", repository: str = "") -> Iterator[str]:
    """Return what a person is told of a plan that waits, and by which group of commands it is read and approved."""
    document: dict[str, Any] = json.loads(plan.document)
    state = (
        f"approved at {format_time(plan.approved)}"
        if is_approval_valid(plan, read_time())
        else f"waiting since {format_time(plan.at)}"
    )
    where = f"{repository}: " if repository else ""
    yield f"! {plan.digest}  {where}{escape(plan.file)} (site {escape(plan.site)})  {state}"
    yield from (f"    {escape(gate['scope'])}: {escape(gate['why'])}" for gate in document["plan"]["gates"])
    if plan.comment:
        yield f"    {escape(plan.comment)}"
    if not is_approval_valid(plan, read_time()):
        yield f"    read it: {commands} pending {plan.digest}"
        yield f"    let it through: {commands} approve {plan.digest}"


def format_plan_lines(plan: PendingPlan) -> Iterator[str]:
    """Return what a plan changes, as lines for a terminal."""
    lines = json.loads(plan.document)["text"]
    yield from style_lines((style, text) for style, text in lines if style not in ("gate", "hint"))


def build_plan_document(plan: PendingPlan) -> dict[str, Any]:
    """Return a plan that waits, for programs."""
    facts = {"site": plan.site, "digest": plan.digest, "file": plan.file, "at": plan.at}
    approved_at = datetime.fromisoformat(plan.approved) if plan.approved else None
    until = (approved_at + VALID).isoformat(timespec="seconds") if approved_at else None
    approval = {"approved": plan.approved or None, "until": until, "comment": plan.comment}
    return {**facts, **approval, "plan": json.loads(plan.document)["plan"]}
