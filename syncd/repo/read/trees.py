"""List and compare trees by reading a few of them, or, when many have to be read, by one plumbing command.

Two trees of neighbouring commits share most directories. Reading the others through the open cat-file is cheaper than
a process, which takes as long as fifty reads.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import cast

from syncd.errors import GitFailed, PathRefused
from syncd.repo.names import check_oid, is_plain
from syncd.repo.process.git import Git
from syncd.repo.read.objects import Reader
from syncd.repo.values import DIRECTORY, SUBMODULE, SYMBOLIC_LINK, Blob, Difference, FileChange, NeedsGit, Status

READS_MAX = 50
"""Trees that are read for one question."""
DEPTH_MAX = 200
"""Levels of directories that are walked without a process."""
_ABSENT = "000000"

Listing = Mapping[bytes, Blob]


class TreeWalk:
    """One question about trees, answered from memory and a few reads."""

    def __init__(self, reader: Reader) -> None:
        self._reader, self._left = reader, READS_MAX

    def find_root(self, oid: str) -> str:
        """Return the id of a commit's tree, or of the tree itself. Raises: NeedsGit when there is none."""
        found = self._reader.find_tree(oid)
        if found is None:
            raise NeedsGit
        return found

    def read_entries(self, oid: str) -> Listing:
        """Return the entries of a tree by name. Raises: NeedsGit when too many have been read, or it cannot be read."""
        if not self._reader.knows_tree(oid):
            self._left -= 1
            if self._left < 0:
                raise NeedsGit
        try:
            found = self._reader.read_entries(oid)
        except GitFailed:
            raise NeedsGit from None
        if found is None:
            raise NeedsGit
        return found

    def find(self, root: str, path: str) -> Blob | None:
        """Return what a tree has at a path; None for nothing. Raises: NeedsGit."""
        found: Blob | None = Blob(root, DIRECTORY)
        for name in path.encode("utf-8", "surrogateescape").split(b"/") if path else ():
            found = self.read_entries(found.oid).get(name) if found is not None and found.mode == DIRECTORY else None
        return found

    def list_files(self, root: str, lead: bytes = b"") -> Iterator[tuple[bytes, Blob]]:
        """Yield everything below a tree but directories, with its path, in Git's order. Raises: NeedsGit."""
        _check_depth(lead)
        for name, entry in self.read_entries(root).items():
            if entry.mode == DIRECTORY:
                yield from self.list_files(entry.oid, lead + name + b"/")
            else:
                yield lead + name, entry

    def compare(self, before: str | None, after: str | None, lead: bytes = b"") -> Iterator["Difference"]:
        """Yield the differences of two trees, None for the empty one, in Git's order. Raises: NeedsGit."""
        if before == after:
            return
        _check_depth(lead)
        was, now = (self.read_entries(side) if side is not None else {} for side in (before, after))
        sides = {(name, entry.mode == DIRECTORY) for found in (was, now) for name, entry in found.items()}
        for name, is_directory in sorted(sides, key=lambda side: side[0] + b"/" * side[1]):
            old, new = (_select_kind(found.get(name), is_directory) for found in (was, now))
            if is_directory:
                yield from self.compare(old.oid if old else None, new.oid if new else None, lead + name + b"/")
            elif old != new:
                status: Status = "A" if old is None else "D" if new is None else "M"
                yield Difference(status, _decode_path(lead + name), None, old, new)


def _check_depth(lead: bytes) -> None:
    if lead.count(b"/") > DEPTH_MAX:
        raise NeedsGit


def _select_kind(entry: Blob | None, is_directory: bool) -> Blob | None:
    return entry if entry is not None and (entry.mode == DIRECTORY) == is_directory else None


def build_pathspec(directory: str) -> list[str]:
    """Return the pathspec of everything below a directory of a repository; "" is the root.

    Raises: PathRefused for a directory that no repository has.
    """
    if directory and not is_plain(directory):
        raise PathRefused(f"{directory[:200]!r} is no directory of a repository")
    return [f"{directory}/"] if directory else []


def list_files(git: Git, reader: Reader, commit: str, directory: str) -> dict[str, Blob]:
    """Return the files of a commit below a directory, by their path in it; submodules are left out."""
    pathspec = build_pathspec(directory)
    try:
        found = TreeWalk(reader).find(TreeWalk(reader).find_root(check_oid(commit)), directory)
    except NeedsGit:
        listed = _parse_listing(git.run("ls-tree", "-r", "-z", "--full-tree", "--", check_oid(commit), *pathspec))
        return {
            _decode_path(path)[len("".join(pathspec)) :]: entry for path, entry in listed if entry.mode != SUBMODULE
        }
    if found is None or found.mode != DIRECTORY:
        return {}
    try:
        files = list(TreeWalk(reader).list_files(found.oid))
    except NeedsGit:
        files = _read_at_once(git, reader, found.oid)
    return {_decode_path(path): entry for path, entry in files if entry.mode != SUBMODULE}


