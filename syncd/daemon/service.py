"""The service: every job in its time, each alone in its repository, until a signal ends it."""

import math
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, closing, nullcontext
from functools import partial
from pathlib import Path
from signal import SIGHUP, SIGINT, SIGTERM, SIGUSR1

from syncd.daemon.clock import Clock
from syncd.daemon.control.commands import Commands
from syncd.daemon.control.control_socket import ControlAnswer, ControlRequest
from syncd.daemon.control.pauses import Pauses
from syncd.daemon.control.run_files import RunFiles
from syncd.daemon.disks import SILENT
from syncd.daemon.health import ServiceHealth, render_status
from syncd.daemon.inbox import Inbox
from syncd.daemon.locks import RUN_LOCK, FileLock
from syncd.daemon.records import DEFECT, summarize_run
from syncd.daemon.repositories import LockedRepositories, NoteRun
from syncd.daemon.systemd import Notifier
from syncd.daemon.task import Job, Task
from syncd.errors import AnotherRuns, ConfigInvalid, SyncdError
from syncd.sync.outcome import Applied, Held, Outcome, Unchanged, Waiting, outcome_of
from syncd.sync.run.values import RUN, Result, is_stopped
from syncd.watch import Watcher

GRACE_SECONDS = 8.0
"""How long runs get to end once a signal ended the service."""
PATIENCE_SECONDS = 60.0
"""After so long without a sign of progress, a run counts as stuck."""
RUN_LOCK_SECONDS = 2.0
"""Seconds to wait for a person's run to end before trying again later."""
ANSWER_SECONDS = 20.0
"""How long the loop may take to do what a person asks for over the control socket."""
_PULSE = 15.0
_STUCK = Waiting("the run shows no progress; only a restart of the service ends it", exit_code=1)
SELF = "syncd"
"""The name under which the service reports what concerns no single job."""


