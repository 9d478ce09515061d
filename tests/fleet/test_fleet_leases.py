"""Who may write for a repository: one worker at a time, and whoever comes too late is told so."""

from collections.abc import Iterator

import pytest

from syncd.errors import LeaseLost
from syncd.fleet.database import FleetDatabase
from syncd.fleet.leases import Lease, acquire_lease
from syncd.fleet.schedule import ANY, list_due, name_queue, release_waiting, wake_repositories
from syncd.fleet.workers import (
    WorkerCounts,
    drain_worker,
    forget_worker,
    list_workers,
    note_worker,
    register_worker,
)
from tests.fleet.conftest import Fleet


@pytest.fixture
def database(fleet: Fleet) -> Iterator[FleetDatabase]:
    fleet.make()
    with FleetDatabase(fleet.url) as found:
        yield found


def acquire(database: FleetDatabase, worker: str) -> Lease:
    lease = acquire_lease(database, "docs", worker=worker, seconds=600)
    assert lease is not None
    return lease


def expire(database: FleetDatabase) -> None:
    database.query("UPDATE syncd_fleet_leases SET expires_at = clock_timestamp()")


def test_one_worker_has_a_repository_at_a_time(database: FleetDatabase) -> None:
    with acquire(database, "a"):
        assert acquire_lease(database, "docs", worker="b", seconds=600) is None
    with acquire(database, "b") as second:
        second.check()


def test_whoever_comes_too_late_is_told_so(database: FleetDatabase) -> None:
    with acquire(database, "a") as first:
        first.check()
        expire(database)
        with pytest.raises(LeaseLost):
            first.check()
        assert first.is_lost
        with acquire(database, "b") as second:
            assert second.fence > first.fence
            with pytest.raises(LeaseLost):
                first.check()
            second.check()
        with pytest.raises(LeaseLost):
            first.check()


def test_a_lease_outlives_a_restart_of_the_database_between_two_statements(
    database: FleetDatabase, fleet: Fleet
) -> None:
    with acquire(database, "a") as lease:
        lease.check()
        end_others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'syncd'"
        assert fleet.query(end_others)
        lease.check()


def test_a_lease_that_was_lost_gives_nothing_back(database: FleetDatabase) -> None:
    with acquire(database, "a"):
        expire(database)
        second = acquire(database, "b")
    second.check()


def test_a_repository_that_is_removed_loses_its_lease(database: FleetDatabase, fleet: Fleet) -> None:
    with acquire(database, "a") as lease:
        assert fleet.syncd("fleet", "remove", "docs").returncode == 0
        with pytest.raises(LeaseLost):
            lease.check()
    assert acquire_lease(database, "docs", worker="a", seconds=600) is None


def test_a_repository_that_comes_back_is_not_that_of_its_former_holder(database: FleetDatabase, fleet: Fleet) -> None:
    """An operator mends a repository while its first run goes on: it is removed, and added again."""
    with acquire(database, "a") as first:
        assert fleet.syncd("fleet", "remove", "docs").returncode == 0
        assert fleet.syncd("fleet", "add", "--config", fleet.write_config()).returncode == 0
        with acquire(database, "b") as second:
            with pytest.raises(LeaseLost):
                first.check()
            second.check()
            assert second.fence > first.fence


def test_the_number_of_a_lease_grows_when_a_repository_comes_back(database: FleetDatabase) -> None:
    with acquire(database, "a") as first:
        pass
    with acquire(database, "a") as second:
        pass
    assert second.fence == first.fence + 1


def test_what_is_due_goes_to_the_worker_that_has_the_clone(database: FleetDatabase) -> None:
    started_at = register_worker(database, "a", host="h", version="1", jobs=1)
    database.query("UPDATE syncd_fleet_repositories SET last_worker = 'a'")
    (due,) = list_due(database, worker_seconds=60)
    assert (due.name, due.queue) == ("docs", name_queue("a"))
    ((now,),) = database.query("SELECT extract(epoch FROM clock_timestamp())::float8")
    assert now - 60 < due.at <= now, "by the clock that says later whether it has waited too long"
    drain_worker(database, "a")
    (due,) = list_due(database, worker_seconds=60)
    assert due.queue == ANY
    assert not note_worker(database, "a", started_at, WorkerCounts())


def test_who_takes_over_the_name_of_a_worker_is_not_forgotten_with_it(database: FleetDatabase) -> None:
    first = register_worker(database, "a", host="one", version="1", jobs=1)
    second = register_worker(database, "a", host="two", version="1", jobs=1)
    assert not note_worker(database, "a", first, WorkerCounts(runs=7)), "its name is another's"
    forget_worker(database, "a", first)
    assert note_worker(database, "a", second, WorkerCounts(runs=1))
    (found,) = list_workers(database)
    assert (found.host, found.counts.runs) == ("two", 1)


def test_a_job_does_not_wait_for_ever_for_one_worker(database: FleetDatabase) -> None:
    add = (
        "INSERT INTO procrastinate_jobs (queue_name, task_name, args, lock)"
        " VALUES ('at-a', 'syncd.run', jsonb_build_object('at', extract(epoch FROM now()) - %(ago)s), %(lock)s)"
    )
    database.query(add, {"ago": 60, "lock": "old"})
    database.query(add, {"ago": 0, "lock": "new"})
    release_waiting(database)
    found = database.query("SELECT lock, queue_name FROM procrastinate_jobs ORDER BY lock")
    assert list(found) == [("new", "at-a"), ("old", ANY)]


def test_what_runs_is_not_due_and_a_wake_is_not_lost(database: FleetDatabase) -> None:
    with acquire(database, "a"):
        assert not list_due(database, worker_seconds=60)
        wake_repositories(database, ["docs"])
        assert not list_due(database, worker_seconds=60)
    assert [one.name for one in list_due(database, worker_seconds=60)] == ["docs"]


def test_a_token_without_rate_left_is_not_used_by_anybody(database: FleetDatabase) -> None:
    database.query("UPDATE syncd_fleet_repositories SET token_key = 'k'")
    database.query("INSERT INTO syncd_fleet_limits VALUES ('k', now() + interval '1 hour')")
    assert not list_due(database, worker_seconds=60)
    database.query("UPDATE syncd_fleet_limits SET until = now()")
    assert list_due(database, worker_seconds=60)


def test_of_higher_priority_comes_first(database: FleetDatabase) -> None:
    copy = (
        "INSERT INTO syncd_fleet_repositories (name, platform, document, seconds, priority, due_at)"
        " SELECT %(name)s, platform, document, seconds, %(priority)s, due_at + interval '1 ms'"
        " FROM syncd_fleet_repositories WHERE name = 'docs'"
    )
    database.query(copy, {"name": "later", "priority": -1})
    database.query(copy, {"name": "sooner", "priority": 5})
    assert [one.name for one in list_due(database, worker_seconds=60)] == ["sooner", "docs", "later"]
