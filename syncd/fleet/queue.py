"""The job queue of one worker: procrastinate's, which is left and taken up again when its database was away."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

import procrastinate
import psycopg
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Job, Status
from procrastinate.manager import JobManager

from syncd.errors import FleetUnreachable
from syncd.fleet.database import SECONDS, build_connection_options, describe_failure

_LOGS = ("procrastinate", "asyncio")
QUEUE, RECORDS = "queue", "records"
"""The two ways in which a worker uses the database: it takes jobs, and notes how it is."""


class DatabaseContact:
    """Whether a worker reaches the database of its fleet, told once when that changes; threads may share it."""

    def __init__(self, place: str, warn: Callable[[str], None]) -> None:
        """Begin with a database that is reached. Shape: `place` says where it is; `warn` gets one line each time."""
        self._place, self._warn = place, warn
        self._lock = threading.Lock()
        self._lost: set[str] = set()
        self._since = 0.0
        self._outages = 0

    def note_lost(self, use: str, why: str) -> None:
        """Note that one of the two ways of use came to no answer."""
        with self._lock:
            is_news = not self._lost
            self._lost.add(use)
            if is_news:
                self._since = time.monotonic()
                self._outages += 1
        if is_news:
            self._warn(
                f"no connection to the fleet at {self._place}: {why}; no run begins and none that runs writes any more"
                " until it answers, and then the work goes on by itself"
            )

    def note_answer(self, use: str) -> None:
        """Note that one of the two ways of use works."""
        with self._lock:
            is_news = self._lost == {use}
            self._lost.discard(use)
            seconds = time.monotonic() - self._since
        if is_news:
            self._warn(f"the fleet at {self._place} answers again, after {seconds:.0f} s; the work goes on")

    @property
    def outages(self) -> int:
        """How often the database was lost since the worker began."""
        return self._outages

    @property
    def is_lost(self) -> bool:
        """Whether one of the ways of use had no answer the last time."""
        return bool(self._lost)


class JobQueue:
    """The queue from one connection to its loss; make a new one after that. For use within one event loop."""

    def __init__(self, url: str, *, connections: int) -> None:
        """Prepare up to `connections` connections; nothing is asked yet."""
        connector = procrastinate.PsycopgConnector(
            conninfo=url,
            min_size=1,
            max_size=connections,
            timeout=SECONDS,
            kwargs=build_connection_options(url),
        )
        self.app = procrastinate.App(connector=connector)
        self._broken = asyncio.Event()
        self._why = ""
        self.app.job_manager = self._jobs = _Jobs(connector, self._break_off)

    async def run(self, works: Iterable[Coroutine[Any, Any, None]], ending: asyncio.Event) -> None:
        """Let all of `works` take jobs until one of them breaks off or `ending` is set; the jobs that run end first.

        Raises: FleetUnreachable for a queue that broke off; whatever else a work raised.
        """
        tasks = [asyncio.create_task(work) for work in (*works, _wait_for(ending), _wait_for(self._broken))]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        self._jobs.is_over = True
        for task in tasks:
            task.cancel()
        ends = await asyncio.gather(*tasks, return_exceptions=True)
        if ending.is_set():
            return
        failures = [end for end in ends if isinstance(end, Exception)]
        for failure in failures:
            if not is_connection_failure(failure):
                raise failure
        first = _describe_end(failures[0]) if failures else "a connection to the database of the fleet broke off"
        raise FleetUnreachable(self._why or first)

    def _break_off(self, error: ConnectorException) -> None:
        self._why = self._why or _describe_end(error)
        self._broken.set()


class _Jobs(JobManager):
    """Begins no worker once the queue `is_over`, and ends jobs; a job whose end was not noted would keep its repository
    from every worker while this one lives."""

    def __init__(self, connector: procrastinate.PsycopgConnector, break_off: Callable[[ConnectorException], None]):
        super().__init__(connector)
        self._break_off = break_off
        self.is_over = False

    async def register_worker(self) -> int:
        worker = await super().register_worker()
        # `asyncio.wait_for` of Python 3.11, in which connections are waited for, may swallow that a task was cancelled.
        if self.is_over:
            await self.unregister_worker(worker)
            raise asyncio.CancelledError
        return worker

    async def finish_job(self, job: Job, status: Status, delete_job: bool) -> None:
        try:
            await super().finish_job(job, status, delete_job)
        except ConnectorException as error:
            # Others have ended it where they found that this worker was silent for too long.
            if not isinstance(error.__cause__, psycopg.errors.RaiseException):
                self._break_off(error)


async def _wait_for(event: asyncio.Event) -> None:
    await event.wait()


def is_connection_failure(error: Exception) -> bool:
    """Return whether an error says only that the database did not answer, or took no part of the queue's work."""
    return isinstance(error, ConnectorException | psycopg.Error | FleetUnreachable)


def _describe_end(error: Exception) -> str:
    """Say in one line why the queue broke off."""
    cause = error.__cause__ if isinstance(error, ConnectorException) and error.__cause__ else error
    if isinstance(cause, psycopg.errors.ForeignKeyViolation):
        return "this worker was silent for so long that others counted it as dead"
    return describe_failure(cause)


def translate_queue_failure(error: Exception) -> FleetUnreachable:
    """Return an error of the queue as one of syncd."""
    return error if isinstance(error, FleetUnreachable) else FleetUnreachable(_describe_end(error))


class QueueLog(logging.Handler):
    """Says what the queue logs: nothing of connections, which the worker tells in one line, all of a defect."""

    def __init__(self, contact: DatabaseContact, warn: Callable[[str], None]) -> None:
        """Tell `contact` of a connection without which the queue ends; `warn` gets defects with their traceback."""
        super().__init__(logging.WARNING)
        self._contact, self._warn = contact, warn

    def emit(self, record: logging.LogRecord) -> None:
        """Say one record."""
        error = record.exc_info[1] if record.exc_info else None
        if not isinstance(error, Exception) or not is_connection_failure(error):
            self._warn(self.format(record))
        elif getattr(record, "action", "") == "side_task_failed":
            # The queue ends by this, but waits for its connections before.
            self._contact.note_lost(QUEUE, translate_queue_failure(error).what)

    def __enter__(self) -> "QueueLog":
        for name in _LOGS:
            logging.getLogger(name).addHandler(self)
            logging.getLogger(name).propagate = False
        return self

    def __exit__(self, *error: object) -> None:
        for name in _LOGS:
            logging.getLogger(name).removeHandler(self)
            logging.getLogger(name).propagate = True
