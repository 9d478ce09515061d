"""PublishedContentSite (`published-content-site`) and ShareLink (`share-link`): what visitors get to see."""

from typing import Literal

from pydantic import Field

from syncd.model.base import Declared, Observed, ObservedId
from syncd.model.customization import SiteCustomizationSettings
from syncd.model.site import Site, SiteStructure, SiteUrls


class SiteScript(Observed):
    """A script that an integration adds to a site's pages. Source: @gitbook/api 0.146.0."""

    script: str
    content_security_policy: str | None = None
    cookies: bool | None = None


class SiteCustomizations(Observed):
    """The settings of a site and, by their ids, of those site-spaces that have some of their own."""

    site: SiteCustomizationSettings
    site_spaces: dict[str, SiteCustomizationSettings]


class PublishedContentSite(Observed):
    """All that is needed to serve a site. Source: API document, PublishedContentSite."""

    object: Literal["published-content-site"] = "published-content-site"
    site: Site
    structure: SiteStructure
    customizations: SiteCustomizations
    scripts: tuple[SiteScript, ...] = ()


class ShareLink(Observed):
    """A secret address of a site (beyond the document: @gitbook/api 0.146.0)."""

    object: Literal["share-link"] = "share-link"
    id: ObservedId
    created_at: str
    name: str | None = None
    active: bool | None = None
    urls: SiteUrls = SiteUrls()


class ShareLinkCreate(Declared):
    """Body of `POST …/share-links`."""

    name: str = Field(max_length=50)


class ShareLinkUpdate(Declared):
    """Body of `PATCH …/share-links/{shareLinkId}`: unset is unchanged."""

    name: str = Field(default="", max_length=50)
    active: bool = True
