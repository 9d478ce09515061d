"""Site (`site`), SiteSectionGroup, SiteSection and SiteSpace: how spaces are published."""

from typing import Any, Literal

from pydantic import Field

from syncd.model.base import Declared, Observed
from syncd.model.space import Space


class Site(Observed):
    """A published docs site. Source: API document, Site."""

    object: str = "site"
    id: str
    type: str | None = None
    title: str = ""
    hostname: str | None = None
    basename: str | None = None
    visibility: str | None = None
    published: bool | None = None
    site_spaces: int | None = None
    created_at: str | None = None
    urls: dict[str, Any] = {}
    proxy: dict[str, Any] | None = None


class SiteSpace(Observed):
    """The link between a site and a space: a variant of a section, or of a site without sections."""

    object: Literal["site-space"] = "site-space"
    id: str
    path: str
    title: str = ""
    section: str | None = None
    space: Space | None = None
    default: bool | None = None
    condition: str | None = None
    hidden: bool | None = None
    urls: dict[str, Any] = {}


class SiteSection(Observed):
    """A section of a site: one or more site-spaces under one path."""

    object: Literal["site-section"] = "site-section"
    id: str
    title: str
    path: str
    description: str | None = None
    default: bool | None = None
    condition: str | None = None
    section_group: str | None = None
    icon: str | None = None
    site_spaces: tuple[SiteSpace, ...] = ()
    urls: dict[str, Any] = {}


class SiteCreate(Declared):
    """Body of `POST /orgs/{organizationId}/sites`."""

    type: str | None = None
    title: str | None = Field(default=None, min_length=2, max_length=128)
    visibility: str | None = None
    spaces: tuple[str, ...] | None = None


class SiteSectionCreate(Declared):
    """Body of `POST …/sections`."""

    space_id: str
    title: str | None = Field(default=None, min_length=2, max_length=128)
    icon: str | None = Field(default=None, max_length=50)


class SiteSpaceCreate(Declared):
    """Body of `POST …/site-spaces`."""

    space_id: str
    section_id: str | None = None
