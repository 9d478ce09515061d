"""The clones of one worker: bare, made when they are needed, and removed when they were not used for longest."""

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from syncd.daemon.locks import RUN_LOCK, FileLock
from syncd.errors import SyncdError
from syncd.repo.failures import translate_system_failures
from syncd.repo.read.kept_answers import KeptAnswers, KeptListing
from syncd.repo.repository import Repository

_REMOVED = ".gone-"


@dataclass(frozen=True)
class CloneAnswers:
    """What Git said of one clone in its last run: to the run itself, and to what exchanges its state around it."""

    run: KeptAnswers = field(default_factory=KeptAnswers)
    state: KeptAnswers = field(default_factory=KeptAnswers)
    refs: KeptListing = field(default_factory=KeptListing)


class Cache:
    """The directory of a worker's clones, which no other worker uses; a context manager."""

    def __init__(self, directory: Path, *, bytes_max: int) -> None:
        """Take a directory for clones that have `bytes_max` bytes together, the one in use excepted.

        Raises: AnotherRuns when another worker has it; NotARepository, DiskFull.
        """
        self.directory, self._bytes_max = directory, bytes_max
        with translate_system_failures(f"making {directory}"):
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = FileLock.acquire(directory / "worker" / "lock")
        self._names_in_use: list[str] = []
        self._answers: dict[str, CloneAnswers] = {}
        self._use_lock = threading.Lock()
        """Guards `_names_in_use`; nobody begins to use a clone while another thread removes it."""
        for left in directory.glob(f"{_REMOVED}*"):
            shutil.rmtree(left, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()

    @contextmanager
    def hold_clone(self, name: str, branch: str) -> Iterator[Path]:
        """Keep the clone of a repository from being removed within the block, which gets its path.

        Shape: it is empty where there was none; `branch` is what its HEAD names.
        """
        with self._use_lock:
            self._names_in_use.append(name)
        try:
            yield self._prepare_clone(name, branch)
        finally:
            with self._use_lock:
                self._names_in_use.remove(name)

    def _prepare_clone(self, name: str, branch: str) -> Path:
        path = self.find_clone(name)
        # A run has ended here, so it is whole; to see that, Git would have to be started each time.
        if not (self._find_note(name).is_file() and (path / "HEAD").is_file()):
            Repository.create(path, branch=branch, bare=True).close()
        return path

    def find_clone(self, name: str) -> Path:
        """Return where the clone of a repository is, or would be."""
        return self.directory / f"{name}.git"

    def find_answers(self, name: str) -> CloneAnswers:
        """Return the answers about a clone that is held, for the one run that has its lock."""
        with self._use_lock:
            return self._answers.setdefault(name, CloneAnswers())

    def note_use(self, name: str) -> None:
        """Note that a clone was used now, and how large it is, then remove others where all are too large.

        Shape: it is tidiness; what cannot be noted or removed now is tried again after the next run.
        """
        with suppress(OSError):
            self._find_note(name).write_text(f"{_measure(self.find_clone(name))}\n")
        found = self._list_clones()
        total = sum(size for _, _, size in found)
        for _, other, size in sorted(found):
            if total <= self._bytes_max:
                return
            if other != name and self._remove(other):
                total -= size

    def count(self) -> tuple[int, int]:
        """Return how many clones there are, and their bytes as last noted."""
        found = self._list_clones()
        return len(found), sum(size for _, _, size in found)

    def _list_clones(self) -> list[tuple[float, str, int]]:
        """When each clone was last used, its name and its bytes."""
        found = []
        for path in self.directory.glob("*.git"):
            note = self._find_note(path.stem)
            try:
                found.append((note.stat().st_mtime, path.stem, int(note.read_text())))
            except (OSError, ValueError):
                found.append((0.0, path.stem, 0))
        return found

    def _find_note(self, name: str) -> Path:
        return self.directory / f"{name}.size"

    def _remove(self, name: str) -> bool:
        """Remove a clone that no run uses, and return whether it is gone."""
        path, gone = self.find_clone(name), self.directory / f"{_REMOVED}{name}"
        with self._use_lock:
            if name in self._names_in_use:
                return False
            try:
                with FileLock.acquire(path / RUN_LOCK):
                    path.rename(gone)
            except (SyncdError, OSError):
                return False
            self._find_note(name).unlink(missing_ok=True)
            self._answers.pop(name, None)
        shutil.rmtree(gone, ignore_errors=True)
        return True


def _measure(directory: Path) -> int:
    """The bytes of all files below a directory; what goes meanwhile does not count."""
    total = 0
    for above, _, names in os.walk(directory):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(above, name)).st_blocks * 512
    return total
