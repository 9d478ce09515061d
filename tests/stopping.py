"""A process that is stopped at a fault point, for a test that kills it there or lets it go on."""

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from syncd.fault_points import VARIABLE


@contextmanager
def run_until_stopped(
    point: str, command: Sequence[str], *, cwd: Path, environ: Mapping[str, str] | None = None
) -> Iterator["subprocess.Popen[str]"]:
    """Given a fault point and a command that gets there, start it and wait until it has stopped; at last, kill it."""
    given = {**os.environ, **(environ or {}), VARIABLE: point}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=cwd, env=given, stdout=pipe, stderr=subprocess.STDOUT, text=True) as process:
        try:
            _, status = os.waitpid(process.pid, os.WUNTRACED)
            if not os.WIFSTOPPED(status):
                process.returncode = os.waitstatus_to_exitcode(status)
                assert process.stdout is not None
                raise AssertionError(f"{command} ended before {point}: {process.stdout.read()}")
            yield process
        finally:
            kill(process)


def kill(process: "subprocess.Popen[str]") -> None:
    """Given a process, end it as `kill -9` does, and wait until it is gone; what it started goes on."""
    with suppress(ProcessLookupError):
        process.send_signal(signal.SIGKILL)
    process.wait()
