"""One syncd at a time: an advisory lock on a file, which the kernel takes back from a process that dies."""

import fcntl
import os
import threading
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal, Self

from syncd.errors import (
    DENIED_HINT,
    NO_SPACE,
    AnotherRuns,
    ConfigInvalid,
    DiskFull,
    NotARepository,
    SyncdError,
    make_disk_full,
)

SERVICE_LOCK = "syncd/daemon.lock"
"""Below a repository's git directory: held by the service that has the repository."""
RUN_LOCK = "syncd/run.lock"
"""Below a repository's git directory: held during one run of the flows, by the service or by a person."""
WAKE_FILE = "syncd/wake"
"""Below a repository's git directory: a command touches it so that the service looks at once."""
STATE_FILE = "syncd/state.db"
"""Below a repository's git directory: what neither side remembers; its directory comes with the run lock."""
UNKNOWN: Final = "unknown"
"""Stands for the holder of a lock whose file this user may not read: there may be one, or none."""
_RELEASE_SECONDS = 1.0
_POLL_SECONDS = 0.005
_GRACE_SECONDS = 0.05
"""Seconds that everybody waits: `find_holder`, which only looks, holds the lock for a moment, too."""


class FileLock:
    """A lock that is held; a context manager that gives it back. The file stays: removing it would be a race."""

    def __init__(self, path: Path, descriptor: int) -> None:
        """Own a file and the descriptor that holds its lock; `acquire` is the way to come by one."""
        self.path = path
        self._descriptor: int | None = descriptor

    @classmethod
    def acquire(
        cls,
        path: Path,
        *,
        wait: float = 0,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> Self:
        """Return the lock of a file; another holder is waited for so long, then refused by name.

        Units: seconds. Raises: AnotherRuns, NotARepository when the lock cannot live there, DiskFull.
        """
        descriptor = _open_file(path)
        deadline = clock() + max(wait, _GRACE_SECONDS)
        try:
            while not _try_lock(descriptor, path):
                if clock() >= deadline:
                    pid = _read_pid(descriptor)
                    named = f"another syncd (process {pid})" if pid else "another syncd"
                    hint = "try again when it has ended; syncd stop ends a service"
                    raise AnotherRuns(f"{named} works on {path.parent.parent}", hint=hint)
                sleep(_POLL_SECONDS)
            _write_pid(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        return cls(path, descriptor)

    def is_current(self) -> bool:
        """Return whether the lock's file is still where it was taken: a repository can be moved away with it."""
        try:
            found = self.path.stat()
        except OSError:
            return False
        if self._descriptor is None:
            return False
        own = os.fstat(self._descriptor)
        return (found.st_dev, found.st_ino) == (own.st_dev, own.st_ino)

    def release(self) -> None:
        """Give the lock back, and take our name out of its file; to do so twice changes nothing."""
        if self._descriptor is not None:
            with suppress(OSError):
                os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


class ServiceLocks:
    """The locks of the repositories that a service serves, one for each, by the repository's path; thread-safe."""

    def __init__(self) -> None:
        """Begin with none."""
        self._locks: dict[Path, FileLock] = {}
        self._turns: dict[Path, threading.Lock] = {}
        self._guard = threading.Lock()
        """Guards both; nobody holds it during a look at a disk, which may never end."""

    def take(self, path: Path, locate: Callable[[], Path]) -> tuple[Path, bool]:
        """Take the lock of a repository, and return its git directory, which `locate` finds.

        Shape: with it, whether the lock is new: one that was taken before is kept while the repository is the same.
        Raises: AnotherRuns, ConfigInvalid when it is served under another path, DiskFull, RepositoryError; without the
        lock then.
        """
        with self._find_turn(path):
            held = self._locks.get(path)
            try:
                git_dir = locate()
            except SyncdError:
                self._release(path)
                raise
            file = git_dir / SERVICE_LOCK
            if held is not None and held.path == file and held.is_current():
                return git_dir, False
            self._release(path)
            with self._find_turn(file):  # two paths may lead to one repository
                with self._guard:
                    others = [lock for lock in self._locks.values() if lock.path == file]
                if any(lock.is_current() for lock in others):
                    raise ConfigInvalid(f"{git_dir} is configured twice", hint="give it all its spaces in one place")
                lock = FileLock.acquire(file)
                with self._guard:
                    self._locks[path] = lock
        return git_dir, True

    def find_git_dir(self, path: Path) -> Path | None:
        """Return the git directory of a repository whose lock is held, or None."""
        lock = self._locks.get(path)
        return lock.path.parent.parent if lock is not None else None

    def release(self, path: Path) -> None:
        """Give the lock of a repository back, if one is held."""
        with self._find_turn(path):
            self._release(path)

    def release_all(self, *, but: Collection[Path] = ()) -> None:
        """Give every lock back, but those of some paths, and those whose disk does not answer at once: they go with the
        process.
        """

        def release() -> None:
            for path in self._locks.keys() - {*but}:
                self.release(path)

        thread = threading.Thread(target=release, name="release of locks", daemon=True)
        thread.start()
        thread.join(_RELEASE_SECONDS)

    def _find_turn(self, path: Path) -> threading.Lock:
        with self._guard:
            return self._turns.setdefault(path, threading.Lock())

    def _release(self, path: Path) -> None:
        with self._guard:
            lock = self._locks.pop(path, None)
        if lock is not None:
            lock.release()


def find_holder(path: Path) -> int | Literal["unknown"] | None:
    """Return the process that holds a lock's file, None when nobody does, or UNKNOWN; nothing is created."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    except OSError:
        return UNKNOWN
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _read_pid(descriptor)
    except OSError:
        return None  # a file system without locks: nobody can hold one
    finally:
        os.close(descriptor)
    return None


def is_abandoned(path: Path) -> bool:
    """Return whether the process that held a lock's file last has ended without giving it back; nothing is created."""
    try:
        return find_holder(path) is None and path.stat().st_size > 0
    except OSError:
        return False


def _open_file(path: Path) -> int:
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise _build_refusal(path, error) from error


def _try_lock(descriptor: int, path: Path) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise _build_refusal(path, error) from error
    return True


def _build_refusal(path: Path, error: OSError) -> DiskFull | NotARepository:
    if error.errno in NO_SPACE:
        return make_disk_full(error, path)
    return NotARepository(f"{path} cannot be locked: {error.strerror}", hint=DENIED_HINT)


def _write_pid(descriptor: int) -> None:
    # Only a courtesy to whoever finds the lock taken: a full disk must not take the lock away again.
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, b"%d\n" % os.getpid(), 0)
    except OSError:
        return


def _read_pid(descriptor: int) -> int | None:
    text = os.pread(descriptor, 32, 0).strip()
    return int(text) if text.isdigit() else None
