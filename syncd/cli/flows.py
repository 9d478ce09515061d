"""`sync`, `pull` and `push`: one run over every configured repository."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import typer

from syncd.cli.context import configuration, forced
from syncd.cli.output import emit, result_document, result_lines
from syncd.cli.progress import progress
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
    for repository in config.repository:
        asked = _wish(command, repository, branch, subject)
        with progress() as tell:
            around = Circumstances(os.environ, progress=tell, force=forced(force))
            with workplace(config, repository, around) as workspace:
                results += run_cycle(workspace, asked)
                for method, count in workspace.client.requests_sent.items():
                    requests[method] = requests.get(method, 0) + count
    code = exit_code(results)
    if as_json:
        documents = [result_document(result) for result in results]
        emit({"command": command, "results": documents, "requests": requests, "exit_code": code})
    else:
        print("\n".join(result_lines(results)))
    return code


def _wish(command: str, repository: RepositoryConfig, branch: str | None, subject: str) -> Wish:
    whole = wish(repository)
    if command == "sync":
        return whole
    if command == "pull":
        return replace(whole, propose=False, site=None, publish=False)
    meant = branch or _checked_out(repository) or next(iter(whole.branches), None)
    if meant is None:
        raise typer.BadParameter(f"no branch is checked out in {repository.path}: name the one to propose")
    return Wish(branches=(meant,), integrate=False, subject=subject)


def _has(repository: RepositoryConfig, branch: str) -> bool:
    with Repository.open(repository.path) as git:
        return git.resolve(f"refs/heads/{branch}") is not None


def _checked_out(repository: RepositoryConfig) -> str | None:
    with Repository.open(repository.path) as git:
        return git.head().branch
