"""The storage of a platform: a data directory with its secrets, the database, and the blobs."""

import hashlib
import re
import secrets
import string
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Self, TypeVar

import sqlalchemy as sa
from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool

from syncd.errors import NO_SPACE, StoreError, SyncdError, make_disk_full
from syncd.platform.database.database import READERS, open_postgresql, open_sqlite
from syncd.platform.database.tables import insert_new
from syncd.platform.http.time_limits import check_time, note_written
from syncd.platform.migrations import prepare
from syncd.platform.schema import accounts
from syncd.platform.storage.atomic_files import read_or_create
from syncd.platform.storage.blobs import BlobFolder, Blobs
from syncd.platform.storage.failures import make_database_error
from syncd.platform.storage.health import DatabaseHealth
from syncd.platform.storage.kept_pages import KeptPages
from syncd.platform.storage.times import format_time

__all__ = ["READERS", "Bootstrap", "CurrentStorage", "Storage", "hash_token"]

T = TypeVar("T")
SECRET_BYTES = 32

_ID_ALPHABET = string.ascii_letters + string.digits
_ID_LENGTH = 20
_OLDEST_ADMIN = (
    sa.select(accounts.members.c.user)
    .where(accounts.members.c.role == "admin")
    .order_by(accounts.members.c.joined_at, accounts.members.c.user)
    .limit(1)
)
_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]{20,512}")


@dataclass(frozen=True)
class Bootstrap:
    """What the first start of a platform created: ids, and the token of its owner."""

    organization: str
    user: str
    token: str = field(repr=False)


