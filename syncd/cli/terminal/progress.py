"""Progress on stderr: a bar on a terminal, one line every ten seconds elsewhere."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from syncd.cli.terminal.text import escape
from syncd.cli.terminal.verbosity import is_quiet
from syncd.sync.workspace import Progress

QUIET_SECONDS = 0.5
"""No bar is shown for a step that takes less."""
LINE_SECONDS = 10.0


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
