"""Find the pages that a commit has outside of the directory of their space, though nobody deleted them there.

So it is where a space is given another directory and a part of its files has moved: what was left behind would look
deleted. A mirror commit names the former directory, and `bind/directory.py` tells by that; this is for a clone without.
"""

from collections.abc import Iterator

from syncd.errors import ConfigInvalid
from syncd.layout.tree.draft import may_be_page, read_draft
from syncd.model.wording import format_first
from syncd.repo.values import Blob
from syncd.sync.binding import Binding
from syncd.sync.workspace import Workspace

SHOWN = 5
"""Paths that a message names."""


def require_none_left_behind(workspace: Workspace, binding: Binding, base: str, commit: str) -> None:
    """Refuse a commit that has pages of a space elsewhere, which a base has in the space's directory.

    Shape: a page that some commit of the clone has in the directory was moved out of it, which deletes it as meant.
    Raises: ConfigInvalid.
    """
    left = sorted(_list_left_behind(workspace, binding, base, commit))
    if left:
        place = f"{binding.directory}/" if binding.directory else "the root"
        raise ConfigInvalid(
            f"{binding.name} is in {place}, and pages of it are elsewhere: {format_first(left, SHOWN)}; no commit of "
            "this clone shows that somebody moved them out, so nothing was proposed",
            hint="move these, too, or delete them, and commit that; if they were moved out, fetch the whole history",
        )


def _list_left_behind(workspace: Workspace, binding: Binding, base: str, commit: str) -> Iterator[str]:
    """The paths, in the commit, of pages that are missing in the space's directory."""
    repository = workspace.repository
    here, known = (repository.list_files(one, binding.directory) for one in (commit, base))
    missing = {path: blob for path, blob in known.items() if path not in here and may_be_page(path)}
    outside = _list_outside(workspace, binding, commit) if here and missing else {}
    if not outside:
        return  # a directory that is missing as a whole is for the guard of deletions
    before, after = repository.write_tree(None, {**missing}), repository.write_tree(None, {**outside})
    changes = repository.compare_trees(before, after, renames=True)
    moves = {change.old_path: change.path for change in changes if change.old_path is not None}
    moves |= {path: path for path, blob in missing.items() if outside.get(path) == blob}
    # Beside a page that is alike, those with the same names were left behind, too, whatever they say now.
    places = {new.removesuffix(old) for old, new in moves.items() if f"/{new}".endswith(f"/{old}")}
    moves |= {path: place + path for path in missing for place in places if place + path in outside}
    yield from (
        new for old, new in moves.items() if not repository.find_last_change(commit, binding.path(old), exclude=())
    )


def _list_outside(workspace: Workspace, binding: Binding, commit: str) -> dict[str, Blob]:
    """The pages of a commit that are in no space; of a space at the root, those that it does not list."""
    listing = workspace.repository.list_files(commit)
    pages = {path: blob for path, blob in listing.items() if may_be_page(path) and blob.mode.startswith("100")}
    if not binding.directory:
        draft = read_draft(listing.keys(), lambda path: workspace.repository.read(listing[path].oid), links=False)
        return {path: pages[path] for path in draft.unlisted if path in pages}
    return {path: blob for path, blob in pages.items() if not any(one.holds(path) for one in workspace.bindings)}
