"""How a site is put together: groups, sections and site-spaces in order, the defaults, and where each is read."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Self

import sqlalchemy as sa
from fastapi import Depends, Request

from syncd.layout.tree.paths import slugify
from syncd.platform.http import addresses
from syncd.platform.http.failures import Failure
from syncd.platform.people.auth import Caller
from syncd.platform.people.organizations import AtOrganization, OrganizationRequest, require_organization
from syncd.platform.schema import site_tables
from syncd.platform.schema.publish import customizations
from syncd.platform.settings import CurrentSettings
from syncd.platform.sites import keys, site_content
from syncd.platform.sites.parts import Rows, Structure
from syncd.platform.storage.storage import Storage

GROUPS_DEPTH_MAX = 5
"""How deep section groups nest; the document does not say, the cautious choice is far more than a menu can show."""
ITEMS_MAX = 1000
"""Sections, groups or site-spaces of one site: its structure is always read as a whole."""


@dataclass(frozen=True)
class SiteRequest:
    """A request about one site: who asks, in which storage, for which site of which organization."""

    request: Request
    storage: Storage
    caller: Caller
    organization_id: str
    site_id: str

    @classmethod
    def of(cls, at: OrganizationRequest, site_id: str) -> Self:
        """Return a request about an organization as one about a site of it."""
        return cls(at.request, at.storage, at.caller, at.organization_id, site_id)

    def require_site(self, connection: sa.Connection) -> sa.Row[Any]:
        """Return the site's row. Raises: Failure 404 when the site or its organization is not there for the caller."""
        require_organization(connection, self.caller, self.organization_id)
        table = site_tables.sites
        query = sa.select(table).where(table.c.id == self.site_id, table.c.organization == self.organization_id)
        site = connection.execute(query).one_or_none()
        if site is None:
            raise Failure(404, f"No site {self.site_id} in organization {self.organization_id}.")
        return site

    def load_structure(self, connection: sa.Connection) -> Structure:
        """Return the site's structure. Raises: as `require_site`."""
        site = self.require_site(connection)
        tables = (site_tables.section_groups, site_tables.sections, site_tables.site_spaces)
        groups, sections, site_spaces = (
            tuple(connection.execute(sa.select(table).where(table.c.site == site.id)).all()) for table in tables
        )
        return Structure.of(site, groups, sections, site_spaces)

    def open_view(self, connection: sa.Connection, share_key: str | None = None) -> "SiteView":
        """Return the site's structure as it is now, ready to be shown to who has a share link's key or none.

        Raises: as `require_site`; Failure 404 for a key that does not open the site.
        """
        structure = self.load_structure(connection)
        return SiteView(self, connection, structure, keys.require_share_key(connection, structure.site, share_key))

    def build_url(self, path: str) -> str:
        """Return the absolute address in the API of a path below the site."""
        return addresses.build_api_url(self.request, f"/orgs/{self.organization_id}/sites/{self.site_id}{path}")


