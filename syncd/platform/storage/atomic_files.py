"""Small files that are written once, atomically, and are readable by their owner only."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path


def read_or_create(path: Path, make: Callable[[], bytes]) -> bytes:
    """Return the content of a file, which is created durably with the content of `make` when it is absent.

    When two processes create it at the same time, both return what the first one wrote.
    """
    if not path.exists():
        descriptor, scratch = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(make())
                file.flush()
                os.fsync(file.fileno())
            _link_new_file(Path(scratch), path)
        finally:
            os.unlink(scratch)
    path.chmod(0o600)
    return path.read_bytes()


def sync_directory(directory: Path) -> None:
    """Flush a directory to disk, so that files created in it survive a power failure."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _link_new_file(scratch: Path, path: Path) -> None:
    # A hard link, unlike a rename, never replaces what another process put there first.
    try:
        path.hardlink_to(scratch)
    except FileExistsError:
        return
    sync_directory(path.parent)
