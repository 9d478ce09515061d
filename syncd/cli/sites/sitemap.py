"""The site of a site file as the commands see it: valid, with the pages of the mirrored spaces, on disk or at a ref."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import typer

from syncd.cli.sites.offline import Place
from syncd.errors import ConfigInvalid, GitFailed, NotARepository
from syncd.layout.site.addresses.addresses import SiteMap
from syncd.layout.site.addresses.graph import Host
from syncd.repo import Repository
from syncd.sync.site.read.mirrored_pages import pages_at, pages_on_disk, renamed
from syncd.sync.site.read.site_file import at_commit, read_source


@dataclass(frozen=True)
class Sides:
    """A site at a ref and as it is on disk, and which pages were renamed in between."""

    before: SiteMap
    after: SiteMap
    renamed: dict[tuple[str, str], str]


def on_disk(place: Place, hosts: Sequence[Host] = ()) -> SiteMap:
    """Given where a site file is, return its site as it is on disk.

    Raises: FileInvalid with the first mistake; ConfigInvalid when there is no such file.
    """
    file, _ = read_source(place.source())
    with ExitStack() as held:
        repository = _opened(place, held)
        pages = pages_on_disk(repository, place.top, place.bindings) if repository is not None else {}
    return SiteMap(file, pages, tuple(hosts) or file.hosts)


def both(place: Place, ref: str, hosts: Sequence[Host] = ()) -> Sides:
    """Given where a site file is and a ref, return the site there and on disk.

    Raises: as `on_disk`; ConfigInvalid when the ref does not exist, or has no such file.
    """
    after = on_disk(place, hosts)
    with Repository.open(place.top) as repository:
        commit = repository.find_revision(ref)
        if commit is None:
            raise ConfigInvalid(f"there is no commit {ref} in {place.top}", hint="name a branch, a tag or a commit")
        missing = ConfigInvalid(f"there is no {place.path} at {ref}", hint="name a commit that has it")
        file, _ = read_source(at_commit(repository, commit, place.path, missing))
        head = repository.find_revision("HEAD")
        known = renamed(repository, commit, head, place.bindings) if head is not None else {}
        before = SiteMap(file, pages_at(repository, commit, place.bindings), tuple(hosts) or file.hosts)
    return Sides(before, after, known)


def hosts_of(words: Sequence[str]) -> tuple[Host, ...]:
    """Given addresses such as `https://docs.example.org/guides`, return each as host and base path.

    Raises: BadParameter for what is none.
    """
    found = []
    for word in words:
        parts: Any = urlsplit(word if "//" in word else f"//{word}")
        if not parts.netloc:
            raise typer.BadParameter(f"--at {word}: write an address such as https://docs.example.org/guides")
        found.append((parts.netloc.lower(), parts.path.rstrip("/")))
    return tuple(found)


def _opened(place: Place, held: ExitStack) -> Repository | None:
    try:
        return held.enter_context(Repository.open(place.top))
    except (NotARepository, GitFailed):
        return None
