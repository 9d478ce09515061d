"""`clone`: a repository, its configuration and the first mirror, from one line; safe to run again after a crash."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import typer

from syncd.cli.sync.setup import Setup, drafted, platform_of, taken_up, wanted_of, written
from syncd.cli.terminal.output import result_lines
from syncd.cli.terminal.progress import progress
from syncd.cli.terminal.text import print_text
from syncd.config import Config
from syncd.daemon.workplace import Circumstances, record_command, wish, workplace
from syncd.errors import ConfigInvalid
from syncd.repo import Repository
from syncd.sync.run.cycle import run_cycle
from syncd.sync.run.values import find_exit_code
from syncd.sync.workspace import Workspace

BRANCH = "main"


def run_clone(url: str, targets: Sequence[str], token_file: Path | None, *, insecure: bool) -> None:
    """Given a platform, spaces and a directory, make the repository there; a clone that was cut off is taken up again.

    Raises: ConfigInvalid when the directory holds something else.
    """
    if len(targets) < 2:
        raise typer.BadParameter("name at least one SPACE and the directory REPO")
    *words, target = targets
    directory = Path(target).absolute()
    platform = platform_of(url, token_file, insecure=insecure)
    setup = Setup((directory / ".git").resolve() / "syncd.toml", platform, wanted_of(words), BRANCH)
    config = taken_up(setup, hint="clone into a new directory") or _begun(setup, directory)
    repository = config.repository[0]
    with progress() as tell, workplace(config, repository, Circumstances(os.environ, progress=tell)) as workspace:
        results = run_cycle(
            workspace, replace(wish(repository), integrate=False, propose=False, site=None, should_publish=False)
        )
        code = find_exit_code(results)
        if not code:
            check_out(workspace, BRANCH)
    record_command(repository, results)
    print_text("\n".join(result_lines(results)))
    if code:
        raise typer.Exit(code)
    print(f"Cloned into {directory}. Next: edit, git commit, then syncd push.")


def _begun(setup: Setup, directory: Path) -> Config:
    """Make the repository and its configuration."""
    if directory.exists() and any(path.name != ".git" for path in directory.iterdir()):
        raise ConfigInvalid(f"{directory} is not empty", hint="clone into a new directory")
    repository = drafted(setup)
    with Repository.create(directory, branch=BRANCH) as git:
        if git.list_refs("refs/"):
            raise ConfigInvalid(f"{directory} is a repository already", hint="syncd init binds one to a space")
    return written(setup, repository)


def check_out(workspace: Workspace, branch: str) -> None:
    """Given a repository that was mirrored, give the writer a branch on it; only when there is none yet."""
    repository = workspace.repository
    tip = repository.resolve(workspace.main)
    ref = f"refs/heads/{branch}"
    if tip is None:
        return
    if repository.resolve(ref) is None:
        repository.update_ref(ref, tip, old=None)
    if repository.work_tree is not None:
        repository.checkout_new(branch)
