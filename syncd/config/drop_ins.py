"""Files in `conf.d/` beside the operator's `config.toml`: each adds repositories; a mistake in one spoils no other."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syncd.config.reading import parse, read_document, resolve_paths
from syncd.config.repository import RepositoryConfig
from syncd.errors import ConfigInvalid

MAIN, DIRECTORY = "config.toml", "conf.d"
SOME_REPOSITORY: Mapping[str, Any] = {"repository": [{"space": [{"id": "none"}]}]}
"""Stands for repositories where only the rest of a file is of interest."""
SOME_PLATFORM = {"url": "https://platform.invalid"}
"""Stands for a platform where only the rest of a file is of interest."""
ONE_PLACE = "give it all its spaces in one place"

Stamp = frozenset[tuple[str, int, int]]


@dataclass(frozen=True)
class DropIn:
    """A file of `conf.d/`: the repositories that it adds, or what is wrong with it."""

    path: Path
    repositories: tuple[RepositoryConfig, ...] = ()
    error: ConfigInvalid | None = None


def name_drop_in(path: Path) -> str:
    """Return the name of a drop-in in messages, such as `conf.d/api.toml`."""
    return f"{DIRECTORY}/{path.name}"


def list_drop_ins(path: Path) -> tuple[Path, ...]:
    """Return the drop-ins of a configuration, in the order of their names; only `config.toml` has any."""
    if path.name != MAIN:
        return ()
    try:
        files = sorted((path.parent / DIRECTORY).glob("*.toml"))
    except OSError:
        return ()
    return tuple(file for file in files if not file.name.startswith("."))


def read_drop_ins(path: Path, known: Iterable[RepositoryConfig]) -> Iterator[DropIn]:
    """Yield each drop-in of a configuration, whose own repositories are `known`; what is wrong with one is a value."""
    owners = dict.fromkeys((repository.path for repository in known), path)
    for file in list_drop_ins(path):
        try:
            repositories = _read_repositories(file, owners)
        except ConfigInvalid as error:
            yield DropIn(file, error=error)
        else:
            owners |= dict.fromkeys((repository.path for repository in repositories), file)
            yield DropIn(file, repositories)


def read_drop_in_stamp(path: Path) -> Stamp:
    """Return what tells the present drop-ins of a configuration from others: each file with its time and size."""
    stamps = []
    for file in list_drop_ins(path):
        try:
            found = file.stat()
        except OSError:
            continue  # that it is gone shows by its absence
        stamps.append((file.name, found.st_mtime_ns, found.st_size))
    return frozenset(stamps)


def _read_repositories(file: Path, owners: Mapping[Path, Path]) -> tuple[RepositoryConfig, ...]:
    raw = read_document(file).raw
    if foreign := sorted(raw.keys() - {"repository"}):
        hint = f"a file in {DIRECTORY} has [[repository]] tables alone"
        raise ConfigInvalid(f"{file}: {foreign[0]} - belongs into {file.parent.parent / MAIN}", hint=hint)
    repositories = resolve_paths(parse({**raw, "platform": SOME_PLATFORM}, at=file), file).repository
    for repository in repositories:
        if repository.path in owners:
            what = f"{file}: {repository.path} is configured in {owners[repository.path]}, too"
            raise ConfigInvalid(what, hint=ONE_PLACE)
    check_paths(repositories, file)
    return repositories


def check_paths(repositories: Iterable[RepositoryConfig], file: Path) -> None:
    """Check that a file configures no repository twice, however it spells the path. Raises: ConfigInvalid."""
    known: set[Path] = set()
    for repository in repositories:
        if repository.path in known:
            raise ConfigInvalid(f"{file}: {repository.path} is configured twice", hint=ONE_PLACE)
        known.add(repository.path)
