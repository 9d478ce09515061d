"""The data directory of a platform: one SQLite database, the blobs, and two secrets that only its owner may read."""

import fcntl
import hashlib
import os
import re
import secrets
import string
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Self

import sqlalchemy as sa
from fastapi import Depends, Request

from syncd.errors import StoreError, StoreNewer
from syncd.platform import (
    content_schema,  # noqa: F401  (registers its tables)
    schema,
)
from syncd.platform.blobs import Blobs
from syncd.platform.tables import metadata
from syncd.platform.times import iso

__all__ = ["Bootstrap", "Storage", "Stored", "metadata", "token_hash"]

SCHEMA_VERSION = 1

_ID_ALPHABET = string.ascii_letters + string.digits
_ID_LENGTH = 20
_OLDEST_ADMIN = (
    sa.select(schema.members.c.user)
    .where(schema.members.c.role == "admin")
    .order_by(schema.members.c.joined_at, schema.members.c.user)
    .limit(1)
)
_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]{20,512}")
_TOKEN_LABEL = "data/token"  # noqa: S105  (the name of a token, not one)
READERS = 16
"""The server's threads, each of which may read at once: one interpreter gains nothing by more, and each has a cache."""
_WRITER_WAIT_S = 30


@dataclass(frozen=True)
class Bootstrap:
    """What the first start of a platform made: ids, and the token that lets its owner in."""

    organization: str
    user: str
    token: str


class Storage:
    """The platform's memory; several threads, and several processes, may use one directory at once."""

    def __init__(
        self, data: Path, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC), patience: float = 5.0
    ) -> None:
        """Given a directory, open the platform that lives there, or found it.

        Units: `patience` is the seconds for which a writer waits for another process. Raises: StoreNewer, StoreError.
        """
        self.data = data
        try:
            data.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.secret = _keep(data / "secret", lambda: secrets.token_bytes(32))
        except OSError as failure:
            raise StoreError(f"{data} cannot be used: {failure.strerror}", hint="choose another directory") from failure
        self.blobs = Blobs(data / "blobs")
        self._clock = clock
        # One more than threads: what reads on the event loop itself never waits for them.
        self._reader = _engine(data / "platform.db", "BEGIN", connections=READERS + 1, patience=patience)
        # One connection: this process's writers queue here, in order, instead of racing for SQLite's lock.
        self._writer = _engine(data / "platform.db", "BEGIN IMMEDIATE", connections=1, patience=patience)
        try:
            self._prepare()
        except sa.exc.DatabaseError as failure:
            self.close()
            raise StoreError(f"the database in {data} cannot be used: {failure.orig}") from failure
        except StoreNewer:
            self.close()
            raise

    def read(self) -> AbstractContextManager[sa.Connection]:
        """Return a transaction that sees one state of the database from its first query to its end."""
        return self._reader.begin()

    def write(self) -> AbstractContextManager[sa.Connection]:
        """Return the only writing transaction of the moment; it commits on success and rolls back on any exception."""
        return self._writer.begin()

    def now(self) -> datetime:
        """Return the present moment, aware and in UTC."""
        return self._clock().astimezone(UTC)

    def new_id(self) -> str:
        """Return a new id: 20 random letters and digits."""
        return "".join(secrets.choice(_ID_ALPHABET) for _ in range(_ID_LENGTH))

    @property
    def token_file(self) -> Path:
        """The file that holds the owner's token."""
        return self.data / "token"

    def bootstrap(self) -> Bootstrap | None:
        """Make sure that the owner can come in: the token in `data/token` is the owner's, and no former one is.

        The file comes first and the database follows it, so a crash in between is repaired by the next start, and a
        lost file is answered by a new token. Return what was made on the first start, and None on every later one.
        Raises: StoreError when the file does not hold a token.
        """
        token = (
            _keep(self.token_file, lambda: f"syncd_{secrets.token_urlsafe(32)}\n".encode())
            .decode(errors="replace")
            .strip()
        )
        if not _TOKEN.fullmatch(token):
            raise StoreError(f"{self.token_file} does not hold a token", hint="delete the file to get a new token")
        with self.write() as connection:
            owner = connection.scalar(_OLDEST_ADMIN)
            founded = None if owner else self._found(connection, token)
            self._admit(connection, user=founded.user if founded else owner, token=token)
        return founded

    def close(self) -> None:
        """Close every connection; nothing may use this storage afterwards."""
        self._reader.dispose()
        self._writer.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _prepare(self) -> None:
        with _alone(self.data / "lock"):
            # The write-ahead log takes its mode from the database.
            (self.data / "platform.db").touch(mode=0o600)
            with self._writer.connect() as connection:
                connection.connection.cursor().execute("PRAGMA journal_mode=WAL").close()
            with self.write() as connection:
                versions = schema.versions
                metadata.create_all(connection, tables=[versions])
                connection.execute(versions.insert().prefix_with("OR IGNORE").values(id=1, version=SCHEMA_VERSION))
                found = connection.scalar(sa.select(versions.c.version)) or 0
                if found > SCHEMA_VERSION:
                    raise StoreNewer(f"{self.data} was written by a newer syncd (schema {found})", hint="upgrade syncd")
                metadata.create_all(connection)

    def _found(self, connection: sa.Connection, token: str) -> Bootstrap:
        now, made = iso(self.now()), Bootstrap(self.new_id(), self.new_id(), token)
        insert = connection.execute
        insert(schema.organizations.insert().values(id=made.organization, title="My organization", created_at=now))
        insert(schema.users.insert().values(id=made.user, display_name="Owner", created_at=now))
        insert(
            schema.members.insert().values(organization=made.organization, user=made.user, role="admin", joined_at=now)
        )
        return made

    def _admit(self, connection: sa.Connection, *, user: str | None, token: str) -> None:
        tokens, here = schema.tokens, token_hash(token)
        connection.execute(tokens.delete().where(tokens.c.label == _TOKEN_LABEL, tokens.c.hash != here))
        row = {"hash": here, "user": user, "label": _TOKEN_LABEL, "created_at": iso(self.now())}
        connection.execute(tokens.insert().prefix_with("OR IGNORE").values(row))


