"""Share links: secret addresses of a site (beyond the document: @gitbook/api 0.146.0)."""

from collections.abc import Iterator

from syncd.api.lists import iterate_list
from syncd.api.operation import operation
from syncd.api.transport.transport import Transport
from syncd.model.listing import Listing
from syncd.model.published_site import ShareLink, ShareLinkCreate, ShareLinkUpdate


class ShareLinks:
    """Operations on a site's share links."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @operation("listSiteShareLinks")
    def list(self, organization: str, site: str) -> Iterator[ShareLink]:
        """Return all share links of the site."""
        return iterate_list(self._transport, _path(organization, site), Listing[ShareLink])

    @operation("createSiteShareLink")
    def create(self, organization: str, site: str, link: ShareLinkCreate) -> ShareLink:
        """Create a share link, and return it.

        Raises: AnswerLost when it may or may not have been created.
        """
        return self._transport.call("POST", _path(organization, site), ShareLink, body=link.wire())

    @operation("updateSiteShareLinkById")
    def update(self, organization: str, site: str, share_link: str, update: ShareLinkUpdate) -> ShareLink:
        """Change a share link, and return it."""
        return self._transport.call("PATCH", (*_path(organization, site), share_link), ShareLink, body=update.wire())

    @operation("deleteSiteShareLinkById")
    def delete(self, organization: str, site: str, share_link: str) -> None:
        """Delete a share link; success too when it did not exist."""
        self._transport.delete((*_path(organization, site), share_link))


def _path(organization: str, site: str) -> tuple[str, ...]:
    return ("orgs", organization, "sites", site, "share-links")
