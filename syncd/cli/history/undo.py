"""`undo`: take back a push that is not merged, a merge, or a plan that was applied to a site."""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import typer

from syncd.cli.change_requests.find import open_request, parse_request_name
from syncd.cli.change_requests.text import build_request_document, format_title
from syncd.cli.sites.rollback import RollbackOptions, run_rollback
from syncd.cli.sync.flow_runs import choose_push_branch
from syncd.cli.terminal.context import load_configuration
from syncd.cli.terminal.output import (
    build_result_document,
    format_changes,
    format_results,
    name_config_in_hints,
    print_document,
)
from syncd.cli.terminal.progress import make_environment, show_progress
from syncd.cli.terminal.text import escape, format_time, name_config, print_text
from syncd.config import Config, RepositoryConfig
from syncd.daemon.workspaces import open_for_reading, open_workspace, record_command
from syncd.errors import SyncdError
from syncd.model.wording import format_count
from syncd.plan.change import Change, Verb
from syncd.sync.binding import Binding, format_space_option
from syncd.sync.review.requests import FoundRequest, find_requests
from syncd.sync.run.cycle import run_cycle
from syncd.sync.run.values import Result, RunOptions, find_exit_code
from syncd.sync.undo.halves import add_open_halves, plan_reverts
from syncd.sync.undo.latest import Undoable, find_latest
from syncd.sync.undo.revert import Revert, write_reverts
from syncd.sync.undo.withdraw import Withdrawal, name_requests, plan_withdrawal, withdraw
from syncd.sync.workspace import Workspace

_DIGEST = re.compile(r"(?=.{0,11}[a-f]|.{10})[0-9a-f]{4,12}")
"""How the digest of a plan begins, so that it is no number of a change request."""
_VERBS: dict[str, Verb] = {"A": "create", "M": "update", "D": "delete", "R": "move"}


@dataclass(frozen=True)
class UndoOptions:
    """What a person typed behind `undo`."""

    target: str = ""
    space: str = ""
    branch: str = ""
    config: Path | None = None
    reset: bool = False
    dry_run: bool = False
    yes: bool = False
    as_json: bool = False


def run_undo(options: UndoOptions) -> int:
    """Show what is undone, ask, do it, and return the exit code.

    Raises: BadParameter; GuardRefused, Conflict and what else stands in the way; SyncdError when there is nothing.
    """
    if _DIGEST.fullmatch(options.target):
        return _undo_plan(options, options.target)
    config = load_configuration(options.config)
    if options.target:
        name = parse_request_name(options.target, options.space)
        with open_request(config, name) as (repository, _, found):
            pass
        if found.request.status == "merged":
            return _undo_merge(options, config, repository, found.binding, found.request.number)
        return _undo_push(options, config, repository, [found])
    if len(config.repository) != 1:
        raise typer.BadParameter("several repositories are configured: name a change request, or the digest of a plan")
    repository = config.repository[0]
    latest = _find_latest(options, config, repository)
    if latest.backup is not None:
        return _undo_plan(options, latest.backup.digest)
    if latest.merge is not None:
        return _undo_merge(options, config, repository, *latest.merge)
    return _undo_push(options, config, repository, latest.requests)


def _find_latest(options: UndoOptions, config: Config, repository: RepositoryConfig) -> Undoable:
    branch = choose_push_branch(repository, options.branch or None, way="syncd undo --branch BRANCH")
    with open_for_reading(config, repository, make_environment()) as workspace:
        latest = find_latest(workspace, branch, with_site=repository.site is not None)
    if latest is None:
        raise SyncdError(
            f"nothing is known that can be undone on {branch}",
            hint="name a change request: syncd undo N; syncd cr list --all shows them",
        )
    return latest


def _undo_plan(options: UndoOptions, digest: str) -> int:
    """Take a site's plan back; `site rollback` shows it, and asks."""
    if options.reset:
        raise typer.BadParameter("--reset is about the commits of a push; this is a plan of a site")
    rollback = RollbackOptions(digest, options.config, yes=options.yes, dry_run=options.dry_run)
    return run_rollback(rollback, as_json=options.as_json)


def _undo_push(
    options: UndoOptions, config: Config, repository: RepositoryConfig, requests: Sequence[FoundRequest]
) -> int:
    with open_workspace(config, repository, make_environment()) as workspace:
        fresh = [each for one in requests for each in find_requests(workspace, [one.binding], one.request.number)]
        plan = plan_withdrawal(workspace, add_open_halves(workspace, fresh), reset=options.reset)
        if not options.as_json:
            print_text("\n".join(_format_withdrawal(plan, reset=options.reset)))
        if not options.dry_run:
            _confirm(options)
            done = withdraw(workspace, plan, reset=options.reset)
            plan = replace(
                plan,
                requests=tuple(replace(each, request=now) for each, now in zip(plan.requests, done, strict=True)),
            )
    if options.as_json:
        requests_done = [build_request_document(repository.path, each) for each in plan.requests]
        _print_document(options, "push", {"change_requests": requests_done, "branch": plan.branch, "base": plan.base})
    elif not options.dry_run:
        print_text("\n".join(_format_withdrawn(plan, options, workspace.bindings)))
    return 0


