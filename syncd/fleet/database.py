"""The database of a fleet: connections, transactions, and tables that are made once."""

import importlib.util
import json
import logging
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, LiteralString, Self

from syncd.errors import ConfigInvalid, FleetUnreachable
from syncd.fleet.schema import ADD_NEW, MAKE_TABLES, STEP, VERSION

if TYPE_CHECKING:
    import psycopg

SECONDS = 10.0
"""How long a connection, and one statement, may take: a lease must not run out while its worker waits for an answer."""
_SILENCE_SECONDS = 30
"""A server that is silent for so long is asked by TCP whether it is still there; a network may forget a connection."""
_LOCK = 0x73796E6364
"""Held while tables are made, so that two people can do so at once."""
Row = tuple[Any, ...]


def require_extra(find: Callable[[str], object] = importlib.util.find_spec) -> None:
    """Check that what a fleet needs is installed; `find` returns None for a package that is not.

    Raises: ConfigInvalid, which names the extra.
    """
    if any(find(name) is None for name in ("psycopg", "psycopg_pool", "procrastinate")):
        raise ConfigInvalid(
            "a fleet needs packages that are not installed",
            hint="install syncd with its extra `fleet`: syncd[fleet] in place of syncd",
        )


@dataclass(frozen=True)
class FleetSettings:
    """What holds for a whole fleet: where the state of its repositories is, and what tells it from a stranger's."""

    state_ref: str
    secret: str = field(repr=False)


class FleetDatabase:
    """The tables of one fleet; threads may share it, and a `with` block closes it."""

    def __init__(self, url: str, *, size: int = 4) -> None:
        """Prepare up to `size` connections. Raises: ConfigInvalid for what is no URL of PostgreSQL."""
        import psycopg_pool

        self.url = url
        check_url(url)
        # The pool's own log repeats what the error says that ends in a message or a try.
        logging.getLogger("psycopg.pool").setLevel(logging.ERROR)
        milliseconds = int(SECONDS * 1000)
        settings = f"-c statement_timeout={milliseconds} -c lock_timeout={milliseconds}"
        self._pool: psycopg_pool.ConnectionPool[Any] = psycopg_pool.ConnectionPool(
            url,
            min_size=0,
            max_size=size,
            open=False,
            timeout=SECONDS,
            # The database may have been restarted since a connection was last used.
            check=psycopg_pool.ConnectionPool.check_connection,
            kwargs={**build_connection_options(url), "options": settings},
        )
        self._pool.open()

    def __enter__(self) -> Self:
        """Connect once, so that a database that is not there is told of at once. Raises: FleetUnreachable."""
        import psycopg

        with translate_failures():
            psycopg.connect(self.url, **build_connection_options(self.url)).close()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.close()

    @contextmanager
    def transact(self) -> Iterator["psycopg.Cursor[Row]"]:
        """Open a transaction, which an exception in the block undoes. Raises: FleetUnreachable."""
        with translate_failures(), self._pool.connection() as connection, connection.cursor() as cursor:
            yield cursor

    def query(self, statement: LiteralString, values: Mapping[str, Any] | None = None) -> Sequence[Row]:
        """Return the rows of one statement in a transaction of its own. Raises: FleetUnreachable."""
        with self.transact() as cursor:
            cursor.execute(statement, values)
            return cursor.fetchall() if cursor.description is not None else ()

    def make_tables(self, state_ref: str) -> bool:
        """Make the tables of a fleet where they are missing, and return whether they were.

        Shape: `state_ref` is the start of the refs of a remote that hold the state of its repositories.

        Raises: FleetUnreachable; ConfigInvalid when they are those of a newer syncd.
        """
        from procrastinate.schema import SchemaManager

        with self.transact() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%(lock)s)", {"lock": _LOCK})
            if (version := _read_version(cursor)) is not None:
                _check_version(version)
                _add_new(cursor)
                return False
            cursor.execute("SELECT to_regclass('procrastinate_jobs')")
            if (cursor.fetchone() or (None,))[0] is None:
                cursor.execute(SchemaManager.get_schema())
            cursor.execute(MAKE_TABLES)
            cursor.execute(
                "INSERT INTO syncd_fleet (version, state_ref, secret) VALUES (%(version)s, %(state_ref)s, %(secret)s)",
                {"version": VERSION, "state_ref": state_ref, "secret": secrets.token_hex(32)},
            )
            _add_new(cursor)
            return True

    def read_version(self) -> tuple[int, int]:
        """Return the version of the tables, and how many steps were added to it; nothing is changed.

        Raises: ConfigInvalid for no fleet; FleetUnreachable.
        """
        with self.transact() as cursor:
            version = _read_version(cursor)
            if version is None:
                raise ConfigInvalid("this database holds no fleet", hint="make its tables: syncd fleet init")
            return version, _read_step(cursor)

    def read_settings(self) -> FleetSettings:
        """Return what was decided when the fleet was made, after adding to its tables what is new in this syncd.

        Raises: ConfigInvalid for no fleet; FleetUnreachable.
        """
        with self.transact() as cursor:
            version = _read_version(cursor)
            if version is None:
                raise ConfigInvalid("this database holds no fleet", hint="make its tables: syncd fleet init")
            _check_version(version)
            if _read_step(cursor) < STEP:
                cursor.execute("SELECT pg_advisory_xact_lock(%(lock)s)", {"lock": _LOCK})
                _add_new(cursor)
            cursor.execute("SELECT state_ref, secret FROM syncd_fleet")
            state_ref, secret = cursor.fetchone() or ("", "")
        return FleetSettings(state_ref, secret)


