"""Settings of a site and of its site-spaces as they are read: what is not said has the cautious default."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import sqlalchemy as sa

from syncd.model.customization_override import apply_override
from syncd.platform.schema import site_tables
from syncd.platform.schema.publish import customizations, overrides

_LINK = site_tables.site_spaces
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
"""Members that do nothing any more, which a PUT may leave out and clients expect. Source: @gitbook/api 0.146.0."""


_CODE_THEME = {"light": "default-light", "dark": "default-dark"}
_RENDERED: dict[str, Any] = {
    **DEFAULT,
    "internationalization": {"locale": "en"},
    "styling": {**DEFAULT["styling"], "codeTheme": {"default": _CODE_THEME, "openapi": _CODE_THEME}},
    "socialAccounts": [],
}
"""What a renderer takes for granted in the settings of a published site. Source: @gitbook/api 0.202.0."""


def read_site_settings(connection: sa.Connection, site_id: str) -> dict[str, Any]:
    """Return the customization of a site."""
    query = sa.select(customizations.c.settings).where(customizations.c.site == site_id)
    settings: dict[str, Any] | None = connection.scalar(query)
    return add_earlier_members(DEFAULT if settings is None else settings)


def read_site_space_settings(connection: sa.Connection, site_id: str) -> dict[str, dict[str, Any]]:
    """Return the customization that visitors see of each site-space, by id: its own over that of its site."""
    site = read_site_settings(connection, site_id)
    query = (
        sa.select(_LINK.c.id, _LINK.c.title, overrides.c.overrides)
        .outerjoin(overrides, overrides.c.site_space == _LINK.c.id)
        .where(_LINK.c.site == site_id)
        .order_by(_LINK.c.id)
    )
    return {row.id: overlay_settings(site, row.title, row.overrides or {}) for row in connection.execute(query)}


def add_earlier_members(settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings with the members that do nothing any more and that clients expect."""
    return settings | {name: {**members, **settings.get(name, {})} for name, members in _EARLIER.items()}


def overlay_settings(site: dict[str, Any], title: str | None, own: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a site-space: what it has of its own, over those of its site."""
    # A site's title is not its site-spaces' title: without one of its own, each has its content's.
    titles = {} if title is None else {"title": title}
    return titles | apply_override({name: value for name, value in site.items() if name != "title"}, own)


def complete_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with every member that a renderer needs."""
    styling = {**_RENDERED["styling"], **settings.get("styling", {})}
    complete = {**_RENDERED, **settings, "styling": styling}
    return complete | {"pageActions": {**complete["pageActions"], "items": _list_page_actions(complete)}}


def select_links(settings: Mapping[str, Any], fulfils: Callable[[str | None], bool]) -> dict[str, Any]:
    """Return settings without the links of header and footer whose condition is not fulfilled, and without conditions.

    Shape: `fulfils` says that of a condition; None, for a link that has none, is fulfilled.
    """

    def select(links: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        kept = [{**link} for link in links if fulfils(link.get("condition"))]
        for link in kept:
            link.pop("condition", None)
            if link.get("links"):
                link["links"] = select(link["links"])
        return kept

    header, footer = settings.get("header") or {}, settings.get("footer") or {}
    return {
        **settings,
        "header": {**header, "links": select(header.get("links") or ())},
        "footer": {**footer, "groups": select(footer.get("groups") or ())},
    }


def _list_page_actions(settings: Mapping[str, Any]) -> list[str]:
    """The actions in the menu of a page, in order, by the name that renderers know. Source: @gitbook/api 0.202.0."""
    chosen = settings["pageActions"]
    offered = {
        "assistant": settings["ai"]["mode"] == "assistant",
        "markdown": chosen["markdown"],
        "external-ai": chosen["externalAI"],
        "mcp": chosen["mcp"],
        "git": settings["git"]["showEditLink"],
        "pdf": settings["pdf"]["enabled"],
    }
    return [name for name, is_on in offered.items() if is_on]
