"""Pointers of Git LFS: small files in Git that stand for large ones elsewhere."""

import re
from dataclasses import dataclass

SIZE_MAX = 1024
"""Bytes; what is larger is no pointer. Source: git-lfs specification, "The Pointer"."""
_LINES = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:[a-z0-9.-]+ [^\n]*\n)*?"
    rb"oid sha256:(?P<oid>[0-9a-f]{64})\nsize (?P<size>\d{1,19})\n(?:[a-z0-9.-]+ [^\n]*\n)*"
)


@dataclass(frozen=True)
class LfsPointer:
    """The content of a pointer: `oid` is the SHA-256 of the file's bytes, `size` their number."""

    oid: str
    size: int


def parse_pointer(data: bytes) -> LfsPointer | None:
    """Return the Git LFS pointer that a file's bytes are; None when they are none."""
    found = _LINES.fullmatch(data) if len(data) <= SIZE_MAX else None
    return LfsPointer(found["oid"].decode(), int(found["size"])) if found else None
