"""One syncd at a time: an advisory lock on a file, which the kernel takes back from a process that dies."""

import errno
import fcntl
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

from syncd.errors import AnotherRuns, DiskFull, NotARepository

DAEMON = "syncd/daemon.lock"
"""Below a repository's git directory: held by the daemon that serves it."""
RUN = "syncd/run.lock"
"""Below a repository's git directory: held during one run of the flows, the daemon's or a person's."""
WAKE = "syncd/wake"
"""Below a repository's git directory: a command touches it when the daemon shall look at once."""
STATE = "syncd/state.db"
"""Below a repository's git directory: what neither side remembers; its directory comes with the run lock."""
_LOOK_AGAIN = 0.005
_GRACE = 0.05
"""Seconds that even the impatient wait: who holds the lock for a moment may be `holder`, only looking."""
_FULL = {errno.ENOSPC, errno.EDQUOT}


class Lock:
    """A lock that is held; a context manager that gives it back. The file stays: removing it would be a race."""

    def __init__(self, path: Path, descriptor: int) -> None:
        """Given a file and the descriptor that holds its lock, own both; `acquire` is the way to come by one."""
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
        """Given a file, return its lock; another holder is waited for so long, then refused by name.

        Units: seconds. Raises: AnotherRuns, NotARepository when the lock cannot live there, DiskFull.
        """
        descriptor = _opened(path)
        deadline = clock() + max(wait, _GRACE)
        try:
            while not _taken(descriptor, path):
                if clock() >= deadline:
                    pid = _signed(descriptor)
                    named = f"another syncd (process {pid})" if pid else "another syncd"
                    raise AnotherRuns(f"{named} works on {path.parent.parent}")
                sleep(_LOOK_AGAIN)
            _sign(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        return cls(path, descriptor)

    def release(self) -> None:
        """Give the lock back; to do so twice changes nothing."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def holder(path: Path) -> int | None:
    """Given a lock's file, return the process that holds it, or None when nobody does; nothing is created."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _signed(descriptor)
    except OSError:
        return None  # a file system without locks: nobody can hold one
    finally:
        os.close(descriptor)
    return None


def _opened(path: Path) -> int:
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise _refusal(path, error) from error


def _taken(descriptor: int, path: Path) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise _refusal(path, error) from error
    return True


def _refusal(path: Path, error: OSError) -> DiskFull | NotARepository:
    if error.errno in _FULL:
        return DiskFull(f"no space is left for {path}")
    return NotARepository(f"{path} cannot be locked: {error.strerror}", hint="syncd writes below the git directory")


def _sign(descriptor: int) -> None:
    # Only a courtesy to whoever finds the lock taken: a full disk must not take the lock away again.
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, b"%d\n" % os.getpid(), 0)
    except OSError:
        return


def _signed(descriptor: int) -> int | None:
    text = os.pread(descriptor, 32, 0).strip()
    return int(text) if text.isdigit() else None
