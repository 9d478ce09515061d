"""Where a repository is on disk: its git directory, what linked work trees share, and the work tree."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from syncd.errors import DENIED_HINT, NotARepository
from syncd.repo.failures import translate_system_failures

_POINTER_BYTES_MAX = 1 << 16
"""More than any path has."""


@dataclass(frozen=True, slots=True)
class RepositoryLocation:
    """The directories of a repository; `git_dir` and `common_dir` differ in a linked work tree only."""

    git_dir: Path
    common_dir: Path
    work_tree: Path | None

    @property
    def is_linked(self) -> bool:
        """Whether this is a linked work tree of another repository."""
        return self.git_dir != self.common_dir

    def make_own_directory(self) -> Path:
        """Make the directory where syncd keeps its own files of this work tree, and return it."""
        return _make_directory(self.git_dir / "syncd")

    def make_notes_directory(self) -> Path:
        """Make the directory of notes about locks, which all work trees share, and return it."""
        return _make_directory(_make_directory(self.common_dir / "syncd") / "locks")


def find_repository(path: Path) -> RepositoryLocation:
    """Return the directories of the repository at the top of a work tree, or of a bare one.

    Raises: NotARepository; also when it belongs to another user, whose configuration could run programs as this one.
    """
    with translate_system_failures(str(path)):
        place = _locate_work_tree(path.resolve()) or _locate_bare(path.resolve())
        if place is None:
            if path.is_dir():
                os.scandir(path).close()  # what cannot be read is told apart from what is not there
            if not os.path.lexists(path):
                hint = "move it back, or name the place where it is now"
                raise NotARepository(f"{path} is no Git repository: there is nothing of that name", hint=hint)
            hint = "name the repository's top directory, or git init there"
            raise NotARepository(f"{path} is no Git repository", hint=hint)
        for mine in {place.git_dir, place.common_dir, place.work_tree or place.git_dir}:
            if (owner := mine.stat().st_uid) not in _list_own_users():
                hint = "run syncd as the user who owns the repository"
                raise NotARepository(f"{mine} belongs to user {owner}", hint=hint)
    return place


def discover_repository(start: Path) -> RepositoryLocation | None:
    """Return the repository around a directory, or None; nothing in it is trusted yet.

    Shape: the nearest `.git` wins, however many directories below it look like bare repositories, since those can be
    committed; a bare one counts where no `.git` is above. Source: git-config(1), safe.bareRepository.
    Raises: NotARepository when a `.git` file leads nowhere, or a `.git` directory cannot be read.
    """
    here = start.resolve()
    with translate_system_failures(str(start)):
        for directory in (here, *here.parents):
            if directory.name == ".git" and _is_git_dir(directory):
                return RepositoryLocation(directory, directory, directory.parent)
            if (place := _locate_work_tree(directory)) is not None:
                return place
        return find_bare(here)


def find_bare(start: Path) -> RepositoryLocation | None:
    """Return what looks like a bare repository at a directory or the nearest one above it, or None."""
    here = start.resolve()
    return next((bare for directory in (here, *here.parents) if (bare := _locate_bare(directory)) is not None), None)


def _locate_work_tree(top: Path) -> RepositoryLocation | None:
    """The repository whose work tree begins here.

    Raises: NotARepository when a `.git` file leads nowhere, or a `.git` directory cannot be read.
    """
    inner = top / ".git"
    if os.path.isfile(inner):
        pointer = _read_line(inner)
        git_dir = (top / pointer.removeprefix("gitdir: ")).resolve()
        if not pointer.startswith("gitdir: ") or not _is_git_dir(git_dir):
            raise NotARepository(f"{inner} leads to no Git repository", hint="git worktree repair mends a link")
        return RepositoryLocation(git_dir, _common_dir(git_dir), top)
    if os.path.isdir(inner) and not os.access(inner, os.R_OK | os.X_OK):
        raise NotARepository(f"{inner} cannot be read: Permission denied", hint=DENIED_HINT)
    if _is_git_dir(inner):
        return RepositoryLocation(inner.resolve(), _common_dir(inner.resolve()), top)
    return None


def _locate_bare(directory: Path) -> RepositoryLocation | None:
    return RepositoryLocation(directory, directory, None) if _is_git_dir(directory) else None


def _is_git_dir(path: Path) -> bool:
    """Whether Git takes a directory for a git directory. Source: git, setup.c, is_git_directory."""
    head, common = path / "HEAD", _common_dir(path)
    is_headed = os.path.isfile(head) or os.path.islink(head)
    return is_headed and os.path.isdir(common / "objects") and os.path.isdir(common / "refs")


def _common_dir(git_dir: Path) -> Path:
    pointer = git_dir / "commondir"
    return (git_dir / _read_line(pointer)).resolve() if os.path.isfile(pointer) else git_dir


def _read_line(path: Path) -> str:
    with path.open("rb") as file:
        return os.fsdecode(file.read(_POINTER_BYTES_MAX)).rstrip("\r\n")


def _list_own_users() -> Sequence[int]:
    user = os.geteuid()
    behind_sudo = os.environ.get("SUDO_UID", "")
    return (user, int(behind_sudo)) if user == 0 and behind_sudo.isdigit() else (user,)


def _make_directory(directory: Path) -> Path:
    directory.mkdir(mode=0o700, exist_ok=True)
    return directory
