"""The part of `status` that says what the last run of a repository came to, the service's or a command's."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from syncd.cli.terminal.text import moment, safe
from syncd.daemon.health import USEFUL, choose_runs, find_whole, is_overdue
from syncd.daemon.run_files import COMMAND, service_runs
from syncd.store.runs import RunRecord, read_runs

_WHO = {"service": "the service", "command": "a command"}


@dataclass(frozen=True)
class RunStatus:
    """The run that says how a repository stands.

    Shape: `by` is "service" or "command", `is_recent` whether it says something of now; `record` is None while nothing
    has run. `is_silent` is set when a service has the repository and no run of it has ended for too long.
    """

    by: str = ""
    record: RunRecord | None = None
    is_recent: bool = False
    is_silent: bool = False

    @property
    def is_good(self) -> bool:
        """Whether the last run did what it is for, not long ago."""
        return self.is_recent and self.record is not None and self.record.state in USEFUL

    @property
    def exit_code(self) -> int:
        """What `status` says of this run to programs; what only waits for a person is judged by how it stands now."""
        failed = self.record is not None and self.record.state not in USEFUL
        return self.record.exit_code if self.record is not None and failed else int(self.is_silent)


def find_run(path: Path, git_dir: Path | None, *, interval: float, has_service: bool, now: float) -> RunStatus:
    """Given a repository, and its git directory where there is one, return the run that says how it stands.

    Units: `interval` in seconds, `now` in epoch seconds.
    """
    command = read_runs(git_dir / COMMAND) if git_dir is not None else ()
    by, runs = choose_runs(service_runs(path, git_dir, os.environ), command, has_service=has_service)
    record = find_whole(runs)
    if record is None:
        return RunStatus()
    overdue = is_overdue(record, interval, now)
    return RunStatus(by, record, not overdue, overdue and has_service)


def run_problems(run: RunStatus) -> Iterator[str]:
    """Given the last run, return what is wrong: since when, why, and what to do."""
    record = run.record
    if record is None:
        return
    if run.is_silent:
        yield f"! run: the service has ended none since {moment(record.at)}; its log says why"
    if record.state not in USEFUL:
        runs = "1 run" if record.failures == 1 else f"{record.failures} runs"
        yield f"! run of {_WHO[run.by]} {record.state} since {moment(record.since)} ({runs}): {safe(record.why)}"
        yield from (f"    {safe(line)}" for line in filter(None, record.hint.split("\n")))


def run_line(run: RunStatus) -> str:
    """Given the last run, return in one line what it came to, and when one last succeeded."""
    record = run.record
    if record is None:
        return "  run    none has ended yet"
    ended = f"  run    {record.state} at {moment(record.at)} by {_WHO[run.by]}"
    if record.state in USEFUL:
        return ended
    return f"{ended}; last success {moment(record.succeeded)}" if record.succeeded else f"{ended}; none has succeeded"
