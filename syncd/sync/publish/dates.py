"""When the pages of a site last changed in Git, for its sitemap; only commits since the last build are read."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from syncd.errors import NotARepository
from syncd.repo.process.location import discover_repository
from syncd.repo.repository import Repository
from syncd.sync.publish.assets import Place
from syncd.sync.publish.content import SiteContent


@dataclass(frozen=True)
class PageTimes:
    """When pages last changed in a commit or before it, by their path in the repository.

    Shape: `commit` is "" where nothing is known. Units: seconds since 1970.
    """

    commit: str = ""
    times: Mapping[str, int] = field(default_factory=dict)

    def format_date(self, path: str) -> str:
        """Return when a page last changed, in the form of ISO 8601; "" where that is not known."""
        when = self.times.get(path)
        try:
            return datetime.fromtimestamp(when, UTC).isoformat() if when is not None else ""
        except (ValueError, OverflowError, OSError):  # a commit may say any number
            return ""


def parse_page_times(document: Any) -> PageTimes:
    """Return what a manifest says of times; nothing for what is none."""
    with suppress(KeyError, TypeError, ValueError, AttributeError):
        return PageTimes(str(document["commit"]), {str(path): int(when) for path, when in document["times"].items()})
    return PageTimes()


def find_page_times(
    site: SiteContent, places: Collection[Place], before: PageTimes
) -> tuple[PageTimes, dict[Place, str]]:
    """Return when the files of pages last changed, and the same as dates, by page.

    Shape: `before` is what an earlier build found. A file that differs from the last commit, or is in none, has no
    time; nor has, in a shallow clone, one that did not change since the clone was cut.
    Raises: GitFailed.
    """
    top = _find_top(site.top)
    if top is None:
        return PageTimes(), {}
    paths = {place: path for place in places if (path := _locate(site, place, top))}
    try:
        with Repository.open(top) as repository:
            found = _find_times(repository, site.commit, set(paths.values()), before)
    except NotARepository:  # it is somebody else's
        return PageTimes(), {}
    dates = {place: found.format_date(path) for place, path in paths.items()}
    return found, {place: date for place, date in dates.items() if date}


def _find_times(repository: Repository, commit: str, paths: set[str], before: PageTimes) -> PageTimes:
    shown = commit or repository.read_head().oid
    if shown is None:
        return PageTimes()
    wanted = paths & repository.list_files(shown).keys()
    if not commit:
        wanted -= set(repository.list_uncommitted())
    later = repository.find_change_times(shown, wanted, since=before.commit) if before.commit else None
    if later is None or not wanted <= {*later, *before.times}:
        later, before = repository.find_change_times(shown, wanted, since=None) or {}, PageTimes()
    times = {path: when for path in sorted(wanted) if (when := later.get(path, before.times.get(path))) is not None}
    return PageTimes(shown, times)


def _find_top(directory: Path) -> Path | None:
    """The repository that a directory is in; None outside of Git."""
    try:
        place = discover_repository(directory)
    except NotARepository:  # a link that leads to none
        return None
    return (place.work_tree or place.git_dir) if place is not None else None


def _locate(site: SiteContent, place: Place, top: Path) -> str:
    """The path of a file of a space in its repository; "" for one that lies in another."""
    name, file = place
    space, home = site.spaces[name], site.top.resolve()
    if space.files.top != site.top:
        return ""
    return (home / space.locate(file)).relative_to(top).as_posix() if home.is_relative_to(top) else space.locate(file)
