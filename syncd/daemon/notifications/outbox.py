"""Delivers notifications beside the runs: a thread for each receiver, a bounded queue, back-off while it is away."""

import random
import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Condition, Thread
from typing import Literal, Protocol

from syncd.store.incidents import Notification

PENDING_MAX = 100
"""Notifications that wait for one receiver; beyond it the oldest is given up."""
FIRST_SECONDS, LONGEST_SECONDS = 5.0, 900.0
"""Between two tries, which doubles up to the longest."""
TRIES_MAX = 300
"""After which a notification is given up: three days at the longest wait."""
STOP_SECONDS = 2.0
"""How long a try that is under way gets to end with the service, so that what has arrived is not told again."""
_SPREAD = 0.2


@dataclass(frozen=True)
class Delivery:
    """What became of a try: it arrived, it may arrive later, or the receiver does not want it; and why."""

    state: Literal["sent", "later", "refused"]
    why: str = ""


class Target(Protocol):
    """A receiver of notifications."""

    @property
    def name(self) -> str:
        """Stands for it in metrics and in messages."""

    def deliver(self, notification: Notification) -> Delivery:
        """Try once, within a bounded time."""


def find_retry_delay(tries: int, chance: float, *, first: float = FIRST_SECONDS) -> float:
    """Return the seconds until the next try. Units: `chance` in [0, 1). Shape: `tries` were made before the last."""
    # Doubling stops long before the number of tries does.
    wait = min(first * 2.0 ** min(tries, 30), LONGEST_SECONDS)
    return wait * (1 - _SPREAD * chance)


def try_delivery(target: Target, notification: Notification) -> Delivery:
    """Return what became of a try; a defect loses one notification, and not the receiver for all that come."""
    try:
        return target.deliver(notification)
    except Exception:  # noqa: BLE001 - a defect, of any kind
        return Delivery("refused", f"a defect inside syncd: {traceback.format_exc()}")


class Outbox:
    """The queues of all receivers; safe in any thread."""

    def __init__(
        self,
        forget: Callable[[Notification], object],
        notice: Callable[[str], None],
        *,
        chance: Callable[[], float] = random.random,
        first: float = FIRST_SECONDS,
    ) -> None:
        """Begin without a receiver.

        Units: `chance` in [0, 1), `first` in seconds before the second try. Shape: `forget` gets each notification that
        is over; `notice` gets what cannot be told, once until it works again.
        """
        self._forget, self._notice, self._chance, self._first = forget, notice, chance, first
        self._queues: dict[str, _Queue] = {}
        self._counts: Counter[tuple[str, str]] = Counter()
        self._condition = Condition()

    def configure(self, targets: Mapping[str, Target]) -> None:
        """Deliver to these receivers from now on; what waits for others is given up."""
        given_up: list[Notification] = []
        with self._condition:
            for name in self._queues.keys() - targets.keys():
                queue = self._queues.pop(name)
                queue.is_over = True
                given_up += queue.pending
            for name, target in targets.items():
                if name in self._queues:
                    self._queues[name].use_target(target)
                else:
                    queue = self._queues[name] = _Queue(target)
                    queue.thread = Thread(
                        target=self._deliver_queue, args=(name, queue), name=f"syncd-notify-{name}", daemon=True
                    )
                    queue.thread.start()
            self._condition.notify_all()
        for notification in given_up:
            self._forget(notification)

    def add(self, notification: Notification) -> None:
        """Deliver a notification soon; one whose receiver is not configured is over at once."""
        dropped: Notification | None = None
        with self._condition:
            queue = self._queues.get(notification.target)
            if queue is None:
                dropped = notification
            else:
                queue.pending.append(notification)
                if len(queue.pending) > PENDING_MAX:
                    # The first one may be under way.
                    dropped = queue.pending[1]
                    del queue.pending[1]
                    self._counts[notification.target, "dropped"] += 1
                self._condition.notify_all()
        if dropped is not None:
            self._forget(dropped)
            if queue is not None:
                self._notice(f"notifications to {dropped.target}: more than {PENDING_MAX} wait; the oldest is given up")

    def count_results(self) -> Mapping[tuple[str, str], int]:
        """Return how many notifications each receiver was sent, refused, or never got."""
        with self._condition:
            return dict(self._counts)

    def count_pending(self) -> Mapping[str, int]:
        """Return how many notifications wait for each receiver."""
        with self._condition:
            return {name: len(queue.pending) for name, queue in self._queues.items()}

    def stop(self, *, seconds: float = STOP_SECONDS) -> None:
        """Begin no other try, and wait a little for those under way; what has not arrived is tried by the next service.

        Units: `seconds` to wait at most.
        """
        with self._condition:
            for queue in self._queues.values():
                queue.is_over = True
            self._condition.notify_all()
            threads = [queue.thread for queue in self._queues.values() if queue.thread is not None]
        deadline = time.monotonic() + seconds
        for thread in threads:
            thread.join(max(deadline - time.monotonic(), 0.0))

    def _deliver_queue(self, name: str, queue: "_Queue") -> None:
        while (notification := self._wait_for_next(queue)) is not None:
            delivery = try_delivery(queue.target, notification)
            if delivery.state == "later" and queue.tries + 1 < TRIES_MAX:
                self._put_off(name, queue, delivery.why)
            else:
                self._record_delivery(name, queue, notification, delivery)

    def _wait_for_next(self, queue: "_Queue") -> Notification | None:
        with self._condition:
            while not queue.is_over:
                wait = queue.not_before - time.monotonic()
                if queue.pending and wait <= 0:
                    return queue.pending[0]
                self._condition.wait(wait if queue.pending else None)
        return None

    def _put_off(self, name: str, queue: "_Queue", why: str) -> None:
        with self._condition:
            wait = find_retry_delay(queue.tries, self._chance(), first=self._first)
            queue.tries += 1
            queue.not_before = time.monotonic() + wait
            is_first, queue.is_away = not queue.is_away, True
        if is_first:
            self._notice(f"notifications to {name}: {why}; tried again until it works")

    def _record_delivery(self, name: str, queue: "_Queue", notification: Notification, delivery: Delivery) -> None:
        state = "sent" if delivery.state == "sent" else "failed"
        self._forget(notification)
        with self._condition:
            if notification in queue.pending:
                queue.pending.remove(notification)
            queue.tries, queue.not_before = 0, 0.0
            was_away, queue.is_away = queue.is_away, False
            self._counts[name, state] += 1
        if state == "failed":
            self._notice(f"notifications to {name}: {delivery.why}; given up: {notification.title}")
        elif was_away:
            self._notice(f"notifications to {name}: arrive again")


class _Queue:
    """What waits for one receiver; the lock of the outbox guards it."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.pending: deque[Notification] = deque()
        self.tries, self.not_before = 0, 0.0
        self.is_away = self.is_over = False
        self.thread: Thread | None = None

    def use_target(self, target: Target) -> None:
        """Deliver to this receiver from now on; one with another address may answer at once."""
        if target != self.target:
            self.target, self.tries, self.not_before = target, 0, 0.0
