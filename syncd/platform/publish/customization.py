"""Customization: how a site looks and what it offers, and what a site-space has of its own in place of that."""

from typing import Any

import sqlalchemy as sa
from fastapi import Response
from fastapi.responses import JSONResponse

from syncd.model.customization import SiteCustomizationSettings
from syncd.model.customization_override import SiteSpaceCustomizationOverride, amend_override
from syncd.model.customization_write import SiteCustomizationWrite
from syncd.platform.database.tables import upsert
from syncd.platform.http import answers
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import declare_role
from syncd.platform.publish.settings import add_earlier_members, overlay_settings, read_site_settings
from syncd.platform.schema import site_tables
from syncd.platform.schema.publish import customizations, overrides
from syncd.platform.sites import site_spaces
from syncd.platform.sites.structure import AtSite
from syncd.platform.storage.times import format_time

router = create_router(prefix="/orgs/{organization_id}/sites/{site_id}", tags=["site-customization"])


class Settings(RequestBody, SiteCustomizationWrite):
    """Body of `PUT …/customization`."""


class Override(RequestBody, SiteSpaceCustomizationOverride):
    """Body of `PATCH …/site-spaces/{siteSpaceId}/customization`."""


@router.get(
    "/customization", deprecated=True, response_model=SiteCustomizationSettings, openapi_extra=declare_role("read")
)
def get_site_customization_by_id(at: AtSite) -> JSONResponse:
    """Return the customization of a site: the defaults, until it is changed."""
    with at.storage.read() as connection:
        at.require_site(connection)
        return answers.ok(read_site_settings(connection, at.site_id))


@router.put("/customization", response_model=SiteCustomizationSettings, openapi_extra=declare_role("create"))
def update_site_customization_by_id(at: AtSite, settings: Settings) -> JSONResponse:
    """Replace the customization of a site, and return it."""
    row = {"site": at.site_id, "settings": settings.wire(), "updated_at": format_time(at.storage.now())}
    with at.storage.write() as connection:
        at.require_site(connection)
        upsert(connection, customizations, [row], key=("site",))
    return answers.ok(add_earlier_members(settings.wire()))


@router.get(
    "/site-spaces/{site_space_id}/customization",
    deprecated=True,
    response_model=SiteCustomizationSettings,
    openapi_extra=declare_role("read"),
)
def get_site_space_customization_by_id(at: AtSite, site_space_id: str) -> JSONResponse:
    """Return the customization that visitors of a site-space see: its own settings over those of its site."""
    with at.storage.read() as connection:
        return answers.ok(_read_effective_settings(connection, at, site_space_id))


@router.patch(
    "/site-spaces/{site_space_id}/customization",
    response_model=SiteCustomizationSettings,
    openapi_extra=declare_role("create"),
)
def override_site_space_customization_by_id(at: AtSite, site_space_id: str, change: Override) -> JSONResponse:
    """Override settings of the site for a site-space, and return what its visitors see; null ends an override."""
    given = change.wire()
    with at.storage.write() as connection:
        row = site_spaces.require_site_space(at.open_view(connection), site_space_id)
        if "title" in given:
            _update_title(connection, row.id, given.pop("title"))
        kept = amend_override(_find_overrides(connection, row.id), given)
        _save_overrides(connection, at, row.id, kept)
        return answers.ok(_read_effective_settings(connection, at, row.id))


@router.delete("/site-spaces/{site_space_id}/customization", status_code=204, openapi_extra=declare_role("create"))
def delete_site_space_customization_by_id(at: AtSite, site_space_id: str) -> Response:
    """Remove all overrides of a site-space: its settings come from its site again, its title from its space."""
    with at.storage.write() as connection:
        row = at.open_view(connection).structure.find_site_space(site_space_id)
        if row is not None:
            _update_title(connection, row.id, None)
            connection.execute(overrides.delete().where(overrides.c.site_space == row.id))
    return answers.no_content()


def _read_effective_settings(connection: sa.Connection, at: AtSite, site_space_id: str) -> dict[str, Any]:
    row = site_spaces.require_site_space(at.open_view(connection), site_space_id)
    return overlay_settings(read_site_settings(connection, at.site_id), row.title, _find_overrides(connection, row.id))


def _find_overrides(connection: sa.Connection, site_space_id: str) -> dict[str, Any]:
    query = sa.select(overrides.c.overrides).where(overrides.c.site_space == site_space_id)
    return connection.scalar(query) or {}


def _save_overrides(connection: sa.Connection, at: AtSite, site_space_id: str, kept: dict[str, Any]) -> None:
    if kept:
        row = {"site_space": site_space_id, "overrides": kept, "updated_at": format_time(at.storage.now())}
        upsert(connection, overrides, [row], key=("site_space",))
    else:
        connection.execute(overrides.delete().where(overrides.c.site_space == site_space_id))


def _update_title(connection: sa.Connection, site_space_id: str, title: str | None) -> None:
    connection.execute(
        site_tables.site_spaces.update().where(site_tables.site_spaces.c.id == site_space_id).values(title=title)
    )
