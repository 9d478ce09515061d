"""What a PDF is made of: the pages that were asked for, as rich text, and the images in them, all from the platform."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from syncd.layout.richtext.references import find_file_cells, find_references, mark_broken_references
from syncd.platform.content.page_documents import PageDocuments
from syncd.platform.http.downloads import DownloadSigner
from syncd.platform.http.failures import Failure
from syncd.platform.http.time_limits import check_time
from syncd.platform.revisions.outline import Outline, TreeEntry
from syncd.platform.revisions.rendering import RenderContext, encode_json
from syncd.platform.revisions.tree import PAGES
from syncd.platform.revisions.tree import Node as TreeNode
from syncd.platform.services.pdf.worker import JOB
from syncd.platform.storage.storage import Storage

PAGES_MAX = 500
"""Pages of content in one PDF."""
TEXT_MAX = 10_000_000
"""Characters of their texts."""
IMAGES_MAX = 1_000
IMAGE_BYTES_MAX = 20_000_000

_DRAWN = ("image/png", "image/jpeg", "image/gif", "image/webp")
_NO_CONTEXT = RenderContext("", DownloadSigner("", b"", 0))


@dataclass(frozen=True)
class PdfSelection:
    """What is asked for: everything, a page with what is below it, or `only` the page; hidden pages are in it where
    `has_hidden` says so.
    """

    page: str = ""
    only: bool = False
    has_hidden: bool = True

    def list_entries(self, outline: Outline) -> Iterator[tuple[int, TreeEntry]]:
        """Yield the selected pages of a tree, each with its depth, in reading order."""
        pending = [(0, id) for id in reversed((self.page,) if self.page else outline.order.get(PAGES, ()))]
        while pending:
            depth, id = pending.pop()
            entry = outline.entries[id]
            if entry.node.fields.get("hidden") and not self.has_hidden and id != self.page:
                continue
            yield depth, entry
            if not self.only:
                pending += [(depth + 1, below) for below in reversed(outline.order.get(id, ()))]


@dataclass(frozen=True)
class PdfPart:
    """Pages of a revision's tree, and how they are called; with `claims`, every condition is decided for that visitor.

    A PDF of several parts has a page with the title of each before it.
    """

    outline: Outline
    title: str
    selection: PdfSelection
    claims: Mapping[str, Any] | None = None

    @property
    def key(self) -> tuple[bytes | str | PdfSelection, ...]:
        """All that the PDF of it depends on."""
        return self.outline.root, self.title, json.dumps(self.claims, sort_keys=True), self.selection


@dataclass
class PdfJobWriter:
    """The pages and images of one PDF; images are put into `directory`, each once."""

    storage: Storage
    title: str
    parts: Sequence[PdfPart]
    directory: Path
    _images: dict[str, str] = field(default_factory=dict)

    def write_job(self) -> None:
        """Write the file from which the worker process lays out the selected pages.

        Raises: Failure 413 when it is too much for one PDF.
        """
        shown = [self._list_shown(part) for part in self.parts]
        if sum(map(len, shown)) > PAGES_MAX:
            raise Failure(413, f"One PDF has at most {PAGES_MAX} pages of content. Ask for a page of it.")
        characters = 0
        with (self.directory / JOB).open("wb") as file:
            file.write(encode_json(self.title) + b"\n")
            for number, (part, entries) in enumerate(zip(self.parts, shown, strict=True)):
                before = len(self.parts) > 1
                if before:
                    first = {"part": number, "id": "", "title": part.title, "depth": 0, "nodes": [], "files": {}}
                    file.write(encode_json(first) + b"\n")
                documents = PageDocuments(
                    part.outline, _NO_CONTEXT, self.storage.blobs.get, claims=part.claims, is_for_api=False
                )
                for depth, entry in entries:
                    check_time()
                    nodes = documents.render(entry, "true", "reusable-contents")["nodes"] if entry.node.body else []
                    if characters + documents.characters > TEXT_MAX:
                        raise Failure(413, "This is too much text for one PDF. Ask for a page of it.")
                    page = self._build_page(part.outline, entry, nodes)
                    file.write(encode_json({"part": number, "depth": depth + before, **page}) + b"\n")
                characters += documents.characters

    def _list_shown(self, part: PdfPart) -> list[tuple[int, TreeEntry]]:
        listed = part.selection.list_entries(part.outline)
        return [(depth, entry) for depth, entry in listed if entry.node.type in ("document", "group")]

    def _build_page(self, outline: Outline, entry: TreeEntry, nodes: list[dict[str, Any]]) -> dict[str, Any]:
        mark_broken_references(nodes)
        ids = {str(ref["file"]) for ref in find_references(nodes) if "file" in ref and "space" not in ref}
        ids |= {str(value) for cell in find_file_cells(nodes) for value in cell}
        files = {id: self._build_file(outline.entries[id].node) for id in ids if id in outline.entries}
        return {"id": entry.node.id, "title": entry.node.title, "nodes": nodes, "files": files}

    def _build_file(self, node: TreeNode) -> dict[str, str]:
        drawn = node.fields.get("contentType") in _DRAWN and node.body
        image = self._write_image(node.body) if drawn and node.body else None
        return {"name": node.title} | ({"image": image} if image is not None else {})

    def _write_image(self, body: str) -> str | None:
        if body not in self._images:
            if len(self._images) >= IMAGES_MAX:
                return None
            data = self.storage.blobs.get(body)
            if len(data) > IMAGE_BYTES_MAX:
                return None
            (self.directory / body).write_bytes(data)
            self._images[body] = body
        return self._images[body]


def prepare_job(storage: Storage, title: str, parts: Sequence[PdfPart]) -> Callable[[Path], None]:
    """Return what writes the job of a PDF into a directory. Raises: the function it returns, as `write_job`."""
    return lambda directory: PdfJobWriter(storage, title, parts, directory).write_job()
