"""Progress on stderr: a bar on a terminal, one line every ten seconds elsewhere."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from syncd.cli.terminal.text import safe
from syncd.sync.workspace import Progress

QUIET_SECONDS = 0.5
"""A step that is done sooner shows nothing."""
LINE_SECONDS = 10.0


@contextmanager
def progress() -> Iterator[Progress]:
    """Return what a run tells its progress to, for as long as the run takes."""
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("CI"):
        with _bars() as bars:
            yield bars
    else:
        yield _lines()


@contextmanager
def _bars() -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bars = Bars(*columns, console=Console(stderr=True), transient=True)
    tasks: dict[str, object] = {}
    started = time.monotonic()

    def tell(label: str, done: int, total: int) -> None:
        if time.monotonic() - started < QUIET_SECONDS:
            return
        if not bars.live.is_started:
            bars.start()
        task = tasks.get(label)
        if task is None:
            task = tasks[label] = bars.add_task(safe(label), total=total)
        bars.update(task, completed=done, total=total)  # type: ignore[arg-type]

    try:
        yield tell
    finally:
        bars.stop()


def _lines() -> Progress:
    last = time.monotonic()

    def tell(label: str, done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last >= LINE_SECONDS:
            last = time.monotonic()
            print(f"{safe(label)}: {done} of {total}", file=sys.stderr, flush=True)

    return tell
