"""Carry out the steps of a proposal: batches of content operations, with ids filled in as the platform gives them."""

import base64
import mimetypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from syncd.errors import FileInvalid
from syncd.fault_points import FaultPoint, reach
from syncd.layout.page.frontmatter import read_fields, read_heading, split_emoji
from syncd.layout.tree.draft import decode_page
from syncd.layout.tree.translate import Translation
from syncd.model.anchor import Anchor
from syncd.model.content_write import (
    FILES_MAX,
    OPERATIONS_MAX,
    ContentWrite,
    ContentWritten,
    DeletePage,
    InsertFiles,
    InsertPage,
    NewFile,
    Operation,
    RevertPage,
    UpdatePage,
)
from syncd.plan.propose.moved_pages import find_moved_pages
from syncd.plan.propose.proposal import ContentPlan
from syncd.plan.propose.steps import ROOT, AddFile, DeleteStep, FormerPage, InsertStep, UpdateStep
from syncd.sync.binding import Binding
from syncd.sync.mirror.values import RevisionMoved
from syncd.sync.workspace import Workspace

REQUEST_SIZE_MAX = 4_000_000
"""Characters of Markdown and base64 in one request; the platform names no limit, so stay well below common ones."""
REF = "syncd-new-"
"""Starts the batch-local name of what is inserted; no page is called so."""


