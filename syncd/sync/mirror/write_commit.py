"""Bring one revision of a space into Git: fetch what changed, keep what means the same, write one commit."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from syncd.errors import PathRefused
from syncd.layout.tree.settings import SETTINGS_PATH
from syncd.model.anchor import Anchor
from syncd.model.wording import format_first
from syncd.repo.write.writer import Writer
from syncd.sync.binding import Binding
from syncd.sync.merge.moves import find_moves_by_id, render_moves
from syncd.sync.mirror.anchors import LOST_PREFIX, list_page_paths
from syncd.sync.mirror.fetch import BodyFetcher
from syncd.sync.mirror.incoming_links import follow_links
from syncd.sync.mirror.space_files import FormerFiles, SpaceFilesWriter, compute_shape
from syncd.sync.mirror.values import GatheredRevision, RevisionMoved, Signature, WrittenCommit
from syncd.sync.workspace import Workspace

NAMES_SHOWN = 5
"""Paths that an error names of those that are in the way."""


def write_content(
    workspace: Workspace,
    binding: Binding,
    gathered: GatheredRevision,
    *,
    ref: str,
    old: str | None,
    signature: Signature,
    former: Mapping[str, Anchor],
) -> WrittenCommit:
    """Write a gathered revision as one commit, move `ref` from `old` to it and return it, or change nothing.

    Shape: `former` are the anchors of the parent's content, by which the commit records pages that moved.
    Raises: RevisionMoved when the content changed meanwhile; RefMoved when the ref did.
    """
    with workspace.repository.open_writer(ref, old=old) as writer:
        composer = _CommitComposer(workspace, binding, gathered, writer, former)
        with composer.bodies.keep_fetched():
            put = composer.compose()
            # Bodies are read one after another, and are those of the present revision: a commit must not mix two.
            if gathered.source.revision() != gathered.revision.id:
                raise RevisionMoved(
                    f"space {binding.space} changed while it was read", hint="the next run reads it again"
                )
            composer.bodies.forms.save()
            anchors = {anchor.id: anchor for anchor in (*gathered.plan.keep, *put)}
            moves = find_moves_by_id(binding, former, anchors)
            commit = writer.commit(
                message=signature.message + render_moves(moves),
                author=signature.author,
                committer=replace(workspace.committer(), when=signature.author.when),
                parents=signature.parents,
                base=gathered.base.start,
            )
    notes = (*composer.bodies.incoming_texts.notes, *composer.bodies.forms.notes)
    return WrittenCommit(commit, anchors, composer.shape, composer.bodies.is_partial, notes, moves)


class _CommitComposer:
    """Streams the changed files of one commit to its writer."""

    def __init__(
        self,
        workspace: Workspace,
        binding: Binding,
        gathered: GatheredRevision,
        writer: Writer,
        former: Mapping[str, Anchor],
    ) -> None:
        self.workspace, self.binding, self.gathered, self.writer = workspace, binding, gathered, writer
        self.former = former
        self.repository = workspace.repository
        self.shape = compute_shape(gathered.revision, gathered.placement)
        start, base = gathered.base.start, gathered.base
        self.listing = (
            None if base.is_complete or start is None else self.repository.list_files(start, binding.directory)
        )
        self.bodies = BodyFetcher(workspace, binding, gathered, writer, self.listing)

    def compose(self) -> tuple[Anchor, ...]:
        """Stream every body that changed and name every file that does, and return the anchors that are new."""
        plan = self.gathered.plan
        _check_obstacles(self.workspace, self.binding, self.gathered.base.start, self._list_new_paths())
        left = self._list_left_paths()
        drafts = self._find_drafts(left)
        for path in left:
            if path not in drafts:
                self._remove(path)
        arrived = self.bodies.fetch_all()
        put = {a.id: a for group in (arrived, plan.moved) for a in group}
        put |= {a.id: a for a in follow_links(self.repository, self.gathered, self.bodies.write_text)}
        for anchor in (*plan.keep, *put.values()) if self.listing is not None else put.values():
            self._put(anchor)
        base, settings = self.gathered.base, self.gathered.settings
        # When a shape was stored, SUMMARY.md was written for it, or found right.
        is_current = base.shape == self.shape and (base.is_complete or self._is_summary_unchanged())
        if self.gathered.carried_settings:
            self.writer.put(self.binding.path(SETTINGS_PATH), self.gathered.carried_settings)
        elif self.gathered.carried_settings is not None:
            self._remove(SETTINGS_PATH)
        before = FormerFiles(base.start, base.settings, base.seen, base.shape)
        tables = SpaceFilesWriter(self.repository, self.binding, self.writer, before)
        tables.write(self.gathered.revision, self.gathered.placement, settings, is_summary_current=is_current)
        return tuple(put.values())

    def _list_left_paths(self) -> Sequence[str]:
        """The paths that nothing is at any more. A page that a merged change request has elsewhere than main content
        has left both paths, or one of them."""
        base, plan = self.gathered.base, self.gathered.plan
        former = {a.path for id, a in self.former.items() if id in base.anchors and base.anchors[id].path != a.path}
        # Of another clone's change request only the commit is known: each page that it lists was on the platform.
        for commit in base.named:
            former |= list_page_paths(self.repository, self.binding, commit)
        if not former:
            return plan.gone
        taken = {item.path for item in plan.fetch} | {a.path for a in (*plan.keep, *plan.moved)}
        return sorted({*plan.gone, *(former - taken)})

    def _find_drafts(self, left: Iterable[str]) -> set[str]:
        """Of the paths that pages have left, those at which the branch has files that its table of contents does not
        list: these are no pages any more, but the branch's own. A made-up anchor says that its file has to go, and so
        does one that is there for main content alone, in conflict with the branch."""
        base, listing = self.gathered.base, self.listing or {}
        files = {path for path in left if path in listing and self._has_branch_file(path)}
        if not files or base.start is None:
            return set()
        known = (*base.anchors.items(), *self.former.items())
        pages = {one.path for id, one in known if one.kind == "page" and not id.startswith(LOST_PREFIX)}
        return (files & pages) - list_page_paths(self.repository, self.binding, base.start)

    def _has_branch_file(self, path: str) -> bool:
        """Whether a branch whose change request was merged has a file at a path; without one, main content tells."""
        heads, full = self.gathered.base.heads, self.binding.path(path)
        return not heads or any(self.repository.lookup(head, full) is not None for head in heads)

    def _is_summary_unchanged(self) -> bool:
        """Whether SUMMARY.md is still that of the last mirror commit, where it was found right."""
        base, repository = self.gathered.base, self.repository
        path = self.binding.path(self.gathered.settings.add_root(self.gathered.settings.summary))
        current = repository.lookup(base.start, path) if base.start is not None else None
        return current is not None and base.seen is not None and current == repository.lookup(base.seen, path)

    def _list_new_paths(self) -> list[str]:
        """The paths that the commit is to have and that no file may be at yet."""
        plan, known, settings = self.gathered.plan, self.gathered.base.anchors, self.gathered.settings
        moved = [anchor.path for anchor in plan.moved]
        if self.listing is not None:  # nobody has looked yet at what is there
            return [*(item.path for item in plan.fetch), *moved, settings.add_root(settings.summary)]
        new = (item for item in plan.fetch if item.id not in known or known[item.id].path != item.path)
        return [*(item.path for item in new), *moved]

    def _remove(self, path: str) -> None:
        if self.gathered.base.start is not None and (self.listing is None or path in self.listing):
            self.writer.remove(self.binding.path(path))

    def _put(self, anchor: Anchor) -> None:
        current = self.listing.get(anchor.path) if self.listing is not None else None
        if current is None or current.oid != anchor.oid:
            former = self.binding.path(self.gathered.base.anchors.get(anchor.id, anchor).path)
            blob = self.bodies.marks.get(anchor.oid, anchor.oid)
            self.writer.put(self.binding.path(anchor.path), blob, former=former)


def _check_obstacles(workspace: Workspace, binding: Binding, commit: str | None, paths: Iterable[str]) -> None:
    """Require that only files are at the paths that a mirror commit is to have on top of another commit.

    Raises: PathRefused naming what is in the way.
    """
    if commit is None:
        return
    found = workspace.repository.find_obstacles(commit, map(binding.path, paths))
    if found:
        names = format_first([f"{path} is a {kind}" for path, kind in sorted(found.items())], NAMES_SHOWN)
        raise PathRefused(
            f"the platform has a page or file where Git has none to replace: {names}",
            hint="replace it by a file or a directory and commit, or rename what is there on the platform",
        )
