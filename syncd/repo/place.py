"""Where a repository is on disk: its git directory, what linked work trees share, and the work tree."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from syncd.errors import NotARepository
from syncd.repo.failures import system_failures


@dataclass(frozen=True, slots=True)
class Place:
    """The directories of a repository; `git_dir` and `common_dir` differ in a linked work tree only."""

    git_dir: Path
    common_dir: Path
    work_tree: Path | None

    @property
    def is_linked(self) -> bool:
        """Whether this is a linked work tree of another repository."""
        return self.git_dir != self.common_dir

    def own(self) -> Path:
        """Return the directory where syncd keeps its own things of this work tree."""
        return _made(self.git_dir / "syncd")

    def notes(self) -> Path:
        """Return the directory of notes about locks; work trees share it as they share refs."""
        return _made(_made(self.common_dir / "syncd") / "locks")


def find(path: Path) -> Place:
    """Given the top of a work tree, or a bare repository, return its place.

    Raises: NotARepository; also when it belongs to someone else, whose configuration could run programs as us.
    """
    with system_failures(str(path)):
        git_dir, work_tree = _looked_up(path.resolve())
        pointer = git_dir / "commondir"
        common_dir = (git_dir / _line(pointer)).resolve() if pointer.is_file() else git_dir
        owner = common_dir.stat().st_uid
    if owner not in _ourselves():
        raise NotARepository(f"{path} belongs to user {owner}", hint="run syncd as the user who owns the repository")
    return Place(git_dir, common_dir, work_tree)


def _looked_up(path: Path) -> tuple[Path, Path | None]:
    inner = path / ".git"
    if inner.is_dir():
        return inner.resolve(), path
    if inner.is_file() and (pointer := _line(inner)).startswith("gitdir: "):
        return (path / pointer.removeprefix("gitdir: ")).resolve(), path
    if (path / "HEAD").is_file() and (path / "objects").is_dir():
        return path, None
    raise NotARepository(f"{path} is no Git repository", hint="name the repository's top directory, or git init there")


def _line(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="surrogateescape").rstrip("\r\n")


def _ourselves() -> Sequence[int]:
    user = os.geteuid()
    behind_sudo = os.environ.get("SUDO_UID", "")
    return (user, int(behind_sudo)) if user == 0 and behind_sudo.isdigit() else (user,)


def _made(directory: Path) -> Path:
    directory.mkdir(mode=0o700, exist_ok=True)
    return directory
