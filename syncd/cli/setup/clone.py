"""`clone`: create a repository, its configuration and the first mirror; safe to run again after a crash."""

import os
import sys
from dataclasses import replace
from pathlib import Path

import typer

from syncd.cli.setup.configuration import (
    Setup,
    draft_repository,
    resume_setup,
    write_configuration,
)
from syncd.cli.setup.wizard import SetupWords, complete_setup
from syncd.cli.terminal.output import format_results
from syncd.cli.terminal.progress import make_environment, show_progress
from syncd.cli.terminal.text import print_text
from syncd.config import Config
from syncd.daemon.workspaces import build_run_options, open_workspace, record_command
from syncd.errors import ConfigInvalid
from syncd.repo.repository import Repository
from syncd.sync.run.cycle import run_cycle
from syncd.sync.run.values import find_exit_code
from syncd.sync.workspace import Workspace

BRANCH = "main"


def run_clone(words: SetupWords) -> None:
    """Clone spaces into a new repository; a clone that was interrupted is resumed.

    Raises: BadParameter; ConfigInvalid when the directory holds something else; PlatformError.
    """
    answers = complete_setup(words, command="clone")
    directory = answers.directory
    setup = Setup((directory / ".git").resolve() / "syncd.toml", answers.platform, answers.spaces, BRANCH)
    config = resume_setup(setup, hint="clone into a new directory") or _start_clone(setup, directory)
    repository = config.repository[0]
    with (
        show_progress() as on_progress,
        open_workspace(config, repository, make_environment(on_progress)) as workspace,
    ):
        results = run_cycle(
            workspace,
            replace(build_run_options(repository), integrate=False, propose=False, site=None, should_publish=False),
        )
        code = find_exit_code(results)
        if not code:
            check_out(workspace, BRANCH)
    record_command(repository, results)
    print_text("\n".join(format_results(results)))
    if code:
        again = f"run the same command again, or syncd init in {directory}"
        print(f"{BRANCH} is not checked out yet: when that is mended, {again}.", file=sys.stderr)
        raise typer.Exit(code)
    print(f"Cloned into {directory}. Next: edit, git commit, then syncd push.")


def _start_clone(setup: Setup, directory: Path) -> Config:
    """Create the repository and write its configuration."""
    hint = "clone into a new directory"
    try:
        is_taken = os.path.lexists(directory) and any(path.name != ".git" for path in directory.iterdir())
    except OSError as error:
        raise ConfigInvalid(f"{directory}: {error.strerror}", hint=hint) from error
    if is_taken:
        raise ConfigInvalid(f"{directory} is not empty", hint=hint)
    repository = draft_repository(setup)
    with Repository.create(directory, branch=BRANCH) as git:
        if git.list_refs("refs/"):
            raise ConfigInvalid(f"{directory} is a repository already", hint="syncd init binds one to a space")
    return write_configuration(setup, repository)


def check_out(workspace: Workspace, branch: str) -> None:
    """Create a branch on the mirrored content, and check it out; only when there is none yet."""
    repository = workspace.repository
    tip = repository.resolve(workspace.main)
    ref = f"refs/heads/{branch}"
    if tip is None:
        return
    if repository.resolve(ref) is None:
        repository.update_ref(ref, tip, old=None)
    if repository.work_tree is not None:
        repository.checkout_new(branch)
