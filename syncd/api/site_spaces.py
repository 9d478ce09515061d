"""Site-spaces: the links between a site and its spaces."""

from collections.abc import Iterator

from syncd.api.lists import iterate_list
from syncd.api.operation import operation
from syncd.api.transport import Transport
from syncd.model.listing import Listing
from syncd.model.site import SiteSpace, SiteSpaceCreate, SiteSpaceMove, SiteSpaceUpdate


class SiteSpaces:
    """Operations on a site's site-spaces. Source: API document, Site spaces."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @operation("listSiteSpaces")
    def list(
        self, organization: str, site: str, *, default: bool | None = None, share_key: str | None = None
    ) -> Iterator[SiteSpace]:
        """Given a site, return its site-spaces: all, only the default ones, or only the others."""
        params = {"default": default, "shareKey": share_key}
        return iterate_list(self._transport, _path(organization, site), Listing[SiteSpace], params=params)

    @operation("addSpaceToSite")
    def create(self, organization: str, site: str, site_space: SiteSpaceCreate) -> SiteSpace:
        """Given a site and which space to link, return the new site-space.

        Raises: AnswerLost when it may or may not have been created.
        """
        return self._transport.call("POST", _path(organization, site), SiteSpace, body=site_space.wire())

    @operation("updateSiteSpaceById")
    def update(self, organization: str, site: str, site_space: str, update: SiteSpaceUpdate) -> SiteSpace:
        """Given a site-space's id and what to change, return it as it is then."""
        return self._transport.call("PATCH", (*_path(organization, site), site_space), SiteSpace, body=update.wire())

    @operation("deleteSiteSpaceById")
    def delete(self, organization: str, site: str, site_space: str) -> None:
        """Given a site-space's id, unlink it; that it was not there is success too."""
        self._transport.delete((*_path(organization, site), site_space))

    @operation("moveSiteSpace")
    def move(self, organization: str, site: str, site_space: str, move: SiteSpaceMove) -> SiteSpace:
        """Given a site-space's id and the siblings it shall stand between, return it, moved (deprecated)."""
        path = (*_path(organization, site), site_space, "move")
        return self._transport.call("POST", path, SiteSpace, body=move.wire())


def _path(organization: str, site: str) -> tuple[str, ...]:
    return ("orgs", organization, "sites", site, "site-spaces")
