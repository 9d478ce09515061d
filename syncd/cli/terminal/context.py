"""What most commands start with: find and load the configuration, and read what the flags say."""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import typer

from syncd.cli.terminal.ci_service import service
from syncd.config import Config, ConfigFile, RepositoryConfig, find_config, load_config, load_repositories
from syncd.errors import ConfigInvalid, NotARepository, NotTrusted
from syncd.repo import Repository
from syncd.repo.location import discover_repository, find_repository


def configuration(given: Path | None) -> Config:
    """Given `--config` or nothing, return the configuration that applies here, as far as it counts.

    Raises: ConfigInvalid; NotTrusted.
    """
    return load_here(require_here(given))


def repositories(given: Path | None) -> Sequence[RepositoryConfig]:
    """Given `--config` or nothing, return the repositories that are configured, if any, for work without a platform.

    Raises: ConfigInvalid.
    """
    try:
        file = find_here(given)
    except NotARepository:  # a work tree without its repository can be looked at all the same
        file = find_config(os.environ, given=given)
    return () if file is None else load_repositories(file, os.environ)


def require_here(given: Path | None) -> ConfigFile:
    """Given `--config` or nothing, return the configuration that applies in the current directory.

    Raises: ConfigInvalid when there is none.
    """
    file = find_here(given)
    if file is None:
        hint = "run syncd inside a repository made by syncd clone or bound by syncd init, or name --config FILE"
        raise ConfigInvalid("there is no configuration here", hint=hint)
    return file


def find_here(given: Path | None, *, is_job: bool = False) -> ConfigFile | None:
    """Given `--config` or nothing, return the configuration that applies in the current directory, or None.

    Shape: in a CI job, what lies in the checkout is the word of whoever commits, also when the job names it, or has its
    home there.
    Raises: ConfigInvalid, NotARepository.
    """
    is_named = given is not None or bool(os.environ.get("SYNCD_CONFIG"))
    is_job = is_job or bool(os.environ.get("CI"))
    place = None if is_named and not is_job else discover_repository(Path.cwd())
    if place is None:
        return find_config(os.environ, given=given)
    file = find_config(os.environ, given=given, git_dir=place.common_dir, top=place.work_tree)
    if file is None or not is_job or file.origin != "operator" or place.work_tree is None:
        return file
    path = Path(os.path.abspath(file.path))
    inside = [one for one in (path, path.resolve()) if one.is_relative_to(place.work_tree)]
    is_committed = any(not one.is_relative_to(place.common_dir) for one in inside)
    return ConfigFile(path, "work tree", place.work_tree) if is_committed else file


def load_here(file: ConfigFile, *, url: str = "") -> Config:
    """Given a configuration and the platform of a command line, or "", return what counts of it.

    Raises: ConfigInvalid; NotTrusted, also for what a pull request of a stranger brings into a job.
    """
    if file.origin == "work tree" and service(os.environ).is_fork:
        raise NotTrusted(
            f"this change comes from a fork, so {file.path} decides nothing",
            hint="name everything in the job: syncd push --ci --url URL --space SPACE=DIR\n"
            "syncd check and syncd site validate need neither platform nor token",
        )
    return load_config(file, os.environ, url=url)


def open_here(repository: Path) -> Repository:
    """Given a configured repository, return it open at its linked work tree around the current directory, if any.

    Raises: NotARepository.
    """
    with suppress(NotARepository):
        place = discover_repository(Path.cwd())
        if place is not None and place.is_linked and place.common_dir == find_repository(repository).common_dir:
            return Repository.open(place.work_tree or place.git_dir)
    return Repository.open(repository)


def forced(words: Sequence[str]) -> dict[str, int]:
    """Given `SCOPE=NUMBER` words, return what a person approved."""
    approved: dict[str, int] = {}
    for word in words:
        scope, equals, number = word.partition("=")
        if not equals or not number.isdigit():
            raise typer.BadParameter(f"--force {word}: write SCOPE=NUMBER, as the refusal printed it")
        approved[scope] = int(number)
    return approved
