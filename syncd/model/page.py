"""Page: one node of a revision's page tree."""

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from syncd.model.base import Observed, ObservedId
from syncd.model.document import Document
from syncd.model.file import GitBlob
from syncd.model.item_count import make_counter

Scalar = str | bool | int | float
"""The value of a variable. Source: @gitbook/api 0.146.0."""

_TOLERANT = ConfigDict(extra="allow")


@with_config(_TOLERANT)
class Layout(TypedDict, total=False):
    """What of a page's surroundings is shown, and how wide it is."""

    width: str
    cover: bool
    coverSize: str
    title: bool
    description: bool
    tableOfContents: bool
    outline: bool
    pagination: bool
    metadata: bool


@with_config(_TOLERANT)
class Cover(TypedDict, total=False):
    """The image above a page; `ref` and `refDark` are ContentRefs. Units: `yPos` and `height` in pixels."""

    ref: dict[str, Any]
    refDark: dict[str, Any]
    yPos: int | float
    height: int | float


@with_config(_TOLERANT)
class MetaLinks(TypedDict, total=False):
    """Where else a page is found, for search engines; each is a ContentRef."""

    canonical: dict[str, Any]
    alternates: list[dict[str, Any]]


class PageMetaLinks(Observed):
    """Where else a page is found; a target is a ContentRef of kind page or url."""

    canonical: dict[str, Any] | None = None
    alternates: tuple[dict[str, Any], ...] | None = None


class Page(Observed):
    """A document, group, link or computed page; `pages` are its children in order. Source: API document, Page.

    `kind` is an earlier name of `type`. Beyond the document: `document` (rich text, where it is asked for),
    `documentId`, `linkTitle`, `condition`, `tags`, and the `target` of a link.
    """

    id: ObservedId
    title: str = ""
    type: str = "document"
    kind: str | None = None
    slug: str | None = None
    path: str | None = None
    emoji: str | None = None
    icon: str | None = None
    description: str | None = None
    created_at: str | None = None
    updated_at: str | None = None
    markdown: str | None = None
    document: Document | None = None
    document_id: ObservedId | None = None
    link_title: str | None = None
    pages: tuple["CountedPage", ...] = ()
    git: GitBlob | None = None
    urls: dict[str, Any] = {}
    layout: Layout | None = None
    cover: Cover | None = None
    variables: dict[str, Any] | None = None
    hidden: bool | None = None
    no_index: bool | None = None
    no_robots_index: bool | None = None
    meta_links: MetaLinks | None = None
    condition: str | None = None
    tags: tuple[Any, ...] | None = None
    target: dict[str, Any] | None = None
    computed: dict[str, Any] | None = None
    computed_seed: str | None = None


CountedPage = Annotated[Page, make_counter("pages")]


class PageTree(Observed):
    """Answer of a page listing, which is not a list envelope."""

    pages: tuple[CountedPage, ...]


def walk_pages(pages: tuple[Page, ...]) -> Iterator[tuple[Page, Page | None]]:
    """Yield each page of a tree with its parent, parents first, in reading order; any depth."""
    pending: list[tuple[Page, Page | None]] = [(page, None) for page in reversed(pages)]
    while pending:
        page, parent = pending.pop()
        yield page, parent
        pending.extend((child, page) for child in reversed(page.pages))
