"""Site sections: one or more site-spaces under one path of a site."""

from collections.abc import Iterator

from syncd.api.lists import iterate_list
from syncd.api.operation import operation
from syncd.api.transport.transport import Transport
from syncd.model.listing import Listing
from syncd.model.site import SectionMove, SiteSection, SiteSectionCreate, SiteSectionUpdate


class Sections:
    """Operations on a site's sections. Source: API document, Site sections."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @operation("listSiteSections")
    def list(self, organization: str, site: str, *, share_key: str | None = None) -> Iterator[SiteSection]:
        """Return all sections of the site."""
        params = {"shareKey": share_key}
        return iterate_list(self._transport, _path(organization, site), Listing[SiteSection], params=params)

    @operation("addSectionToSite")
    def create(self, organization: str, site: str, section: SiteSectionCreate) -> SiteSection:
        """Create a section, and return it.

        Raises: AnswerLost when it may or may not have been created.
        """
        return self._transport.call("POST", _path(organization, site), SiteSection, body=section.wire())

    @operation("updateSiteSectionById")
    def update(self, organization: str, site: str, section: str, update: SiteSectionUpdate) -> SiteSection:
        """Change a section, and return it."""
        return self._transport.call("PATCH", (*_path(organization, site), section), SiteSection, body=update.wire())

    @operation("deleteSiteSectionById")
    def delete(self, organization: str, site: str, section: str) -> None:
        """Delete a section with its site-spaces; success too when it did not exist."""
        self._transport.delete((*_path(organization, site), section))

    @operation("moveSiteSection")
    def move(self, organization: str, site: str, section: str, move: SectionMove) -> SiteSection:
        """Move a section between two siblings, and return it (deprecated)."""
        path = (*_path(organization, site), section, "move")
        return self._transport.call("POST", path, SiteSection, body=move.wire())


def _path(organization: str, site: str) -> tuple[str, ...]:
    return ("orgs", organization, "sites", site, "sections")
