"""Page: one node of a revision's page tree."""

from collections.abc import Iterator
from typing import Any

from syncd.model.base import Observed
from syncd.model.file import GitBlob


class Page(Observed):
    """A document, group, link or computed page; `pages` are its children in order. Source: API document, Page."""

    id: str
    title: str = ""
    type: str = "document"
    slug: str | None = None
    path: str | None = None
    emoji: str | None = None
    icon: str | None = None
    description: str | None = None
    created_at: str | None = None
    updated_at: str | None = None
    markdown: str | None = None
    document_id: str | None = None
    link_title: str | None = None
    pages: tuple["Page", ...] = ()
    git: GitBlob | None = None
    urls: dict[str, Any] = {}
    layout: dict[str, Any] | None = None
    cover: dict[str, Any] | None = None
    variables: dict[str, Any] | None = None
    hidden: bool | None = None
    no_index: bool | None = None
    no_robots_index: bool | None = None
    meta_links: dict[str, Any] | None = None
    target: dict[str, Any] | None = None
    computed: dict[str, Any] | None = None


def walk(pages: tuple[Page, ...]) -> Iterator[tuple[Page, Page | None]]:
    """Given a page tree, return each page with its parent, parents first, in reading order; any depth."""
    pending: list[tuple[Page, Page | None]] = [(page, None) for page in reversed(pages)]
    while pending:
        page, parent = pending.pop()
        yield page, parent
        pending.extend((child, page) for child in reversed(page.pages))
