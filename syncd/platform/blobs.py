"""Blobs: page bodies and files, addressed by the id that Git would give them; written aside, then published whole."""

import hashlib
import os
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path

_OID = re.compile(r"[0-9a-f]{40}")


class Blobs:
    """A directory of immutable content that only grows; any number of threads and processes may use it at once."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def put(self, data: bytes) -> str:
        """Given content, keep it durably and return its Git blob id."""
        return self.put_all((data,))[0]

    def put_all(self, contents: Iterable[bytes]) -> list[str]:
        """Given contents, keep each durably and return their Git blob ids in order; one is in memory at a time.

        Every touched directory is flushed once at the end, so that many blobs cost less than one by one.
        """
        oids: list[str] = []
        touched: set[Path] = set()
        for data in contents:
            oid = oid_of(data)
            oids.append(oid)
            if not self.has(oid):
                touched.add(self._write(oid, data))
        for shard in touched:
            _flush(shard)
        return oids

    def get(self, oid: str) -> bytes:
        """Given a blob id, return its content. Raises: FileNotFoundError."""
        return self.path(oid).read_bytes()

    def has(self, oid: str) -> bool:
        """Given a blob id, return whether its content is here."""
        return self.path(oid).is_file()

    def size(self, oid: str) -> int:
        """Given a blob id, return the bytes of its content. Raises: FileNotFoundError."""
        return self.path(oid).stat().st_size

    def path(self, oid: str) -> Path:
        """Given a blob id, return where its content is or would be. Raises: ValueError when it is not a blob id."""
        if not _OID.fullmatch(oid):
            raise ValueError(f"not a blob id: {oid!r}")
        return self._directory / oid[:2] / oid[2:]

    def _write(self, oid: str, data: bytes) -> Path:
        path = self.path(oid)
        shard = path.parent
        if not shard.is_dir():
            shard.mkdir(parents=True, exist_ok=True)
            _flush(shard.parent)
        descriptor, scratch = tempfile.mkstemp(dir=shard, prefix=".writing-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(scratch, path)
        except BaseException:
            os.unlink(scratch)
            raise
        return shard


def oid_of(data: bytes) -> str:
    """Given content, return the id that Git gives a blob with it."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _flush(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
