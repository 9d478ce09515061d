"""What a site-space has of its own: settings that take the place of its site's, and how they are laid over these.

Omitted is unchanged, null is reset to the site's value. The members named in `GROUPS` are changed member by member;
every other value is replaced as a whole, so that a reference, an announcement or a pair of colors is never half of one
thing and half of another. A title is the exception that the document makes: without one of its own, a site-space has
its content's title, not its site's.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from syncd.model.base import Declared, Nullable
from syncd.model.customization_write import (
    AnnouncementWrite,
    Background,
    CodeThemesWrite,
    Copyright,
    Corners,
    Depth,
    FaviconWrite,
    FooterGroupWrite,
    HeaderLinkWrite,
    HeaderPreset,
    Icons,
    Links,
    LinkTarget,
    Locale,
    Localized,
    Reference,
    Search,
    SidebarBackground,
    SidebarList,
    SiteTitle,
    Switch,
    Theme,
    ThemedAddressWrite,
    ThemedColorWrite,
    ThemeMode,
    TintWrite,
)
from syncd.model.web_address import WebAddress

GROUPS = frozenset(
    {
        "internationalization", "styling", "sidebar", "header", "footer", "themes", "pdf", "feedback", "git",
        "externalLinks", "pagination", "trademark", "privacyPolicy", "socialPreview",
    }
)  # fmt: skip


class SidebarOverride(Declared):
    """The table of contents beside a page."""

    background: Nullable[SidebarBackground] = None
    list: Nullable[SidebarList] = None


class StylingOverride(Declared):
    """Colors and shapes; fonts are the site's."""

    theme: Nullable[Theme] = None
    primary_color: Nullable[ThemedColorWrite] = None
    tint: Nullable[TintWrite] = None
    info_color: Nullable[ThemedColorWrite] = None
    success_color: Nullable[ThemedColorWrite] = None
    warning_color: Nullable[ThemedColorWrite] = None
    danger_color: Nullable[ThemedColorWrite] = None
    corners: Nullable[Corners] = None
    depth: Nullable[Depth] = None
    links: Nullable[Links] = None
    background: Nullable[Background] = None
    icons: Nullable[Icons] = None
    sidebar: Nullable[SidebarOverride] = None
    code_theme: Nullable[CodeThemesWrite] = None
    search: Nullable[Search] = None


class HeaderOverride(Declared):
    """The top of every page."""

    preset: Nullable[HeaderPreset] = None
    logo: Nullable[ThemedAddressWrite] = None
    primary_link: Nullable[Reference] = None
    background_color: Nullable[ThemedColorWrite] = None
    link_color: Nullable[ThemedColorWrite] = None
    links: Nullable[tuple[HeaderLinkWrite, ...]] = Field(default=None, max_length=50)


class FooterOverride(Declared):
    """The bottom of every page."""

    logo: Nullable[ThemedAddressWrite] = None
    groups: Nullable[tuple[FooterGroupWrite, ...]] = Field(default=None, max_length=50)
    copyright: Nullable[Copyright] = None


class ThemesOverride(Declared):
    """Which theme visitors see first, and whether they may change it."""

    default: Nullable[ThemeMode] = None
    toggeable: Nullable[Switch] = None


class EnabledOverride(Declared):
    """Something that is on or off."""

    enabled: Nullable[Switch] = None


class GitOverride(Declared):
    """What visitors see of the repository behind the content."""

    show_edit_link: Nullable[Switch] = None


class ExternalLinksOverride(Declared):
    """Where links to elsewhere open."""

    target: Nullable[LinkTarget] = None


class LinkedPageOverride(Declared):
    """An address elsewhere."""

    url: Nullable[WebAddress] = None


class InternationalizationOverride(Declared):
    """The language of the site's own words."""

    locale: Nullable[Locale] = None


class SiteSpaceCustomizationOverride(Declared):
    """Body of `PATCH …/site-spaces/{siteSpaceId}/customization`. Source: API document, SiteCustomizationSettings."""

    title: Nullable[SiteTitle] = None
    localized_title: Nullable[Localized] = None
    internationalization: Nullable[InternationalizationOverride] = None
    styling: Nullable[StylingOverride] = None
    favicon: Nullable[FaviconWrite] = None
    header: Nullable[HeaderOverride] = None
    footer: Nullable[FooterOverride] = None
    announcement: Nullable[AnnouncementWrite] = None
    themes: Nullable[ThemesOverride] = None
    pdf: Nullable[EnabledOverride] = None
    feedback: Nullable[EnabledOverride] = None
    git: Nullable[GitOverride] = None
    external_links: Nullable[ExternalLinksOverride] = None
    pagination: Nullable[EnabledOverride] = None
    trademark: Nullable[EnabledOverride] = None
    privacy_policy: Nullable[LinkedPageOverride] = None
    social_preview: Nullable[LinkedPageOverride] = None


def amend_override(overrides: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """Return a site-space's overrides with the JSON of a change applied."""
    result = dict(overrides)
    for name, value in change.items():
        kept = amend_override(result.get(name, {}), value) or None if name in GROUPS and value is not None else value
        if kept is None:
            result.pop(name, None)
        else:
            result[name] = kept
    return result


def apply_override(settings: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that visitors of a site-space see, from its site's settings and its own overrides."""
    result = dict(settings)
    for name, value in overrides.items():
        result[name] = apply_override(result.get(name, {}), value) if name in GROUPS else value
    return result
