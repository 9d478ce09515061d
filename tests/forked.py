"""Processes forked from one that has loaded syncd already: a start costs no second of imports."""

import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Self

SECONDS_MAX = 110
"""How long a command may take; a test as a whole may take a little longer."""

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(
    [
        *(
            "git",
            "httpx",
            "sqlalchemy.dialects.sqlite",
            "syncd.api.content",
            "syncd.api.spaces",
            "syncd.cli.app",
            "syncd.cli.check.command",
            "syncd.cli.setup.clone",
        ),
        *(
            "syncd.cli.sync.flows",
            "syncd.cli.setup.init",
            "syncd.cli.sync.review",
            "syncd.cli.sites.apply",
            "syncd.cli.status.command",
        ),
        *(
            "syncd.cli.platform.command",
            "syncd.cli.service.run",
            "syncd.platform.server",
            "uvicorn.protocols.http.httptools_impl",
        ),
    ]
)
_DESCRIPTORS = {"stdout": 1, "stderr": 2}


class Forked:
    """A running process, with what tests use of `subprocess.Popen`; a `with` block waits for its end."""

    def __init__(
        self,
        act: Callable[..., int],
        *arguments: object,
        cwd: Path | None = None,
        environ: Mapping[str, str] | None = None,
        pipes: Sequence[str] = (),
    ) -> None:
        """Given a function that can be imported and its arguments, begin to carry it out.

        Shape: what it returns is the exit code. `pipes` names the streams that the test reads, stdout or stderr; it
        has all others in common with the test.
        """
        ends = {name: _context.Pipe(duplex=False) for name in pipes}
        writers = {_DESCRIPTORS[name]: writer for name, (_, writer) in ends.items()}
        given = (act, arguments, str(cwd or Path.cwd()), dict(os.environ if environ is None else environ), writers)
        self._process = _context.Process(target=_carry_out, args=given)
        self._process.start()
        for writer in writers.values():
            writer.close()
        self.stdout, self.stderr = (_open(ends[name][0]) if name in ends else None for name in _DESCRIPTORS)

    @property
    def pid(self) -> int:
        """The process id."""
        assert self._process.pid is not None
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs."""
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end, and return the exit code. Units: seconds. Raises: TimeoutExpired."""
        self._process.join(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired(str(self._process), timeout or 0)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it still runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it as `kill -9` does."""
        self.send_signal(signal.SIGKILL)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.wait()
        for stream in (self.stdout, self.stderr):
            if stream is not None:
                stream.close()


def start_syncd(
    *words: object, cwd: Path | None = None, environ: Mapping[str, str] | None = None, pipes: Sequence[str] = ()
) -> Forked:
    """Given the words of a command, begin to carry it out; the rest is as for `Forked`."""
    return Forked(_run, [*map(str, words)], cwd=cwd, environ=environ, pipes=pipes)


def run_forked(
    words: Sequence[str],
    *,
    cwd: Path,
    environ: Mapping[str, str],
    started: Callable[[int], object] = lambda pid: None,
) -> subprocess.CompletedProcess[str]:
    """Given the words of a command, run it to its end, and return what it said; `started` hears its process id.

    Of one that was killed, the code is the negative signal.
    """
    with TemporaryDirectory() as output:
        process = Forked(_run_into, list(words), output, cwd=cwd, environ=environ)
        started(process.pid)
        try:
            code = process.wait(SECONDS_MAX)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise
        said, complained = (Path(output, name).read_bytes().decode() for name in _DESCRIPTORS)
    return subprocess.CompletedProcess(list(words), code, said, complained)


def _carry_out(
    act: Callable[..., int],
    arguments: Sequence[object],
    cwd: str,
    environ: dict[str, str],
    pipes: dict[int, Connection],
) -> None:
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environ)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    for number, pipe in pipes.items():
        os.dup2(pipe.fileno(), number)
        pipe.close()
    sys.exit(act(*arguments))


def _run(words: list[str]) -> int:
    from syncd.cli.app import run

    return run(words)


def _run_into(words: list[str], output: str) -> int:
    for name, number in _DESCRIPTORS.items():
        descriptor = os.open(os.path.join(output, name), os.O_WRONLY | os.O_CREAT)
        os.dup2(descriptor, number)
        os.close(descriptor)
    return _run(words)


def _open(reader: Connection) -> IO[str]:
    with reader:
        return os.fdopen(os.dup(reader.fileno()), encoding="utf-8")
