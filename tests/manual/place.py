"""A directory in which a person types lines of the manual, and the player of whole pages."""

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from tests.forked import Forked, start_syncd
from tests.service.manual import MANUAL, read_section

_SHELL = re.compile(r"^ *```(?:sh|shell|bash|console)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
_TOML = re.compile(r"^```toml\n(.*?)^```", re.MULTILINE | re.DOTALL)
_PATIENT_S = 60


class Place:
    """A directory in which a person types the lines of the manual, beside a platform that they start and stop."""

    def __init__(self, root: Path) -> None:
        self.root, self.port = root, "0"
        self.names: dict[str, str] = {}
        self.typed: set[str] = set()
        """The lines of the manual that were typed, as they stand there."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.free_address = f"127.0.0.1:{free.getsockname()[1]}"
        self.environ = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}

    def serve(self) -> None:
        """Start the platform where it was, and read its address."""
        words = ("platform", "serve", "--data", "platform-data", "--port", self.port)
        self.server = start_syncd(*words, cwd=self.root, environ=self.environ, pipes=("stdout",))
        assert self.server.stdout is not None
        self.url = self.server.stdout.readline().strip()
        self.port = self.url.rpartition(":")[2]

    @contextmanager
    def start_service(self, told: str, *, names: Mapping[str, str]) -> Iterator[Forked]:
        """Start the service of a line that begins with `syncd run`, with its page at a free port, until it is ready."""
        self.typed.add(told)
        words = (*replace_names(told, names).split()[1:], "--web", "127.0.0.1:0")
        with start_syncd(*words, cwd=self.root, environ=self.environ, pipes=("stderr",)) as service:
            assert service.stderr is not None
            said: list[str] = []
            try:
                while not (said and said[-1].startswith("ready")):
                    said.append(service.stderr.readline())
                    assert said[-1], f"it has ended: {said}"
                yield service
            finally:
                service.terminate()

    def is_serving(self) -> bool:
        """Whether the platform was started and runs."""
        return hasattr(self, "server") and self.server.poll() is None

    def stop(self) -> None:
        """Stop the platform as systemd does."""
        self.server.send_signal(signal.SIGTERM)
        with self.server:
            assert self.server.wait(60) == 0

    def type(self, line: str, *, code: int = 0) -> str:
        """Type a line into a shell, and return what it printed."""
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=self.root,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == code, f"{line}\n{done.stdout}"
        return done.stdout

    def play(
        self,
        text: str,
        *,
        names: Mapping[str, str],
        at: str = ".",
        skipped: Collection[str] = (),
        codes: Mapping[str, int] | None = None,
    ) -> str:
        """Type every shell block of a text in order, and return what is said.

        A directory that a line changes to, and a variable that it exports, are there for the lines below.

        Shape: `names` are what every reader replaces; `skipped` are lines that are not typed, `codes` the exit codes of
        those that end with another one than 0.
        """
        printed, directory = "", self.root / at
        for told in list_lines(text):
            if told in skipped:
                continue
            self.typed.add(told)
            line = replace_names(told, names)
            expected = (codes or {}).get(told, (codes or {}).get(line, 0))
            printed += self.type(f"cd {shlex.quote(str(directory))} && {line}", code=expected)
            if line.startswith("cd "):
                directory /= line.removeprefix("cd ")
            elif line.startswith("export "):
                for name in (word.partition("=")[0] for word in shlex.split(line)[1:]):
                    self.environ[name] = self.type(f'cd {shlex.quote(str(directory))} && {line} && printf %s "${name}"')
        return printed

    def play_in_front(
        self, text: str, *, names: Mapping[str, str], at: str = ".", skipped: Collection[str] = ()
    ) -> str:
        """Type lines that stay in the foreground, each until it has printed its first line; then Ctrl-C ends it.

        Return all that they printed first.
        """
        first = ""
        for told in list_lines(text):
            if told in skipped:
                continue
            self.typed.add(told)
            line = f"exec {replace_names(told, names)}"
            with subprocess.Popen(
                ["bash", "-c", line],
                cwd=self.root / at,
                env=self.environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
            ) as process:
                assert process.stdout is not None
                first += process.stdout.readline()
                process.send_signal(signal.SIGINT)
                try:
                    rest = process.communicate(timeout=_PATIENT_S)[0]
                except subprocess.TimeoutExpired:
                    process.kill()
                    raise
            assert process.returncode in (0, 130), f"{line}\n{first}{rest}"
        return first

    def save(self, text: str, file: str, *, names: Mapping[str, str]) -> None:
        """Save the one block of TOML of a text as a file, with what every reader replaces replaced."""
        (block,) = _TOML.findall(text)
        (self.root / file).write_text(replace_names(block, names), encoding="utf-8")


Test = TypeVar("Test", bound=Callable[..., None])
PLAYS = "plays"


def plays(page: str, *titles: str) -> Callable[[Test], Test]:
    """Say of a test that it types every line of a page, or of parts of it; a fixture holds it to its word.

    Shape: `titles` are those of sections; "" is what stands above the first one.
    """

    def mark(test: Test) -> Test:
        vars(test).setdefault(PLAYS, []).append((page, titles))
        return test

    return mark


def list_played(test: Callable[..., None]) -> list[tuple[str, str]]:
    """Return the lines that a test says it types, each with its page."""
    said: list[tuple[str, tuple[str, ...]]] = vars(test).get(PLAYS, [])
    texts = [(page, [read_part(page, title) for title in titles] or [read_page(page)]) for page, titles in said]
    return [(page, line) for page, parts in texts for text in parts for line in list_lines(text)]


def read_page(page: str) -> str:
    """Return the text of a page of the manual."""
    return (MANUAL / page).read_text(encoding="utf-8")


def read_part(page: str, title: str) -> str:
    """Return the text of a section of a page; without a title, what stands above the first one."""
    return read_section(page, title) if title else read_page(page).partition("\n## ")[0]


def replace_names(line: str, names: Mapping[str, str]) -> str:
    """Return a line with what every reader replaces replaced; a name is a word of its own."""
    for name, here in names.items():
        line = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", here.replace("\\", r"\\"), line)
    return line


def list_lines(text: str) -> list[str]:
    """Return the lines of all shell blocks of a text; continued ones are joined, comments left out.

    A `case` is one line, as a shell reads it.
    """
    lines = [line for block in _SHELL.findall(text) for line in _join(block).splitlines()]
    return [line.strip().removeprefix("$ ") for line in lines if line.strip() and not line.startswith("#")]


def _join(block: str) -> str:
    joined = re.sub(r"\\\n\s*", " ", block)
    return re.sub(r"^case .*?^esac$", lambda found: re.sub(r"\n\s*", " ", found[0]), joined, flags=re.M | re.S)