class Storage:
    """The storage of a platform; safe in several threads and processes and, with PostgreSQL, on several machines."""

    def __init__(
        self,
        data: Path,
        *,
        database: str | None = None,
        blobs: Blobs | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        patience: float = 5.0,
    ) -> None:
        """Open the platform in a directory, or create it there.

        Shape: `database` is the URL of a PostgreSQL database that holds the tables; without it they are in the
        directory, where the blobs are too unless others are given. Units: `patience` is the seconds for which a writer
        waits for another process. Raises: ConfigInvalid, DiskFull, StoreNewer, StoreError.
        """
        self.data = data
        with _translate_os_errors(data):
            data.mkdir(mode=0o700, parents=True, exist_ok=True)
            own = read_or_create(data / "secret", lambda: secrets.token_bytes(SECRET_BYTES))
            self._database = (
                open_postgresql(database, patience=patience)
                if database
                else open_sqlite(data / "platform.db", patience=patience)
            )
        for engine in (self._database.reader, self._database.writer):
            sa.event.listen(engine, "before_cursor_execute", lambda *_: check_time())
        sa.event.listen(self._database.writer, "commit", lambda _: note_written())
        self.health = DatabaseHealth()
        self.health.watch_changes(self._database.writer)
        self.blobs = blobs or BlobFolder(data / "blobs")
        self.kept_pages = KeptPages(data / "pages.db")
        self._clock = clock
        try:
            prepare(self._database, self._find_blob)
            # One machine signs addresses that another one checks, so all machines on one database share the secret.
            self.secret = own if self._database.is_local else self._read_shared_secret()
        except sa.exc.DatabaseError as failure:
            self.close()
            raise make_database_error(failure.orig, self._database.name, data) from failure
        except SyncdError:
            self.close()
            raise
        # Each machine has a token of the owner in its own directory, and must not revoke those of the others.
        self.token_label = (
            "data/token" if self._database.is_local else f"data/token {hashlib.sha256(own).hexdigest()[:8]}"
        )

    def read(self) -> AbstractContextManager[sa.Connection]:
        """Return a transaction that sees one state of the database from its first query to its end."""
        return self._database.reader.begin()

    def write(self) -> AbstractContextManager[sa.Connection]:
        """Return the only writing transaction of the moment; it commits on success and rolls back on any exception."""
        return self._database.writer.begin()

    async def run_read(self, read: Callable[[], T]) -> T:
        """Run a function that reads a few rows or small blobs, and return its result; for handlers on the event loop.

        Files are read directly, which is faster than a thread. A database server or bucket may take long to answer,
        and all requests would wait for it, so it is read in a thread.
        """
        near = self._database.is_local and self.blobs.is_local
        return read() if near else await run_in_threadpool(read)

    def version(self) -> int | None:
        """Return a number that changes with every change of the database; None where that would cost a query."""
        watch = self._database.watch
        return None if watch is None else watch.version()

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
        """Make the token in the file `data/token` the owner's only token from such a file.

        The file is written before the database, so the next start repairs a crash in between, and a lost file leads to
        a new token. Returns what was created on the first start, and None on every later one.
        Raises: StoreError when the file does not hold a token.
        """
        token = (
            read_or_create(self.token_file, lambda: f"syncd_{secrets.token_urlsafe(32)}\n".encode())
            .decode(errors="replace")
            .strip()
        )
        if not _TOKEN.fullmatch(token):
            raise StoreError(f"{self.token_file} does not hold a token", hint="delete the file to get a new token")
        with self.write() as connection:
            owner = self.find_owner(connection)
            founded = None if owner else self._create_owner(connection, token)
            self._replace_owner_token(connection, user=founded.user if founded else owner, token=token)
        return founded

    def find_owner(self, connection: sa.Connection) -> str | None:
        """Return the id of the owner of the platform: the user who has been an administrator for longest."""
        found: str | None = connection.scalar(_OLDEST_ADMIN)
        return found

    def close(self) -> None:
        """Close every connection; nothing may use this storage afterwards."""
        self._database.close()
        self.kept_pages.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _find_blob(self, oid: str) -> bytes | None:
        """Return the content of a blob, None when it is lost or damaged."""
        try:
            return self.blobs.get(oid)
        except OSError:
            return None
        except StoreError:
            if not self.blobs.is_local:
                raise  # a bucket may answer later
            return None

    def _read_shared_secret(self) -> bytes:
        table, named = accounts.secrets, {"name": "signing"}
        kept = sa.select(table.c.value).filter_by(**named)
        with self.read() as connection:
            found: bytes | None = connection.scalar(kept)
        if found is None:
            with self.write() as connection:
                insert_new(connection, table, [{**named, "value": secrets.token_bytes(SECRET_BYTES)}])
                found = connection.scalar(kept)
        assert found is not None
        return found

    def _create_owner(self, connection: sa.Connection, token: str) -> Bootstrap:
        now, created = format_time(self.now()), Bootstrap(self.new_id(), self.new_id(), token)
        insert = connection.execute
        insert(accounts.organizations.insert().values(id=created.organization, title="My organization", created_at=now))
        insert(accounts.users.insert().values(id=created.user, display_name="Owner", created_at=now))
        insert(
            accounts.members.insert().values(
                organization=created.organization, user=created.user, role="admin", joined_at=now
            )
        )
        return created

    def _replace_owner_token(self, connection: sa.Connection, *, user: str | None, token: str) -> None:
        tokens, here = accounts.tokens, hash_token(token)
        connection.execute(tokens.delete().where(tokens.c.label == self.token_label, tokens.c.hash != here))
        row = {"hash": here, "user": user, "label": self.token_label, "created_at": format_time(self.now())}
        insert_new(connection, tokens, [row])


async def _read_storage(request: Request) -> Storage:
    storage: Storage = request.app.state.storage
    return storage


CurrentStorage = Annotated[Storage, Depends(_read_storage)]
"""A handler's parameter for the storage of the application that it runs in."""


def hash_token(token: str) -> str:
    """Return the SHA-256 of a token, which is what the database stores; a random token needs no salt."""
    return hashlib.sha256(token.encode()).hexdigest()


@contextmanager
def _translate_os_errors(data: Path) -> Iterator[None]:
    try:
        yield
    except OSError as failure:
        if failure.errno in NO_SPACE:
            raise make_disk_full(failure, data) from failure
        raise StoreError(f"{data} cannot be used: {failure.strerror}", hint="choose another directory") from failure
