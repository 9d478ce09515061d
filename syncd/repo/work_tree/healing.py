"""Survey the files on disk before a move of the work tree: those that are up to date, and those in the way.

A move that was killed has updated some files and not others. A file that has the content of the later tree needs no
update, whoever wrote it; its index entry is set to that content. A file that a killed move wrote only in part holds a
beginning of that content: nothing is lost with it. Any other file that differs from the index is a person's edit.
When a move is undone, a file that the move has written gets the index entry of that content, so that git takes it back
to what the branch has.

`git read-tree` is not asked about files that the later tree adds: it would overwrite those that .gitignore names.
"""

import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum

from syncd.files import read_file, remove_file
from syncd.repo.failures import translate_system_failures
from syncd.repo.names import quote_path
from syncd.repo.process.git import Git
from syncd.repo.read.objects import Reader
from syncd.repo.values import SYMBOLIC_LINK, Blob, Difference
from syncd.repo.work_tree.index import find_overlooked

_REMOVED = "0"
"""The mode by which `update-index --index-info` removes an entry."""


class MoveStage(Enum):
    """How files on disk are read: as a person left them, or as a killed move did that is now finished or undone."""

    FRESH = "fresh"
    ONWARDS = "onwards"
    BACK = "back"


@dataclass
class FileSurvey:
    """The paths that a move changes; `settled` need only an index entry, and `obstacles` are in the way."""

    paths: set[str]
    settled: dict[str, Blob] = field(default_factory=dict)
    obstacles: set[str] = field(default_factory=set)

    def format_index_lines(self) -> bytes:
        """Return the settled entries as `update-index --index-info` reads them, removals first."""
        entries = sorted(self.settled.items(), key=lambda entry: entry[1].mode != _REMOVED)
        lines = "".join(f"{blob.mode} {blob.oid}\t{path}\0" for path, blob in entries)
        return lines.encode("utf-8", "surrogateescape")


def survey_files(
    git: Git, reader: Reader, changes: Iterable[Difference], environment: Mapping[str, str], *, way: MoveStage
) -> FileSurvey:
    """Return what is on disk at each path that differs between two trees.

    Shape: after a killed move, files that it wrote only in part are removed.
    """
    wanted = [change for change in changes if not change.is_submodule]
    disk = _Disk(git, reader)
    with translate_system_failures("reading the work tree"):
        settled = disk.find_settled(wanted, way)
        gone = {change.path for change in wanted if change.after is None}
        added = [change.path for change in wanted if change.before is None and settled.get(change.path) != change.after]
        blocked = {found for path in added if (found := disk.find_obstacle(path, gone))}
        missing = disk.find_missing(wanted) if way is MoveStage.FRESH else set[str]()
    if missing:  # of which a sparse checkout knows
        blocked |= missing - {path for path, option in find_overlooked(git, missing).items() if option}
    paths = {change.path for change in wanted}
    return FileSurvey(paths, _drop_staged(git, wanted, settled, environment) if settled else {}, blocked)


def _drop_staged(
    git: Git, wanted: list[Difference], settled: dict[str, Blob], environment: Mapping[str, str]
) -> dict[str, Blob]:
    """Leave out the paths for which the index holds neither side: a person has staged that."""
    staged: dict[str, list[Blob]] = {}
    listed = git.run("ls-files", "-s", "-z", extra=environment).decode("utf-8", "surrogateescape")
    for record in listed.split("\0")[:-1]:
        facts, path = record.split("\t", 1)
        mode, oid, _ = facts.split(" ")
        if path in settled:
            staged.setdefault(path, []).append(Blob(oid, mode))
    sides = {change.path: [[side] if side else [] for side in (change.before, change.after)] for change in wanted}
    return {path: entry for path, entry in settled.items() if staged.get(path, []) in sides[path]}


