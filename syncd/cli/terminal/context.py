"""What most commands start with: find and load the configuration, and parse `--force`."""

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import typer

from syncd.cli.terminal.text import print_error
from syncd.cli.terminal.verbosity import has_json_errors
from syncd.config import (
    Config,
    ConfigFile,
    DropIn,
    RepositoryConfig,
    find_config,
    load_repositories,
    load_with_drop_ins,
)
from syncd.errors import ConfigInvalid, NotARepository, NotTrusted
from syncd.repo.process.location import discover_repository, find_repository
from syncd.repo.repository import Repository

_COUNT = re.compile(r"[0-9]{1,9}")


def load_configuration(config_file: Path | None) -> Config:
    """Return the configuration that applies in the current directory, or that `--config` names.

    Raises: ConfigInvalid; NotTrusted.
    """
    return load_config_file(require_config_file(config_file))


def load_whole_configuration(
    config_file: Path | None, *, is_shown: bool = False
) -> tuple[Config, Mapping[Path, ConfigInvalid]]:
    """Return the configuration for a command about all repositories, and what is wrong with drop-ins that are left out.

    Shape: with `is_shown`, the command shows that among its results, and it is named on stderr for programs alone.
    Raises: ConfigInvalid; NotTrusted.
    """
    config, broken = load_config_parts(require_config_file(config_file))
    if not is_shown or has_json_errors():
        _print_errors(broken)
    return config, {one.path: one.error for one in broken if one.error is not None}


def list_repositories(config_file: Path | None, *, start: Path | None = None) -> Sequence[RepositoryConfig]:
    """Return the repositories that are configured, if any, for work without a platform.

    Shape: `start` is the directory whose configuration applies, else the current one; a repository whose linked work
    tree is around it has the path of that. Raises: ConfigInvalid.
    """
    try:
        file = find_config_file(config_file, start=start)
    except NotARepository:  # a work tree without its repository can be read all the same
        file = find_config(os.environ, given=config_file)
    found = () if file is None else load_repositories(file, os.environ)
    return [one.model_copy(update={"path": find_other_tree(one.path, start=start) or one.path}) for one in found]


def require_config_file(config_file: Path | None) -> ConfigFile:
    """Return the configuration that applies in the current directory, or that `--config` names.

    Raises: ConfigInvalid when there is none.
    """
    file = find_config_file(config_file)
    if file is None:
        hint = "run syncd inside a repository made by syncd clone or bound by syncd init, or name --config FILE"
        raise ConfigInvalid("there is no configuration here", hint=hint)
    return file


def find_config_file(config_file: Path | None, *, is_job: bool = False, start: Path | None = None) -> ConfigFile | None:
    """Return the configuration that applies in the current directory, or that `--config` names; None where none does.

    Shape: `start` is another directory than the current one. In a CI job, a file in the checkout counts as part of the
    repository, even when the job names it or has its home directory there: whoever commits can change it.
    Raises: ConfigInvalid, NotARepository.
    """
    is_named = config_file is not None or bool(os.environ.get("SYNCD_CONFIG"))
    is_job = is_job or bool(os.environ.get("CI"))
    place = None if is_named and not is_job else discover_repository(start or Path.cwd())
    if place is None:
        return find_config(os.environ, given=config_file)
    file = find_config(os.environ, given=config_file, git_dir=place.common_dir, top=place.work_tree)
    if file is None or not is_job or file.origin != "operator" or place.work_tree is None:
        return file
    path = Path(os.path.abspath(file.path))
    inside = [one for one in (path, path.resolve()) if one.is_relative_to(place.work_tree)]
    is_committed = any(not one.is_relative_to(place.common_dir) for one in inside)
    return ConfigFile(path, "work tree", place.work_tree) if is_committed else file


def load_config_file(file: ConfigFile, *, url: str = "") -> Config:
    """Return the configuration that may be used, with the command line's platform where that is not "".

    Shape: a drop-in with a mistake is left out, and named on stderr.
    Raises: ConfigInvalid; NotTrusted, also for a file that a pull request from a fork brings into a CI job.
    """
    config, broken = load_config_parts(file, url=url)
    _print_errors(broken)
    return config


def _print_errors(broken: Sequence[DropIn]) -> None:
    for error in (one.error for one in broken if one.error is not None):
        print_error(error.what, error.hint, error.exit_code, as_json=has_json_errors())


def load_config_parts(file: ConfigFile, *, url: str = "") -> tuple[Config, tuple[DropIn, ...]]:
    """Return what may be used of a configuration file, and its drop-ins that have a mistake.

    Raises: ConfigInvalid; NotTrusted.
    """
    if file.origin == "work tree":
        from syncd.cli.terminal.ci_job import read_ci_job

        if read_ci_job(os.environ).is_fork:
            raise NotTrusted(
                f"this change comes from a fork, so {file.path} decides nothing",
                hint="name everything in the job: syncd push --ci --url URL --space SPACE=DIR\n"
                "syncd check and syncd site validate need neither platform nor token",
            )
    return load_with_drop_ins(file, os.environ, url=url)


def open_repository_here(repository: Path) -> Repository:
    """Return a configured repository open at its work tree around the current directory, else where it is configured.

    Raises: NotARepository.
    """
    return Repository.open(find_other_tree(repository) or repository)


def find_other_tree(repository: Path, *, start: Path | None = None) -> Path | None:
    """Return the work tree of a configured repository around the current directory, where that is not the configured
    one: a linked one, mostly.

    Shape: `start` is another directory than the current one.
    """
    with suppress(NotARepository):
        place, configured = discover_repository(start or Path.cwd()), find_repository(repository)
        if place is not None and place.common_dir == configured.common_dir and place.git_dir != configured.git_dir:
            return place.work_tree
    return None


def parse_force(words: Sequence[str]) -> dict[str, int]:
    """Return the approved number by scope of `SCOPE=NUMBER` words. Raises: BadParameter."""
    approved: dict[str, int] = {}
    for word in words:
        scope, _, number = word.partition("=")
        if (count := parse_count(number)) is None:
            raise typer.BadParameter(f"--force {word}: write SCOPE=NUMBER, as the refusal printed it")
        approved[scope] = count
    return approved


def parse_count(text: str) -> int | None:
    """Return the number that up to nine digits spell, or None; more than nine are no count of anything."""
    return int(text) if _COUNT.fullmatch(text) else None


def describe_absent_file(git: Repository, remote: str, path: str) -> str:
    """Say that there is no such file, and which one was probably meant, of HEAD and of main content."""
    from syncd.layout.lint.suggestions import NearMisses  # here, as only a mistake needs it

    commits = filter(None, (git.read_head().oid, git.resolve(f"refs/remotes/{remote}/main")))
    near = NearMisses(sorted({name for commit in commits for name in git.list_files(commit)})).find(path)
    return f"there is no {path}, neither in Git nor on the platform{f'; did you mean {near}?' if near else ''}"
