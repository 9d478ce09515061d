"""Where benchmarks take place: a platform in a process of its own, repositories, and nothing of this machine's user."""

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self

from syncd.api.client import Client
from syncd.model.change_request import ChangeRequestCreate
from syncd.model.content_write import ContentWrite, Markdown, UpdatePage
from syncd.model.page import walk_pages
from syncd.repo.repository import Repository
from syncd.store.store import Store
from syncd.sync.binding import Binding
from syncd.sync.run.cycle import run_cycle
from syncd.sync.run.values import RunOptions
from syncd.sync.workspace import Progress, Workspace, ignore_progress
from tests.benchmarks.measure import Cost
from tests.benchmarks.pages import write_pages

PROJECT = Path(__file__).parents[2]
MIRROR = RunOptions(integrate=False, propose=False)
"""Only what the platform has becomes Git."""
FEW = 10
"""Pages of the small space."""
SERVER_ENDS_SECONDS = 20
SETTLES_SECONDS = 1_800


def leave_home(home: Path) -> None:
    """Given an empty directory, let this process and its children live there, with Git and Python unconfigured.

    Without compiled modules, which PYTHONDONTWRITEBYTECODE of a caller forbids, every start would pay for compiling.
    """
    for name in [name for name in os.environ if name.startswith(("GIT_", "SYNCD_", "XDG_", "PYTHON"))]:
        del os.environ[name]
    os.environ |= {"HOME": str(home), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    os.environ |= {f"GIT_{role}_NAME": "A. Writer" for role in ("AUTHOR", "COMMITTER")}
    os.environ |= {f"GIT_{role}_EMAIL": "writer@example.org" for role in ("AUTHOR", "COMMITTER")}
    os.environ["PYTHONPATH"] = str(PROJECT)


def bindings(spaces: Sequence[str]) -> tuple[Binding, ...]:
    """Given spaces, return them bound to a directory each; a single one to the repository's root."""
    if len(spaces) == 1:
        return (Binding(spaces[0], "", "docs"),)
    return tuple(Binding(space, f"space-{number}", f"space-{number}") for number, space in enumerate(spaces))


@contextmanager
def workspace_on(
    url: str, token: str, directory: Path, spaces: Sequence[str], *, progress: Progress = ignore_progress
) -> Iterator[Workspace]:
    """Given a platform, a repository and spaces, open all that a run works with, and close it after."""
    with (
        Repository.open(directory) as repository,
        Store(repository.git_dir / "syncd-state.db") as store,
        Client(url, token) as client,
    ):
        yield Workspace(
            client=client,
            repository=repository,
            store=store,
            now=lambda: datetime.now(UTC),
            bindings=bindings(spaces),
            instance="0a1b2c",
            progress=progress,
        )


def run_flows(workspace: Workspace, wish: RunOptions) -> int:
    """Given a workspace, run the flows that are wished for, and return how many requests it has made.

    Raises: RuntimeError when a flow did not get through: then there is nothing to measure.
    """
    for result in run_cycle(workspace, wish):
        if result.outcome.exit_code:
            raise RuntimeError(f"{result.flow} {result.key}: {result.outcome}")
    return sum(workspace.client.requests_sent.values())


@dataclass
class Stage:
    """One platform for all benchmarks, started when the first needs it; `pages` is the size of its large space."""

    root: Path
    pages: int
    _server: "subprocess.Popen[str] | None" = None
    _made: int = field(default=0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.terminate()
            try:
                self._server.wait(SERVER_ENDS_SECONDS)
            except subprocess.TimeoutExpired:
                self._server.kill()
                self._server.wait()
            assert self._server.stdout is not None
            self._server.stdout.close()

    @property
    def data(self) -> Path:
        """Where the platform keeps everything."""
        return self.root / "platform"

    @cached_property
    def url(self) -> str:
        """Where the platform listens."""
        words = [sys.executable, "-m", "syncd", "platform", "serve", "--port", "0", "--data", str(self.data)]
        self._server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=self.root)
        assert self._server.stdout is not None
        url = self._server.stdout.readline().strip()
        if not url.startswith("http://127.0.0.1:"):
            raise RuntimeError("the platform did not start")
        return url

    @cached_property
    def token(self) -> str:
        """What lets the owner in."""
        assert self.url
        return (self.data / "token").read_text(encoding="ascii").strip()

    @cached_property
    def large(self) -> str:
        """The space with all the pages."""
        return self.space_of(self.pages)

    @cached_property
    def small(self) -> str:
        """The space with ten pages."""
        return self.space_of(FEW)

    def space_of(self, count: int) -> str:
        """Given a number of pages, import that many as a new space and return its id."""
        assert self.url
        source = write_pages(self.fresh("source"), count)
        done = syncd("platform", "import", str(source), "--data", str(self.data), "--title", f"{count} pages", "--json")
        self.settle()
        return str(json.loads(done)["space"])

    def settle(self) -> None:
        """Wait until the platform has done what it does later, such as its index: that is nobody's cost here."""
        query = "SELECT 1 FROM jobs WHERE lease IS NOT NULL OR due_at <= strftime('%Y-%m-%dT%H:%M:%fZ') LIMIT 1"
        with closing(sqlite3.connect(f"file:{self.data / 'platform.db'}?mode=ro", uri=True)) as database:
            for _ in range(SETTLES_SECONDS):
                if database.execute(query).fetchone() is None:
                    return
                time.sleep(1)
        raise RuntimeError("the platform does not come to rest")

    def client(self) -> Client:
        """Return a client of the platform."""
        return Client(self.url, self.token)

    def fresh(self, name: str) -> Path:
        """Given a name, return a path that is not there yet."""
        self._made += 1
        return self.root / f"{name}-{self._made}"

    def repository(self) -> Path:
        """Return a new and empty repository."""
        path = self.fresh("repository")
        Repository.create(path, branch="main").close()
        return path

    def workspace(self, directory: Path, *spaces: str) -> AbstractContextManager[Workspace]:
        """Given a repository and spaces, return what opens all that a run works with."""
        return workspace_on(self.url, self.token, directory, spaces)

    def mirror_of(self, *spaces: str) -> Path:
        """Given spaces, return a repository that mirrors them."""
        path = self.repository()
        with self.workspace(path, *spaces) as workspace:
            run_flows(workspace, MIRROR)
        return path

    def edit(self, space: str, count: int, mark: str) -> None:
        """Given a space and a number of pages, change that many, spread over the whole, and merge."""
        with self.client() as client:
            pages = [page for page, _ in walk_pages(client.content.get(space).pages) if page.type == "document"]
            changes = []
            for page in pages[:: max(1, len(pages) // count)][:count]:
                text = (client.content.get_page(space, page.id).markdown or "") + f"\n{mark}.\n"
                changes.append(UpdatePage(page=page.id, document=Markdown(markdown=text)))
            request = client.change_requests.create(space, ChangeRequestCreate(subject=mark))
            client.change_requests.write_content(space, request.id, ContentWrite(changes=tuple(changes)))
            client.change_requests.merge(space, request.id)


def syncd(*words: str) -> str:
    """Given the words of a command, run it and return what it prints. Raises: CalledProcessError."""
    done = subprocess.run([sys.executable, "-m", "syncd", *words], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


@dataclass(frozen=True)
class Ran:
    """What a command took, with all that it started. Units: `peak_mb` of the largest of its processes."""

    cost: Cost
    peak_mb: float


_LAUNCH = """
import os, subprocess, sys, time
start = time.perf_counter()
process = subprocess.Popen([sys.executable, "-m", "syncd", *sys.argv[1:]], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss, os.waitstatus_to_exitcode(status))
"""
"""Starts syncd from a process that is small: to Linux, a process has taken what the one had that started it."""


def run_syncd(*words: str) -> Ran:
    """Given the words of a command, run it and return what it took. Raises: RuntimeError when it fails."""
    done = subprocess.run([sys.executable, "-c", _LAUNCH, *words], stdout=subprocess.PIPE, text=True, check=True)
    wall, cpu, peak, status = done.stdout.split()
    if status != "0":
        raise RuntimeError(f"syncd {' '.join(words)} ended with {status}")
    return Ran(Cost(float(wall), float(cpu)), int(peak) / 1000)


def git(directory: Path, *words: str, data: bytes | None = None) -> bytes:
    """Given a repository and the words of a Git command, run it and return what it prints."""
    done = subprocess.run(["git", "-C", str(directory), *words], input=data, stdout=subprocess.PIPE, check=True)
    return done.stdout
