"""What `clone` and `init` share: a configuration that is written once, and resumed after a crash."""

import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syncd.api.client import Client
from syncd.cli.terminal.context import load_config_file
from syncd.cli.terminal.progress import make_client_options
from syncd.config import (
    Config,
    ConfigFile,
    PlatformConfig,
    RepositoryConfig,
    SpaceConfig,
    load_token,
    make_document,
    trust_document,
)
from syncd.config.writing import render_toml
from syncd.daemon.workspaces import read_time
from syncd.errors import ConfigInvalid, NotFound
from syncd.layout.tree.paths import slugify

SpaceDirectories = Sequence[tuple[str, str]]
"""Ids of spaces, each with its directory in the repository, or ""."""
SPACE_HINT = "take the address of the space from your browser; its id stands there after /s/"
CREDENTIAL_HINT = (
    "name its file with --token-file FILE, or set the variable SYNCD_TOKEN\nor save one: syncd auth login URL"
)


@dataclass(frozen=True)
class Setup:
    """The contents of a new configuration, and its file; `path` is the repository as the configuration names it.

    Shape: `file` lies in a git directory and is reached by no link.
    """

    file: Path
    platform: PlatformConfig
    spaces: SpaceDirectories
    branch: str
    path: str = "."


def find_absolute_path(path: Path) -> Path:
    """Return a path from the root, without `..`: what that leads to is found as the system does, through links."""
    return path.resolve() if ".." in path.parts else path.absolute()


def build_platform(url: str, token_file: Path | None, *, insecure: bool) -> PlatformConfig:
    """Return the configuration of the platform that a command line names."""
    return PlatformConfig(url=url, token_file=find_absolute_path(token_file) if token_file else None, insecure=insecure)


def resume_setup(setup: Setup, *, hint: str = "") -> Config | None:
    """Return the configuration that an earlier run wrote for the same platform and spaces; None when there is none.

    Raises: ConfigInvalid when it names another platform or other spaces; NotTrusted when no run of this user wrote it.
    """
    if not os.path.lexists(setup.file):
        return None
    config = load_config_file(ConfigFile(setup.file, "git directory"))
    spaces = [(space.id, space.directory) for space in config.repository[0].space]
    if config.platform.url != setup.platform.url or spaces != list(setup.spaces):
        raise ConfigInvalid(f"{setup.file} is the configuration of something else", hint=hint)
    return config


def draft_repository(setup: Setup) -> RepositoryConfig:
    """Return the configuration of a new repository; the platform is asked whether the spaces exist.

    Raises: PlatformError, Unauthorized.
    """
    secret = load_token(setup.platform, os.environ, hint=CREDENTIAL_HINT).get_secret_value()
    with Client(setup.platform.url, secret, make_client_options(setup.platform)) as client:
        titles = [_read_title(client, space) for space, _ in setup.spaces]
    spaces = [
        SpaceConfig(id=space, directory=directory or ".", name=name)
        for (space, directory), name in zip(setup.spaces, _choose_names(setup.spaces, titles), strict=True)
    ]
    return RepositoryConfig(space=tuple(spaces), branches=(setup.branch,), instance=secrets.token_hex(3))


def _read_title(client: Client, space: str) -> str:
    """The title of a space. Raises: NotFound with how its id is found."""
    try:
        return client.spaces.get(space).title
    except NotFound as error:
        raise NotFound(error.what, status=error.status, hint=SPACE_HINT) from error


def write_configuration(setup: Setup, repository: RepositoryConfig) -> Config:
    """Write the configuration, whole or not at all, and return it."""
    file = ConfigFile(setup.file, "git directory")
    data = _render_configuration(setup, repository).encode()
    # Trust comes first: the file is trusted as soon as it exists, and after a crash in between the record is unused.
    trust_document(file, make_document(setup.file, data), os.environ, at=read_time().isoformat())
    new_file = setup.file.with_name(f"{setup.file.name}.new")
    with new_file.open("wb") as out:
        out.write(data)
        out.flush()
        os.fsync(out.fileno())
    new_file.replace(setup.file)
    return load_config_file(file)


def _choose_names(spaces: SpaceDirectories, titles: Sequence[str]) -> list[str]:
    names: list[str] = []
    for (_, directory), title in zip(spaces, titles, strict=True):
        name = slugify(directory.rstrip("/").rsplit("/", 1)[-1]) if directory.strip("./") else slugify(title)
        name = name[:40]
        names.append(f"{name}-{len(names) + 1}" if name in names else name)
    return names


def _render_configuration(setup: Setup, repository: RepositoryConfig) -> str:
    platform: dict[str, Any] = {"url": setup.platform.url}
    if setup.platform.token_file is not None:
        platform["token_file"] = str(setup.platform.token_file)
    if setup.platform.insecure:
        platform["insecure"] = True
    spaces = [{"id": one.id, "directory": one.directory or ".", "name": one.name} for one in repository.space]
    path = {"path": setup.path} if setup.path != "." else {}
    table = {**path, "branches": [setup.branch], "instance": repository.instance, "space": spaces}
    text = render_toml({"platform": platform, "repository": [table]})
    return f"# Made by syncd. To see every key explained: syncd example config\n\n{text}"
