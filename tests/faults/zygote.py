"""A process that has loaded syncd and forks to run it, so that a kill never falls on half a second of imports.

It listens on the Unix socket named by its first argument. A connection sends one JSON line (`argv`, `cwd`, `environ`,
`output`, `stop_at`, `after`, `point`, `whole`, `gate`), is told the process id, and, at the end, the exit status and
how many steps were counted. A step is a return from a function of syncd, or an event of the interpreter that changes
something outside it. At step `stop_at`, at the first return from the function named `after`, or at the fault point
`point`, the process kills itself with SIGKILL; when `whole` is set, all that it has started dies with it. With a
`gate`, a path, it makes that file instead, and goes on when the file is gone.
"""

import json
import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

import git
import httpcore
import httpx
import sqlalchemy.dialects.sqlite

import syncd
import syncd.cli.setup.clone
import syncd.cli.sites.apply
import syncd.cli.sync.flows
from syncd import fault_points
from syncd.cli.app import run

LOADED = (
    git,
    httpx,
    httpcore,
    sqlalchemy.dialects.sqlite,
    syncd.cli.setup.clone,
    syncd.cli.sync.flows,
    syncd.cli.sites.apply,
)
OUTSIDE = {
    "os.rename",
    "os.remove",
    "os.link",
    "os.mkdir",
    "os.rmdir",
    "os.truncate",
    "fcntl.flock",
    "shutil.copyfile",
    "sqlite3.connect",
    "socket.connect",
    "subprocess.Popen",
}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
PACKAGE = str(Path(syncd.__file__).parent)


class Steps:
    """Counts steps, and ends the process at one of them."""

    def __init__(self, stop_at: int, *, after: str, whole: bool, gate: str) -> None:
        self.count, self.stop_at, self.after, self.whole, self.gate = 0, stop_at, after, whole, gate
        self._lock = threading.RLock()

    def profile(self, frame: Any, event: str, argument: object) -> None:
        if event == "return" and frame.f_code.co_filename.startswith(PACKAGE):
            if frame.f_code.co_qualname == self.after:
                self.stop()
            self.step()

    def audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        is_write = event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITING
        if event in OUTSIDE or is_write:
            self.step()

    def step(self) -> None:
        with self._lock:
            self.count += 1
            if self.count == self.stop_at:
                self.stop_at = 0
                self.stop()

    def stop(self) -> None:
        if self.gate:
            gate = Path(self.gate)
            gate.touch()
            while gate.exists():
                time.sleep(0.002)
        elif self.whole:
            end_session(os.getpid())
        else:
            os.killpg(0, signal.SIGKILL)


def end_session(leader: int) -> None:
    """Kill the leader of a session, then all else in it: git's processes have groups of their own."""
    members = [pid for pid in map(int, filter(str.isdecimal, os.listdir("/proc"))) if session_of(pid) == leader]
    for pid in sorted(members, key=lambda pid: pid == leader):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def session_of(pid: int) -> int:
    try:
        return os.getsid(pid)
    except (ProcessLookupError, PermissionError):
        return 0


def carry_out(asked: dict[str, Any], report: int) -> int:
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    output = os.open(asked["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    empty = os.open(os.devnull, os.O_RDONLY)
    for number, descriptor in enumerate((empty, output, output)):
        os.dup2(descriptor, number)
    os.environ.clear()
    os.environ.update(asked["environ"])
    os.chdir(asked["cwd"])
    steps = Steps(asked["stop_at"], after=asked["after"], whole=asked["whole"], gate=asked["gate"])
    if asked["point"]:
        fault_points.on_reach = lambda point: steps.stop() if point == asked["point"] else None
    sys.addaudithook(steps.audit)
    threading.setprofile(steps.profile)
    sys.setprofile(steps.profile)
    code = run(asked["argv"])
    sys.setprofile(None)
    steps.stop_at = 0
    sys.stdout.flush()
    sys.stderr.flush()
    os.write(report, str(steps.count).encode())
    return code


def forked(asked: dict[str, Any], report: int) -> int:
    """Fork, run, and return the child's id; the child never comes back."""
    pid = os.fork()
    if pid:
        return pid
    code = 70
    try:
        code = carry_out(asked, report)
    finally:
        os._exit(code)


def attend(connection: socket.socket) -> None:
    with connection, connection.makefile("rw") as lines:
        asked = json.loads(lines.readline())
        reading, report = os.pipe()
        pid = forked(asked, report)
        os.close(report)
        print(pid, file=lines, flush=True)
        _, status = os.waitpid(pid, 0)
        steps = os.read(reading, 32).decode() or "0"
        print(os.waitstatus_to_exitcode(status), steps, file=lines, flush=True)


def main(address: str) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        print("ready", flush=True)
        while True:
            connection, _ = listener.accept()
            if os.fork():
                connection.close()
                signal.signal(signal.SIGCHLD, signal.SIG_IGN)
                continue
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            listener.close()
            attend(connection)
            os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
