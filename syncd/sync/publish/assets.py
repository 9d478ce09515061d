"""The files that pages of a site link to, each under a name that says what is in it; and what was read for what."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from posixpath import basename, splitext
from urllib.parse import quote

from syncd.errors import PathRefused
from syncd.layout.lint.space import SpaceFile
from syncd.layout.tree.paths import slugify
from syncd.repo.repository import Repository
from syncd.sync.publish.content import FILES, SiteContent

_DIGEST_CHARACTERS = 12
_ENDING_MAX = 16
_PROGRAMS = frozenset({".html", ".htm", ".xhtml", ".xht", ".shtml", ".xml", ".xsl", ".mhtml", ".js", ".mjs", ".php"})
"""Endings of files that a browser or server would run in the name of the site; they are shown as text."""

Place = tuple[str, str]
"""A file of a space: the name of the space, and the path in it."""


def compute_digest(data: bytes) -> str:
    """Return the digest by which contents are compared."""
    return hashlib.blake2b(data, digest_size=20).hexdigest()


@dataclass
class ReadNotes:
    """What was read, and which files were linked to, since these notes were last taken away."""

    read: dict[Place, None] = field(default_factory=dict)
    linked: dict[Place, None] = field(default_factory=dict)
    process: int = field(default_factory=os.getpid)

    def take(self) -> tuple[list[Place], list[Place]]:
        """Return the notes, and begin new ones."""
        taken = list(self.read), list(self.linked)
        self.read.clear()
        self.linked.clear()
        return taken


@dataclass(frozen=True)
class StaticContent(SiteContent):
    """A site whose files get names by what is in them, and which notes what is read for a page.

    Shape: `digests` remembers digests of files.
    """

    notes: ReadNotes = field(default_factory=ReadNotes)
    digests: dict[Place, str] = field(default_factory=dict)

    def find_digest(self, name: str, path: str) -> str:
        """Return the digest of a file; "" for one that cannot be read."""
        place = (name, path)
        if place not in self.digests:
            item, was_read = self.spaces[name].files.items.get(path), place in self.notes.read
            try:
                self.digests[place] = item.digest or compute_digest(item.read()) if item is not None else ""
            except (OSError, PathRefused):
                self.digests[place] = ""
            if not was_read:  # a digest is not what a page is made of
                self.notes.read.pop(place, None)
        return self.digests[place]

    def make_file_address(self, name: str, path: str) -> str:
        """Return the address of a file of a space, and note that it is linked to."""
        self.notes.linked[(name, path)] = None
        return f"{FILES}/files/{quote(self.make_file_name(name, path))}"

    def make_file_name(self, name: str, path: str) -> str:
        """Return the name of a file in the static site: equal for equal contents, and never that of a program."""
        stem, ending = splitext(basename(path).lower())
        ending = ending if ending[1:].isascii() and ending[1:].isalnum() and len(ending) <= _ENDING_MAX else ""
        if ending in _PROGRAMS:
            ending += ".txt"
        return f"{slugify(stem)[:80]}.{self.find_digest(name, path)[:_DIGEST_CHARACTERS]}{ending}"


def make_static(site: SiteContent) -> StaticContent:
    """Return a site for building, in which every file that is read is noted."""
    notes = ReadNotes()
    spaces = {}
    for name, space in site.spaces.items():
        items: Mapping[str, SpaceFile] = {
            path: replace(item, read=partial(_read_noted, notes, (name, path), item, site.top))
            for path, item in space.files.items.items()
        }
        spaces[name] = replace(space, files=replace(space.files, items=items))
    return StaticContent(
        site.top,
        site.site,
        spaces,
        site.title,
        site.problem,
        site.site_path,
        site.commit,
        site.has_hidden,
        site.withheld,
        notes=notes,
    )


def _read_noted(notes: ReadNotes, place: Place, item: SpaceFile, top: Path) -> bytes:
    notes.read[place] = None
    if item.digest and os.getpid() != notes.process:
        # A Git process belongs to the process that started it.
        return _open_repository(top, os.getpid()).read(item.digest)
    return item.read()


@cache
def _open_repository(top: Path, process: int) -> Repository:
    return Repository.open(top)
