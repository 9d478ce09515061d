"""A visit of a published site: who comes, by which address, and what of the site is there for that visitor.

The one place that decides who may read what. A page, its Markdown, the search, a list for machines and a renderer all
ask a visit, and see nothing of the site but what the visit has.
"""

import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import sqlalchemy as sa

from syncd.layout.evaluation import Variables
from syncd.platform.revisions.outline import Outline, TreeEntry, is_page
from syncd.platform.revisions.tree import PAGES, ROOT
from syncd.platform.sites.parts import Structure
from syncd.platform.visitors.claims import read_visitor_token, select_unsigned_claims
from syncd.platform.visitors.sites import PublishedSite, PublishedSpaceContent

UNSIGNED = "unsigned"
VISITOR_COOKIE = "syncd-visitor"
"""The cookie of a site that keeps its visitor's token."""
PREVIEWS = "/app/preview"
"""The path below which members of its organization see a site, each by its id, whether it is published or not."""
OPEN_TO_ALL = ("public", "unlisted")


@dataclass(frozen=True)
class VisitorToken:
    """What a visitor shows: a token that the site's owner signed, "" for none, and claims that nobody signed."""

    token: str = field(default="", repr=False)
    unsigned: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SignInNeeded:
    """A site is for visitors whom its owner knows.

    Shape: `address` is where they are sent, "" for nowhere; `is_refused` says that a token does not count.
    """

    site: str
    address: str
    is_refused: bool


@dataclass(frozen=True)
class SiteVisit:
    """A site as one visitor may see it.

    Shape: `base` is the path of the site on the server, without a slash at its end; `share_key` and `share_link` are
    the key and the id of the link that opened it, or "". `claims` decide conditions. `is_preview` says that somebody
    of the organization looks at what visitors will see.
    """

    site: PublishedSite
    base: str
    claims: Mapping[str, Any]
    share_key: str = ""
    share_link: str = ""
    is_preview: bool = False

    @property
    def structure(self) -> Structure:
        """The whole structure of the site, what this visitor may not see included."""
        return self.site.structure

    @property
    def visitor_class(self) -> str:
        """All of the visitor that a page can depend on, as text; the same for all whom nobody knows."""
        # Most visitors show nothing, and no other class is the path of a site alone.
        return json.dumps([self.base, self.claims], sort_keys=True) if self.claims else self.base

    @cached_property
    def visible_site_spaces(self) -> Sequence[sa.Row[Any]]:
        """The site-spaces that this visitor may see, in the site's order."""
        return tuple(row for row in self.structure.site_spaces if self._is_visible(row))

    @property
    def is_for_everybody(self) -> bool:
        """Whether what this visitor sees is what everybody sees, so that a cache between may keep it."""
        return self.site.row.visibility in OPEN_TO_ALL and not self.claims and not self.is_preview

    @property
    def may_be_indexed(self) -> bool:
        """Whether search engines may list pages of the site."""
        return bool(self.site.row.visibility == "public") and not self.is_preview

    def fulfils(self, condition: str | None) -> bool:
        """Return whether the visitor fulfils a condition; nobody fulfils one that cannot be computed."""
        return condition is None or Variables({}, self.claims).evaluate_condition(condition) is True

    def list_site_spaces(self, section_id: str | None) -> list[sa.Row[Any]]:
        """Return the visible site-spaces of a section, or with None of the root, in order."""
        return [row for row in self.visible_site_spaces if row.section == section_id]

    def find_first(self, section_id: str | None) -> sa.Row[Any] | None:
        """Return the site-space that a visitor of a section, or with None of the root, sees first."""
        visible = self.list_site_spaces(section_id)
        default = self.structure.find_default_variant(section_id)
        return default if default in visible else next(iter(visible), None)

    def find_site_space_of(self, space_id: str, near: sa.Row[Any]) -> sa.Row[Any] | None:
        """Return the visible site-space that shows a space: of several one of the same section, then a default one."""
        found = [row for row in self.visible_site_spaces if row.space == space_id]
        return min(
            found, key=lambda row: (row.section != near.section, not self.structure.is_default(row)), default=None
        )

    def build_path(self, site_space: sa.Row[Any], page_path: str = "") -> str:
        """Return the path on the server at which a page of a site-space is read."""
        parts = (self.base, self.structure.compute_variant_path(site_space), page_path)
        return "/".join(part for part in parts if part) if any(parts[1:]) else f"{self.base}/"

    def require_space(self, site_space: sa.Row[Any]) -> PublishedSpaceContent:
        """Return the content of a visible site-space."""
        return self.site.spaces[site_space.space]

    def may_read_page(self, outline: Outline, entry: TreeEntry | None) -> bool:
        """Return whether a page is there for the visitor, who fulfils its condition and those of pages above it."""
        if entry is None or not is_page(entry.node):
            return False
        while entry is not None and entry.node.id not in (PAGES, ROOT):
            if not self.fulfils(entry.node.fields.get("condition")):
                return False
            entry = outline.entries.get(entry.parent)
        return entry is not None and entry.node.id == PAGES

    def _is_visible(self, row: sa.Row[Any]) -> bool:
        section = self.structure.find_section(row.section)
        conditions = (row.condition, section.condition if section is not None else None)
        return row.space in self.site.spaces and all(self.fulfils(condition) for condition in conditions)