class Service:
    """Runs each job at once, then at its interval, when its repository changes, and when a signal asks for it."""

    def __init__(
        self,
        jobs: Callable[[], Sequence[Job]],
        *,
        notify: Notifier,
        files: RunFiles,
        report: Callable[[str, Sequence[Result]], None],
        notice: Callable[[str], None] = lambda text: None,
        note_run: NoteRun = lambda *run: None,
        read_stamp: Callable[[], object] = lambda: None,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        """Prepare to serve the jobs that `jobs` returns; `report` hears every run's results, in the main thread.

        When what `read_stamp` returns has changed, and stays so until the next look, the jobs are read again.

        Units: `patience` in seconds.
        """
        self._jobs, self._notify = jobs, notify
        self._read_stamp = read_stamp
        self._stamp = self._stamp_before = read_stamp()
        self._report, self._notice = report, notice
        self._patience = patience
        self._inbox = Inbox()
        self._ticks = Clock()
        self._watcher = Watcher(self._handle_change)
        self._watched, self._stuck = set[Path](), set[Path]()
        self._tasks: dict[Path, Task] = {}
        self._repositories = LockedRepositories(
            files, notice, note_run, lambda path: self._inbox.put(partial(self._handle_answer, path))
        )
        self._pauses = Pauses(files, self._repositories.find_git_dir, time.time, notice)
        self._commands = Commands(self._pauses, self._reload, self._stop, lambda: list(self._tasks.values()))
        self._pause_wait = math.inf
        self._refusal: SyncdError | None = None
        self._ready = False
        self._is_reported_ready = False
        """Whether it was said that every repository was looked at, since the configuration was read."""
        self._deadline: float | None = None
        self._next_pulse = time.monotonic()
        self._turned = time.monotonic()
        self._status = ""

    def serve(self) -> int:
        """Serve until SIGTERM or SIGINT, and return the exit code; to be called once, in the main thread.

        Shape: 0 after a signal; 78 at once when the jobs cannot be learnt, 7 when another service has all of them. What
        is wrong with a single job holds that job. SIGHUP reads the jobs again, SIGUSR1 runs all of them now.
        """
        answers = {SIGTERM: self._stop, SIGINT: self._stop, SIGHUP: self._reload, SIGUSR1: self._request_all}
        with closing(self._inbox), self._inbox.handle_signals(answers):
            try:
                refusals = self._serve_jobs(self._jobs())
            except SyncdError as error:
                self._report_error(error)
                return error.exit_code
            if all(refusal.exit_code == AnotherRuns.exit_code for refusal in refusals):
                self._report(SELF, [Result(RUN, "", refusals[0])])
                return AnotherRuns.exit_code
            self._ticks.start()
            while not self._is_finished():
                for message in self._inbox.take(self._find_wait()):
                    message()
                self._update_pauses()
                self._start_due()
                self._report_progress()
            return self._shut_down()

    def health(self) -> ServiceHealth:
        """Return how the service is; safe in any thread."""
        tasks = list(self._tasks.items())
        stuck = any(self._is_stuck(task) for _, task in tasks)
        turn = self._notify.watchdog_seconds / 2 if self._notify.watchdog_seconds else _PULSE
        late = time.monotonic() - self._turned > turn + self._patience
        repositories = tuple(
            self._repositories.build_health(task, is_stuck=self._is_stuck(task), pause=self._pauses.find_pause(path))
            for path, task in tasks
        )
        return ServiceHealth(not (stuck or late), repositories, self._refusal.what if self._refusal else "")

    def answer(self, request: ControlRequest) -> ControlAnswer:
        """Do what a person asks for over the control socket, and say what came of it; safe in any thread."""
        future: Future[ControlAnswer] = Future()
        self._inbox.put(lambda: future.set_result(self._commands.carry_out(request)))
        try:
            return future.result(ANSWER_SECONDS)
        except TimeoutError:
            return ControlAnswer(exit_code=75, messages=("the service is busy, and may do it later",))

    def wake(self, path: Path, spacing: float) -> None:
        """Run the repository at a path soon, since somebody from outside says that it changed; safe in any thread.

        Units: at most one run in so many seconds is requested so.
        """
        self._inbox.put(partial(self._wake_task, path, spacing))

    def _is_stuck(self, task: Task) -> bool:
        return task.find_silence() > self._patience

    def _serve_jobs(self, jobs: Sequence[Job]) -> list[Outcome]:
        """Serve these jobs and no other, and return for each what taking its repository's lock came to.

        Shape: a repository that cannot be served now is said to be so by its run, which tries again.
        Raises: ConfigInvalid.
        """
        wanted = {job.path: job for job in jobs}
        if len(wanted) < len(jobs):
            raise ConfigInvalid("one repository is configured twice", hint="give it all its spaces in one place")
        for path, task in list(self._tasks.items()):
            if path not in wanted:
                self._remove_task(path, task)
        self._ticks.clear()
        for path, job in wanted.items():
            if path in self._tasks:
                self._tasks[path].update_job(job)
            else:
                self._tasks[path] = Task(job)
            self._ticks.schedule(str(path), job.interval, partial(self._inbox.put, self._tasks[path].pass_interval))
        outcomes = self._repositories.lock_all(wanted.values())
        for path, outcome in outcomes.items():
            if self._tasks[path].set_silent(SILENT.why if outcome is SILENT else ""):
                self._report_hold(self._tasks[path], SILENT)
        self._watch_all()
        return list(outcomes.values())

    def _report_hold(self, task: Task, outcome: Outcome) -> None:
        """Report what holds a repository; it is recorded beside the loop, since its disk may not answer."""
        results = [Result(RUN, "", outcome)]
        self._report(task.job.name, results)
        threading.Thread(target=self._repositories.record_run, args=(task.job, results), daemon=True).start()

    def _handle_answer(self, path: Path) -> None:
        """Serve a repository again whose disk answers now."""
        if (task := self._tasks.get(path)) is None:
            self._repositories.forget(path)
            return
        task.set_silent("")
        if self._deadline is None:
            self._watch_all()

    def _remove_task(self, path: Path, task: Task) -> None:
        task.request_stop()
        if not task.is_running:  # else its end comes back here
            del self._tasks[path]
            self._repositories.forget(path)

    def _watch_all(self) -> None:
        self._watcher.stop()
        self._watcher, self._watched = Watcher(self._handle_change, notice=self._notice), set()
        for path, task in self._tasks.items():
            if (git_dir := self._repositories.find_git_dir(path)) is not None:
                self._watcher.add(str(path), git_dir, [git_dir / file for file in task.job.files])
                self._watched.add(path)
        self._watcher.start()

    def _handle_change(self, key: str) -> None:
        self._inbox.put(partial(self._wake_task, Path(key)))

    def _wake_task(self, path: Path, spacing: float = 0) -> None:
        if path not in self._tasks:
            return
        if spacing:
            self._tasks[path].request_spaced(spacing)
        else:
            self._tasks[path].request_run()

    def _start_due(self) -> None:
        for path, task in self._tasks.items():
            if task.find_wait() <= 0:
                task.begin_run()
                pause = self._watcher.pause(str(path)) if path in self._watched else nullcontext(lambda: False)
                arguments = (task, task.job, pause)
                threading.Thread(target=self._run_task, args=arguments, name=task.job.name, daemon=True).start()

    def _run_task(self, task: Task, job: Job, pause: AbstractContextManager[Callable[[], bool]]) -> None:
        results = [Result(RUN, "", DEFECT)]
        again = False
        try:
            with pause as moved:
                results = self._run_job(task, job)
                # A run that applied nothing wrote nothing: what moved meanwhile was someone else's doing.
                again = moved() and not any(isinstance(result.outcome, Applied) for result in results)
        finally:
            try:
                self._repositories.record_run(job, results)
            finally:  # a defect in what keeps or tells of a run must not keep the repository
                self._inbox.put(partial(self._finish_run, task, results, again))

    def _run_job(self, task: Task, job: Job) -> list[Result]:
        results: list[Result] = []

        def run() -> Outcome:
            git_dir, is_new = self._repositories.lock(job)
            if is_new:
                self._inbox.put(self._watch_all)
            with FileLock.acquire(git_dir / RUN_LOCK, wait=RUN_LOCK_SECONDS):
                results.extend(job.run(task.is_cancelled))
            return Unchanged()

        ended = outcome_of(run)
        return [*results, Result(RUN, "", ended)] if ended.exit_code else results

    def _finish_run(self, task: Task, results: Sequence[Result], again: bool) -> None:
        path = task.job.path
        task.end_run(summarize_run(results), now=time.time(), again=again)
        self._stuck.discard(path)
        if not is_stopped(results):
            self._report(task.job.name, results)
        if task.is_leaving and self._deadline is None:
            self._remove_task(path, task)

    def _update_pauses(self) -> None:
        self._pause_wait = self._pauses.update_tasks(self._tasks.values())
        is_ready = all(task.has_ended or task.is_paused for task in self._tasks.values())
        if not is_ready or self._deadline is not None:
            return
        if not self._ready:
            self._ready = True
            self._notify.send_ready()
        if not self._is_reported_ready:
            self._is_reported_ready = True
            self._notify.report_ready()

    def _reload(self) -> SyncdError | None:
        """Read the jobs again, and return the error where that failed: then the former ones stay."""
        if self._deadline is not None:
            return None
        self._refusal = None
        if self._ready:
            self._notify.send_reloading()
        try:
            self._serve_jobs(self._jobs())
            self._is_reported_ready = False
        except SyncdError as error:
            self._refusal = error
            self._report_error(error)
        if self._ready:
            self._notify.send_ready()  # the reload is over, however it ended
        return self._refusal

    def _reload_changed(self) -> None:
        """Read the jobs again when files of the configuration have changed, and nobody writes to them any more."""
        stamp = self._read_stamp()
        if stamp == self._stamp_before != self._stamp:
            self._stamp = stamp
            self._reload()
        self._stamp_before = stamp

    def _request_all(self) -> None:
        for task in self._tasks.values():
            task.request_now()

    def _stop(self) -> None:
        if self._deadline is not None:
            self._deadline = time.monotonic()  # asked twice: somebody does not want to wait
            return
        self._deadline = time.monotonic() + GRACE_SECONDS
        self._notify.send_stopping()
        for task in self._tasks.values():
            task.request_stop()

    def _list_running(self) -> list[Task]:
        return [task for task in self._tasks.values() if task.is_running]

    def _is_finished(self) -> bool:
        return self._deadline is not None and (not self._list_running() or time.monotonic() >= self._deadline)

    def _find_wait(self) -> float:
        ends = [self._next_pulse] if self._deadline is None else [self._next_pulse, self._deadline]
        return min(
            [min(ends) - time.monotonic(), self._pause_wait, *(task.find_wait() for task in self._tasks.values())]
        )

    def _report_progress(self) -> None:
        """Tell systemd that all is well, which no loop can know that only looks at itself: the runs must move."""
        self._turned = time.monotonic()
        stuck = [task for task in self._list_running() if self._is_stuck(task)]
        self._report_stuck(stuck)
        self._show_status()
        if time.monotonic() < self._next_pulse:
            return
        every = self._notify.watchdog_seconds / 2 if self._notify.watchdog_seconds else _PULSE
        self._next_pulse = time.monotonic() + (min(every, 1.0) if stuck else every)
        self._reload_changed()
        if not stuck:
            self._notify.send_alive()
            if not self._ready:
                self._notify.request_time(4 * every)

    def _report_stuck(self, stuck: Sequence[Task]) -> None:
        """Report each run that shows no progress, once."""
        for task in stuck:
            if task.job.path not in self._stuck:
                self._stuck.add(task.job.path)
                self._report_hold(task, _STUCK)

    def _show_status(self) -> None:
        text = render_status(self.health())
        if text != self._status:
            self._status = text
            self._notify.send_status(text)

    def _report_error(self, error: SyncdError) -> None:
        self._report(SELF, [Result(RUN, "", Held(error.what, error.hint, error.exit_code))])

    def _shut_down(self) -> int:
        self._ticks.stop()
        self._watcher.stop()
        # Also where a run is left behind: this service was stopped, and must not look as if it had died.
        self._repositories.release_all()
        if self._list_running():
            self._notice(f"left behind, not ended: {', '.join(task.job.name for task in self._list_running())}")
            sys.stdout.flush()
            sys.stderr.flush()
            # The threads of the runs would keep the interpreter alive.
            os._exit(0)
        return 0
