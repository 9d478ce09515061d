"""Read a valid site with the pages of its mirrored spaces, on disk or at a commit."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import typer

from syncd.cli.sites.offline import SiteFileLocation
from syncd.errors import ConfigInvalid, GitFailed, NotARepository
from syncd.layout.site.addresses.addresses import SiteMap
from syncd.layout.site.addresses.graph import Host
from syncd.repo.repository import Repository
from syncd.sync.site.read.mirrored_pages import find_renamed_pages, read_committed_pages, read_pages_on_disk
from syncd.sync.site.read.site_file import read_at_commit, read_source


@dataclass(frozen=True)
class SiteVersions:
    """A site at a ref and as it is on disk, and which pages were renamed in between."""

    before: SiteMap
    after: SiteMap
    renamed: dict[tuple[str, str], str]


def read_site_on_disk(location: SiteFileLocation, hosts: Sequence[Host] = ()) -> SiteMap:
    """Return the site of a site file on disk.

    Raises: FileInvalid with the first mistake; ConfigInvalid when there is no such file.
    """
    file, _ = read_source(location.read_texts())
    with ExitStack() as stack:
        repository = _open_repository(location, stack)
        pages = read_pages_on_disk(repository, location.top, location.bindings) if repository is not None else {}
    return SiteMap(file, pages, tuple(hosts) or file.hosts)


def read_site_versions(location: SiteFileLocation, ref: str, hosts: Sequence[Host] = ()) -> SiteVersions:
    """Return the site of a site file at a ref and on disk.

    Raises: as `read_site_on_disk`; ConfigInvalid when the ref does not exist, or has no such file.
    """
    after = read_site_on_disk(location, hosts)
    with Repository.open(location.top) as repository:
        commit = repository.find_revision(ref)
        if commit is None:
            raise ConfigInvalid(f"there is no commit {ref} in {location.top}", hint="name a branch, a tag or a commit")
        missing = ConfigInvalid(f"there is no {location.path} at {ref}", hint="name a commit that has it")
        file, _ = read_source(read_at_commit(repository, commit, location.path, missing))
        head = repository.find_revision("HEAD")
        known = find_renamed_pages(repository, commit, head, location.bindings) if head is not None else {}
        before = SiteMap(file, read_committed_pages(repository, commit, location.bindings), tuple(hosts) or file.hosts)
    return SiteVersions(before, after, known)


def parse_hosts(words: Sequence[str]) -> tuple[Host, ...]:
    """Return addresses such as `https://docs.example.org/guides` as host and base path.

    Raises: BadParameter for anything else.
    """
    found = []
    for word in words:
        parts: Any = urlsplit(word if "//" in word else f"//{word}")
        if not parts.netloc:
            raise typer.BadParameter(f"--at {word}: write an address such as https://docs.example.org/guides")
        found.append((parts.netloc.lower(), parts.path.rstrip("/")))
    return tuple(found)


def _open_repository(location: SiteFileLocation, stack: ExitStack) -> Repository | None:
    try:
        return stack.enter_context(Repository.open(location.top))
    except (NotARepository, GitFailed):
        return None