def find_files(git: Git, reader: Reader, commit: str, paths: Collection[str]) -> dict[str, Blob]:
    """Return the files that a commit or tree has at some paths."""
    walk = TreeWalk(reader)
    try:
        root = walk.find_root(check_oid(commit))
        found = {path: walk.find(root, path) for path in paths}
    except NeedsGit:
        listing = list_files(git, reader, commit, "")
        return {path: listing[path] for path in paths if path in listing}
    return {path: one for path, one in found.items() if one is not None and one.mode not in (DIRECTORY, SUBMODULE)}


def find_modes(git: Git, reader: Reader, commit: str, paths: Collection[str]) -> dict[str, str]:
    """Return the modes of the files that a commit or tree has at some paths; a symbolic link is none."""
    found = find_files(git, reader, commit, paths) if paths else {}
    return {path: one.mode for path, one in found.items() if one.mode != SYMBOLIC_LINK}


def _read_at_once(git: Git, reader: Reader, root: str) -> list[tuple[bytes, Blob]]:
    """All below a tree but directories, by one command; each tree below it is kept in memory for later questions."""
    listed = _parse_listing(git.run("ls-tree", "-r", "-t", "-z", "--full-tree", "--", root))
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


def _parse_listing(output: bytes) -> list[tuple[bytes, Blob]]:
    """What git ls-tree says, by path."""
    found = []
    for record in output.split(b"\0")[:-1]:
        facts, path = record.split(b"\t", 1)
        mode, _, oid = facts.decode().split(" ")
        found.append((path, Blob(oid, mode)))
    return found


def list_file_changes(
    git: Git, reader: Reader, before: str, after: str, directory: str, *, renames: bool
) -> list[FileChange]:
    """Return the files below a directory that differ between two commits or trees, by their path in it.

    Shape: submodules are left out; a change of type is "M"; a rename needs half of the content in common.
    """
    skipped = len(directory) + 1 if directory else 0
    found = []
    for difference in compare_trees(git, reader, before, after, build_pathspec(directory), renames=renames):
        shown = difference.after or difference.before
        if shown is not None and not difference.is_submodule:
            old = difference.old_path and difference.old_path[skipped:]
            found.append(FileChange(difference.status, difference.path[skipped:], old, shown.oid, shown.mode))
    return found


def compare_trees(
    git: Git, reader: Reader, before: str, after: str, pathspec: Sequence[str] = (), *, renames: bool = False
) -> list[Difference]:
    """Return the paths that differ between two commits or trees, in Git's order."""
    walk = TreeWalk(reader)
    try:
        found = list(walk.compare(walk.find_root(check_oid(before)), walk.find_root(check_oid(after))))
    except NeedsGit:
        return list(_compare_by_git(git, before, after, pathspec, renames=renames))
    wanted = [one for one in found if _is_within(one, pathspec)] if pathspec else found
    # A rename is a path that is gone and a path that is new; which belong together is for Git.
    if renames and {"A", "D"} <= {one.status for one in wanted}:
        return list(_compare_by_git(git, before, after, pathspec, renames=True))
    return wanted


def _is_within(difference: Difference, pathspec: Sequence[str]) -> bool:
    """Whether a path is one of those that are asked for, or below one."""
    path = f"{difference.path}/" if difference.is_submodule else difference.path
    return any(difference.path == spec or path.startswith(f"{spec.rstrip('/')}/") for spec in pathspec)


def _compare_by_git(
    git: Git, before: str, after: str, pathspec: Sequence[str], *, renames: bool
) -> Iterator[Difference]:
    """Yield what `compare_trees` returns, by one command. Source: git-diff-tree(1), raw output format."""
    options = ["-r", "-z", "--no-ext-diff", "-M" if renames else "--no-renames"]
    records = _split_records(git.run("diff-tree", *options, check_oid(before), check_oid(after), "--", *pathspec))
    for facts in records:
        old_mode, new_mode, old_oid, new_oid, status = facts.removeprefix(":").split(" ")
        path, old_path = next(records), None
        if status.startswith("R"):
            old_path, path = path, next(records)
        letter = cast(Status, "M" if status == "T" else status[0])
        yield Difference(letter, path, old_path, _parse_side(old_mode, old_oid), _parse_side(new_mode, new_oid))


def _parse_side(mode: str, oid: str) -> Blob | None:
    return None if mode == _ABSENT else Blob(oid, mode)


def _split_records(output: bytes) -> Iterator[str]:
    return iter(output.decode("utf-8", "surrogateescape").split("\0")[:-1])


def _decode_path(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")