@dataclass(frozen=True)
class VisitPlace:
    """Where an address leads on a site: a site-space, and the path of a page in it.

    Shape: `is_exact` says that the address spells the site-space as the platform does; `is_settled` that no longer
    address could name another one.
    """

    site_space: sa.Row[Any]
    page_path: str
    is_exact: bool = True
    is_settled: bool = True


def open_visit(
    site: PublishedSite, base: str, parts: Sequence[str], visitor: VisitorToken, now: float
) -> tuple[SiteVisit, Sequence[str]] | SignInNeeded | None:
    """Return the visit of a site by an address, and what of the address leads on below the site.

    Shape: `base` is the path of the site, `parts` the segments of the address behind it. None when the address has no
    share link's key where one is needed: to somebody without, there is no site. Units: `now` in epoch seconds.
    """
    share_key = share_link = ""
    if site.row.visibility == "share-link":
        share_key, share_link = _find_share_link(site, parts[0] if parts else "")
        if not share_link:
            return None
        base, parts = f"{base}/{share_key}", parts[1:]
    signed = read_visitor_token(visitor.token, site.key, now) if visitor.token else None
    if site.row.visibility == "visitor-auth" and signed is None:
        return SignInNeeded(site.row.id, site.fallback_url, is_refused=bool(visitor.token))
    claims: dict[str, Any] = {}
    if site.row.adaptive_content:
        claims = dict(signed or {})
        if unsigned := select_unsigned_claims(visitor.unsigned, site.schema):
            claims[UNSIGNED] = unsigned
    return SiteVisit(site, base, claims, share_key, share_link), parts


def open_preview(site: PublishedSite, base: str, unsigned: Mapping[str, Any]) -> SiteVisit:
    """Return the visit of a member of the site's organization, who sees it as a visitor with some unsigned claims."""
    selected = select_unsigned_claims(unsigned, site.schema) if site.row.adaptive_content else {}
    return SiteVisit(site, base, {UNSIGNED: selected} if selected else {}, is_preview=True)


def find_place(visit: SiteVisit, parts: Sequence[str]) -> VisitPlace | None:
    """Return the place of the site that the segments of an address name; None when the visitor sees nothing there.

    A section's path goes before a site-space's, and both before a page's; the path of a default one is not written,
    and still understood where there is no such page (`skip_default_path`).
    """
    structure, rest = visit.structure, [part for part in parts if part]
    section = structure.find_default_section()
    named = next((row for row in structure.sections if rest and row.path == rest[0]), None)
    if named is not None:
        rest = rest[1:]
    section_id = (named or section).id if section is not None else None
    is_exact = named is None or named is not section
    variants = visit.list_site_spaces(section_id)
    chosen = next((row for row in variants if rest and row.path == rest[0] and not structure.is_default(row)), None)
    if chosen is not None:
        return VisitPlace(chosen, "/".join(rest[1:]), is_exact)
    default = structure.find_default_variant(section_id)
    if default in variants:
        is_settled = bool(rest) or (len(variants) == 1 and (named is not None or not structure.sections[1:]))
        return VisitPlace(default, "/".join(rest), is_exact, is_settled)
    first = visit.find_first(section_id) or (next(iter(visit.visible_site_spaces), None) if named is None else None)
    return None if first is None or rest else VisitPlace(first, "", is_exact=False)


def skip_default_path(place: VisitPlace) -> VisitPlace | None:
    """Return the place that is meant when an address begins with the path of a default site-space; None when not."""
    first, _, rest = place.page_path.partition("/")
    return VisitPlace(place.site_space, rest, is_exact=False) if first == place.site_space.path else None


def _find_share_link(site: PublishedSite, given: str) -> tuple[str, str]:
    # Every key is compared, each in constant time: how long it takes says nothing about any of them.
    found = [(key, id) for key, id in site.share_links.items() if hmac.compare_digest(key.encode(), given.encode())]
    return found[0] if found else ("", "")
