"""Redirects of a site."""

from collections.abc import Iterator

from syncd.api.lists import iterate
from syncd.api.transport import Transport
from syncd.model.listing import Listing
from syncd.model.redirect import RedirectTarget, SiteRedirect, SiteRedirectWrite


class Redirects:
    """Operations on a site's redirects. Source: API document, Site redirects."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, organization: str, site: str) -> Iterator[SiteRedirect]:
        """Given the ids of an organization and a site, return all redirects of the site."""
        return iterate(self._transport, _path(organization, site), Listing[SiteRedirect])

    def create(self, organization: str, site: str, redirect: SiteRedirectWrite) -> SiteRedirect:
        """Given a site, a source and a destination, return the new redirect.

        Raises: AnswerLost when it may or may not have been created.
        """
        return self._transport.call("POST", _path(organization, site), SiteRedirect, body=redirect.wire())

    def update(self, organization: str, site: str, redirect_id: str, redirect: SiteRedirectWrite) -> SiteRedirect:
        """Given a redirect's id and what it shall be, return it as it is then."""
        path = (*_path(organization, site), redirect_id)
        return self._transport.call("PATCH", path, SiteRedirect, body=redirect.wire())

    def delete(self, organization: str, site: str, redirect_id: str) -> None:
        """Given a redirect's id, delete it; that it was not there is success too."""
        self._transport.delete((*_path(organization, site), redirect_id))

    def get_by_source(self, organization: str, site: str, source: str) -> RedirectTarget:
        """Given a source, return the redirect that serves it and the address it leads to.

        Raises: NotFound when no redirect serves it.
        """
        path = ("orgs", organization, "sites", site, "redirect")
        return self._transport.call("GET", path, RedirectTarget, params={"source": source})


def _path(organization: str, site: str) -> tuple[str, ...]:
    return ("orgs", organization, "sites", site, "redirects")
