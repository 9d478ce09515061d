"""Site-spaces: the links between a site and its spaces."""

from collections.abc import Iterator

from syncd.api.lists import iterate
from syncd.api.transport import Transport
from syncd.model.listing import Listing
from syncd.model.site import SiteSpace, SiteSpaceCreate


class SiteSpaces:
    """Operations on a site's site-spaces. Source: API document, Site spaces."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, organization: str, site: str) -> Iterator[SiteSpace]:
        """Given the ids of an organization and a site, return all site-spaces of the site."""
        return iterate(self._transport, ("orgs", organization, "sites", site, "site-spaces"), Listing[SiteSpace])

    def create(self, organization: str, site: str, site_space: SiteSpaceCreate) -> SiteSpace:
        """Given a site and which space to link, return the new site-space.

        Raises: AnswerLost when it may or may not have been created.
        """
        path = ("orgs", organization, "sites", site, "site-spaces")
        return self._transport.call("POST", path, SiteSpace, body=site_space.wire())
