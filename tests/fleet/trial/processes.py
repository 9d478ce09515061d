"""The processes of a trial: PostgreSQL, the platform, and workers that somebody starts again as systemd does."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg

from tests.fleet.trial.world import TrialWorld
from tests.postgres import Process

PATIENT = 120.0
_TICKS = os.sysconf("SC_CLK_TCK")
_AGAIN_SECONDS = 2.0
"""How long whoever stands for systemd waits until it starts a worker again."""
_AUDIT = (
    "CREATE TABLE trial_leases (repository text, worker text, fence bigint, at float8)",
    "CREATE TABLE trial_runs (repository text, worker text, fence bigint, at float8)",
    "CREATE FUNCTION trial_note_lease() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO trial_leases VALUES"
    " (NEW.repository, NEW.worker, NEW.fence, extract(epoch FROM clock_timestamp())); RETURN NULL; END'",
    "CREATE FUNCTION trial_note_run() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO trial_runs VALUES"
    " (NEW.name, NEW.last_worker, NEW.last_fence, extract(epoch FROM clock_timestamp())); RETURN NULL; END'",
    "CREATE TRIGGER trial_begin AFTER INSERT ON syncd_fleet_leases FOR EACH ROW EXECUTE FUNCTION trial_note_lease()",
    "CREATE TRIGGER trial_next AFTER UPDATE ON syncd_fleet_leases FOR EACH ROW"
    " WHEN (OLD.fence <> NEW.fence) EXECUTE FUNCTION trial_note_lease()",
    "CREATE TRIGGER trial_run AFTER UPDATE ON syncd_fleet_repositories FOR EACH ROW"
    " WHEN (OLD.last_fence <> NEW.last_fence) EXECUTE FUNCTION trial_note_run()",
)
"""Notes each lease when it is acquired and each run when it is recorded, by what PostgreSQL itself saw."""


def read_cpu(pid: int) -> float:
    """Return the CPU seconds of a process and of its children that ended; 0 for one that is gone."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, words[11:15])) / _TICKS


class TrialDatabase:
    """A PostgreSQL of the trial's own that survives its restarts."""

    def __init__(self) -> None:
        """Start it."""
        self._process = Process(durable=True)
        self.url = self._process.url

    def query(self, statement: str) -> list[Any]:
        """Return the rows of a statement."""
        with closing(psycopg.connect(self.url, autocommit=True)) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def note_everything(self) -> None:
        """Begin to note leases and runs, once the fleet has its tables."""
        for statement in _AUDIT:
            self.query(statement)

    def count_runs(self) -> int:
        """Return how many runs were recorded."""
        return int(self.query("SELECT count(*) FROM trial_runs")[0][0])

    def restart(self) -> None:
        """End every connection and serve again."""
        self._process.restart()

    def read_cpu(self) -> float:
        """Return the CPU seconds of the server with its backends that ended."""
        return read_cpu(self._process.pid)

    def close(self) -> None:
        """End the server and remove its files."""
        self._process.stop()


class TrialPlatform:
    """The platform's process, and the log of what was written to it."""

    def __init__(self, world: TrialWorld) -> None:
        """Start it and wait until it accepts connections."""
        self.log = world.root / "platform-log"
        with socket.create_server(("127.0.0.1", 0)) as free:
            port: int = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/v1"
        words = ["-m", "tests.fleet.trial.platform", str(world.platform), str(port), str(self.log)]
        with (world.root / "platform-errors").open("ab") as errors:
            self.process = subprocess.Popen([sys.executable, *words], cwd=Path(__file__).parents[3], stderr=errors)
        wait_until(lambda: _accepts(port), "the platform accepts connections")

    def close(self) -> None:
        """End it."""
        self.process.terminate()
        self.process.wait(PATIENT)


def _accepts(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def wait_until(is_so: Callable[[], bool], why: str, *, seconds: float = PATIENT, pause: float = 0.1) -> None:
    """Wait for what other processes do. Raises: AssertionError when it does not come."""
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, f"never: {why}"
        time.sleep(pause)


class TrialWorkers:
    """Workers by their names. Shape: a worker that ended is started again after a while, unless it is kept down."""

    def __init__(
        self, world: TrialWorld, database: str, names: Sequence[str], *, lease: float, jobs: int, code: str = ""
    ) -> None:
        """Start all of them, with the code of another checkout at first, and somebody who looks after them."""
        self._world, self._database, self._lease, self._jobs = world, database, lease, jobs
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._code = dict.fromkeys(names, code)
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._ended_at: dict[str, float] = {}
        self.ends: Counter[int] = Counter()
        self._cpu = 0.0
        for name in names:
            self._start(name)
        self._keeper = threading.Thread(target=self._keep, daemon=True)
        self._keeper.start()

    def _start(self, name: str) -> None:
        home = self._world.root / "home"
        home.mkdir(exist_ok=True)
        environ = {
            **os.environ,
            "HOME": str(home),
            "SYNCD_FLEET_DATABASE": self._database,
            "SYNCD_TOKEN": self._world.tokens[name],
        }
        if self._code[name]:
            environ["PYTHONPATH"] = self._code[name]
        words = ["--cache", str(self._world.root / f"cache-{name}"), "--name", name, "--lease", str(self._lease)]
        with (self._world.root / f"worker-{name}.log").open("ab") as log:
            self._processes[name] = subprocess.Popen(
                [sys.executable, "-m", "syncd", "fleet", "worker", *words, "--jobs", str(self._jobs)],
                cwd=self._world.root,
                env=environ,
                stdout=log,
                stderr=log,
            )

    def _keep(self) -> None:
        while not self._ended.wait(0.2):
            with self._lock:
                for name, process in self._processes.items():
                    if process.poll() is None:
                        self._ended_at.pop(name, None)
                        continue
                    if name not in self._ended_at:
                        self._ended_at[name] = time.monotonic()
                        self.ends[process.returncode] += 1
                    elif time.monotonic() - self._ended_at[name] > _AGAIN_SECONDS:
                        self._start(name)

    def kill(self, name: str) -> None:
        """Kill a worker as `kill -9` does."""
        with self._lock:
            self._cpu += read_cpu(self._processes[name].pid)
            self._processes[name].kill()

    def stop_for(self, name: str, seconds: float) -> None:
        """Stop a worker, and let it go on after so many seconds."""
        process = self._processes[name]
        process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        process.send_signal(signal.SIGCONT)

    def upgrade(self, name: str) -> None:
        """Let a worker be started with the code of this checkout, from its next start on."""
        self._code[name] = ""

    def count_starts(self) -> int:
        """Return how many workers are of this checkout and run."""
        with self._lock:
            return sum(not self._code[name] and process.poll() is None for name, process in self._processes.items())

    def read_cpu(self) -> float:
        """Return the CPU seconds of all workers, of those that were killed too."""
        with self._lock:
            return self._cpu + sum(read_cpu(process.pid) for process in self._processes.values())

    def close(self) -> None:
        """Kill all of them."""
        self._ended.set()
        self._keeper.join()
        for process in self._processes.values():
            process.kill()
            process.wait(PATIENT)
