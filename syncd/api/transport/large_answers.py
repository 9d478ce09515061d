"""One large answer at a time: threads that read pages in parallel must not hold sixteen of the largest at once."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, local

from syncd.net.failures import TimedOut

SMALL_BYTES = 256 << 10
"""Bytes of an answer that need no turn; nearly every page is smaller."""


class LargeAnswerLock:
    """The lock for reading a large answer; a thread that acquired it holds it until its outermost block ends."""

    def __init__(self) -> None:
        self._turn = Lock()
        self._own = local()

    @contextmanager
    def hold_until_end(self) -> Iterator[None]:
        """Release at the end of the block a lock that was acquired in it; a nested block does nothing."""
        if getattr(self._own, "is_inside", False):
            yield
            return
        self._own.is_inside, self._own.has_turn = True, False
        try:
            yield
        finally:
            self._own.is_inside = False
            self.release()

    def acquire(self, seconds: float) -> None:
        """Acquire the lock, within a block. Raises: TimedOut when it does not become free in time."""
        if self._own.has_turn:
            return
        if not self._turn.acquire(timeout=max(seconds, 0.0)):
            raise TimedOut("Another large answer took too long.")
        self._own.has_turn = True

    def release(self) -> None:
        """Release the lock if this thread holds it: what was read with it is no longer kept."""
        if self._own.has_turn:
            self._own.has_turn = False
            self._turn.release()
