"""Section groups: sections of a site under one title, with groups among them."""

from collections.abc import Iterator

from syncd.api.lists import iterate_list
from syncd.api.operation import operation
from syncd.api.transport.transport import Transport
from syncd.model.listing import Listing
from syncd.model.site import GroupMove, SectionInGroup, SiteSectionGroup, SiteSectionGroupCreate, SiteSectionGroupUpdate


class SectionGroups:
    """Operations on a site's section groups. Source: API document, Site section groups."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @operation("listSiteSectionGroups")
    def list(self, organization: str, site: str) -> Iterator[SiteSectionGroup]:
        """Return all section groups of the site, nested ones too."""
        return iterate_list(self._transport, _path(organization, site), Listing[SiteSectionGroup])

    @operation("addSectionGroupToSite")
    def create(self, organization: str, site: str, group: SiteSectionGroupCreate) -> SiteSectionGroup:
        """Create a group, and return it.

        Raises: AnswerLost when it may or may not have been created.
        """
        return self._transport.call("POST", _path(organization, site), SiteSectionGroup, body=group.wire())

    @operation("updateSiteSectionGroupById")
    def update(self, organization: str, site: str, group: str, update: SiteSectionGroupUpdate) -> SiteSectionGroup:
        """Change a group, and return it."""
        return self._transport.call("PATCH", (*_path(organization, site), group), SiteSectionGroup, body=update.wire())

    @operation("deleteSiteSectionGroupById")
    def delete(self, organization: str, site: str, group: str) -> None:
        """Delete a section group but not its sections; success too when it did not exist."""
        self._transport.delete((*_path(organization, site), group))

    @operation("addSectionToGroup")
    def add_section(self, organization: str, site: str, group: str, section: str) -> SiteSectionGroup:
        """Add a section at the end of a group, and return the group."""
        path, body = (*_path(organization, site), group, "sections"), SectionInGroup(section_id=section)
        return self._transport.call("POST", path, SiteSectionGroup, body=body.wire())

    @operation("removeSectionFromGroup")
    def remove_section(self, organization: str, site: str, group: str, section: str) -> None:
        """Move a section of a group to the site's root (beyond the document)."""
        self._transport.delete((*_path(organization, site), group, "sections", section))

    @operation("moveSiteSectionGroup")
    def move(self, organization: str, site: str, group: str, move: GroupMove) -> SiteSectionGroup:
        """Move a group between two siblings, and return it (beyond the document)."""
        path = (*_path(organization, site), group, "move")
        return self._transport.call("POST", path, SiteSectionGroup, body=move.wire())


def _path(organization: str, site: str) -> tuple[str, ...]:
    return ("orgs", organization, "sites", site, "section-groups")
