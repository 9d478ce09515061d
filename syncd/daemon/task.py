"""The schedule of one job: whether it runs, whether a run was requested, and when the next one may begin."""

import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from syncd.api.transport.rate_limit import NAMED_WAIT_MAX
from syncd.daemon.records import Subject
from syncd.errors import AnotherRuns, NotThePlatform, SyncdError, Unauthorized
from syncd.sync.outcome import Held, Outcome, Waiting
from syncd.sync.run.values import Result

LONGEST_WAIT_SECONDS = 900.0
"""Seconds between two tries of something that keeps failing, unless its interval is longer."""
REFUSED_TOKEN_SECONDS = 300.0
"""Seconds after a refused token: no token becomes right by asking often."""
SHORTEST_WAIT_SECONDS = 1.0
"""Seconds after which a platform is asked again at the earliest that names a time which is over already."""
_SPREAD = 0.2
_MISSED = 2.5
"""Intervals without any run after which one is due although no tick came: the system's clock may be set back."""


@dataclass(frozen=True)
class Job:
    """One repository to keep in step: `run(cancelled)` runs all flows once, asking `cancelled()` often.

    Shape: `name` stands for it in metrics and messages, `path` is where it is configured to be. `locate()` returns its
    git directory, and raises NotARepository while there is none. A change of one of the `files` below that asks for a
    run. `subjects` are what a run is about. `allow_requests()` lets the next run ask hosts that are known
    to be down. `fault` is why there is nothing to run: a file of the configuration with a mistake. Units: `interval` in
    seconds.
    """

    name: str
    path: Path
    locate: Callable[[], Path]
    interval: float
    run: Callable[[Callable[[], bool]], Sequence[Result]]
    subjects: tuple[Subject, ...] = ()
    files: tuple[str, ...] = ()
    allow_requests: Callable[[], None] = lambda: None
    fault: SyncdError | None = None


