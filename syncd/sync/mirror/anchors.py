"""Find the anchors that a mirror commit starts from: in the store or, when that was lost, from Git and the platform."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import replace
from types import MappingProxyType

from syncd.errors import FileInvalid
from syncd.layout.tree.draft import read_draft
from syncd.layout.tree.path_allocator import strip_number
from syncd.layout.tree.paths import ASSETS, INCLUDES, is_same_page, list_forms
from syncd.layout.tree.placement import Placement, assign_paths, match_pages
from syncd.layout.tree.summary import Entry, walk_entries
from syncd.model.anchor import Anchor
from syncd.model.page import walk_pages
from syncd.model.revision import Revision
from syncd.plan.message import REVISION
from syncd.plan.mirror.revision import list_bodies
from syncd.repo.repository import Repository
from syncd.store.store import LastSeen
from syncd.sync.binding import Binding
from syncd.sync.mirror.history import read_past
from syncd.sync.mirror.roots import follow_root
from syncd.sync.mirror.values import PARTIAL, MirrorBase, WrittenCommit
from syncd.sync.settings import read_settings_at
from syncd.sync.workspace import Workspace

NO_NAMED: Mapping[str, str] = MappingProxyType({})
LOST_PREFIX = "lost:"
"""Starts the id of a file that an earlier mirror owned and that no page or file of the revision claims."""


def find_mirror_base(
    workspace: Workspace,
    binding: Binding,
    revision: Revision,
    commit: str | None,
    lanes: Mapping[str, str],
    named: Mapping[str, str] = NO_NAMED,
) -> MirrorBase:
    """Return the base of the next mirror commit of a space; `commit` is the last one, `lanes` those of change requests.

    Shape: anchors of main content, overlaid by those of the lanes; recovered from Git, from the newest of these
    commits, when the store does not know this mirror commit. Before the first one, the content that the mirror starts
    from is aligned with the revision in the same way. `named` are commits of change requests that another clone has
    sent, with the revision that each became, or "": new pages and files stay where these have them, and so do pages
    that moved, but for those that somebody else moved later.
    """
    base = _find_known_base(workspace, binding, revision, commit, lanes)
    now = assign_paths(revision).platform_paths if named else {}
    for other, id in named.items():
        past = read_past(workspace.client, binding.space, id) if id else None
        found = recover_anchors(workspace.repository, binding, past or revision, other)
        moved = {
            id: anchor for id, anchor in found.items() if _is_placed_anew(anchor, base.anchors.get(id), now.get(id))
        }
        base = replace(base, anchors={**base.anchors, **moved})
    return replace(base, named=tuple(named))


def _is_placed_anew(anchor: Anchor, former: Anchor | None, now: str | None) -> bool:
    """Whether a commit says where a page or file belongs that is new, or that moved to where the platform has it now:
    `now` is the path that the platform asks for."""
    if former is None:
        return not anchor.id.startswith(LOST_PREFIX)
    return anchor.kind == "page" and anchor.form == now != former.form


def _find_known_base(
    workspace: Workspace, binding: Binding, revision: Revision, commit: str | None, lanes: Mapping[str, str]
) -> MirrorBase:
    seen = workspace.store.read_last_seen(binding.space)
    # The store counts only while it is about the very commit that Git has: after a reset, a restored database or the
    # run of another clone, Git is right.
    if seen is not None and seen.commit == commit:
        newest: str | None = next(iter(lanes.values()), seen.commit)
        settings = read_settings_at(workspace.repository, binding, newest)
        anchors = _follow_root(workspace, binding, seen, newest)
        for lane in lanes:
            if (proposed := workspace.store.read_last_seen(binding.space, lane)) is not None:
                followed = _follow_root(workspace, binding, proposed, newest)
                anchors |= _select_kept(workspace.repository, followed, anchors)
        return MirrorBase(anchors, commit, not lanes, seen.anchors, seen.shape, commit, seen.anchors, newest, settings)
    newest = [*lanes.values(), commit or workspace.repository.resolve(workspace.main) or workspace.onto][0]
    settings = read_settings_at(workspace.repository, binding, newest)
    anchors = former = _recover_mirrored(workspace, binding, revision, commit)
    if seen is not None:  # a body that the store knows in the same bytes need not be fetched again
        anchors = {id: _restore_fingerprint(anchor, seen.anchors.get(id)) for id, anchor in anchors.items()}
    paths = {anchor.path for anchor in anchors.values()}
    anchors = follow_root(workspace.repository, binding, anchors, commit, newest)
    for id, anchor in (
        recover_anchors(workspace.repository, binding, revision, newest).items() if newest != commit else ()
    ):
        known = anchors.get(id)
        if known is not None and known.path == anchor.path:
            anchors[id] = anchor._replace(form=known.form)
        elif not id.startswith(LOST_PREFIX) or anchor.path not in paths:
            anchors[id] = anchor
    return MirrorBase(anchors, commit, is_complete=False, seen=commit, former=former, at=newest, settings=settings)


def _select_kept(
    repository: Repository, anchors: Mapping[str, Anchor], others: Mapping[str, Anchor]
) -> dict[str, Anchor]:
    """The anchors that differ from others and whose files Git still has: those of a change request may be gone."""
    differing = {id: anchor for id, anchor in anchors.items() if anchor != others.get(id)}
    kept = repository.select_present({anchor.oid for anchor in differing.values()})
    return {id: anchor for id, anchor in differing.items() if anchor.oid in kept}


def _restore_fingerprint(anchor: Anchor, known: Anchor | None) -> Anchor:
    is_same = known is not None and known.oid == anchor.oid and not anchor.fingerprint
    return anchor._replace(fingerprint=known.fingerprint) if known is not None and is_same else anchor


def _recover_mirrored(
    workspace: Workspace, binding: Binding, revision: Revision, commit: str | None
) -> dict[str, Anchor]:
    """The anchors of a mirror commit, found with the revision that it stands for.

    With a later revision, a page that the platform has renamed since would seem to be at a path of a writer's choice,
    and would stay there for ever. That is what is left where the platform does not show past revisions.
    """
    if commit is None:
        return {}
    found = workspace.repository.read_commit(commit)
    id = found.trailers.get(REVISION, [revision.id])[-1]
    past = revision if id == revision.id else read_past(workspace.client, binding.space, id)
    return recover_anchors(workspace.repository, binding, past or revision, commit)


def _follow_root(workspace: Workspace, binding: Binding, seen: LastSeen, newest: str | None) -> dict[str, Anchor]:
    """The anchors of a lane, moved to the root directory of a newer commit where that has another root."""
    return follow_root(workspace.repository, binding, seen.anchors, seen.commit, newest)


def recover_anchors(
    repository: Repository, binding: Binding, revision: Revision, commit: str | None
) -> dict[str, Anchor]:
    """Return anchors for all of a revision that can be found in a commit with an earlier state of the space.

    Shape: pages are aligned by text and structure, files by name and bytes; a body counts as seen only when the
    platform names its blob; files that no page or file of the revision claims have an id that starts with LOST.
    """
    if commit is None:
        return {}
    listing = {path: blob.oid for path, blob in repository.list_files(commit, binding.directory).items()}
    settings = read_settings_at(repository, binding, commit)
    entries = read_entries(repository, binding, commit)
    aligned = match_pages(revision.pages, entries, settings=settings, known=_find_same_texts(revision, listing))
    plain = assign_paths(revision, settings=settings)
    free = listing.keys() - aligned.values()
    pages = {id: aligned.get(id) or _find_either_form(path, free) for id, path in plain.pages.items()}
    files = {**plain.files, **_find_same_files(repository, revision, plain, listing)}
    parents = {entry.path for entry, _ in walk_entries(entries) if any(e.kind == "document" for e in entry.children)}
    anchors: dict[str, Anchor] = {}
    for item in list_bodies(revision, replace(plain, pages=pages, files=files)):
        if (oid := listing.get(item.path)) is not None:
            fingerprint = item.fingerprint if item.blob == oid else ""
            # A page that won or lost its last child meanwhile has to move; any other path was a writer's choice.
            is_moved = item.kind == "page" and is_same_page(item.path, plain.pages[item.id])
            has_to_move = is_moved and (item.path in parents) != plain.pages[item.id].endswith("/README.md")
            form = "" if has_to_move else item.form
            anchors[item.id] = Anchor(item.id, item.kind, item.path, form, fingerprint, oid)
    claimed = {anchor.path for anchor in anchors.values()}
    owned = {entry.path for entry, _ in walk_entries(entries) if entry.path is not None}
    owned |= {path for path in listing if path.startswith((settings.add_root(ASSETS), settings.add_root(INCLUDES)))}
    # An earlier mirror wrote these files. Without an anchor they would stay beside the pages that they are copies of.
    for path in (owned & listing.keys()) - claimed:
        anchors[LOST_PREFIX + path] = Anchor(LOST_PREFIX + path, "page", path, path, "", listing[path])
    return anchors


def _find_either_form(path: str, free: Collection[str]) -> str:
    """Where a page is that no table of contents lists: at its path, or at that of a page with pages below it."""
    return next((form for form in (path, *list_forms(path)) if form in free), path)


def read_entries(repository: Repository, binding: Binding, commit: str) -> tuple[Entry, ...]:
    """Return the entries of the space's table of contents in a commit, from SUMMARY.md or from its folders.

    Shape: none when a file that declares them cannot be read.
    """
    listing = repository.list_files(commit, binding.directory)
    blobs = {path: blob for path, blob in listing.items() if blob.mode.startswith("100")}
    try:
        return read_draft(blobs.keys(), lambda path: repository.read(blobs[path].oid), links=False).entries
    except FileInvalid:
        return ()  # it only helps to find pages again; the flow that has to read the file reports the error


def list_page_paths(repository: Repository, binding: Binding, commit: str) -> set[str]:
    """Return the paths of the pages that a space's table of contents lists in a commit, below the space's directory.

    Shape: an entry that leads to a part of a page is a link.
    """
    entries = walk_entries(read_entries(repository, binding, commit))
    return {entry.path for entry, _ in entries if entry.path is not None and entry.anchor is None}


def _find_same_texts(revision: Revision, listing: Mapping[str, str]) -> dict[str, str]:
    """Where Git has the text of each page, by id, as far as the platform names its blob and both have that once."""
    oids = {page.id: page.git.oid for page, _ in walk_pages(revision.pages) if page.git is not None}
    pages, files = Counter(oids.values()), Counter(listing.values())
    paths = {oid: path for path, oid in listing.items()}
    return {id: paths[oid] for id, oid in oids.items() if pages[oid] == files[oid] == 1}


def _find_same_files(
    repository: Repository, revision: Revision, placement: Placement, listing: Mapping[str, str]
) -> dict[str, str]:
    """Where Git keeps the files that share a name but for the number, or are elsewhere than expected; by id.

    They are told by their bytes: by blob id where the platform names it, else by size.
    """
    names = {strip_number(path) for path in placement.files.values()}
    unsized = any(file.git is None for file in revision.files)
    sizes = (
        repository.read_sizes({oid for path, oid in listing.items() if strip_number(path) in names}) if unsized else {}
    )
    left: dict[tuple[str, str | int | None], list[str]] = defaultdict(list)
    for path in sorted(listing, reverse=True):  # so that `pop` gives the first one
        name, oid = strip_number(path), listing[path]
        for key in ((name, oid), ("", oid), (name, sizes.get(oid, -1))):
            left[key].append(path)
    found: dict[str, str] = {}
    taken: set[str] = set()
    for file in revision.files:
        path, mark = placement.files[file.id], file.git.oid if file.git else file.size
        if (own := listing.get(path)) is not None and path not in taken and mark in (own, sizes.get(own)):
            paths = [path]
        else:
            paths = left[strip_number(path), mark] or (left["", mark] if own is None else [])
        while paths and paths[-1] in taken:
            paths.pop()
        if paths:
            found[file.id] = paths.pop()
            taken.add(found[file.id])
    return found


def save_anchors(
    workspace: Workspace,
    binding: Binding,
    lane: str,
    revision: str,
    written: WrittenCommit,
    stored: Mapping[str, Anchor],
) -> None:
    """Save what changed in the anchors of a lane in one transaction; `stored` is what the store has of it."""
    workspace.store.save_last_seen(
        binding.space,
        lane,
        revision=revision,
        commit=written.commit,
        put=[anchor for id, anchor in written.anchors.items() if stored.get(id) != anchor],
        removed=[id for id in stored if id not in written.anchors],
        replace=not stored,
        shape=written.shape,
    )
    if written.is_partial:  # only now: a run that ends before this finds the bodies again
        workspace.store.forget(binding.space, PARTIAL)
