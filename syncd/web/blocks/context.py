"""What rendering a document needs to know beside it, and what comes of it."""

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from syncd.layout.evaluation import Variables
from syncd.web.blocks.labels import BlockLabels

Ref = Mapping[str, Any]
"""A content reference as documents have it: `kind` and what that kind needs."""


@dataclass(frozen=True)
class Target:
    """What a reference leads to.

    Shape: `address` is for a browser, "" where nobody may go, and checked once more before it becomes a link; `title`
    is plain text; `is_own` says that an absolute address is of the host of the page. A file also has its `size` in
    bytes, an image its `width` and `height` in pixels, where known.
    """

    address: str
    title: str = ""
    description: str = ""
    emoji: str = ""
    size: int | None = None
    width: int | None = None
    height: int | None = None
    is_own: bool = False


@dataclass(frozen=True)
class OutlineEntry:
    """A heading of a page: its anchor, its words, and its level in HTML, 2 to 6."""

    anchor: str
    title: str
    level: int


@dataclass(frozen=True)
class BlockContext:
    """What a document depends on: each member has a default, with which a document stands for itself.

    Shape: `resolve` gets every reference, kind `url` with relative addresses among them, and returns None for what
    leads nowhere (an address of kind `url` then stays as it is written). `read_reusable` returns the nodes of reusable
    content, `read_specification` an OpenAPI description that was parsed; both None where there is none.
    `variables` has the space's and the page's, and the claims of the reader; without claims (a preview for everybody) a
    block with a condition is shown with its condition above it.
    `annotate` returns what stands behind a block of the top, such as comments on it; it is HTML and taken as it is.
    `prefix` begins every id, for a document that shares its page with others.
    `loads_foreign_pictures` says that pictures of other hosts are loaded by https; else a link stands for each.
    `highlighted` remembers code that was coloured, and may be shared by all pages: `CodeMemory` is one with a bound.
    """

    resolve: Callable[[Ref], Target | None] = lambda ref: None
    read_reusable: Callable[[Ref], Sequence[dict[str, Any]] | None] = lambda ref: None
    read_specification: Callable[[Ref], Mapping[str, Any] | None] = lambda ref: None
    variables: Variables = field(default_factory=lambda: Variables({}))
    highlighted: MutableMapping[str, str] = field(default_factory=dict)
    labels: BlockLabels = field(default_factory=BlockLabels)
    prefix: str = ""
    loads_foreign_pictures: bool = False
    annotate: Callable[[Mapping[str, Any]], Markup] = lambda node: Markup()


@dataclass(frozen=True)
class RenderedDocument:
    """A document as HTML.

    Shape: `assets` names what the page may load beside `blocks.css`: "mermaid", "embeds". `unresolved` has the
    references that led nowhere and `unknown` the types of nodes that this version does not know, each once, in reading
    order; `words` counts the words that a reader sees.
    """

    html: Markup
    outline: tuple[OutlineEntry, ...]
    assets: frozenset[str]
    words: int
    unresolved: tuple[Ref, ...]
    unknown: tuple[str, ...]
