"""The id that Git gives a body, worked out without Git."""

import hashlib


def blob_oid(data: bytes) -> str:
    """Given a body, return the Git blob id that stands for it."""
    digest = blob_hash(len(data))
    digest.update(data)
    return digest.hexdigest()


def blob_hash(size: int) -> "hashlib._Hash":
    """Given the size of a body that comes in pieces, return the hash to feed them to."""
    return hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
