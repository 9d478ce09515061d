"""A directory that a site is built into: what is in it by whom, and writing just what differs, whole or not at all."""

import fcntl
import json
import os
import shutil
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from syncd.errors import AnotherRuns, ConfigInvalid, PathRefused
from syncd.layout.tree.built_sites import MANIFEST
from syncd.sync.publish.assets import compute_digest
from syncd.sync.publish.dates import PageTimes, parse_page_times

TEMPORARY = ".syncd-site.tmp"
"""Where files are written before they are put in their place; what a build left there is gone with the next one."""
KNOWN = ("CNAME",)
"""What may be in a directory before a site is built into it; hosts of pages read their names of hosts there."""
_FORMAT = 1
_FILE_MODE, _DIRECTORY_MODE = 0o644, 0o755
"""A site is read by a server that runs as somebody else, whatever the umask of who builds it."""
_MANIFEST_BYTES_MAX = 1 << 28


@dataclass(frozen=True)
class BuildManifest:
    """What a directory holds of a build.

    Shape: `files` has the digest of each file by path, "" for one that a build was about to write; `pages` says of each
    page what it was made of; `structure` is the digest of all that every page depends on, "" when a build did not end;
    `times` are those of the pages in Git.
    """

    files: Mapping[str, str] = field(default_factory=dict)
    pages: Mapping[str, Any] = field(default_factory=dict)
    structure: str = ""
    times: PageTimes = field(default_factory=PageTimes)


@dataclass
class BuildSummary:
    """What a build came to: pages of the site, pages that were rendered, and files by what became of them.

    Shape: `left_out` has the pages that could not be read or can lie nowhere, each with the reason; `conditional` what
    conditions keep from everybody, as they should.
    """

    pages: int = 0
    rendered: int = 0
    written: int = 0
    unchanged: int = 0
    removed: int = 0
    left_out: dict[str, str] = field(default_factory=dict)
    conditional: dict[str, str] = field(default_factory=dict)

    @property
    def files(self) -> int:
        """How many files the site has."""
        return self.written + self.unchanged

    @property
    def has_changed(self) -> bool:
        """Whether the directory differs from what it was before."""
        return bool(self.written or self.removed)


@contextmanager
def open_output(top: Path, known: Collection[str] = KNOWN) -> Iterator[None]:
    """Make a directory ready for one build, and keep others out of it meanwhile; `known` may be in it beforehand.

    Raises: AnotherRuns while another build writes there; ConfigInvalid when it can be no directory.
    """
    try:
        top.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            make_directory_for_all(top)
        descriptor = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise ConfigInvalid(f"{top} cannot be built into: {error.strerror}", hint="name another directory") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise AnotherRuns(f"another build writes into {top}", hint="wait for its end") from error
        _refuse_strangers(top, known)
        shutil.rmtree(top / TEMPORARY, ignore_errors=True)
        (top / TEMPORARY).mkdir()
        yield
        shutil.rmtree(top / TEMPORARY, ignore_errors=True)
    finally:
        os.close(descriptor)


def _refuse_strangers(top: Path, known: Collection[str]) -> None:
    """Refuse a directory that somebody uses for something else; what is hidden, as `.git`, may be there."""
    if (top / MANIFEST).is_file():
        return
    if stranger := find_stranger(os.listdir(top), known):
        raise _refuse(top, stranger)


def find_stranger(names: Iterable[str], known: Collection[str] = KNOWN) -> str:
    """Return the first name of what somebody else put into a directory that holds no site yet, "" for none."""
    return min((name for name in names if not name.startswith(".") and name not in known), default="")


def read_manifest(top: Path) -> BuildManifest:
    """Return what a directory holds of a build; nothing where there is none, or its manifest cannot be read."""
    path = top / MANIFEST
    with suppress(OSError):
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MANIFEST_BYTES_MAX:
            return BuildManifest()
        return parse_manifest(path.read_bytes()) or BuildManifest()
    return BuildManifest()


def parse_manifest(data: bytes) -> BuildManifest | None:
    """Return what the text of a manifest says; None for one that cannot be read."""
    with suppress(ValueError, KeyError, TypeError, AttributeError):
        document = json.loads(data)
        if document["format"] == _FORMAT:
            files = {str(name): str(digest) for name, digest in document["files"].items() if _is_inner(str(name))}
            times = parse_page_times(document.get("times"))
            return BuildManifest(files, dict(document["pages"]), str(document["structure"]), times)
    return None


def write_manifest(top: Path, manifest: BuildManifest) -> None:
    """Write what a directory holds; nothing when that is what its manifest says already."""
    path, data = top / MANIFEST, format_manifest(manifest)
    with suppress(OSError):
        if path.read_bytes() == data:
            return
    _replace(top, path, data)


def format_manifest(manifest: BuildManifest) -> bytes:
    """Return the text of a manifest."""
    document: dict[str, Any] = {
        "format": _FORMAT,
        "made_by": "syncd site build",
        "structure": manifest.structure,
        "files": dict(sorted(manifest.files.items())),
        "pages": dict(sorted(manifest.pages.items())),
    }
    if manifest.times.commit:
        document["times"] = {"commit": manifest.times.commit, "times": dict(manifest.times.times)}
    return (json.dumps(document, ensure_ascii=False, separators=(",", ":"), sort_keys=False) + "\n").encode()


