"""A published site, whole: what a server that shows it to visitors needs in one answer."""

from fastapi.responses import JSONResponse

from syncd.model.published_site import PublishedContentSite
from syncd.platform.http import answers
from syncd.platform.http.failures import Failure
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import declare_role
from syncd.platform.publish import customization
from syncd.platform.sites import sites
from syncd.platform.sites.keys import ShareKey
from syncd.platform.sites.structure import AtSite

router = create_router(prefix="/orgs/{organization_id}/sites/{site_id}/published", tags=["sites"])


@router.get("", response_model=PublishedContentSite, openapi_extra=declare_role("read"))
def get_published_content_site(at: AtSite, share_key: ShareKey = None) -> JSONResponse:
    """Return a published site with its structure and customizations. Raises: Failure 404 while it is not published."""
    with at.storage.read() as connection:
        view = at.open_view(connection, share_key)
        if not view.structure.site.published:
            raise Failure(404, f"Site {at.site_id} is not published.")
        site = {
            "object": "published-content-site",
            "site": sites.read_site(connection, at, view.share_key),
            "structure": view.serialize_structure(),
            "customizations": {
                "site": customization.read_site_settings(connection, at.site_id),
                "siteSpaces": customization.read_site_space_settings(connection, at.site_id),
            },
            "scripts": [],
        }
    return answers.ok(site)
