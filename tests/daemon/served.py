"""A daemon whose jobs are plain functions, for tests that send it signals; it prints one line for each event.

`serve` gets the name of a JSON file: `jobs`, each with a name, a git directory, what it does and its interval, and
`patience`. What it does is read anew at every load.
"""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from syncd.daemon.control.run_files import RunFiles
from syncd.daemon.records import summarize_run
from syncd.daemon.service import Service
from syncd.daemon.systemd import Notifier
from syncd.daemon.task import Job
from syncd.errors import ConfigInvalid, NotARepository
from syncd.plan.change import Change
from syncd.sync.outcome import Applied, Held, Outcome, Unchanged, Waiting
from syncd.sync.run.values import RUN, Result

Cancelled = Callable[[], bool]
GO_ON = Path("go-on")
"""A file beside the specification, which is where the process runs."""


def say(*words: object) -> None:
    # In one piece: several threads speak.
    os.write(sys.stdout.fileno(), f"{' '.join(map(str, words))}\n".encode())


def unchanged(job: Path, cancelled: Cancelled) -> Outcome:
    return Unchanged()


def refused(job: Path, cancelled: Cancelled) -> Outcome:
    return Held("the token is refused", exit_code=77)


def patient(job: Path, cancelled: Cancelled) -> Outcome:
    """Runs until it may go on, or is told to stop."""
    while not GO_ON.exists() and not cancelled():
        time.sleep(0.02)
    return Unchanged()


def hanging(job: Path, cancelled: Cancelled) -> Outcome:
    """Hangs in a worker thread, for which the interpreter would wait at its end."""
    with ThreadPoolExecutor() as workers:
        workers.submit(threading.Event().wait)
    return Unchanged()


def limited(job: Path, cancelled: Cancelled) -> Outcome:
    return Waiting("the limit is reached", until=time.time() + 2)


def defective(job: Path, cancelled: Cancelled) -> Outcome:
    raise ZeroDivisionError


def committing(job: Path, cancelled: Cancelled) -> Outcome:
    commit(job)
    return Applied((Change("create", "commit", "main"),))


def overtaken(job: Path, cancelled: Cancelled) -> Outcome:
    """Someone else commits while it runs, once."""
    if not GO_ON.exists():
        GO_ON.touch()
        commit(job)
    return Unchanged()


def commit(git_dir: Path) -> None:
    subprocess.run(["git", "-C", git_dir.parent, "commit", "-q", "--allow-empty", "-m", "Edit"], check=True)


def jobs(spec: Path) -> list[Job]:
    try:
        told = json.loads(spec.read_text())["jobs"]
    except ValueError:
        raise ConfigInvalid("the file makes no sense") from None
    return [job(each["name"], Path(each["git_dir"]), each["does"], each["interval"]) for each in told]


def job(name: str, git_dir: Path, does: str, interval: float) -> Job:
    alone = threading.Lock()
    act: Callable[[Path, Cancelled], Outcome] = globals()[does]

    def run(cancelled: Cancelled) -> list[Result]:
        if not alone.acquire(blocking=False):
            say("two runs at once")
        try:
            say("run", name)
            return [Result(RUN, "", act(git_dir, cancelled))]
        finally:
            alone.release()

    def locate() -> Path:
        if not git_dir.is_dir():
            raise NotARepository(f"{git_dir} is no Git repository")
        return git_dir

    return Job(name, git_dir, locate, interval, run)


def note_run(job: Job, git_dir: Path | None, results: Sequence[Result], at: str) -> None:
    if job.name == "untold":
        raise ZeroDivisionError


def report(name: str, results: Sequence[Result]) -> None:
    outcome = summarize_run(results)
    say("outcome", name, type(outcome).__name__, outcome.exit_code)


def serve(spec: Path) -> int:
    patience = json.loads(spec.read_text()).get("patience", 60)
    files = RunFiles(spec.parent / "state", say)
    notify = Notifier(os.environ)
    service = Service(
        partial(jobs, spec),
        notify=notify,
        files=files,
        report=report,
        patience=patience,
        notice=say,
        note_run=note_run,
    )
    start = time.monotonic()
    code = service.serve()
    say("served", round(time.monotonic() - start, 3))
    return code
