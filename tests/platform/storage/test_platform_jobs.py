"""Jobs: an outbox in the database that is worked off at least once, whatever befalls a worker."""

import threading
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from syncd.platform.schema.jobs import jobs as table
from syncd.platform.server import BackgroundServer
from syncd.platform.settings import PlatformSettings
from syncd.platform.storage import jobs
from syncd.platform.storage.storage import Storage
from tests.due_jobs import run_due_jobs
from tests.platform.clock import Clock
from tests.storages import new_storage

Done = list[Mapping[str, Any]]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["sqlite", "postgresql"])
def storage(
    request: pytest.FixtureRequest, tmp_path: Path, clock: Clock, postgres_url: Callable[[], str]
) -> Iterator[Storage]:
    database = postgres_url() if request.param == "postgresql" else None
    with Storage(tmp_path / "platform", database=database, clock=clock) as opened:
        yield opened


def enqueue(storage: Storage, payload: Mapping[str, Any] | None = None, **rest: Any) -> None:
    with storage.write() as connection:
        jobs.enqueue_job(connection, storage, "count", payload or {}, **rest)


def rows(storage: Storage) -> list[sa.Row[Any]]:
    with storage.read() as connection:
        return list(connection.execute(sa.select(table).order_by(table.c.due_at)))


def run(storage: Storage, handler: jobs.JobHandler) -> int:
    return run_due_jobs(jobs.JobContext(storage, PlatformSettings()), {"count": handler})


def test_a_job_is_done_once_when_it_is_due(storage: Storage, clock: Clock) -> None:
    done: Done = []
    enqueue(storage, {"number": 1})
    enqueue(storage, {"number": 2}, due=clock.now + timedelta(minutes=1))
    assert run(storage, lambda work, payload: done.append(payload)) == 1
    clock.on(minutes=1)
    assert run(storage, lambda work, payload: done.append(payload)) == 1
    assert run(storage, lambda work, payload: done.append(payload)) == 0
    assert done == [{"number": 1}, {"number": 2}]
    assert rows(storage) == []


def test_a_job_is_there_only_if_its_transaction_is(storage: Storage) -> None:
    def fail() -> None:
        with storage.write() as connection:
            jobs.enqueue_job(connection, storage, "count", {})
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert rows(storage) == []


def test_a_job_of_a_kind_that_nobody_here_does_waits_for_who_does(storage: Storage) -> None:
    enqueue(storage)
    assert run_due_jobs(jobs.JobContext(storage, PlatformSettings()), {}) == 0
    assert len(rows(storage)) == 1


def test_a_waiting_job_stands_for_those_with_its_key(storage: Storage) -> None:
    done: Done = []
    for number in range(3):
        enqueue(storage, {"number": number}, key="a")
    enqueue(storage, {"number": 9}, key="b")
    run(storage, lambda work, payload: done.append(payload))
    assert sorted(one["number"] for one in done) == [0, 9]


def test_a_job_at_work_does_not_stand_for_what_happens_meanwhile(storage: Storage) -> None:
    done: Done = []

    def handle(work: jobs.JobContext, payload: Mapping[str, Any]) -> None:
        if not done:
            enqueue(storage, {"number": 2}, key="a")
        done.append(payload)

    enqueue(storage, {"number": 1}, key="a")
    assert run(storage, handle) == 2
    assert done == [{"number": 1}, {"number": 2}]


def test_a_job_that_comes_again_keeps_its_key_and_makes_way_for_a_newer_one(storage: Storage, clock: Clock) -> None:
    def again(work: jobs.JobContext, payload: Mapping[str, Any]) -> timedelta:
        return timedelta(hours=1)

    enqueue(storage, {"number": 1}, key="a")
    run(storage, again)
    enqueue(storage, {"number": 2}, key="a")
    assert [row.payload for row in rows(storage)] == [{"number": 1}]

    def overtaken(work: jobs.JobContext, payload: Mapping[str, Any]) -> timedelta:
        if payload["number"] == 1:
            enqueue(storage, {"number": 3}, key="a")
        return timedelta(hours=1)

    clock.on(hours=1)
    run(storage, overtaken)
    assert [row.payload for row in rows(storage)] == [{"number": 3}]


