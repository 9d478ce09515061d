"""What the status page reads of repositories, and when it reads it again."""

import hashlib
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import Generic, Protocol, TypeVar

from syncd.daemon.health import ServiceHealth
from syncd.web.status.values import ConflictView, LoggedOperation, Overview, PlanView

OPERATIONS_MAX = 100
KEEP_SECONDS = 1.0
"""What was read less than this ago is shown again."""


class StatusReader(Protocol):
    """Reads what the service, the state databases and Git know; called only while somebody looks."""

    def read_overview(self, version: str) -> Overview:
        """Return all that the first page shows. Raises: SyncdError."""

    def read_operations(self) -> Sequence[LoggedOperation]:
        """Return what happened last, newest first. Raises: SyncdError."""

    def read_conflict(self, repository: str, path: str, branch: str) -> ConflictView | None:
        """Return a page in conflict with both sides, or None where there is none. Raises: SyncdError."""

    def read_plan(self, digest: str) -> PlanView | None:
        """Return the plan of just this digest that waits. Raises: SyncdError."""

    def approve_plan(self, digest: str, comment: str) -> None:
        """Approve the plan of just this digest, and wake the service. Raises: StalePlan, SyncdError."""

    def list_files(self) -> Sequence[Path]:
        """Return the files whose change means that there is something else to show."""


Value = TypeVar("Value")


class CachedValue(Generic[Value]):
    """A value that is read when somebody wants it, and kept for a while; safe in any thread."""

    def __init__(
        self, read: Callable[[], Value], clock: Callable[[], float] = time.monotonic, *, seconds: float = KEEP_SECONDS
    ) -> None:
        """Read nothing yet, and what is read again after so many seconds. Units: `clock` in seconds."""
        self._read, self._clock, self._seconds = read, clock, seconds
        self._lock = Lock()
        self._known: tuple[float, Value] | None = None

    def read(self) -> Value:
        """Return the value, read now or not long ago."""
        with self._lock:
            if self._known is None or self._clock() - self._known[0] > self._seconds:
                value = self._read()
                self._known = (self._clock(), value)
            return self._known[1]

    def discard(self) -> None:
        """Read the value anew the next time."""
        with self._lock:
            self._known = None


class PageVersions:
    """The version of what pages show, by a function; it is another one after each change."""

    def __init__(
        self,
        compute: Callable[[], str],
        sleep: Callable[[float], object] = time.sleep,
        *,
        seconds: float = KEEP_SECONDS,
    ) -> None:
        """Compute the version when somebody asks, but not again within so many seconds."""
        self._version, self._sleep = CachedValue(compute, seconds=seconds), sleep

    def find_version(self) -> str:
        """Return the version of now, or of a moment ago."""
        return self._version.read()

    def wait_for_change(self, seen: str, seconds: float) -> str:
        """Return the version, after so many seconds unless it is another already."""
        if (version := self._version.read()) != seen:
            return version
        self._sleep(seconds)
        return self._version.read()


class StatusVersions(PageVersions):
    """The version of what the page of a service shows: another after each run, decision and change of a file."""

    def __init__(
        self,
        health: Callable[[], ServiceHealth],
        list_files: Callable[[], Sequence[Path]],
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        """Follow the health of a service, and files."""
        super().__init__(self._compute_version, sleep)
        self._health, self._list_files = health, list_files

    def _compute_version(self) -> str:
        health = self._health()
        facts = [repr((one.name, one.runs, one.is_running, one.refusal, one.pause)) for one in health.repositories]
        stamps = [_read_stamp(file) for file in self._list_files()]
        return hashlib.sha256(repr((health.is_alive, facts, stamps)).encode()).hexdigest()[:16]


def _read_stamp(file: Path) -> tuple[int, int]:
    try:
        found = os.stat(file)
    except OSError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_size)
