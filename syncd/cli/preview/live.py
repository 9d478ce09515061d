"""The preview as it is now: what was saved is read again, checked beside, and whoever looks at a page is told."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from posixpath import basename
from threading import Condition, Event, RLock, Thread
from typing import Any

from syncd.cli.preview.gather import SourceReader, list_watched_directories
from syncd.cli.preview.platform_changes import PlatformChanges, find_platform_changes
from syncd.errors import SyncdError
from syncd.layout.lint.check import check_space
from syncd.layout.lint.finding import Finding
from syncd.layout.lint.space import Page, SpaceFile
from syncd.layout.page.frontmatter import read_heading
from syncd.layout.tree.paths import ASSETS, is_markdown
from syncd.sync.publish.content import SiteContent, SpacePages
from syncd.watch import DirectoryWatcher

SpaceFindings = Mapping[str, Mapping[str, Sequence[Finding]]]
"""The findings of each space, by file."""


@dataclass(frozen=True)
class PreviewState:
    """What the preview knows at one time.

    Shape: `is_checked` says that `findings` are of all pages as they are now; `trouble` is why the newest files could
    not be read, "" when they were.
    """

    site: SiteContent
    version: int = 1
    findings: SpaceFindings = field(default_factory=dict)
    is_checked: bool = False
    platform: PlatformChanges = field(default_factory=PlatformChanges)
    trouble: str = ""

    def list_findings(self) -> dict[str, list[Finding]]:
        """Return what is wrong in each file, by its path below the top: that of the site file first."""
        found: dict[str, list[Finding]] = {}
        if (problem := self.site.problem) is not None:
            code, _, said = problem.reason.partition(" ")
            if not code.startswith("SY"):  # no finding but a failure to read: what SY001 is about
                code, said = "SY001", problem.reason
            found[problem.path] = [Finding(problem.path, problem.line or 1, problem.column, code, said, problem.hint)]
        for name, by_path in self.findings.items():
            for path, listed in by_path.items():
                found.setdefault(self.site.spaces[name].locate(path), []).extend(listed)
        return found


_ALL = ("", "")
"""Stands for every page of every space."""
_END_SECONDS = 2.0
_NEW_DIRECTORIES_MAX = 256
"""Directories without files that are watched since they were made; a tool may make thousands."""


class _Overtaken(Exception):  # no error: a check gives way to a newer one
    """A check is about files that have changed since."""


class LivePreview:
    """Holds the state, and follows what is saved; `report` gets each state whose pages are all checked."""

    def __init__(self, reader: SourceReader, report: Callable[[PreviewState], None]) -> None:
        self._reader, self._report = reader, report
        self._condition = Condition(RLock())
        self._state = PreviewState(reader.gather())
        self._known: dict[str, dict[str, Page]] = {}
        self._outdated: set[tuple[str, str]] = set()
        self._changed: set[str] = set()
        self._new_directories: list[Path] = []
        self._is_stopped = False
        self._has_changes, self._must_check = Event(), Event()
        self._watcher = DirectoryWatcher(self._note_changes)
        # Two threads: what was saved is shown at once, however long all pages take to be checked.
        self._threads = [
            Thread(target=self._run_thread, args=(self._follow_changes,), name="syncd-preview", daemon=True),
            Thread(target=self._run_thread, args=(self._check_again,), name="syncd-preview-check", daemon=True),
        ]

    def start(self) -> None:
        """Begin to follow changes, and to check all pages."""
        self._watcher.start(self._list_directories())
        self._must_check.set()
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Stop following changes."""
        self._is_stopped = True
        self._has_changes.set()
        self._must_check.set()
        self._watcher.stop()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(_END_SECONDS)

    def read_state(self) -> PreviewState:
        """Return what is known now."""
        return self._state

    def wait_for_change(self, seen: str, seconds: float) -> str:
        """Return the present version, as soon as it is not `seen`, or after so many seconds."""
        with self._condition:
            self._condition.wait_for(lambda: str(self._state.version) != seen, seconds)
            return str(self._state.version)

    def _note_changes(self, paths: frozenset[str]) -> None:
        with self._condition:
            self._changed |= paths
        self._has_changes.set()

    def _list_directories(self) -> list[Path]:
        watched = (*list_watched_directories(self._state.site), *self._reader.list_ref_directories())
        return [*watched, *self._new_directories]

    def _change_state(self, **changes: Any) -> None:
        with self._condition:
            self._state = replace(self._state, version=self._state.version + 1, **changes)
            self._condition.notify_all()

    def _run_thread(self, work: Callable[[], None]) -> None:
        """Do the work of a thread; a defect ends it, and every page says that nothing is followed any more."""
        try:
            work()
        except Exception:
            self._change_state(
                trouble="a defect inside syncd; its terminal has the traceback: start syncd preview again"
            )
            raise

    def _follow_changes(self) -> None:
        while not self._is_stopped:
            self._has_changes.wait()
            with self._condition:
                self._has_changes.clear()
                changed, self._changed = self._changed, set()
            if changed and not self._is_stopped:
                self._take_in(changed)
                self._must_check.set()

    def _check_again(self) -> None:
        while not self._is_stopped:
            self._must_check.wait()
            self._must_check.clear()
            if not self._is_stopped:
                self._check_pages()

    def _take_in(self, changed: set[str]) -> None:
        """Show what was saved, then what is wrong with it."""
        state = self._state
        edited = _find_edited_pages(state.site, changed)
        if edited is None:
            try:
                # Before files are listed: one that is put into a new directory later is a change of its own.
                self._watch_new_directories(changed)
                site = self._reader.gather()
            except (SyncdError, OSError) as error:
                self._change_state(trouble=error.what if isinstance(error, SyncdError) else str(error))
                return
            with self._condition:
                self._outdated.add(_ALL)
            self._change_state(site=site, is_checked=False, trouble="")
            self._watcher.follow(self._list_directories())
            return
        with self._condition:
            self._outdated.update((name, path) for name, files in edited.items() for path in files)
        findings = {
            name: {path: found for path, found in by_path.items() if path not in edited.get(name, ())}
            for name, by_path in state.findings.items()
        }
        self._change_state(site=state.site.renew_files(edited), findings=findings, is_checked=False)
        self._check_edited(edited)

    def _watch_new_directories(self, changed: Iterable[str]) -> None:
        """Watch directories that were made, which no list of files names. Raises: OSError at a limit of the system."""
        known = [path for path in self._new_directories if path.is_dir()]
        found = islice(_walk_directories(self._state.site, changed), _NEW_DIRECTORIES_MAX - len(known))
        self._new_directories = list(dict.fromkeys((*known, *found)))
        self._watcher.follow(self._list_directories())

    def _check_edited(self, edited: Mapping[str, Mapping[str, SpaceFile]]) -> None:
        """Check just the pages that were saved: all others take longer."""
        findings = {name: dict(by_path) for name, by_path in self._state.findings.items()}
        for name, files in edited.items():
            found = _check_files(self._state.site.spaces[name].files.items, {}, only=frozenset(files))
            findings.setdefault(name, {}).update(_group_findings(found or ()))
        if findings != self._state.findings:
            self._change_state(findings=findings)

    def _check_pages(self) -> None:
        """Check all pages, and compare them with the platform, unless something is saved meanwhile."""
        with self._condition:
            site, outdated, self._outdated = self._state.site, self._outdated, set()
        if _ALL in outdated:
            self._known.clear()
        for name, path in outdated:
            self._known.get(name, {}).pop(path, None)
        self._publish_platform(site)
        findings = {}
        for name, space in site.spaces.items():
            items = {
                path: replace(item, read=self._make_interruptible(site, item))
                for path, item in space.files.items.items()
            }
            found = _check_files(items, self._known.setdefault(name, {}))
            if found is None:
                return
            findings[name] = _group_findings(found)
        with self._condition:
            if self._state.site is not site:
                return
            self._change_state(findings=findings, is_checked=True)
        self._report(self._state)

    def _publish_platform(self, site: SiteContent) -> None:
        platform = find_platform_changes(site, self._reader.source.remote)
        if platform != self._state.platform:
            self._change_state(platform=platform)

    def _make_interruptible(self, site: SiteContent, item: SpaceFile) -> Callable[[], bytes]:
        def read_while_current() -> bytes:
            if self._is_stopped or self._state.site is not site:
                raise _Overtaken
            return item.read()

        return read_while_current


