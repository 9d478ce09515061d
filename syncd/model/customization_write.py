"""SiteCustomizationSettings as a caller may write it: in full for a site, in part for a site-space.

Of what the public product accepts beyond the API document, only the members are taken that the product itself answers
with (@gitbook/api 0.146.0, and those of a real site), so that what one of them answered can be put back unchanged.
"""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from syncd.model.base import ABSENT, Declared, Nullable
from syncd.model.condition import Condition
from syncd.model.content_ref import ContentRefWrite
from syncd.model.web_address import WebAddress

Color = Annotated[str, StringConstraints(pattern=r"^#(?:[0-9a-fA-F]{3}){1,2}$")]
Switch = Annotated[bool, Field(strict=True)]
SiteTitle = Annotated[str, StringConstraints(min_length=2, max_length=128)]
LinkTitle = Annotated[str, StringConstraints(max_length=64)]
Copyright = Annotated[str, StringConstraints(max_length=300)]
Localized = Annotated[
    dict[Annotated[str, StringConstraints(max_length=20)], Annotated[str, StringConstraints(max_length=128)]],
    Field(max_length=100),
]
"""A text in other languages, by language."""

Theme = Literal["clean", "muted", "bold", "gradient"]
Corners = Literal["straight", "rounded", "circular"]
Depth = Literal["subtle", "flat"]
Links = Literal["default", "accent"]
Icons = Literal["regular", "solid", "duotone", "light", "thin"]
Background = Literal["plain", "match"]
SidebarBackground = Literal["default", "filled"]
SidebarList = Literal["default", "pill", "line"]
Search = Literal["prominent", "subtle"]
HeaderPreset = Literal["default", "bold", "contrast", "custom", "none"]
ThemeMode = Literal["light", "dark", "system"]
LinkTarget = Literal["self", "blank"]
Locale = Literal["en", "fr", "es", "zh", "ja", "de", "nl", "no", "pt-br", "ru"]
FontName = Literal[
    "ABCFavorit", "Inter", "Roboto", "RobotoSlab", "OpenSans", "SourceSansPro", "Lato", "Ubuntu", "Raleway",
    "Merriweather", "Overpass", "NotoSans", "IBMPlexSerif", "Poppins", "FiraSans",
]  # fmt: skip
MonospaceFontName = Literal[
    "FiraCode", "IBMPlexMono", "JetBrainsMono", "SourceCodePro", "RobotoMono", "SpaceMono", "DMMono", "Inconsolata"
]
"""Source of every set of values: @gitbook/api 0.146.0."""

_MEMBERS: dict[str, tuple[str, ...]] = {
    "file": ("file", "space"),
    "url": ("url",),
    "page": ("page", "space"),
    "anchor": ("anchor", "page", "space"),
    "user": ("user",),
    "collection": ("collection",),
    "space": ("space",),
    "reusable-content": ("reusable_content", "space"),
    "openapi": ("spec",),
    "tag": ("tag", "space"),
}
"""The members of each kind of reference, the required one first. Source: @gitbook/api 0.146.0."""
_SCHEMES = ("http://", "https://", "mailto:")


def _reference(ref: ContentRefWrite) -> ContentRefWrite:
    required, *others = _MEMBERS[ref.kind]
    given = ref.model_fields_set - {"kind"}
    if required not in given or given - {required, *others} or None in {getattr(ref, name) for name in given}:
        raise ValueError(f"a reference of the kind {ref.kind} has {' and maybe '.join([required, *others])}, not null")
    if ref.url is not None and not (ref.url.lower().startswith(_SCHEMES) and ref.url.isprintable()):
        raise ValueError("must be an http, https or mailto address")
    return ref


Reference = Annotated[ContentRefWrite, AfterValidator(_reference)]
"""Where a link leads. That it is there is not checked: a site may be set up before its content."""


class ThemedColorWrite(Declared):
    """A color for each of the two themes."""

    light: Color
    dark: Color


class ThemedAddressWrite(Declared):
    """An image for each of the two themes."""

    light: WebAddress
    dark: WebAddress


class FaviconWrite(Declared):
    """A site's icon: images or an emoji; empty for the platform's own."""

    icon: ThemedAddressWrite = ABSENT
    emoji: str = Field(default="", max_length=50)

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if len(self.model_fields_set) > 1:
            raise ValueError("a favicon is an icon or an emoji")
        return self


class TintWrite(Declared):
    """The color of the site's surfaces."""

    color: ThemedColorWrite


class FontSourceWrite(Declared):
    """A file of a font."""

    url: str = Field(max_length=2048, pattern=r"^(?:https?://|/)[^\s]*$")
    format: Literal["woff2", "woff"] = "woff2"


class FontFaceWrite(Declared):
    """One weight of a font."""

    weight: int = Field(ge=1, le=1000, strict=True)
    sources: tuple[FontSourceWrite, ...] = Field(min_length=1, max_length=10)


class FontWrite(Declared):
    """A custom font."""

    id: str = Field(max_length=100)
    custom: Switch
    font_family: str = Field(min_length=1, max_length=50)
    font_faces: tuple[FontFaceWrite, ...] = Field(min_length=1, max_length=50)


