"""SIGTERM and Ctrl-C in the middle of a run: the first one ends it between two requests, a second one at once."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from syncd.errors import Interrupted, Stopped


class Stopping:
    """Whether somebody has asked a run to end; a question that the run asks before every request."""

    def __init__(self) -> None:
        """Nobody has asked yet."""
        self._by = 0

    def is_asked(self) -> bool:
        """Return whether the run is to end."""
        return bool(self._by)

    @contextmanager
    def heeded(self) -> Iterator[None]:
        """Let the run end by itself while it writes; call from the main thread.

        Raises: Interrupted in the place of Stopped after Ctrl-C.
        """
        former = {number: signal.getsignal(number) or signal.SIG_DFL for number in (signal.SIGTERM, signal.SIGINT)}

        def restore() -> None:
            for number, handler in former.items():
                signal.signal(number, handler)

        def answer(number: int, frame: FrameType | None) -> None:
            self._by = number
            restore()

        for number in former:
            signal.signal(number, answer)
        try:
            yield
        except Stopped as stopped:
            if self._by == signal.SIGINT:
                raise Interrupted(stopped.what, hint=stopped.hint) from stopped
            raise
        finally:
            restore()