def _check_files(
    items: Mapping[str, SpaceFile], known: dict[str, Page], only: frozenset[str] | None = None
) -> list[Finding] | None:
    """The findings of a space; None when something was saved, or went, before all were found."""
    try:
        return check_space(items, only=only, known=known)
    except (_Overtaken, OSError, SyncdError):
        return None


def _group_findings(findings: Sequence[Finding]) -> dict[str, list[Finding]]:
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        found.setdefault(finding.path, []).append(finding)
    return found


def _find_edited_pages(site: SiteContent, changed: set[str]) -> dict[str, dict[str, SpaceFile]] | None:
    """The files of spaces whose content alone changed, as they are now; None when more than that may have changed."""
    found: dict[str, dict[str, SpaceFile]] = {}
    for word in changed:
        place = _find_space(site, word)
        if place is None:
            return None
        name, path = place
        space, item = site.spaces[name], site.spaces[name].files.items.get(path)
        try:
            size = (space.files.top / space.locate(path)).lstat().st_size
        except OSError:
            if item is None:
                continue  # an editor's own file, which came and went
            return None
        if item is None or not _is_only_content(space, path):
            return None
        found.setdefault(name, {})[path] = SpaceFile(size, item.read)
    return found


def _walk_directories(site: SiteContent, changed: Iterable[str]) -> Iterator[Path]:
    """The directories of spaces among what changed, with those in them; no symbolic link is followed."""
    for word in changed:
        if _find_space(site, word) is not None and not Path(word).is_symlink():
            yield from (Path(directory) for directory, _, _ in os.walk(word))


def _is_only_content(space: SpacePages, path: str) -> bool:
    """Whether a file says nothing about the structure of its space."""
    if path.startswith(space.draft.settings.add_root(ASSETS)):
        return True
    if not is_markdown(path) or basename(path) == basename(space.draft.settings.summary):
        return False
    return not space.draft.is_inferred or _has_same_title(space, path)


def _has_same_title(space: SpacePages, path: str) -> bool:
    text = space.files.items[path].read().decode(errors="replace")
    title = space.titles.get(path)
    return title is not None and title == (read_heading(text) or title)


def _find_space(site: SiteContent, word: str) -> tuple[str, str] | None:
    """The space that a path of the disk lies in, and its path there."""
    for name, space in site.spaces.items():
        home = f"{space.files.top / space.files.directory}/"
        if word.startswith(home):
            return name, word[len(home) :]
    return None
