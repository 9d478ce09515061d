"""Search: of a space, an organization or a site; pages with the sections that match, alone or by space.

Source: API document, search items; of `score`, `rank` and the like, and of a site's search, @gitbook/api 0.202.0.
"""

from typing import Annotated, Literal

from pydantic import Field

from syncd.model.ask import SITE_SPACES_MAX, DefaultScope, Id, SpecificScope, WholeScope
from syncd.model.base import ABSENT, Declared, Observed, ObservedId

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
    score: float | None = None
    result_type: str | None = None
    urls: SearchUrls


class SearchAncestor(Observed):
    """What a page stands below."""

    title: str


class SearchPage(Observed):
    """A page that matches; `ancestors` from the outermost to its parent."""

    id: ObservedId
    title: str
    path: str
    description: str | None = None
    score: float | None = None
    rank: int | None = None
    result_type: str | None = None
    sections: tuple[SearchSection, ...] = ()
    ancestors: tuple[SearchAncestor, ...] = ()
    urls: SearchUrls


class SearchSpace(Observed):
    """A space of an organization with its pages that match."""

    id: ObservedId
    title: str
    type: str | None = None
    score: float | None = None
    pages: tuple[SearchPage, ...]


class NearScope(DefaultScope):
    """What visitors see first, or of that only the current site-space or only the others."""

    restrict_to: Literal["currentSiteSpace", "otherSiteSpaces"] = ABSENT


class CurrentScope(Declared):
    """What visitors see first, with the site-space that is named in the place of its section's default."""

    mode: Literal["current"]
    site_space_id: Id


SearchScope = Annotated[NearScope | CurrentScope | SpecificScope | WholeScope, Field(discriminator="mode")]


class SiteSearch(Declared):
    """Body of `POST …/sites/{siteId}/search`; `mode` and its ids are an earlier form of `scope`."""

    query: str = Field(min_length=1, max_length=QUERY_MAX)
    scope: SearchScope = NearScope(mode="default")
    mode: Literal["specific", "current", "all"] = ABSENT
    site_space_id: Id = ABSENT
    site_space_ids: tuple[Id, ...] = Field(default=(), max_length=SITE_SPACES_MAX)
