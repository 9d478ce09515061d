"""The part of `status` about the last run of a repository, by the service or by a command."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from syncd.cli.terminal.text import escape, format_time
from syncd.daemon.control.run_files import read_service_pause, read_service_runs
from syncd.daemon.health import USEFUL, choose_runs, find_repository_run, is_overdue
from syncd.daemon.locks import SERVICE_LOCK, is_abandoned
from syncd.model.wording import format_count
from syncd.store.pauses import PauseRecord
from syncd.store.runs import COMMAND_RUNS, RunRecord, read_runs

START_HINT = "start it again: systemctl start syncd, or syncd run"
_RUNNERS = {"service": "the service", "command": "a command"}


@dataclass(frozen=True)
class RunStatus:
    """The last run of a repository.

    Shape: `by` is "service" or "command"; `record` is None while nothing has run; `is_recent` says that the run ended
    not long ago. `is_silent` is set when the service has the repository, and no run of it has ended for too long;
    `is_gone` when that service is gone without having been stopped. `pause` is set while a person wants no runs of the
    service. `mirrored` is when every space was last in step, ISO 8601, or "" where one never was.
    """

    by: str = ""
    record: RunRecord | None = None
    is_recent: bool = False
    is_silent: bool = False
    is_gone: bool = False
    pause: PauseRecord | None = None
    mirrored: str = ""

    @property
    def is_good(self) -> bool:
        """Whether the last run succeeded, not long ago, and the next one is due."""
        return self.pause is None and self.is_recent and self.record is not None and self.record.state in USEFUL

    @property
    def exit_code(self) -> int:
        """The exit code of `status` for this run; 0 also where it only waits for a person, who may have acted since."""
        failed = self.record is not None and self.record.state not in USEFUL
        return self.record.exit_code if self.record is not None and failed else int(self.is_silent or self.is_gone)


def find_run(path: Path, git_dir: Path | None, *, interval: float, has_service: bool, now: float) -> RunStatus:
    """Return the last run of a repository; `git_dir` where there is one.

    Units: `interval` in seconds, `now` in epoch seconds.
    """
    command = read_runs(git_dir / COMMAND_RUNS) if git_dir is not None else ()
    by, runs = choose_runs(read_service_runs(path, git_dir, os.environ), command, has_service=has_service)
    record = find_repository_run(runs)
    pause = read_service_pause(path, git_dir, os.environ, now)
    if record is None:
        return RunStatus(pause=pause)
    overdue = is_overdue(record, interval, now)
    is_missed = overdue and pause is None
    is_gone = is_missed and by == "service" and git_dir is not None and is_abandoned(git_dir / SERVICE_LOCK)
    mirrored = min((one.succeeded for one in runs if one.kind == "space"), default="")
    return RunStatus(by, record, not overdue, is_missed and has_service, is_gone, pause, mirrored)


def format_run_problems(run: RunStatus) -> Iterator[str]:
    """Return lines about what is wrong with the last run: since when, why, and what to do."""
    record = run.record
    if run.pause is not None:
        yield f"! {format_pause(run.pause)}"
        yield "    syncd resume ends the pause; commands such as syncd sync work meanwhile"
    if record is None:
        return
    if run.is_silent:
        yield f"! run: the service has ended none since {format_time(record.at)}; its log says why"
    if run.is_gone:
        yield f"! run: {format_gone(record)}"
        yield f"    {START_HINT}"
    if record.state not in USEFUL:
        runs = format_count(record.failures, "run")
        since = f"since {format_time(record.since)} ({runs})"
        yield f"! run of {_RUNNERS[run.by]} {record.state} {since}: {escape(record.why)}"
        yield from (f"    {escape(line)}" for line in filter(None, record.hint.split("\n")))


def format_gone(record: RunRecord) -> str:
    """Return a sentence that says that the service is gone, and when its last run ended."""
    return f"the service that served it is gone since its run of {format_time(record.at)}, and nobody stopped it"


def format_pause(pause: PauseRecord) -> str:
    """Return a sentence that says since when the service leaves a repository alone, and until when."""
    since = f"the service has been paused since {format_time(pause.at)}"
    return f"{since} until {format_time(pause.until)}" if pause.until else f"{since}, until somebody resumes it"


def format_run(run: RunStatus) -> str:
    """Return one line with the state of the last run, and when a run last succeeded."""
    record = run.record
    if record is None:
        return "  run    none has ended yet"
    ended = f"  run    {record.state} at {format_time(record.at)} by {_RUNNERS[run.by]}"
    if record.state in USEFUL:
        return ended
    return (
        f"{ended}; last success {format_time(record.succeeded)}" if record.succeeded else f"{ended}; none has succeeded"
    )
