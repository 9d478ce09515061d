"""What a PDF is made of: the pages that were asked for, as rich text, and the images in them, all from the platform."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from syncd.layout import links
from syncd.layout.frontmatter import split
from syncd.layout.paths import collision_key
from syncd.layout.richtext import to_document
from syncd.platform.downloads import Downloads
from syncd.platform.failures import Failure
from syncd.platform.outline import Outline, Spot
from syncd.platform.page_text import Words
from syncd.platform.rendering import Look
from syncd.platform.storage import Storage
from syncd.platform.tree import PAGES

PAGES_MAX = 500
"""Pages of content in one PDF."""
TEXT_MAX = 10_000_000
"""Characters of their texts."""
IMAGES_MAX = 1_000
IMAGE_BYTES_MAX = 20_000_000

_DRAWN = ("image/png", "image/jpeg", "image/gif", "image/webp")
_NOWHERE = Look("", Downloads("", b"", 0))


@dataclass(frozen=True)
class Part:
    """What is asked for: everything, a page with what is below it, or `only` the page."""

    page: str = ""
    only: bool = False

    def spots(self, outline: Outline) -> Iterator[tuple[int, Spot]]:
        """Given a tree, yield the pages that are meant, each with its depth, in reading order."""
        pending = [(0, id) for id in reversed((self.page,) if self.page else outline.order.get(PAGES, ()))]
        while pending:
            depth, id = pending.pop()
            yield depth, outline.spots[id]
            if not self.only:
                pending += [(depth + 1, below) for below in reversed(outline.order.get(id, ()))]


@dataclass
class Gathering:
    """The pages and images of one PDF; images are put into `directory`, each once."""

    storage: Storage
    outline: Outline
    directory: Path
    _images: dict[str, str] = field(default_factory=dict)

    def job(self, title: str, part: Part) -> dict[str, Any]:
        """Given a title and what is asked for, return what the process that lays it out has to know.

        Raises: Failure 413 when it is too much for one PDF.
        """
        words = Words(self.outline, _NOWHERE, self.storage.blobs.get)
        shown = [(depth, spot) for depth, spot in part.spots(self.outline) if spot.node.type in ("document", "group")]
        if len(shown) > PAGES_MAX:
            raise Failure(413, f"One PDF has at most {PAGES_MAX} pages of content. Ask for a page of it.")
        pages, size = [], 0
        for depth, spot in shown:
            text = words.text(spot, "true", "reusable-contents") if spot.node.body else ""
            size += len(text)
            if size > TEXT_MAX:
                raise Failure(413, "This is too much text for one PDF. Ask for a page of it.")
            pages.append(self._page(depth, spot, text))
        return {"title": title, "pages": pages}

    def _page(self, depth: int, spot: Spot, text: str) -> dict[str, Any]:
        nodes = to_document(split(text)[1]).wire()["nodes"]
        at = spot.node.path or ""
        addresses = {address for address in _addresses(nodes) if links.resolve(address, at=at)}
        found = {address: target for address in addresses if (target := self._target(address, at))}
        return {"id": spot.node.id, "title": spot.node.title, "depth": depth, "nodes": nodes, "targets": found}

    def _target(self, address: str, at: str) -> dict[str, str] | None:
        resolved = links.resolve(address, at=at)
        id = self.outline.by_file.get(collision_key(resolved[0])) if resolved else None
        if id is None:
            return None
        node = self.outline.spots[id].node
        if node.fields.get("contentType") in _DRAWN and node.body:
            image = self._image(node.body)
            return None if image is None else {"image": image}
        return {"page": id}

    def _image(self, body: str) -> str | None:
        if body not in self._images:
            if len(self._images) >= IMAGES_MAX:
                return None
            data = self.storage.blobs.get(body)
            if len(data) > IMAGE_BYTES_MAX:
                return None
            (self.directory / body).write_bytes(data)
            self._images[body] = body
        return self._images[body]


def _addresses(nodes: list[Any]) -> Iterator[str]:
    """Every address in a document, wherever a node keeps its reference."""
    pending: list[Any] = list(nodes)
    while pending:
        here = pending.pop()
        if isinstance(here, dict):
            if here.get("kind") == "url" and isinstance(here.get("url"), str):
                yield here["url"]
            pending += here.values()
        elif isinstance(here, list | tuple):
            pending += here