def _read_version(cursor: "psycopg.Cursor[Row]") -> int | None:
    cursor.execute("SELECT to_regclass('syncd_fleet')")
    if (cursor.fetchone() or (None,))[0] is None:
        return None
    cursor.execute("SELECT version FROM syncd_fleet")
    return int((cursor.fetchone() or (0,))[0])


def _read_step(cursor: "psycopg.Cursor[Row]") -> int:
    # As JSON, since the first tables have no such column.
    cursor.execute("SELECT coalesce((to_jsonb(f) ->> 'step')::integer, 0) FROM syncd_fleet f")
    return int((cursor.fetchone() or (0,))[0])


def _add_new(cursor: "psycopg.Cursor[Row]") -> None:
    """Add to the tables what they have not; whoever was first has done it."""
    if _read_step(cursor) < STEP:
        cursor.execute(ADD_NEW)
        cursor.execute("UPDATE syncd_fleet SET step = %(step)s", {"step": STEP})


def _check_version(version: int) -> None:
    if version > VERSION:
        raise ConfigInvalid(f"the fleet has tables of a newer syncd (version {version})", hint="upgrade syncd here")


def render_json(document: object) -> str:
    """Return a document as JSON that PostgreSQL takes: it has no half characters and zero bytes, as names may have."""
    text = json.dumps(document, ensure_ascii=False).encode(errors="replace").decode()
    return text.replace("\\u0000", "\\ufffd")


def check_url(url: str) -> None:
    """Check that a text is the URL of a PostgreSQL database. Raises: ConfigInvalid, which does not repeat it."""
    import psycopg

    try:
        if url.startswith(("postgresql://", "postgres://")):
            psycopg.conninfo.conninfo_to_dict(url)
            return
    except psycopg.ProgrammingError:
        pass
    raise ConfigInvalid(
        "the database's URL is not one of PostgreSQL",
        hint="write postgresql://user@host/database, with special characters of a password as %XX",
    )


def build_connection_options(url: str) -> dict[str, Any]:
    """Return the settings of every connection to a fleet's database, but those that its URL makes itself.

    Shape: names of libpq. With them a server that is not reached any more, a partitioned network for instance, ends a
    connection in less than a minute, where the system's own limits are hours.
    """
    import psycopg

    usual = {
        "application_name": "syncd",
        "connect_timeout": int(SECONDS),
        "keepalives_idle": _SILENCE_SECONDS,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        # Longer than a statement may take, after which the server itself answers.
        "tcp_user_timeout": int(2 * SECONDS * 1000),
    }
    chosen = psycopg.conninfo.conninfo_to_dict(url)
    return {name: value for name, value in usual.items() if name not in chosen}


def describe_database(url: str) -> str:
    """Return where a database is, without whoever uses it and the password."""
    import psycopg

    with suppress(psycopg.ProgrammingError):
        found = psycopg.conninfo.conninfo_to_dict(url)
        host = found.get("host") or found.get("hostaddr") or "localhost"
        return f"{host}/{found.get('dbname') or found.get('user') or ''}"
    return "the database"


@contextmanager
def translate_failures() -> Iterator[None]:
    """Translate what the driver raises in the block. Raises: FleetUnreachable."""
    import psycopg

    try:
        yield
    except psycopg.Error as error:
        raise FleetUnreachable(describe_failure(error)) from error


def describe_failure(error: BaseException) -> str:
    """Say in one line what the driver of the database raised."""
    import psycopg_pool

    if isinstance(error, psycopg_pool.PoolTimeout):
        return f"the database of the fleet gave no connection within {SECONDS:.0f} s"
    # The first line only: what follows may quote a statement's values.
    first_line = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return f"the database of the fleet: {first_line}"
