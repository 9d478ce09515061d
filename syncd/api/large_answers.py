"""One large answer at a time: threads that read pages in parallel must not hold sixteen of the largest at once."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, local

from syncd.net.failures import TimedOut

SMALL_BYTES = 256 << 10
"""Bytes of an answer that need no turn; nearly every page is smaller."""


class LargeAnswerLock:
    """The turn to read a large answer; a thread that took it has it until its outermost block ends."""

    def __init__(self) -> None:
        self._turn = Lock()
        self._own = local()

    @contextmanager
    def hold_until_end(self) -> Iterator[None]:
        """Give back at the end of the block the turn that was taken in it; a block in a block does nothing."""
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
        """Wait for the turn, within a block. Raises: TimedOut when it does not come in time."""
        if self._own.has_turn:
            return
        if not self._turn.acquire(timeout=max(seconds, 0.0)):
            raise TimedOut("Another large answer took too long.")
        self._own.has_turn = True

    def release(self) -> None:
        """Give back the turn where it was taken: what was read with it is let go."""
        if self._own.has_turn:
            self._own.has_turn = False
            self._turn.release()
