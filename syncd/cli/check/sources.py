"""What `check` looks at: the spaces of a work tree, of its index, or of a commit."""

import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from syncd.cli.terminal.context import repositories
from syncd.errors import ConfigInvalid, GitFailed, NotARepository
from syncd.layout.lint.space import Item
from syncd.layout.tree.settings import PATH as SETTINGS
from syncd.repo import Repository

_SPACE_FILES = ("SUMMARY.md", SETTINGS)
_PRUNED = frozenset({"node_modules", "bower_components", "site-packages", "__pycache__"})


@dataclass(frozen=True)
class Checked:
    """One space to check: where it lies, its files, and the part of it (below the space) that was asked for."""

    top: Path
    directory: str
    items: Mapping[str, Item]
    part: str = ""


@dataclass(frozen=True)
class Asked:
    """What a person wants checked: paths, a configuration, and the state of Git instead of the work tree."""

    paths: Sequence[str]
    config: Path | None = None
    staged: bool = False
    commit: str = ""


@dataclass(frozen=True)
class _Tree:
    """All files below one directory, by path from there; `items` reads some of them."""

    top: Path
    names: frozenset[str]
    items: Callable[[Sequence[str]], dict[str, Item]]
    homes: frozenset[str] = field(default=frozenset())

    def space(self, directory: str, part: str = "") -> Checked:
        """Given a space's directory, return the space; files and folders that are hidden are no content."""
        prefix = f"{directory}/" if directory else ""
        found = self.items([name for name in self.names if name.startswith(prefix) and _is_content(name, len(prefix))])
        return Checked(self.top, directory, {name[len(prefix) :]: item for name, item in found.items()}, part)

    def holds(self, path: str) -> bool:
        """Given a path, return whether it is a file, or a folder of one."""
        return path == "." or path in self.names or any(_lies_in(name, path) for name in self.names)

    def around(self, path: str) -> Iterator[Checked]:
        """Given a path, return the spaces below it, else the space that it lies in, else itself as a space."""
        prefix = f"{path}/" if path else ""
        below = {home for home in self.homes if home == path or home.startswith(prefix)}
        if path not in self.names and below:
            for home in sorted(below):
                if not any(home != other and _lies_in(home, other) for other in below):
                    yield self.space(home)
            return
        if path and not self.holds(path):
            raise ConfigInvalid(f"there is nothing at {self.top / path}")
        here = path
        while here:
            here = here.rpartition("/")[0]
            if here in self.homes:
                yield self.space(here, path[len(here) + bool(here) :])
                return
        folder = path.rpartition("/")[0] if path in self.names else path
        yield self.space(folder, path[len(folder) + bool(folder) :])


def _lies_in(path: str, directory: str) -> bool:
    return not directory or path.startswith(f"{directory}/")


def _is_content(name: str, start: int) -> bool:
    """Whether a file below a space is content: not hidden, but for the platform's own."""
    parts = name[start:].split("/")
    return all(not part.startswith(".") or part in (".gitbook", SETTINGS) for part in parts)


def sources(asked: Asked, held: ExitStack) -> list[Checked]:
    """Given what a person wants checked, return the spaces; `held` closes what they are read from.

    Raises: ConfigInvalid when a path or commit does not exist.
    """
    configured = [] if asked.paths else _configured(asked.config)
    if configured:
        found = []
        for top, directories in configured:
            tree = _tree(top, asked, held)
            found += [tree.space(directory) for directory in directories]
        return found
    found = []
    for word in asked.paths or (".",):
        path = Path(word).absolute()
        if not os.path.lexists(path) and not (asked.staged or asked.commit):
            raise ConfigInvalid(f"there is nothing at {word}", hint="name a directory in Git Sync layout")
        around = path if path.is_dir() else path.parent
        tree = _tree(_top(around) or around, asked, held)
        inner = os.path.relpath(path, tree.top).replace(os.sep, "/")
        if not tree.holds(inner) and not (asked.staged or asked.commit):  # Git ignores it, and yet it was asked for
            tree = _on_disk(around, _walked(around))
            inner = os.path.relpath(path, around)
        found += tree.around("" if inner == "." else inner)
    return found


def _configured(given: Path | None) -> list[tuple[Path, list[str]]]:
    """The repositories of the configuration that applies here, with the directories of their spaces."""
    return [(one.path, [space.directory for space in one.space]) for one in repositories(given)]


def _top(path: Path) -> Path | None:
    """The top of the work tree around a path."""
    resolved = Path(os.path.abspath(path))
    return next((here for here in (resolved, *resolved.parents) if (here / ".git").exists()), None)


def _tree(top: Path, asked: Asked, held: ExitStack) -> _Tree:
    try:
        repository = held.enter_context(Repository.open(top))
    except (NotARepository, GitFailed):
        if asked.staged or asked.commit:
            raise
        return _on_disk(top, _walked(top))
    if asked.staged or asked.commit:
        return _in_git(top, repository, asked)
    return _on_disk(top, repository.list_tracked())


def _made(top: Path, names: Sequence[str], items: Callable[[Sequence[str]], dict[str, Item]]) -> _Tree:
    known = frozenset(names)
    homes = frozenset(
        name.rpartition("/")[0] for name in known if name.rpartition("/")[2] in _SPACE_FILES and _is_content(name, 0)
    )
    return _Tree(top, known, items, homes)


def _on_disk(top: Path, names: Sequence[str]) -> _Tree:
    def items(wanted: Sequence[str]) -> dict[str, Item]:
        found = {}
        for name in wanted:
            path = top / name
            try:
                status = path.lstat()
            except OSError:  # tracked, but deleted in the work tree
                continue
            if stat.S_ISREG(status.st_mode):
                found[name] = Item(status.st_size, path.read_bytes)
        return found

    return _made(top, names, items)


def _walked(top: Path) -> list[str]:
    """The files below a directory that no Git knows; hidden folders but the platform's are not entered."""
    found = []
    for directory, folders, names in os.walk(top):
        folders[:] = [name for name in folders if name not in _PRUNED and _is_content(name, 0)]
        here = os.path.relpath(directory, top).replace(os.sep, "/")
        found += [name if here == "." else f"{here}/{name}" for name in names]
    return found


def _in_git(top: Path, repository: Repository, asked: Asked) -> _Tree:
    """The files of the index, or of a commit; symbolic links are no content."""
    if asked.staged:
        listing = repository.list_staged()
    else:
        commit = repository.find_revision(asked.commit)
        if commit is None:
            raise ConfigInvalid(f"there is no commit {asked.commit[:80]}", hint="git log lists commits")
        listing = repository.list_files(commit)
    blobs = {name: blob.oid for name, blob in listing.items() if blob.mode.startswith("100")}

    def items(wanted: Sequence[str]) -> dict[str, Item]:
        sizes = repository.read_sizes(blobs[name] for name in wanted)
        return {name: Item(sizes[oid], _reader(repository, oid), oid) for name in wanted if (oid := blobs[name])}

    return _made(top, list(blobs), items)


def _reader(repository: Repository, oid: str) -> Callable[[], bytes]:
    return lambda: repository.read(oid)
