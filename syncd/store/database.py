"""One SQLite file that outlives crashes: opened, checked, and begun anew when it is damaged."""

import errno
import fcntl
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import Literal, TypeVar

from syncd.errors import NO_SPACE, DiskFull, StoreDenied, StoreError, StoreNewer, SyncdError, make_disk_full
from syncd.store.schema import APPLICATION_ID, TABLES, VERSION

Result = TypeVar("Result")

BUSY_SECONDS = 5.0
"""How long one writer waits for another."""
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
        self._lock = RLock()
        """Threads of a run share the connection; each has it for a whole transaction."""
        self._connection: sqlite3.Connection | None = None
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

    def read(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """Return the result of `work` in one read transaction; a damaged database is replaced by an empty one first.

        Raises: StoreError.
        """
        return self._run("BEGIN", work)

    def write(self, work: Callable[[sqlite3.Connection], object]) -> None:
        """Do `work` in one durable transaction; a damaged database is replaced by an empty one first.

        Raises: DiskFull, StoreError.
        """
        # A writer says so at once: a transaction that reads first and then wants to write loses updates.
        self._run("BEGIN IMMEDIATE", work)

    def close(self) -> None:
        """Close the connection; the last one of all processes folds the log into the file."""
        if self._connection is not None:
            self._connection.close()

    def _run(self, begin: Literal["BEGIN", "BEGIN IMMEDIATE"], work: Callable[[sqlite3.Connection], Result]) -> Result:
        with self._lock:
            try:
                return self._transact(begin, work)
            except sqlite3.Error as error:
                self._repair(error)
            with _translate_errors(self.path):
                return self._transact(begin, work)

    def _transact(self, begin: str, work: Callable[[sqlite3.Connection], Result]) -> Result:
        assert self._connection is not None
        self._connection.execute(begin)
        try:
            result = work(self._connection)
            self._connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):  # some errors have ended the transaction already
                self._connection.execute("ROLLBACK")
            raise
        return result

    def _repair(self, error: Exception) -> None:
        with _translate_errors(self.path):
            if not _is_damage(error):
                raise error
            self._start_empty()

    def _prepare(self) -> None:
        with _lock_file(self.path):
            self._file = _create_file(self.path)
            self._connection = _connect(self.path)
            self._transact("BEGIN IMMEDIATE", self._claim_file)
            self._connection.execute("PRAGMA journal_mode=WAL").close()

    def _claim_file(self, connection: sqlite3.Connection) -> None:
        def ask(question: str) -> int:
            number: int = connection.execute(question).fetchone()[0]
            return number

        owner, version = ask("PRAGMA application_id"), ask("PRAGMA user_version")
        is_new = owner == 0 and not ask("SELECT count(*) FROM sqlite_master")
        if not is_new and (owner != APPLICATION_ID or version < 1):
            raise _ForeignDatabase(f"{self.path} is another program's database")
        if version > VERSION:
            raise StoreNewer(f"{self.path} was written by a newer syncd (schema {version})", hint="upgrade syncd")
        if is_new or version < VERSION:
            for table in TABLES:
                connection.execute(table.creation)
            connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version={VERSION}")

    def _start_empty(self) -> None:
        self.close()
        with _lock_file(self.path):
            if _find_identity(self.path) == self._file:  # else another process was faster, and its new database is fine
                self.moved_aside.append(_move_aside(self.path))
        self._prepare()


def _connect(path: Path) -> sqlite3.Connection:
    # The driver's own transactions begin only at the first change; without an isolation level we say BEGIN ourselves.
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA synchronous=FULL").close()
    except sqlite3.Error:  # a damaged file is found here
        connection.close()
        raise
    return connection


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
    except sqlite3.Error as error:
        raise _build_failure(error, path) from error
    except OSError as error:
        if error.errno in NO_SPACE:
            raise make_disk_full(error, path) from error
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise StoreDenied(f"{path} cannot be used: {error.strerror}") from error
        raise StoreError(f"{path} cannot be used: {error.strerror}") from error


def _build_failure(error: Exception, path: Path) -> SyncdError:
    match _find_error_code(error):
        case sqlite3.SQLITE_FULL:
            return DiskFull(f"no space is left for {path}")
        case sqlite3.SQLITE_IOERR if not os.statvfs(path.parent).f_bavail:
            return DiskFull(f"no space is left for {path}")
        case sqlite3.SQLITE_IOERR:
            return StoreError(f"{path} cannot be used: {error}", hint="look at its disk, and at the limits on files")
        case sqlite3.SQLITE_BUSY:
            return StoreError(f"{path} is in use by another program", hint="end that program and try again")
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return StoreDenied(f"{path} cannot be used: {error}")
        case _:
            return StoreError(f"{path} cannot be used: {error}")


def _is_damage(error: BaseException) -> bool:
    return isinstance(error, _ForeignDatabase) or (
        isinstance(error, sqlite3.Error) and _find_error_code(error) in _DAMAGED
    )


def _find_error_code(error: Exception) -> int:
    # The low byte is the error; the rest says which kind of it.
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF
