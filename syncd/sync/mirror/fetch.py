"""Fetch the bodies that a commit needs, as Git will hold them; what was fetched outlives a run that is cut off.

After so many bodies the blobs are made durable in Git, and their anchors are recorded in a lane of the store of their
own. A later run takes from there what the platform still has in the same version, and fetches only the rest. A body
is recorded only when it is certain to be of that version: the content may move while it is read.
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from io import BytesIO
from tempfile import SpooledTemporaryFile
from typing import IO, NamedTuple

from syncd.api.parallel import run_parallel
from syncd.errors import ContentMissing, NotFound, SyncdError
from syncd.layout.page.frontmatter import add_title, complete_page
from syncd.layout.tree.lfs_pointers import SIZE_MAX, LfsPointer, parse_pointer
from syncd.layout.tree.translate import Translation
from syncd.model.anchor import Anchor
from syncd.model.blob_id import begin_blob_hash, compute_blob_id
from syncd.model.page import walk_pages
from syncd.model.text import quote_name
from syncd.plan.mirror.revision import RevisionBody, compute_fingerprint
from syncd.repo.failures import translate_system_failures
from syncd.repo.repository import Repository
from syncd.repo.values import Blob
from syncd.repo.write.writer import Writer
from syncd.sync.binding import Binding
from syncd.sync.merge.lossy_forms import GitVersions, NormalisedForms
from syncd.sync.merge.summaries import read_summary
from syncd.sync.mirror.incoming_links import IncomingTexts
from syncd.sync.mirror.values import PARTIAL, GatheredRevision, RevisionMoved
from syncd.sync.workspace import Workspace

WORKERS = 16
"""Requests in flight: from a server 30 ms away twice the pages of eight; the transport keeps to the rate limit."""
BATCH = 128
"""Bodies until they are made durable: of fewer than a hundred Git would make a loose object each."""
SHARE = 100
"""Part of all bodies that may be lost, where that is more."""
BATCH_BYTES = 64 << 20
IN_MEMORY = 1 << 19
"""Bytes of a file that are held in memory; the rest of a larger one waits on the repository's disk."""
PIECE = 1 << 16

Body = bytes | IO[bytes]


class Fetched(NamedTuple):
    """A body as the platform answered it; `is_proven` says that the answer itself shows it is of this revision."""

    body: Body
    is_proven: bool


