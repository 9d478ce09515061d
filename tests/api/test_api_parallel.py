"""Calls in parallel."""

import threading
from collections.abc import Callable, Iterator
from threading import Barrier, Event

import httpx
import pytest

from syncd.api.client import Client
from syncd.api.parallel import AHEAD, run_parallel


def test_every_item_comes_back_with_its_result() -> None:
    assert dict(run_parallel(lambda one: one * one, range(500), workers=4)) == {one: one * one for one in range(500)}


def test_nothing_comes_of_nothing() -> None:
    assert list(run_parallel(str, [])) == []


def test_workers_work_at_the_same_time() -> None:
    meeting = Barrier(4, timeout=10)
    assert len(list(run_parallel(lambda _: meeting.wait(), range(8), workers=4))) == 8


def test_results_come_as_they_are_done() -> None:
    first_may_end = Event()

    def call(one: int) -> int:
        return one if one else int(first_may_end.wait(10))

    results = run_parallel(call, [0, 1], workers=2)
    assert next(results) == (1, 1)
    first_may_end.set()
    assert next(results) == (0, 1)


def test_items_are_taken_no_faster_than_results() -> None:
    taken = []

    def items() -> Iterator[int]:
        for one in range(1000):
            taken.append(one)
            yield one

    results = run_parallel(lambda one: one, items(), workers=2)
    for _ in range(10):
        next(results)
    assert len(taken) <= 10 + 2 * AHEAD
    results.close()  # type: ignore[attr-defined]


def test_the_first_error_ends_the_rest() -> None:
    called = []

    def call(one: int) -> int:
        called.append(one)
        if one == 5:
            raise KeyError(one)
        return one

    with pytest.raises(KeyError):
        list(run_parallel(call, range(10_000), workers=2))
    assert len(called) < 50


def test_no_thread_outlives_an_abandoned_gathering() -> None:
    before = threading.active_count()
    results = run_parallel(lambda one: one, range(100), workers=4)
    next(results)
    results.close()  # type: ignore[attr-defined]
    assert threading.active_count() == before


def test_threads_share_a_client_and_are_all_counted(client_on: Callable[..., Client]) -> None:
    client = client_on(lambda request: httpx.Response(200, json={"object": "space", "id": request.url.path[-3:]}))
    ids = [f"{one:03}" for one in range(400)]
    assert {one: space.id for one, space in run_parallel(client.spaces.get, ids)} == dict(zip(ids, ids, strict=True))
    assert client.requests_sent == {"GET": 400}
