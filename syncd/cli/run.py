"""`run`: the daemon, in the foreground; systemd or a terminal is its home."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from syncd.cli.context import configuration
from syncd.cli.output import result_lines
from syncd.cli.terminal import complain, safe
from syncd.daemon.jobs import jobs
from syncd.daemon.metrics import listening
from syncd.daemon.service import Job, Service
from syncd.daemon.systemd import Notifier
from syncd.sync.cycle import Result
from syncd.sync.outcome import Held, Outcome, Unchanged, Waiting


def run_service(config_file: Path | None, listen: str) -> int:
    """Keep every configured repository in step until SIGTERM, and return the exit code."""

    told: dict[tuple[str, str, str], Outcome] = {}

    def tell(name: str, result: Result) -> None:
        key = name, result.flow, result.key
        again = told.get(key) == result.outcome
        told[key] = result.outcome
        if not (again and isinstance(result.outcome, Waiting) and not result.outcome.exit_code):
            _tell(name, result)  # that people take their time is said once

    def load_jobs() -> Sequence[Job]:
        return jobs(configuration(config_file), os.environ, tell)

    def report(name: str, outcome: Outcome) -> None:
        if isinstance(outcome, Held) and name == "syncd":
            complain(outcome.why, outcome.hint, outcome.exit_code, as_json=False)
        elif outcome.exit_code:
            _tell(name, Result("run", name, outcome))

    service = Service(load_jobs, notify=_Announcer(os.environ), report=report, notice=_notice)
    with listening(listen, service.health):
        return service.serve()


class _Announcer(Notifier):
    """Tells systemd, and whoever watches the terminal."""

    def ready(self) -> None:
        super().ready()
        _notice("ready: every repository was looked at; Ctrl-C ends syncd")


def _tell(name: str, result: Result) -> None:
    """One paragraph a result on stderr; journald adds the time."""
    if isinstance(result.outcome, Unchanged):
        return
    for line in result_lines([result]):
        print(line, file=sys.stderr, flush=True)


def _notice(text: str) -> None:
    print(safe(text), file=sys.stderr, flush=True)