@dataclass
class ContentWriter:
    """Writes steps to one change request; `written` holds an anchor for every page and file that was sent.

    Shape: `revision` is the one that the change request is known to be at, `revisions` are those that its writes made.
    """

    workspace: Workspace
    binding: Binding
    change_request: str
    translation: Translation
    revision: str
    written: dict[str, Anchor] = field(default_factory=dict)
    revisions: list[str] = field(default_factory=list)
    _inserted: dict[str, str] = field(default_factory=dict)
    _batch: list[Operation] = field(default_factory=list)
    _inserting: dict[str, InsertStep] = field(default_factory=dict)
    _to_resend: dict[str, str] = field(default_factory=dict)
    _retitled: dict[str, str] = field(default_factory=dict)
    _size: int = 0

    def write(self, proposal: ContentPlan) -> None:
        """Write the steps of a proposal in order, in as few requests as the limits allow.

        Shape: each request leaves a tree that the next run can go on from.
        Raises: RevisionMoved when somebody wrote since it was read; Rejected with status 404 where there is no content
        write; AnswerLost when a batch may have landed.
        """
        self.translation.expect_moves(find_moved_pages(proposal.steps, self.translation.platform_paths))
        for id, path in proposal.placed.items():  # at once, so that links to where a page will be are known
            self._record_written("page", id, path, "")
        # Files first: a page links to a file by the id that the platform gives it.
        for group in self._group_uploads([step for step in proposal.steps if isinstance(step, AddFile)]):
            self._upload(group)
        for step in proposal.steps:
            match step:
                case InsertStep(former=FormerPage() as former):
                    self._restore_page(step, former)
                case InsertStep():
                    self._insert_page(step)
                case UpdateStep():
                    self._update_page(step)
                case DeleteStep():
                    self._add_operations(DeletePage(page=step.id))
        self._send_batch()
        self._resend_pages()
        reach(FaultPoint.CONTENT_WRITTEN)

    def _group_uploads(self, steps: Sequence[AddFile]) -> Iterator[list[tuple[AddFile, NewFile]]]:
        """Yield the files to add in groups that fit one request."""
        group: list[tuple[AddFile, NewFile]] = []
        size = 0
        for step in steps:
            data = self.workspace.repository.read_content(step.oid)
            file = _new_file(step.path, data)
            if group and (len(group) == FILES_MAX or size + len(file.base64) > REQUEST_SIZE_MAX):
                yield group
                group, size = [], 0
            group.append((step, file))
            size += len(file.base64)
        if group:
            yield group

    def _upload(self, group: Sequence[tuple[AddFile, NewFile]]) -> None:
        answer = self._post_operations([InsertFiles(files=tuple(file for _, file in group))])
        for (step, _), file in zip(group, answer.inserted_files, strict=True):
            self._record_written("file", file.id, step.path, step.oid)

    def _insert_page(self, step: InsertStep) -> None:
        text = self._translate_tracked(step.path, step.oid)
        emoji, title = split_emoji(read_heading(text) or "")
        given = {
            "title": step.title,
            "slug": step.slug or None,
            "at": step.at,
            "into": self._find_parent(step.into) or None,
        }
        if emoji and title == step.title:
            given["emoji"] = emoji
        if _own_title(text, step.path) not in (None, step.title):
            # The platform titles an inserted page by its own heading, so the title goes with an update.
            self._retitled[step.path] = step.title
            self._to_resend[step.path] = step.oid
        ref = f"{REF}{len(self._inserting)}"
        fields = {name: value for name, value in given.items() if value is not None}
        operation = InsertPage.model_validate(fields | {"document": {"markdown": text}, "ref": ref})
        self._add_operations(operation, size=len(text))
        self._inserting[ref] = step

    def _restore_page(self, step: InsertStep, former: FormerPage) -> None:
        text = self._translate_tracked(step.path, step.oid)
        fields = {"title": step.title, "slug": step.slug, "at": step.at, "into": self._find_parent(step.into) or None}
        update = UpdatePage.model_validate(fields | {"page": former.id, "document": {"markdown": text}})
        # Together, so that no revision has the page as it was: that would pass for what a reviewer did.
        self._add_operations(RevertPage(page=former.id, revision=former.revision), update, size=len(text))
        self._record_written("page", former.id, step.path, step.oid)

    def _update_page(self, step: UpdateStep) -> None:
        given = {"title": step.title, "slug": step.slug, "at": step.at}
        fields: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        oid = step.oid or step.unchanged
        text = self._translate_tracked(step.path, oid) if oid is not None else None
        if text is not None:
            fields["document"] = {"markdown": text}
        if step.into is not None:
            fields["into"] = self._find_parent(step.into) or None
        operation = UpdatePage.model_validate(fields | {"page": self._find_id(step.id)})
        self._add_operations(operation, size=len(text or ""))
        if not step.later:
            self._record_written("page", step.id, step.path, oid or "")

    def _find_parent(self, into: str) -> str:
        return ROOT if into == ROOT else self._find_id(into)

    def _find_id(self, page: str) -> str:
        """Return a page's id, from the id or from the path of a page inserted before, sending the batch to learn it."""
        if any(step.path == page for step in self._inserting.values()):
            self._send_batch()
        return self._inserted.get(page, page)

    def _translate_tracked(self, path: str, oid: str) -> str:
        text, complete = self._translate(path, oid)
        if not complete:
            self._to_resend[path] = oid
        return text

    def _translate(self, path: str, oid: str) -> tuple[str, bool]:
        text = decode_page(self.workspace.repository.read_content(oid), at=self.binding.path(path))
        return self.translation.translate_outgoing(text, path)

    def _resend_pages(self) -> None:
        """Send some pages once more: with links to pages that have ids only now, or with the title of SUMMARY.md.

        A page is inserted under its heading where it has one; only an update gives it the title of SUMMARY.md.
        """
        dangling, self._to_resend = self._to_resend, {}
        for path, oid in dangling.items():
            text, complete = self._translate(path, oid)
            id = self.translation.find_id(path)
            if id is not None and (complete or path in self._retitled):
                fields = {"title": self._retitled[path]} if path in self._retitled else {}
                update = UpdatePage.model_validate({"page": id, "document": {"markdown": text}, **fields})
                self._add_operations(update, size=len(text))
        self._send_batch()

    def _add_operations(self, *operations: Operation, size: int = 0) -> None:
        """Add operations that must be in one request."""
        is_full = len(self._batch) + len(operations) > OPERATIONS_MAX or self._size + size > REQUEST_SIZE_MAX
        if self._batch and is_full:
            self._send_batch()
        self._batch += operations
        self._size += size

    def _send_batch(self) -> None:
        if not self._batch:
            return
        answer = self._post_operations(self._batch)
        for change in answer.changes:
            step = self._inserting.get(change.ref or "")
            if step is not None and isinstance(change.page, dict):
                self._inserted[step.path] = str(change.page["id"])
                self._record_written("page", self._inserted[step.path], step.path, step.oid)
        self._batch, self._inserting, self._size = [], {}, 0

    def _record_written(self, kind: Any, id: str, path: str, oid: str) -> None:
        self.translation.add(id, path)
        self.written[id] = Anchor(id, kind, path, "", "", oid)

    def _post_operations(self, operations: Sequence[Operation]) -> ContentWritten:
        body = ContentWrite(changes=tuple(operations))
        requests = self.workspace.client.change_requests
        # The API has no conditional write. This keeps the time short in which somebody's edit could be overwritten, and
        # what happens in that time is found afterwards, by walking the revisions back.
        if requests.get(self.binding.space, self.change_request).revision != self.revision:
            raise RevisionMoved(f"change request {self.change_request} changed after it was read")
        answer = requests.write_content(self.binding.space, self.change_request, body)
        self.revision = str(answer.change_request.get("revision") or "")
        self.revisions.append(self.revision)
        return answer


def _own_title(text: str, path: str) -> str | None:
    """The title that a page is inserted under, whatever else it is sent with."""
    try:
        stated = read_fields(text, at=path).get("title")
    except FileInvalid:
        stated = None
    return stated if isinstance(stated, str) and stated else read_heading(text)


def _new_file(path: str, data: bytes) -> NewFile:
    name = path.rsplit("/", 1)[-1]
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return NewFile(name=name, base64=base64.b64encode(data).decode(), content_type=kind)
