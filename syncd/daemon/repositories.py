"""The repositories that the service has: their locks, what their runs came to, and what their state databases hold."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from syncd.daemon.control.run_files import RunFiles
from syncd.daemon.disks import Disks
from syncd.daemon.health import RepositoryHealth, StateCounts
from syncd.daemon.locks import STATE_FILE, ServiceLocks
from syncd.daemon.records import is_complete_run, judge_run
from syncd.daemon.task import Job, Task
from syncd.errors import StoreError
from syncd.store.pauses import PauseRecord
from syncd.store.status import SITE_STATES, read_site_facts, read_store_summary
from syncd.sync.outcome import Outcome, Unchanged
from syncd.sync.run.values import Result

NoteRun = Callable[[Job, Path | None, Sequence[Result], str], object]
"""Gets the results of a run in its thread, with the git directory and the moment in ISO 8601."""


class LockedRepositories:
    """The repositories that the service has locked, and what is known of each; safe in any thread.

    Shape: one whose disk does not answer is `silent`, has no git directory, and keeps no other from being read.
    """

    def __init__(
        self,
        files: RunFiles,
        notice: Callable[[str], None],
        note_run: NoteRun,
        on_answer: Callable[[Path], object],
    ) -> None:
        """Begin with none; `on_answer` gets, in any thread, the path of one whose disk was given up and answers."""
        self._files, self._notice, self._note_run = files, notice, note_run
        self._locks = ServiceLocks()
        self._disks = Disks(self._read_repository, on_answer)
        self._counts: dict[Path, StateCounts | None] = {}

    def lock_all(self, jobs: Iterable[Job]) -> dict[Path, Outcome]:
        """Lock the repositories of jobs and read what is known of each; return what that came to, by path."""
        return self._disks.read_repositories(jobs)

    def lock(self, job: Job) -> tuple[Path, bool]:
        """Lock the repository of a job; return its git directory, and whether the lock is new. Raises: as `take`."""
        return self._locks.take(job.path, job.locate)

    def find_git_dir(self, path: Path) -> Path | None:
        """Return the git directory of a repository whose lock is held, where its disk answers."""
        return None if path in self._disks.silent else self._locks.find_git_dir(path)

    def record_run(self, job: Job, results: Sequence[Result]) -> None:
        """Keep what a run came to, and what the state database says after it."""
        git_dir = self.find_git_dir(job.path)
        self._update_counts(job, git_dir)
        if is_complete_run(results):
            at = datetime.now(UTC).isoformat(timespec="seconds")
            former = self._files.read_runs(job.path, git_dir)
            self._files.save_runs(job.path, git_dir, judge_run(results, former, job.subjects, name=job.name, at=at))
            self._note_run(job, git_dir, results, at)

    def build_health(self, task: Task, *, is_stuck: bool, pause: PauseRecord | None) -> RepositoryHealth:
        """Return how the repository of a task is."""
        path = task.job.path
        return RepositoryHealth(
            task.job.name,
            task.job.interval,
            self._files.read_runs(path, self.find_git_dir(path)),
            has_run=self._files.has_run(path),
            is_running=task.is_running,
            is_stuck=is_stuck,
            refusal=task.refusal,
            counts=self._counts.get(path),
            pause=pause,
        )

    def forget(self, path: Path) -> None:
        """Give the lock of a repository back, and forget the rest; the lock of a silent one, once its disk answers."""
        if path not in self._disks.silent:
            self._locks.release(path)
        self._files.forget(path)
        self._counts.pop(path, None)

    def release_all(self) -> None:
        """Give every lock back, but for those of silent repositories, which go with the process."""
        self._locks.release_all(but=self._disks.silent)

    def _read_repository(self, job: Job) -> Outcome:
        """Take the lock of a job's repository, where it can be had, and read what is known of it from before."""
        git_dir, _ = self.lock(job)
        self._files.load_records(job.path, git_dir)
        self._update_counts(job, git_dir)
        return Unchanged()

    def _update_counts(self, job: Job, git_dir: Path | None) -> None:
        counts = None
        if git_dir is not None:
            try:
                counts = read_counts(git_dir / STATE_FILE)
            except StoreError as error:
                if self._counts.get(job.path) is not None:  # it could be read until now
                    self._notice(f"{job.name}: {error.what}")
        self._counts[job.path] = counts


def read_counts(state: Path) -> StateCounts:
    """Return what a state database holds in numbers; an absent or damaged one holds nothing.

    Raises: StoreError.
    """
    seen = read_store_summary(state)
    items: Counter[tuple[str, str]] = Counter()
    try:
        for look in seen.site_states:
            facts = read_site_facts(look)
            for kind in SITE_STATES:
                for area, count in facts[kind].items():
                    items[area, kind] += count
        moments = [datetime.fromisoformat(look.at).timestamp() for look in seen.site_states]
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise StoreError(f"{state} holds a look at a site that makes no sense: {error!r}") from error
    outcomes = Counter((outcome.flow, outcome.state) for outcome in seen.outcomes)
    pending = sum(not plan.approved for plan in seen.pending_plans)
    return StateCounts(outcomes, pending, items, min(moments, default=None))
