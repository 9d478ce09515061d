"""What of a preview is on the platform already: the pages that differ from `platform/main`, by Git alone."""

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from syncd.errors import GitFailed, NotARepository, PathRefused
from syncd.files import read_file
from syncd.layout.tree.paths import is_markdown
from syncd.model.blob_id import compute_blob_id
from syncd.repo.repository import Repository
from syncd.sync.publish.content import SiteContent

Difference = Literal["new", "changed", "gone"]


@dataclass(frozen=True)
class PlatformChanges:
    """How what is shown differs from main content of the platform, by path from the top.

    Shape: `ref` is "" where Git knows of no platform.
    """

    ref: str = ""
    pages: dict[str, Difference] = field(default_factory=dict)


def find_platform_changes(site: SiteContent, remote: str) -> PlatformChanges:
    """Return the pages that differ from main content of the platform, as Git has it under a remote's name; no network
    is used.
    """
    try:
        with Repository.open(site.top) as git:
            main = git.resolve(f"refs/remotes/{remote}/main")
            if main is None:
                return PlatformChanges()
            ref = f"{remote}/main"
            head = site.commit or git.resolve("HEAD")
            paths = {one.path for one in git.compare_trees(main, head)} if head else set()
            if site.commit:
                return PlatformChanges(ref, _compare_commits(git, site, main, paths))
            paths.update(git.list_uncommitted())
            return PlatformChanges(ref, _compare_disk(git, site, main, paths))
    except (NotARepository, GitFailed):
        return PlatformChanges()


def _compare_commits(git: Repository, site: SiteContent, main: str, paths: set[str]) -> dict[str, Difference]:
    before, now = git.list_files(main), git.list_files(site.commit)
    return {path: _name_difference(path in before, path in now) for path in sorted(_select_pages(site, paths))}


def _compare_disk(git: Repository, site: SiteContent, main: str, paths: set[str]) -> dict[str, Difference]:
    before = git.list_files(main)
    found: dict[str, Difference] = {}
    for path in sorted(_select_pages(site, paths)):
        data = _read_if_present(site.top, path)
        former = before.get(path)
        if data is None and former is None:
            continue
        if data is not None and former is not None and compute_blob_id(data) == former.oid:
            continue
        found[path] = _name_difference(former is not None, data is not None)
    return found


def _name_difference(was_there: bool, is_there: bool) -> Difference:
    if not was_there:
        return "new"
    return "changed" if is_there else "gone"


def _select_pages(site: SiteContent, paths: set[str]) -> set[str]:
    """The paths that are Markdown in a space of the preview."""
    prefixes = [space.locate("") for space in site.spaces.values()]
    return {path for path in paths if is_markdown(path) and any(path.startswith(prefix) for prefix in prefixes)}


def _read_if_present(top: Path, path: str) -> bytes | None:
    with suppress(OSError, PathRefused):
        return read_file(top, path)
    return None
