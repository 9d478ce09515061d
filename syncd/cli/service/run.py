"""`run`: the daemon in the foreground, under systemd or in a terminal."""

import os
import threading
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from syncd.cli.terminal.context import load_configuration, require_config_file
from syncd.cli.terminal.output import format_results
from syncd.cli.terminal.text import escape, log_text, print_error
from syncd.daemon.control import find_runtime_directory, listen_control
from syncd.daemon.health import USEFUL
from syncd.daemon.http import listen
from syncd.daemon.jobs import build_jobs
from syncd.daemon.records import find_state
from syncd.daemon.run_files import RunFiles, find_service_directory
from syncd.daemon.service import SELF, Job, Service
from syncd.daemon.systemd import ERROR, INFO, NOTICE, WARNING, Notifier
from syncd.sync.outcome import CONFLICT, PAGE, Applied, Held, Outcome, Unchanged, Waiting
from syncd.sync.run.values import Result

_PRIORITIES = {"failed": ERROR, "held": ERROR} | dict.fromkeys(("waiting", "conflict", "approval", "manual"), WARNING)


def run_service(config_file: Path | None, address: str) -> int:
    """Keep every configured repository in step until SIGTERM, and return the exit code."""

    def load_jobs() -> Sequence[Job]:
        return build_jobs(load_configuration(config_file), os.environ)

    threading.excepthook = _log_defect
    file = require_config_file(config_file)
    service = Service(
        load_jobs,
        notify=_ReadyNotifier(os.environ),
        files=RunFiles(find_service_directory(os.environ), _warn),
        report=_RunLog().report,
        notice=_warn,
    )
    directory, path = find_runtime_directory(os.environ), str(file.path.absolute())
    with (
        listen(address, service.health, time.time, _warn),
        listen_control(directory, service.answer, _warn, config=path),
    ):
        return service.serve()


class _ReadyNotifier(Notifier):
    """A notifier of systemd that also logs that the service is ready."""

    def send_ready(self) -> None:
        super().send_ready()
        log_text("ready: every repository was looked at; Ctrl-C ends syncd", INFO)


class _RunLog:
    """Logs the results of runs; each line names its repository and has a priority for the journal.

    What waits for a person is logged once, when it begins, and a page in conflict once more when it is settled.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, list[Result]] = {}
        """What waits for a person as of its last run, by the repository's name."""
        self._failing: set[str] = set()

    def report(self, name: str, results: Sequence[Result]) -> None:
        """Log the results of one run of a repository."""
        waiting_before = self._waiting.get(name, [])
        for result in results:
            if name == SELF and isinstance(result.outcome, Held | Waiting):
                print_error(result.outcome.why, result.outcome.hint, result.outcome.exit_code, as_json=False)
            elif result not in waiting_before:
                _log_result(name, result)
        waiting_now = [result for result in results if _is_waiting_for_person(result)]
        if any(find_state(result) not in USEFUL for result in results):
            self._failing.add(name)
            # A run that failed did not check whether they still wait.
            waiting_now += [result for result in waiting_before if result not in waiting_now]
        else:
            _log_settled(name, waiting_before, waiting_now)
            if name in self._failing:
                self._failing.discard(name)
                log_text(f"{name}: works again", NOTICE)
        self._waiting[name] = waiting_now


def _is_waiting_for_person(result: Result) -> bool:
    """Whether a result says only that a person has to do something, or has something to read."""
    if isinstance(result.outcome, Applied):
        return all(change.verb == "report" for change in result.outcome.changes)
    if isinstance(result.outcome, Waiting):
        return not result.outcome.exit_code
    return find_state(result) in ("conflict", "approval", "manual")


def _log_settled(name: str, before: Sequence[Result], now: Sequence[Result]) -> None:
    still = {(result.flow, result.key) for result in now}
    for flow, key in dict.fromkeys((result.flow, result.key) for result in before):
        if flow in (CONFLICT, PAGE) and (flow, key) not in still:
            log_text(f"{name}: {flow} {escape(key)} settled", NOTICE)


def _log_result(name: str, result: Result) -> None:
    if isinstance(result.outcome, Unchanged):
        return
    done = NOTICE if isinstance(result.outcome, Waiting) or _has_notes(result.outcome) else INFO
    priority = _PRIORITIES.get(find_state(result), done)
    for line in format_results([result]):
        log_text(f"{name}: {line}", priority)


def _has_notes(outcome: Outcome) -> bool:
    return isinstance(outcome, Applied) and bool(outcome.notes)


def _log_defect(defect: threading.ExceptHookArgs) -> None:
    """Log the traceback of a thread that ended in a defect; the thread of a run has the name of its repository."""
    name = defect.thread.name if defect.thread is not None else SELF
    trace = "".join(traceback.format_exception(defect.exc_type, defect.exc_value, defect.exc_traceback))
    for line in trace.rstrip("\n").split("\n"):
        log_text(f"{name}: {escape(line)}", ERROR)


def _warn(text: str) -> None:
    for line in text.rstrip("\n").split("\n"):
        log_text(escape(line), WARNING)
