"""`init`: bind an existing repository, bare or not, to existing spaces; it replaces neither side without `--prefer`."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import cast, get_args

import typer

from syncd.cli.setup.clone import check_out
from syncd.cli.setup.configuration import (
    Setup,
    draft_repository,
    resume_setup,
    write_configuration,
)
from syncd.cli.setup.wizard import SetupWords, ask_preferences, complete_setup
from syncd.cli.terminal.context import find_config_file, load_config_file, require_config_file
from syncd.cli.terminal.output import build_result_document, format_results, name_config_in_hints, print_document
from syncd.cli.terminal.progress import make_environment, show_progress
from syncd.cli.terminal.questions import can_ask
from syncd.cli.terminal.text import escape, name_config, print_text
from syncd.config import Config, ConfigFile, RepositoryConfig
from syncd.daemon.workspaces import build_run_options, open_workspace, record_command
from syncd.errors import ConfigInvalid, NotARepository
from syncd.repo.process.location import discover_repository, find_bare, find_repository
from syncd.repo.repository import Repository
from syncd.sync.outcome import BIND, Held, Waiting
from syncd.sync.policy import PreferredSide
from syncd.sync.run.cycle import run_cycle
from syncd.sync.run.values import Result, find_exit_code


@dataclass(frozen=True)
class InitOptions:
    """What a person typed behind `init`; without words the configuration, or that of `--config`, names what to bind."""

    words: SetupWords
    prefer: Sequence[str] = ()
    branch: str = ""
    config: Path | None = None


def run_init(options: InitOptions, *, as_json: bool) -> int:
    """Bind the spaces that need no choice of a side, print the results, and return the exit code.

    On a terminal a person is asked for the side of those that need one.
    Raises: BadParameter; NotARepository; ConfigInvalid when the repository is bound to something else.
    """
    config = _prepare_configuration(options)
    results: list[Result] = []
    for repository in config.repository:
        found = _bind_repository(config, repository, _parse_preferences(options.prefer, repository))
        undecided = [result.key for result in found if _is_undecided(result)]
        if undecided and not options.prefer and not as_json and can_ask():
            print_text("\n".join(format_results(name_config_in_hints(found, options.config))))
            chosen = ask_preferences(undecided)
            found = _bind_repository(config, repository, chosen) if chosen else found
        results += found
    results, code = name_config_in_hints(results, options.config), find_exit_code(results)
    if as_json:
        print_document(
            {"command": "init", "results": [build_result_document(result) for result in results], "exit_code": code}
        )
        return code
    print_text("\n".join(format_results(results)))
    if not code:
        status, push = (escape(name_config(command, options.config)) for command in ("syncd status", "syncd push"))
        print_text(f"Bound. Next: {status}, then {push} for what only Git has.")
    return code


def _is_undecided(result: Result) -> bool:
    """Whether Git and the platform differ, and a person has to choose which goes first."""
    return result.flow == BIND and isinstance(result.outcome, Held) and bool(result.outcome.paths)


def _prepare_configuration(options: InitOptions) -> Config:
    words = options.words
    if options.config is not None:
        if words.url or words.spaces:
            raise typer.BadParameter("--config FILE names what to bind: leave out the platform and its spaces")
        return _choose_configured(options)
    is_outside = discover_repository(Path.cwd()) is None
    if is_outside and not words.url and not words.spaces and find_config_file(None) is not None:
        return _choose_configured(options)
    top, git_dir = _locate_repository(Path.cwd())
    file = git_dir / "syncd.toml"
    if not words.url and not words.spaces and (find_config_file(None) is not None or os.path.lexists(file)):
        return _keep_repository(require_config_file(None), top, git_dir)
    with Repository.open(top) as git:
        branch = options.branch or git.read_head().branch
    if branch is None:
        raise typer.BadParameter("no branch is checked out: name one with --branch")
    answers = complete_setup(words, command="init")
    # A work tree whose git directory is elsewhere is named by its path; all others are found beside the file.
    beside = top / ".git" == file.parent or top == file.parent
    setup = Setup(file, answers.platform, answers.spaces, branch, "." if beside else str(top))
    hint = f"to bind more spaces, add them to {file}, then run syncd init alone"
    return resume_setup(setup, hint=hint) or write_configuration(setup, draft_repository(setup))


def _choose_configured(options: InitOptions) -> Config:
    """The configuration that `--config` names, or that applies here, with the repository around the current directory
    only.

    Shape: outside of any repository it has all of them; a side is taken for one alone, which has the named spaces.
    """
    file = require_config_file(options.config)
    if discover_repository(Path.cwd()) is not None:
        return _keep_repository(file, *_locate_repository(Path.cwd()))
    config = load_config_file(file)
    named = {word.rpartition("=")[0] for word in options.prefer} - {""}
    meant = [one for one in config.repository if named <= {space.name for space in one.space}]
    if not options.prefer or not meant:  # what no space is named is said for each repository
        return config
    if len(meant) > 1:
        raise ConfigInvalid(
            f"{file.path} has {len(meant)} repositories that this may mean",
            hint="\n".join(f"run it in the one that you mean: cd {quote(str(one.path))}" for one in meant),
        )
    return config.model_copy(update={"repository": tuple(meant)})


def _keep_repository(file: ConfigFile, top: Path, git_dir: Path) -> Config:
    """A configuration with this repository only."""
    config = load_config_file(file)
    configured = [repository for repository in config.repository if _is_in_git_dir(repository.path, git_dir)]
    if not configured:
        raise ConfigInvalid(
            f"{file.path} names other repositories, not {top}",
            hint="add this one to it, or name the platform and its spaces: syncd init URL SPACE[=DIR]",
        )
    return config.model_copy(update={"repository": tuple(configured)})


def _is_in_git_dir(path: Path, git_dir: Path) -> bool:
    with suppress(NotARepository):
        return find_repository(path).common_dir == git_dir
    return False


def _locate_repository(start: Path) -> tuple[Path, Path]:
    """The top of the repository around a directory, or a bare one, and where its configuration is kept."""
    place = discover_repository(start)
    if place is None:
        raise NotARepository(f"{start} is in no Git repository", hint="run syncd init inside one, or syncd clone")
    top = place.work_tree or place.git_dir
    bare = find_bare(start)
    if bare is not None and bare.git_dir not in (place.git_dir, place.common_dir) and bare.git_dir.is_relative_to(top):
        raise NotARepository(
            f"{bare.git_dir} looks like a bare repository inside of the work tree {top}",
            hint=f"run syncd init in {top} to bind that one; a bare repository has to lie outside of any work tree",
        )
    return top, place.common_dir


def _bind_repository(config: Config, repository: RepositoryConfig, prefer: Mapping[str, PreferredSide]) -> list[Result]:
    with (
        show_progress() as on_progress,
        open_workspace(config, repository, make_environment(on_progress)) as workspace,
    ):
        run_options = replace(
            build_run_options(repository),
            propose=False,
            site=None,
            should_publish=False,
            prefer=prefer,
        )
        results = run_cycle(workspace, run_options)
        if any(result.flow == BIND and isinstance(result.outcome, Waiting) for result in results):
            results = run_cycle(workspace, run_options)  # what the first run bound is integrated by the second
        if not find_exit_code(results):
            check_out(workspace, workspace.branch)
    record_command(repository, results)
    return results


def _parse_preferences(words: Sequence[str], repository: RepositoryConfig) -> Mapping[str, PreferredSide]:
    """Return the preferred side by name of the space, of `SIDE` or `NAME=SIDE` words."""
    names = [space.name for space in repository.space]
    prefer: dict[str, PreferredSide] = {}
    for word in words:
        name, _, side = word.rpartition("=")
        if side not in get_args(PreferredSide):
            raise typer.BadParameter(f"--prefer {word}: write platform or git, or NAME=platform or NAME=git")
        if name and name not in names:
            raise ConfigInvalid(f"no space is named {name}", hint=f"they are named {', '.join(names)}")
        prefer |= dict.fromkeys([name] if name else names, cast(PreferredSide, side))
    return prefer
