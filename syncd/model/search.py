"""Search results: pages of a space with the sections that match, alone or by space (API document, search items)."""

from syncd.model.base import Observed, ObservedId

QUERY_MAX = 512
"""Characters of a query (API document, Limits)."""


class SearchUrls(Observed):
    """Where a person reads what was found."""

    app: str


class SearchSection(Observed):
    """A part of a page that matches; `path` is the page's with the section's `#anchor`."""

    id: str
    title: str
    path: str
    body: str
    urls: SearchUrls


class SearchAncestor(Observed):
    """What a page stands below."""

    title: str


class SearchPage(Observed):
    """A page that matches; `ancestors` from the outermost to its parent."""

    id: ObservedId
    title: str
    path: str
    sections: tuple[SearchSection, ...] = ()
    ancestors: tuple[SearchAncestor, ...] = ()
    urls: SearchUrls


class SearchSpace(Observed):
    """A space of an organization with its pages that match."""

    id: ObservedId
    title: str
    pages: tuple[SearchPage, ...]
