"""What most commands start with: find and load the configuration, and read what the flags say."""

import os
from collections.abc import Sequence
from pathlib import Path

import typer

from syncd.config import Config, find, load


def configuration(given: Path | None) -> Config:
    """Given `--config` or nothing, return the configuration that applies here.

    Raises: ConfigInvalid.
    """
    return load(find(os.environ, given=given, start=Path.cwd()))


def forced(words: Sequence[str]) -> dict[str, int]:
    """Given `SCOPE=NUMBER` words, return what a person approved."""
    approved: dict[str, int] = {}
    for word in words:
        scope, equals, number = word.partition("=")
        if not equals or not number.isdigit():
            raise typer.BadParameter(f"--force {word}: write SCOPE=NUMBER, as the refusal printed it")
        approved[scope] = int(number)
    return approved