def _format_withdrawal(plan: Withdrawal, *, reset: bool) -> Iterator[str]:
    yield "Undo a push, by archiving its change request:"
    for found in plan.requests:
        yield f"  {format_title(found)}"
    count = format_count(len(plan.commits), "commit")
    if plan.commits and reset:
        yield f"  {escape(plan.branch)} is reset from {plan.tip[:10]} to {plan.base[:10]}, without {count}"
    elif plan.commits:
        stays = "stays as it is" if len(plan.commits) == 1 else "stay as they are"
        yield f"  {count} on {escape(plan.branch)} {stays}"


def _format_withdrawn(plan: Withdrawal, options: UndoOptions, bindings: Sequence[Binding]) -> Iterator[str]:
    numbers = escape(name_requests(plan.requests))
    reopening = [
        name_config(
            f"syncd cr reopen {found.request.number}{format_space_option(found.binding.name, bindings)}", options.config
        )
        for found in plan.requests
    ]
    if len(reopening) == 1:
        yield f"{numbers} is archived; {escape(reopening[0])} opens it again."
    else:
        yield f"{numbers} are archived; each is opened again by"
        yield from (f"  {escape(reopen)}" for reopen in reopening)
    if not plan.commits:
        return
    branch = escape(plan.branch)
    if options.reset:
        yield f"{branch} is at {plan.base[:10]}; git reset --keep {plan.tip[:10]} brings its commits back."
        return
    count, them = format_count(len(plan.commits), "commit"), "it" if len(plan.commits) == 1 else "them"
    yield f"{branch} still has {count}; no push proposes {them} again before there is a new one."
    push = escape(name_config("syncd push", options.config))
    yield f"Next: git reset --keep {plan.base[:10]} takes {them} back, on {branch}; or mend {them}, commit, and {push}"


def _undo_merge(
    options: UndoOptions, config: Config, repository: RepositoryConfig, binding: Binding, number: int
) -> int:
    if options.reset:
        raise typer.BadParameter(f"--reset is about the commits of a push that is not merged; #{number} is merged")
    branch = choose_push_branch(repository, options.branch or None, way="syncd undo --branch BRANCH")
    results: Sequence[Result] = ()
    with (
        show_progress() as on_progress,
        open_workspace(config, repository, make_environment(on_progress)) as workspace,
    ):
        plans = plan_reverts(workspace, binding, number, branch)
        if not any(plan.existing or plan.changes for plan in plans):
            raise SyncdError(f"nothing that #{number} changed is left on {branch}")
        if not options.as_json:
            print_text("\n".join(line for plan in plans for line in _format_revert(plan, branch)))
        if not options.dry_run:
            _confirm(options)
            results = _propose_reverts(workspace, plans, branch)
    if results:
        record_command(repository, results)
    results, code = name_config_in_hints(results, options.config), find_exit_code(results)
    if options.as_json:
        changes = [{"path": change.path, "status": change.status} for plan in plans for change in plan.changes]
        merges = [{"space": plan.binding.space, "name": plan.binding.name, "numbers": plan.numbers} for plan in plans]
        documents = [build_result_document(result) for result in results]
        facts = {"number": number, "merges": merges, "branch": branch, "changes": changes, "results": documents}
        _print_document(options, "merge", facts, code)
    elif not options.dry_run:
        idle = [f"The revert is on {branch}, and its change request is up to date."]
        print_text("\n".join(format_results(results, idle=idle)))
    return code


def _propose_reverts(workspace: Workspace, plans: Sequence[Revert], branch: str) -> Sequence[Result]:
    author = workspace.repository.read_author(os.environ, when=workspace.now())
    write_reverts(workspace, plans, author)
    return run_cycle(workspace, RunOptions(branches=(branch,), integrate=False))


def _format_revert(plan: Revert, branch: str) -> Iterator[str]:
    numbers = ", ".join(f"#{number}" for number in plan.numbers)
    title = f"{numbers} {escape(plan.binding.name)}  {escape(plan.merged.subject)}"
    at = format_time(plan.merged.author.when.isoformat())
    yield f"Undo a merge, by proposing the opposite: {title}  (merged, {at})"
    if plan.existing:
        yield f"  {escape(branch)} has the revert already: {plan.existing[:10]}; it is proposed"
        return
    yield f"  one new commit on {escape(branch)}, and its change request:"
    yield from format_changes(Change(_VERBS[change.status], "file", change.path) for change in plan.changes)
    for path in plan.kept:
        yield f"  ! {escape(path)} stays: it was edited since"


def _confirm(options: UndoOptions) -> None:
    """Ask whether to go on. Raises: BadParameter when nobody is there; Exit when the person says no."""
    if options.yes:
        return
    if not sys.stdin.isatty() or options.as_json:
        raise typer.BadParameter("nobody is here to ask; nothing was undone: add --yes, or --dry-run to see what it is")
    if not typer.confirm("Undo this?", err=True):
        print("Nothing was undone.", file=sys.stderr)
        raise typer.Exit(1)


def _print_document(options: UndoOptions, kind: str, facts: dict[str, Any], code: int = 0) -> None:
    print_document({"command": "undo", "kind": kind, "dry_run": options.dry_run, **facts, "exit_code": code})
