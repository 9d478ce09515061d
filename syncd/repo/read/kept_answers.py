"""Keep what Git answered about a repository from one run of a service to the next, while no ref moves.

A service looks at each repository once in an interval, and mostly finds what it found before. Then the answers of the
last run serve, and no process of Git is started.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from syncd.files import FileStamp, list_stamps
from syncd.repo.process.location import RepositoryLocation

FILES_MAX = 500
"""Files of refs above which a process of Git costs less than looking at each of them."""
ANSWERS_MAX, OBJECT_BYTES_MAX = 500, 1 << 14
"""What a run that found nothing new asks for at the most. One that asks for more has its answers dropped."""


@dataclass
class KeptAnswers:
    """Answers about one repository, for one run after another; not shared between threads.

    Shape: `names` has what each name led to, an id and a type, None for nothing; `objects` the type and bytes of
    objects; `refs` those that only syncd writes, `listings` the others below a prefix. All of it holds while the files
    of refs and of the configuration are the same ones as before the first question. Git replaces a file of refs, and
    never writes in it, so that its inode and time tell.
    """

    names: dict[str, tuple[str, str] | None] = field(default_factory=dict)
    objects: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    listings: dict[str, dict[str, str]] = field(default_factory=dict)
    refs: dict[str, str] | None = None
    _stamp: frozenset[FileStamp] | None = None

    def begin_run(self, place: RepositoryLocation) -> None:
        """Drop what was kept of a repository if it has changed since the last run."""
        stamp = read_stamp(place)
        if stamp is None or stamp != self._stamp:
            self._drop()
        self._stamp = stamp

    def end_run(self, place: RepositoryLocation) -> None:
        """Drop what was kept of a repository if it has changed since the run began, or is too much."""
        if self._stamp is None or self.is_full or read_stamp(place) != self._stamp:
            self._drop()

    @property
    def is_full(self) -> bool:
        """Whether a run has asked for more than is kept."""
        return len(self.names) + len(self.objects) > ANSWERS_MAX

    def keep_name(self, name: str, found: tuple[str, str] | None) -> None:
        """Keep what a name led to."""
        if not self.is_full:
            self.names[name] = found

    def keep_object(self, oid: str, kind: str, data: bytes) -> None:
        """Keep the bytes of an object that is small."""
        if not self.is_full and len(data) <= OBJECT_BYTES_MAX:
            self.objects[oid] = kind, data

    def keep_listing(self, prefix: str, refs: dict[str, str]) -> None:
        """Keep the refs below a prefix, unless they are many."""
        if len(refs) <= ANSWERS_MAX:
            self.listings[prefix] = refs

    def _drop(self) -> None:
        self.names.clear()
        self.objects.clear()
        self.listings.clear()
        self.refs = None
        self._stamp = None


@dataclass
class KeptListing:
    """All refs of a repository as they were listed last, which hold while the files of refs are the same ones."""

    _refs: dict[str, str] = field(default_factory=dict)
    _stamp: frozenset[FileStamp] | None = None

    def list_refs(self, place: RepositoryLocation, list_anew: Callable[[], dict[str, str]]) -> dict[str, str]:
        """Return the refs that were listed last, or what `list_anew` finds where they may have moved since."""
        stamp = read_stamp(place)  # before they are listed: what moves meanwhile is seen the next time
        if stamp is None or stamp != self._stamp:
            self._refs, self._stamp = list_anew(), stamp
        return self._refs


def read_stamp(place: RepositoryLocation) -> frozenset[FileStamp] | None:
    """Return what tells the present refs and configuration of a repository from others; None where there are too many
    files of refs, or some lie elsewhere, or they cannot be listed. Source: gitrepository-layout(5).
    """
    names = ("packed-refs", "config", "shallow", "reftable/tables.list")
    files = [place.git_dir / "HEAD", place.git_dir / "config.worktree", *(place.common_dir / name for name in names)]
    try:
        for directory in {place.common_dir / "refs", place.git_dir / "refs"}:
            for at, inside, below in os.walk(directory, onerror=_raise) if directory.is_dir() else ():
                files += (Path(at, name) for name in below)
                if len(files) > FILES_MAX or any(Path(at, name).is_symlink() for name in inside):
                    return None
    except OSError:
        return None
    return frozenset(list_stamps(files))


def _raise(error: OSError) -> None:
    raise error
