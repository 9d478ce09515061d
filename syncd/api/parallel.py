"""Calls in parallel: a bounded window of work, results as they come, the first error ends it."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from itertools import islice
from queue import SimpleQueue
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

AHEAD = 2
"""Items taken in for each worker: one under way, one ready."""


def run_parallel(
    call: Callable[[Item], Result], items: Iterable[Item], *, workers: int = 8
) -> Iterator[tuple[Item, Result]]:
    """Yield each item with the result of a call on it, in the order in which they finish.

    Items are taken only as fast as results are taken. The first error is raised when it happens; what has not begun by
    then never begins, and what is under way is waited for.
    """
    _share_arena()
    waiting = iter(items)
    under_way: dict[Future[Result], Item] = {}
    done: SimpleQueue[Future[Result]] = SimpleQueue()
    pool = ThreadPoolExecutor(workers, thread_name_prefix="syncd-api")
    try:
        while True:
            for item in islice(waiting, AHEAD * workers - len(under_way)):
                future = pool.submit(call, item)
                under_way[future] = item
                future.add_done_callback(done.put)
            if not under_way:
                return
            future = done.get()
            yield under_way.pop(future), future.result()
    finally:
        pool.shutdown(cancel_futures=True)


@cache
def _share_arena() -> None:
    """Let all threads take memory from one arena: glibc gives each its own, where what it has freed stays unused."""
    import ctypes  # here, since most commands need no threads

    arena_max = -8  # M_ARENA_MAX of glibc; other C libraries have no such setting
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(arena_max, 1)
