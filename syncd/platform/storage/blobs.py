"""Blobs: page bodies and files, addressed by the id that Git would give them; written whole, and never changed."""

import os
import re
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from pathlib import Path

from syncd.errors import StoreError
from syncd.model.blob_id import compute_blob_id
from syncd.platform.http.time_limits import check_time
from syncd.platform.storage.atomic_files import sync_directory

_OID = re.compile(r"[0-9a-f]{40}")


class Blobs(ABC):
    """Immutable content that only grows; any number of threads and processes may use it at once.

    Every method that takes a blob id raises ValueError for what is none, and those that read a blob FileNotFoundError
    when it is not here and StoreError when it cannot be had or is not what was put.
    """

    is_local = True
    """Whether reading a small blob takes less time than asking another thread to do so."""

    def put(self, data: bytes) -> str:
        """Given content, keep it durably and return its Git blob id. Raises: StoreError."""
        return self.put_all((data,))[0]

    @abstractmethod
    def put_all(self, contents: Iterable[bytes]) -> list[str]:
        """Given contents, keep each durably and return their Git blob ids in order. Raises: StoreError.

        They are taken one by one, so that a caller can read a large directory without having it in memory.
        """

    @abstractmethod
    def get(self, oid: str) -> bytes:
        """Given a blob id, return its content."""

    @abstractmethod
    def has(self, oid: str) -> bool:
        """Given a blob id, return whether its content is here."""

    @abstractmethod
    def size(self, oid: str) -> int:
        """Given a blob id, return the bytes of its content."""

    @abstractmethod
    def stream(self, oid: str) -> tuple[int, Iterator[bytes]]:
        """Given a blob id, return how long its content is and its content in pieces.

        The last piece comes only when all of them together are what was put, so that a reader who counts is not misled.
        """

    def find_file(self, oid: str) -> Path | None:
        """Given a blob id that is here, return the file that holds it, None when it is not in one on this machine."""
        return None


class BlobFolder(Blobs):
    """Blobs in a directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def put_all(self, contents: Iterable[bytes]) -> list[str]:
        """As `Blobs` says; one is in memory at a time.

        Every touched directory is flushed once at the end, so that many blobs cost less than one by one.
        """
        oids: list[str] = []
        touched: set[Path] = set()
        for data in contents:
            oid = compute_blob_id(data)
            oids.append(oid)
            if not self.has(oid):
                touched.add(self._write(oid, data))
        for shard in touched:
            sync_directory(shard)
        return oids

    def get(self, oid: str) -> bytes:
        """As `Blobs` says."""
        return verify_blob(oid, self.find_file(oid).read_bytes())

    def has(self, oid: str) -> bool:
        """As `Blobs` says."""
        return self.find_file(oid).is_file()

    def size(self, oid: str) -> int:
        """As `Blobs` says."""
        return self.find_file(oid).stat().st_size

    def stream(self, oid: str) -> tuple[int, Iterator[bytes]]:
        """As `Blobs` says."""
        data = self.get(oid)
        return len(data), iter((data,))

    def find_file(self, oid: str) -> Path:
        """Given a blob id, return where its content is or would be."""
        return self._directory / build_blob_path(oid)

    def _write(self, oid: str, data: bytes) -> Path:
        path = self.find_file(oid)
        shard = path.parent
        if not shard.is_dir():
            shard.mkdir(parents=True, exist_ok=True)
            sync_directory(shard.parent)
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


def build_blob_path(oid: str) -> str:
    """Given a blob id, return its name below the place where blobs are kept. Raises: ValueError when it is none."""
    if not _OID.fullmatch(oid):
        raise ValueError(f"not a blob id: {oid!r}")
    return f"{oid[:2]}/{oid[2:]}"


def verify_blob(oid: str, data: bytes) -> bytes:
    """Given a blob id and what was read for it, return that. Raises: StoreError when it is something else."""
    check_time()
    if compute_blob_id(data) != oid:
        raise StoreError(f"blob {oid} is damaged", hint="restore it from a backup")
    return data
