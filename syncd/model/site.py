"""Site (`site`), SiteSectionGroup, SiteSection and SiteSpace: how spaces are published."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, RootModel

from syncd.model.base import ABSENT, Declared, Nullable, Observed, ObservedId
from syncd.model.condition import Condition
from syncd.model.customization import Favicon
from syncd.model.space import Space

ICON_MAX = 50
PROXY_PATTERN = r"^([a-zA-Z0-9_-]+\.)*[a-zA-Z0-9_-]+\.[a-zA-Z]{2,}(\/[a-zA-Z0-9_-]+)+$"
"""Source: API document, Docs sites; its `\\w` is meant as in JavaScript, ASCII only."""
BASENAME_PATTERN = r"^[a-z0-9](?:[a-z0-9-]{0,98}[a-z0-9])?$"
"""The document says only that there is a base name; the cautious choice is what can stand in an address."""
SEGMENT_PATTERN = r"^[A-Za-z0-9._~-]{1,100}$"

SiteType = Literal["basic", "premium", "ultimate", "sponsored", "legacy-basic", "legacy-premium"]
SiteVisibility = Literal["public", "unlisted", "share-link", "visitor-auth"]
AgentsContext = Literal["excluded", "included"]


def _segment(path: str) -> str:
    if path in (".", ".."):
        raise ValueError("must be a name, not a step between directories")
    return path


Id = Annotated[str, Field(max_length=100)]
SiteTitle = Annotated[str, Field(min_length=2, max_length=128)]
SectionTitle = Annotated[str, Field(min_length=2, max_length=128)]
GroupTitle = Annotated[str, Field(min_length=1, max_length=100)]
Icon = Annotated[str, Field(max_length=ICON_MAX)]
PathSegment = Annotated[str, Field(pattern=SEGMENT_PATTERN), AfterValidator(_segment)]
"""A section's or site-space's path: the document gives only its length; the cautious choice is one URL segment."""


class SiteUrls(Observed):
    """Addresses of a site or of a part of it; `published` is there when visitors can read it.

    `preview` is that of a site for its organization, published or not.
    """

    location: str | None = None
    app: str | None = None
    published: str | None = None
    preview: str | None = None


class SiteProxy(Observed):
    """Where a site is read below someone else's host, such as `example.com/docs`, and where that host has to ask."""

    origin: str
    target: str


class AdaptiveContent(Observed):
    """Whether pages may differ by visitor."""

    enabled: bool


class SiteAds(Observed):
    """What has become of a site's request to show ads."""

    status: str
    submittable: bool | None = None
    topic: str | None = None
    zone_id: str | None = None
    reason: str | None = None


class SiteFeature(Observed):
    """A feature that a site uses, and the plan that it belongs to."""

    id: ObservedId
    plan: str | None = None
    frozen: bool | None = None
    customizations: tuple[str, ...] | None = None


class Site(Observed):
    """A published docs site. Source: API document, Site."""

    object: str = "site"
    id: ObservedId
    type: str | None = None
    applied_type: str | None = None
    title: str = ""
    icon: Favicon | None = None
    hostname: str | None = None
    basename: str | None = None
    proxy: SiteProxy | None = None
    visibility: str | None = None
    default_level: Nullable[str] = None
    permissions: dict[str, bool] = {}
    published: bool | None = None
    site_spaces: int | None = None
    created_at: str | None = None
    adaptive_content: AdaptiveContent | None = None
    ads: SiteAds | None = None
    agents_context: str | None = None
    features: tuple[SiteFeature, ...] = ()
    urls: SiteUrls = SiteUrls()


class SiteSpace(Observed):
    """The link between a site and a space: a variant of a section, or of a site without sections."""

    object: Literal["site-space"] = "site-space"
    id: ObservedId
    path: str
    title: str = ""
    draft: bool | None = None
    section: ObservedId | None = None
    space: Space | None = None
    default: bool | None = None
    condition: str | None = None
    has_advanced_customization_feature: bool | None = None
    hidden: bool | None = None
    urls: SiteUrls = SiteUrls()


class SiteSection(Observed):
    """A section of a site: one or more site-spaces under one path."""

    object: Literal["site-section"] = "site-section"
    id: ObservedId
    title: str
    path: str
    draft: bool | None = None
    description: str | None = None
    default: bool | None = None
    condition: str | None = None
    section_group: ObservedId | None = None
    icon: str | None = None
    site_spaces: tuple[SiteSpace, ...] = ()
    urls: SiteUrls = SiteUrls()


class StructureItem(Observed):
    """Something in a site's structure that this version does not know, such as a link to elsewhere."""

    object: str
    id: ObservedId


class SiteSectionGroup(Observed):
    """Sections under one title, with groups among them. Source: API document, SiteSectionGroup.

    `sections` are those of its `children` that are sections, for clients that know no groups in groups.
    """

    object: Literal["site-section-group"] = "site-section-group"
    id: ObservedId
    title: str
    draft: bool | None = None
    section_group: ObservedId | None = None
    icon: str | None = None
    children: tuple[
        Annotated["SiteSection | SiteSectionGroup | StructureItem", Field(union_mode="left_to_right")], ...
    ] = ()
    sections: tuple[SiteSection, ...] = ()


