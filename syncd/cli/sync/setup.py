"""What `clone` and `init` share: a configuration that is written once, and taken up again after a crash."""

import json
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from syncd.api.client import Client
from syncd.cli.sync.space_ids import read_space_word
from syncd.cli.terminal.context import load_here
from syncd.config import (
    Config,
    ConfigFile,
    PlatformConfig,
    RepositoryConfig,
    SpaceConfig,
    make_document,
    token,
    trust_document,
)
from syncd.daemon.workplace import now
from syncd.errors import ConfigInvalid
from syncd.layout.tree.paths import slugify

Wanted = Sequence[tuple[str, str]]
"""Spaces, each with the directory that it is to have, or ""."""
WAYS_TO_GIVE_ONE = "name its file with --token-file FILE, or set the variable SYNCD_TOKEN"


@dataclass(frozen=True)
class Setup:
    """What a configuration is to say, and where it goes; `path` is the repository as the configuration names it.

    Shape: `file` lies in a git directory and is reached by no link.
    """

    file: Path
    platform: PlatformConfig
    wanted: Wanted
    branch: str
    path: str = "."


def platform_of(url: str, token_file: Path | None, *, insecure: bool) -> PlatformConfig:
    """Given what a command line says of a platform, return its configuration."""
    return PlatformConfig(url=url, token_file=token_file.absolute() if token_file else None, insecure=insecure)


def wanted_of(words: Sequence[str]) -> Wanted:
    """Given `SPACE[=DIR]` words, return the spaces with their directories."""
    wanted = [read_space_word(word) for word in words]
    if len(wanted) > 1 and not all(inner for _, inner in wanted):
        raise typer.BadParameter("with several spaces each needs its directory: SPACE=DIR")
    return wanted


def taken_up(setup: Setup, *, hint: str = "") -> Config | None:
    """Given a setup, return the configuration that an earlier run wrote for the same things; None when there is none.

    Raises: ConfigInvalid when it was written for something else; NotTrusted when no run of this user wrote it.
    """
    if not os.path.lexists(setup.file):
        return None
    config = load_here(ConfigFile(setup.file, "git directory"))
    spaces = [(space.id, space.directory) for space in config.repository[0].space]
    asked = [(space, inner.strip("./")) for space, inner in setup.wanted]
    if config.platform.url != setup.platform.url or spaces != asked:
        raise ConfigInvalid(f"{setup.file} is the configuration of something else", hint=hint)
    return config


def drafted(setup: Setup) -> RepositoryConfig:
    """Given a setup, return the configuration of its repository, once the platform has said that the spaces exist."""
    secret = token(setup.platform, os.environ, hint=WAYS_TO_GIVE_ONE).get_secret_value()
    with Client(setup.platform.url, secret, insecure=setup.platform.insecure) as client:
        titles = [client.spaces.get(space).title for space, _ in setup.wanted]
    spaces = [
        SpaceConfig(id=space, directory=inner or ".", name=name)
        for (space, inner), name in zip(setup.wanted, _names(setup.wanted, titles), strict=True)
    ]
    return RepositoryConfig(space=tuple(spaces), branches=(setup.branch,), instance=secrets.token_hex(3))


def written(setup: Setup, repository: RepositoryConfig) -> Config:
    """Given a setup and its repository, write the configuration, whole or not at all, and return it."""
    file = ConfigFile(setup.file, "git directory")
    data = _rendered(setup, repository).encode()
    # First, so that what is written is never a stranger's: a run that dies in between left a record of nothing.
    trust_document(file, make_document(setup.file, data), os.environ, at=now().isoformat())
    aside = setup.file.with_name(f"{setup.file.name}.new")
    with aside.open("wb") as out:
        out.write(data)
        out.flush()
        os.fsync(out.fileno())
    aside.replace(setup.file)
    return load_here(file)


def _names(wanted: Wanted, titles: Sequence[str]) -> list[str]:
    names: list[str] = []
    for (_, inner), title in zip(wanted, titles, strict=True):
        name = slugify(inner.rstrip("/").rsplit("/", 1)[-1]) if inner.strip("./") else slugify(title)
        name = name[:40]
        names.append(f"{name}-{len(names) + 1}" if name in names else name)
    return names


def _rendered(setup: Setup, repository: RepositoryConfig) -> str:
    platform = setup.platform
    lines = ["# Made by syncd. To see every key explained: syncd example config", "", "[platform]"]
    lines.append(f"url = {_quoted(platform.url)}")
    if platform.token_file is not None:
        lines.append(f"token_file = {_quoted(str(platform.token_file))}")
    if platform.insecure:
        lines.append("insecure = true")
    lines += ["", "[[repository]]"]
    if setup.path != ".":
        lines.append(f"path = {_quoted(setup.path)}")
    lines += [f"branches = [{_quoted(setup.branch)}]", f'instance = "{repository.instance}"']
    for space in repository.space:
        lines += ["", "[[repository.space]]", f"id = {_quoted(space.id)}"]
        lines += [f"directory = {_quoted(space.directory or '.')}", f"name = {_quoted(space.name)}"]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """A basic string of TOML, which is a string of JSON but for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
