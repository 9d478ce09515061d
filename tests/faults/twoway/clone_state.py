"""What a clone looks like to Git, from its files alone: that takes no process."""

import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

_OWN = ("HEAD", "index", "config", "info/exclude", "packed-refs")
"""Files of Git's own that say what `git status` prints, beside the refs."""


def hash_clone(clone: Path) -> bytes:
    """Given a clone, return a hash of all that `git status` looks at."""
    found = sha256(read_refs(clone).encode())
    own = os.path.join(clone, ".git")
    for file in (*(os.path.join(own, name) for name in _OWN), *_list_files(str(clone), but=".git")):
        if os.path.lexists(file):
            content = os.readlink(file).encode() if os.path.islink(file) else Path(file).read_bytes()
            found.update(f"{file}\0{os.lstat(file).st_mode}\0{len(content)}\0".encode() + content)
    return found.digest()


def read_refs(clone: Path) -> str:
    """Given a clone, return every ref with what it points to."""
    own = os.path.join(clone, ".git")
    files = [os.path.join(own, "packed-refs"), *_list_files(os.path.join(own, "refs"))]
    return "".join(f"{file}: {Path(file).read_text()}" for file in files if os.path.exists(file))


def _list_files(top: str, but: str = "") -> Iterator[str]:
    for folder, folders, names in os.walk(top):
        folders[:] = sorted(name for name in folders if name != but)
        yield from (os.path.join(folder, name) for name in sorted(names))
