"""List and compare trees: from what was read of them, or, when much has to be read, by one plumbing command.

Of two trees that follow each other most directories are the same; the others are a few reads in a conversation that
goes on anyway, where a process takes as long as fifty of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from syncd.errors import GitFailed, PathRefused
from syncd.repo.git import Git
from syncd.repo.names import check_oid, is_plain
from syncd.repo.objects import DIRECTORY, LINK, Reader
from syncd.repo.values import Blob, FileChange, Status

READS_MAX = 50
"""Trees that one question reads by itself."""
DEPTH_MAX = 200
"""Directories in each other that are walked here."""
_ABSENT = "000000"

Listing = Mapping[bytes, Blob]


class Unread(Exception):
    """More would have to be read than a process costs, or only Git can judge it."""


class TreeWalk:
    """One question about trees, answered from what is remembered and from a few reads."""

    def __init__(self, reader: Reader) -> None:
        self._reader, self._left = reader, READS_MAX

    def root(self, oid: str) -> str:
        """Given a commit or tree, return its tree's id. Raises: Unread when there is none."""
        found = self._reader.tree_of(oid)
        if found is None:
            raise Unread
        return found

    def entries(self, oid: str) -> Listing:
        """Given a tree's id, return its entries by name. Raises: Unread."""
        if not self._reader.knows_tree(oid):
            self._left -= 1
            if self._left < 0:
                raise Unread
        try:
            found = self._reader.entries(oid)
        except GitFailed:
            raise Unread from None
        if found is None:
            raise Unread
        return found

    def find(self, root: str, path: str) -> Blob | None:
        """Given a tree and a path in it, return what is there; None for nothing. Raises: Unread."""
        found: Blob | None = Blob(root, DIRECTORY)
        for name in path.encode("utf-8", "surrogateescape").split(b"/") if path else ():
            found = self.entries(found.oid).get(name) if found is not None and found.mode == DIRECTORY else None
        return found

    def files(self, root: str, lead: bytes = b"") -> Iterator[tuple[bytes, Blob]]:
        """Given a tree, yield all below it but directories, by path, in Git's order. Raises: Unread."""
        _check_depth(lead)
        for name, entry in self.entries(root).items():
            if entry.mode == DIRECTORY:
                yield from self.files(entry.oid, lead + name + b"/")
            else:
                yield lead + name, entry

    def changes(self, before: str | None, after: str | None, lead: bytes = b"") -> Iterator["Difference"]:
        """Given two trees (None: empty), yield what differs, in Git's order. Raises: Unread."""
        if before == after:
            return
        _check_depth(lead)
        was, now = (self.entries(side) if side is not None else {} for side in (before, after))
        sides = {(name, entry.mode == DIRECTORY) for found in (was, now) for name, entry in found.items()}
        for name, is_directory in sorted(sides, key=lambda side: side[0] + b"/" * side[1]):
            old, new = (_as_kind(found.get(name), is_directory) for found in (was, now))
            if is_directory:
                yield from self.changes(old.oid if old else None, new.oid if new else None, lead + name + b"/")
            elif old != new:
                status: Status = "A" if old is None else "D" if new is None else "M"
                yield Difference(status, _text(lead + name), None, old, new)


def _check_depth(lead: bytes) -> None:
    if lead.count(b"/") > DEPTH_MAX:
        raise Unread


def _as_kind(entry: Blob | None, is_directory: bool) -> Blob | None:
    return entry if entry is not None and (entry.mode == DIRECTORY) == is_directory else None


def inside(directory: str) -> list[str]:
    """Given a directory of a repository ("" is the root), return the pathspec of everything below it."""
    if directory and not is_plain(directory):
        raise PathRefused(f"{directory[:200]!r} is no directory of a repository")
    return [f"{directory}/"] if directory else []


def tree(git: Git, reader: Reader, commit: str, directory: str) -> dict[str, Blob]:
    """Given a commit, return its files below a directory by their path there; submodules are left out."""
    pathspec = inside(directory)
    try:
        found = TreeWalk(reader).find(TreeWalk(reader).root(check_oid(commit)), directory)
    except Unread:
        listed = _listed(git.run("ls-tree", "-r", "-z", "--full-tree", "--", check_oid(commit), *pathspec))
        return {_text(path)[len("".join(pathspec)) :]: entry for path, entry in listed if entry.mode != LINK}
    if found is None or found.mode != DIRECTORY:
        return {}
    try:
        files = list(TreeWalk(reader).files(found.oid))
    except Unread:
        files = _read_at_once(git, reader, found.oid)
    return {_text(path): entry for path, entry in files if entry.mode != LINK}


