"""How a site is put together: its sections and site-spaces in order, which are the defaults, and where each is read."""

import re
from dataclasses import dataclass
from typing import Annotated, Any, Self

import sqlalchemy as sa
from fastapi import Depends, Request
from pydantic import AfterValidator

from syncd.layout.paths import slugify
from syncd.platform import addresses, schema, site_content
from syncd.platform.auth import Caller
from syncd.platform.failures import Failure
from syncd.platform.organizations import AtOrganization, OrganizationRequest, require_organization
from syncd.platform.storage import Storage

_SEGMENT = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9._~-]{1,100}")


def _one_segment(path: str) -> str:
    if not _SEGMENT.fullmatch(path):
        raise ValueError("must be 1 to 100 letters, digits, or any of . _ ~ -")
    return path


PathSegment = Annotated[str, AfterValidator(_one_segment)]
"""A section's or site-space's path: the document gives only its length; the cautious choice is one URL segment."""


@dataclass(frozen=True)
class Structure:
    """A site with its sections and site-spaces, each in the site's order. Shapes: rows of `schema`'s tables."""

    site: sa.Row[Any]
    sections: tuple[sa.Row[Any], ...]
    site_spaces: tuple[sa.Row[Any], ...]

    def section(self, section_id: str | None) -> sa.Row[Any] | None:
        """Given an id, return the section's row."""
        return next((row for row in self.sections if row.id == section_id), None)

    def site_space(self, site_space_id: str | None) -> sa.Row[Any] | None:
        """Given an id, return the site-space's row."""
        return next((row for row in self.site_spaces if row.id == site_space_id), None)

    def variants(self, section_id: str | None) -> list[sa.Row[Any]]:
        """Given a section's id, or None for a site's root, return its site-spaces."""
        return [row for row in self.site_spaces if row.section == section_id]

    def default_section(self) -> sa.Row[Any] | None:
        """Return the section that visitors of the site see first: the chosen one, else the first one."""
        return self.section(self.site.default_section) or next(iter(self.sections), None)

    def default_variant(self, section_id: str | None) -> sa.Row[Any] | None:
        """Given a section's id, or None for the root, return its default: the chosen site-space, else the first one."""
        holder = self.site if section_id is None else self.section(section_id)
        chosen = self.site_space(holder.default_site_space) if holder is not None else None
        if chosen is not None and chosen.section == section_id:
            return chosen
        return next(iter(self.variants(section_id)), None)

    def is_default(self, site_space: sa.Row[Any]) -> bool:
        """Given a site-space, return whether it is its section's, or the root's, default.

        The document says "default space for the site", which leaves a section's own default nowhere to be seen; so a
        site with sections has one default in each of them.
        """
        return self.default_variant(site_space.section) is site_space

    def section_path(self, section: sa.Row[Any]) -> str:
        """Given a section, return its path below the site: empty for the default one, which is read at the root."""
        return "" if section is self.default_section() else str(section.path)

    def variant_path(self, site_space: sa.Row[Any]) -> str:
        """Given a site-space, return its path below the site: its section's, then its own unless it is the default."""
        section = self.section(site_space.section)
        parts = (
            self.section_path(section) if section is not None else "",
            "" if self.is_default(site_space) else str(site_space.path),
        )
        return "/".join(part for part in parts if part)


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
        """Given a request about an organization and a site's id, return it as a request about that site."""
        return cls(at.request, at.storage, at.caller, at.organization_id, site_id)

    def require(self, connection: sa.Connection) -> sa.Row[Any]:
        """Return the site's row. Raises: Failure 404 when the site or its organization is not there for the caller."""
        require_organization(connection, self.caller, self.organization_id)
        table = schema.sites
        query = sa.select(table).where(table.c.id == self.site_id, table.c.organization == self.organization_id)
        site = connection.execute(query).one_or_none()
        if site is None:
            raise Failure(404, f"No site {self.site_id} in organization {self.organization_id}.")
        return site

    def load(self, connection: sa.Connection) -> Structure:
        """Return the site's structure. Raises: as `require`."""
        site = self.require(connection)
        ordered = [
            sa.select(table).where(table.c.site == site.id).order_by(table.c.position, table.c.id)
            for table in (schema.sections, schema.site_spaces)
        ]
        sections, site_spaces = (tuple(connection.execute(query).all()) for query in ordered)
        return Structure(site, sections, site_spaces)

    def view(self, connection: sa.Connection) -> "View":
        """Return the site's structure as it is now, ready to be shown. Raises: as `require`."""
        return View(self, connection, self.load(connection))

    def location(self, path: str) -> str:
        """Given a path below the site, return its absolute address in the API."""
        return addresses.location(self.request, f"/orgs/{self.organization_id}/sites/{self.site_id}{path}")


@dataclass(frozen=True)
class View:
    """A structure as one transaction sees it, shown to one request."""

    at: SiteRequest
    connection: sa.Connection
    structure: Structure

    def section(self, row: sa.Row[Any]) -> dict[str, Any]:
        """Given a section's row, return the SiteSection."""
        optional = {
            "description": row.description,
            "condition": row.condition,
            "sectionGroup": row.section_group,
            "icon": row.icon,
        }
        return {
            "object": "site-section",
            "id": row.id,
            "title": row.title,
            "path": row.path,
            "default": row is self.structure.default_section(),
            **{name: value for name, value in optional.items() if value is not None},
            "siteSpaces": [self.site_space(variant) for variant in self.structure.variants(row.id)],
            "urls": self._published(self.structure.section_path(row)),
        }

    def site_space(self, row: sa.Row[Any]) -> dict[str, Any]:
        """Given a site-space's row, return the SiteSpace with its Space."""
        space = site_content.space_shown(self.connection, self.at.request, self.at.caller, row.space)
        optional = {"section": row.section, "condition": row.condition}
        return {
            "object": "site-space",
            "id": row.id,
            "path": row.path,
            **{name: value for name, value in optional.items() if value is not None},
            "space": space,
            "title": space["title"],
            "default": self.structure.is_default(row),
            "hidden": row.hidden,
            "urls": self._published(self.structure.variant_path(row)),
        }

    def address(self, path: str) -> str:
        """Given a path below the site, return the address where visitors read it, or would once it is published."""
        return addresses.published(self.at.request, self.structure.site.basename, path)

    def _published(self, path: str) -> dict[str, str]:
        return {"published": self.address(path)} if self.structure.site.published else {}


async def _at_site(at: AtOrganization, site_id: str) -> SiteRequest:
    return SiteRequest.of(at, site_id)


AtSite = Annotated[SiteRequest, Depends(_at_site)]
"""A handler's parameter for an operation below `/orgs/{organizationId}/sites/{siteId}`."""


def free_path(title: str, taken: set[str]) -> str:
    """Given a title and the paths beside it, return a path made from the title that none of them has."""
    slug = slugify(title)
    candidate, number = slug, 1
    while candidate in taken:
        number += 1
        candidate = f"{slug[: 99 - len(str(number))]}-{number}"
    return candidate


def next_position(rows: tuple[sa.Row[Any], ...]) -> int:
    """Given ordered rows, return the position after the last one."""
    return rows[-1].position + 1 if rows else 0


def in_order(row: sa.Row[Any]) -> str:
    """Given a section or site-space, return the key that sorts it into its site's order."""
    return f"{row.position:09}{row.id}"
