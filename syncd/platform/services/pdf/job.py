"""What a PDF is made of: the pages that were asked for, as rich text, and the images in them, all from the platform."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from syncd.layout.richtext.references import find_file_cells, find_references
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
class PdfContent:
    """A revision's tree with the title of its PDF; with `claims`, every condition is decided for that visitor."""

    outline: Outline
    title: str
    claims: Mapping[str, Any] | None = None

    def build_key(self, part: PdfSelection) -> tuple[bytes | str | PdfSelection, ...]:
        """Return all that the PDF of a part of it depends on."""
        return self.outline.root, self.title, json.dumps(self.claims, sort_keys=True), part


@dataclass
class PdfJobWriter:
    """The pages and images of one PDF; images are put into `directory`, each once."""

    storage: Storage
    content: PdfContent
    part: PdfSelection
    directory: Path
    _images: dict[str, str] = field(default_factory=dict)

    @property
    def outline(self) -> Outline:
        """The tree whose pages are laid out."""
        return self.content.outline

    def write_job(self) -> None:
        """Write the file from which the worker process lays out the selected pages.

        Raises: Failure 413 when it is too much for one PDF.
        """
        documents = PageDocuments(self.outline, _NO_CONTEXT, self.storage.blobs.get, claims=self.content.claims)
        shown = [
            (depth, entry)
            for depth, entry in self.part.list_entries(self.outline)
            if entry.node.type in ("document", "group")
        ]
        if len(shown) > PAGES_MAX:
            raise Failure(413, f"One PDF has at most {PAGES_MAX} pages of content. Ask for a page of it.")
        with (self.directory / JOB).open("wb") as file:
            file.write(encode_json(self.content.title) + b"\n")
            for depth, entry in shown:
                check_time()
                nodes = documents.render(entry, "true", "reusable-contents")["nodes"] if entry.node.body else []
                if documents.characters > TEXT_MAX:
                    raise Failure(413, "This is too much text for one PDF. Ask for a page of it.")
                file.write(encode_json(self._build_page(depth, entry, nodes)) + b"\n")

    def _build_page(self, depth: int, entry: TreeEntry, nodes: list[dict[str, Any]]) -> dict[str, Any]:
        ids = {str(ref["file"]) for ref in find_references(nodes) if "file" in ref and "space" not in ref}
        ids |= {str(value) for cell in find_file_cells(nodes) for value in cell}
        files = {id: self._build_file(self.outline.entries[id].node) for id in ids if id in self.outline.entries}
        return {"id": entry.node.id, "title": entry.node.title, "depth": depth, "nodes": nodes, "files": files}

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


def prepare_job(storage: Storage, content: PdfContent, part: PdfSelection) -> Callable[[Path], None]:
    """Return what writes the job of a PDF into a directory. Raises: the function it returns, as `write_job`."""
    return lambda directory: PdfJobWriter(storage, content, part, directory).write_job()
