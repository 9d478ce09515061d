"""`sync`, `pull` and `push`: one run over every configured repository."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import typer

from syncd.cli.sync.unsent import BranchWork, find_branch_work, request_lines, unsent_document, unsent_lines
from syncd.cli.terminal.context import configuration, forced, open_here
from syncd.cli.terminal.output import IN_STEP, emit, result_document, result_lines
from syncd.cli.terminal.progress import progress
from syncd.cli.terminal.text import print_text, safe
from syncd.config import Config, RepositoryConfig
from syncd.daemon.health import combine_codes
from syncd.daemon.labels import name_repositories
from syncd.daemon.workplace import Circumstances, record_command, wish, workplace
from syncd.errors import Stopped, SyncdError
from syncd.repo import Repository
from syncd.sync.branches import is_own_branch
from syncd.sync.outcome import outcome_from
from syncd.sync.run.cycle import run_cycle
from syncd.sync.run.values import RUN, Result, RunOptions, find_exit_code, is_stopped


@dataclass(frozen=True)
class _Run:
    """What one repository's run came to, the requests that it sent by method, and the branches that it proposes."""

    results: Sequence[Result]
    requests: Mapping[str, int] = field(default_factory=dict)
    works: Sequence[BranchWork] = ()


def run_flows(
    command: str,
    config_file: Path | None,
    *,
    as_json: bool,
    force: Sequence[str],
    branch: str | None = None,
    subject: str = "",
) -> int:
    """Given a command, run its flows once, print what they came to, and return the exit code."""
    config = configuration(config_file)
    if branch is not None and not any(_has(repository, branch) for repository in config.repository):
        raise typer.BadParameter(f"there is no branch {branch}")
    runs: list[_Run] = []
    for name, repository in zip(name_repositories(config), config.repository, strict=True):
        try:
            runs.append(_run_one(command, config, repository, force, branch, subject))
            if is_stopped(runs[-1].results):
                break
        except Stopped:
            raise
        except SyncdError as error:
            failed = [Result(RUN, name, outcome_from(error))]
            record_command(repository, failed)
            if len(config.repository) == 1:
                raise
            runs.append(_Run(failed))
    results = [result for run in runs for result in run.results]
    works = [work for run in runs for work in run.works]
    requests = sum((Counter(run.requests) for run in runs), Counter[str]())
    code = combine_codes([find_exit_code(run.results) for run in runs])
    if as_json:
        documents = [result_document(result) for result in results]
        unsent = {"unsent": [unsent_document(work) for work in works]} if command != "pull" else {}
        emit({"command": command, "results": documents, **unsent, "requests": requests, "exit_code": code})
    else:
        unsent_work = [line for work in works for line in unsent_lines(work, pushed=not code)]
        idle = [IN_STEP] if command == "pull" or (command == "sync" and not unsent_work) else _idle(works)
        print_text("\n".join([*result_lines(results, idle=idle), *unsent_work]))
    return code


def _run_one(
    command: str, config: Config, repository: RepositoryConfig, force: Sequence[str], branch: str | None, subject: str
) -> _Run:
    asked = _wish(command, repository, branch, subject)
    with progress() as tell:
        around = Circumstances(os.environ, progress=tell, force=forced(force))
        with workplace(config, repository, around) as workspace:
            results = run_cycle(workspace, asked)
            requests = dict(workspace.client.requests_sent)
    record_command(repository, results, site=asked.site is not None)
    if not asked.propose:
        return _Run(results, requests)
    with open_here(repository.path) as git:
        return _Run(results, requests, [find_branch_work(git, repository, name) for name in asked.branches])


def _idle(works: Sequence[BranchWork]) -> Sequence[str]:
    """What is said when there was nothing to propose, though not everything is in step."""
    held = [line for work in works for line in request_lines(work)]
    nothing = "Nothing to propose: {} has no page or file of a space that differs from main content."
    return held or [nothing.format(safe(work.branch)) for work in works if not work.needs_push]


def _wish(command: str, repository: RepositoryConfig, branch: str | None, subject: str) -> RunOptions:
    whole = wish(repository)
    if command == "sync":
        return whole
    if command == "pull":
        return replace(whole, propose=False, site=None, should_publish=False)
    name = branch or _checked_out(repository)
    if is_own_branch(name, repository.named, repository.patterns):
        raise typer.BadParameter(f"{name} is one of syncd's own branches, and never proposed: git switch to yours")
    return RunOptions(branches=(name,), integrate=False, subject=subject)


def _has(repository: RepositoryConfig, branch: str) -> bool:
    try:
        with Repository.open(repository.path) as git:
            return git.resolve(f"refs/heads/{branch}") is not None
    except SyncdError:
        return True  # its run says what is wrong


def _checked_out(repository: RepositoryConfig) -> str:
    """The branch that the work tree around the caller shows. Raises: BadParameter when HEAD is detached."""
    with open_here(repository.path) as git:
        head = git.read_head()
    if head.branch is None:
        at = f"HEAD is detached at {head.oid[:10]}" if head.oid else "HEAD names no branch"
        raise typer.BadParameter(f"{at}: commits there are on no branch; git switch BRANCH, or syncd push BRANCH")
    return head.branch
