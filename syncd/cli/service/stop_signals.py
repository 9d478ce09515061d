"""SIGTERM and Ctrl-C during a run: the first one ends it between two requests, a second one at once."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from syncd.errors import Interrupted, Stopped


class StopRequest:
    """Whether a signal has asked a run to end; the run checks it before every request."""

    def __init__(self) -> None:
        self._by = 0
        """The number of the signal that asked; 0 is none."""

    def is_requested(self) -> bool:
        """Return whether the run is to end."""
        return bool(self._by)

    @contextmanager
    def handle_signals(self) -> Iterator[None]:
        """Handle SIGTERM and SIGINT by requesting a stop; call it from the main thread.

        Raises: Interrupted instead of Stopped after Ctrl-C.
        """
        handlers = {number: signal.getsignal(number) or signal.SIG_DFL for number in (signal.SIGTERM, signal.SIGINT)}

        def restore() -> None:
            for number, handler in handlers.items():
                signal.signal(number, handler)

        def handle(number: int, frame: FrameType | None) -> None:
            self._by = number
            restore()

        for number in handlers:
            signal.signal(number, handle)
        try:
            yield
        except Stopped as stopped:
            if self._by == signal.SIGINT:
                raise Interrupted(stopped.what, hint=stopped.hint) from stopped
            raise
        finally:
            restore()
