"""Share links: secret addresses under which a site that is open to nobody else can be read (@gitbook/api 0.146.0)."""

from typing import Any

import sqlalchemy as sa
from fastapi import Response
from fastapi.responses import JSONResponse

from syncd.model.listing import Listing
from syncd.model.published_site import ShareLink, ShareLinkCreate, ShareLinkUpdate
from syncd.platform.http import answers
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.failures import Failure
from syncd.platform.http.listing import Paging
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import declare_role
from syncd.platform.schema.publish import share_links
from syncd.platform.sites.keys import generate_share_key
from syncd.platform.sites.structure import AtSite, SiteRequest, build_published_urls
from syncd.platform.storage.times import format_time

router = create_router(prefix="/orgs/{organization_id}/sites/{site_id}/share-links", tags=["site-share-links"])

LINKS_MAX = 100
"""Share links of one site: a request with a key compares it with all of them."""


class ShareLinkNew(RequestBody, ShareLinkCreate):
    """Body of `POST …/share-links`."""


class ShareLinkChange(RequestBody, ShareLinkUpdate):
    """Body of `PATCH …/share-links/{shareLinkId}`."""


@router.get("", response_model=Listing[ShareLink], openapi_extra=declare_role("admin", extension=True))
def list_site_share_links(at: AtSite, paging: Paging) -> JSONResponse:
    """List the share links of a site, oldest first."""
    with at.storage.read() as connection:
        site = at.require_site(connection)
        envelope = paging.paginate_rows(connection, _select_share_links(at), share_links.c.created_at, share_links.c.id)
    return answers.ok(envelope | {"items": [_serialize_share_link(at, site, row) for row in envelope["items"]]})


@router.post("", status_code=201, response_model=ShareLink, openapi_extra=declare_role("admin", extension=True))
def create_site_share_link(at: AtSite, create: ShareLinkNew) -> JSONResponse:
    """Create a share link with a new key. Raises: Failure 400 when the site has as many as it may."""
    with at.storage.write() as connection:
        site = at.require_site(connection)
        if len(connection.execute(_select_share_links(at)).all()) >= LINKS_MAX:
            raise Failure(400, f"a site has at most {LINKS_MAX} share links")
        row = {
            "id": at.storage.new_id(),
            "site": site.id,
            "key": generate_share_key(),
            "name": create.name,
            "active": True,
            "created_at": format_time(at.storage.now()),
        }
        new_link = connection.execute(share_links.insert().values(row).returning(share_links)).one()
    return answers.created_resource(
        _serialize_share_link(at, site, new_link), location=at.build_url(f"/share-links/{new_link.id}")
    )


@router.patch("/{share_link_id}", response_model=ShareLink, openapi_extra=declare_role("admin", extension=True))
def update_site_share_link_by_id(at: AtSite, share_link_id: str, update: ShareLinkChange) -> JSONResponse:
    """Rename a share link, or turn it on or off, and return it.

    Raises: Failure 400 when the body changes nothing, 404 when the site has no such link.
    """
    values = {name: getattr(update, name) for name in update.model_fields_set}
    if not values:
        raise Failure(400, "name or active: one of them must be given")
    with at.storage.write() as connection:
        site = at.require_site(connection)
        mine = (share_links.c.id == share_link_id, share_links.c.site == at.site_id)
        changed = share_links.update().where(*mine).values(values).returning(share_links)
        row = connection.execute(changed).one_or_none()
    if row is None:
        raise Failure(404, f"No share link {share_link_id} in site {at.site_id}.")
    return answers.ok(_serialize_share_link(at, site, row))


@router.delete("/{share_link_id}", status_code=204, openapi_extra=declare_role("admin", extension=True))
def delete_site_share_link_by_id(at: AtSite, share_link_id: str) -> Response:
    """Delete a share link, so that its address leads nowhere any more."""
    with at.storage.write() as connection:
        at.require_site(connection)
        mine = (share_links.c.id == share_link_id, share_links.c.site == at.site_id)
        connection.execute(share_links.delete().where(*mine))
    return answers.no_content()


def _select_share_links(at: SiteRequest) -> sa.Select[Any]:
    return sa.select(share_links).where(share_links.c.site == at.site_id)


def _serialize_share_link(at: SiteRequest, site: sa.Row[Any], row: sa.Row[Any]) -> dict[str, Any]:
    opens = row.active and site.visibility == "share-link"
    return {
        "object": "share-link",
        "id": row.id,
        "createdAt": row.created_at,
        "name": row.name,
        "active": row.active,
        "urls": build_published_urls(at.request, site, row.key) if opens else {},
    }
