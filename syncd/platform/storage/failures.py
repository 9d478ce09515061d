"""What the failures of a platform's database mean for whoever gave a command."""

import os
import sqlite3
from pathlib import Path

from syncd.errors import DiskFull, StoreError

_DISK_FULL = frozenset({sqlite3.SQLITE_FULL, "53100"})
"""What SQLite, and PostgreSQL as its SQLSTATE, answer on a full disk."""
LOOK_AT_DISK = "look at its disk and its limits"
_DISK = frozenset({sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM})


def is_disk_full(cause: BaseException | None, disk: Path) -> bool:
    """Return whether an error of SQLite or PostgreSQL says that no space is left.

    Shape: a file of SQLite is on the `disk`. Where that has no room left, SQLite can often not read either.
    """
    code = getattr(cause, "sqlite_errorcode", 0)
    if code & 0xFF == sqlite3.SQLITE_IOERR and not os.statvfs(disk).f_bavail:
        return True
    return not _DISK_FULL.isdisjoint((code, getattr(cause, "sqlstate", "")))


def make_database_error(cause: BaseException | None, what: str, disk: Path) -> StoreError | DiskFull:
    """Return the error that a database's own error means; `what` names the database, which is on the `disk`."""
    if is_disk_full(cause, disk):
        return DiskFull(f"no space is left for {what}")
    kind = getattr(cause, "sqlite_errorcode", 0) & 0xFF
    reason = str(cause).partition("\n")[0]
    return StoreError(f"{what} cannot be used: {reason}", hint=LOOK_AT_DISK if kind in _DISK else "")
