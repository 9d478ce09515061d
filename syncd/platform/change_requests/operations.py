"""One content write: its operations on a draft, in order; all of them, or none."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from syncd.layout.tree.paths import make_collision_key, slugify
from syncd.model.content_write import (
    ContentWrite,
    DeletePage,
    InsertFiles,
    InsertPage,
    Markdown,
    Operation,
    PageMetadata,
    RevertPage,
    RichText,
    UpdatePage,
)
from syncd.model.document import Document
from syncd.platform.change_requests.document_text import render_changed_text, render_new_text
from syncd.platform.change_requests.fetch import FetchedFile
from syncd.platform.change_requests.revert import revert_blocks
from syncd.platform.change_requests.write import DraftTexts, decode_file
from syncd.platform.http import rich_text
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.failures import Failure
from syncd.platform.revisions.metadata import KEYS, find_frontmatter_title, find_title, replace_title
from syncd.platform.revisions.outline import Draft, Outline, has_path, is_page
from syncd.platform.revisions.paths import DraftPaths, find_free_slug, find_sibling_slugs
from syncd.platform.revisions.tree import FILES, PAGES, Node

DEPTH_MAX = 64
"""Pages within pages; the document names no limit, and every reader of a tree needs one."""
UNTITLED = "Untitled"

_SLUG = re.compile(r"(?!\.{1,2}$)[^\x00-\x20\x7f/\\?#%][^\x00-\x1f\x7f/\\?#%]*(?<! )")
_REF = re.compile(r"[^\s\x00-\x1f#()<>]{1,256}")


class Changes(RequestBody, ContentWrite):
    """Body of a content write."""


@dataclass
class ContentBatch:
    """The state of one content write.

    Shape: `open_past` returns the tree of a revision, "" standing for the change request's base; `space` is the id of
    the space; `fetched` has by its address each file that the operations name by one; `touched` has each affected page
    once, in first-touched order, with what became of it.
    """

    draft: Draft
    texts: DraftTexts
    new_id: Callable[[], str]
    open_past: Callable[[str], Outline]
    space: str = ""
    fetched: Mapping[str, FetchedFile] = field(default_factory=dict)
    touched: dict[str, str] = field(default_factory=dict)
    inserted_files: list[str] = field(default_factory=list)
    _moved: set[str] = field(default_factory=set)
    _parents: set[str] = field(default_factory=set)
    _restored: list[str] = field(default_factory=list)

    def apply(self, changes: Iterable[Operation]) -> None:
        """Apply operations to the draft in order, and store the bodies that they change.

        Raises: Failure with the status of the first operation that is refused, such as 400, naming it.
        """
        for at, change in enumerate(changes):
            try:
                self._apply_operation(change)
            except Failure as refusal:
                raise Failure(refusal.status, f"changes[{at}]: {refusal.message}") from refusal
        # A later operation may move or rename what an earlier one has made, so paths are given at the end; and texts
        # have links relative to these paths.
        placing = DraftPaths(self.draft)
        placing.resolve_clashes(id for id in self._restored if id in self.draft)
        placing.allocate_page_paths(self._moved, self._parents)
        self.texts.follow_moves()
        self.texts.write_all(self.touched)

    def _apply_operation(self, change: Operation) -> None:
        match change:
            case InsertPage():
                self._insert_page(change)
            case UpdatePage():
                self._update_page(change)
            case DeletePage():
                self._delete_page(change.page)
            case RevertPage():
                self._revert_page(change)
            case InsertFiles():
                self._insert_files(change)

    def _insert_page(self, change: InsertPage) -> None:
        parent, text, id = self._require_parent(change.into or None), self._render_inserted_text(change), self.new_id()
        title = find_title(text) or change.title or UNTITLED
        slug = self._choose_new_slug(change, parent, title)
        fields = {"createdAt": self.texts.moment} | ({"emoji": change.emoji} if change.emoji else {})
        self.draft.insert(Node(id, "document", title, slug, fields), parent, change.at)
        self._check_depth(id)
        self.texts.replace_text(id, text, _read_members(change))
        self._moved.add(id)
        self._parents.add(parent)
        self._note_change(id, "created_page")
        if change.ref is not None:
            self._register_ref(change.ref, id, self.texts.references.pages)

    def _update_page(self, change: UpdatePage) -> None:
        node = self._require_page(change.page)
        parent = self.draft.parent(node.id)
        into = self._require_parent(change.into) if "into" in change.model_fields_set else parent
        self._move_page(node.id, into, change.at)
        slug = self._choose_slug(change, node, moved=into != parent)
        text = self._render_updated_text(change, node)
        stated = find_frontmatter_title(text) if text else None
        fields = dict(node.fields)
        if change.emoji is not None:
            fields.pop("emoji", None)
            fields |= {"emoji": change.emoji} if change.emoji else {}
        title = stated or change.title or node.title
        self.draft.replace_node(replace(node, title=title, slug=slug, fields=fields))
        self._write_page(change, node, text)
        self._note_change(node.id, "updated_page")

    def _write_page(self, change: UpdatePage, former: Node, text: str | None) -> None:
        members = _read_members(change)
        if former.type == "document":
            if text is not None and isinstance(change.document, RichText):
                self.texts.replace_document(former.id, text, members)
            elif text is not None:
                self.texts.replace_text(former.id, text, members)
            elif members or change.title:
                self.texts.write_members(former.id, members, former=former.title)
            return
        if text is not None:
            raise Failure(400, f"{former.id} is a {former.type}, which has no document")
        node = self.draft.node(former.id)
        kept = {name: value for name, value in node.fields.items() if name not in members}
        self.draft.replace_node(replace(node, fields=kept | {name: value for name, value in members.items() if value}))

    def _delete_page(self, id: str) -> None:
        self._require_page(id)
        self._parents.add(self.draft.parent(id))
        for each in list(self.draft.walk(id)):
            self.texts.drop_text(each)
            # What a batch both creates and deletes was never there for anybody.
            if each != id or self.touched.get(id) == "created_page":
                self.touched.pop(each, None)
        if id in self.draft.base.entries:
            self._note_change(id, "deleted_page")
        self.draft.remove(id)

    def _render_inserted_text(self, change: InsertPage) -> str:
        match change.document:
            case Markdown():
                return change.document.markdown
            case RichText():
                document = _check_rich_text(change.document)
                return render_new_text(document, title=change.title, known=self.draft, space=self.space)
        return ""

    def _render_updated_text(self, change: UpdatePage, node: Node) -> str | None:
        """Return the text that a page is to have, None when it keeps its own."""
        match change.document:
            case Markdown():
                return change.document.markdown
            case RichText() if node.type == "document":
                former = self.texts.read_text(node.id)
                if change.title is not None:
                    former = replace_title(former, former=node.title, title=change.title)
                document, title = _check_rich_text(change.document), change.title or node.title
                return render_changed_text(document, former=former, title=title, known=self.draft, space=self.space)
            case RichText():
                return ""
        return None

    def _revert_page(self, change: RevertPage) -> None:
        past = self.open_past(change.revision or "")
        entry = past.entries.get(change.page)
        if change.block is not None:
            self._revert_blocks(change.page, change.block, None if entry is None else entry.node.body)
        elif entry is None or not is_page(entry.node):
            self._delete_page(change.page)
        elif change.page in self.draft:
            self._reset_page(past, self._require_page(change.page))
        else:
            self._restore_page(past, change.page)

    def _revert_blocks(self, id: str, wanted: Collection[str], former: str | None) -> None:
        node = self._require_page(id)
        if node.type != "document":
            raise Failure(400, f"{id} is a {node.type}, which has no blocks")
        now = self.texts.read_text(id)
        then = self.texts.blobs.get(former).decode() if former else ""
        text = revert_blocks(now, then, wanted)
        if text != now:
            self.texts.replace_text(id, text, {})
        self._note_change(id, "updated_page")

    def _reset_page(self, past: Outline, now: Node) -> None:
        entry = past.entries[now.id]
        parent = self.draft.parent(now.id)
        into = entry.parent if entry.parent in self.draft else parent
        if into != parent:
            self._move_page(now.id, into, past.order[entry.parent].index(now.id))
        self._check_slug(entry.node.slug, into, but=now.id)
        self.texts.restore_text(now.id, past)
        self._moved.discard(now.id)
        self._restored.append(now.id)
        self._parents.update((now.id, into))
        self.draft.replace_node(entry.node)
        self._note_change(now.id, "updated_page")

    def _restore_page(self, past: Outline, id: str) -> None:
        """Insert a deleted page again, with what it held and nobody moved elsewhere."""
        pending = [id]
        while pending:
            entry = past.entries[pending.pop()]
            if entry.node.id in self.draft:
                continue
            parent = entry.parent if entry.parent in self.draft else PAGES
            self._check_slug(entry.node.slug, parent)
            self.draft.insert(replace(entry.node, children=()), parent, past.order[entry.parent].index(entry.node.id))
            self.texts.restore_text(entry.node.id, past)
            self._restored.append(entry.node.id)
            self._parents.add(parent)
            self._note_change(
                entry.node.id, "updated_page" if entry.node.id in self.draft.base.entries else "created_page"
            )
            pending += reversed(past.order.get(entry.node.id, ()))

    def _insert_files(self, change: InsertFiles) -> None:
        placing = DraftPaths(self.draft)
        for file in change.files:
            data, fields = decode_file(file, self.fetched)
            id = self.new_id()
            body = self.texts.keep_file(data)
            path = placing.allocate_file_path(file.name, id=id)
            self.draft.insert(Node(id, "file", file.name, fields=fields, body=body, path=path), FILES)
            self.inserted_files.append(id)
            if file.ref is not None:
                self._register_ref(file.ref, id, self.texts.references.files)

    def _require_page(self, id: str) -> Node:
        if id in self.draft and is_page(self.draft.node(id)):
            return self.draft.node(id)
        raise Failure(400, f"no page {id} in this change request")

    def _require_parent(self, id: str | None) -> str:
        if id is None:
            return PAGES
        node = self._require_page(id)
        if not has_path(node):
            raise Failure(400, f"{id} is a {node.type}, which holds no pages")
        return id

    def _move_page(self, id: str, into: str, at: int | None) -> None:
        parent = self.draft.parent(id)
        if into == id or id in self.draft.ancestors(into):
            raise Failure(400, f"{id} cannot be moved below itself")
        if into != parent or at is not None:
            self.draft.move(id, into, at)
        if into != parent:
            self._check_depth(id)
            self._moved.add(id)
            self._parents.update((parent, into))

    def _check_depth(self, id: str) -> None:
        # The section and the root are above the outermost page.
        deepest = max(sum(1 for _ in self.draft.ancestors(each)) for each in self.draft.walk(id)) - 1
        if deepest > DEPTH_MAX:
            raise Failure(400, f"pages cannot be nested deeper than {DEPTH_MAX}")

    def _choose_new_slug(self, change: InsertPage, parent: str, title: str) -> str:
        if change.slug:
            self._check_slug(change.slug, parent)
            return change.slug
        # The home page is the one whose slug may be empty.
        if change.slug == "" and parent == PAGES and "" not in find_sibling_slugs(self.draft, parent):
            return ""
        return find_free_slug(self.draft, parent, slugify(title))

    def _choose_slug(self, change: UpdatePage, node: Node, *, moved: bool) -> str:
        if change.slug and change.slug != node.slug:
            self._moved.add(node.id)
        if change.slug or (moved and node.slug):
            self._check_slug(change.slug or node.slug, self.draft.parent(node.id), but=node.id)
            return change.slug or node.slug
        if moved and has_path(node):
            return find_free_slug(self.draft, self.draft.parent(node.id), slugify(node.title), but=node.id)
        return node.slug

    def _check_slug(self, slug: str, parent: str, *, but: str = "") -> None:
        if slug and not _SLUG.fullmatch(slug):
            raise Failure(400, f"slug: not one segment of a path: {slug!r}")
        if slug and slug.casefold() in find_sibling_slugs(self.draft, parent, but=but):
            raise Failure(400, f"slug: {slug!r} is the slug of another page there")

    def _register_ref(self, ref: str, id: str, refs: dict[str, str]) -> None:
        references = self.texts.references
        if not _REF.fullmatch(ref):
            raise Failure(400, f"ref: not a name: {ref!r}")
        if ref in references.pages or ref in references.files:
            raise Failure(400, f"ref: {ref!r} is in this batch already")
        # In a text, `./name` could mean either.
        if make_collision_key(ref) in self.draft.base.by_path:
            raise Failure(400, f"ref: {ref!r} is the path of a page")
        refs[ref] = id

    def _note_change(self, id: str, what: str) -> None:
        if self.touched.setdefault(id, what) != "created_page":
            self.touched[id] = what


def _check_rich_text(sent: RichText) -> Document:
    rich_text.check_document(sent.document, at="document")
    return sent.document


def _read_members(change: PageMetadata) -> dict[str, Any]:
    return {name: value for name, value in change.wire().items() if name in KEYS and value is not None}
