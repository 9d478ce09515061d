"""One worker: it takes the jobs of the fleet from the queue, and one worker at a time makes new ones.

The queue is procrastinate's. It gives each job to one worker, keeps two jobs of a repository apart, wakes workers by
NOTIFY, makes the periodic job once for all of them, and knows whose heart has stopped.
"""

import asyncio
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import procrastinate
import procrastinate.exceptions
import psycopg
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Status

from syncd.daemon.health import USEFUL
from syncd.daemon.hooks.matching import WakeableRepository
from syncd.daemon.hooks.receiver import WebhookAnswer
from syncd.daemon.records import find_state, is_complete_run
from syncd.errors import ConfigInvalid, FleetUnreachable
from syncd.fleet.database import SECONDS, describe_database
from syncd.fleet.metrics import WorkerHealth, serve_worker_probes
from syncd.fleet.people.notifications import WaitingReceiver, deliver_waiting, list_waiting
from syncd.fleet.queue import QUEUE, RECORDS, DatabaseContact, JobQueue, QueueLog, translate_queue_failure
from syncd.fleet.run import RunContext, RunEnd, run_repository
from syncd.fleet.schedule import (
    ANY,
    DueRepository,
    find_wake_time,
    list_due,
    name_queue,
    release_waiting,
    wake_repositories,
)
from syncd.fleet.webhooks import FleetWebhooks
from syncd.fleet.workers import WorkerCounts, forget_worker, note_worker, register_worker

_RUN, _SCHEDULE, _WAKE = "syncd.run", "syncd.schedule", "syncd.wake"
_NOTIFY = "syncd.notify"
_SCHEDULING, _WAKING, _NOTIFYING = "scheduling", "waking", "notifying"
"""The queues of the periodic job, of wakes and of notifications, which wait behind no run."""
_WAKE_PRIORITY = -1
"""The priority of wakes: after the periodic job, so that no flood of webhooks stops it."""
_SCHEDULE_TIMES = "* * * * * */2"
"""When due repositories are looked for; the last field is seconds."""
_POLL_SECONDS = 2.0
_NOTES_PER_LEASE = 3
"""How often a worker notes how it is in the time after which it counts as dead."""


@dataclass(frozen=True)
class WorkerOptions:
    """How a worker works: how many runs at once, and who it is.

    Shape: `report` hears of each run that ended. `listen` is where metrics are answered, and `webhooks` where webhooks
    are heard, "" for nowhere; `warn` hears of a request there that could not be answered, and `report_webhook` of each
    webhook.
    """

    jobs: int
    host: str
    version: str
    report: Callable[[RunEnd], None]
    send_ready: Callable[[], None] = lambda: None
    send_alive: Callable[[], None] = lambda: None
    listen: str = ""
    webhooks: str = ""
    report_webhook: Callable[[WebhookAnswer, int], None] = lambda answer, more: None
    warn: Callable[[str], None] = lambda line: None


