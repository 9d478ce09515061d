"""A command on a terminal of its own: what a person sees, and what they type."""

import fcntl
import os
import pty
import struct
import sys
import termios
from collections.abc import Mapping
from pathlib import Path
from select import select
from typing import Self

from syncd.cli.app import run
from tests.forked import SECONDS_MAX, Forked


class TerminalSession:
    """A running command whose input and output are a terminal; a `with` block waits for its end."""

    def __init__(self, *words: object, cwd: Path, environ: Mapping[str, str] | None = None, columns: int = 100) -> None:
        self._screen, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        given = {**os.environ, "TERM": "dumb", "COLUMNS": str(columns), **(environ or {})}
        self._process = Forked(_run_on_terminal, os.ttyname(terminal), [*map(str, words)], cwd=cwd, environ=given)
        self._terminal = terminal
        self.text = ""
        """All that was on the screen so far."""
        self._seen, self._bytes = 0, b""

    def expect(self, text: str) -> str:
        """Read until the screen shows a text behind what was expected before, and return all that came with it."""
        while (at := self.text.find(text, self._seen)) < 0:
            if not self._read_screen():
                raise AssertionError(f"{text!r} never came:\n{self.text}")
        came = self.text[self._seen : at + len(text)]
        self._seen = at + len(text)
        return came

    def type_line(self, line: str) -> None:
        """Type a line and Enter."""
        os.write(self._screen, line.encode() + b"\n")

    def finish(self) -> int:
        """Read to the end, and return the exit code."""
        while self._read_screen():  # before it ends: what nobody reads fills the terminal, and the command waits
            pass
        return self._process.wait(SECONDS_MAX)

    def _read_screen(self) -> bool:
        """Read what is there or comes; False when the command ended and nothing is left."""
        while not select([self._screen], [], [], 0.05)[0]:
            if self._process.poll() is not None and not select([self._screen], [], [], 0)[0]:
                return False
        self._bytes += os.read(self._screen, 4096)
        self.text = self._bytes.decode(errors="ignore").replace("\r\n", "\n")  # the last character may be half there
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        os.close(self._screen)
        os.close(self._terminal)


def _run_on_terminal(name: str, words: list[str]) -> int:
    """Run a command on the terminal of that name; the child has become the leader of a session, so it is its own."""
    os.setsid()
    terminal = os.open(name, os.O_RDWR)
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    for number in (0, 1, 2):
        os.dup2(terminal, number)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115 # as long as the process
    code = run(words)
    sys.stdout.flush()
    sys.stderr.flush()
    return code
