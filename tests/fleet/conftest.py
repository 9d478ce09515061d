"""A fleet: a platform, a hosted Git repository, a database of PostgreSQL, and workers as processes."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from syncd.fleet.cache import Cache
from syncd.fleet.database import FleetDatabase
from syncd.fleet.run import RunContext, RunEnd, run_repository
from syncd.fleet.schedule import wake_repositories
from syncd.sync.run.values import Result
from tests.checkouts import git
from tests.forked import run_forked
from tests.postgres import Server
from tests.sync.conftest import World, new_world

PATIENT = 90.0
LEASE = 3


def wait_until(is_so: Callable[[], bool], why: str) -> None:
    """Wait for what another process does."""
    deadline = time.monotonic() + PATIENT
    while not is_so():
        assert time.monotonic() < deadline, f"never: {why}"
        time.sleep(0.05)


class Worker:
    """A worker process of a fleet, and its log."""

    def __init__(self, fleet: "Fleet", name: str, *words: str, environ: Mapping[str, str] | None = None) -> None:
        self.log = fleet.root / f"{name}.log"
        given = ["--cache", fleet.root / f"cache-{name}", "--name", name, "--lease", LEASE, *words]
        command = [sys.executable, "-m", "syncd", "fleet", "worker", *map(str, given)]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command, cwd=fleet.root, env={**fleet.environ, **(environ or {})}, stdout=log, stderr=log
            )

    def is_stopped(self) -> bool:
        """Whether the kernel has stopped it, as SIGSTOP does."""
        state = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[0]
        return state == "T"

    def signal(self, number: signal.Signals) -> None:
        if self.process.poll() is None:
            self.process.send_signal(number)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(PATIENT)

    def end(self) -> int:
        self.process.terminate()
        return self.process.wait(PATIENT)


class Fleet:
    """One fleet with repositories of one space each; `workers` are ended after the test."""

    def __init__(self, world: World, url: str) -> None:
        self.world, self.root, self.url = world, world.root, url
        self.environ = {**os.environ, "SYNCD_FLEET_DATABASE": url}
        self.hosted = self.root / "hosted.git"
        self.other = self.root / "other"
        self.workers: list[Worker] = []
        git(self.root, "init", "--quiet", "--bare", "--initial-branch=main", str(self.hosted))
        git(world.clone("seed"), "push", "--quiet", str(self.hosted), "main")
        git(self.root, "clone", "--quiet", str(self.hosted), "other")
        self.token = self.root / "platform-token"
        self.token.write_text(world.token)
        self.token.chmod(0o600)

    def write_config(self, *, name: str = "docs", interval: float = 600, extra: str = "") -> Path:
        file = self.root / "fleet.toml"
        file.write_text(
            f'[platform]\nurl = "{self.world.url}"\ntoken_file = "{self.token}"\n\n'
            f'[[repository]]\nname = "{name}"\ninstance = "0a1b2c"\ninterval = {interval}\n'
            f'[repository.upstream]\nurl = "{self.hosted}"\n{extra}'
            f'[[repository.space]]\nid = "{self.world.space}"\nname = "docs"\n'
        )
        return file

    def syncd(self, *words: object) -> "subprocess.CompletedProcess[str]":
        return run_forked([*map(str, words)], cwd=self.root, environ=self.environ)

    def make(self, **wish: Any) -> None:
        for words in (("init",), ("add", "--config", self.write_config(**wish))):
            done = self.syncd("fleet", *words)
            assert done.returncode == 0, done.stderr

    def start(self, name: str, *words: str, environ: Mapping[str, str] | None = None) -> Worker:
        self.workers.append(Worker(self, name, *words, environ=environ))
        return self.workers[-1]

    def status(self) -> dict[str, Any]:
        done = self.syncd("fleet", "status", "--json")
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def query(self, statement: str) -> list[Any]:
        with closing(psycopg.connect(self.url, autocommit=True)) as connection:
            return connection.execute(statement).fetchall()

    def run_sql(self, *statements: str) -> None:
        with closing(psycopg.connect(self.url, autocommit=True)) as connection:
            for statement in statements:
                connection.execute(statement)

    def count_runs(self, name: str = "docs") -> int:
        """How often a run was recorded: each has a fence of its own."""
        return int(self.query(f"SELECT last_fence FROM syncd_fleet_repositories WHERE name = '{name}'")[0][0])

    def wait_for_run(self, after: int = 0) -> int:
        wait_until(lambda: self.count_runs() > after, f"a run after {after}")
        return self.count_runs()

    def find_hosted(self, path: str, text: str) -> bool:
        """Whether the mirror of the platform at the Git remote has a text on a page."""
        return text in git(self.hosted, "show", f"refs/heads/syncd/platform:{path}")

    def commit(self, message: str, files: Mapping[str, str]) -> str:
        """A person commits and pushes."""
        git(self.other, "pull", "--quiet", "--rebase")
        for path, text in files.items():
            (self.other / path).write_text(text)
        git(self.other, "add", "--all")
        git(self.other, "commit", "--quiet", "--message", message)
        git(self.other, "push", "--quiet")
        return git(self.other, "rev-parse", "HEAD")

    def list_requests(self) -> list[Any]:
        with self.world.client() as client:
            return [
                one
                for status in ("draft", "open", "merged", "archived")
                for one in client.change_requests.list(self.world.space, status=status)
            ]

    def read_texts(self, request: Any) -> str:
        """Return the Markdown of all pages of a change request."""
        with self.world.client() as client:
            content = client.change_request_content
            pending, texts = [*content.get(self.world.space, request.id).pages], []
            while pending:
                page = pending.pop()
                pending += page.pages
                if page.type == "document":
                    texts.append(content.get_page(self.world.space, request.id, page.id).markdown or "")
        return "\n".join(texts)

    def run_here(self, worker: str, name: str = "docs") -> Sequence[Result]:
        """Run a repository in this process as a worker does, with a cache of its own, and return what it came to."""
        with FleetDatabase(self.url) as database:
            wake_repositories(database, [name])
        ended = self.try_here(worker, name)
        assert ended is not None
        assert not ended.has_lost_lease
        return ended.results

    def try_here(self, worker: str, name: str = "docs", *, make_cache: type[Cache] = Cache) -> RunEnd | None:
        """Carry out a job of a repository in this process; None where it is not due."""
        with FleetDatabase(self.url) as database, make_cache(self.root / f"cache-{worker}", bytes_max=1 << 30) as cache:
            return run_repository(self.make_context(database, cache, worker), name)

    def make_context(self, database: FleetDatabase, cache: Cache, worker: str) -> RunContext:
        """What all runs of a worker in this process have in common."""
        return RunContext(
            database=database,
            settings=database.read_settings(),
            worker=worker,
            cache=cache,
            lease_seconds=30,
            environ=self.environ,
            is_stopping=lambda: False,
        )

    def end(self) -> None:
        for worker in self.workers:
            worker.signal(signal.SIGCONT)
            worker.kill()


@pytest.fixture
def fleet(tmp_path: Path, postgres_server: Server) -> Iterator[Fleet]:
    """A fleet without tables and workers."""
    with new_world(tmp_path) as world:
        found = Fleet(world, postgres_server.empty())
        yield found
        found.end()