class _Disk:
    """The work tree as it is, read without following symbolic links."""

    def __init__(self, git: Git, reader: Reader) -> None:
        assert git.location.work_tree is not None
        self._git, self._reader, self._top = git, reader, git.location.work_tree
        self._directories: dict[str, str | None] = {"": None}

    def find_settled(self, wanted: list[Difference], way: MoveStage) -> dict[str, Blob]:
        """Which paths need an index entry of their own, and which; partly written files are removed."""
        found: dict[str, Blob] = {}
        there = self._read_entries([change.path for change in wanted])
        for change in wanted:
            here = there.get(change.path)
            if _is_same(here, change.after, change):
                found[change.path] = build_entry(change.after, change)
                continue
            is_partial = way is not MoveStage.FRESH and here is not None and self._is_partly_written(change, here, way)
            if is_partial:
                remove_file(self._top, change.path)
            if way is MoveStage.BACK and (is_partial or here is None or _is_same(here, change.before, change)):
                found[change.path] = build_entry(change.before, change)
        return found

    def find_missing(self, wanted: list[Difference]) -> set[str]:
        """The files that a person has deleted, or moved elsewhere, and that others have edited or moved.

        Git would write them anew, and what the person commits next would take out what the others wrote.
        """
        kept = {change.after for change in wanted if change.after is not None}
        changed = [
            one.path for one in wanted if one.before is not None and (one.after is not None or one.before in kept)
        ]
        return {path for path in changed if self._read_status(path) is None}

    def _read_entries(self, paths: list[str]) -> dict[str, Blob]:
        """What git would hold for each path; nothing for what is absent or a directory."""
        found: dict[str, Blob] = {}
        files: dict[str, str] = {}
        for path in paths:
            status = self._read_status(path)
            if status is None or stat.S_ISDIR(status.st_mode):
                continue
            if stat.S_ISREG(status.st_mode):
                files[path] = "100755" if status.st_mode & stat.S_IXUSR else "100644"
            elif stat.S_ISLNK(status.st_mode):
                found[path] = Blob(self._hash_link(path), SYMBOLIC_LINK)
            else:
                found[path] = Blob("", "")
        for (path, mode), oid in zip(files.items(), self._compute_hashes(list(files)), strict=True):
            found[path] = Blob(oid, mode)
        return found

    def find_obstacle(self, path: str, gone: set[str]) -> str | None:
        """Return the path that stands where a file is to be added and that the move does not remove, or None."""
        blocker = self._find_blocker(os.path.dirname(path))
        if blocker is not None:
            return None if blocker in gone else blocker
        status = self._read_status(path)
        if status is None:
            return None
        if stat.S_ISDIR(status.st_mode):
            return self._find_kept_below(path, gone)
        # On a disk that folds case, the file may be the one that a rename takes away.
        twin = next((other for other in gone if other.casefold() == path.casefold()), None)
        return None if twin is not None and (self._top / twin).exists() and self._is_same_file(path, twin) else path

    def _is_same_file(self, path: str, twin: str) -> bool:
        return os.path.samestat(os.lstat(self._top / path), os.lstat(self._top / twin))

    def _find_kept_below(self, path: str, gone: set[str]) -> str | None:
        for directory, _, names in os.walk(self._top / path):
            for name in names:
                inner = os.path.relpath(os.path.join(directory, name), self._top)
                if inner not in gone:
                    return inner
        return None

    def _read_status(self, path: str) -> os.stat_result | None:
        """What is at a path, when all above it are directories."""
        if self._find_blocker(os.path.dirname(path)) is not None:
            return None
        with suppress(FileNotFoundError, NotADirectoryError):
            return os.lstat(self._top / path)
        return None

    def _find_blocker(self, directory: str) -> str | None:
        """The first of a directory and those above it that exists and is no directory."""
        if directory in self._directories:
            return self._directories[directory]
        found, here = None, ""
        for part in directory.split("/"):
            here = f"{here}/{part}" if here else part
            if here not in self._directories:
                self._directories[here] = found or (here if self._is_no_directory(here) else None)
            found = self._directories[here]
        return found

    def _is_no_directory(self, path: str) -> bool:
        with suppress(FileNotFoundError, NotADirectoryError):
            return not stat.S_ISDIR(os.lstat(self._top / path).st_mode)
        return False

    def _compute_hashes(self, paths: list[str]) -> list[str]:
        """The blob ids that files would have in Git, line ends converted as the repository says."""
        if not paths:
            return []
        data = b"".join(quote_path(path) + b"\n" for path in paths)
        return self._git.run("hash-object", "--stdin-paths", data=data).decode().split()

    def _hash_link(self, path: str) -> str:
        """The blob id of a symbolic link."""
        target = os.fsencode(os.readlink(self._top / path))
        return self._git.run("hash-object", "--stdin", data=target).decode().strip()

    def _is_partly_written(self, change: Difference, here: Blob, way: MoveStage) -> bool:
        """Whether a file is a proper beginning of what the move was writing, and not the file that it found."""
        if not here.mode.startswith("100") or _is_same(here, change.before, change):
            return False
        data = _normalise_line_ends(read_file(self._top, change.path))
        sides = (change.after, change.before) if way is MoveStage.BACK else (change.after,)
        texts = [self._reader.read_object(side.oid, "blob") for side in sides if side and side.mode != SYMBOLIC_LINK]
        wholes = map(_normalise_line_ends, texts)
        return any(len(data) < len(whole) and whole.startswith(data) for whole in wholes)


def _normalise_line_ends(data: bytes) -> bytes:
    r"""A content without what git may have made of its line ends; `\r` at the end may be half of one."""
    return data.replace(b"\r\n", b"\n").removesuffix(b"\r")


def _is_same(here: Blob | None, side: Blob | None, change: Difference) -> bool:
    """Whether the disk holds one side; whoever wrote a changed content has set its mode too, as far as the disk can."""
    if here is None or side is None:
        return here is side
    same_content = change.before is not None and change.after is not None and change.before.oid == change.after.oid
    same_kind = (here.mode == SYMBOLIC_LINK) == (side.mode == SYMBOLIC_LINK)
    return here.oid == side.oid and same_kind and (here.mode == side.mode or not same_content)


def build_entry(side: Blob | None, change: Difference) -> Blob:
    """Return the entry that the index needs for one side of a difference; the one for an absent side removes the
    path.
    """
    other = change.before or change.after
    return side or Blob("0" * len(other.oid if other else ""), _REMOVED)
