"""What a clone looks like to Git, from its files alone: that takes no process."""

import os
import stat
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
        try:
            mode = os.lstat(file).st_mode
        except (FileNotFoundError, NotADirectoryError):
            continue
        content = os.readlink(file).encode() if stat.S_ISLNK(mode) else _read_file(file)
        found.update(f"{file}\0{mode}\0{len(content)}\0".encode() + content)
    return found.digest()


def read_refs(clone: Path) -> str:
    """Given a clone, return every ref with what it points to."""
    own = os.path.join(clone, ".git")
    files = [os.path.join(own, "packed-refs"), *_list_files(os.path.join(own, "refs"))]
    return "".join(f"{file}: {_read_file(file).decode()}" for file in files if os.path.exists(file))


def _read_file(file: str) -> bytes:
    with open(file, "rb", buffering=0) as opened:
        return opened.read()


def _list_files(top: str, but: str = "") -> Iterator[str]:
    """The files below a directory in the order of their names; `but` is the name of a directory to leave out."""
    try:
        with os.scandir(top) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except FileNotFoundError:  # Git removes a directory of refs when it is empty
        return
    yield from (entry.path for entry in found if not entry.is_dir(follow_symlinks=False))
    for entry in found:
        if entry.name != but and entry.is_dir(follow_symlinks=False):
            yield from _list_files(entry.path, but)