@dataclass(frozen=True)
class SiteView:
    """A structure as one transaction sees it, shown to one request; `share_key` is one that opens the site."""

    at: SiteRequest
    connection: sa.Connection
    structure: Structure
    share_key: str | None = None

    @cached_property
    def _spaces(self) -> Mapping[str, dict[str, Any]]:
        return site_content.read_linked_spaces(self.connection, self.at.request, self.at.caller, self.structure.site.id)

    @cached_property
    def _is_advanced(self) -> bool:
        chosen = customizations.c.settings["advancedCustomization"].label("chosen")
        found = self.connection.scalar(sa.select(chosen).where(customizations.c.site == self.structure.site.id))
        return bool((found or {}).get("enabled"))

    def is_granted(self, site_space: sa.Row[Any]) -> bool:
        """Return whether the caller may know of a site-space: with a content token, of those that it names."""
        grant = self.at.caller.grant
        return grant is None or site_space.space in grant.spaces

    def is_granted_section(self, section: sa.Row[Any]) -> bool:
        """Return whether the caller may know of a section: with a content token, of one with something to read."""
        variants = self.structure.list_variants(section.id)
        return self.at.caller.grant is None or any(self.is_granted(row) for row in variants)

    def serialize_structure(self) -> dict[str, Any]:
        """Return the SiteStructure: what is at the root, with all that it holds and the caller may know of."""
        root = self.structure.list_children(None)
        # A group that holds nothing yet does not make a site one of sections: that would hide what is published.
        if self.structure.sections or (root and not self.structure.site_spaces):
            return {"type": "sections", "structure": self._serialize_children(root)}
        granted = filter(self.is_granted, self.structure.site_spaces)
        return {"type": "siteSpaces", "structure": [self.serialize_site_space(row) for row in granted]}

    def serialize_item(self, row: sa.Row[Any]) -> dict[str, Any]:
        """Return a group, section or site-space as the API shows it, from its row."""
        if self.structure.find_site_space(row.id) is not None:
            return self.serialize_site_space(row)
        return (
            self.serialize_section(row)
            if self.structure.find_section(row.id) is not None
            else self.serialize_group(row)
        )

    def serialize_group(self, row: sa.Row[Any]) -> dict[str, Any]:
        """Return a section group with all that it holds as the API shows it, from its row."""
        children = self._serialize_children(self.structure.list_children(row.id))
        return {
            "object": "site-section-group",
            "id": row.id,
            "title": row.title,
            "draft": False,
            **_drop_none(sectionGroup=row.parent, icon=row.icon),
            "children": children,
            # What clients read before there were groups in groups. Source: @gitbook/api 0.146.0.
            "sections": [child for child in children if child["object"] == "site-section"],
        }

    def serialize_section(self, row: sa.Row[Any]) -> dict[str, Any]:
        """Return a section as the API shows it, from its row."""
        return {
            "object": "site-section",
            "id": row.id,
            "title": row.title,
            "path": row.path,
            "draft": False,
            "default": row is self.structure.find_default_section(),
            **_drop_none(
                description=row.description, condition=row.condition, sectionGroup=row.section_group, icon=row.icon
            ),
            "siteSpaces": [
                self.serialize_site_space(variant)
                for variant in self.structure.list_variants(row.id)
                if self.is_granted(variant)
            ],
            "urls": build_published_urls(
                self.at.request, self.structure.site, self.share_key, self.structure.compute_section_path(row)
            ),
        }

    def serialize_site_space(self, row: sa.Row[Any]) -> dict[str, Any]:
        """Return a site-space with its space as the API shows it, from its row; its title is the space's unless it has
        one.
        """
        space = self._spaces.get(row.space)
        return {
            "object": "site-space",
            "id": row.id,
            "path": row.path,
            "draft": False,
            **_drop_none(section=row.section, condition=row.condition, space=space),
            "title": row.title or (space or {}).get("title", row.path),
            "default": self.structure.is_default(row),
            "hasAdvancedCustomizationFeature": self._is_advanced,
            "hidden": row.hidden,
            "urls": build_published_urls(
                self.at.request, self.structure.site, self.share_key, self.structure.compute_variant_path(row)
            ),
        }

    def _serialize_children(self, rows: Sequence[sa.Row[Any]]) -> list[dict[str, Any]]:
        """Groups and sections; those that hold nothing that the caller may know of are left out."""
        known = (row for row in rows if self.structure.find_section(row.id) is None or self.is_granted_section(row))
        shown = [self.serialize_item(row) for row in known]
        return shown if self.at.caller.grant is None else [one for one in shown if one.get("children") != []]

    def build_address(self, path: str) -> str:
        """Return the address where visitors read a path below the site."""
        return _build_address(self.at.request, self.structure.site, self.share_key, path)


async def _require_site_write(request: Request, settings: CurrentSettings) -> None:
    if not settings.site_write:
        # Word for word what a platform answers that has no such route.
        raise Failure(405, "Method Not Allowed") if request.method == "PUT" else Failure(404, "Not Found")


EXTENSION_DEPENDENCIES = [Depends(_require_site_write)]
"""The dependencies of an operation that the API document does not have."""


async def _read_site_request(at: AtOrganization, site_id: str) -> SiteRequest:
    return SiteRequest.of(at, site_id)


AtSite = Annotated[SiteRequest, Depends(_read_site_request)]
"""A handler's parameter for an operation below `/orgs/{organizationId}/sites/{siteId}`."""


def build_published_urls(request: Request, site: sa.Row[Any], share_key: str | None, path: str = "") -> dict[str, str]:
    """Return the member `published` of the `urls` of a site, or of a path below it.

    Shape: empty while visitors cannot read it: before it is published, and by share link without a key.
    """
    if not site.published or (site.visibility == "share-link" and share_key is None):
        return {}
    return {"published": _build_address(request, site, share_key, path)}


def find_free_path(title: str, taken: set[str]) -> str:
    """Return a path made from a title that none of the paths beside it has."""
    slug = slugify(title)
    candidate, number = slug, 1
    while candidate in taken:
        number += 1
        candidate = f"{slug[: 99 - len(str(number))]}-{number}"
    return candidate


def compute_next_position(rows: Iterable[sa.Row[Any]]) -> int:
    """Return the position behind the last of a new row's siblings."""
    return max((row.position for row in rows), default=-1) + 1


def require_capacity(rows: Rows, what: str) -> None:
    """Require that a site may have one more part of a kind; `what` names the kind. Raises: Failure 400."""
    if len(rows) >= ITEMS_MAX:
        raise Failure(400, f"a site has at most {ITEMS_MAX} {what}")


def _build_address(request: Request, site: sa.Row[Any], share_key: str | None, path: str) -> str:
    return addresses.build_published_url(request, "/".join(filter(None, (site.basename, share_key))), path)


def _drop_none(**members: Any) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}
