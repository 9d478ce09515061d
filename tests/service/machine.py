"""A machine of its own, booted by systemd in a container without a network but loopback."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
PATIENCE = 90.0
"""Seconds after which something that should happen counts as not happening, on a busy machine too."""
_ENVIRONMENT = ("HOME=/root", "LANG=C.UTF-8", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")


class Machine:
    """A booted copy of file system layers; what it writes goes into a layer of its own."""

    def __init__(self, layers: Sequence[Path], directory: Path) -> None:
        """Given layers, topmost first, and a directory for what is written, be ready to boot."""
        self.home = Path(tempfile.mkdtemp(dir=directory))
        self.written, self.root = self.home / "written", self.home / "root"
        for part in (self.written, self.root, self.home / "work"):
            part.mkdir()
        below = ":".join(map(str, layers))
        options = f"lowerdir={below},upperdir={self.written},workdir={self.home / 'work'}"
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o", options, self.root], check=True)
        self._container: subprocess.Popen[bytes] | None = None
        self._leader = 0

    def boot(self) -> None:
        """Start systemd, and return once all that is started at a boot has been."""
        # Where systemd runs here, too, it gives the container a place; else the container takes ours.
        keep = () if Path("/run/systemd/system").is_dir() else ("--keep-unit",)
        command = ["systemd-nspawn", "--quiet", "--boot", f"--directory={self.root}", "--register=no", *keep]
        command += ["--private-network", "--resolv-conf=off", "--console=pipe", f"--machine=syncd-{os.getpid()}"]
        with (self.home / "console").open("wb") as console:
            self._container = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=console, stderr=subprocess.STDOUT, start_new_session=True
            )
        self._leader = wait_for(self._find_leader, "systemd as process 1")
        states = {"running", "degraded"}
        wait_for(lambda: self.run("systemctl is-system-running", check=False).strip() in states, "the end of the boot")

    def run(self, script: str, *, check: bool = True, text: str = "") -> str:
        """Given a script for bash and its input, return what it printed.

        Raises: AssertionError when it fails, unless `check` is false.
        """
        inside = ["nsenter", f"--target={self._leader}", "--all", "env", "-i", *_ENVIRONMENT]
        done = subprocess.run(
            [*inside, "bash", "-euo", "pipefail", "-c", f"cd /root\n{script}"],
            input=text,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0 or not check, f"{script}\nended with {done.returncode}:\n{done.stdout}"
        return done.stdout

    def write(self, path: str, text: str, *, mode: str = "0644") -> None:
        """Given a path, a text and a mode, write the file with its directories."""
        self.run(f"install -D -m {mode} /dev/stdin {path}", text=text)

    def copy(self, source: Path, path: str) -> None:
        """Given a file or directory of the host, copy it to a path of the machine, which need not run."""
        target = self.root / path.lstrip("/")
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)

    def shut_down(self) -> None:
        """Stop every service in order, then the machine; what was written stays."""
        if self._container is not None and self._container.poll() is None:
            self._container.send_signal(signal.SIGTERM)
            try:
                self._container.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self._container.kill()
                self._container.wait()
        self._container = None
        subprocess.run(["umount", self.root], check=True)

    def remove(self) -> None:
        """Shut down, and forget what was written."""
        self.shut_down()
        shutil.rmtree(self.home)

    def _find_leader(self) -> int:
        assert self._container is not None
        console = self.home / "console"
        assert self._container.poll() is None, f"the container did not start:\n{console.read_text(errors='replace')}"
        children = Path(f"/proc/{self._container.pid}/task/{self._container.pid}/children").read_text().split()
        for child in children:
            with suppress(FileNotFoundError):  # one that only prepared the container has ended
                status = Path(f"/proc/{child}/status").read_text()
                if any(line.split()[2:] == ["1"] for line in status.splitlines() if line.startswith("NSpid:")):
                    return int(child)
        return 0


def wait_for(find: Callable[[], T], what: str, *, within: float = PATIENCE) -> T:
    """Given what to ask, ask until the answer is something, and return it. Raises: AssertionError when it never is."""
    deadline = time.monotonic() + within
    while not (found := find()):
        assert time.monotonic() < deadline, f"there was no {what}"
        time.sleep(0.2)
    return found
