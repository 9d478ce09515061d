"""Small files of JSON that outlive the process and the state database: each is written whole or not at all."""

import errno
import os
from contextlib import suppress
from pathlib import Path

from syncd.errors import NO_SPACE, DiskFull, StoreDenied, StoreError


def write_small_file(file: Path, text: str) -> None:
    """Write a text to a file of this user's own: it holds all of the text then, or what it held before.

    Raises: DiskFull, StoreError.
    """
    _write_file(file, text, directory_mode=0o700, mode=0o600)


def write_public_file(file: Path, text: str) -> None:
    """Write a text to a file that anybody may read, in the same way. Raises: DiskFull, StoreError."""
    _write_file(file, text, directory_mode=0o755, mode=0o644)


def _write_file(file: Path, text: str, *, directory_mode: int, mode: int) -> None:
    aside = file.with_name(f"{file.name}.new")
    try:
        file.parent.mkdir(mode=directory_mode, parents=True, exist_ok=True)
        try:
            with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, mode), "w") as out:
                out.write(text)
                out.flush()
                # Some file systems rename first and write later: after a power failure the file would be empty.
                os.fsync(out.fileno())
            aside.replace(file)
        except BaseException:
            with suppress(OSError):
                aside.unlink(missing_ok=True)
            raise
    except OSError as error:
        if error.errno in NO_SPACE:
            raise DiskFull(f"no space is left for {file}") from error
        kind = StoreDenied if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS) else StoreError
        raise kind(f"{file} cannot be written: {error.strerror}") from error
