"""The anchors that the pages of a space have for readers, with those of other files that they show."""

from collections.abc import Mapping, Sequence

from syncd.layout.lint.space import Page, Space
from syncd.layout.lint.specifications import read_specification
from syncd.layout.markdown.addresses import resolve_address
from syncd.layout.page.anchors import (
    INCLUDES_DEPTH_MAX,
    INCLUDES_MAX,
    PageAnchors,
    find_anchor_sources,
    find_operation_anchor,
    is_reusable,
)
from syncd.layout.richtext.nodes import Node, read_url
from syncd.layout.richtext.reading import to_document


class AnchorReader:
    """Reads the anchors of the pages of one space, each page once."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self._found: dict[str, frozenset[str]] = {}
        self._shown: dict[str, frozenset[str]] = {}
        """The reusable contents that each page includes."""
        self._unread: set[str] = set()

    def find_anchors(self, page: Page) -> frozenset[str]:
        """Return the ids that a page has, with those of what it includes and of operations that it shows."""
        if page.path not in self._found:
            reading = _Reading(self.space)
            is_included = page.path in self.space.draft.includes
            reading.add(page.included_anchor_sources if is_included else page.anchor_sources, page.path, ())
            self._found[page.path] = frozenset(reading.anchors.used)
            self._shown[page.path] = frozenset(reading.shown)
            if reading.has_unread:
                self._unread.add(page.path)
        return self._found[page.path]

    def may_have_others(self, page: Page) -> bool:
        """Return whether a page may have more ids than `find_anchors` knows: those of operations that are not read."""
        self.find_anchors(page)
        return page.path in self._unread

    def has_where_included(self, page: Page, anchor: str) -> bool:
        """Return whether a page that includes a text has an anchor, to which a link in the text leads there."""
        for path in self.space.draft.documents if page.path in self.space.draft.includes else ():
            one = self.space.read_page(path)
            if "include" in one.text and anchor in self.find_anchors(one) and page.path in self._shown[path]:
                return True
        return False


class _Reading:
    """The anchors of one page while they are collected."""

    def __init__(self, space: Space) -> None:
        self.space, self.anchors, self.includes = space, PageAnchors(), 0
        self.shown: set[str] = set()
        self.has_unread = False
        """Whether the page shows an operation of a specification that nobody can read here."""

    def add(self, sources: Sequence[str | Node], at: str, trail: tuple[str, ...]) -> None:
        """Add the anchors of a file; `trail` has the reusable contents around it."""
        for source in sources:
            if isinstance(source, str):
                self.anchors.allocate(source)
            elif is_reusable(source):
                self._add_included(_find_path(source, at), trail)
            else:
                self._add_operation(source, at, trail)

    def _add_included(self, path: str, trail: tuple[str, ...]) -> None:
        self.includes += 1
        is_open = path not in trail and len(trail) < INCLUDES_DEPTH_MAX and self.includes <= INCLUDES_MAX
        if is_open and path in self.space.files:
            self.shown.add(path)
            self.add(self.space.read_page(path).included_anchor_sources, path, (*trail, path))

    def _add_operation(self, node: Node, at: str, trail: tuple[str, ...]) -> None:
        path = _find_path(node, at)
        specification = read_specification(self.space, path) if path in self.space.files else None
        if not isinstance(specification, Mapping):
            self.has_unread = True
        elif (found := find_operation_anchor(node, specification)) is not None:
            anchor, description = found
            self.add((anchor, *find_anchor_sources(to_document(description).nodes)), at, trail)


def _find_path(node: Node, at: str) -> str:
    """The path of the file that a block shows; "" where it names none."""
    data = node.get("data")
    address = read_url(data.get("ref")) if isinstance(data, dict) else None
    found = resolve_address(address, at=at) if address is not None else None
    return found[0] if found is not None else ""
