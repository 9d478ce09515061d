"""The files of a space: which ones of a tree belong to it, and how those of a commit are read."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from syncd.layout.lint.space import SpaceFile
from syncd.layout.tree.settings import SETTINGS_PATH
from syncd.repo.repository import Repository
from syncd.repo.values import Blob

_SPACE_FILES = ("SUMMARY.md", SETTINGS_PATH)


@dataclass(frozen=True)
class SpaceFiles:
    """One space: its directory below `top`, its files, and the path in it that was selected ("" is all).

    Shape: `id` is its id on the platform, "" where no configuration says it.
    """

    top: Path
    directory: str
    items: Mapping[str, SpaceFile]
    part: str = ""
    id: str = ""


def select_space(
    top: Path,
    directory: str,
    names: Iterable[str],
    read: Callable[[Sequence[str]], dict[str, SpaceFile]],
    part: str = "",
) -> SpaceFiles:
    """Return the space in a directory of a tree with these files; hidden files and folders are no content."""
    prefix = f"{directory}/" if directory else ""
    found = read([name for name in names if name.startswith(prefix) and is_content(name, len(prefix))])
    return SpaceFiles(top, directory, {name[len(prefix) :]: item for name, item in found.items()}, part)


def is_content(name: str, start: int) -> bool:
    """Return whether a file below a space is content: not hidden, but for the platform's own."""
    parts = name[start:].split("/")
    return all(not part.startswith(".") or part in (".gitbook", SETTINGS_PATH) for part in parts)


def find_space_directories(names: Iterable[str]) -> frozenset[str]:
    """Return the directories of a tree that hold a space: those with a table of contents, or settings."""
    found = (name.rpartition("/") for name in names if is_content(name, 0))
    return frozenset(directory for directory, _, name in found if name in _SPACE_FILES)


def select_files(listing: Mapping[str, Blob]) -> dict[str, str]:
    """Return the object of each file of a listing; symbolic links and submodules are no content."""
    return {name: blob.oid for name, blob in listing.items() if blob.mode.startswith("100")}


def read_items(repository: Repository, blobs: Mapping[str, str]) -> dict[str, SpaceFile]:
    """Return files by path, each with its size, from the object of each."""
    sizes = repository.read_sizes(blobs.values())
    return {name: SpaceFile(sizes[oid], partial(repository.read, oid), oid) for name, oid in blobs.items()}
