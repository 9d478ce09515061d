"""The database: SQLite in a file, or PostgreSQL by URL; connections that read, and one that writes.

A reader sees one state from its first query to its end. At any moment there is one writer in all processes:
SQLite has one lock for that, and on PostgreSQL every writing transaction begins with the same advisory lock.
"""

import fcntl
import importlib.util
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from syncd.errors import ConfigInvalid

if TYPE_CHECKING:
    import psycopg

READERS = 16
"""The server's threads, each of which may read at once: one interpreter gains nothing by more, and each has a cache."""
WRITER_LOCK = 7_954_892_351_264_083_971
"""Key of the advisory lock; any number that no other program on the same database uses."""

_SCHEMES = ("postgresql", "postgres", "postgresql+psycopg")
_WRITER_WAIT_S = 30
_CONNECT_S = 5
_STATEMENT_S = 30
"""A statement that takes longer is cancelled by the server, and counts as unavailable."""
_SILENCE_S = 5
"""Added to `_STATEMENT_S`: the silence after which the client gives up the server."""
_IDLE_S = 60
_UPGRADE_S = 600
_RECYCLED_S = 1800


@dataclass(frozen=True)
class Database:
    """Engines for one database; `name` is what errors call it and holds no password.

    Shape: `schema_engine` changes the tables themselves: it has no time limit, waits for every writer and checks no
    foreign key. `lock` keeps other processes from preparing the same database at the same time. `watch` finds out
    cheaply whether anything was changed; None where that takes a query.
    """

    name: str
    reader: sa.Engine
    writer: sa.Engine
    schema_engine: sa.Engine
    lock: Callable[[], AbstractContextManager[None]]
    watch: "ChangeWatch | None" = None

    @property
    def is_local(self) -> bool:
        """Whether reading a few rows takes less time than switching to another thread."""
        return self.reader.dialect.name == "sqlite"

    def close(self) -> None:
        """Close every connection."""
        for engine in (self.reader, self.writer, self.schema_engine):
            engine.dispose()
        if self.watch is not None:
            self.watch.close()


