"""Sites: how spaces are published."""

from collections.abc import Iterator

from syncd.api.lists import iterate
from syncd.api.transport import Transport
from syncd.model.listing import Listing
from syncd.model.site import Site, SiteCreate


class Sites:
    """Operations on sites. Source: API document, Docs sites."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self, organization: str, space: str | None = None, title: str | None = None, published: bool | None = None
    ) -> Iterator[Site]:
        """Given an organization's id, return its sites, filtered by whatever is given."""
        params = {"space": space, "title": title, "published": published}
        return iterate(self._transport, ("orgs", organization, "sites"), Listing[Site], params=params)

    def get(self, organization: str, site: str) -> Site:
        """Given the ids of an organization and a site, return the site."""
        return self._transport.call("GET", ("orgs", organization, "sites", site), Site)

    def create(self, organization: str, site: SiteCreate) -> Site:
        """Given an organization's id and what the site shall be, return the new site.

        Raises: AnswerLost when it may or may not have been created.
        """
        return self._transport.call("POST", ("orgs", organization, "sites"), Site, body=site.wire())
