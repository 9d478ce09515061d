"""One SQLite file that outlives crashes: opened, checked, and begun anew when it is damaged."""

import errno
import fcntl
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa

from syncd.errors import DiskFull, StoreError, StoreNewer, SyncdError
from syncd.store import schema

Result = TypeVar("Result")

BUSY_MS = 5000
"""How long one writer waits for another."""
_ERRORS = (sa.exc.DatabaseError, sqlite3.Error)
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_PARTS = ("-wal", "-shm", "")
"""The log goes with its file, and first: whoever has the old one open must not share it with the new one."""


class _ForeignDatabase(Exception):
    """A healthy database that something else wrote."""


class Database:
    """The open file; every use is one transaction. `moved_aside` names what was found damaged."""

    def __init__(self, path: Path) -> None:
        """Open the database at a path, or create one. Raises: StoreNewer, StoreError, DiskFull."""
        self.path = path
        self.moved_aside: list[Path] = []
        self._reader = _create_engine(path, "BEGIN")
        # A writer says so at once: a transaction that reads first and then wants to write loses updates.
        self._writer = _create_engine(path, "BEGIN IMMEDIATE")
        self._file: tuple[int, int] | None = None
        with _translate_errors(path):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                self._prepare()
            except BaseException as error:
                self.close()
                if not _is_damage(error):
                    raise
                self._start_empty()

    def read(self, work: Callable[[sa.Connection], Result]) -> Result:
        """Return the result of `work` in one read transaction; a damaged database is replaced by an empty one first."""
        try:
            with self._reader.begin() as connection:
                return work(connection)
        except _ERRORS as error:
            self._repair(error)
        with _translate_errors(self.path), self._reader.begin() as connection:
            return work(connection)

    def write(self, work: Callable[[sa.Connection], object]) -> None:
        """Do `work` in one durable transaction; a damaged database is replaced by an empty one first.

        Raises: DiskFull, StoreError.
        """
        try:
            with self._writer.begin() as connection:
                work(connection)
                return
        except _ERRORS as error:
            self._repair(error)
        with _translate_errors(self.path), self._writer.begin() as connection:
            work(connection)

    def close(self) -> None:
        """Close every connection; the last one folds the log into the file."""
        self._reader.dispose()
        self._writer.dispose()

    def _repair(self, error: Exception) -> None:
        with _translate_errors(self.path):
            if not _is_damage(error):
                raise error
            self._start_empty()

    def _prepare(self) -> None:
        with _lock_file(self.path):
            self._file = _create_file(self.path)
            with self._writer.begin() as connection:
                self._claim_file(connection)
            with self._writer.connect() as connection:  # below SQLAlchemy: the mode cannot change in a transaction
                connection.connection.cursor().execute("PRAGMA journal_mode=WAL").close()

    def _claim_file(self, connection: sa.Connection) -> None:
        owner = connection.exec_driver_sql("PRAGMA application_id").scalar_one()
        version = connection.exec_driver_sql("PRAGMA user_version").scalar_one()
        if owner == 0 and not connection.exec_driver_sql("SELECT count(*) FROM sqlite_master").scalar_one():
            schema.metadata.create_all(connection)
            connection.exec_driver_sql(f"PRAGMA application_id={schema.APPLICATION_ID}")
            connection.exec_driver_sql(f"PRAGMA user_version={schema.VERSION}")
        elif owner != schema.APPLICATION_ID or version < 1:
            raise _ForeignDatabase(f"{self.path} is another program's database")
        elif version < schema.VERSION:
            schema.metadata.create_all(connection)
            connection.exec_driver_sql(f"PRAGMA user_version={schema.VERSION}")
        elif version > schema.VERSION:
            raise StoreNewer(f"{self.path} was written by a newer syncd (schema {version})", hint="upgrade syncd")

    def _start_empty(self) -> None:
        self.close()
        with _lock_file(self.path):
            if _find_identity(self.path) == self._file:  # else another process was faster, and its new database is fine
                self.moved_aside.append(_move_aside(self.path))
        self._prepare()


def _create_engine(path: Path, begin: str) -> sa.Engine:
    engine = sa.create_engine(sa.URL.create("sqlite", database=str(path)))

    # The driver's own transaction control opens none for a SELECT; we say BEGIN ourselves.
    def set_pragmas(driver: Any, _: object) -> None:
        driver.isolation_level = None
        for pragma in (f"busy_timeout={BUSY_MS}", "synchronous=FULL"):
            driver.execute(f"PRAGMA {pragma}").close()

    sa.event.listen(engine, "connect", set_pragmas)
    sa.event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(begin))
    return engine


def _create_file(path: Path) -> tuple[int, int] | None:
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    return _find_identity(path)


def _find_identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _move_aside(path: Path) -> Path:
    number = 1
    while (aside := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    for part in _PARTS:
        if (source := path.with_name(path.name + part)).exists():
            source.rename(aside.with_name(aside.name + part))
    return aside


@contextmanager
def _lock_file(path: Path) -> Iterator[None]:
    descriptor = os.open(path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _translate_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except _ERRORS as error:
        raise _build_failure(error, path) from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(f"no space is left for {path}") from error
        raise StoreError(f"{path} cannot be used: {error.strerror}") from error


def _build_failure(error: Exception, path: Path) -> SyncdError:
    match _find_error_code(error):
        case sqlite3.SQLITE_FULL:
            return DiskFull(f"no space is left for {path}")
        case sqlite3.SQLITE_IOERR if not os.statvfs(path.parent).f_bavail:
            return DiskFull(f"no space is left for {path}")
        case sqlite3.SQLITE_BUSY:
            return StoreError(f"{path} is in use by another program", hint="end that program and try again")
        case _:
            return StoreError(f"{path} cannot be used: {getattr(error, 'orig', error)}")


def _is_damage(error: BaseException) -> bool:
    return isinstance(error, _ForeignDatabase) or (isinstance(error, _ERRORS) and _find_error_code(error) in _DAMAGED)


def _find_error_code(error: Exception) -> int:
    # The low byte is the error; the rest says which kind of it.
    code: int = getattr(getattr(error, "orig", error), "sqlite_errorcode", 0)
    return code & 0xFF
