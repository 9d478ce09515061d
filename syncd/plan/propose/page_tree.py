"""The page tree that a proposal's steps are simulated on: positions and slugs as the platform will have them."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from syncd.layout.tree.paths import SLUG_CHARACTERS, slugify
from syncd.model.page import Page
from syncd.plan.propose.steps import ROOT

MOVING = "-moving"
"""Ends a slug that a page has only until its own is free; a run that stops in between leaves one to be put right."""
_SUFFIX = 16
"""Characters that a mark behind a slug takes at most."""


@dataclass(eq=False)
class Node:
    """A page of the tree; a page to insert has its path for an id, and the root has no page."""

    id: str
    page: Page | None
    path: str | None
    slug: str = ""
    parent: "Node | None" = None
    children: list["Node"] = field(default_factory=list)
    slugs: Counter[str] = field(default_factory=Counter)

    @property
    def is_document(self) -> bool:
        """Whether this is a page with a text."""
        return self.id != ROOT and (self.page is None or self.page.type == "document")

    @property
    def holds_pages(self) -> bool:
        """Whether the platform lets a page be put below this."""
        return self.page is None or self.page.type in ("document", "group")

    @property
    def has_slug(self) -> bool:
        """Whether this has a segment in the paths of pages, which no sibling may have."""
        return self.id != ROOT and self.holds_pages and bool(self.slug)

    def list_ancestors(self) -> Iterator["Node"]:
        """Return what this hangs below, nearest first."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def insert(self, child: "Node", at: int) -> None:
        """Insert a page that has no parent among the children."""
        child.parent = self
        self.children.insert(at, child)
        self._count(child, 1)

    def remove(self, child: "Node") -> None:
        """Remove a child."""
        self._count(child, -1)
        self.children.remove(child)
        child.parent = None

    def rename(self, slug: str) -> None:
        """Change the slug."""
        assert self.parent is not None
        self.parent._count(self, -1)
        self.slug = slug
        self.parent._count(self, 1)

    def is_free(self, slug: str, *, but: "Node") -> bool:
        """Return whether no child other than `but` has this slug."""
        own = but.parent is self and but.has_slug and but.slug.casefold() == slug.casefold()
        return self.slugs[slug.casefold()] <= own

    def find_free_slug(self, slug: str, *, but: "Node") -> str:
        """Return a slug, with a number when another child has it."""
        stem = slug[: SLUG_CHARACTERS - _SUFFIX]
        names = (slug if number == 0 else f"{stem}-{number}" for number in count())
        return next(name for name in names if self.is_free(name, but=but))

    def find_temporary_slug(self, slug: str, *, but: "Node") -> str:
        """Return a slug that a page can have until the one it should have is free."""
        return self.find_free_slug(f"{slug[: SLUG_CHARACTERS - _SUFFIX]}{MOVING}", but=but)

    def _count(self, child: "Node", by: int) -> None:
        if child.has_slug:
            self.slugs[child.slug.casefold()] += by


def build_tree(pages: tuple[Page, ...]) -> Node:
    """Return the root of a revision's pages; their paths are filled in later."""
    root = Node(ROOT, None, None)
    pending = [(root, pages)]
    while pending:
        parent, below = pending.pop()
        for page in below:
            node = Node(page.id, page, None, page.slug or "")
            if not node.slug and page.type == "group":
                node.slug = slugify(page.title)
            parent.insert(node, len(parent.children))
            pending.append((node, page.pages))
    return root


def list_below(root: Node) -> Iterator[Node]:
    """Yield all nodes below one, parents first, in reading order."""
    pending = list(reversed(root.children))
    while pending:
        node = pending.pop()
        yield node
        pending += reversed(node.children)