class SidebarWrite(Declared):
    """The table of contents beside a page."""

    background: SidebarBackground
    list: SidebarList


class ThemedCodeThemeWrite(Declared):
    """The colors of code for each of the two themes."""

    light: str = Field(max_length=64)
    dark: str = Field(max_length=64)


class CodeThemesWrite(Declared):
    """The colors of code in text and in API references."""

    default: ThemedCodeThemeWrite
    openapi: ThemedCodeThemeWrite


class StylingWrite(Declared):
    """Colors, shapes and fonts."""

    theme: Theme
    primary_color: ThemedColorWrite
    tint: TintWrite = ABSENT
    info_color: ThemedColorWrite
    success_color: ThemedColorWrite
    warning_color: ThemedColorWrite
    danger_color: ThemedColorWrite
    corners: Corners
    depth: Depth
    links: Links
    font: FontName | FontWrite
    monospace_font: MonospaceFontName | FontWrite
    background: Background = "plain"
    icons: Icons
    sidebar: SidebarWrite
    code_theme: CodeThemesWrite = ABSENT
    search: Search


class ContentLinkWrite(Declared):
    """A link with a title."""

    title: LinkTitle
    localized_title: Localized = {}
    to: Reference


class HeaderLinkWrite(Declared):
    """A link in the header, or, with links of its own, a menu."""

    title: LinkTitle
    localized_title: Localized = {}
    style: Literal["link", "button-primary", "button-secondary"] = "link"
    to: Nullable[Reference]
    links: tuple[ContentLinkWrite, ...] = Field(max_length=50)
    condition: Condition = ""


class HeaderWrite(Declared):
    """The top of every page."""

    preset: HeaderPreset = "default"
    logo: ThemedAddressWrite = ABSENT
    primary_link: Reference = ABSENT
    background_color: ThemedColorWrite = ABSENT
    link_color: ThemedColorWrite = ABSENT
    links: tuple[HeaderLinkWrite, ...] = Field(max_length=50)


class FooterGroupWrite(Declared):
    """A column of links in the footer."""

    title: LinkTitle
    localized_title: Localized = {}
    links: tuple[ContentLinkWrite, ...] = Field(max_length=50)


class FooterWrite(Declared):
    """The bottom of every page."""

    logo: ThemedAddressWrite = ABSENT
    groups: tuple[FooterGroupWrite, ...] = Field(max_length=50)
    copyright: Copyright = ""


class AnnouncementWrite(Declared):
    """A banner above every page."""

    enabled: Switch
    message: str = Field(min_length=2, max_length=128)
    link: ContentLinkWrite = ABSENT
    style: Literal["info", "warning", "danger", "success"]


class ThemesWrite(Declared):
    """Which theme visitors see first, and whether they may change it."""

    default: ThemeMode
    toggeable: Switch


class EnabledWrite(Declared):
    """Something that is on or off."""

    enabled: Switch


class AiWrite(Declared):
    """What answers visitors' questions."""

    mode: Literal["none", "search", "assistant"]
    suggestions: tuple[Annotated[str, StringConstraints(max_length=64)], ...] = Field(default=(), max_length=5)


class GitWrite(Declared):
    """What visitors see of the repository behind the content."""

    show_edit_link: Switch


class PageActionsWrite(Declared):
    """What the menu of a page offers."""

    external_ai: Switch = Field(alias="externalAI")
    markdown: Switch
    mcp: Switch


class ExternalLinksWrite(Declared):
    """Where links to elsewhere open."""

    target: LinkTarget


class LinkedPageWrite(Declared):
    """An address elsewhere: of a privacy policy, or of an image for previews."""

    url: WebAddress = ""


class InsightsWrite(Declared):
    """How visits are counted."""

    tracking_cookie: Switch


class SocialDisplayWrite(Declared):
    """Where a social account is shown."""

    footer: Switch
    header: Switch


class SocialAccountWrite(Declared):
    """An account of the site's owner elsewhere."""

    platform: str = Field(max_length=50)
    handle: str = Field(max_length=256)
    display: SocialDisplayWrite


class InternationalizationWrite(Declared):
    """The language of the site's own words."""

    locale: Locale


class SiteCustomizationWrite(Declared):
    """Body of `PUT …/customization`: every member that has a default on the platform must be given.

    Shape: `updatedAt`, to which the API document gives no meaning, is kept as it is written.
    """

    title: SiteTitle = ""
    localized_title: Localized = {}
    internationalization: InternationalizationWrite = ABSENT
    styling: StylingWrite
    favicon: FaviconWrite
    header: HeaderWrite
    footer: FooterWrite
    announcement: AnnouncementWrite = ABSENT
    themes: ThemesWrite
    pdf: EnabledWrite
    feedback: EnabledWrite
    ai: AiWrite
    advanced_customization: EnabledWrite
    git: GitWrite
    page_actions: PageActionsWrite
    external_links: ExternalLinksWrite
    pagination: EnabledWrite
    trademark: EnabledWrite
    privacy_policy: LinkedPageWrite
    social_preview: LinkedPageWrite
    social_accounts: tuple[SocialAccountWrite, ...] = Field(default=(), max_length=10)
    insights: InsightsWrite
    updated_at: str = Field(default="", max_length=40)
