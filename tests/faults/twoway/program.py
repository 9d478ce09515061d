"""Runs the command line: in this process, or in a fork of it that is killed at a named step."""

import gc
import io
import os
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import syncd.cli.setup.clone
import syncd.cli.status.command
import syncd.cli.sync.flows
import syncd.cli.sync.resolve
from syncd import fault_points
from syncd.cli.app import run
from tests.faults.twoway.hosting import Gate, Hosting
from tests.faults.zygote import end_session

LOADED: Sequence[Any] = (syncd.cli.setup.clone, syncd.cli.sync.flows, syncd.cli.sync.resolve, syncd.cli.status.command)
"""What commands import when they run, loaded once."""
CRASHED, KILLED = 70, -9


@dataclass(frozen=True)
class Ran:
    """A command that has ended. Shape: `code` is CRASHED for a traceback, KILLED for a run that was killed."""

    words: tuple[str, ...]
    code: int
    text: str


def prepare() -> None:
    """Make this process quick at running many commands: what is loaded stays."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


def run_here(words: Sequence[str], cwd: Path) -> Ran:
    """Given the words of a command and where it is typed, run it in this process."""
    os.chdir(cwd)
    output = io.StringIO()
    former = signal.getsignal(signal.SIGTERM)
    with redirect_stdout(output), redirect_stderr(output):
        try:
            code = run(words)
        except Exception:  # noqa: BLE001  (what the user would see as a traceback)
            traceback.print_exc(file=output)
            code = CRASHED
        finally:
            signal.signal(signal.SIGTERM, former)
    return Ran(tuple(words), code, output.getvalue())


def run_apart(
    hosting: Hosting,
    words: Sequence[str],
    cwd: Path,
    fault: str,
    act: Callable[[int], bool] | None = None,
    *,
    serves: bool = False,
) -> Ran:
    """Run a command in a process of its own, which is killed at a step, unless `act` is what happens there.

    Shape: `act` gets the process id, and returns whether the request goes on its way; `fault` is such as
    "before-write:2", "after-request:5", or "point:ref-moved:2" for the second time at a fault point of the program; a
    number in the place of its name is the n-th that there is. What `serves` is the service: it is told to stop once it
    has looked at everything.
    """
    output = cwd.parent / "output"
    point = fault.removeprefix("point:") if fault.startswith("point:") else ""
    reading, writing = os.pipe()
    notices = _listen_for_notices(cwd.parent / "notify") if serves else None
    child = os.fork()
    if not child:
        os.close(writing)
        if notices is not None:
            os.environ["NOTIFY_SOCKET"] = notices.getsockname()
        _be_child(words, cwd, output, point, reading)
    os.close(reading)

    def kill() -> bool:
        end_session(child)
        return False

    with hosting.gated(Gate("before-request:0" if point else fault, kill if act is None else lambda: act(child))):
        if notices is not None:
            threading.Thread(target=_stop_when_ready, args=(notices, child), daemon=True).start()
        os.write(writing, b"x")
        os.close(writing)
        _, status = os.waitpid(child, 0)
        if notices is not None:
            _end_notices(notices)
    return Ran(tuple(words), os.waitstatus_to_exitcode(status), output.read_text(errors="replace"))


def _listen_for_notices(path: Path) -> socket.socket:
    """A socket that the service tells how it is, as it tells systemd."""
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    listener.bind(str(path))
    return listener


def _stop_when_ready(notices: socket.socket, service: int) -> None:
    while notice := notices.recv(4096):
        if b"READY=1" in notice.split(b"\n"):
            os.kill(service, signal.SIGTERM)
            return


def _end_notices(notices: socket.socket) -> None:
    """Let whoever still waits for a notice of a service that is gone wait no more."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
        end.sendto(b"", notices.getsockname())
    notices.close()


def _be_child(words: Sequence[str], cwd: Path, output: Path, point: str, ready: int) -> None:
    code = CRASHED
    try:
        os.setsid()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.read(ready, 1)
        target = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        for number in (1, 2):
            os.dup2(target, number)
        sys.stdout, sys.stderr = (os.fdopen(number, "w", closefd=False) for number in (1, 2))
        if point:
            fault_points.on_reach = _killer(point)
        os.chdir(cwd)
        code = run(words)
    except BaseException:  # noqa: BLE001  (nothing of this process goes on behind the run)
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _killer(point: str) -> Callable[[fault_points.FaultPoint], None]:
    """What kills this process at a fault point, for the n-th time there."""
    name, _, times = point.partition(":")
    every = list(fault_points.FaultPoint)
    wanted = every[int(name) % len(every)].value if name.isdigit() else name
    left = int(times or 1)

    def reach(reached: fault_points.FaultPoint) -> None:
        nonlocal left
        left -= reached.value == wanted
        if not left:
            end_session(os.getpid())

    return reach
