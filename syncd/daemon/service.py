"""The service: every job in its time, each alone in its repository, until a signal ends it."""

import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, closing
from functools import partial
from pathlib import Path
from signal import SIGHUP, SIGINT, SIGTERM, SIGUSR1

from syncd.daemon.clock import Clock
from syncd.daemon.inbox import Inbox
from syncd.daemon.locks import DAEMON, RUN, Lock
from syncd.daemon.metrics import Health
from syncd.daemon.systemd import Notifier
from syncd.daemon.task import Job, Task
from syncd.errors import ConfigInvalid, Stopped, SyncdError, Unauthorized
from syncd.sync.outcome import Applied, Held, Outcome, Waiting, outcome_of
from syncd.watch import Watcher

__all__ = ["Job", "Service"]

GRACE = 8.0
"""Seconds that running cycles get to end."""
PATIENCE = 60.0
"""Seconds without a sign of progress after which a cycle counts as stuck."""
RUN_LOCK_WAIT = 2.0
"""Seconds to wait for a person's run to end before trying again later."""
_PULSE = 15.0
_FATAL_AT_START = {Unauthorized.exit_code, ConfigInvalid.exit_code}
_DEFECT = Waiting("the run ended in a defect; its traceback is on standard error", exit_code=1)
_SELF = "syncd"
"""The name under which the service reports what concerns no single job."""