async def _stored(request: Request) -> Storage:
    storage: Storage = request.app.state.storage
    return storage


Stored = Annotated[Storage, Depends(_stored)]
"""A handler's parameter for the storage of the application that it runs in."""


def token_hash(token: str) -> str:
    """Given a token, return the form in which it is kept: its SHA-256; a random token needs no salt."""
    return hashlib.sha256(token.encode()).hexdigest()


def _engine(database: Path, begin: str, *, connections: int, patience: float) -> sa.Engine:
    url = sa.URL.create("sqlite", database=str(database))
    engine = sa.create_engine(url, pool_size=connections, max_overflow=0, pool_timeout=_WRITER_WAIT_S)

    # The driver's own transaction control opens none for a SELECT and loses updates: we say BEGIN ourselves.
    def connected(driver: Any, _: object) -> None:
        driver.isolation_level = None
        # FULL: an answer means that the change is on disk, also after a power failure.
        for pragma in (f"busy_timeout={int(patience * 1000)}", "synchronous=FULL", "foreign_keys=ON"):
            driver.execute(f"PRAGMA {pragma}").close()

    def begun(connection: sa.Connection) -> None:
        connection.exec_driver_sql(begin)

    sa.event.listen(engine, "connect", connected)
    sa.event.listen(engine, "begin", begun)
    return engine


def _keep(path: Path, make: Callable[[], bytes]) -> bytes:
    """Given a file, return its content; when it is absent, make it, whole or not at all, readable by its owner only.

    When two processes do so at once, both return what the first one wrote.
    """
    if not path.exists():
        descriptor, scratch = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(make())
                file.flush()
                os.fsync(file.fileno())
            _publish(Path(scratch), path)
        finally:
            os.unlink(scratch)
    path.chmod(0o600)
    return path.read_bytes()


def _publish(scratch: Path, path: Path) -> None:
    # A hard link, unlike a rename, never replaces what another process put there first.
    try:
        path.hardlink_to(scratch)
    except FileExistsError:
        return
    directory = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
