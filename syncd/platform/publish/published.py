"""A published site, whole: what a server that shows it to visitors needs in one answer."""

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from fastapi.responses import JSONResponse

from syncd.layout.evaluation import Variables
from syncd.model.published_site import PublishedContentSite
from syncd.platform.http import answers
from syncd.platform.http.failures import Failure
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import Caller, declare_role
from syncd.platform.publish.settings import (
    complete_settings,
    read_site_settings,
    read_site_space_settings,
    select_links,
)
from syncd.platform.sites import sites
from syncd.platform.sites.keys import ShareKey
from syncd.platform.sites.structure import AtSite, SiteView

router = create_router(prefix="/orgs/{organization_id}/sites/{site_id}/published", tags=["sites"])


@router.get("", response_model=PublishedContentSite, openapi_extra=declare_role("read", visitors=True))
def get_published_content_site(at: AtSite, share_key: ShareKey = None) -> JSONResponse:
    """Return a published site with its structure and customizations.

    Raises: Failure 404 while it is not published, but to the content token of a draft.
    """
    with at.storage.read() as connection:
        view = at.open_view(connection, share_key)
        is_draft = at.caller.grant is not None and at.caller.grant.is_draft
        if not view.structure.site.published and not is_draft:
            raise Failure(404, f"Site {at.site_id} is not published.")
        site = {
            "object": "published-content-site",
            "site": sites.read_site(connection, at, view.share_key),
            "structure": view.serialize_structure(),
            "customizations": {
                "site": _complete_settings(at.caller, read_site_settings(connection, at.site_id)),
                "siteSpaces": _read_variant_settings(connection, view),
            },
            "scripts": [],
        }
    return answers.ok(site)


def _read_variant_settings(connection: sa.Connection, view: SiteView) -> dict[str, dict[str, Any]]:
    """The settings of every site-space that the caller may know of, by id."""
    every = read_site_space_settings(connection, view.at.site_id)
    granted = filter(view.is_granted, view.structure.site_spaces)
    return {row.id: _complete_settings(view.at.caller, every[row.id]) for row in granted}


def _complete_settings(caller: Caller, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with all that a renderer needs; to a content token with those links alone that are for its visitor."""
    if caller.grant is None:
        return complete_settings(settings)
    visitor = Variables({}, caller.grant.claims or {})

    def fulfils(condition: str | None) -> bool:
        return condition is None or visitor.evaluate_condition(condition) is True

    return complete_settings(select_links(settings, fulfils))