class BodyFetcher:
    """Streams what changed to the writer of one commit; `marks` stand for the blobs that it does not have by id yet."""

    def __init__(
        self,
        workspace: Workspace,
        binding: Binding,
        gathered: GatheredRevision,
        writer: Writer,
        listing: Mapping[str, Blob] | None,
    ) -> None:
        self.workspace, self.binding, self.gathered, self.writer = workspace, binding, gathered, writer
        self.repository, self.listing = workspace.repository, listing
        wanted_ids = {item.id for item in gathered.plan.fetch}
        self.pages = (
            {page.id: page for page, _ in walk_pages(gathered.revision.pages) if page.id in wanted_ids}
            if wanted_ids
            else {}
        )
        self.files = {file.id: file for file in gathered.revision.files if file.id in wanted_ids}
        self.translation = Translation(gathered.placement)
        self.incoming_texts = IncomingTexts(self.repository, binding, gathered, self.translation)
        self.forms = NormalisedForms(workspace, binding)
        files = (item for item in gathered.plan.fetch if item.kind == "file")
        self.pointers = LfsPointers(self.repository, (blob for item in files for blob in self._list_blobs(item)))
        self._sent: list[dict[str, Blob]] | None = None
        self._planned: list[dict[str, str]] | None = None
        self._retitled: set[str] | None = None
        self.marks: dict[str, str] = {}
        self.is_partial = False
        self._pending: list[Anchor] = []
        self._unconfirmed: list[Anchor] = []
        """What may be of a later revision, as far as anybody knows yet."""
        self._bytes = 0

    def fetch_all(self) -> Iterator[Anchor]:
        """Yield an anchor for every body to fetch; one that Git or the store knows already is not asked for."""
        items = self.gathered.plan.fetch
        saved = self._find_saved(items)
        here = self.repository.select_present(
            {item.blob for item in items if item.blob} | {a.oid for a in saved.values()}
        )
        missing: list[RevisionBody] = []
        for item in items:
            anchor = saved.get(item.id)
            if anchor is not None and anchor.oid in here:
                yield anchor
            elif item.blob is not None and item.blob in here:
                yield self._read_present(item, item.blob)
            else:
                missing.append(item)
        yield from self._fetch_missing(missing)

    @contextmanager
    def keep_fetched(self) -> Iterator[None]:
        """Whatever ends the block early, what was fetched in it for certain is not fetched again."""
        try:
            yield
        except SyncdError:
            with suppress(SyncdError):
                self._save_pending()
            raise

    def _find_saved(self, items: Sequence[RevisionBody]) -> dict[str, Anchor]:
        """What a run that was cut off has fetched, and is still so on the platform, by id."""
        seen = self.workspace.store.read_last_seen(self.binding.space, PARTIAL) if items else None
        if seen is None:
            return {}
        self.is_partial = True
        known = ((item, seen.anchors.get(item.id)) for item in items if item.fingerprint)
        return {item.id: anchor for item, anchor in known if anchor is not None and anchor[:5] == item[:5]}

    def _fetch_missing(self, items: Sequence[RevisionBody]) -> Iterator[Anchor]:
        batch = max(BATCH, len(items) // SHARE)
        for done, (item, fetched) in enumerate(run_parallel(self._fetch_one, items, workers=WORKERS), start=1):
            self.workspace.progress(f"fetching {self.binding.name}", done, len(items))
            body, proven = fetched
            if item.kind == "file":
                assert not isinstance(body, bytes)
                anchor = self._stream_file(item, body)
            else:
                anchor = self._store_text(item, _read_body(body))
            # Without a fingerprint, a later run could not tell whether the body is still current. A form that is not
            # saved yet is lost with this run, and the body has to be read again to learn it.
            if anchor.fingerprint and not self.forms.has_unsaved(anchor.id):
                (self._pending if proven or anchor.oid == item.blob else self._unconfirmed).append(anchor)
            if len(self._pending) + len(self._unconfirmed) >= batch or self._bytes >= BATCH_BYTES:
                self._confirm_unmoved()
                self._save_pending()
            yield anchor

    def _confirm_unmoved(self) -> None:
        """Check that the revision has not moved, so that all that was read so far is of it. Raises: RevisionMoved."""
        if self._unconfirmed and self.gathered.source.revision() != self.gathered.revision.id:
            raise RevisionMoved(f"space {self.binding.space} changed while it was read")
        self._pending += self._unconfirmed
        self._unconfirmed = []

    def _save_pending(self) -> None:
        """Make what was fetched durable, first the blobs, then the record of them."""
        if self._pending:
            self.writer.checkpoint()
            self.is_partial = True
            revision = self.gathered.revision.id
            self.workspace.store.save_last_seen(
                self.binding.space, PARTIAL, revision=revision, commit="", put=self._pending, removed=()
            )
        self._pending, self._bytes = [], 0

    def _fetch_one(self, item: RevisionBody) -> Fetched:
        try:
            with self.workspace.client.hold_large_answers():
                return self._spool_large(self._fetch_body(item))
        except NotFound as missing:  # deleted since the content was read, or never there
            if self.gathered.source.revision() == self.gathered.revision.id:
                raise self._describe_missing(item, missing) from missing
            raise RevisionMoved(f"space {self.binding.space} changed while it was read") from missing

    def _describe_missing(self, item: RevisionBody, missing: NotFound) -> ContentMissing:
        return ContentMissing(
            f"the platform lists the {item.kind} {quote_name(self.binding.path(item.path))} ({item.id}) and has no "
            f"content for it ({missing.what})",
            status=missing.status,
            hint="put it on the platform anew and delete this one; "
            f"until then nothing new of the space {self.binding.name} is mirrored",
        )

    def _fetch_body(self, item: RevisionBody) -> Fetched:
        source = self.gathered.source
        if item.kind == "page":
            page = source.page(item.id)
            return Fetched(
                self._complete_page(item, page.markdown or ""), compute_fingerprint(page) == item.fingerprint
            )
        if item.kind == "include":
            content = source.include(item.id)
            text = self._complete_include(item, content.markdown or "", content.title)
            return Fetched(text, compute_fingerprint(content) == item.fingerprint)
        return Fetched(self._download_file(item), is_proven=False)  # bytes do not say which revision they are of

    def _spool_large(self, fetched: Fetched) -> Fetched:
        """A large text waits on the repository's disk until it is its turn: sixteen threads may be ahead with one."""
        if not isinstance(fetched.body, bytes) or len(fetched.body) <= IN_MEMORY:
            return fetched
        with translate_system_failures("storing a page"), ExitStack() as stack:
            into = stack.enter_context(self._open_spool())
            into.write(fetched.body)
            stack.pop_all()
        return fetched._replace(body=into)

    def _open_spool(self) -> IO[bytes]:
        return SpooledTemporaryFile(IN_MEMORY, dir=str(self.repository.git_dir))

    def _download_file(self, item: RevisionBody) -> Body:
        content, file = self.workspace.client.content, self.files[item.id]
        with translate_system_failures(f"storing {item.path}"), ExitStack() as stack:
            into = stack.enter_context(self._open_spool())
            try:
                content.download(file, into)
            except NotFound:  # download addresses expire; a fresh one is in the file's own answer
                content.download(self.gathered.source.file(item.id), into)
            stack.pop_all()
            return into

    def _complete_page(self, item: RevisionBody, markdown: str) -> bytes:
        """Return the file of a page from its Markdown as answered: exactly that where the platform names its blob."""
        body = markdown.encode()
        if item.blob is not None and compute_blob_id(body) == item.blob:
            return body
        page = self.pages[item.id]
        return complete_page(
            markdown, page, find_address=lambda reference: self.translation.format_address(reference, item.id)
        ).encode()

    def _complete_include(self, item: RevisionBody, markdown: str, title: str) -> bytes:
        body = markdown.encode()
        return (
            body
            if item.blob is not None and compute_blob_id(body) == item.blob
            else add_title(markdown, title).encode()
        )

    def _read_present(self, item: RevisionBody, blob: str) -> Anchor:
        """Return the anchor of a body that Git has already as the platform has it."""
        if item.kind != "file":
            return self._store_text(item, self.repository.read(blob), blob)
        return _build_anchor(
            item,
            self.pointers.find_pointer(self._list_blobs(item), lambda: BytesIO(self.repository.read(blob))) or blob,
        )

    def _stream_file(self, item: RevisionBody, file: IO[bytes]) -> Anchor:
        """Write a downloaded file piece by piece, and return its anchor."""
        with file, translate_system_failures(f"reading {item.path}"):
            if (pointer := self.pointers.find_pointer(self._list_blobs(item), lambda: file)) is not None:
                return _build_anchor(item, pointer)
            size = file.seek(0, os.SEEK_END)
            file.seek(0)
            digest = begin_blob_hash(size)

            def pieces() -> Iterator[bytes]:
                while piece := file.read(PIECE):
                    digest.update(piece)
                    yield piece

            mark = self.writer.stream(size, pieces())
        oid = digest.hexdigest()
        self.marks[oid] = mark
        self._bytes += size
        return _build_anchor(item, oid)

    def _store_text(self, item: RevisionBody, body: bytes, here: str | None = None) -> Anchor:
        """Write a text as Git is to have it, where Git lacks it, and return its anchor."""
        former, page = self._find_former_blob(item), self.pages.get(item.id)
        text = self.incoming_texts.convert_text(item, body, former, title=page.title if page is not None else "")
        oid = here if here is not None and text is body else compute_blob_id(text)
        git = self._find_git_versions(item)
        if oid not in git.blobs[:1]:
            settled = self.forms.choose_text(item.id, text, git, at=item.path)
            text, oid = settled, oid if settled is text else compute_blob_id(settled)
        if oid not in (here, *git.list_all()):
            self.write_text(text)
        return _build_anchor(item, oid)

    def _find_git_versions(self, item: RevisionBody) -> GitVersions:
        """What Git has, or may have, for a body that has just been read."""
        base = self.gathered.base
        blobs = self._list_blobs(item)
        present = self.repository.select_present(blobs)
        if self._sent is None:
            self._sent = [self.repository.list_files(commit, self.binding.directory) for commit in base.sent]
        sent = tuple(tree[item.path].oid for tree in self._sent if item.path in tree)
        known = base.anchors.get(item.id)
        arrived = known.oid if known is not None else ""
        kept = tuple(blob for blob in blobs if blob in present and (blob == arrived or blob not in sent))
        versions = GitVersions((*kept, *self._list_planned(item.path)), base.written.get(item.id, ""), sent)
        return replace(versions, is_resent=self.binding.path(item.path) in self._find_retitled()) if sent else versions

    def _find_retitled(self) -> set[str]:
        """The paths, from the root, of pages that were sent with another title, which takes the text along, or path."""
        if self._retitled is None:
            base = self.gathered.base
            self._retitled = set()
            for former, commit in zip(base.planned, base.sent, strict=True):
                before, after = (read_summary(self.repository, self.binding, one) for one in (former, commit))
                titles = {path: entry.title for path, entry in before.index_pages().items()} if before else {}
                pages = after.index_pages().items() if after else ()
                self._retitled |= {path for path, entry in pages if titles.get(path) != entry.title}
        return self._retitled

    def _list_planned(self, path: str) -> Iterator[str]:
        """What a page was when something was sent: nothing of it may have arrived, and main content may have moved."""
        if self._planned is None:
            self._planned = [
                self._list_by_later_path(former, commit)
                for former, commit in zip(self.gathered.base.planned, self.gathered.base.sent, strict=True)
            ]
        yield from dict.fromkeys(tree[path] for tree in self._planned if path in tree)

    def _list_by_later_path(self, former: str, commit: str) -> dict[str, str]:
        """The blobs of a space in a commit, by the paths that a later commit has given them."""
        directory = self.binding.directory
        found = {path: blob.oid for path, blob in self.repository.list_files(former, directory).items()}
        for change in self.repository.list_changes(former, commit, directory, renames=True):
            if change.old_path in found:
                found.setdefault(change.path, found[change.old_path])
        return found

    def _list_blobs(self, item: RevisionBody) -> list[str]:
        """What Git has in a body's place, and what it is known to have had for it."""
        known = self.gathered.base.anchors.get(item.id)
        return [blob for blob in dict.fromkeys((self._find_former_blob(item), known and known.oid)) if blob]

    def write_text(self, text: bytes) -> str:
        """Send a text to the writer, and return its blob id."""
        oid = compute_blob_id(text)
        self.marks[oid] = self.writer.write_blob(text)
        self._bytes += len(text)
        return oid

    def _find_former_blob(self, item: RevisionBody) -> str | None:
        """Return the blob that Git has in the place of a body, or None."""
        if self.listing is not None:
            blob = self.listing.get(item.path)
            return blob.oid if blob is not None else None
        anchor = self.gathered.base.anchors.get(item.id)
        return anchor.oid if anchor is not None and self.gathered.base.start is not None else None


def _read_body(body: Body) -> bytes:
    if isinstance(body, bytes):
        return body
    with body, translate_system_failures("reading a page"):
        body.seek(0)
        return body.read()


def _build_anchor(item: RevisionBody, oid: str) -> Anchor:
    return Anchor(item.id, item.kind, item.path, item.form, item.fingerprint, oid)


class LfsPointers:
    """The pointers among the blobs that Git has for some files."""

    def __init__(self, repository: Repository, blobs: Iterable[str]) -> None:
        """Find the Git LFS pointers among blobs; only what is small enough to be one is read."""
        sizes = repository.read_sizes(set(blobs))
        small = sorted(oid for oid, size in sizes.items() if size <= SIZE_MAX)
        read = ((oid, parse_pointer(repository.read(oid))) for oid in small)
        self._pointers: dict[str, LfsPointer] = {oid: pointer for oid, pointer in read if pointer is not None}

    def find_pointer(self, blobs: Sequence[str], opened: Callable[[], IO[bytes]]) -> str | None:
        """Return which of the blobs that Git has points to a file as the platform has it, or None."""
        found = {pointer: blob for blob in reversed(blobs) if (pointer := self._pointers.get(blob)) is not None}
        if not found:
            return None
        file = opened()
        size = file.seek(0, os.SEEK_END)
        if all(pointer.size != size for pointer in found):
            return None
        file.seek(0)
        digest = hashlib.sha256()
        while piece := file.read(PIECE):
            digest.update(piece)
        return found.get(LfsPointer(digest.hexdigest(), size))
