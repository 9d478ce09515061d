"""`sync`, `pull` and `push`: one run over every configured repository."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import typer

from syncd.cli.context import configuration, forced, open_here
from syncd.cli.output import IN_STEP, emit, result_document, result_lines
from syncd.cli.progress import progress
from syncd.cli.terminal import print_text, safe
from syncd.cli.unsent import BranchWork, find_branch_work, request_lines, unsent_document, unsent_lines
from syncd.config import RepositoryConfig
from syncd.daemon.workplace import Circumstances, wish, workplace
from syncd.repo import Repository
from syncd.sync.cycle import Result, Wish, exit_code, run_cycle


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
    results: list[Result] = []
    requests: dict[str, int] = {}
    works: list[BranchWork] = []
    for repository in config.repository:
        asked = _wish(command, repository, branch, subject)
        with progress() as tell:
            around = Circumstances(os.environ, progress=tell, force=forced(force))
            with workplace(config, repository, around) as workspace:
                results += run_cycle(workspace, asked)
                for method, count in workspace.client.requests_sent.items():
                    requests[method] = requests.get(method, 0) + count
        if command == "push":
            with open_here(repository.path) as git:
                works += [find_branch_work(git, repository, name) for name in asked.branches]
    code = exit_code(results)
    if as_json:
        documents = [result_document(result) for result in results]
        unsent = {"unsent": [unsent_document(work) for work in works]} if command == "push" else {}
        emit({"command": command, "results": documents, **unsent, "requests": requests, "exit_code": code})
    else:
        lines = result_lines(results, idle=_idle(command, works))
        print_text("\n".join([*lines, *(line for work in works for line in unsent_lines(work, pushed=not code))]))
    return code


def _idle(command: str, works: Sequence[BranchWork]) -> Sequence[str]:
    """What is said when no flow had anything to do."""
    if command != "push":
        return [IN_STEP]
    held = [line for work in works for line in request_lines(work)]
    nothing = "Nothing to propose: {} has no page or file of a space that differs from main content."
    return held or [nothing.format(safe(work.branch)) for work in works if not work.needs_push]


def _wish(command: str, repository: RepositoryConfig, branch: str | None, subject: str) -> Wish:
    whole = wish(repository)
    if command == "sync":
        return whole
    if command == "pull":
        return replace(whole, propose=False, site=None, publish=False)
    return Wish(branches=(branch or _checked_out(repository),), integrate=False, subject=subject)


def _has(repository: RepositoryConfig, branch: str) -> bool:
    with Repository.open(repository.path) as git:
        return git.resolve(f"refs/heads/{branch}") is not None


def _checked_out(repository: RepositoryConfig) -> str:
    """The branch that the work tree around the caller shows. Raises: BadParameter when HEAD is detached."""
    with open_here(repository.path) as git:
        head = git.head()
    if head.branch is None:
        at = f"HEAD is detached at {head.oid[:10]}" if head.oid else "HEAD names no branch"
        raise typer.BadParameter(f"{at}: commits there are on no branch; git switch BRANCH, or syncd push BRANCH")
    return head.branch