class Service:
    """Runs each job at once, then at its interval, when its repository changes, and when a signal asks for it."""

    def __init__(
        self,
        jobs: Callable[[], Sequence[Job]],
        *,
        notify: Notifier,
        report: Callable[[str, Outcome], None],
        notice: Callable[[str], None] = lambda text: None,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
        patience: float = PATIENCE,
        grace: float = GRACE,
        leave: Callable[[int], object] = os._exit,
    ) -> None:
        """Given how to learn the jobs, prepare to serve; `report` hears every outcome, in the main thread.

        Units: `clock`, `now` (since the epoch), `patience` and `grace` in seconds. Shape: `leave` ends the process when
        a cycle cannot be ended, since its threads would keep the interpreter alive.
        """
        self._jobs, self._notify, self._report, self._notice = jobs, notify, report, notice
        self._clock, self._now = clock, now
        self._patience, self._grace, self._leave = patience, grace, leave
        self._inbox = Inbox()
        self._ticks = Clock()
        self._watcher = Watcher(self._changed)
        self._tasks: dict[Path, Task] = {}
        self._locks: dict[Path, Lock] = {}
        self._ready = False
        self._code = 0
        self._deadline: float | None = None
        self._next_pulse = clock()
        self._turned = clock()
        self._status = ""

    def serve(self) -> int:
        """Serve until SIGTERM or SIGINT, and return the exit code; to be called once, in the main thread.

        Shape: 0 after a signal; 7 at once when another daemon serves one of the repositories; 77 or 78 when the first
        cycle is refused. SIGHUP reads the jobs again, SIGUSR1 runs all of them now.
        """
        answers = {SIGTERM: self._stop, SIGINT: self._stop, SIGHUP: self._reload, SIGUSR1: self._hurry}
        with closing(self._inbox), self._inbox.signals(answers):
            try:
                self._adopt(self._jobs())
            except SyncdError as error:
                self._tell(error)
                return error.exit_code
            self._ticks.start()
            while not self._finished():
                for message in self._inbox.take(self._idle()):
                    message()
                self._begin_due()
                self._pulse()
            return self._close()

    def health(self) -> Health:
        """Return how the service is; safe in any thread."""
        tasks = list(self._tasks.items())
        stuck = any(task.silence() > self._patience for _, task in tasks)
        turn = self._notify.watchdog_seconds / 2 if self._notify.watchdog_seconds else _PULSE
        late = self._clock() - self._turned > turn + self._patience
        return Health(not (stuck or late), self._ready, tuple(git_dir for git_dir, _ in tasks))

    def _adopt(self, jobs: Sequence[Job]) -> None:
        wanted = {job.git_dir: job for job in jobs}
        if len(wanted) < len(jobs):
            raise ConfigInvalid("one repository is configured twice", hint="give it all its spaces in one place")
        with ExitStack() as taken:
            locks = {
                git_dir: taken.enter_context(Lock.acquire(git_dir / DAEMON))
                for git_dir in wanted
                if git_dir not in self._locks
            }
            taken.pop_all()
        self._locks |= locks
        for git_dir, task in list(self._tasks.items()):
            if git_dir not in wanted:
                self._retire(git_dir, task)
        for git_dir, job in wanted.items():
            if git_dir in self._tasks:
                self._tasks[git_dir].keep(job)
            else:
                self._tasks[git_dir] = Task(job, clock=self._clock)
        self._arrange(wanted)

    def _retire(self, git_dir: Path, task: Task) -> None:
        task.leave()
        if not task.running:  # else its end comes back here
            del self._tasks[git_dir]
            self._locks.pop(git_dir).release()

    def _arrange(self, wanted: dict[Path, Job]) -> None:
        self._watcher.stop()
        self._watcher = Watcher(self._changed, notice=self._notice)
        self._ticks.clear()
        for git_dir, job in wanted.items():
            self._watcher.add(str(git_dir), git_dir, job.files)
            self._ticks.every(str(git_dir), job.interval, partial(self._inbox.put, self._tasks[git_dir].tick))
        self._watcher.start()

    def _changed(self, key: str) -> None:
        self._inbox.put(partial(self._wake, Path(key)))

    def _wake(self, git_dir: Path) -> None:
        if git_dir in self._tasks:
            self._tasks[git_dir].wake()

    def _begin_due(self) -> None:
        for git_dir, task in self._tasks.items():
            if task.wait() <= 0:
                task.begin()
                arguments = (task, task.job, self._watcher.paused(str(git_dir)))
                threading.Thread(target=self._cycle, args=arguments, name=task.job.name, daemon=True).start()

    def _cycle(self, task: Task, job: Job, pause: AbstractContextManager[Callable[[], bool]]) -> None:
        outcome: Outcome = _DEFECT
        again = False
        try:
            with pause as moved:
                outcome = outcome_of(partial(_alone, job, task.cancelled))
                # A run that applied nothing wrote nothing: what moved meanwhile was someone else's doing.
                again = moved() and not isinstance(outcome, Applied)
        finally:
            self._inbox.put(partial(self._ended, task, outcome, again))

    def _ended(self, task: Task, outcome: Outcome, again: bool) -> None:
        task.end(outcome, now=self._now(), again=again)
        if outcome.exit_code != Stopped.exit_code:
            self._report(task.job.name, outcome)
        if self._deadline is not None:
            return
        if task.leaving:
            self._retire(task.job.git_dir, task)
        if not self._ready:
            self._settle_in(outcome)

    def _settle_in(self, outcome: Outcome) -> None:
        if isinstance(outcome, Held) and outcome.exit_code in _FATAL_AT_START:
            self._end(outcome.exit_code)
        elif all(task.answered for task in self._tasks.values()):
            self._ready = True
            self._notify.ready()

    def _reload(self) -> None:
        if self._deadline is not None:
            return
        if self._ready:
            self._notify.reloading()
        try:
            self._adopt(self._jobs())
        except SyncdError as error:
            self._tell(error)
        if self._ready:
            self._notify.ready()

    def _hurry(self) -> None:
        for task in self._tasks.values():
            task.hurry()

    def _stop(self) -> None:
        if self._deadline is None:
            self._end(0)
        else:
            self._deadline = self._clock()  # asked twice: somebody does not want to wait

    def _end(self, code: int) -> None:
        self._code, self._deadline = code, self._clock() + self._grace
        self._notify.stopping()
        for task in self._tasks.values():
            task.leave()

    def _running(self) -> list[Task]:
        return [task for task in self._tasks.values() if task.running]

    def _finished(self) -> bool:
        return self._deadline is not None and (not self._running() or self._clock() >= self._deadline)

    def _idle(self) -> float:
        ends = [self._next_pulse] if self._deadline is None else [self._next_pulse, self._deadline]
        return min([min(ends) - self._clock(), *(task.wait() for task in self._tasks.values())])

    def _pulse(self) -> None:
        """Tell systemd that all is well, which no loop can know that only looks at itself: the cycles must move."""
        self._turned = self._clock()
        stuck = [task.job.name for task in self._running() if task.silence() > self._patience]
        self._show(stuck)
        if self._clock() < self._next_pulse:
            return
        every = self._notify.watchdog_seconds / 2 if self._notify.watchdog_seconds else _PULSE
        self._next_pulse = self._clock() + (min(every, 1.0) if stuck else every)
        if not stuck:
            self._notify.alive()
            if not self._ready:
                self._notify.extend(4 * every)

    def _show(self, stuck: list[str]) -> None:
        troubles = [f"{task.job.name}: {task.trouble}" for task in self._tasks.values() if task.trouble]
        if stuck:
            text = f"no progress in {', '.join(stuck)}"
        elif running := self._running():
            text = f"syncing {', '.join(task.job.name for task in running)}"
        else:
            text = "; ".join(troubles) or "in step"
        if text != self._status:
            self._status = text
            self._notify.status(text)

    def _tell(self, error: SyncdError) -> None:
        self._report(_SELF, Held(error.what, error.hint, error.exit_code))

    def _close(self) -> int:
        self._ticks.stop()
        self._watcher.stop()
        if self._running():
            self._notice(f"left behind, not ended: {', '.join(task.job.name for task in self._running())}")
            sys.stdout.flush()
            sys.stderr.flush()
            self._leave(self._code)
        for lock in self._locks.values():
            lock.release()
        return self._code


def _alone(job: Job, cancelled: Callable[[], bool]) -> Outcome:
    with Lock.acquire(job.git_dir / RUN, wait=RUN_LOCK_WAIT):
        return job.run(cancelled)
