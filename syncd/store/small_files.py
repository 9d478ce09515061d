"""Small files of JSON that outlive the process and the state database: each is written whole or not at all."""

import errno
from pathlib import Path

from syncd.errors import NO_SPACE, StoreDenied, StoreError, make_disk_full
from syncd.files import write_own_file


def write_small_file(file: Path, text: str) -> None:
    """Write a text to a file of this user's own: it holds all of the text then, or what it held before.

    Raises: DiskFull, StoreError.
    """
    _write_file(file, text, 0o600)


def write_public_file(file: Path, text: str) -> None:
    """Write a text to a file that anybody may read, in the same way. Raises: DiskFull, StoreError."""
    _write_file(file, text, 0o644)


def _write_file(file: Path, text: str, mode: int) -> None:
    try:
        write_own_file(file, text.encode(), mode=mode)
    except OSError as error:
        if error.errno in NO_SPACE:
            raise make_disk_full(error, file) from error
        kind = StoreDenied if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS) else StoreError
        raise kind(f"{file} cannot be written: {error.strerror}") from error
