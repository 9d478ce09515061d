"""The texts and files of one content write: what is sent stays as it is, and is kept once every operation is sound."""

import base64
import binascii
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from syncd.errors import FileInvalid
from syncd.layout.compare.reformat import preserve_formatting
from syncd.layout.page import links
from syncd.layout.page.frontmatter import split_after_title
from syncd.layout.richtext.reading import to_document
from syncd.layout.richtext.references import find_references
from syncd.layout.richtext.writing import to_markdown
from syncd.model.blob_id import compute_blob_id
from syncd.model.content_write import FILE_BYTES_MAX, FileAtUrl, NewFile
from syncd.platform.change_requests.fetch import FetchedFile
from syncd.platform.change_requests.moved_pages import (
    Addresses,
    choose_texts,
    find_moves,
    follow_moved_pages,
    list_texts,
)
from syncd.platform.http.failures import Failure
from syncd.platform.revisions import metadata
from syncd.platform.revisions.files import CONTENT_TYPE, build_file_fields
from syncd.platform.revisions.outline import Draft, Outline
from syncd.platform.revisions.references import DraftReferences
from syncd.platform.revisions.targets import TargetResolver
from syncd.platform.storage.blobs import Blobs


@dataclass
class DraftTexts:
    """The texts that a draft's pages will have; nothing reaches the blobs before `write_all`.

    Shape: `find_addresses` returns the addresses in stored texts by their blob ids.
    """

    draft: Draft
    blobs: Blobs
    moment: str
    find_addresses: Callable[[Iterable[str]], Addresses]
    rewrite: Callable[[str], str] | None = None
    references: DraftReferences = field(init=False)
    _texts: dict[str, str] = field(default_factory=dict)
    _contents: list[bytes] = field(default_factory=list)
    _former: dict[str, str] = field(default_factory=dict)
    _retitled: set[str] = field(default_factory=set)
    """Ids of pages that keep their text, but for members."""
    _moves: Mapping[str, str] = field(default_factory=dict)
    _past: dict[str, Outline] = field(default_factory=dict)
    """The outlines that pages were restored from, by their ids: their links are as of then."""

    def __post_init__(self) -> None:
        self.references = DraftReferences(self.draft)

    def replace_text(self, id: str, text: str, members: Mapping[str, Any]) -> None:
        """Give a page a new text, with the members that were sent beside it; what the text's own frontmatter says
        wins.
        """
        said = metadata.apply_frontmatter({}, text)
        self._texts[id] = _write_members(text, {name: value for name, value in members.items() if name not in said})
        self._former.pop(id, None)
        self._retitled.discard(id)

    def replace_document(self, id: str, text: str, members: Mapping[str, Any]) -> None:
        """Give a page a text that was rendered from a document, and keep the writer's bytes where the meaning is the
        same.

        Shape: the comparison is by block and happens in `write_all`, against the text that the page had first.
        """
        former = self._former.get(id) or self.read_text(id)
        self.replace_text(id, text, members)
        self._former[id] = former

    def write_members(self, id: str, members: Mapping[str, Any], *, former: str) -> None:
        """Write members, and a title that is not the `former` one, into the text that a page has."""
        node, text = self.draft.node(id), self.read_text(id)
        if node.title != former:
            text = metadata.replace_title(text, former=former, title=node.title)
        if id not in self._texts:
            self._retitled.add(id)
        self._texts[id] = _write_members(text, members)

    def read_text(self, id: str) -> str:
        """Return the text that a page has so far in this write."""
        written, body = self._texts.get(id), self.draft.node(id).body
        if written is not None:
            return written
        return self.blobs.get(body).decode() if body else ""

    def drop_text(self, id: str) -> None:
        """Forget what was to be written to a page."""
        self._texts.pop(id, None)
        self._former.pop(id, None)
        self._retitled.discard(id)

    def restore_text(self, id: str, past: Outline) -> None:
        """Let a page have the text that it had in a past outline, with links to where pages are now."""
        self.drop_text(id)
        self._past[id] = past

    def keep_file(self, data: bytes) -> str:
        """Return the blob id of a file's content, which `write_all` stores."""
        self._contents.append(data)
        return compute_blob_id(data)

    def follow_moves(self) -> None:
        """Let links lead to the pages that got another path in this write, but for those in texts that were sent."""
        self._follow_restored()
        base = self.draft.base
        self._moves = find_moves(base, self.draft, self.draft.touched_ids)
        if not self._moves:
            return
        written = self._texts.keys() | self._past.keys()
        others = [id for id in list_texts(self.draft) if id not in written]
        self._follow(base, self._moves, choose_texts(self.draft, self._moves, others, self.find_addresses))
        for id in self._retitled & base.entries.keys() - self._past.keys():
            at, to = base.entries[id].node.path or "", self.draft.node(id).path or ""
            self._texts[id] = links.follow_moves(self._texts[id], self._moves, at=at, to=to)

    def _follow_restored(self) -> None:
        texts = [id for id in list_texts(self.draft) if id in self._past and id not in self._texts]
        for past in {outline.root: outline for outline in self._past.values()}.values():
            ids = [id for id in texts if self._past[id].root == past.root]
            self._follow(past, find_moves(past, self.draft, past.entries), ids)

    def _follow(self, before: Outline, moves: Mapping[str, str], ids: Sequence[str]) -> None:
        for id, text in follow_moved_pages(self.draft, before, moves, ids, read=self.blobs.get):
            self.draft.replace_node(replace(self.draft.node(id), body=self.keep_file(text)))

    def write_all(self, touched: Iterable[str]) -> None:
        """Store the texts and files of this write, now that each page has its path, and set the dates of the `touched`
        pages.
        """
        for id, text in self._texts.items():
            node = self.draft.node(id)
            assert node.path
            text = self.references.rewrite_addresses(text, at=node.path)
            if id in self._former:
                # Words that stay have the links that they had.
                text = self._keep_wording(id, text, at=node.path)
                text = links.follow_moves(text, self._moves, at=node.path, to=node.path)
            text = self.rewrite(text) if self.rewrite is not None else text
            body = self.keep_file(text.encode())
            fields = metadata.apply_frontmatter(
                node.fields, text, refer=partial(self.references.build_reference, at=node.path)
            )
            self.draft.replace_node(replace(node, body=body, fields=fields))
        self.blobs.put_all(self._contents)
        for id in touched:
            if id in self.draft:
                self._set_date(id)

    def _keep_wording(self, id: str, text: str, *, at: str) -> str:
        """The text, with each block in its former words that says what it said."""
        entry, targets, former = self.draft.base.entries.get(id), TargetResolver(self.draft.base), self._former[id]

        def name(address: str) -> str | None:
            return None if entry is None else targets.normalise_address(address, entry)

        if _normalise_text(former, name) == _normalise_text(text, name):
            return split_after_title(text)[0] + split_after_title(former)[1]
        return preserve_formatting(former.encode(), text.encode(), at=at, name_address=name).decode()

    def _set_date(self, id: str) -> None:
        node, former = self.draft.node(id), self.draft.base.node(id)
        dated = replace(node, fields={**node.fields, "updatedAt": self.moment})
        if former is not None:
            then = {"updatedAt": former.fields["updatedAt"]} if "updatedAt" in former.fields else {}
            undated = {name: value for name, value in node.fields.items() if name != "updatedAt"}
            same = replace(node, fields=undated | then, children=former.children)
            # Writing what is there already changes nothing, not even the date.
            dated = same if same == former else dated
        self.draft.replace_node(dated)


