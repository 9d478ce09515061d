"""Background jobs: an outbox in the database, and threads that run each job at least once.

A job is inserted in the transaction that causes it, so that neither exists without the other. A worker leases it, runs
it outside of any transaction, and deletes it; the lease of a worker that dies expires. So every handler must be
idempotent, and any number of processes may work on one database.
"""

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic
from typing import Any

import sqlalchemy as sa

from syncd.platform.database.tables import insert_new
from syncd.platform.schema.jobs import jobs
from syncd.platform.settings import PlatformSettings
from syncd.platform.storage.storage import Storage
from syncd.platform.storage.times import format_time

LEASE = timedelta(minutes=5)
"""Longer than one call of any handler: a handler with more to do returns in between and is called again."""
FAILURES_MAX = 8
"""Failures in a row after which a job is given up; each doubles the delay, from one second."""
POLL_S = 1.0
THREADS = 2

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class JobContext:
    """What a handler gets beside the payload. Shape: `attempt` counts the calls for one job, from 1."""

    storage: Storage
    settings: PlatformSettings
    attempt: int = 1


JobHandler = Callable[[JobContext, Mapping[str, Any]], timedelta | None]
"""Runs one job; returns the delay after which it wants to be called again, None when the job is done."""


def enqueue_job(
    connection: sa.Connection,
    storage: Storage,
    kind: str,
    payload: Mapping[str, Any],
    *,
    due: datetime | None = None,
    key: str | None = None,
) -> None:
    """Insert a job, which runs at `due`, or as soon as the transaction is committed.

    Shape: nothing is inserted while a job of this kind and `key` waits, also for another attempt: that one runs for
    both, with its own payload and due time. A running job does not count as waiting.
    """
    row = {"id": storage.new_id(), "kind": kind, "key": key, "waits_as": key, "payload": dict(payload)}
    counts = {"attempts": 0, "failures": 0}
    insert_new(connection, jobs, [{**row, **counts, "due_at": format_time(due or storage.now())}])


class Worker:
    """Threads that run due jobs until they are stopped; `with Worker(storage, settings, handlers):`."""

    def __init__(self, storage: Storage, settings: PlatformSettings, handlers: Mapping[str, JobHandler]) -> None:
        self.context = JobContext(storage, settings)
        self.handlers = handlers
        self._stop_requested = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Start the threads, which do not keep the process alive."""
        for number in range(THREADS):
            thread = threading.Thread(target=self._run, name=f"syncd-worker-{number}", daemon=True)
            thread.start()
            self._threads.append(thread)

    def stop(self, *, patience: float = 10.0) -> None:
        """Stop after the running jobs. Units: `patience` in seconds; a job that takes longer is run again later."""
        self._stop_requested.set()
        deadline = monotonic() + patience
        for thread in self._threads:
            thread.join(max(0.0, deadline - monotonic()))

    def __enter__(self) -> "Worker":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _run(self) -> None:
        while not self._stop_requested.is_set():
            try:
                busy = run_due_job(self.context, self.handlers)
                self.context.storage.health.note_success("read")
            except sa.exc.SQLAlchemyError as failure:
                self.context.storage.health.note_failure("read", failure)
                _log.warning("the queue of jobs cannot be used: %s", type(failure).__name__)
                busy = False
            if not busy:
                self._stop_requested.wait(POLL_S)


def run_due_job(context: JobContext, handlers: Mapping[str, JobHandler]) -> bool:
    """Run a job that is due, and return whether there was one; a job that fails is tried again later."""
    job = _lease_job(context.storage, tuple(handlers))
    if job is None:
        return False
    if job.failures > FAILURES_MAX:
        # Every attempt killed its worker: a job that does so must not be retried for ever.
        _log.error("job %s %s is given up: its workers died", job.kind, job.id)
        _finish_job(context.storage, job, None, failures=job.failures)
        return True
    failures = 0
    try:
        again = handlers[job.kind](JobContext(context.storage, context.settings, job.attempts), job.payload)
    except Exception:  # noqa: BLE001  (one job that fails must not stop the others)
        failures = job.failures
        given_up = failures >= FAILURES_MAX
        _log.exception("job %s %s failed, attempt %d%s", job.kind, job.id, job.attempts, ", given up" * given_up)
        again = None if given_up else timedelta(seconds=2 ** (failures - 1))
    _finish_job(context.storage, job, again, failures=failures)
    return True


def _finish_job(storage: Storage, job: sa.Row[Any], again: timedelta | None, *, failures: int) -> None:
    mine = (jobs.c.id == job.id, jobs.c.lease == job.lease)
    with storage.write() as connection:
        if again is None or _has_successor(connection, job):
            connection.execute(jobs.delete().where(*mine))
        else:
            values = {
                "lease": None,
                "waits_as": job.key,
                "due_at": format_time(storage.now() + again),
                "failures": failures,
            }
            connection.execute(jobs.update().where(*mine).values(values))


def _has_successor(connection: sa.Connection, job: sa.Row[Any]) -> bool:
    same = sa.select(jobs.c.id).where(jobs.c.kind == job.kind, jobs.c.waits_as == job.key, jobs.c.id != job.id)
    return job.key is not None and connection.scalar(same) is not None


def _lease_job(storage: Storage, kinds: tuple[str, ...]) -> sa.Row[Any] | None:
    due = sa.select(jobs.c.id).where(jobs.c.due_at <= format_time(storage.now()), jobs.c.kind.in_(kinds))
    oldest = due.order_by(jobs.c.due_at, jobs.c.id).limit(1)
    # First without the write lock: an idle platform must not take it every second.
    with storage.read() as connection:
        if connection.scalar(oldest) is None:
            return None
    # `waits_as` is cleared, so that a later request inserts a job of its own. The call counts as failed until it ends.
    values = {
        "lease": storage.new_id(),
        "waits_as": None,
        "due_at": format_time(storage.now() + LEASE),
        "attempts": jobs.c.attempts + 1,
        "failures": jobs.c.failures + 1,
    }
    with storage.write() as connection:
        id = connection.scalar(oldest)
        return connection.execute(jobs.update().where(jobs.c.id == id).values(values).returning(jobs)).one_or_none()
