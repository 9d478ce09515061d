"""A command whose platform has a full disk, or a database that cannot be used, ends with one error."""

import errno
from pathlib import Path

import pytest

from syncd.errors import DiskFull, StoreError
from syncd.platform.storage.storage_options import StorageOptions


def run_statements(data: Path, *statements: str) -> None:
    """Given a platform's data directory, run statements as a command would."""
    with StorageOptions(data).open_for_command() as storage, storage.write() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


def fail(data: Path, error: OSError) -> None:
    """Given a platform's data directory, let a command meet an error of the system."""
    with StorageOptions(data).open_for_command():
        raise error


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    # SQLite takes a smaller number than there are pages for just these.
    full = ("CREATE TABLE large (data)", "PRAGMA max_page_count = 1", "INSERT INTO large VALUES (zeroblob(1000000))")
    with pytest.raises(DiskFull, match="platform's database"):
        run_statements(tmp_path, *full)
    with pytest.raises(DiskFull, match="platform's files"):
        fail(tmp_path, OSError(errno.ENOSPC, "No space left on device"))


def test_a_database_that_cannot_be_used_is_told_from_other_failures(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no such table: gone"):
        run_statements(tmp_path, "DELETE FROM gone")
    with pytest.raises(FileNotFoundError):
        fail(tmp_path, FileNotFoundError(errno.ENOENT, "No such file or directory"))
