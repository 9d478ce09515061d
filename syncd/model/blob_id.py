"""The id that Git gives a body, worked out without Git.

Source: git-hash-object(1); the platform names files and page bodies by it.
"""

import hashlib


def compute_blob_id(body: bytes) -> str:
    """Given a body, return the Git blob id that stands for it."""
    digest = begin_blob_hash(len(body))
    digest.update(body)
    return digest.hexdigest()


def begin_blob_hash(size: int) -> "hashlib._Hash":
    """Given the bytes of a body that comes in pieces, return the hash to feed them to; its digest is the blob id."""
    return hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
