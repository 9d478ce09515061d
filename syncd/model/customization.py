"""SiteCustomizationSettings: how a published site looks and what it offers, as the platform shows it."""

from typing import Any

from pydantic import Field

from syncd.model.base import Nullable, Observed
from syncd.model.content_ref import ContentRef


class ThemedColor(Observed):
    """A color for each of the two themes."""

    light: str
    dark: str


class ThemedAddress(Observed):
    """An image for each of the two themes."""

    light: str
    dark: str


class Favicon(Observed):
    """A site's icon: images, an emoji, or nothing."""

    icon: ThemedAddress | None = None
    emoji: str | None = None


class Tint(Observed):
    """The color of the site's surfaces."""

    color: ThemedColor


class Sidebar(Observed):
    """The table of contents beside a page."""

    background: str | None = None
    list: str | None = None


class ThemedCodeTheme(Observed):
    """The colors of code."""

    light: str
    dark: str


class CodeThemes(Observed):
    """The colors of code in text and in API references."""

    default: ThemedCodeTheme | None = None
    openapi: ThemedCodeTheme | None = None


class Styling(Observed):
    """Colors, shapes and fonts; a font is a name or the definition of a custom one."""

    theme: str | None = None
    primary_color: ThemedColor | None = None
    tint: Tint | None = None
    info_color: ThemedColor | None = None
    success_color: ThemedColor | None = None
    warning_color: ThemedColor | None = None
    danger_color: ThemedColor | None = None
    corners: str | None = None
    depth: str | None = None
    links: str | None = None
    font: str | dict[str, Any] | None = None
    monospace_font: str | dict[str, Any] | None = None
    background: str | None = None
    icons: str | None = None
    sidebar: Sidebar | None = None
    code_theme: CodeThemes | None = None
    search: str | None = None


class ContentLink(Observed):
    """A link with a title."""

    title: str
    localized_title: dict[str, str] | None = None
    to: ContentRef | None = None


class HeaderLink(Observed):
    """A link in the header, or, with links of its own, a menu."""

    title: str
    localized_title: dict[str, str] | None = None
    style: str | None = None
    to: Nullable[ContentRef] = None
    links: tuple[ContentLink, ...] = ()
    condition: str | None = None


class Header(Observed):
    """The top of every page."""

    preset: str | None = None
    logo: ThemedAddress | None = None
    primary_link: ContentRef | None = None
    background_color: ThemedColor | None = None
    link_color: ThemedColor | None = None
    links: tuple[HeaderLink, ...] = ()


class FooterGroup(Observed):
    """A column of links in the footer."""

    title: str
    localized_title: dict[str, str] | None = None
    links: tuple[ContentLink, ...] = ()


class Footer(Observed):
    """The bottom of every page."""

    logo: ThemedAddress | None = None
    groups: tuple[FooterGroup, ...] = ()
    copyright: str | None = None


class Announcement(Observed):
    """A banner above every page."""

    enabled: bool
    message: str | None = None
    link: ContentLink | None = None
    style: str | None = None


class Themes(Observed):
    """Which theme visitors see first, and whether they may change it."""

    default: str | None = None
    toggeable: bool | None = None


class Enabled(Observed):
    """Something that is on or off."""

    enabled: bool


class Ai(Observed):
    """What answers visitors' questions."""

    mode: str
    suggestions: tuple[str, ...] | None = None


class Git(Observed):
    """What visitors see of the repository behind the content."""

    show_edit_link: bool


class PageActions(Observed):
    """What the menu of a page offers."""

    external_ai: bool | None = Field(default=None, alias="externalAI")
    markdown: bool | None = None
    mcp: bool | None = None
    items: tuple[str, ...] | None = None


class ExternalLinks(Observed):
    """Where links to elsewhere open."""

    target: str


class LinkedPage(Observed):
    """An address elsewhere: of a privacy policy, or of an image for previews."""

    url: str | None = None


class Insights(Observed):
    """How visits are counted."""

    tracking_cookie: bool


class SocialDisplay(Observed):
    """Where a social account is shown."""

    footer: bool | None = None
    header: bool | None = None


class SocialAccount(Observed):
    """An account of the site's owner elsewhere."""

    platform: str
    handle: str
    display: SocialDisplay | None = None


class Internationalization(Observed):
    """The language of the site's own words."""

    locale: str


class SiteCustomizationSettings(Observed):
    """The customization of a site, or of one of its site-spaces with the site's where it has none of its own.

    Source: API document, SiteCustomizationSettings; members beyond it: @gitbook/api 0.146.0.
    """

    title: str | None = None
    localized_title: dict[str, str] | None = None
    internationalization: Internationalization | None = None
    styling: Styling | None = None
    favicon: Favicon | None = None
    header: Header | None = None
    footer: Footer | None = None
    announcement: Announcement | None = None
    themes: Themes | None = None
    pdf: Enabled | None = None
    feedback: Enabled | None = None
    ai: Ai | None = None
    advanced_customization: Enabled | None = None
    git: Git | None = None
    page_actions: PageActions | None = None
    external_links: ExternalLinks | None = None
    pagination: Enabled | None = None
    trademark: Enabled | None = None
    privacy_policy: LinkedPage | None = None
    social_preview: LinkedPage | None = None
    social_accounts: tuple[SocialAccount, ...] | None = None
    insights: Insights | None = None
    updated_at: str | None = None
