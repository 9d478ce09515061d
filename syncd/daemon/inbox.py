"""The queue of the main loop: any thread and any signal adds to it, and only the loop takes from it."""

import signal
import socket
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import FrameType

Message = Callable[[], object]


class Inbox:
    """Messages in order, and a socket that ends the loop's wait; so all state of the service belongs to one thread."""

    def __init__(self) -> None:
        """Begin empty."""
        self._messages: deque[Message] = deque()
        self._wake_receiver, self._wake_sender = socket.socketpair()
        self._wake_sender.setblocking(False)

    def put(self, message: Message) -> None:
        """Leave a message for the loop; safe in any thread."""
        self._messages.append(message)
        with suppress(OSError):  # full: the loop is being woken already; closed: nobody waits any more
            self._wake_sender.send(b"\0")

    def take(self, seconds: float) -> Iterator[Message]:
        """Return what has been put in since the last time, after waiting for something at most that long."""
        self._wake_receiver.settimeout(max(seconds, 0.0))
        with suppress(TimeoutError, BlockingIOError):
            self._wake_receiver.recv(4096)
        while self._messages:
            yield self._messages.popleft()

    @contextmanager
    def handle_signals(self, answers: Mapping[signal.Signals, Message]) -> Iterator[None]:
        """Put a message in when its signal arrives, within the block; main thread only."""
        former_descriptor = signal.set_wakeup_fd(self._wake_sender.fileno(), warn_on_full_buffer=False)
        former = {number: signal.signal(number, self._build_handler(message)) for number, message in answers.items()}
        try:
            yield
        finally:
            for number, handler in former.items():
                signal.signal(number, signal.SIG_DFL if handler is None else handler)
            signal.set_wakeup_fd(former_descriptor)

    def close(self) -> None:
        """Close the socket."""
        self._wake_receiver.close()
        self._wake_sender.close()

    def _build_handler(self, message: Message) -> Callable[[int, FrameType | None], None]:
        # A handler runs between any two instructions of the loop: to append is all that is safe there.
        return lambda number, frame: self._messages.append(message)
