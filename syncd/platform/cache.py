"""A bounded memory of what can be had again: immutable things only, so that forgetting and sharing are always safe."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Cache(Generic[K, V]):
    """Values by key up to a total weight; the least recently used go first. Any number of threads may use it."""

    def __init__(self, limit: int, *, weigh: Callable[[V], int] = lambda value: 1) -> None:
        self._limit = limit
        self._weigh = weigh
        self._weight = 0
        self._values: OrderedDict[K, V] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        """Given a key, return its value, or None when it is not remembered."""
        with self._lock:
            value = self._values.get(key)
            if value is not None:
                self._values.move_to_end(key)
            return value

    def put(self, key: K, value: V) -> V:
        """Given a key and its value, remember and return it; what no longer fits is forgotten."""
        with self._lock:
            if key not in self._values:
                self._values[key] = value
                self._weight += self._weigh(value)
            while self._weight > self._limit and len(self._values) > 1:
                _, oldest = self._values.popitem(last=False)
                self._weight -= self._weigh(oldest)
        return value
