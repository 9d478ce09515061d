"""Objects of Git LFS that are on this disk: found by their hash, and believed only when it is right."""

import hashlib
from contextlib import suppress

from syncd.layout.tree.lfs_pointers import Pointer
from syncd.repo.objects import LARGEST_OBJECT
from syncd.repo.place import Place


def object_of(place: Place, pointer: Pointer) -> bytes | None:
    """Given a pointer, return the bytes that it stands for; None when they are not here, or are not those.

    Source: git-lfs specification, "Local storage": `lfs/objects/OID[0:2]/OID[2:4]/OID`.
    """
    if pointer.size > LARGEST_OBJECT:
        return None
    path = place.common_dir / "lfs" / "objects" / pointer.oid[:2] / pointer.oid[2:4] / pointer.oid
    with suppress(OSError):
        if path.stat().st_size == pointer.size:
            data = path.read_bytes()
            return data if hashlib.sha256(data).hexdigest() == pointer.oid else None
    return None
