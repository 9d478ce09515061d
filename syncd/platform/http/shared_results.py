"""Results that many ask for: remembered by what they are made of, and made once for all who ask meanwhile."""

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
        """Given a key and how to make what belongs to it, return that. Raises: what `make` raises, for all who ask.

        Making is cancelled when the last one who asked has left. Shapes: without `remember` the key does not tell all
        that the result depends on for ever, and whoever asks when it is made has it made anew.
        """
        known = self._cache.get(key)
        if known is not None:
            return known
        running = self._running.get(key) or self._start(key, make, remember)
        running.waiters += 1
        try:
            made = await asyncio.shield(running.task)
        finally:
            running.waiters -= 1
            if not running.waiters and not running.task.done():
                # Whoever asks from now on begins anew.
                self._running.pop(key, None)
                running.scope.cancel()
        assert made is not None
        return made

    def _start(self, key: K, make: Callable[[], Awaitable[V]], remember: bool) -> _Running[V]:
        scope = anyio.CancelScope()
        task = asyncio.ensure_future(self._make(key, make, scope, remember))
        running = self._running[key] = _Running(task, scope)
        task.add_done_callback(lambda done: self._end(key, running))
        return running

    async def _make(
        self, key: K, make: Callable[[], Awaitable[V]], scope: anyio.CancelScope, remember: bool
    ) -> V | None:
        with scope:
            made = await make()
            return self._cache.put(key, made) if remember else made
        return None

    def _end(self, key: K, running: _Running[V]) -> None:
        if self._running.get(key) is running:
            del self._running[key]
        if not running.task.cancelled():
            # Told to those who wait; nobody may be left to be told.
            running.task.exception()
