"""The workers of a fleet, as each of them notes in the database how it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from syncd.errors import ConfigInvalid
from syncd.fleet.database import FleetDatabase


@dataclass(frozen=True)
class WorkerCounts:
    """What a worker counts since its start; `running` and `cached` are as of now."""

    running: int = 0
    runs: int = 0
    failed_runs: int = 0
    lost_leases: int = 0
    cached: int = 0
    cache_bytes: int = 0


@dataclass(frozen=True)
class WorkerState:
    """A worker of the fleet. Units: seconds ago. Shape: `jobs` is how many runs it does at once."""

    name: str
    host: str
    version: str
    jobs: int
    is_draining: bool
    seen_ago: float
    counts: WorkerCounts


def register_worker(database: FleetDatabase, name: str, *, host: str, version: str, jobs: int) -> datetime:
    """Note that a worker begins, with all its counts at 0, and return since when it is registered.

    Shape: one of the same name that still works is forgotten, and ends. Raises: FleetUnreachable.
    """
    with database.transact() as cursor:
        cursor.execute("DELETE FROM syncd_fleet_workers WHERE name = %(name)s", {"name": name})
        cursor.execute(
            "INSERT INTO syncd_fleet_workers (name, host, version, jobs)"
            " VALUES (%(name)s, %(host)s, %(version)s, %(jobs)s) RETURNING started_at",
            {"name": name, "host": host, "version": version, "jobs": jobs},
        )
        started_at: datetime = cursor.fetchall()[0][0]
        return started_at


def note_worker(database: FleetDatabase, name: str, started_at: datetime, counts: WorkerCounts) -> bool:
    """Note how a worker is, and return whether it is to go on: not when it drains, or was forgotten.

    Shape: `started_at` as `register_worker` returned it. Raises: FleetUnreachable.
    """
    found = database.query(
        "UPDATE syncd_fleet_workers SET seen_at = clock_timestamp(), running = %(running)s, runs = %(runs)s,"
        " failed_runs = %(failed)s, lost_leases = %(lost)s, cached = %(cached)s, cache_bytes = %(bytes)s"
        " WHERE name = %(name)s AND started_at = %(started_at)s RETURNING is_draining",
        {
            "name": name,
            "started_at": started_at,
            "running": counts.running,
            "runs": counts.runs,
            "failed": counts.failed_runs,
            "lost": counts.lost_leases,
            "cached": counts.cached,
            "bytes": counts.cache_bytes,
        },
    )
    return bool(found) and not found[0][0]


def forget_worker(database: FleetDatabase, name: str, started_at: datetime) -> None:
    """Note that a worker has ended; another one that has its name by now stays. Raises: FleetUnreachable."""
    database.query(
        "DELETE FROM syncd_fleet_workers WHERE name = %(name)s AND started_at = %(started_at)s",
        {"name": name, "started_at": started_at},
    )


def drain_worker(database: FleetDatabase, name: str) -> None:
    """Ask a worker to end its runs, to begin no other, and to end. Raises: ConfigInvalid, FleetUnreachable."""
    found = database.query(
        "UPDATE syncd_fleet_workers SET is_draining = true WHERE name = %(name)s RETURNING name", {"name": name}
    )
    if not found:
        raise ConfigInvalid(f"the fleet has no worker {name}", hint="syncd fleet status")


def list_workers(database: FleetDatabase) -> Sequence[WorkerState]:
    """Return the workers of the fleet in the order of their names, with those that died without a word.

    Raises: FleetUnreachable.
    """
    rows = database.query(
        "SELECT name, host, version, jobs, is_draining,"
        " extract(epoch FROM now() - seen_at)::float8, running, runs, failed_runs, lost_leases, cached, cache_bytes"
        " FROM syncd_fleet_workers ORDER BY name"
    )
    return [
        WorkerState(name, host, version, jobs, is_draining, seen_ago, WorkerCounts(*counts))
        for name, host, version, jobs, is_draining, seen_ago, *counts in rows
    ]
