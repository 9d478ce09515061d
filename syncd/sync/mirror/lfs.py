"""Git LFS in a mirror: a file that a pointer in Git stands for is not put into Git a second time."""

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from typing import IO

from syncd.layout.tree.lfs_pointers import SIZE_MAX, LfsPointer, parse_pointer
from syncd.repo import Repository

_PIECE = 1 << 16


class LfsPointers:
    """The pointers among the blobs that Git has for some files."""

    def __init__(self, repository: Repository, blobs: Iterable[str]) -> None:
        """Given the blobs, find the pointers; only what is small enough is read."""
        sizes = repository.read_sizes(set(blobs))
        small = sorted(oid for oid, size in sizes.items() if size <= SIZE_MAX)
        read = ((oid, parse_pointer(repository.read(oid))) for oid in small)
        self._pointers: dict[str, LfsPointer] = {oid: pointer for oid, pointer in read if pointer is not None}

    def find_pointer(self, blobs: Sequence[str], opened: Callable[[], IO[bytes]]) -> str | None:
        """Given blobs that Git has and a file as the platform has it, return the blob that points to it, or None."""
        found = {pointer: blob for blob in reversed(blobs) if (pointer := self._pointers.get(blob)) is not None}
        if not found:
            return None
        file = opened()
        size = file.seek(0, os.SEEK_END)
        if all(pointer.size != size for pointer in found):
            return None
        file.seek(0)
        digest = hashlib.sha256()
        while piece := file.read(_PIECE):
            digest.update(piece)
        return found.get(LfsPointer(digest.hexdigest(), size))
