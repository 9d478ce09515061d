"""SiteRedirect (`site-redirect`): an old path of a site and where it leads."""

from typing import Any

from pydantic import Field

from syncd.model.base import Declared, Observed

SOURCE_MAX = 512
SOURCE_PATTERN = r"\/(?:[A-Za-z0-9\-._~]|%[0-9A-Fa-f]{2})+(?:\/(?:[A-Za-z0-9\-._~]|%[0-9A-Fa-f]{2})+)*"
"""To be matched in full: `$` would let a trailing newline pass. Source: API document, SiteRedirect."""


class SiteRedirect(Observed):
    """A redirect as the platform shows it; `destination` kinds that this version does not know stay untouched."""

    object: str = "site-redirect"
    id: str
    source: str
    destination: dict[str, Any]


class SiteRedirectWrite(Declared):
    """Body of `POST …/redirects` and of `PATCH …/redirects/{siteRedirectId}`."""

    source: str = Field(max_length=SOURCE_MAX)
    destination: dict[str, Any]


class RedirectTarget(Observed):
    """Answer of `GET …/redirect`: the rule and the address it leads to."""

    redirect: SiteRedirect
    target: str
