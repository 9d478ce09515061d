"""Make a repository that reads the objects of another one: what is written to it never changes the other."""

import shutil
from pathlib import Path

from syncd.repo.failures import translate_system_failures
from syncd.repo.process.git import Git
from syncd.repo.process.location import RepositoryLocation


def borrow(git: Git, path: Path) -> None:
    """Create a bare repository in a new directory that reads the objects of another one and writes its own.

    Shape: a shallow repository gives its borrower the same limit of history.
    Source: gitrepository-layout(5), objects/info/alternates and shallow.
    """
    kind = git.run("rev-parse", "--show-object-format").decode().strip()
    with translate_system_failures(f"making {path}"):
        path.mkdir(parents=True, exist_ok=True)
    words = ("--quiet", "--template=", "--bare", f"--object-format={kind}")
    Git().run("init", *words, "--", str(path.resolve()), disk=path)
    source: RepositoryLocation = git.location
    with translate_system_failures(f"making {path}"):
        (path / "objects" / "info").mkdir(exist_ok=True)
        (path / "objects" / "info" / "alternates").write_bytes(
            b"%b\n" % _quote_alternate(source.common_dir / "objects")
        )
        if (source.common_dir / "shallow").is_file():
            shutil.copyfile(source.common_dir / "shallow", path / "shallow")


def _quote_alternate(objects: Path) -> bytes:
    """A path as the list of alternates spells it: in C-style quotes, so that no sign in it means anything."""
    return b'"%b"' % str(objects).encode("utf-8", "surrogateescape").replace(b"\\", b"\\\\").replace(b'"', b'\\"')
