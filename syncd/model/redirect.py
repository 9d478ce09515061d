"""SiteRedirect (`site-redirect`): an old path of a site and where it leads."""

import re
from typing import Annotated, Any, Literal
from urllib.parse import quote, unquote_to_bytes

from pydantic import AfterValidator, Field

from syncd.model.base import Declared, Observed, ObservedId
from syncd.model.web_address import WebAddress

SOURCE_MAX = 512
SOURCE_PATTERN = r"\/(?:[A-Za-z0-9\-._~]|%[0-9A-Fa-f]{2})+(?:\/(?:[A-Za-z0-9\-._~]|%[0-9A-Fa-f]{2})+)*"
"""To be matched in full: `$` would let a trailing newline pass. Source: API document, SiteRedirect."""

_SOURCE = re.compile(SOURCE_PATTERN)
_PLAIN = re.compile(r"[A-Za-z0-9\-._~/]*")
_ID_MAX = 100


def make_source_key(source: str) -> str:
    """Return the key under which a site has a redirect's source only once, however it is spelled.

    Shape: each segment is percent-decoded, folded as Unicode folds case ("É" is "é", "ß" is "ss"), and encoded again,
    always in the same way; bytes that are no UTF-8 stay bytes. An encoded slash is no slash. Letters are not composed:
    "é" as one character and as two are two sources. A key is its own key.
    Source: of this, the API document shows nothing; the product's manual says that letter case does not count.
    """
    if _PLAIN.fullmatch(source):
        return source.lower()
    return "/".join(map(_segment_key, source.split("/")))


def _segment_key(segment: str) -> str:
    octets = unquote_to_bytes(segment.encode(errors="surrogatepass"))
    try:
        folded = octets.decode().casefold().encode()
    except UnicodeDecodeError:
        folded = octets.lower()
    return quote(folded, safe="")


def _source(text: str) -> str:
    if not _SOURCE.fullmatch(text):
        raise ValueError("must be an absolute path of plain or percent-encoded segments, without a trailing slash")
    return text


Source = Annotated[str, Field(max_length=SOURCE_MAX), AfterValidator(_source)]


class ToSection(Declared):
    """A section of the site."""

    kind: Literal["site-section"]
    site_section_id: str = Field(max_length=_ID_MAX)


class ToSiteSpace(Declared):
    """A site-space of the site."""

    kind: Literal["site-space"]
    site_space_id: str = Field(max_length=_ID_MAX)


class ToPage(Declared):
    """A page of a site-space of the site."""

    kind: Literal["site-page"]
    site_space_id: str = Field(max_length=_ID_MAX)
    page_id: str = Field(max_length=_ID_MAX)


class ToExternal(Declared):
    """An address elsewhere."""

    kind: Literal["external"]
    url: WebAddress


class ToPath(Declared):
    """A page by its path, which the platform turns into a `site-page` when it is written; never answered."""

    kind: Literal["path"]
    space_id: str = Field(max_length=_ID_MAX)
    path: str = Field(max_length=2048)


Destination = Annotated[ToSection | ToSiteSpace | ToPage | ToExternal, Field(discriminator="kind")]
"""Source: API document, SiteRedirect; @gitbook/api 0.146.0."""
DestinationWrite = Annotated[ToSection | ToSiteSpace | ToPage | ToExternal | ToPath, Field(discriminator="kind")]


class SiteRedirect(Observed):
    """A redirect as the platform shows it; `destination` kinds that this version does not know stay untouched.

    Beyond the document: what stands behind `destination`. Source: @gitbook/api 0.202.0.
    """

    object: str = "site-redirect"
    id: ObservedId
    source: str
    destination: dict[str, Any]
    draft: bool | None = None
    capture_wildcard: bool | None = None
    permanent: bool | None = None
    created_at: str | None = None


class SiteRedirectUpdate(Declared):
    """Body of `PATCH …/redirects/{siteRedirectId}`: unset is unchanged."""

    source: str | None = Field(default=None, max_length=SOURCE_MAX)
    destination: dict[str, Any] | None = None


class SiteRedirectWrite(SiteRedirectUpdate):
    """Body of `POST …/redirects`."""

    source: str = Field(max_length=SOURCE_MAX)
    destination: dict[str, Any]


class RedirectUpsert(Declared):
    """One redirect of many: a null destination deletes the one with this source."""

    source: str = Field(max_length=SOURCE_MAX)
    destination: dict[str, Any] | None


class RedirectUpserts(Declared):
    """Body of `PUT …/redirects` (beyond the API document: @gitbook/api 0.202.0)."""

    redirects: tuple[RedirectUpsert, ...] = Field(min_length=1, max_length=500)


class RedirectResult(Observed):
    """What became of one redirect: `status` is created, updated, deleted or error."""

    status: str
    source: str
    draft: bool | None = None
    id: ObservedId | None = None
    error: str | None = None


class RedirectResults(Observed):
    """Answer of `PUT …/redirects`: one result for each redirect, in order."""

    results: tuple[RedirectResult, ...]


class RedirectTarget(Observed):
    """Answer of `GET …/redirect`: the rule and the address it leads to."""

    redirect: SiteRedirect
    target: str