class ChangeWatch:
    """A connection that only finds out whether another connection, of any process, has committed."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._connection: sqlite3.Connection | None = None

    def version(self) -> int:
        """Return a number that changes with every change of the database."""
        if self._connection is None:
            self._connection = sqlite3.connect(self._file, isolation_level=None, check_same_thread=False)
        return int(self._connection.execute("PRAGMA data_version").fetchone()[0])

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()


def open_sqlite(file: Path, *, patience: float) -> Database:
    """Open the SQLite database in a file. Units: `patience` is the seconds that a writer waits for another one."""
    # Its files that SQLite makes later take their mode from it.
    file.touch(mode=0o600)
    # FULL: an answer means that the change is on disk, also after a power failure.
    usual = (f"busy_timeout={int(patience * 1000)}", "synchronous=FULL", "foreign_keys=ON")
    change = (f"busy_timeout={_UPGRADE_S * 1000}", "journal_mode=WAL", "synchronous=FULL", "foreign_keys=OFF")
    return Database(
        name=f"the database in {file.parent}",
        # One more than there are threads: code that reads on the event loop itself never waits for them.
        reader=_sqlite_engine(file, "BEGIN", usual, connections=READERS + 1),
        # One connection: this process's writers queue here, in order, instead of racing for SQLite's lock.
        writer=_sqlite_engine(file, "BEGIN IMMEDIATE", usual, connections=1),
        schema_engine=_sqlite_engine(file, "BEGIN IMMEDIATE", change, connections=1),
        lock=lambda: _hold_lock_file(file),
        watch=ChangeWatch(file),
    )


def open_postgresql(address: str, *, patience: float) -> Database:
    """Open the PostgreSQL database at a URL. Units: as `open_sqlite`. Raises: ConfigInvalid."""
    url = _parse_url(address)
    usual = {"lock_timeout": int(patience * 1000), "statement_timeout": _STATEMENT_S * 1000}
    change = {"lock_timeout": _UPGRADE_S * 1000, "statement_timeout": 0}
    reader = _postgresql_engine(url, usual, connections=READERS + 1)
    sa.event.listen(reader, "connect", _set_read_only)
    writers = [_postgresql_engine(url, limits, connections=1) for limits in (usual, change)]
    for engine in writers:
        sa.event.listen(engine, "begin", _take_writer_lock)
    shown = sa.URL.create("postgresql", host=url.host, port=url.port, database=url.database).render_as_string()
    return Database(f"the database {shown}", reader, writers[0], writers[1], lock=nullcontext)


def _sqlite_engine(file: Path, begin: str, pragmas: Sequence[str], *, connections: int) -> sa.Engine:
    url = sa.URL.create("sqlite", database=str(file))
    engine = sa.create_engine(
        url, pool_size=connections, max_overflow=0, pool_timeout=_WRITER_WAIT_S, hide_parameters=True
    )

    # The driver's own transaction control opens none for a SELECT and loses updates: we say BEGIN ourselves.
    def set_up_connection(driver: Any, _: object) -> None:
        driver.isolation_level = None
        for pragma in pragmas:
            driver.execute(f"PRAGMA {pragma}").close()

    def begin_transaction(connection: sa.Connection) -> None:
        connection.exec_driver_sql(begin)

    sa.event.listen(engine, "connect", set_up_connection)
    sa.event.listen(engine, "begin", begin_transaction)
    return engine


@contextmanager
def _hold_lock_file(file: Path) -> Iterator[None]:
    """Hold the lock file: a database gets its journal mode while nobody else has it open."""
    descriptor = os.open(file.with_name("lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _parse_url(address: str) -> sa.URL:
    # The address may hold a password: nothing of it appears in a message, not even of a part that cannot be read.
    hint = "write postgresql://user@host/database, with special characters of a password as %XX"
    try:
        url = sa.make_url(address)
    except (sa.exc.ArgumentError, ValueError):
        raise ConfigInvalid("the database's URL cannot be read", hint=hint) from None
    if url.drivername not in _SCHEMES or "@" in f"{url.host}{url.database}" or not url.database:
        raise ConfigInvalid("the database's URL is not one of PostgreSQL", hint=hint)
    if importlib.util.find_spec("psycopg") is None:
        raise ConfigInvalid("PostgreSQL needs a driver", hint="pip install 'psycopg[binary]>=3.3.9,<4'")
    return url.set(drivername="postgresql+psycopg")


def _postgresql_engine(url: sa.URL, limits: Mapping[str, int], *, connections: int) -> sa.Engine:
    usual = {
        "application_name": "syncd",
        "connect_timeout": _CONNECT_S,
        # Without these, a server behind a network that forgot the connection is noticed after hours.
        "keepalives_idle": 30,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": (_STATEMENT_S + _SILENCE_S) * 1000,
    }
    engine = sa.create_engine(
        url,
        pool_size=connections,
        max_overflow=0,
        pool_timeout=_WRITER_WAIT_S,
        pool_use_lifo=True,
        pool_recycle=_RECYCLED_S,
        # After a restart of the server, a new connection is made instead of failing a request.
        pool_pre_ping=True,
        # Errors are logged, and parameters are content and secrets.
        hide_parameters=True,
        connect_args={name: value for name, value in usual.items() if name not in url.query}
        | {"options": _build_options(url, limits)},
    )
    patient = _create_connection_class(
        limits["statement_timeout"] / 1000 + _SILENCE_S if limits["statement_timeout"] else None
    )

    def connect(dialect: object, record: object, arguments: list[Any], named: dict[str, Any]) -> "psycopg.Connection":
        return patient.connect(*arguments, **named)

    sa.event.listen(engine, "do_connect", connect)
    return engine


def _build_options(url: sa.URL, limits: Mapping[str, int]) -> str:
    # A process that stops in the middle of a transaction must not keep all others from writing.
    ours = {**limits, "idle_in_transaction_session_timeout": _IDLE_S * 1000}
    return " ".join([*(f"-c {name}={value}" for name, value in ours.items()), *url.normalized_query.get("options", ())])


def _create_connection_class(silence: float | None) -> "type[psycopg.Connection]":
    import psycopg

    class Patient(psycopg.Connection):
        """A connection that gives up a server which accepts connections and never answers."""

        def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
            """Wait as the driver does, with a time limit. Raises: OperationalError after too long a silence."""
            try:
                return super().wait(gen, interval, silence if timeout is None else timeout)
            except psycopg.OperationalError:
                # A late answer would be taken for the answer to the next statement.
                if self.pgconn.transaction_status == psycopg.pq.TransactionStatus.ACTIVE:
                    self.pgconn.finish()
                raise

    return Patient


def _set_read_only(driver: "psycopg.Connection", _: object) -> None:
    import psycopg

    driver.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    driver.read_only = True


def _take_writer_lock(connection: sa.Connection) -> None:
    # Each statement sees what was committed before it, so whatever follows the lock sees all former writers' work.
    connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({WRITER_LOCK})").close()
