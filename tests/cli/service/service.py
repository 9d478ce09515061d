"""A service as people run it, in two repositories on a served platform: what it says in every place.

What is waited for is a line of its log.
"""

import io
import json
import os
import queue
import re
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from signal import SIGUSR1
from typing import Any

import httpx
import pytest

from syncd.cli.app import run
from syncd.daemon import systemd
from syncd.platform.services.directory.read import import_directory
from syncd.platform.storage.storage import Storage
from tests.checkouts import plant
from tests.cli.conftest import PAGES, Shell
from tests.forked import Forked

PATIENT = 60.0
"""Seconds after which something that should happen counts as not happening, on a busy machine too."""


class Service:
    """A running `syncd run`: its log, its health, its metrics, and what `syncd status` says meanwhile."""

    def __init__(self, shell: Shell, config: Path, environ: Mapping[str, str]) -> None:
        self.shell, self.config = shell, config
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        self.environ = {**os.environ, "STATE_DIRECTORY": str(shell.root / "state"), **environ}
        act = _serve_with_journal if environ.get("JOURNAL_STREAM") == "" else _serve
        self.process = Forked(act, str(config), self.address, environ=self.environ, pipes=["stderr"])
        self.said: list[str] = []
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def hear(self, pattern: str) -> str:
        """Wait for a line of the log; those before it are passed over."""
        while True:
            try:
                line = self._lines.get(timeout=PATIENT)
            except queue.Empty:
                line = None
            assert line is not None, f"never said {pattern!r}, only {self.said}"
            self.said.append(line)
            if re.search(pattern, line):
                return line

    def hear_all(self, *patterns: str) -> None:
        """Wait for lines that come in any order."""
        missing = list(patterns)
        while missing:
            line = self.hear("|".join(missing))
            missing = [pattern for pattern in missing if not re.search(pattern, line)]

    def run_again(self, *patterns: str) -> None:
        """Ask for a run of every repository, and wait for lines."""
        self.process.send_signal(SIGUSR1)
        self.hear_all(*patterns)

    def ask(self, path: str) -> httpx.Response:
        return httpx.get(f"http://{self.address}{path}")

    def metric(self, metric: str, /, **labels: str) -> float:
        """Return the value of the one metric that has at least these labels."""
        wanted = {f'{key}="{value}"' for key, value in labels.items()}
        found = []
        for line in self.ask("/metrics").text.splitlines():
            series, _, value = line.rpartition(" ")
            if series.partition("{")[0] == metric and wanted <= set(series.partition("{")[2].rstrip("}").split(",")):
                found.append(float(value))
        assert len(found) == 1, (metric, labels, found)
        return found[0]

    def status(self) -> tuple[int, str, Any]:
        """Return the exit code of `syncd status`, what it prints, and its JSON document."""
        code, text = command("status", "--config", self.config, environ=self.environ)
        same, data = command("status", "--config", self.config, "--json", environ=self.environ)
        assert code == same
        return code, text, json.loads(data)

    def _read(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as lines:
            for line in lines:
                self._lines.put(line.rstrip("\n"))
        self._lines.put(None)


def _serve(config: str, address: str) -> int:
    return run(["run", "--config", config, "--listen", address, "--web", "127.0.0.1:0"])


def _serve_with_journal(config: str, address: str) -> int:
    """Serve as systemd starts a service whose log goes to the journal: the variable says which file that is.

    The journal of this machine, if it has one, is left alone.
    """
    systemd.JOURNAL = "/nonexistent"
    os.environ["JOURNAL_STREAM"] = "{0.st_dev}:{0.st_ino}".format(os.fstat(2))
    return _serve(config, address)


class Two:
    """A configuration of two repositories, `docs` and `other`, each with a space of its own."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.spaces = {"docs": shell.space, "other": self.new_space("Other")}
        self.docs = self.clone("docs")
        self.other = self.clone("other")
        self.config = shell.root / "config.toml"
        self.write()

    def new_space(self, title: str) -> str:
        source = plant(self.shell.root / f"source {title}", PAGES)
        with Storage(self.shell.data) as storage:
            return import_directory(storage, source, title=title).space

    def clone(self, name: str) -> Path:
        """Clone a space next to the others, and return where it is."""
        directory = self.shell.root / name
        words = ("clone", self.shell.url, self.spaces[name], directory, "--token-file", self.shell.token)
        code, text = command(*words)
        assert code == 0, text
        return directory

    def write(self, *more: tuple[str, str], url: str = "") -> None:
        """Write the configuration; `more` are further spaces of the repository docs: a name and an id."""
        lines = ["[platform]", f'url = "{url or self.shell.url}"', f'token_file = "{self.shell.token}"']
        for number, (name, space) in enumerate(self.spaces.items()):
            lines += ["[[repository]]", f'path = "{self.shell.root / name}"', f'instance = "00000{number}"']
            lines += ["interval = 3600", "[[repository.space]]", f'id = "{space}"', 'name = "main"']
            lines += ['directory = "main"'] if more and name == "docs" else []
            for extra, id in more if name == "docs" else ():
                lines += ["[[repository.space]]", f'id = "{id}"', f'name = "{extra}"', f'directory = "{extra}"']
        self.config.write_text("\n".join(lines))

    def edit(self, name: str, text: str) -> None:
        """Publish another text of a page of the space of `docs` or `other`."""
        source = plant(self.shell.root / f"edited {name} {text}", {**PAGES, "use.md": f"# Use\n\n{text}.\n"})
        with Storage(self.shell.data) as storage:
            import_directory(storage, source, space=self.spaces[name])

    def has(self, name: str, text: str) -> bool:
        """Whether a text has arrived in a repository."""
        return text in self.shell.git("show", "platform/main:use.md", cwd=self.shell.root / name)


def command(*words: object, environ: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Carry out a command in this process, and return its exit code and what it prints to standard output."""
    said = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(said):
        for name, value in (environ or {}).items():
            patch.setenv(name, value)
        return run([*map(str, words)]), said.getvalue()


@contextmanager
def serve_platform(two: Two, environ: Mapping[str, str] | None = None) -> Iterator[Service]:
    service = Service(two.shell, two.config, environ or {})
    try:
        yield service
    finally:
        service.process.terminate()
        assert service.process.wait(PATIENT) == 0


def assert_good(service: Service) -> None:
    assert service.ask("/readyz").text == "ready\n"
    assert service.metric("syncd_ready") == 1
    for name in ("docs", "other"):
        labels = {"repository": name, "kind": "repository"}
        assert service.metric("syncd_last_run_ok", **labels) == 1
        assert service.metric("syncd_last_success_timestamp_seconds", **labels) > 0
        assert service.metric("syncd_state_readable", repository=name) == 1
    code, text, document = service.status()
    assert (code, document["exit_code"]) == (0, 0)
    assert "in step with main content" in text
    assert "ok at " in text


def assert_docs_broken(service: Service, state: str, why: str, code: int) -> None:
    """Every place says that `docs` is broken, and that `other` is not."""
    labels = {"repository": "docs", "kind": "repository"}
    ready = service.ask("/readyz")
    assert ready.status_code == 503
    assert re.fullmatch(r"not ready\n(docs( \w+)*: \w+ since \S+ \(\d+ runs?\)\n)+", ready.text)
    assert service.metric("syncd_last_run_ok", **labels) == 0
    assert service.metric("syncd_consecutive_failures", **labels) >= 1
    assert service.metric("syncd_last_run_state", **labels, state=state) == 1
    assert service.metric("syncd_last_run_ok", repository="other", kind="repository") == 1
    assert service.metric("syncd_ready") == 0
    exit_code, text, document = service.status()
    assert exit_code == document["exit_code"] == 4, text
    docs, other = document["repositories"]
    assert (docs["exit_code"], other["exit_code"]) == (code, 0)
    assert docs["run"]["record"]["state"] == state
    assert why in docs["run"]["record"]["why"]
    assert f"! run of the service {state} since " in text
    assert "in step with main content" not in text.split("\n\n")[0]
    assert "in step with main content" in text.split("\n\n")[1]
