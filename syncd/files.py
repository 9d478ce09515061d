"""Files that are written whole or not at all; below a directory, no symbolic link on the way to one is followed.

A repository holds what strangers committed, symbolic links too, and others may write to a work tree at the same time.
So each part of a path is opened in the directory before it, and what is opened is what is read or replaced.
Source: open(2), O_NOFOLLOW.
"""

import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from syncd.errors import PathRefused

FileStamp = tuple[str, int, int, int]

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def open_file(top: Path, path: str) -> IO[bytes]:
    """Open the file at a path below a directory for reading.

    Raises: FileNotFoundError; PathRefused when it is no file, or a link is on the way; OSError.
    """
    with _open_parent(top, path) as (directory, name):
        _check_file(directory, name, path)
        # Without O_NONBLOCK, a pipe that has just been put there would be waited for.
        file = os.fdopen(os.open(name, _READ, dir_fd=directory), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise PathRefused(f"{path} is no file")
    return file


def read_file(top: Path, path: str) -> bytes:
    """Return the content of the file at a path below a directory. Raises: as `open_file`."""
    with open_file(top, path) as file:
        return file.read()


def replace_file(top: Path, path: str, data: bytes, *, mode: int | None = None) -> None:
    """Replace the content of the file at a path below a directory, all of it or nothing.

    Shape: its mode stays, or becomes the one that is given.
    Raises: PathRefused when something else is there, or a link is on the way; OSError.
    """
    with _open_parent(top, path) as (directory, name):
        before = _check_file(directory, name, path, may_be_absent=True)
        if mode is None and before is not None:
            mode = stat.S_IMODE(before.st_mode)
        with _write_temporary(directory, name, data, mode) as aside:
            os.replace(aside, name, src_dir_fd=directory, dst_dir_fd=directory)


def create_file(top: Path, path: str, data: bytes) -> None:
    """Create a file at a path below a directory, all of it or nothing, and the directories above it.

    Raises: FileExistsError when anything is there; PathRefused when a link is on the way; OSError.
    """
    with (
        _open_parent(top, path, make=True) as (directory, name),
        _write_temporary(directory, name, data, None) as aside,
    ):
        os.link(aside, name, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)


def write_own_file(path: Path, data: bytes, *, mode: int) -> None:
    """Write a file that is syncd's own, all of it or nothing, with the directories above it.

    Shape: whatever was there is replaced, a link too. Raises: OSError.
    """
    # Whoever may read the file may enter its directory.
    path.parent.mkdir(mode=mode | (mode & 0o444) >> 2, parents=True, exist_ok=True)
    with (
        _open_parent(path.parent, path.name) as (directory, name),
        _write_temporary(directory, name, data, mode) as aside,
    ):
        os.replace(aside, name, src_dir_fd=directory, dst_dir_fd=directory)


def remove_file(top: Path, path: str) -> None:
    """Remove the file at a path below a directory. Raises: as `open_file`."""
    with _open_parent(top, path) as (directory, name):
        _check_file(directory, name, path)
        os.unlink(name, dir_fd=directory)


@contextmanager
def _open_parent(top: Path, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
    """The directory that a path is in, open, and the name there."""
    *parts, name = path.split("/")
    if not name or any(part in ("", ".", "..") for part in (*parts, name)):
        raise PathRefused(f"{path[:200]!r} is no path below a directory")
    directory = os.open(top, _DIRECTORY)
    try:
        for part in parts:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=directory)
            inner = _open_directory(directory, part, path)
            os.close(directory)
            directory = inner
        yield directory, name
    finally:
        os.close(directory)


def _open_directory(directory: int, part: str, path: str) -> int:
    try:
        return os.open(part, _DIRECTORY | os.O_NOFOLLOW, dir_fd=directory)
    except NotADirectoryError:
        now = os.stat(part, dir_fd=directory, follow_symlinks=False).st_mode
        if stat.S_ISLNK(now):
            raise PathRefused(f"{path} is behind the symbolic link {part}, which is not followed") from None
        if stat.S_ISDIR(now):  # it was a link a moment ago: somebody exchanges the two
            raise PathRefused(f"{path} is below {part}, which was replaced while it was opened") from None
        raise


def _check_file(directory: int, name: str, path: str, *, may_be_absent: bool = False) -> os.stat_result | None:
    """What is there, which must be a file."""
    try:
        found = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        if may_be_absent:
            return None
        raise
    if stat.S_ISLNK(found.st_mode):
        raise PathRefused(f"{path} is a symbolic link, which is not followed")
    if not stat.S_ISREG(found.st_mode):
        raise PathRefused(f"{path} is no file")
    return found


@contextmanager
def _write_temporary(directory: int, name: str, data: bytes, mode: int | None) -> Iterator[str]:
    """A new file beside the one that is meant, written down to the disk; what is not taken away by then is removed."""
    aside = f".{name[:100]}.{secrets.token_hex(8)}"
    descriptor = os.open(aside, _NEW, 0o666 if mode is None else 0o600, dir_fd=directory)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            file.flush()
            os.fsync(file.fileno())
        yield aside
    finally:
        with suppress(FileNotFoundError):
            os.unlink(aside, dir_fd=directory)
    os.fsync(directory)


def list_stamps(paths: Iterable[Path]) -> Iterator[FileStamp]:
    """Yield what tells the present version of each file from others: its path, inode, time of change and size.

    Shape: a file that is not there, or that cannot be looked at, is left out.
    """
    for path in paths:
        try:
            found = path.stat()
        except OSError:
            continue
        yield str(path), found.st_ino, found.st_mtime_ns, found.st_size
