"""A cache of results in which concurrent requests for one key share one computation."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

import anyio

from syncd.platform.cache import Cache

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass
class _Running(Generic[V]):
    """A result that is being made; `waiters` counts the requests that wait for it."""

    task: "asyncio.Task[V | None]"
    scope: anyio.CancelScope
    waiters: int = 0


class SharedResults(Generic[K, V]):
    """Immutable results of one event loop by key, up to a total weight."""

    def __init__(self, limit: int, *, weigh: Callable[[V], int]) -> None:
        self._cache: Cache[K, V] = Cache(limit, weigh=weigh)
        self._running: dict[K, _Running[V]] = {}

    async def get(self, key: K, make: Callable[[], Awaitable[V]], *, remember: bool = True) -> V:
        """Return the result for a key, made by `make` unless it is cached or being made. Raises: what `make` raises.

        The computation is cancelled when the last request that waits for it has left. Shape: without `remember` the
        result is not cached, because it also depends on something that is not in the key.
        """
        known = self._cache.get(key)
        if known is not None:
            return known
        running = self._running.get(key) or self._start_making(key, make, remember)
        running.waiters += 1
        try:
            result = await asyncio.shield(running.task)
        finally:
            running.waiters -= 1
            if not running.waiters and not running.task.done():
                # A later request must not join a computation that is being cancelled.
                self._running.pop(key, None)
                running.scope.cancel()
        assert result is not None
        return result

    def _start_making(self, key: K, make: Callable[[], Awaitable[V]], remember: bool) -> _Running[V]:
        scope = anyio.CancelScope()
        task = asyncio.ensure_future(self._make_result(key, make, scope, remember))
        running = self._running[key] = _Running(task, scope)
        task.add_done_callback(lambda done: self._forget_running(key, running))
        return running

    async def _make_result(
        self, key: K, make: Callable[[], Awaitable[V]], scope: anyio.CancelScope, remember: bool
    ) -> V | None:
        with scope:
            result = await make()
            return self._cache.put(key, result) if remember else result
        return None

    def _forget_running(self, key: K, running: _Running[V]) -> None:
        if self._running.get(key) is running:
            del self._running[key]
        if not running.task.cancelled():
            # Marks the exception as retrieved: asyncio logs one that nobody awaited, and all waiters may have left.
            running.task.exception()
