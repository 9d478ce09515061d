"""Customization: how a site looks and what it offers, and what a site-space has of its own in place of that."""

from typing import Any

import sqlalchemy as sa
from fastapi import Response
from fastapi.responses import JSONResponse

from syncd.model.customization import SiteCustomizationSettings
from syncd.model.customization_override import SiteSpaceCustomizationOverride, amend_override, apply_override
from syncd.model.customization_write import SiteCustomizationWrite
from syncd.platform.database.tables import upsert
from syncd.platform.http import answers
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import declare_role
from syncd.platform.schema import accounts
from syncd.platform.schema.publish import customizations, overrides
from syncd.platform.sites import site_spaces
from syncd.platform.sites.structure import AtSite
from syncd.platform.storage.times import format_time

router = create_router(prefix="/orgs/{organization_id}/sites/{site_id}", tags=["site-customization"])

_LINK = accounts.site_spaces
_COLORS = {
    "primaryColor": {"light": "#346DDB", "dark": "#346DDB"},
    "infoColor": {"light": "#787878", "dark": "#787878"},
    "successColor": {"light": "#00C950", "dark": "#00C950"},
    "warningColor": {"light": "#FE9A00", "dark": "#FE9A00"},
    "dangerColor": {"light": "#FB2C36", "dark": "#FB2C36"},
}
DEFAULT: dict[str, Any] = {
    "styling": {
        "theme": "clean",
        **_COLORS,
        "corners": "rounded",
        "depth": "subtle",
        "links": "default",
        "font": "Inter",
        "monospaceFont": "IBMPlexMono",
        "icons": "regular",
        "sidebar": {"background": "default", "list": "default"},
        "search": "subtle",
    },
    "favicon": {},
    "header": {"links": []},
    "footer": {"groups": []},
    "themes": {"default": "light", "toggeable": True},
    "pdf": {"enabled": True},
    "feedback": {"enabled": False},
    "ai": {"mode": "none"},
    "advancedCustomization": {"enabled": False},
    "git": {"showEditLink": False},
    "pageActions": {"externalAI": False, "markdown": True, "mcp": False},
    "externalLinks": {"target": "self"},
    "pagination": {"enabled": True},
    "trademark": {"enabled": True},
    "privacyPolicy": {},
    "socialPreview": {},
    "insights": {"trackingCookie": False},
}
"""The settings of a site that nobody customized: every member that a PUT must have, the cautious value of each."""

_EARLIER: dict[str, dict[str, Any]] = {
    "styling": {"background": "plain"},
    "header": {"preset": "default"},
    "internationalization": {"locale": "en"},
}
"""Members that do nothing any more, which a PUT may leave out and clients expect. Source: not-shown.md (c) 7."""


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
    return answers.ok(_add_earlier_members(settings.wire()))


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


def read_site_settings(connection: sa.Connection, site_id: str) -> dict[str, Any]:
    """Return the customization of a site."""
    query = sa.select(customizations.c.settings).where(customizations.c.site == site_id)
    settings: dict[str, Any] | None = connection.scalar(query)
    return _add_earlier_members(DEFAULT if settings is None else settings)


def read_site_space_settings(connection: sa.Connection, site_id: str) -> dict[str, dict[str, Any]]:
    """Return the customization that visitors see, for each site-space that overrides any of it, by id."""
    site = read_site_settings(connection, site_id)
    query = (
        sa.select(_LINK.c.id, _LINK.c.title, overrides.c.overrides)
        .outerjoin(overrides, overrides.c.site_space == _LINK.c.id)
        .where(_LINK.c.site == site_id, sa.or_(_LINK.c.title.is_not(None), overrides.c.site_space.is_not(None)))
        .order_by(_LINK.c.id)
    )
    return {row.id: _overlay_settings(site, row.title, row.overrides or {}) for row in connection.execute(query)}


def _add_earlier_members(settings: dict[str, Any]) -> dict[str, Any]:
    return settings | {name: {**members, **settings.get(name, {})} for name, members in _EARLIER.items()}


def _read_effective_settings(connection: sa.Connection, at: AtSite, site_space_id: str) -> dict[str, Any]:
    row = site_spaces.require_site_space(at.open_view(connection), site_space_id)
    return _overlay_settings(read_site_settings(connection, at.site_id), row.title, _find_overrides(connection, row.id))


def _overlay_settings(site: dict[str, Any], title: str | None, own: dict[str, Any]) -> dict[str, Any]:
    # A site's title is not its site-spaces' title: without one of its own, each has its content's.
    titles = {} if title is None else {"title": title}
    return titles | apply_override({name: value for name, value in site.items() if name != "title"}, own)


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
    connection.execute(_LINK.update().where(_LINK.c.id == site_space_id).values(title=title))
