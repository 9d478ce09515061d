"""A copy of a platform's data while servers go on: the database as of one moment, and every blob that it may name.

Nothing is upgraded: a backup that the newer syncd makes before an upgrade is one that the older syncd reads. The
database is copied first and put in place last, since blobs are only ever added: at any moment the target is a whole
backup, the former or the new one.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from syncd.errors import NO_SPACE, ConfigInvalid, DiskFull, NotFound, StoreError, make_disk_full
from syncd.model.blob_id import compute_blob_id
from syncd.platform.storage.atomic_files import sync_directory
from syncd.platform.storage.blobs import BlobFolder
from syncd.platform.storage.failures import LOOK_AT_DISK, is_disk_full

DATABASE, BLOBS = "platform.db", "blobs"
_OWN_FILES = ("token", "secret")
_PATIENCE_S = 60


@dataclass(frozen=True)
class PlatformBackup:
    """What a backup came to: counts of blobs, and the ids of those that are damaged where they were read."""

    copied: int
    kept: int
    damaged: tuple[str, ...]


def back_up_platform(data: Path, blobs: Path | None, target: Path, *, has_database: bool = True) -> PlatformBackup:
    """Copy a platform's database, blobs, token and secret into a directory, which may hold an earlier backup of it.

    Shape: `blobs` is where the blobs are if not in `data`; without `has_database` the tables are elsewhere. A damaged
    blob is left out; an earlier copy of it stays.
    Raises: NotFound without a platform; ConfigInvalid when the target holds something else; DiskFull, StoreError.
    """
    if has_database and not (data / DATABASE).is_file():
        raise NotFound(f"there is no platform in {data}", hint="name its directory with --data")
    _check_target(data, target)
    try:
        target.mkdir(mode=0o700, parents=True, exist_ok=True)
        partial = target / f".{DATABASE}-partial"
        if has_database:
            _copy_database(data / DATABASE, partial)
        backup = _copy_blobs(blobs or data / BLOBS, BlobFolder(target / BLOBS))
        for name in _OWN_FILES:
            if (data / name).is_file():
                _write_private(target / name, (data / name).read_bytes())
        if has_database:
            os.replace(partial, target / DATABASE)
        sync_directory(target)
    except OSError as failure:
        if failure.errno in NO_SPACE:
            raise make_disk_full(failure, target) from failure
        raise StoreError(f"{failure.filename or target} cannot be copied: {failure.strerror}") from failure
    return backup


def _check_target(data: Path, target: Path) -> None:
    if target.resolve() == data.resolve() or target.resolve().is_relative_to(data.resolve()):
        raise ConfigInvalid(f"{target} is in the data that is to be copied", hint="name a directory on another disk")
    if not target.exists():
        return
    files = (DATABASE, *_OWN_FILES)
    known = {BLOBS, *files, *(f".{name}-partial" for name in files), f".{DATABASE}-partial-journal"}
    if not target.is_dir() or not {path.name for path in target.iterdir()} <= known:
        raise ConfigInvalid(
            f"{target} holds something else than a backup",
            hint="name a new or empty directory, or one that nothing but syncd platform backup has written",
        )


def _copy_database(source: Path, target: Path) -> None:
    """The database as of one moment, by SQLite's online backup, and checked as a whole."""
    target.unlink(missing_ok=True)
    target.touch(mode=0o600)
    try:
        with closing(sqlite3.connect(source, timeout=_PATIENCE_S)) as live, closing(sqlite3.connect(target)) as copy:
            live.backup(copy)
            # A copy in one file, which needs no log beside it.
            copy.execute("PRAGMA journal_mode=DELETE")
            (found,) = copy.execute("PRAGMA integrity_check(1)").fetchone()
    except sqlite3.Error as failure:
        if is_disk_full(failure, target.parent):
            raise DiskFull(f"no space is left for {target.parent}") from failure
        raise StoreError(f"{source} cannot be copied: {failure}", hint=LOOK_AT_DISK) from failure
    if found != "ok":
        raise StoreError(f"{source} is damaged: {found}", hint="restore it from an earlier backup")
    descriptor = os.open(target, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _copy_blobs(source: Path, target: BlobFolder) -> PlatformBackup:
    copied, kept, damaged = 0, 0, []
    for oid, path in _list_blobs(source):
        if target.has(oid):
            kept += 1
            continue
        content = path.read_bytes()
        if compute_blob_id(content) == oid:
            target.put(content)
            copied += 1
        else:
            damaged.append(oid)
    return PlatformBackup(copied, kept, tuple(damaged))


def _list_blobs(directory: Path) -> Iterator[tuple[str, Path]]:
    """Every blob by its id; what is being written has another name."""
    for shard in sorted(directory.glob("[0-9a-f][0-9a-f]")):
        for path in sorted(shard.glob("[0-9a-f]" * 38)):
            yield f"{shard.name}{path.name}", path


def _write_private(path: Path, content: bytes) -> None:
    scratch = path.with_name(f".{path.name}-partial")
    descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(scratch, path)
