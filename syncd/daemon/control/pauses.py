"""Pauses: for how long a person wants the service to leave repositories alone."""

import math
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from syncd.daemon.control.run_files import RunFiles
from syncd.daemon.task import Task
from syncd.errors import SyncdError
from syncd.store.pauses import PauseRecord


class Pauses:
    """The pauses of the repositories that the service serves; they belong to the main loop."""

    def __init__(
        self,
        files: RunFiles,
        find_git_dir: Callable[[Path], Path | None],
        now: Callable[[], float],
        notice: Callable[[str], None],
    ) -> None:
        """Keep the pauses that are recorded; `notice` hears when one begins and when it is over.

        Units: `now` in epoch seconds.
        """
        self._files, self._find_git_dir, self._now, self._notice = files, find_git_dir, now, notice

    def pause(self, tasks: Sequence[Task], seconds: float | None) -> list[str]:
        """Begin no run of tasks and let a running one end, for so long or until they are resumed.

        Return a line for each. Raises: DiskFull, StoreError when a pause would not outlive a restart.
        """
        until = "" if seconds is None else _format_moment(self._now() + seconds)
        record = PauseRecord(True, _format_moment(self._now()), until)
        self._save_record(tasks, record)
        return [f"{task.job.name}: paused {_describe_end(record)}{_describe_run(task)}" for task in tasks]

    def resume(self, tasks: Sequence[Task]) -> list[str]:
        """End the pauses of tasks and run them now; return a line for each. Raises: DiskFull, StoreError."""
        lines = [f"{task.job.name}: {'resumed' if task.is_paused else 'was not paused'}" for task in tasks]
        self._save_record([task for task in tasks if task.is_paused], PauseRecord(False, _format_moment(self._now())))
        return lines

    def find_pause(self, path: Path) -> PauseRecord | None:
        """Return the pause of a repository, or None when it has none or that is over."""
        record = self._files.read_pause(path, self._find_git_dir(path))
        return None if record is None or record.is_over(self._now()) else record

    def update_tasks(self, tasks: Iterable[Task]) -> float:
        """Let each task know whether it is paused; return the seconds until the next pause is over."""
        wait = math.inf
        for task in tasks:
            record = self.find_pause(task.job.path)
            if task.is_paused and record is None:
                self._notice(f"{task.job.name}: the pause is over")
                task.request_now()
            elif record is not None and not task.is_paused:
                self._notice(f"{task.job.name}: paused {_describe_end(record)}")
            task.is_paused = record is not None
            if record is not None and record.until:
                wait = min(wait, max(datetime.fromisoformat(record.until).timestamp() - self._now(), 0))
        return wait

    def _save_record(self, tasks: Sequence[Task], record: PauseRecord) -> None:
        failures = []
        for task in tasks:
            try:
                self._files.save_pause(task.job.path, self._find_git_dir(task.job.path), record)
            except SyncdError as error:
                failures.append(error)
        self.update_tasks(tasks)
        if failures:
            raise failures[0]


def _format_moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def _describe_end(record: PauseRecord) -> str:
    return f"until {record.until[:19].replace('T', ' ')} UTC" if record.until else "until: syncd resume"


def _describe_run(task: Task) -> str:
    return "; its run ends between two steps" if task.is_running else ""
