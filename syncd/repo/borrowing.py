"""A repository of one's own that reads the objects of another: work is done there, and the other never changes."""

import shutil
from pathlib import Path

from syncd.repo.failures import system_failures
from syncd.repo.git import Git
from syncd.repo.place import Place


def borrow(git: Git, path: Path) -> None:
    """Given a repository and a new directory, make a bare repository there that reads the objects of the first.

    Shape: what it writes stays there; where the history of the first is cut off, so is its own.
    Source: gitrepository-layout(5), objects/info/alternates and shallow.
    """
    kind = git.run("rev-parse", "--show-object-format").decode().strip()
    with system_failures(f"making {path}"):
        path.mkdir(parents=True, exist_ok=True)
    words = ("--quiet", "--template=", "--bare", f"--object-format={kind}")
    Git().run("init", *words, "--", str(path.resolve()), disk=path)
    source: Place = git.place
    with system_failures(f"making {path}"):
        (path / "objects" / "info").mkdir(exist_ok=True)
        (path / "objects" / "info" / "alternates").write_bytes(b"%b\n" % _listed(source.common_dir / "objects"))
        if (source.common_dir / "shallow").is_file():
            shutil.copyfile(source.common_dir / "shallow", path / "shallow")


def _listed(objects: Path) -> bytes:
    """A path as the list of alternates spells it: in C-style quotes, so that no sign in it means anything."""
    return b'"%b"' % str(objects).encode("utf-8", "surrogateescape").replace(b"\\", b"\\\\").replace(b'"', b'\\"')
