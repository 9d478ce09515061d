"""Follow a change of a space's root directory in `.gitbook.yaml`: the mirror moves its files to the new root."""

from collections.abc import Mapping

from syncd.errors import FileInvalid
from syncd.layout.tree.settings import SETTINGS_PATH, Settings
from syncd.model.anchor import Anchor
from syncd.repo.repository import Repository
from syncd.sync.binding import Binding
from syncd.sync.settings import read_settings_at


def choose_settings_commit(
    repository: Repository, binding: Binding, start: str | None, layout_commit: str | None
) -> str | None:
    """Return whose `.gitbook.yaml` a mirror commit follows: that of the commit it starts from, or of a branch,
    `layout_commit`.

    Shape: the branch's, when only the branch has changed the root since their merge base, and the file can be read
    there.
    """
    if start is None or layout_commit is None:
        return start
    path = binding.path(SETTINGS_PATH)
    here = repository.lookup(start, path)
    if repository.lookup(layout_commit, path) == here:
        return start
    base = repository.find_merge_base(start, layout_commit)
    if base is None or repository.lookup(base, path) != here:
        return start
    try:
        new_root = read_settings_at(repository, binding, layout_commit).root
    except FileInvalid:
        return start  # whoever sends the branch's pages says what is wrong
    return start if new_root == read_settings_at(repository, binding, start).root else layout_commit


def follow_root(
    repository: Repository, binding: Binding, anchors: Mapping[str, Anchor], former: str | None, now: str | None
) -> dict[str, Anchor]:
    """Return the anchors of one commit where their files are in another whose `.gitbook.yaml` has a new root.

    Shape: whoever changed the root there moved the files; a path that is right already stays.
    """
    before, after = read_settings_at(repository, binding, former), read_settings_at(repository, binding, now)
    if before.root == after.root:
        return dict(anchors)
    here = repository.list_files(now, binding.directory) if now else {}
    right = {id for id, anchor in anchors.items() if anchor.path in here and anchor.path.startswith(after.add_root(""))}
    moved = move_below_root(anchors, before, after)
    return {id: anchor if id in right else moved[id] for id, anchor in anchors.items()}


def move_below_root(anchors: Mapping[str, Anchor], former: Settings, now: Settings) -> dict[str, Anchor]:
    """Return anchors below one root as they are below another."""
    old, new = former.add_root(""), now.add_root("")
    return {
        id: anchor._replace(path=new + anchor.path[len(old) :]) if anchor.path.startswith(old) else anchor
        for id, anchor in anchors.items()
    }
