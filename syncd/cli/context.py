"""What most commands start with: find and load the configuration, and read what the flags say."""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import typer

from syncd.config import Config, find, load
from syncd.errors import NotARepository
from syncd.repo import Repository
from syncd.repo.place import find as find_place


def configuration(given: Path | None) -> Config:
    """Given `--config` or nothing, return the configuration that applies here.

    Raises: ConfigInvalid.
    """
    return load(find(os.environ, given=given, start=Path.cwd()))


def open_here(repository: Path) -> Repository:
    """Given a configured repository, return it open at its linked work tree around the current directory, if any.

    Raises: NotARepository.
    """
    here = Path.cwd()
    for directory in (here, *here.parents):
        if (directory / ".git").is_file():
            with suppress(NotARepository):
                if find_place(directory).common_dir == find_place(repository).common_dir:
                    return Repository.open(directory)
        if (directory / ".git").exists():
            break
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
