"""Platform-only addresses in Markdown that is written through the API: they become relative file paths."""

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from syncd.layout.markdown.addresses import make_relative, resolve_address
from syncd.layout.page import links
from syncd.platform.revisions.outline import Draft, has_path
from syncd.platform.revisions.tree import PAGES


@dataclass
class DraftReferences:
    """Resolves addresses in one batch of operations: by id, by path, or by a `ref` of this batch."""

    draft: Draft
    pages: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    _by_path: dict[str, str] = field(default_factory=dict)
    """Pages by the key of their path; read when an address asks for one first, when the draft has its final shape."""

    def rewrite_addresses(self, text: str, *, at: str) -> str:
        """Return a page's text with addresses by id or reference made relative to the page's path; all else byte for
        byte.

        Shape: `/files/<id>`, `/includes/<id>`, `/pages/<id or path>`, `./<ref>.md` and `./<ref>`, each with any
        `#anchor`. An address that means nothing here stays as it is, where another platform drops the link: nothing
        that a writer wrote is lost.
        """

        def replacement(address: str) -> str | None:
            place, hash, anchor = address.partition("#")
            path = self._find_path(place)
            return None if path is None else make_relative(path, at=at) + hash + anchor

        return links.rewrite_addresses(text, replacement)

    def build_reference(self, address: str, *, at: str) -> dict[str, Any]:
        """Return the ContentRef of an address in the frontmatter of the page at the path `at`."""
        found = resolve_address(address, at=at)
        id = self.draft.find_by_file(found[0]) if found else None
        kind = self.draft.node(id).type if id else ""
        return {"document": {"kind": "page", "page": id}, "file": {"kind": "file", "file": id}}.get(
            kind, {"kind": "url", "url": address}
        )

    def _find_path(self, place: str) -> str | None:
        id: str | None = None
        if place.startswith("/files/"):
            id = self._find_by_type("file", place.removeprefix("/files/"))
        elif place.startswith("/includes/"):
            id = self._find_by_type("reusable-content", place.removeprefix("/includes/"))
        elif place.startswith("/pages/"):
            id = self._find_page(place.removeprefix("/pages/"))
        elif place.startswith("./"):
            name = place.removeprefix("./")
            id = self.files.get(name) or (self.pages.get(name.removesuffix(".md")) if name.endswith(".md") else None)
        return self.draft.node(id).path if id is not None and id in self.draft else None

    def _find_by_type(self, type: str, name: str) -> str | None:
        return name if name in self.draft and self.draft.node(name).type == type else None

    def _find_page(self, name: str) -> str | None:
        if name in self.draft and self.draft.node(name).type == "document":
            return name
        path = unquote(name).removesuffix(".md")
        self._by_path = self._by_path or _index_pages(self.draft)
        return self._by_path.get("" if path == "README" else path.removesuffix("/README").casefold())


def _index_pages(draft: Draft) -> dict[str, str]:
    """The ids of pages by their case-folded path in the API; the home page's own slug may be empty. The first wins."""
    found: dict[str, str] = {}
    pending = [(child, "") for child in reversed(draft.children(PAGES))]
    while pending:
        id, above = pending.pop()
        slug = draft.node(id).slug.casefold()
        here = f"{above}/{slug}" if above and slug else above or slug
        if has_path(draft.node(id)):
            found.setdefault(here, id)
        pending += [(child, here) for child in reversed(draft.children(id))]
    return found
