"""Which repositories are due, and where their jobs wait; asked every few seconds by one worker of the fleet."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import LiteralString

from syncd.errors import ConfigInvalid
from syncd.fleet.database import FleetDatabase

ANY = "any"
"""The queue of jobs that every worker takes."""
DUE_MAX = 500
"""Jobs that are made at once: what is due beyond that waits in the database, in the order of priority and time."""
_PRIORITY: LiteralString = """(r.priority * 3 + CASE
    WHEN r.woken_at > coalesce(r.begun_at, '-infinity') THEN 2
    WHEN r.is_active OR r.ended_at IS NULL OR r.due_at < now() - make_interval(secs => r.seconds) THEN 1
    ELSE 0 END)"""
"""Of a job. What the operator prefers goes first; then what was woken; then what is new, has changed something in its
last run, or is late by an interval; then the others."""
_PATIENCE = 5.0
"""Seconds that a job waits for the worker that has a clone, before any may take it."""


@dataclass(frozen=True)
class DueRepository:
    """A repository that is to run, the priority of its job, and the queue for it.

    Units: `at`, when it was found to be due, in epoch seconds by the clock of the database.
    """

    name: str
    priority: int
    queue: str
    at: float


def name_queue(worker: str) -> str:
    """Return the queue of jobs that one worker takes before others, since it has the clones."""
    return f"at-{worker}"


def list_due(
    database: FleetDatabase, *, worker_seconds: float, names: Sequence[str] | None = None
) -> Sequence[DueRepository]:
    """Return what is to run now, most urgent first: not what runs already, nor what has no rate left for its token.

    Units: a worker that was not seen for `worker_seconds` counts as gone. Shape: of these names, else of all.
    Raises: FleetUnreachable.
    """
    rows = database.query(
        f"SELECT r.name, {_PRIORITY}, coalesce(w.name, ''), extract(epoch FROM clock_timestamp())::float8"  # noqa: S608
        " FROM syncd_fleet_repositories r"
        " LEFT JOIN syncd_fleet_workers w ON w.name = r.last_worker AND NOT w.is_draining"
        " AND w.seen_at > now() - make_interval(secs => %(seconds)s)"
        " WHERE r.due_at <= now() AND (%(names)s::text[] IS NULL OR r.name = ANY(%(names)s))"
        " AND NOT EXISTS (SELECT 1 FROM syncd_fleet_leases l WHERE l.repository = r.name AND l.expires_at > now())"
        " AND NOT EXISTS (SELECT 1 FROM syncd_fleet_limits t WHERE t.token_key = r.token_key AND t.until > now())"
        " AND NOT EXISTS (SELECT 1 FROM procrastinate_jobs j WHERE j.queueing_lock = r.name AND j.status = 'todo')"
        " ORDER BY 2 DESC, r.due_at LIMIT %(limit)s",
        {"seconds": worker_seconds, "limit": DUE_MAX, "names": None if names is None else [*names]},
    )
    return [
        DueRepository(name, priority, name_queue(worker) if worker else ANY, at) for name, priority, worker, at in rows
    ]


def release_waiting(database: FleetDatabase) -> None:
    """Let every worker take the jobs that have waited too long for one of them. Raises: FleetUnreachable."""
    database.query(
        "UPDATE procrastinate_jobs SET queue_name = %(any)s WHERE status = 'todo' AND queue_name LIKE 'at-%%'"
        " AND (args ->> 'at')::float8 < extract(epoch FROM clock_timestamp()) - %(patience)s",
        {"any": ANY, "patience": _PATIENCE},
    )


def wake_repositories(database: FleetDatabase, names: Sequence[str]) -> None:
    """Make repositories due now, before others; one that runs is due again when its run has ended.

    Raises: ConfigInvalid for one that the fleet does not have; FleetUnreachable.
    """
    with database.transact() as cursor:
        cursor.execute(
            "UPDATE syncd_fleet_repositories SET woken_at = clock_timestamp(), due_at = clock_timestamp()"
            " WHERE name = ANY(%(names)s) RETURNING name",
            {"names": [*names]},
        )
        missing = set(names) - {str(row[0]) for row in cursor.fetchall()}
        cursor.execute(
            f"UPDATE procrastinate_jobs j SET priority = {_PRIORITY} FROM syncd_fleet_repositories r"  # noqa: S608
            " WHERE r.name = ANY(%(names)s) AND j.queueing_lock = r.name AND j.status = 'todo'",
            {"names": [*names]},
        )
        if missing:
            raise ConfigInvalid(f"the fleet has no repository {', '.join(sorted(missing))}", hint="syncd fleet status")


def find_wake_time(database: FleetDatabase, name: str, spacing: float) -> datetime | None:
    """Return when a repository may next be woken by somebody from outside; None where the fleet does not have it.

    Units: `spacing` is the seconds from its last wake at least. Raises: FleetUnreachable.
    """
    found = database.query(
        "SELECT greatest(clock_timestamp(), woken_at + make_interval(secs => %(spacing)s))"
        " FROM syncd_fleet_repositories WHERE name = %(name)s",
        {"name": name, "spacing": spacing},
    )
    return found[0][0] if found else None
