"""The id that Git gives a body, worked out without Git.

Source: git-hash-object(1); the platform names files and page bodies by it.
"""

import hashlib


def compute_blob_id(body: bytes) -> str:
    """Return the Git blob id of a body."""
    digest = begin_blob_hash(len(body))
    digest.update(body)
    return digest.hexdigest()


def begin_blob_hash(size: int) -> "hashlib._Hash":
    """Return the hash for a body of this many bytes that comes in pieces; its digest is the Git blob id."""
    return hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
