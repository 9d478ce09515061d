"""Site-spaces: the links between a site and its spaces."""

from collections.abc import Iterator

from syncd.api.lists import iterate_list
from syncd.api.operation import operation
from syncd.api.transport.transport import Transport
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
        """Return the site-spaces of a site: all, only the default ones, or only the others."""
        params = {"default": default, "shareKey": share_key}
        return iterate_list(self._transport, _path(organization, site), Listing[SiteSpace], params=params)

    @operation("addSpaceToSite")
    def create(self, organization: str, site: str, site_space: SiteSpaceCreate) -> SiteSpace:
        """Link a space to a site, and return the new site-space.

        Raises: AnswerLost when it may or may not have been created.
        """
        return self._transport.call("POST", _path(organization, site), SiteSpace, body=site_space.wire())

    @operation("updateSiteSpaceById")
    def update(self, organization: str, site: str, site_space: str, update: SiteSpaceUpdate) -> SiteSpace:
        """Change a site-space, and return it."""
        return self._transport.call("PATCH", (*_path(organization, site), site_space), SiteSpace, body=update.wire())

    @operation("deleteSiteSpaceById")
    def delete(self, organization: str, site: str, site_space: str) -> None:
        """Unlink a site-space; success too when it did not exist."""
        self._transport.delete((*_path(organization, site), site_space))

    @operation("moveSiteSpace")
    def move(self, organization: str, site: str, site_space: str, move: SiteSpaceMove) -> SiteSpace:
        """Move a site-space between two siblings, and return it (deprecated)."""
        path = (*_path(organization, site), site_space, "move")
        return self._transport.call("POST", path, SiteSpace, body=move.wire())


def _path(organization: str, site: str) -> tuple[str, ...]:
    return ("orgs", organization, "sites", site, "site-spaces")
