"""A space as a site publishes it, and which of its pages answers may quote."""

from dataclasses import dataclass

from syncd.layout.evaluation.visible import CLOSED_TO_SEARCH
from syncd.platform.revisions.outline import Outline
from syncd.platform.revisions.tree import PAGES, ROOT

_CLOSED = (*CLOSED_TO_SEARCH, "condition")
"""Members of a page that keep it out of search and answers. Source: syncd/manual/reference/layout.md, "Frontmatter"."""


@dataclass(frozen=True)
class PublishedSpace:
    """A space as a site publishes it. Shape: `path` is where it is read, below the site."""

    space: str
    revision: str
    outline: Outline
    path: str


def is_page_open(outline: Outline, page_id: str) -> bool:
    """Return whether answers may quote a page: neither it nor a page above it is hidden."""
    entry = outline.entries.get(page_id)
    while entry is not None and entry.node.id not in (PAGES, ROOT):
        if any(entry.node.fields.get(name) for name in _CLOSED):
            return False
        entry = outline.entries.get(entry.parent)
    return entry is not None and entry.node.id == PAGES
