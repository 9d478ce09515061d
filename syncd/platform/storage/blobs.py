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
    """An append-only store of immutable content; safe in any number of threads and processes.

    Every method that takes a blob id raises ValueError when the id is malformed; those that read a blob raise
    FileNotFoundError when it is absent, and StoreError when it cannot be read or is damaged.
    """

    is_local = True
    """Whether reading a small blob takes less time than asking another thread to do so."""

    def put(self, data: bytes) -> str:
        """Store content durably and return its Git blob id. Raises: StoreError."""
        return self.put_all((data,))[0]

    @abstractmethod
    def put_all(self, contents: Iterable[bytes]) -> list[str]:
        """Store contents durably and return their Git blob ids in order. Raises: StoreError.

        They are consumed one by one, so that a caller can import a large directory without holding it in memory.
        """

    @abstractmethod
    def get(self, oid: str) -> bytes:
        """Return the content of a blob."""

    @abstractmethod
    def has(self, oid: str) -> bool:
        """Return whether a blob is stored here."""

    @abstractmethod
    def size(self, oid: str) -> int:
        """Return the size of a blob in bytes."""

    @abstractmethod
    def stream(self, oid: str) -> tuple[int, Iterator[bytes]]:
        """Return the size of a blob in bytes, and its content in pieces.

        The last piece is only yielded once the whole content was verified, so that a reader that compares the size
        never takes damaged content for complete.
        """

    def find_file(self, oid: str) -> Path | None:
        """Return the file that holds a stored blob; None when it is not in a file on this machine."""
        return None


class BlobFolder(Blobs):
    """Blobs as files in a directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def put_all(self, contents: Iterable[bytes]) -> list[str]:
        """Store contents durably and return their Git blob ids in order; one content is in memory at a time.

        Every changed directory is flushed once at the end, which makes many blobs cheaper than one by one.
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
        """Return the content of a blob."""
        with open(self._build_name(oid), "rb") as file:
            return verify_blob(oid, file.read())

    def has(self, oid: str) -> bool:
        """Return whether a blob is stored here."""
        return self.find_file(oid).is_file()

    def size(self, oid: str) -> int:
        """Return the size of a blob in bytes."""
        return os.stat(self._build_name(oid)).st_size

    def stream(self, oid: str) -> tuple[int, Iterator[bytes]]:
        """Return the size of a blob in bytes, and its content in pieces."""
        data = self.get(oid)
        return len(data), iter((data,))

    def find_file(self, oid: str) -> Path:
        """Return the file in which a blob is, or would be."""
        return self._directory / build_blob_path(oid)

    def _build_name(self, oid: str) -> str:
        # A page is read in a few tens of microseconds, of which a Path would take ten.
        return f"{self._directory}/{build_blob_path(oid)}"

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
    """Return the path of a blob below the store's root. Raises: ValueError when the id is malformed."""
    if not _OID.fullmatch(oid):
        raise ValueError(f"not a blob id: {oid!r}")
    return f"{oid[:2]}/{oid[2:]}"


def verify_blob(oid: str, data: bytes) -> bytes:
    """Return the content of a blob once it was compared with its id. Raises: StoreError when it is damaged."""
    check_time()
    if compute_blob_id(data) != oid:
        raise StoreError(f"blob {oid} is damaged", hint="restore it from a backup")
    return data
