"""Daemons as real processes, repositories, and the socket where systemd would listen."""

import json
import os
import queue
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.daemon import served
from tests.forked import Forked

PATIENT = 100.0
"""Seconds after which something that should happen counts as not happening: as good as never, on any machine."""


class Daemon:
    """A running `served.py`: its lines, its signals, its end."""

    def __init__(self, spec: Path, environ: dict[str, str]) -> None:
        self.spec = spec
        self.process = Forked(served.serve, spec, cwd=spec.parent, environ=environ, pipes=["stdout"])
        self.said: list[str] = []
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def hear(self, line: str, *, within: float = PATIENT) -> None:
        """Wait for a line; those before it are passed over."""
        deadline = time.monotonic() + within
        while (said := self._next(deadline)) != line:
            assert said is not None, f"never said {line!r}, only {self.said}"

    def silent_for(self, seconds: float) -> list[str]:
        """Return what is said within so many seconds."""
        deadline = time.monotonic() + seconds
        heard = []
        while (said := self._next(deadline)) is not None:
            heard.append(said)
        return heard

    def hear_all(self, lines: set[str]) -> None:
        """Wait for lines that come in any order."""
        deadline, missing = time.monotonic() + PATIENT, set(lines)
        while missing:
            said = self._next(deadline)
            assert said is not None, f"never said {missing}, only {self.said}"
            missing.discard(said)

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def ends(self, *, within: float = PATIENT) -> int:
        return self.process.wait(within)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def _next(self, deadline: float) -> str | None:
        try:
            said = self._lines.get(timeout=max(deadline - time.monotonic(), 0.001))
        except queue.Empty:
            return None
        if said is not None:
            self.said.append(said)
        return said

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                self._lines.put(line.rstrip("\n"))
        self._lines.put(None)


class Systemd:
    """Listens where a service says how it is."""

    def __init__(self, address: str) -> None:
        self.channel = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.channel.bind(address)
        self.told: list[str] = []

    def hear(self, start: str, *, within: float = PATIENT) -> str:
        """Wait for a message that begins so; those before it are passed over."""
        deadline = time.monotonic() + within
        while True:
            self.channel.settimeout(max(deadline - time.monotonic(), 0.001))
            self.told.append(self.channel.recv(4096).decode())
            if self.told[-1].startswith(start):
                return self.told[-1]

    def all_for(self, seconds: float) -> list[str]:
        """Return what is told within so many seconds."""
        deadline, before = time.monotonic() + seconds, len(self.told)
        try:
            self.hear("never said", within=seconds)
        except TimeoutError:
            assert time.monotonic() >= deadline - 0.1
        return self.told[before:]


@pytest.fixture
def systemd(tmp_path: Path) -> Iterator[Systemd]:
    """A listener on a socket in the file system."""
    listener = Systemd(str(tmp_path / "notify"))
    yield listener
    listener.channel.close()


def git(*arguments: str | Path) -> None:
    subprocess.run(["git", *arguments], check=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """The git directory of an empty repository."""
    git("init", "-q", "-b", "main", tmp_path / "docs")
    return tmp_path / "docs" / ".git"


@pytest.fixture
def commit(repository: Path) -> Callable[[], None]:
    """Commit to the repository, as a person would."""
    return lambda: git("-C", repository.parent, "commit", "-q", "--allow-empty", "-m", "Edit")


Serve = Callable[..., Daemon]
Described = dict[str, Any]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Start a daemon: `serve(job(...), job(...), patience=…, environ={…})`."""
    begun: list[Daemon] = []

    def start(*jobs: dict[str, Any], patience: float = 60, environ: dict[str, str] | None = None) -> Daemon:
        spec = tmp_path / f"spec-{len(begun)}.json"
        spec.write_text(json.dumps({"jobs": jobs, "patience": patience}))
        begun.append(Daemon(spec, {**os.environ, **(environ or {})}))
        return begun[-1]

    yield start
    for daemon in begun:
        daemon.kill()


@pytest.fixture
def job() -> Callable[..., Described]:
    """Describe a job for `serve`."""

    def describe(
        git_dir: Path, does: str = "unchanged", *, name: str = "docs", interval: float = 600
    ) -> dict[str, Any]:
        return {"name": name, "git_dir": str(git_dir), "does": does, "interval": interval}

    return describe
