"""`syncd platform serve` as processes of their own, for tests that kill them or run several on one database.

They are forked by a process that has loaded everything, so that a start costs no second of imports. Run as a script,
this module is that process: a line of JSON is the words of a command, the answer is the process id of what runs it, and
all that still runs is killed when the input ends.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from http.client import HTTPConnection, HTTPException
from pathlib import Path

ROOT = Path(__file__).parents[1]
PATIENT = 60


class Zygote:
    """The process that forks; `with Zygote() as zygote`."""

    def __init__(self) -> None:
        environ = {**os.environ, "PYTHONPATH": str(ROOT)}
        pipe = subprocess.PIPE
        self._process = subprocess.Popen([sys.executable, __file__], stdin=pipe, stdout=pipe, text=True, env=environ)

    def fork(self, *words: str) -> int:
        """Given the words of a command, run it and return the process's id."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(words), file=self._process.stdin, flush=True)
        return int(self._process.stdout.readline())

    def __enter__(self) -> "Zygote":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=PATIENT)


class Serving:
    """A server on a port that stays its own through every restart; `words` are further options of the command."""

    def __init__(self, zygote: Zygote, data: Path, *words: str) -> None:
        self.zygote, self.data, self.words = zygote, data, words
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/v1"
        self.pid = 0

    def start(self) -> None:
        """Start and wait until it answers: it takes connections before it has made the owner's token good."""
        place = ("--data", str(self.data), "--port", str(self.port))
        self.pid = self.zygote.fork("platform", "serve", *place, *self.words)
        deadline = time.monotonic() + PATIENT
        while not self._answers():
            assert time.monotonic() < deadline, f"answers within {PATIENT} s"
            assert _is_running(self.pid), "goes on running"
            time.sleep(0.01)

    def kill(self) -> None:
        """Kill it as `kill -9` does, and wait until it is gone."""
        os.kill(self.pid, signal.SIGKILL)
        while _is_running(self.pid):
            time.sleep(0.002)

    @property
    def token(self) -> str:
        """The owner's token."""
        return (self.data / "token").read_text().strip()

    def _answers(self) -> bool:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENT)
        try:
            connection.request("GET", "/readyz")
            connection.getresponse().read()
        except (OSError, HTTPException):
            return False
        finally:
            connection.close()
        return True


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _run(words: list[str]) -> None:
    from syncd.cli.app import run

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os._exit(run(words))


def _main() -> None:
    import sqlalchemy.dialects.postgresql.psycopg
    import sqlalchemy.dialects.sqlite.pysqlite  # noqa: F401

    import syncd.cli.platform.command
    import syncd.platform.server  # noqa: F401

    # Whoever has ended is gone at once, and nobody waits for it.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    running = []
    for line in sys.stdin:
        running.append(os.fork())
        if running[-1] == 0:
            _run(json.loads(line))
        print(running[-1], flush=True)
    for pid in running:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    _main()
