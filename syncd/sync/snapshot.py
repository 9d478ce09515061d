"""Bring one revision of a space into Git: fetch what changed, keep what means the same, write one commit."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from syncd.api.parallel import gather
from syncd.errors import NotFound, Unreachable
from syncd.layout.frontmatter import complete
from syncd.layout.placement import Known, Placement, place
from syncd.layout.quiet import same_meaning
from syncd.layout.settings import Settings
from syncd.layout.translate import Translation
from syncd.model.anchor import Anchor
from syncd.model.page import walk
from syncd.model.revision import Revision
from syncd.plan.mirror import MirrorPlan, Wanted, plan_mirror
from syncd.repo import Person, Writer
from syncd.sync.source import Source
from syncd.sync.tables import Tables, settings_at, shape_of
from syncd.sync.workspace import Binding, Workspace

TRIES = 4
"""Times that a moving revision is read before the run gives up until the next interval."""
WORKERS = 8
"""Requests in flight: enough for a server tens of milliseconds away; the rate limit is kept by the transport."""


class RevisionMoved(Unreachable):
    """The content changed while it was read; what was read is discarded."""


@dataclass(frozen=True)
class Base:
    """What is known before the revision is read.

    Shape: `anchors` by id; `start` the commit whose tree the new one starts from; `settled` says that `start` holds
    exactly the anchors, so that nothing needs to be listed; `stored` and `shape` what the store
    remembers of this lane.
    """

    anchors: Mapping[str, Anchor]
    start: str | None
    settled: bool = True
    stored: Mapping[str, Anchor] = field(default_factory=dict)
    shape: str = ""


@dataclass(frozen=True)
class Gathered:
    """One revision, read and planned, with nothing written yet."""

    source: Source
    revision: Revision
    placement: Placement
    plan: MirrorPlan
    base: Base
    settings: Settings


@dataclass(frozen=True)
class Written:
    """The commit that stands for the revision, and the anchors of all that it holds, by id."""

    commit: str
    anchors: Mapping[str, Anchor]
    shape: str = ""


@dataclass(frozen=True)
class Signature:
    """Who and what a commit says it is from."""

    message: str
    author: Person
    parents: tuple[str, ...] = field(default=())


def known_of(anchors: Iterable[Anchor]) -> dict[str, Known]:
    """Given anchors, return what the layout needs of them to keep paths as they are."""
    return {anchor.id: Known(anchor.path, anchor.form) for anchor in anchors}


def gather_content(workspace: Workspace, binding: Binding, source: Source, revision: Revision, base: Base) -> Gathered:
    """Given a revision and a base, return where everything goes and what has to be fetched."""
    settings = settings_at(workspace.repository, binding, base.start)
    placement = place(revision, known=known_of(base.anchors.values()), readme=settings.readme)
    plan = plan_mirror(revision, placement, base.anchors)
    return Gathered(source, revision, placement, plan, base, settings)


def write_content(
    workspace: Workspace, binding: Binding, gathered: Gathered, *, ref: str, old: str | None, signature: Signature
) -> Written:
    """Given a gathered revision, write it as one commit and move `ref` from `old` to it, or change nothing.

    Raises: RevisionMoved when the content changed meanwhile; RefMoved when the ref did.
    """
    with workspace.repository.writer(ref, old=old) as writer:
        composer = _Composer(workspace, binding, gathered, writer)
        put = composer.compose()
        if gathered.source.revision() != gathered.revision.id:
            raise RevisionMoved(f"space {binding.space} changed while it was read", hint="the next run reads it again")
        commit = writer.commit(
            message=signature.message,
            author=signature.author,
            committer=workspace.committer(),
            parents=signature.parents,
            base=gathered.base.start,
        )
    return Written(commit, {anchor.id: anchor for anchor in (*gathered.plan.keep, *put)}, composer.shape)


class _Composer:
    """Streams the changed files of one commit to its writer."""

    def __init__(self, workspace: Workspace, binding: Binding, gathered: Gathered, writer: Writer) -> None:
        self.workspace, self.binding, self.gathered, self.writer = workspace, binding, gathered, writer
        self.repository = workspace.repository
        asked = {item.id for item in gathered.plan.fetch}
        self.pages = {page.id: page for page, _ in walk(gathered.revision.pages) if page.id in asked} if asked else {}
        self.files = {file.id: file for file in gathered.revision.files if file.id in asked}
        self.translation = Translation(gathered.placement)
        self.marks: dict[str, str] = {}
        self.shape = shape_of(gathered.revision, gathered.placement)
        start, base = gathered.base.start, gathered.base
        self.listing = None if base.settled or start is None else self.repository.tree(start, binding.directory)

    def compose(self) -> tuple[Anchor, ...]:
        """Stream every body that changed and name every file that does, and return the anchors that are new."""
        plan = self.gathered.plan
        for path in plan.gone:
            self._remove(path)
        put = (*self._bodies(plan.fetch), *plan.moved)
        for anchor in (*plan.keep, *put) if self.listing is not None else put:
            self._put(anchor.path, anchor.oid)
        base, settings = self.gathered.base, self.gathered.settings
        # A shape that is still the same was written, or found right, when it was stored.
        shaped = base.settled and base.shape == self.shape
        tables = Tables(self.repository, self.binding, self.writer, base.start)
        tables.write(self.gathered.revision, self.gathered.placement, settings, shaped=shaped)
        return put

    def _remove(self, path: str) -> None:
        if self.gathered.base.start is not None and (self.listing is None or path in self.listing):
            self.writer.remove(self.binding.path(path))

    def _put(self, path: str, oid: str) -> None:
        there = self.listing.get(path) if self.listing is not None else None
        if there is None or there.oid != oid:
            self.writer.put(self.binding.path(path), self.marks.get(oid, oid))

    def _bodies(self, items: Sequence[Wanted]) -> Iterator[Anchor]:
        """Fetch what Git does not hold yet; a blob that is there already is not asked for."""
        here = self.repository.present({item.blob for item in items if item.blob})
        missing: list[Wanted] = []
        for item in items:
            if item.blob is not None and item.blob in here:
                yield self._finish(item, self.repository.read(item.blob), item.blob)
            else:
                missing.append(item)
        for done, (item, body) in enumerate(gather(self._fetch, missing, workers=WORKERS), start=1):
            self.workspace.progress(f"fetching {self.binding.name}", done, len(missing))
            yield self._finish(item, body, None)

    def _fetch(self, item: Wanted) -> bytes:
        try:
            return self._fetched(item)
        except NotFound as missing:  # deleted since the content was read, or never there
            if self.gathered.source.revision() == self.gathered.revision.id:
                raise
            raise RevisionMoved(f"space {self.binding.space} changed while it was read") from missing

    def _fetched(self, item: Wanted) -> bytes:
        source = self.gathered.source
        if item.kind == "page":
            return self._file_text(item, source.page(item.id).markdown or "")
        if item.kind == "include":
            return (source.include(item.id).markdown or "").encode()
        try:
            return self.workspace.client.content.download(self.files[item.id])
        except NotFound:  # download addresses expire; a fresh one is in the file's own answer
            return self.workspace.client.content.download(source.file(item.id))

    def _file_text(self, item: Wanted, markdown: str) -> bytes:
        """Given a page's Markdown as answered, return the file: exactly that where the platform names it."""
        body = markdown.encode()
        if item.blob is not None and blob_oid(body) == item.blob:
            return body
        page = self.pages[item.id]
        return complete(markdown, page, address=lambda reference: self.translation.address(reference, item.id)).encode()

    def _finish(self, item: Wanted, body: bytes, here: str | None) -> Anchor:
        """Given a body as the platform has it, return its anchor; bytes that mean the same stay as they are in Git."""
        text = body if item.kind == "file" else self.translation.incoming(body, item.id)
        oid = here if here is not None and text is body else blob_oid(text)
        if oid != here and item.kind != "file" and (former := self._former(item)) is not None:
            oid = former if former == oid or same_meaning(self.repository.read(former), text, at=item.path) else oid
            here = former
        if oid != here:
            self.marks[oid] = self.writer.blob(text)
        return Anchor(item.id, item.kind, item.path, item.form, item.fingerprint, oid)

    def _former(self, item: Wanted) -> str | None:
        """Given a body's place, return the blob that Git holds for it now."""
        if self.listing is not None:
            there = self.listing.get(item.path)
            return there.oid if there is not None else None
        anchor = self.gathered.base.anchors.get(item.id)
        return anchor.oid if anchor is not None and self.gathered.base.start is not None else None


def blob_oid(data: bytes) -> str:
    """Given a body, return the Git blob id that stands for it."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