def test_a_handler_that_fails_is_tried_again_ever_later_and_then_given_up(
    storage: Storage, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    attempts: list[int] = []

    def fail(work: jobs.JobContext, payload: Mapping[str, Any]) -> None:
        attempts.append(work.attempt)
        raise ValueError("no")

    enqueue(storage, key="a")
    enqueue(storage, due=clock.now + timedelta(days=1))
    waits = []
    while len(rows(storage)) == 2:
        run(storage, fail)
        waits.append(rows(storage)[0].due_at)
        clock.on(seconds=2 ** (len(waits) - 1))
    assert attempts == list(range(1, jobs.FAILURES_MAX + 1))
    assert "given up" in caplog.text


def test_only_failures_in_a_row_count(storage: Storage, clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    calls = 0

    def sometimes(work: jobs.JobContext, payload: Mapping[str, Any]) -> timedelta:
        nonlocal calls
        calls += 1
        if calls % jobs.FAILURES_MAX:
            raise ValueError("not now")
        return timedelta(seconds=1)

    enqueue(storage)
    for _ in range(3 * jobs.FAILURES_MAX):
        assert run(storage, sometimes) == 1
        clock.on(minutes=5)
    assert len(rows(storage)) == 1


def test_what_a_dead_worker_left_is_done_when_its_lease_ends(storage: Storage, clock: Clock) -> None:
    done: Done = []

    def die(work: jobs.JobContext, payload: Mapping[str, Any]) -> None:
        raise KeyboardInterrupt

    enqueue(storage, {"number": 1}, key="a")
    with pytest.raises(KeyboardInterrupt):
        run(storage, die)
    assert run(storage, lambda work, payload: done.append(payload)) == 0
    clock.now += jobs.LEASE
    assert run(storage, lambda work, payload: done.append(payload)) == 1
    assert done == [{"number": 1}]


def test_a_job_that_kills_every_worker_is_given_up(
    storage: Storage, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    deaths = 0

    def die(work: jobs.JobContext, payload: Mapping[str, Any]) -> None:
        nonlocal deaths
        deaths += 1
        raise KeyboardInterrupt

    enqueue(storage)
    while rows(storage):
        try:
            run(storage, die)
        except KeyboardInterrupt:
            clock.now += jobs.LEASE
    assert deaths == jobs.FAILURES_MAX
    assert "its workers died" in caplog.text


def test_who_lost_the_lease_settles_nothing(storage: Storage, clock: Clock) -> None:
    done: list[str] = []

    def slow(work: jobs.JobContext, payload: Mapping[str, Any]) -> timedelta | None:
        done.append("slow")
        if len(done) == 1:
            clock.now += jobs.LEASE
            # Another worker takes it meanwhile, and wants it again in an hour.
            assert run(storage, lambda work, payload: timedelta(hours=1)) == 1
        return None

    enqueue(storage)
    assert run(storage, slow) == 1
    assert [row.lease for row in rows(storage)] == [None]


def test_two_workers_share_the_work_and_do_each_job_once(storage: Storage) -> None:
    done: list[int] = []
    met = threading.Barrier(2, timeout=20)
    all_done = threading.Event()

    def handle(work: jobs.JobContext, payload: Mapping[str, Any]) -> None:
        if payload["number"] < 2:
            # Both first jobs are at work at the same time, in two threads.
            met.wait()
        done.append(payload["number"])
        if len(done) == 10:
            all_done.set()

    for number in range(10):
        enqueue(storage, {"number": number})
        storage._clock.on(seconds=1)  # type: ignore[attr-defined]  # the test's clock
    with jobs.Worker(storage, PlatformSettings(), {"count": handle}):
        assert all_done.wait(20)
    assert sorted(done) == list(range(10))
    assert rows(storage) == []


def test_a_served_platform_works_its_jobs_off_until_it_stops(tmp_path: Path) -> None:
    with new_storage(tmp_path) as storage:
        storage.bootstrap()
        with BackgroundServer(storage):
            assert sum(thread.name.startswith("syncd-worker") for thread in threading.enumerate()) == jobs.THREADS
        assert not any(thread.name.startswith("syncd-worker") for thread in threading.enumerate())