class SiteStructure(Observed):
    """A site's whole structure: `type` is `sections` or `siteSpaces`. Source: @gitbook/api 0.202.0."""

    type: str
    structure: tuple[
        Annotated[
            SiteSection | SiteSectionGroup | SiteSpace | StructureItem,
            Field(union_mode="left_to_right"),
        ],
        ...,
    ]


class MovedItem(RootModel[SiteSection | SiteSectionGroup | SiteSpace]):
    """Answer of `PATCH …/structure/sort`: what was moved."""


class SiteCreate(Declared):
    """Body of `POST /orgs/{organizationId}/sites`."""

    type: SiteType = "basic"
    title: SiteTitle = ""
    visibility: SiteVisibility = "public"
    spaces: tuple[Id, ...] = Field(default=(), max_length=100)


class AdaptiveContentWrite(Declared):
    """Whether pages may differ by visitor."""

    enabled: bool


class SiteUpdate(Declared):
    """Body of `PATCH …/sites/{siteId}`: unset is unchanged; a null proxy is removed."""

    title: SiteTitle = ""
    visibility: SiteVisibility = "public"
    basename: str = Field(default="", pattern=BASENAME_PATTERN)
    adaptive_content: AdaptiveContentWrite = AdaptiveContentWrite(enabled=False)
    agents_context: AgentsContext = "excluded"
    default_site_space: Id = ""
    default_site_section: Id = ""
    proxy: Nullable[Annotated[str, Field(max_length=512, pattern=PROXY_PATTERN)]] = None


class SiteSectionGroupCreate(Declared):
    """Body of `POST …/section-groups`: the sections named move into it, in this order."""

    title: GroupTitle
    icon: Nullable[Icon] = None
    sections: tuple[Id, ...] = Field(default=(), max_length=100)
    parent: Id = ""


class SiteSectionGroupUpdate(Declared):
    """Body of `PATCH …/section-groups/{siteSectionGroupId}`; `parentSectionGroupId` null is the site's root.

    `parentSectionGroupId` is beyond the API document: @gitbook/api 0.202.0.
    """

    title: GroupTitle = ""
    icon: Nullable[Icon] = None
    parent_section_group_id: Nullable[Id] = None


class SectionInGroup(Declared):
    """Body of `POST …/section-groups/{siteSectionGroupId}/sections`."""

    section_id: Id


class SiteSectionCreate(Declared):
    """Body of `POST …/sections`; `siteSectionGroupId` is beyond the document: @gitbook/api 0.146.0."""

    space_id: Id
    title: Nullable[SectionTitle] = None
    icon: Nullable[Icon] = None
    site_section_group_id: Id = ""


class SiteSectionUpdate(Declared):
    """Body of `PATCH …/sections/{siteSectionId}`: unset is unchanged; null removes what may be absent.

    `siteSectionGroupId`, of which null is the site's root, is beyond the API document: @gitbook/api 0.202.0.
    """

    title: SectionTitle = ""
    path: PathSegment = ""
    default_site_space: Id = ""
    condition: Nullable[Condition] = None
    icon: Nullable[Icon] = None
    description: Nullable[Annotated[str, Field(max_length=256)]] = None
    site_section_group_id: Nullable[Id] = None


class SiteSpaceCreate(Declared):
    """Body of `POST …/site-spaces`."""

    space_id: Id
    section_id: Id = ""


class SiteSpaceUpdate(Declared):
    """Body of `PATCH …/site-spaces/{siteSpaceId}`: unset is unchanged, a null condition is removed."""

    path: PathSegment = ""
    condition: Nullable[Condition] = None
    space_id: Id = ""
    hidden: bool = False


class SectionPlace(Declared):
    """A section beside which another one shall stand."""

    type: Literal["site-section"]
    site_section: Id


class SectionPosition(Declared):
    """Where a section shall stand; nowhere is at the end."""

    before: SectionPlace = ABSENT
    after: SectionPlace = ABSENT


class SectionMove(Declared):
    """Body of `POST …/sections/{siteSectionId}/move`."""

    position: SectionPosition = SectionPosition()


class SiteSpacePlace(Declared):
    """A site-space beside which another one shall stand."""

    type: Literal["site-space"]
    site_space: Id


class SiteSpacePosition(Declared):
    """Where a site-space shall stand; nowhere is at the end."""

    before: SiteSpacePlace = ABSENT
    after: SiteSpacePlace = ABSENT


class SiteSpaceMove(Declared):
    """Body of `POST …/site-spaces/{siteSpaceId}/move`."""

    position: SiteSpacePosition = SiteSpacePosition()


class StructurePlace(Declared):
    """Anything in a site's structure."""

    type: Literal["site-space", "site-section", "site-section-group"]
    id: Id


class StructurePosition(Declared):
    """Where something shall stand among its siblings; nowhere is at the end."""

    before: StructurePlace = ABSENT
    after: StructurePlace = ABSENT


class StructureSort(Declared):
    """Body of `PATCH …/structure/sort` (beyond the API document: @gitbook/api 0.202.0)."""

    item: StructurePlace
    position: StructurePosition


class GroupMove(Declared):
    """Body of `POST …/section-groups/{siteSectionGroupId}/move` (beyond the document: @gitbook/api 0.146.0)."""

    position: StructurePosition = StructurePosition()