@dataclass
class SiteOutput:
    """Writes the files of one build below a directory; `own` has the files that syncd made or is about to make.

    Shape: before the first write, the manifest names all of `own`, and no structure: a build that stops in the middle
    leaves nothing behind that the next one does not know.
    """

    top: Path
    own: dict[str, str]
    structure: str = ""
    _announced: int = -1
    _directories: set[str] = field(default_factory=set)

    def claim(self, paths: Iterable[str]) -> None:
        """Take paths that are about to be written.

        Raises: ConfigInvalid when something is at one of them that syncd did not make.
        """
        wanted = list(paths)
        fresh = [path for path in wanted if path not in self.own]
        for path in fresh:
            self._make_room(path)
            if _is_inner(path) and self._is_below_directories(path) and os.path.lexists(self.top / path):
                raise _refuse(self.top, path)
        self.own |= dict.fromkeys(fresh, "")
        if wanted:
            self._announce()

    def has_file(self, path: str, digest: str) -> bool:
        """Return whether the file is there with this content."""
        try:
            return compute_digest(self._read(path)) == digest
        except OSError:
            return False

    def write(self, path: str, data: bytes) -> bool:
        """Write a file unless it is there already, and return whether it was written.

        Raises: ConfigInvalid when something else is there that syncd did not make; PathRefused for a path that leads
        out of the directory; OSError.
        """
        if not _is_inner(path):
            raise PathRefused(f"{path[:200]!r} is no path below a directory")
        try:
            if self._read(path) == data:
                return False
        except FileNotFoundError:
            pass
        except OSError as error:
            raise _refuse(self.top, path) from error
        else:
            if path not in self.own:
                raise _refuse(self.top, path)
        if path not in self.own:
            self.claim([path])
        self._announce()
        self._make_directories(path)
        _replace(self.top, self.top / path, data)
        return True

    def remove(self, path: str) -> bool:
        """Remove a file that is no longer made, and the directories that are empty without it."""
        is_replaced = any(above in self.own and (self.top / above).is_file() for above in _list_above(path))
        if is_replaced or not _is_inner(path) or not self._is_below_directories(path):
            return False
        self._announce()
        try:
            (self.top / path).unlink()
        except (FileNotFoundError, IsADirectoryError, PermissionError):
            return False
        above = path.rpartition("/")[0]
        with suppress(OSError):
            while above:
                (self.top / above).rmdir()
                self._directories.discard(above)
                above = above.rpartition("/")[0]
        return True

    def _make_room(self, path: str) -> None:
        """Remove what a former build made where a file is to be: a directory there, or a file above it."""
        at = self.top / path
        if _is_inner(path) and at.is_dir() and not at.is_symlink():
            for own in [one for one in self.own if one.startswith(f"{path}/")]:
                self.remove(own)
        for above in _list_above(path):
            if above in self.own:
                self.remove(above)

    def _announce(self) -> None:
        if self._announced != len(self.own):
            write_manifest(self.top, BuildManifest(self.own))
            self._announced = len(self.own)

    def _read(self, path: str) -> bytes:
        if not self._is_below_directories(path):
            raise FileNotFoundError(path)
        descriptor = os.open(self.top / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(f"{path} is no file")
            return file.read()

    def _is_below_directories(self, path: str) -> bool:
        """Whether all that is above a path is a directory, and no link."""
        above = path.rpartition("/")[0]
        if not above or above in self._directories:
            return True
        if not self._is_below_directories(above):
            return False
        try:
            if not stat.S_ISDIR((self.top / above).lstat().st_mode):
                raise _refuse(self.top, above)
        except FileNotFoundError:
            return False
        self._directories.add(above)
        return True

    def _make_directories(self, path: str) -> None:
        above = path.rpartition("/")[0]
        if above and not self._is_below_directories(path):
            self._make_directories(above)
            with suppress(FileExistsError):
                make_directory_for_all(self.top / above)
            self._is_below_directories(path)


def _list_above(path: str) -> Iterator[str]:
    """Everything that must be a directory for a file to be at a path."""
    return (path[:end] for end, sign in enumerate(path) if sign == "/")


def _is_inner(path: str) -> bool:
    return bool(path) and "\0" not in path and all(part not in ("", ".", "..") for part in path.split("/"))


def _refuse(top: Path, path: str) -> ConfigInvalid:
    return ConfigInvalid(
        f"{top / path} is there, and syncd did not make it", hint="build into an empty directory, or move that away"
    )


def _replace(top: Path, path: Path, data: bytes) -> None:
    aside = top / TEMPORARY / str(os.getpid())
    aside.write_bytes(data)
    aside.chmod(_FILE_MODE)
    os.replace(aside, path)


def make_directory_for_all(path: Path) -> None:
    """Make a directory that everybody may read. Raises: FileExistsError, OSError."""
    path.mkdir()
    path.chmod(_DIRECTORY_MODE)
