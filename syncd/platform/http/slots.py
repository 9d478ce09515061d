"""Slots for one kind of work: how many run at once, how many wait and for how long, and in what order.

A waiting request occupies no thread. Callers take turns, so that one with many requests does not delay the others.
"""

import asyncio
import threading
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Hashable
from concurrent.futures import Future, InvalidStateError
from contextlib import asynccontextmanager

from syncd.platform.http.failures import Failure

_FULL = "The platform does too much of this at once. Try again in a minute."


class Slots:
    """Slots for expensive work; safe in any number of event loops and threads."""

    def __init__(self, at_once: int, *, waiting: int, patience_s: float) -> None:
        """Create `at_once` free slots. Units: at most `waiting` requests wait, each at most `patience_s` seconds."""
        self._free = at_once
        self._queue_room = waiting
        self._patience_s = patience_s
        self._waiting: OrderedDict[Hashable, deque[Future[None]]] = OrderedDict()
        self._lock = threading.Lock()

    @asynccontextmanager
    async def hold(self, by: Hashable) -> AsyncIterator[None]:
        """Wait for a slot for a caller and hold it. Raises: Failure 503 when too many wait or the wait is too long."""
        turn = self._enqueue(by)
        if turn is not None:
            try:
                await asyncio.wait_for(asyncio.wrap_future(turn), self._patience_s)
            except TimeoutError:
                self._withdraw(by, turn)
                raise Failure(503, _FULL) from None
            except BaseException:
                # The client disconnected.
                self._withdraw(by, turn)
                raise
        try:
            yield
        finally:
            self._release_slot()

    def _enqueue(self, by: Hashable) -> Future[None] | None:
        with self._lock:
            if self._free:
                self._free -= 1
                return None
            if not self._queue_room:
                raise Failure(503, _FULL)
            self._queue_room -= 1
            turn: Future[None] = Future()
            self._waiting.setdefault(by, deque()).append(turn)
            return turn

    def _withdraw(self, by: Hashable, turn: Future[None]) -> None:
        with self._lock:
            queue = self._waiting.get(by, deque())
            if turn in queue:
                queue.remove(turn)
                self._queue_room += 1
                if not queue:
                    del self._waiting[by]
                return
            has_slot = turn.done() and not turn.cancelled()
        if has_slot:
            self._release_slot()

    def _release_slot(self) -> None:
        with self._lock:
            while self._waiting:
                by, queue = self._waiting.popitem(last=False)
                turn = queue.popleft()
                self._queue_room += 1
                if queue:
                    # Round robin: the caller's next request waits behind those of all other callers.
                    self._waiting[by] = queue
                try:
                    turn.set_result(None)
                except InvalidStateError:
                    # The client disconnected at this moment; the slot goes to the next one.
                    continue
                return
            self._free += 1
