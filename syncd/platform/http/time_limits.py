"""How long a request may compute: as long as its client is there, and no longer than its share of time.

What may take long asks now and then whether to go on: before each statement to the database, at each text that it
reads, and in loops over many things.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from anyio import from_thread

from syncd.platform.http.failures import Failure

USUAL_S = 10.0
LONG_S = 30.0
"""Seconds of computing for one request that reads, and for one that writes or makes a PDF. Waiting does not count: a
busy machine fails nothing that an idle one does.
"""


@dataclass
class _TimeBudget:
    """The computing time of one request, in whichever threads it computes."""

    seconds: float
    has_written: bool = False
    _begun: dict[int, float] = field(default_factory=dict)

    def is_spent(self) -> bool:
        now = time.thread_time()
        return now - self._begun.setdefault(threading.get_ident(), now) > self.seconds


_budget: ContextVar[_TimeBudget | None] = ContextVar("share", default=None)


@contextmanager
def limit_time(seconds: float) -> Iterator[None]:
    """Given seconds of computing, let `check_time` in this context, and in threads begun from it, keep them."""
    token = _budget.set(_TimeBudget(seconds))
    try:
        yield
    finally:
        _budget.reset(token)


def note_written() -> None:
    """Let what is done from now on take its time: the request has changed something, and its answer must say so."""
    share = _budget.get()
    if share is not None:
        share.has_written = True


def check_time(*, even_written: bool = False) -> None:
    """Stop here when the client has left. Raises: Failure 503 when the request has computed for too long.

    Shapes: `even_written` is for what is only written to be remembered, and goes on from there when asked again.
    """
    try:
        from_thread.check_cancelled()
    except RuntimeError:
        # Not the thread of a request: the event loop, a job, or a test.
        return
    share = _budget.get()
    if share is not None and (even_written or not share.has_written) and share.is_spent():
        raise Failure(503, "This takes the platform too long. Ask for less at once, or again in a minute.")