class FleetWorker:
    """A worker from its start to its end; `run` blocks."""

    def __init__(self, context: RunContext, options: WorkerOptions) -> None:
        """Prepare a worker; nothing is asked of the database yet."""
        self._stopping = threading.Event()
        self._context = replace(context, is_stopping=self._stopping.is_set)
        self._options = options
        self._counts = WorkerCounts()
        self._lock = threading.Lock()
        self._run_seconds = 0.0
        self._notifications: Counter[tuple[str, str]] = Counter()
        self._noted_at = time.monotonic()
        self._registered_at = datetime.min.replace(tzinfo=UTC)
        self._contact = DatabaseContact(describe_database(context.database.url), options.warn)
        self._has_begun = False
        self._ending: asyncio.Event | None = None
        self._webhooks = FleetWebhooks(
            context.database,
            context.environ,
            options.webhooks,
            wake=self._take_webhook,
            report=options.report_webhook,
            warn=options.warn,
        )
        self._app: procrastinate.App | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self) -> None:
        """Work until SIGTERM, SIGINT or a request to drain.

        Shape: where the database is away later on, it is told once, and the work goes on when it answers.

        Raises: FleetUnreachable for a database that is away at the start; ConfigInvalid for an address that is taken,
        or a secret of webhooks that cannot be read.
        """
        context = self._context
        self._registered_at = register_worker(
            context.database,
            context.worker,
            host=self._options.host,
            version=self._options.version,
            jobs=self._options.jobs,
        )
        try:
            warn = self._options.warn
            probes = serve_worker_probes(self._options.listen, self.read_health, warn)
            with QueueLog(self._contact, warn), probes, self._webhooks:
                asyncio.run(self._work())
        finally:
            if not self._contact.is_lost:  # a database that is away would be asked until systemd kills the worker
                with suppress(FleetUnreachable):
                    forget_worker(context.database, context.worker, self._registered_at)

    def read_health(self) -> WorkerHealth:
        """Return how this worker is; asks nobody."""
        with self._lock:
            counts, seconds, notifications = self._counts, self._run_seconds, dict(self._notifications)
        context = self._context
        return WorkerHealth(
            name=context.worker,
            jobs=self._options.jobs,
            noted_ago=time.monotonic() - self._noted_at,
            is_cut_off=self._contact.is_lost,
            outages=self._contact.outages,
            lease_seconds=context.lease_seconds,
            is_stopping=self._stopping.is_set(),
            run_seconds=seconds,
            counts=counts,
            webhooks=self._webhooks.count_answers(),
            notifications=notifications,
        )

    async def _work(self) -> None:
        loop = self._loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(self._options.jobs + 4))
        ending = self._ending = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop)
        notes = asyncio.create_task(self._note_repeatedly())
        while not ending.is_set():
            try:
                await self._take_jobs(ending)
            except (ConnectorException, psycopg.Error, FleetUnreachable) as error:
                self._contact.note_lost(QUEUE, translate_queue_failure(error).what)
                with suppress(TimeoutError):
                    await asyncio.wait_for(ending.wait(), _POLL_SECONDS)
        notes.cancel()

    async def _take_jobs(self, ending: asyncio.Event) -> None:
        """Take jobs until the worker is to end. Raises: ConnectorException, psycopg.Error, FleetUnreachable."""
        # Within seconds, where the queue would try for half a minute.
        await asyncio.to_thread(self._context.database.query, "SELECT 1")
        queue = JobQueue(self._context.database.url, connections=self._options.jobs + 8)
        app = queue.app
        self._declare_tasks(app)
        try:
            async with app.open_async():
                self._app = app
                if not self._has_begun:
                    await asyncio.to_thread(self._webhooks.begin)
                    self._options.send_ready()
                    self._has_begun = True
                self._contact.note_answer(QUEUE)
                works = (
                    self._run_queues(app, [_SCHEDULING, _WAKING], 1),
                    self._run_queues(app, [_NOTIFYING], 1),
                    self._run_queues(app, [name_queue(self._context.worker), ANY], self._options.jobs),
                )
                await queue.run(works, ending)
        finally:
            self._app = None

    async def _run_queues(self, app: procrastinate.App, queues: list[str], jobs: int) -> None:
        seconds = self._context.lease_seconds
        await app.run_worker_async(
            queues=queues,
            concurrency=jobs,
            name=self._context.worker,
            delete_jobs="always",
            install_signal_handlers=False,
            fetch_job_polling_interval=_POLL_SECONDS,
            update_heartbeat_interval=seconds / _NOTES_PER_LEASE,
            stalled_worker_timeout=seconds,
        )

    def _declare_tasks(self, app: procrastinate.App) -> None:
        @app.task(name=_RUN)
        def run(name: str, at: float) -> None:
            self._run_job(name)

        @app.periodic(cron=_SCHEDULE_TIMES)
        # Without a lock: the one that held it would be given up by nobody else but this very job.
        @app.task(name=_SCHEDULE, queue=_SCHEDULING, queueing_lock=_SCHEDULE)
        async def schedule(timestamp: int) -> None:
            await self._schedule(app)

        @app.task(name=_NOTIFY, queue=_NOTIFYING)
        def notify(repository: str, target: str) -> None:
            self._deliver(WaitingReceiver(repository, target))

        @app.task(name=_WAKE, queue=_WAKING)
        async def wake(name: str) -> None:
            await self._wake(app, name)

    async def _schedule(self, app: procrastinate.App) -> None:
        """Give up the jobs of the dead, and make jobs of what is due."""
        database, seconds = self._context.database, self._context.lease_seconds
        for job in await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=seconds):
            if job.task_name == _WAKE:
                await self._wake(app, str(job.task_kwargs["name"]))
            # A new job in its place: who wakes up late finds his own ended, and cannot end that of another.
            with suppress(ConnectorException):
                await app.job_manager.finish_job(job, Status.FAILED, delete_job=True)
        await asyncio.to_thread(release_waiting, database)
        for receiver in await asyncio.to_thread(list_waiting, database):
            lock = f"{_NOTIFY} {receiver.repository} {receiver.target}"
            notify: Any = app.configure_task(_NOTIFY, queue=_NOTIFYING, lock=lock, queueing_lock=lock)
            with suppress(procrastinate.exceptions.AlreadyEnqueued):
                await notify.defer_async(repository=receiver.repository, target=receiver.target)
        await self._defer_due(app)

    async def _defer_due(self, app: procrastinate.App, names: Sequence[str] | None = None) -> None:
        context = self._context
        found = await asyncio.to_thread(list_due, context.database, worker_seconds=context.lease_seconds, names=names)
        for due in found:
            await self._defer(app, due)

    async def _defer(self, app: procrastinate.App, due: DueRepository) -> None:
        job: Any = app.configure_task(
            _RUN, queue=due.queue, lock=due.name, queueing_lock=due.name, priority=due.priority
        )
        with suppress(procrastinate.exceptions.AlreadyEnqueued):
            await job.defer_async(name=due.name, at=due.at)

    def _deliver(self, receiver: WaitingReceiver) -> None:
        """Tell a receiver what waits for it, in a thread of its own."""

        def count(state: str) -> None:
            with self._lock:
                self._notifications[receiver.target, state] += 1

        context = self._context
        with suppress(FleetUnreachable):  # it still waits, and the next job finds it so
            deliver_waiting(
                context.database,
                context.environ,
                receiver,
                is_stopping=context.is_stopping,
                count=count,
                warn=self._options.warn,
            )

    def _take_webhook(self, repository: WakeableRepository) -> None:
        """Make a job of a webhook; all that come for a repository until it begins are one. Raises: FleetUnreachable."""
        at = find_wake_time(self._context.database, repository.name, repository.interval)
        if at is None:
            return  # the fleet has it no more
        if self._app is None or self._loop is None or self._loop.is_closed():
            raise FleetUnreachable("this worker takes no jobs now")
        lock = f"{_WAKE} {repository.name}"
        job: Any = self._app.configure_task(
            _WAKE, queue=_WAKING, queueing_lock=lock, priority=_WAKE_PRIORITY, schedule_at=at
        )
        # The connections of the queue belong to the loop.
        future = asyncio.run_coroutine_threadsafe(job.defer_async(name=repository.name), self._loop)
        try:
            future.result(SECONDS)
        except procrastinate.exceptions.AlreadyEnqueued:
            return
        except (ConnectorException, TimeoutError, CancelledError) as error:
            raise FleetUnreachable(f"the database of the fleet: {error.__cause__ or error}") from error

    async def _wake(self, app: procrastinate.App, name: str) -> None:
        """Make a repository due, and its job at once."""
        with suppress(ConfigInvalid):  # the fleet has it no more
            await asyncio.to_thread(wake_repositories, self._context.database, (name,))
            await self._defer_due(app, (name,))

    def _run_job(self, name: str) -> None:
        """Carry a job out, in a thread of its own."""
        if self._stopping.is_set():
            return
        self._count(running=1)
        start = time.monotonic()
        try:
            end = run_repository(self._context, name)
        except Exception as error:
            self._count(failed_runs=1)
            if isinstance(error, FleetUnreachable):
                self._options.report(RunEnd(name, (), failure=error.what))
                return
            raise  # the queue logs the traceback of a defect
        finally:
            self._count(running=-1)
            with self._lock:
                self._run_seconds += time.monotonic() - start
        if end is None:
            return
        has_failed = any(find_state(result) not in USEFUL for result in end.results)
        is_whole = is_complete_run(end.results) and not end.has_lost_lease
        self._count(runs=int(is_whole), failed_runs=int(is_whole and has_failed), lost_leases=int(end.has_lost_lease))
        self._options.report(end)

    def _count(self, **more: int) -> None:
        with self._lock:
            self._counts = replace(self._counts, **{key: getattr(self._counts, key) + n for key, n in more.items()})

    async def _note_repeatedly(self) -> None:
        """Note how this worker is, and hear whether it is to drain."""
        seconds = min(self._context.lease_seconds / _NOTES_PER_LEASE, 5.0)
        while True:
            try:
                if not await asyncio.to_thread(self._note):
                    self._stop()
                await asyncio.to_thread(self._webhooks.update)
                self._contact.note_answer(RECORDS)
            except FleetUnreachable as error:
                self._contact.note_lost(RECORDS, error.what)
            self._options.send_alive()
            await asyncio.sleep(seconds)

    def _note(self) -> bool:
        clones, size = self._context.cache.count()
        self._count(cached=clones - self._counts.cached, cache_bytes=size - self._counts.cache_bytes)
        context = self._context
        is_to_go_on = note_worker(context.database, context.worker, self._registered_at, self._counts)
        self._noted_at = time.monotonic()
        return is_to_go_on

    def _stop(self) -> None:
        """Begin no run any more, and let those that run end at the next step where they can."""
        self._stopping.set()
        if self._ending is not None:
            self._ending.set()
