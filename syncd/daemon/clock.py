"""The clock: one tick for each repository now and then; sole importer of apscheduler."""

from collections.abc import Callable
from datetime import UTC
from typing import Any

from apscheduler.events import EVENT_JOB_ERROR, EVENT_JOB_MAX_INSTANCES, EVENT_JOB_MISSED
from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler

JITTER = 0.1
"""Share of the interval by which a tick may be late, so that many services do not ask at once."""


class Clock:
    """Ticks from a thread of its own; each must return at once. `errors` counts those that failed or were left out."""

    def __init__(self) -> None:
        """Begin without any tick."""
        self.errors = 0
        # In memory: what is due after a restart is everything. A tick that is late is better than none.
        self._scheduler = BackgroundScheduler(
            timezone=UTC,
            executors={"default": ThreadPoolExecutor(1)},
            job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None},
        )
        self._scheduler.add_listener(self._count_error, EVENT_JOB_ERROR | EVENT_JOB_MISSED | EVENT_JOB_MAX_INSTANCES)

    def schedule(self, name: str, seconds: float, tick: Callable[[], None]) -> None:
        """Tick every so many seconds, for the first time after as many; in place of a former one of that name."""
        self._scheduler.add_job(
            tick, "interval", id=name, seconds=seconds, jitter=seconds * JITTER, replace_existing=True
        )

    def clear(self) -> None:
        """Forget every tick."""
        self._scheduler.remove_all_jobs()

    def start(self) -> None:
        """Begin to tick."""
        self._scheduler.start()

    def stop(self) -> None:
        """Tick no more."""
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)

    def _count_error(self, event: Any) -> None:
        self.errors += 1
