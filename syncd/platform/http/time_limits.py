"""Limits of computing time: a request stops when its client has disconnected or its time is used up.

Code that may take long calls `check_time` regularly: before each statement to the database, at each text that it reads,
and in loops over many items.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field

from anyio import from_thread
from starlette.types import Scope

from syncd.platform.http.failures import Failure

USUAL_S = 10.0
LONG_S = 30.0
"""Seconds of computing for one request that reads, and for one that writes, makes a PDF or the texts of computed pages.
Waiting does not count: a busy machine fails nothing that an idle one does.
"""


CLIENT_KEY = "syncd.client"
"""Where a scope has what makes the context of `stop_with_client`: the connection of the request."""


@dataclass
class _TimeBudget:
    """The computing time of one request, over all threads in which it computes."""

    seconds: float
    has_written: bool = False
    _started_at: dict[int, float] = field(default_factory=dict)

    def is_spent(self) -> bool:
        now = time.thread_time()
        return now - self._started_at.setdefault(threading.get_ident(), now) > self.seconds


_budget: ContextVar[_TimeBudget | None] = ContextVar("budget", default=None)


@contextmanager
def limit_time(seconds: float) -> Iterator[None]:
    """Let `check_time` enforce so many seconds of computing in this context and in threads that are started from it."""
    token = _budget.set(_TimeBudget(seconds))
    try:
        yield
    finally:
        _budget.reset(token)


def stop_with_client(scope: Scope) -> AbstractContextManager[object]:
    """Return a context in which a request ends at its next await, its threads at `check_time`, when its client leaves.

    Shape: what ends so leaves the context without an exception; a context within another one does nothing. An answer
    that waits for nothing needs none: it would cost a tenth of a page.
    """
    return scope[CLIENT_KEY]() if CLIENT_KEY in scope else nullcontext()


def note_written() -> None:
    """Lift the limit for the rest of the request: it has committed a change, and its answer must say so."""
    share = _budget.get()
    if share is not None:
        share.has_written = True


def extend_time() -> None:
    """Give the request the time of one that writes: what it makes is kept for all that come after it."""
    share = _budget.get()
    if share is not None:
        share.seconds = max(share.seconds, LONG_S)


def check_time(*, even_written: bool = False) -> None:
    """Stop a request whose client has disconnected. Raises: Failure 503 when it has computed for too long.

    Shape: `even_written` also stops a request that has written; only for caches, whose next reader continues there.
    """
    try:
        from_thread.check_cancelled()
    except RuntimeError:
        # Not the thread of a request: the event loop, a job, or a test.
        return
    share = _budget.get()
    if share is not None and (even_written or not share.has_written) and share.is_spent():
        raise Failure(503, "This takes the platform too long. Ask for less at once, or again in a minute.")
