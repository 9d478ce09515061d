"""A bounded cache of immutable values, which can be dropped and shared safely."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Cache(Generic[K, V]):
    """Values by key up to a total weight; the least recently used are dropped first. Safe in any number of threads."""

    def __init__(self, limit: int, *, weigh: Callable[[V], int] = lambda value: 1) -> None:
        self._limit = limit
        self._weigh = weigh
        self._weight = 0
        self._values: OrderedDict[K, V] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        """Return the value of a key, or None when it is not cached."""
        with self._lock:
            value = self._values.get(key)
            if value is not None:
                self._values.move_to_end(key)
            return value

    def put(self, key: K, value: V) -> V:
        """Cache a value and return it; values that no longer fit are dropped."""
        with self._lock:
            if key not in self._values:
                self._values[key] = value
                self._weight += self._weigh(value)
            while self._weight > self._limit and len(self._values) > 1:
                _, oldest = self._values.popitem(last=False)
                self._weight -= self._weigh(oldest)
        return value
