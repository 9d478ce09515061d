"""Redirects of a site."""

from collections.abc import Iterator

from syncd.api.lists import iterate_list
from syncd.api.operation import operation
from syncd.api.transport.transport import Transport
from syncd.model.listing import Listing
from syncd.model.redirect import (
    RedirectResult,
    RedirectResults,
    RedirectTarget,
    RedirectUpserts,
    SiteRedirect,
    SiteRedirectUpdate,
    SiteRedirectWrite,
)


class Redirects:
    """Operations on a site's redirects. Source: API document, Site redirects."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @operation("listSiteRedirects")
    def list(self, organization: str, site: str, *, search: str | None = None) -> Iterator[SiteRedirect]:
        """Return all redirects of a site, or those with a text in their source."""
        return iterate_list(
            self._transport, _path(organization, site), Listing[SiteRedirect], params={"search": search}
        )

    @operation("createSiteRedirect")
    def create(self, organization: str, site: str, redirect: SiteRedirectWrite) -> SiteRedirect:
        """Create a redirect, and return it.

        Raises: AnswerLost when it may or may not have been created.
        """
        return self._transport.call("POST", _path(organization, site), SiteRedirect, body=redirect.wire())

    @operation("updateSiteRedirectById")
    def update(self, organization: str, site: str, redirect_id: str, redirect: SiteRedirectUpdate) -> SiteRedirect:
        """Change a redirect, and return it."""
        path = (*_path(organization, site), redirect_id)
        return self._transport.call("PATCH", path, SiteRedirect, body=redirect.wire())

    @operation("deleteSiteRedirectById")
    def delete(self, organization: str, site: str, redirect_id: str) -> None:
        """Delete a redirect; success too when it did not exist."""
        self._transport.delete((*_path(organization, site), redirect_id))

    @operation("bulkUpsertSiteRedirects")
    def upsert(self, organization: str, site: str, redirects: RedirectUpserts) -> tuple[RedirectResult, ...]:
        """Create, change or delete up to 500 redirects, and return what became of each (beyond the document)."""
        path = _path(organization, site)
        return self._transport.call("PUT", path, RedirectResults, body=redirects.wire()).results

    @operation("getSiteRedirectBySource")
    def get_by_source(
        self, organization: str, site: str, source: str, *, share_key: str | None = None
    ) -> RedirectTarget:
        """Return the redirect that serves a source, and the address it leads to.

        Raises: NotFound when no redirect serves it.
        """
        path, params = ("orgs", organization, "sites", site, "redirect"), {"source": source, "shareKey": share_key}
        return self._transport.call("GET", path, RedirectTarget, params=params)


def _path(organization: str, site: str) -> tuple[str, ...]:
    return ("orgs", organization, "sites", site, "redirects")
