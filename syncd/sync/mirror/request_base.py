"""Find what is known before a revision of a change request is read: where its pages belong, and what was sent."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from syncd.layout.tree.paths import ASSETS, INCLUDES, is_decodable, is_markdown
from syncd.layout.tree.placement import SUMMARY, assign_paths, match_pages
from syncd.layout.tree.settings import Settings, derive_page_slug
from syncd.layout.tree.variables import TAGS, VARIABLES
from syncd.model.anchor import Anchor
from syncd.model.revision import Revision
from syncd.plan.message import SPACE
from syncd.plan.mirror.revision import list_bodies
from syncd.plan.propose.page_tree import MOVING
from syncd.sync.binding import Binding
from syncd.sync.mirror.anchors import LOST_PREFIX, find_mirror_base, list_page_paths, read_entries
from syncd.sync.mirror.roots import choose_settings_commit, move_below_root
from syncd.sync.mirror.values import MirrorBase, Source
from syncd.sync.settings import read_settings_at
from syncd.sync.state.linked_files import find_linking_pages, list_new_files
from syncd.sync.state.proposals import Proposal
from syncd.sync.state.sent_log import list_sent
from syncd.sync.workspace import Workspace

if TYPE_CHECKING:
    from syncd.sync.state.request_commits import SentContent


@dataclass(frozen=True)
class Reading:
    """A change request that is read, and what this run knows of it.

    Shape: `written` is what was just written to it, by id. `layout_commit` says where new pages belong, or is "".
    `own_revisions` are the revisions that the writes of this run made.
    """

    workspace: Workspace
    binding: Binding
    proposal: Proposal
    written: Mapping[str, Anchor]
    layout_commit: str
    own_revisions: tuple[str, ...]

    @property
    def ref(self) -> str:
        """The ref of the change request in Git."""
        return self.workspace.change_ref(self.binding, self.proposal.change_request.number)

    def find_recorded(self) -> str | None:
        """Return the commit that Git has of the change request, or None."""
        return self.workspace.repository.resolve(self.ref)

    def list_sent(self) -> tuple[str, ...]:
        """Return the commits of what was sent and is not recorded as arrived."""
        return list_sent(self.workspace, self.binding, self.proposal.change_request.number)

    def is_own(self, step: "RevisionStep") -> bool:
        """Return whether the last write of this run made the revision."""
        return step.revision.id in self.own_revisions[-1:]


@dataclass(frozen=True)
class RevisionStep:
    """One revision of a change request: where to read it, and the commit of the main content in it, if known."""

    source: Source
    revision: Revision
    main_in_request: str | None


def find_request_base(
    reading: Reading, step: RevisionStep, start: str, here: str, sent: Sequence["SentContent"]
) -> MirrorBase:
    """Return what a revision of a change request is read upon.

    Shape: `start` is the commit that the content lies upon, `here` the one that Git has of the change request, and
    `sent` what was written to it. Where no `layout_commit` says where new pages belong, `start` does.
    """
    workspace, binding, repository = reading.workspace, reading.binding, reading.workspace.repository
    layout_commit = reading.layout_commit or start
    last = repository.find_commit(workspace.main, SPACE, binding.space)
    lanes = {reading.proposal.lane: here}
    base = find_mirror_base(workspace, binding, step.revision, last.oid if last else None, lanes)
    settings_commit = choose_settings_commit(repository, binding, here, layout_commit)
    settings = read_settings_at(repository, binding, settings_commit)
    anchors = move_below_root(base.anchors, base.settings, settings)
    anchors = _keep_proposed_paths(workspace, binding, step.revision, anchors, reading.written, layout_commit)
    known = {anchor.path for anchor in anchors.values()}
    anchors |= _find_left_behind(workspace, binding, start, known)
    anchors |= _find_unsent_files(workspace, binding, step.revision, start, here, known)
    return replace(
        base,
        anchors=anchors,
        start=start,
        is_complete=False,
        written={id: anchor.oid for id, anchor in reading.written.items()} if reading.is_own(step) else {},
        sent=tuple(one.commit for one in sent),
        planned=tuple(one.planned for one in sent),
        at=settings_commit,
        settings=settings,
    )


def _keep_proposed_paths(
    workspace: Workspace,
    binding: Binding,
    revision: Revision,
    anchors: dict[str, Anchor],
    written: Mapping[str, Anchor],
    commit: str,
) -> dict[str, Anchor]:
    """Return anchors that keep each proposed page of a change request's revision where the branch has it.

    What was written in this run is known by id; what an earlier, interrupted run wrote is found by its place in the
    branch's SUMMARY.md. A page that the platform does not name by blob id is read back, to see what became of it.
    """
    plain = assign_paths(revision)
    forms = plain.platform_paths
    loose = {id for id, form in forms.items() if id not in anchors or anchors[id].form != form}
    aligned: dict[str, str] = {}
    if loose - written.keys():
        settings = read_settings_at(workspace.repository, binding, commit)
        entries = read_entries(workspace.repository, binding, commit)
        known = {id: anchor.path for id, anchor in written.items()}
        found = match_pages(revision.pages, entries, settings=settings, known=known)
        aligned = {
            id: path
            for id, path in found.items()
            if id in loose and not (id in anchors and _is_renamed_by_others(anchors[id], path, forms[id], settings))
        }
    listing = workspace.repository.list_files(commit, binding.directory)
    for item in list_bodies(revision, plain):
        former = anchors.get(item.id)
        sent = written.get(item.id)
        if sent is not None:
            oid = sent.oid or (former.oid if former else "")
            same = item.blob == oid if item.blob or item.kind == "page" else bool(sent.oid)
            same = same or (former is not None and former.oid == oid and former.fingerprint == item.fingerprint)
            # An empty fingerprint makes the mirror fetch the body again: needed unless the platform shows that it has
            # exactly the blob that was sent.
            kept = former.fingerprint if former is not None and not sent.oid else ""
            anchors[item.id] = sent._replace(form=item.form, fingerprint=item.fingerprint if same else kept, oid=oid)
        elif (path := aligned.get(item.id)) in listing and path is not None:
            # A text that is known from another path has links as they are written there; it is fetched for this one.
            fingerprint = former.fingerprint if former is not None and former.path == path else ""
            oid = former.oid if former is not None else listing[path].oid
            anchors[item.id] = Anchor(item.id, item.kind, path, item.form, fingerprint, oid)
    return anchors


def _is_renamed_by_others(former: Anchor, path: str, form: str, settings: Settings) -> bool:
    """Whether a page of a change request, which the branch has at a path, has a slug that others gave it.

    That is one that is neither the former one nor what the branch's file asks for. Where the branch gave the file
    another name, the former slug counts as others', too: the branch's was not written then, and main content may have
    renamed the page since the change request began.
    """
    slug, wanted, own = (derive_page_slug(one, settings=settings) for one in (form, path, former.path))
    if wanted == own:
        return former.path == path and slug not in (wanted, derive_page_slug(former.form, settings=settings))
    return re.fullmatch(rf"{re.escape(wanted)}({MOVING})?(-\d+)?", slug, re.IGNORECASE) is None


def _find_left_behind(workspace: Workspace, binding: Binding, commit: str, taken: Collection[str]) -> dict[str, Anchor]:
    """Made-up anchors for files that no page of the revision stands for: the mirror deletes files whose anchor has no
    page, and leaves files without an anchor alone."""
    blobs = workspace.repository.list_files(commit, binding.directory)
    if all(path in taken or not is_markdown(path) or path.endswith(SUMMARY) for path in blobs):
        return {}
    listed = list_page_paths(workspace.repository, binding, commit)
    return {
        LOST_PREFIX + path: Anchor(LOST_PREFIX + path, "page", path, path, "", blobs[path].oid)
        for path in listed - set(taken)
        if path in blobs
    }


def _find_unsent_files(
    workspace: Workspace, binding: Binding, revision: Revision, start: str, here: str, known: Collection[str]
) -> dict[str, Anchor]:
    """Made-up anchors for new files that the platform does not have, such as one that is too large for the API, or a
    reusable content, which only a person can make.

    Without them the commit would say that these have arrived, and nobody would be told of them again."""
    repository = workspace.repository
    settings = read_settings_at(repository, binding, start)
    changes = repository.list_changes(here, start, binding.directory)
    folders = tuple(map(settings.add_root, (ASSETS, INCLUDES)))
    tables = {settings.add_root(VARIABLES): revision.variables, settings.add_root(TAGS): revision.tags}
    added = {
        change.path: change.oid
        for change in changes
        if change.status == "A" and is_decodable(change.path)
        if change.path.startswith(folders) or not tables.get(change.path, True)
    }
    root = settings.add_root("")
    new = {path: oid for path, oid in list_new_files(changes, root=root).items() if path not in known}
    if new:
        listing = repository.list_files(start, binding.directory)
        pages = {path: blob.oid for path, blob in listing.items() if is_markdown(path)}
        linked = find_linking_pages(repository, binding, pages, new, root=root)
        added |= {path: oid for path, oid in new.items() if path in linked}
    return {
        LOST_PREFIX + path: Anchor(LOST_PREFIX + path, "page", path, path, "", oid)
        for path, oid in added.items()
        if path not in known
    }
