"""What is read of each repository that the service begins to serve: beside the loop, since its disk may hang."""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from functools import partial
from pathlib import Path

from syncd.daemon.task import Job
from syncd.sync.outcome import Outcome, Waiting, outcome_of

SECONDS = 5.0
"""How long the service waits for the disk of a repository before it goes on without it."""
_NEXT_SECONDS = 0.5
"""The same once a disk did not answer: others may be on it."""
SILENT = Waiting("the disk of the repository does not answer; it is held until it does, and others go on", exit_code=75)
"""What reading a repository comes to that did not end in time."""


class Disks:
    """Reads repositories one after the other, and leaves those behind whose disk hangs; one thread calls it."""

    def __init__(self, read: Callable[[Job], Outcome], end: Callable[[Path], object], seconds: float = SECONDS) -> None:
        """Prepare to call `read` in threads; `end` is told, in any thread, of a disk that was left behind and answered.

        Units: `seconds` is how long one is waited for.
        """
        self._read, self._end, self._seconds = read, end, seconds
        self._left: dict[Path, Future[Outcome]] = {}

    @property
    def silent(self) -> set[Path]:
        """The paths of repositories whose disk has not answered yet; safe in any thread."""
        return {path for path, future in [*self._left.items()] if not future.done()}

    def read_repositories(self, jobs: Iterable[Job]) -> dict[Path, Outcome]:
        """Read the repositories of jobs, and return what that came to by path; SILENT where it did not end.

        Shape: what was left behind before goes on, and is not begun a second time.
        """
        seconds, silent, found = self._seconds, self.silent, dict[Path, Outcome]()
        for job in jobs:
            if job.path in silent:
                found[job.path] = SILENT
                continue
            future: Future[Outcome] = Future()
            threading.Thread(target=self._run, args=(job, future), name=f"disk of {job.name}", daemon=True).start()
            try:
                found[job.path] = future.result(seconds)
            except TimeoutError:
                seconds, found[job.path] = min(seconds, _NEXT_SECONDS), SILENT
                self._left[job.path] = future
                future.add_done_callback(partial(self._tell_end, job.path))
        return found

    def _tell_end(self, path: Path, future: Future[Outcome]) -> None:
        self._end(path)

    def _run(self, job: Job, future: Future[Outcome]) -> None:
        try:
            future.set_result(outcome_of(partial(self._read, job)))
        except BaseException as error:
            future.set_exception(error)
            raise
