"""The files that `check` reads: the spaces of a work tree, of the index, or of a commit."""

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from syncd.cli.terminal.context import list_repositories
from syncd.errors import ConfigInvalid, GitFailed, NotARepository
from syncd.layout.lint.space import SpaceFile
from syncd.layout.tree.built_sites import omit_built_sites
from syncd.repo.repository import Repository
from syncd.sync.publish.source import (
    SpaceFiles,
    find_space_directories,
    is_content,
    read_items,
    select_files,
    select_space,
)

_PRUNED = frozenset({"node_modules", "bower_components", "site-packages", "__pycache__"})


@dataclass(frozen=True)
class CheckOptions:
    """What a person typed behind `check`: paths, a configuration, and whether the index or a commit is checked.

    Shape: `start` is the directory whose configuration counts without paths, else the current one.
    """

    paths: Sequence[str]
    config: Path | None = None
    staged: bool = False
    commit: str = ""
    start: Path | None = None


@dataclass(frozen=True)
class _FileTree:
    """The paths of all files below one directory; `read_items` reads some of them.

    Shape: `space_directories` are the directories that hold a space.
    """

    top: Path
    names: frozenset[str]
    read_items: Callable[[Sequence[str]], dict[str, SpaceFile]]
    space_directories: frozenset[str] = field(default=frozenset())

    def read_space(self, directory: str, part: str = "") -> SpaceFiles:
        """Return the space in a directory; hidden files and folders are no content."""
        return select_space(self.top, directory, self.names, self.read_items, part)

    def has_path(self, path: str) -> bool:
        """Return whether a path is a file, or a folder that holds one."""
        return path == "." or path in self.names or any(_lies_in(name, path) for name in self.names)

    def find_spaces(self, path: str) -> Iterator[SpaceFiles]:
        """Return the spaces below a path, else the space that the path lies in, else the path itself as a space.

        Raises: ConfigInvalid when there is nothing at the path.
        """
        prefix = f"{path}/" if path else ""
        below = {inner for inner in self.space_directories if inner == path or inner.startswith(prefix)}
        if path not in self.names and below:
            for inner in sorted(below):
                if not any(inner != other and _lies_in(inner, other) for other in below):
                    yield self.read_space(inner)
            return
        if path and not self.has_path(path):
            raise ConfigInvalid(f"there is nothing at {self.top / path}")
        here = path
        while here:
            here = here.rpartition("/")[0]
            if here in self.space_directories:
                yield self.read_space(here, path[len(here) + bool(here) :])
                return
        folder = path.rpartition("/")[0] if path in self.names else path
        yield self.read_space(folder, path[len(folder) + bool(folder) :])


def _lies_in(path: str, directory: str) -> bool:
    return not directory or path.startswith(f"{directory}/")


def find_spaces(options: CheckOptions, stack: ExitStack) -> list[SpaceFiles]:
    """Return the spaces that the options select; `stack` closes the repositories that they are read from.

    Raises: ConfigInvalid when a path or commit does not exist.
    """
    configured = [] if options.paths else _list_configured(options)
    if configured:
        found = []
        for top, ids in configured:
            tree = _open_tree(top, options, stack)
            found += [replace(tree.read_space(directory), id=id) for directory, id in ids.items()]
        return found
    found = []
    for word in options.paths or (str(options.start or "."),):
        path = Path(word).absolute()
        if not os.path.lexists(path) and not (options.staged or options.commit):
            raise ConfigInvalid(f"there is nothing at {word}", hint="name a directory in Git Sync layout")
        directory = path if path.is_dir() else path.parent
        tree = _open_tree(_find_top(directory) or directory, options, stack)
        inner = os.path.relpath(path, tree.top).replace(os.sep, "/")
        if not tree.has_path(inner) and not (options.staged or options.commit):
            # Git ignores it, but the person named it.
            tree = _build_disk_tree(directory, _walk_files(directory))
            inner = os.path.relpath(path, directory)
        found += tree.find_spaces("" if inner == "." else inner)
    return found


def _list_configured(options: CheckOptions) -> list[tuple[Path, dict[str, str]]]:
    """The repositories of the configuration that applies here, with the ids of their spaces by directory."""
    repositories = list_repositories(options.config, start=options.start)
    return [(one.path, {space.directory: space.id for space in one.space}) for one in repositories]


def _find_top(path: Path) -> Path | None:
    """The top of the work tree around a path."""
    resolved = Path(os.path.abspath(path))
    return next((here for here in (resolved, *resolved.parents) if (here / ".git").exists()), None)


def _open_tree(top: Path, options: CheckOptions, stack: ExitStack) -> _FileTree:
    try:
        repository = stack.enter_context(Repository.open(top))
    except (NotARepository, GitFailed):
        if options.staged or options.commit:
            raise
        return _build_disk_tree(top, _walk_files(top))
    if options.staged or options.commit:
        return _build_git_tree(top, repository, options)
    return _build_disk_tree(top, repository.list_tracked())


def _build_tree(top: Path, names: Sequence[str], items: Callable[[Sequence[str]], dict[str, SpaceFile]]) -> _FileTree:
    known = frozenset(omit_built_sites(names))
    return _FileTree(top, known, items, find_space_directories(known))


def _build_disk_tree(top: Path, names: Sequence[str]) -> _FileTree:
    def items(paths: Sequence[str]) -> dict[str, SpaceFile]:
        found = {}
        for name in paths:
            path = top / name
            try:
                status = path.lstat()
            except OSError:  # tracked, but deleted in the work tree
                continue
            if stat.S_ISREG(status.st_mode):
                found[name] = SpaceFile(status.st_size, path.read_bytes)
        return found

    return _build_tree(top, names, items)


def _walk_files(top: Path) -> list[str]:
    """The files below a directory that is in no repository; hidden folders but the platform's are left out."""
    found = []
    for directory, folders, names in os.walk(top):
        folders[:] = [name for name in folders if name not in _PRUNED and is_content(name, 0)]
        here = os.path.relpath(directory, top).replace(os.sep, "/")
        found += [name if here == "." else f"{here}/{name}" for name in names]
    return found


def _build_git_tree(top: Path, repository: Repository, options: CheckOptions) -> _FileTree:
    """The files of the index, or of a commit; symbolic links are no content."""
    if options.staged:
        # `git commit --all` and `git commit FILE` make an index of their own, and name it to the hooks.
        index = os.environ.get("GIT_INDEX_FILE")
        listing = repository.list_staged(Path(os.path.abspath(index)) if index else None)
    else:
        commit = repository.find_revision(options.commit)
        if commit is None:
            raise ConfigInvalid(f"there is no commit {options.commit[:80]}", hint="git log lists commits")
        listing = repository.list_files(commit)
    blobs = select_files(listing)

    def items(paths: Sequence[str]) -> dict[str, SpaceFile]:
        return read_items(repository, {name: blobs[name] for name in paths})

    return _build_tree(top, list(blobs), items)
