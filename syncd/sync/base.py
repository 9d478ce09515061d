"""Find the base of a space again: from the store, or, when it was lost, from Git and the platform together."""

from collections.abc import Mapping

from syncd.errors import FileInvalid
from syncd.layout.placement import Placement, match, place
from syncd.layout.summary import Entry, parse, walk
from syncd.model.anchor import Anchor
from syncd.model.revision import Revision
from syncd.plan.mirror import wanted
from syncd.repo import Repository
from syncd.sync.snapshot import Base, Written
from syncd.sync.tables import settings_at, text_at
from syncd.sync.workspace import Binding, Workspace

LOST = "lost:"
"""Starts the id of a file that an earlier mirror owned and that no page or file of the revision claims."""


def base_of(
    workspace: Workspace, binding: Binding, revision: Revision, commit: str | None, lanes: Mapping[str, str]
) -> Base:
    """Given the last mirror commit of a space, and the commits of change requests by lane, return the base.

    Shape: anchors of main content, overlaid by those of the lanes; found again from Git, in the newest of these
    commits, when the store does not know this mirror commit.
    """
    seen = workspace.store.seen(binding.space)
    if seen is not None and seen.commit == commit:
        anchors = dict(seen.anchors)
        for lane in lanes:
            if (proposed := workspace.store.seen(binding.space, lane)) is not None:
                anchors |= proposed.anchors
        return Base(anchors, commit, settled=not lanes, stored=seen.anchors, shape=seen.shape)
    newest = [*lanes.values(), commit][0]
    return Base(recovered(workspace.repository, binding, revision, newest), commit, settled=False)


def recovered(repository: Repository, binding: Binding, revision: Revision, commit: str | None) -> dict[str, Anchor]:
    """Given a commit that holds an earlier state of the space, return anchors for all that can be told apart there.

    Shape: pages are aligned by the structure of SUMMARY.md; a body counts as seen only when the platform names its
    blob; files that nothing claims any more have an id that starts with LOST.
    """
    if commit is None:
        return {}
    listing = {path: blob.oid for path, blob in repository.tree(commit, binding.directory).items()}
    settings = settings_at(repository, binding, commit)
    entries = entries_at(repository, binding, commit)
    aligned = match(revision.pages, entries)
    placement = place(revision, readme=settings.readme)
    anchors: dict[str, Anchor] = {}
    for item in wanted(revision, _moved(placement, aligned)):
        if (oid := listing.get(item.path)) is not None:
            fingerprint = item.fingerprint if item.blob == oid else ""
            anchors[item.id] = Anchor(item.id, item.kind, item.path, item.form, fingerprint, oid)
    claimed = {anchor.path for anchor in anchors.values()}
    owned = {entry.path for entry, _ in walk(entries) if entry.path is not None}
    owned |= {path for path in listing if path.startswith((".gitbook/assets/", ".gitbook/includes/"))}
    for path in (owned & listing.keys()) - claimed:
        anchors[LOST + path] = Anchor(LOST + path, "page", path, path, "", listing[path])
    return anchors


def entries_at(repository: Repository, binding: Binding, commit: str) -> tuple[Entry, ...]:
    """Given a commit, return the entries of the space's SUMMARY.md there; none when it is absent or cannot be read."""
    path = binding.path(settings_at(repository, binding, commit).summary)
    text = text_at(repository, commit, path)
    try:
        return parse(text, at=path) if text is not None else ()
    except FileInvalid:
        return ()  # it only guides the search for what was lost; whoever must read it says what is wrong


def _moved(placement: Placement, aligned: dict[str, str]) -> Placement:
    pages = {id: aligned.get(id, path) for id, path in placement.pages.items()}
    return Placement(pages, placement.files, placement.includes, placement.forms, (), None, None)


def save_lane(
    workspace: Workspace, binding: Binding, lane: str, revision: str, written: Written, stored: Mapping[str, Anchor]
) -> None:
    """Given what was written and what the store holds of this lane, record the difference in one transaction."""
    workspace.store.save_seen(
        binding.space,
        lane,
        revision=revision,
        commit=written.commit,
        put=[anchor for id, anchor in written.anchors.items() if stored.get(id) != anchor],
        removed=[id for id in stored if id not in written.anchors],
        replace=not stored,
        shape=written.shape,
    )
