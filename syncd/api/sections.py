"""Site sections: one or more site-spaces under one path of a site."""

from collections.abc import Iterator

from syncd.api.lists import iterate
from syncd.api.transport import Transport
from syncd.model.listing import Listing
from syncd.model.site import SiteSection, SiteSectionCreate


class Sections:
    """Operations on a site's sections. Source: API document, Site sections."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, organization: str, site: str) -> Iterator[SiteSection]:
        """Given the ids of an organization and a site, return all sections of the site."""
        return iterate(self._transport, ("orgs", organization, "sites", site, "sections"), Listing[SiteSection])

    def create(self, organization: str, site: str, section: SiteSectionCreate) -> SiteSection:
        """Given a site and what the section shall be, return the new section.

        Raises: AnswerLost when it may or may not have been created.
        """
        path = ("orgs", organization, "sites", site, "sections")
        return self._transport.call("POST", path, SiteSection, body=section.wire())