def _read_at_once(git: Git, reader: Reader, root: str) -> list[tuple[bytes, Blob]]:
    """All below a tree but directories, by one command, which tells each tree below it for the questions to come."""
    listed = _listed(git.run("ls-tree", "-r", "-t", "-z", "--full-tree", "--", root))
    entries: dict[bytes, dict[bytes, Blob]] = {b"": {}, **{path: {} for path, one in listed if one.mode == DIRECTORY}}
    for path, entry in listed:
        above, _, name = path.rpartition(b"/")
        if above not in entries or name in entries[above]:
            break  # no tree that Git would write: nothing of it is remembered
        entries[above][name] = entry
    else:
        for path, oid in [(b"", root), *((path, one.oid) for path, one in listed if one.mode == DIRECTORY)]:
            reader.remember_entries(oid, entries[path])
    return [(path, entry) for path, entry in listed if entry.mode != DIRECTORY]


def _listed(output: bytes) -> list[tuple[bytes, Blob]]:
    """What git ls-tree says, by path."""
    found = []
    for record in output.split(b"\0")[:-1]:
        facts, path = record.split(b"\t", 1)
        mode, _, oid = facts.decode().split(" ")
        found.append((path, Blob(oid, mode)))
    return found


def diff(git: Git, reader: Reader, before: str, after: str, directory: str, *, renames: bool) -> list[FileChange]:
    """Given two commits or trees, return the files that differ below a directory, by their path there.

    Shape: submodules are left out; a change of type is "M"; a rename needs half of the content in common.
    """
    skipped = len(directory) + 1 if directory else 0
    found = []
    for difference in differences(git, reader, before, after, inside(directory), renames=renames):
        shown = difference.after or difference.before
        if shown is not None and not difference.is_link:
            old = difference.old_path and difference.old_path[skipped:]
            found.append(FileChange(difference.status, difference.path[skipped:], old, shown.oid, shown.mode))
    return found


@dataclass(frozen=True, slots=True)
class Difference:
    """One path that differs between two trees, from the root, with what each of them has there."""

    status: Status
    path: str
    old_path: str | None
    before: Blob | None
    after: Blob | None

    @property
    def is_link(self) -> bool:
        """Whether a submodule is on either side."""
        return any(side is not None and side.mode == LINK for side in (self.before, self.after))


def differences(
    git: Git, reader: Reader, before: str, after: str, pathspec: Sequence[str] = (), *, renames: bool = False
) -> list[Difference]:
    """Given two commits or trees, return each path that differs, in Git's order."""
    walk = TreeWalk(reader)
    try:
        found = list(walk.changes(walk.root(check_oid(before)), walk.root(check_oid(after))))
    except Unread:
        return list(_compared(git, before, after, pathspec, renames=renames))
    wanted = [one for one in found if _is_within(one, pathspec)] if pathspec else found
    # A rename is a path that is gone and a path that is new; which belong together is for Git.
    if renames and {"A", "D"} <= {one.status for one in wanted}:
        return list(_compared(git, before, after, pathspec, renames=True))
    return wanted


def _is_within(difference: Difference, pathspec: Sequence[str]) -> bool:
    """Whether a path is one of those that are asked for, or below one."""
    path = f"{difference.path}/" if difference.is_link else difference.path
    return any(difference.path == spec or path.startswith(f"{spec.rstrip('/')}/") for spec in pathspec)


def _compared(git: Git, before: str, after: str, pathspec: Sequence[str], *, renames: bool) -> Iterator[Difference]:
    """As `differences`, by one command. Source: git-diff-tree(1), raw output format."""
    options = ["-r", "-z", "--no-ext-diff", "-M" if renames else "--no-renames"]
    records = _records(git.run("diff-tree", *options, check_oid(before), check_oid(after), "--", *pathspec))
    for facts in records:
        old_mode, new_mode, old_oid, new_oid, status = facts.removeprefix(":").split(" ")
        path, old_path = next(records), None
        if status.startswith("R"):
            old_path, path = path, next(records)
        letter = cast(Status, "M" if status == "T" else status[0])
        yield Difference(letter, path, old_path, _side(old_mode, old_oid), _side(new_mode, new_oid))


def _side(mode: str, oid: str) -> Blob | None:
    return None if mode == _ABSENT else Blob(oid, mode)


def _records(output: bytes) -> Iterator[str]:
    return iter(output.decode("utf-8", "surrogateescape").split("\0")[:-1])


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")