def _normalise_text(text: str, name: Callable[[str], str | None]) -> str:
    """What the document of a page says, in one form: equal ones say the same."""
    document = to_document(split_after_title(text)[1])
    for ref in find_references(document.nodes):
        if ref.get("kind") == "url":
            ref["url"] = name(str(ref.get("url"))) or ref.get("url")
    return to_markdown(document)


def replace_body(text: str, body: str) -> str:
    """Return a page's text with another body; its frontmatter, title and the blank lines below it stay."""
    head, former = split_after_title(text)
    between = former[: len(former) - len(former.lstrip("\r\n"))]
    if head and body and not between:
        between = "\n" if head.endswith("\n") else "\n\n"
    return head + between + body if head else body


def decode_file(file: NewFile | FileAtUrl, fetched: Mapping[str, FetchedFile]) -> tuple[bytes, dict[str, Any]]:
    """Return the content of a new file, uploaded or `fetched`, and the members of its File.

    Raises: Failure 400 when its content type or its encoding is invalid.
    """
    if isinstance(file, FileAtUrl):
        data, kind = fetched[file.url].data, file.content_type or fetched[file.url].content_type
    else:
        data, kind = _decode_upload(file), file.content_type
    if not CONTENT_TYPE.fullmatch(kind):
        raise Failure(400, f"{file.name}: not a content type: {kind!r}")
    return data, build_file_fields(data, content_type=kind)


def _decode_upload(file: NewFile) -> bytes:
    try:
        data = base64.b64decode(file.base64, validate=True)
    except (binascii.Error, ValueError):
        raise Failure(400, f"{file.name}: not base64") from None
    if len(data) > FILE_BYTES_MAX:
        raise Failure(400, f"{file.name}: more than {FILE_BYTES_MAX} bytes")
    return data


def _write_members(text: str, members: Mapping[str, Any]) -> str:
    if not members:
        return text
    try:
        return metadata.write_members(text, members)
    except FileInvalid as invalid:
        raise Failure(400, f"the document's frontmatter cannot be read: {invalid.reason}") from invalid
