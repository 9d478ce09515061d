"""File events → one coalesced wake for each repository. An event only says when to look; looking decides."""

import errno
import logging
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Condition, Lock, Thread

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver, ObservedWatch
from watchdog.observers.polling import PollingObserver

from syncd.files import FileStamp, list_stamps

QUIET = 0.3
"""Seconds without an event after which a change counts as finished."""
LONGEST = 2.0
"""Seconds that a stream of events can put a wake off."""
QUIET_TO_SHOW, LONGEST_TO_SHOW = 0.03, 0.3
"""The same for what somebody looks at while it is being written. Units: seconds."""
_STOP_SECONDS = 1.0
_LIMITS = {errno.ENOSPC, errno.EMFILE, errno.ENFILE}
# Without opened and closed-without-writing, or syncd's own reading would wake it.
_EVENTS: list[type[FileSystemEvent]] = [
    FileClosedEvent,
    FileMovedEvent,
    FileDeletedEvent,
    FileCreatedEvent,
    DirMovedEvent,
    DirDeletedEvent,
]

State = frozenset[FileStamp]


class Debounce:
    """Keys that were touched, each due after a quiet time, or at last after the longest wait. Time is an argument."""

    def __init__(self, quiet: float, longest: float) -> None:
        self._quiet, self._longest = quiet, longest
        self._touched: dict[str, tuple[float, float]] = {}

    def touch(self, key: str, now: float) -> None:
        """Delay a key by the quiet time from now, unless it has been delayed for the longest time already."""
        first, _ = self._touched.get(key, (now, now))
        self._touched[key] = first, now

    def take_due(self, now: float) -> list[str]:
        """Return the keys that are due now, and forget them."""
        keys = [key for key, at in self._find_due_times().items() if at <= now]
        for key in keys:
            del self._touched[key]
        return keys

    def find_wait(self, now: float) -> float | None:
        """Return how long it is until the next key is due, or None when none is touched. Units: seconds."""
        return max(min(self._find_due_times().values()) - now, 0.0) if self._touched else None

    def _find_due_times(self) -> dict[str, float]:
        return {key: min(last + self._quiet, first + self._longest) for key, (first, last) in self._touched.items()}