class Task:
    """A job and when it runs. It belongs to the main loop, except `is_cancelled`, which the run calls."""

    def __init__(
        self, job: Job, *, clock: Callable[[], float] = time.monotonic, chance: Callable[[], float] = random.random
    ) -> None:
        """Ask for the first run of a job. Units: `clock` in seconds; `chance` in [0, 1)."""
        self.job = job
        self.is_running = False
        self.has_ended = False
        """Whether any run has come to an outcome."""
        self.is_leaving = False
        """Whether the job is gone and its last run is to end."""
        self.is_paused = False
        """Whether a person wants no run now; a running one is to end."""
        self.refusal = ""
        """Why the last try began no run, or nothing."""
        self.is_silent = False
        """Whether the repository's disk does not answer, so that no run can begin."""
        self._clock, self._chance = clock, chance
        self._is_requested = True
        self._not_before, self._has_named_time = -math.inf, False
        self._spaced_at: float | None = None
        self._last_spaced = -math.inf
        self._failures = 0
        self._ended_at = self._last_sign = clock()

    def pass_interval(self) -> None:
        """Request a run since an interval has passed; one that passes during a run does not count."""
        self._is_requested = self._is_requested or not self.is_running

    def request_run(self) -> None:
        """Request a run since something has changed; it begins after the present run, if there is one."""
        self._is_requested = True

    def request_spaced(self, seconds: float) -> None:
        """Request a run since somebody from outside says that something has changed.

        Units: the run begins no sooner than `seconds` after the last one that was requested so. Shape: all such
        requests until then are one.
        """
        if self._spaced_at is None:
            self._spaced_at = max(self._clock(), self._last_spaced + seconds)

    def request_now(self) -> None:
        """Request a run at once; only a time that the platform named is still waited for."""
        self._is_requested = True
        self.job.allow_requests()
        if not self._has_named_time:
            self._not_before = -math.inf

    def update_job(self, job: Job) -> None:
        """Use the job's new configuration from the next run on, and request that run."""
        self.job, self.is_leaving = job, False
        self.request_now()

    def set_silent(self, why: str) -> bool:
        """Begin no run for this reason, and return whether that is news; "" ends that, and requests a run."""
        is_news = bool(why) and not self.is_silent
        if self.is_silent and not why:
            self.refusal = ""
            self.request_now()
        self.is_silent = bool(why)
        if why:
            self.refusal, self.has_ended = why, True
        return is_news

    def request_stop(self) -> None:
        """Ask the present run to end, and begin no other."""
        self.is_leaving = True

    def find_wait(self) -> float:
        """Return the seconds until the next run may begin; infinite while one runs or none can."""
        if self.is_running or self.is_leaving or self.is_paused or self.is_silent:
            return math.inf
        missed = self._ended_at + _MISSED * self.job.interval
        due = -math.inf if self._is_requested else min(missed, missed if self._spaced_at is None else self._spaced_at)
        return max(self._not_before, due) - self._clock()

    def begin_run(self) -> None:
        """Note that a run begins, which answers all requests so far."""
        self.is_running, self._is_requested = True, False
        self._last_sign = self._clock()
        if self._spaced_at is not None:
            self._spaced_at, self._last_spaced = None, self._last_sign

    def end_run(self, outcome: Outcome, *, now: float, again: bool) -> None:
        """Decide when the next run may begin, from what this one came to.

        Units: `now` in epoch seconds. Shape: `again` asks for another run, whatever came of this one.
        """
        self.is_running, self.has_ended = False, True
        self._ended_at = self._clock()
        self._is_requested |= again or isinstance(outcome, Waiting) or is_unanswered(outcome)
        self._has_named_time = isinstance(outcome, Waiting) and outcome.until is not None
        self._not_before = self._ended_at + self._find_delay(outcome, now)
        no_run = isinstance(outcome, Waiting) and outcome.exit_code == AnotherRuns.exit_code
        self.refusal = outcome.why if isinstance(outcome, Waiting) and no_run else ""

    def is_cancelled(self) -> bool:
        """Return whether the run is to end; that it asks shows that it still makes progress."""
        self._last_sign = self._clock()
        return self.is_leaving or self.is_paused

    def find_silence(self) -> float:
        """Return the seconds since the present run last asked whether to end; 0 without one."""
        return self._clock() - self._last_sign if self.is_running else 0.0

    def _find_delay(self, outcome: Outcome, now: float) -> float:
        if is_unanswered(outcome):
            self._failures = min(self._failures + 1, 32)
        else:
            self._failures = 0
        interval = self.job.interval
        return find_delay(outcome, interval, failures=self._failures, now=now, chance=self._chance())


def is_unanswered(outcome: Outcome) -> bool:
    """Return whether a run ended since no answer came, or none of the API: a page that says that the platform is being
    mended, or asks to sign in, is as good as none."""
    if isinstance(outcome, Waiting):
        return outcome.until is None
    return isinstance(outcome, Held) and outcome.exit_code == NotThePlatform.exit_code


def find_delay(outcome: Outcome, interval: float, *, failures: int, now: float, chance: float) -> float:
    """Return the least seconds from the end of a run to the next one, from what it came to.

    Shape: `failures` counts the runs without an answer in a row, with this one. Units: `interval` in seconds, `now` in
    epoch seconds, `chance` in [0, 1).
    """
    if is_unanswered(outcome):
        delay = min(interval * 2.0 ** (max(failures, 1) - 1), max(LONGEST_WAIT_SECONDS, interval))
        return delay * (1 - _SPREAD * chance)
    if isinstance(outcome, Waiting) and outcome.until is not None:
        return min(max(outcome.until - now, SHORTEST_WAIT_SECONDS), NAMED_WAIT_MAX)
    refused = isinstance(outcome, Held) and outcome.exit_code == Unauthorized.exit_code
    return REFUSED_TOKEN_SECONDS if refused else 0.0
