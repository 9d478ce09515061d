"""Progress on stderr: a bar on a terminal, one line every ten seconds elsewhere; and what a command waits for."""

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from syncd.api.options import DEFAULTS, ClientOptions
from syncd.cli.terminal.text import escape, log_text
from syncd.cli.terminal.verbosity import is_quiet
from syncd.config import PlatformConfig
from syncd.daemon.systemd import INFO
from syncd.daemon.workspaces import Environment, never_cancel
from syncd.sync.workspace import Progress, ignore_progress

QUIET_SECONDS = 0.5
"""No bar is shown for a step that takes less."""
LINE_SECONDS = 10.0
WAIT_SECONDS = 2.0
"""No wait is told that takes less."""


@contextmanager
def show_progress() -> Iterator[Progress]:
    """Show progress while a run takes place; the run calls what this gives: `(label, done, total)`."""
    if is_quiet():
        yield lambda label, done, total: None
    elif sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("CI"):
        with _show_bars() as bars:
            yield bars
    else:
        yield _make_line_printer()


@contextmanager
def _show_bars() -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bars = Bars(*columns, console=Console(stderr=True), transient=True)
    tasks: dict[str, object] = {}
    started = time.monotonic()

    def update(label: str, done: int, total: int) -> None:
        if time.monotonic() - started < QUIET_SECONDS:
            return
        if not bars.live.is_started:
            bars.start()
        task = tasks.get(label)
        if task is None:
            task = tasks[label] = bars.add_task(escape(label), total=total)
        bars.update(task, completed=done, total=total)  # type: ignore[arg-type]

    try:
        yield update
    finally:
        bars.stop()


def _make_line_printer() -> Progress:
    printed_at = time.monotonic()

    def update(label: str, done: int, total: int) -> None:
        nonlocal printed_at
        if time.monotonic() - printed_at >= LINE_SECONDS:
            printed_at = time.monotonic()
            print(f"{escape(label)}: {done} of {total}", file=sys.stderr, flush=True)

    return update


class WaitPrinter:
    """Prints what a command waits for; of the waits of many threads, those that last longer than what was printed."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._told_until = clock, 0.0

    def print(self, reason: str, seconds: float) -> None:
        """Print a wait before it begins, unless it is short."""
        until = self._clock() + seconds
        if seconds < WAIT_SECONDS or until < self._told_until or is_quiet():
            return
        self._told_until = until + LINE_SECONDS
        log_text(f"waiting {seconds:.0f} s for {escape(reason)}", INFO)


print_wait = WaitPrinter().print


def make_environment(
    progress: Progress = ignore_progress,
    cancelled: Callable[[], bool] = never_cancel,
    *,
    force: Mapping[str, int] | None = None,
) -> Environment:
    """Return what a run of a command needs besides the configuration; its waits are printed."""
    return Environment(os.environ, cancelled, progress, force or {}, announce_wait=print_wait)


def make_client_options(platform: PlatformConfig, *, tries: int = DEFAULTS.tries) -> ClientOptions:
    """Return how a command asks a platform; its waits are printed."""
    return ClientOptions(insecure=platform.insecure, tries=tries, announce_wait=print_wait)