class _DueThread:
    """A thread that hands on what was touched, once it is due; safe to use from any thread."""

    def __init__(
        self, debounce: Debounce, clock: Callable[[], float], hand_on: Callable[[Sequence[str]], None]
    ) -> None:
        self._debounce, self._clock, self._hand_on = debounce, clock, hand_on
        self._condition = Condition()
        self._is_stopped = False
        self._thread = Thread(target=self._run, name="syncd-watch", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def touch(self, key: str) -> None:
        with self._condition:
            self._debounce.touch(key, self._clock())
            self._condition.notify()

    def begin_stop(self) -> None:
        """Hand on nothing from now on."""
        with self._condition:
            self._is_stopped = True
            self._condition.notify()

    def join(self) -> None:
        if self._thread.is_alive():
            self._thread.join(_STOP_SECONDS)

    def _run(self) -> None:
        while True:
            with self._condition:
                if self._is_stopped:
                    return
                keys = self._debounce.take_due(self._clock())
                if not keys:
                    self._condition.wait(self._debounce.find_wait(self._clock()))
                    continue
            self._hand_on(keys)


@dataclass(frozen=True)
class WatchedRepository:
    """What is watched of one repository: the branches, HEAD, and a few files of the work tree."""

    git_dir: Path
    heads: Path
    files: frozenset[Path]

    @classmethod
    def create(cls, git_dir: Path, files: Sequence[Path]) -> "WatchedRepository":
        """Return what to watch of a repository; the branches of a linked worktree are in the common directory."""
        git_dir = git_dir.absolute()
        pointer = git_dir / "commondir"
        common = (
            (git_dir / pointer.read_text(errors="surrogateescape").strip()).resolve() if pointer.is_file() else git_dir
        )
        named = {git_dir / "HEAD", common / "packed-refs", *(file.absolute() for file in files)}
        return cls(git_dir, common / "refs" / "heads", frozenset(named))

    def list_directories(self) -> Iterator[tuple[Path, bool]]:
        """Return the directories to watch, and whether with all that is below them."""
        yield self.heads, True
        for directory in sorted({file.parent for file in self.files}):
            yield directory, False

    def is_relevant(self, path: str) -> bool:
        """Return whether an event at a path can mean a change; a lock file never does."""
        return not path.endswith(".lock") and (Path(path) in self.files or Path(path).is_relative_to(self.heads))

    def read_state(self) -> State:
        """Return what tells the present state from every other: each file with its inode, time and size."""
        below = (Path(at, name) for at, _, names in os.walk(self.heads) for name in names)
        return frozenset(list_stamps(path for path in (*self.files, *below) if path.suffix != ".lock"))


class Watcher:
    """Calls `wake(key)` some moments after a repository or one of its files changed; safe to use from any thread."""

    def __init__(
        self,
        wake: Callable[[str], None],
        *,
        notice: Callable[[str], None] = lambda text: None,
        clock: Callable[[], float] = time.monotonic,
        observers: Sequence[Callable[[], BaseObserver]] = (Observer, PollingObserver),
    ) -> None:
        """Prepare to watch; `wake` gets the key of a repository that changed, `notice` a sentence when there are no
        events.

        Units: `clock` in seconds. Shape: `observers` are tried in order, the next one when the first meets a limit.
        """
        self._wake, self._notice, self._observers = wake, notice, observers
        self._subjects: dict[str, WatchedRepository] = {}
        self._known: dict[str, State] = {}
        self._paused: set[str] = set()
        self._lock = Lock()
        self._observer: BaseObserver | None = None
        self._thread = _DueThread(Debounce(QUIET, LONGEST), clock, self._wake_changed)

    def add(self, key: str, git_dir: Path, files: Sequence[Path]) -> None:
        """Watch a repository and files of its work tree; to be called before the watcher is started."""
        self._subjects[key] = WatchedRepository.create(git_dir, files)

    def start(self) -> None:
        """Begin to watch. Nothing that can go wrong is an error: the next poll sees what no event told."""
        _quiet_watchdog()
        self._known = {key: subject.read_state() for key, subject in self._subjects.items()}
        for make in self._observers:
            try:
                self._observer = self._start_observer(make)
                break
            except OSError as error:
                self._notice(
                    f"the system's limit for watching files is reached ({error}); looking now and then instead"
                )
        self._thread.start()

    def stop(self) -> None:
        """Stop watching; no wake comes afterwards."""
        self._thread.begin_stop()
        _stop_observer(self._observer)
        self._thread.join()

    @contextmanager
    def pause(self, key: str) -> Iterator[Callable[[], bool]]:
        """Hide what the caller writes within the block; what comes after it is seen.

        Shape: the value says whether anything changed since the block began: someone else may have written too.
        """
        subject = self._subjects[key]
        before = after = subject.read_state()
        looked = False

        def has_changed() -> bool:
            nonlocal after, looked
            after, looked = subject.read_state(), True
            return after != before

        with self._lock:
            self._paused.add(key)
        try:
            yield has_changed
        finally:
            with self._lock:
                self._known[key] = after if looked else subject.read_state()
                self._paused.discard(key)
            self._thread.touch(key)  # an event that was hidden may have told of more than what is known now

    def _start_observer(self, make: Callable[[], BaseObserver]) -> BaseObserver:
        observer = make()
        observer.start()
        try:
            for key, subject in self._subjects.items():
                for directory, recursive in subject.list_directories():
                    self._schedule(observer, _Handler(key, subject, self._thread.touch), directory, recursive)
        except OSError:
            _stop_observer(observer)
            raise
        return observer

    def _schedule(self, observer: BaseObserver, handler: FileSystemEventHandler, directory: Path, deep: bool) -> None:
        try:
            observer.schedule(handler, str(directory), recursive=deep, event_filter=_list_events(observer))
        except OSError as error:
            if error.errno in _LIMITS:
                raise
            self._notice(f"{directory} cannot be watched ({error.strerror}); looking now and then instead")

    def _wake_changed(self, keys: Sequence[str]) -> None:
        for key in keys:
            if self._has_changed(key):
                self._wake(key)

    def _has_changed(self, key: str) -> bool:
        # Without the lock, which every run takes: the disk of one repository may hang.
        state = self._subjects[key].read_state()
        with self._lock:
            if key in self._paused:
                return False
            changed = state != self._known[key]
            self._known[key] = state
            return changed


class DirectoryWatcher:
    """Calls `wake(paths)` a moment after files in some directories changed; it looks at nothing itself.

    Shape: a directory is watched without those below it. Lock files of Git are left out.
    """

    def __init__(
        self,
        wake: Callable[[frozenset[str]], None],
        *,
        clock: Callable[[], float] = time.monotonic,
        observers: Sequence[Callable[[], BaseObserver]] = (Observer, PollingObserver),
    ) -> None:
        """Prepare to watch; `observers` are tried in order, the next one when the first meets a limit."""
        self._observers = observers
        self._observer: BaseObserver | None = None
        self._watches: dict[Path, ObservedWatch] = {}
        debounce = Debounce(QUIET_TO_SHOW, LONGEST_TO_SHOW)
        self._thread = _DueThread(debounce, clock, lambda paths: wake(frozenset(paths)))

    def start(self, directories: Iterable[Path]) -> None:
        """Begin to watch; what cannot be watched is left out."""
        _quiet_watchdog()
        listed = list(directories)
        for make in self._observers:
            self._observer = make()
            self._observer.start()
            try:
                self.follow(listed)
                break
            except OSError:
                _stop_observer(self._observer)
                self._watches.clear()
        self._thread.start()

    def follow(self, directories: Iterable[Path]) -> None:
        """Watch these directories, and no others. Raises: OSError at a limit of the system."""
        wanted = dict.fromkeys(directories)
        if self._observer is None:
            return
        for directory in self._watches.keys() - wanted.keys():
            with suppress(KeyError, OSError):
                self._observer.unschedule(self._watches.pop(directory))
        events = [*_list_events(self._observer), DirCreatedEvent]
        for directory in wanted.keys() - self._watches.keys():
            try:
                watch = self._observer.schedule(_PathHandler(self._thread.touch), str(directory), event_filter=events)
            except OSError as error:
                if error.errno in _LIMITS:
                    raise
                continue  # it is gone already
            self._watches[directory] = watch

    def stop(self) -> None:
        """Stop watching; no wake comes afterwards."""
        self._thread.begin_stop()
        _stop_observer(self._observer)
        self._thread.join()


def _list_events(observer: BaseObserver) -> list[type[FileSystemEvent]]:
    """Only inotify tells the end of writing; elsewhere a modification is all that there is."""
    has_end = sys.platform == "linux" and not isinstance(observer, PollingObserver)
    return _EVENTS if has_end else [*_EVENTS, FileModifiedEvent]


def _quiet_watchdog() -> None:
    """Leave out of the log what watchdog says of its own making, and what asks nothing of anybody."""
    # It meets a directory twice when it was made while being entered, which is what we want of it.
    warnings.filterwarnings("ignore", message="Callback with id", category=RuntimeWarning)
    logging.getLogger("watchdog.observers.inotify").addFilter(_is_worth_logging)


def _is_worth_logging(record: logging.LogRecord) -> bool:
    """Whether a line of watchdog says more than that a thread went round once more after it was told to end."""
    return "when the thread is inactive" not in record.getMessage()


def _stop_observer(observer: BaseObserver | None) -> None:
    if observer is not None:
        observer.stop()
        observer.join(_STOP_SECONDS)


class _PathHandler(FileSystemEventHandler):
    def __init__(self, touch: Callable[[str], None]) -> None:
        self._touch = touch

    def dispatch(self, event: FileSystemEvent) -> None:
        """Note the paths of an event, and do nothing more."""
        for path in (event.src_path, event.dest_path):
            if path and not (name := os.fsdecode(path)).endswith(".lock"):
                self._touch(name)


class _Handler(FileSystemEventHandler):
    def __init__(self, key: str, subject: WatchedRepository, touch: Callable[[str], None]) -> None:
        self._key, self._subject, self._touch = key, subject, touch

    def dispatch(self, event: FileSystemEvent) -> None:
        """Note an event, and do nothing more: thousands may wait behind it."""
        if any(self._subject.is_relevant(os.fsdecode(path)) for path in (event.src_path, event.dest_path) if path):
            self._touch(self._key)
