"""Follow a space whose directory was changed in the configuration, or whose root was in `.gitbook.yaml`.

A branch, or a merge base, that still has the files of the space where they were before counts in a merge as if they
were where they are now: so its own edits stay, a page in conflict lies below one root on either side, and a branch that
has moved them itself is in step. Of another directory, a trailer of the commit of main content that moved them says it.
Source: syncd/manual/reference/configuration.md, "The directory of a space"; syncd/manual/reference/layout.md.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import NamedTuple

from syncd.errors import FileInvalid
from syncd.layout.tree.draft import read_draft
from syncd.layout.tree.settings import SETTINGS_PATH
from syncd.layout.tree.variables import TAGS, VARIABLES
from syncd.plan.message import DIRECTORY, FORMER_DIRECTORY, SPACE
from syncd.repo.repository import Repository
from syncd.repo.values import Blob, Commit
from syncd.sync.binding import Binding
from syncd.sync.settings import read_settings_at

_ROOT = re.compile(r"^root:[^\n]*\n?", re.MULTILINE)


class MovedTree(NamedTuple):
    """A tree with the files of spaces in their present directories; `places` are new paths by old ones."""

    tree: str
    places: Mapping[str, str]


def read_directory(commit: Commit, trailer: str = DIRECTORY) -> str | None:
    """Return the directory that a mirror commit names; None where it names none, as older ones do."""
    with suppress(ValueError, IndexError):
        directory = json.loads(commit.trailers.get(trailer, [])[-1])
        return directory if isinstance(directory, str) else None
    return None


def has_space(repository: Repository, binding: Binding, tree: str) -> bool:
    """Return whether a commit or tree has a table of contents in the directory of a space."""
    try:
        settings = read_settings_at(repository, binding, tree)
    except (FileInvalid, UnicodeDecodeError):
        return True  # the file that says where it is is there, at least
    return repository.lookup(tree, binding.path(settings.add_root(settings.summary))) is not None


def list_places(repository: Repository, tree: str, former: Binding, now: Binding) -> dict[str, str]:
    """Return the new path of each file of a space that moves from one directory to another, by its old path.

    Shape: of the root of the repository, only what is content of the space moves; a directory moves as a whole.
    Raises: FileInvalid where the files do not say what is content.
    """
    listing = repository.list_files(tree, former.directory)
    paths: Iterable[str] = listing if former.directory else _list_content(repository, listing, former, tree)
    return {former.path(path): now.path(path) for path in paths}


def _list_content(repository: Repository, listing: Mapping[str, Blob], binding: Binding, tree: str) -> Iterable[str]:
    blobs = {path: blob for path, blob in listing.items() if blob.mode.startswith("100")}
    draft = read_draft(blobs.keys(), lambda path: repository.read(blobs[path].oid))
    settings = read_settings_at(repository, binding, tree)
    tables = (settings.add_root(path) for path in (settings.summary, VARIABLES, TAGS))
    wanted = {*draft.documents, *draft.files, *draft.includes, SETTINGS_PATH, *tables}
    return sorted(wanted & listing.keys())


def move_files(repository: Repository, tree: str, places: Mapping[str, str], *, removed: Iterable[str] = ()) -> str:
    """Return the tree of a commit or tree with files at new paths, and without those that are removed.

    Shape: `places` has the new paths by the old ones.
    """
    changes: dict[str, Blob | bytes | None] = dict.fromkeys((*removed, *places))
    changes |= {new: repository.find_file(tree, old) for old, new in places.items()}
    return repository.write_tree(repository.read_root_tree(tree), changes)


def follow_places(moves: Mapping[str, str], before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    """Return moves of files between two trees, after files of either have moved: `before` and `after` say where."""
    found = {before.get(old, old): after.get(new, new) for old, new in moves.items()}
    return {old: new for old, new in found.items() if old != new}


def follow_spaces(
    repository: Repository, bindings: Iterable[Binding], base: str, ours: str, theirs: str
) -> tuple[Sequence[MovedTree], Sequence[str]]:
    """Return the trees of a merge with the files of each space in one place, where a side has moved them to; and notes
    for people.

    Shape: `base`, `ours` and `theirs` are commits or trees. Where both sides changed the root, it is ours.
    """
    trees: Sequence[MovedTree] = follow_directories(repository, (base, ours, theirs), ours, theirs)
    notes: list[str] = []
    for binding in bindings:
        trees, more = _move_trees_below_root(repository, binding, trees)
        notes += more
    return trees, notes


def follow_roots(repository: Repository, bindings: Iterable[Binding], tree: str, like: str) -> str:
    """Return the tree of a commit or tree with the content of each space below the root that another tree gives it."""
    moved = MovedTree(repository.read_root_tree(tree), {})
    for binding in bindings:
        moved = _move_tree_below_root(repository, binding, moved, like)
    return moved.tree


def follow_directories(repository: Repository, trees: Sequence[str], ours: str, theirs: str) -> list[MovedTree]:
    """Return the trees of a merge with the files of each space where the newest of both sides has them.

    Shape: `trees` are commits or trees; `ours` and `theirs` are the sides. What only one of these knows to have moved
    moves in all trees that have it in the former directory; in most merges, nothing does.
    """
    found = [MovedTree(repository.read_root_tree(tree), {}) for tree in trees]
    if repository.is_tree(ours) or repository.is_tree(theirs):
        return found  # a plain tree has no history that could say it
    for commit in reversed([*chain(*repository.find_marked(ours, theirs, FORMER_DIRECTORY))]):
        before, after = read_directory(commit, FORMER_DIRECTORY), read_directory(commit)
        if before is not None and after is not None:
            space = commit.trailers.get(SPACE, [""])[-1]
            former, now = (Binding(space, directory, "") for directory in (before, after))
            found = [_follow_move(repository, one, former, now) for one in found]
    return found


def _follow_move(repository: Repository, moved: MovedTree, former: Binding, now: Binding) -> MovedTree:
    """A tree with the files of one space moved, unless it has them there already."""
    tree = moved.tree
    if has_space(repository, now, tree) or not has_space(repository, former, tree):
        return moved
    try:
        places = list_places(repository, tree, former, now)
    except (FileInvalid, UnicodeDecodeError):
        return moved
    return _add_places(moved, move_files(repository, tree, places), places)


def _add_places(moved: MovedTree, tree: str, places: Mapping[str, str]) -> MovedTree:
    """A moved tree after further files have moved."""
    return MovedTree(tree, {**places, **{old: places.get(new, new) for old, new in moved.places.items()}})


def _move_trees_below_root(
    repository: Repository, binding: Binding, trees: Sequence[MovedTree]
) -> tuple[Sequence[MovedTree], Sequence[str]]:
    """The trees of base, ours and theirs with a space below the root that a side gave it, ours where both did."""
    try:
        base, ours, theirs = (read_settings_at(repository, binding, one.tree).root for one in trees)
    except (FileInvalid, UnicodeDecodeError):
        return trees, ()
    if ours == theirs == base:
        return trees, ()
    mover = trees[2] if ours == base else trees[1]
    note = f"{binding.path(SETTINGS_PATH)}: both sides gave it another root; it is ./{ours}, not ./{theirs}"
    notes = (note,) if len({base, ours, theirs}) == len(trees) else ()
    return [_move_tree_below_root(repository, binding, one, mover.tree) for one in trees], notes


def _move_tree_below_root(repository: Repository, binding: Binding, moved: MovedTree, like: str) -> MovedTree:
    """A tree with the content of a space below the root that another tree gives it.

    Shape: the same where that cannot be read, or is written in a way in which it cannot be put into other settings.
    """
    tree, path = moved.tree, binding.path(SETTINGS_PATH)
    try:
        former, now = (read_settings_at(repository, binding, one).add_root("") for one in (tree, like))
        text, other = (_read_settings_text(repository, one, path) for one in (tree, like))
        found = _ROOT.search(other)
        if former == now or (now and found is None):
            return moved
        listing = repository.list_files(tree, binding.directory)
        content = listing if former else _list_content(repository, listing, binding, tree)
    except (FileInvalid, UnicodeDecodeError):
        return moved
    inside = [one for one in content if one.startswith(former) and one != SETTINGS_PATH]
    places = {binding.path(one): binding.path(now + one[len(former) :]) for one in inside}
    line = f"{found[0].rstrip()}\n" if found is not None else ""
    settings = _ROOT.sub(lambda _: line, text, count=1) if _ROOT.search(text) else line + text
    after = repository.write_tree(move_files(repository, tree, places), {path: settings.encode() or None})
    return _add_places(moved, after, places)


def _read_settings_text(repository: Repository, tree: str, path: str) -> str:
    """The text of a settings file, which is to be written again. Raises: UnicodeDecodeError."""
    oid = repository.lookup(tree, path)
    return repository.read(oid).decode() if oid is not None else ""
