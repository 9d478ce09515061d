"""What a platform shows of a site, turned into facts, one part at a time; a list counts only when all of it came."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from syncd.api.client import Client
from syncd.errors import NotFound, NotThePlatform, PlatformError, Unauthorized
from syncd.model.page import walk_pages
from syncd.model.ref import ROOT
from syncd.model.site import Site, SiteSection, SiteSectionGroup, SiteSpace, StructureItem
from syncd.model.space import Space
from syncd.plan.site.live_state import ExistingItem, LiveSite

Part = SiteSection | SiteSectionGroup | SiteSpace | StructureItem
NOT_OFFERED = (404, 405, 501)
"""What a platform answers that does not have an operation beyond the document."""
GROUPS_DEEP = 50
"""How deep groups may stand in each other; far more than any menu shows."""
LISTED_FROM = 3
"""Spaces from which one listing of the organization costs less than a request each."""


@dataclass
class ReadStructure:
    """The groups, sections and variants of a site; `spaces` are those that came along. `sorts` as `Abilities.sort`."""

    items: dict[str, ExistingItem] = field(default_factory=dict)
    orders: dict[str, list[str]] = field(default_factory=dict)
    spaces: dict[str, str] = field(default_factory=dict)
    sorts: bool = False

    def add(self, part: Part, parent: str = ROOT) -> None:
        """Add a part with all that it holds, below its parent; what is known already stays."""
        if part.id in self.items or isinstance(part, StructureItem):
            return
        self.orders.setdefault(parent, []).append(part.id)
        self.items[part.id] = _to_existing(part, parent)
        for child in _list_children(part):
            self.add(child, part.id)
        if isinstance(part, SiteSpace) and part.space is not None:
            self.spaces[part.space.id] = explain_unusable(part.space)

    def freeze_orders(self) -> Mapping[str, tuple[str, ...]]:
        """Return the ids of the children by the parent's id."""
        return {parent: tuple(ids) for parent, ids in self.orders.items()}


@dataclass(frozen=True)
class SiteReader:
    """Reads one site."""

    client: Client
    organization: str
    site: str

    def settings(self) -> LiveSite:
        """Return the site without anything on it: settings, the addresses under which it is read, frozen features."""
        found = self.client.sites.get(self.organization, self.site)
        words = {
            "title": found.title,
            "visibility": found.visibility,
            "basename": found.basename,
            "proxy": found.proxy.origin if found.proxy is not None else None,
            "adaptive_content": found.adaptive_content.enabled if found.adaptive_content is not None else None,
            "agents_context": found.agents_context,
        }
        frozen = frozenset(feature.id for feature in found.features if feature.frozen)
        hosts = tuple(dict.fromkeys(_list_hosts(found)))
        return LiveSite(words, hosts=hosts, published=found.published is not False, frozen=frozen)

    def structure(self, *, sorts: bool = True) -> ReadStructure:
        """Return the site's structure: as a whole where the platform offers that, else put together from its lists."""
        found = ReadStructure(sorts=sorts)
        if not sorts:
            return self._combine_lists(found)
        try:
            whole = self.client.sites.get_structure(self.organization, self.site)
        except PlatformError as error:
            if error.status not in NOT_OFFERED:
                raise
            return self._combine_lists(ReadStructure())
        for part in whole.structure:
            found.add(part)
        if whole.type != "sections":  # groups that hold no section yet are not shown then
            self._groups(found)
        return found

    def _combine_lists(self, found: ReadStructure) -> ReadStructure:
        """Put together what three lists say: how groups and sections interleave at the root, none of them does."""
        sections = {one.id: one for one in self.client.sections.list(self.organization, self.site)}
        for section in sections.values():
            if section.section_group is None:
                found.add(section)
        self._groups(found, sections)
        for section in sections.values():
            found.add(section, section.section_group or ROOT)
        for site_space in self.client.site_spaces.list(self.organization, self.site):
            found.add(site_space, site_space.section or ROOT)
        return found

    def _groups(self, found: ReadStructure, sections: Mapping[str, SiteSection] | None = None) -> None:
        groups = {one.id: one for one in self.client.section_groups.list(self.organization, self.site)}
        held = {
            child.id for group in groups.values() for child in group.children if isinstance(child, SiteSectionGroup)
        }

        def take(group: SiteSectionGroup, parent: str, depth: int = 0) -> None:
            if group.id in found.items:
                return
            if depth > GROUPS_DEEP:
                raise NotThePlatform(f"the groups of site {self.site} stand in each other without end")
            found.add(group.amend(children=(), sections=()), parent)
            for child in group.children or group.sections:
                if isinstance(child, SiteSectionGroup):
                    take(groups.get(child.id, child), group.id, depth + 1)
                else:
                    found.add((sections or {}).get(child.id, child), group.id)

        for group in groups.values():
            if group.section_group is None and group.id not in held:
                take(group, ROOT)
        for group in groups.values():
            take(group, group.section_group or ROOT)

    def redirects(self) -> dict[str, ExistingItem]:
        """Return the site's redirects by id."""
        return {
            one.id: ExistingItem("redirect", one.id, {"source": one.source, "destination": one.destination})
            for one in self.client.redirects.list(self.organization, self.site)
        }

    def schema(self) -> Mapping[str, Any] | None:
        """Return the JSON Schema of the site's visitors, or None."""
        try:
            return self.client.sites.get_adaptive_schema(self.organization, self.site).json_schema
        except NotFound:
            return None

    def customization(self) -> Mapping[str, Any]:
        """Return the site's settings as the platform has them, with every member."""
        return self.client.customization.get(self.organization, self.site).wire()

    def override(self, site_space: str) -> Mapping[str, Any]:
        """Return the settings that visitors of a site-space see, with every member."""
        return self.client.customization.get_site_space(self.organization, self.site, site_space).wire()

    def pages(self, space: str) -> Mapping[str, str] | None:
        """Return the ids of a space's pages by their paths; None when it cannot be read."""
        try:
            pages = tuple(self.client.content.list_pages(space))
        except (NotFound, Unauthorized):
            return None
        return {page.path or "": page.id for page, _ in walk_pages(pages)}

    def page_files(self, space: str) -> Mapping[str, str] | None:
        """Return the paths of a space's pages by their files; None when the platform names no files."""
        try:
            pages = [page for page, _ in walk_pages(tuple(self.client.content.list_pages(space)))]
        except (NotFound, Unauthorized):
            return None
        found = {page.git.path: page.path or "" for page in pages if page.git is not None}
        return found or None

    def spaces(self, wanted: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Yield why a site cannot show each of some spaces: "" when it can."""
        missing = sorted(set(wanted))
        listed = self._listing(missing)
        for space in missing:
            yield space, listed[space] if space in listed else self._space(space)

    def _listing(self, missing: Sequence[str]) -> Mapping[str, str]:
        if len(missing) < LISTED_FROM:
            return {}
        try:
            return {one.id: explain_unusable(one) for one in self.client.spaces.list(self.organization)}
        except PlatformError as error:
            if error.status not in (*NOT_OFFERED, 401, 403):
                raise
            return {}

    def _space(self, space: str) -> str:
        try:
            return explain_unusable(self.client.spaces.get(space))
        except NotFound:
            return "is not there, or this token may not see it"
        except Unauthorized:
            return "may not be read with this token"


def explain_unusable(space: Space) -> str:
    """Return why a site cannot show a space, in a few words; "" when it can."""
    return f"was deleted on {space.deleted_at[:10]}" if space.deleted_at else ""


def _list_children(part: Part) -> Sequence[Part]:
    if isinstance(part, SiteSectionGroup):
        return part.children or part.sections
    return part.site_spaces if isinstance(part, SiteSection) else ()


def _to_existing(part: SiteSection | SiteSectionGroup | SiteSpace, parent: str) -> ExistingItem:
    if isinstance(part, SiteSectionGroup):
        return ExistingItem("group", part.id, {"title": part.title, "icon": part.icon}, parent)
    if isinstance(part, SiteSection):
        fields = {
            "title": part.title,
            "path": part.path,
            "icon": part.icon,
            "description": part.description,
            "condition": part.condition,
            "default": bool(part.default),
        }
        return ExistingItem("section", part.id, fields, parent)
    fields = {
        "space": part.space.id if part.space is not None else None,
        "path": part.path,
        "condition": part.condition,
        "hidden": bool(part.hidden),
        "default": bool(part.default),
    }
    return ExistingItem("variant", part.id, fields, parent)


def _list_hosts(site: Site) -> Iterator[tuple[str, str]]:
    addresses = [f"//{site.hostname}" if site.hostname else "", site.urls.published or ""]
    addresses.append(f"//{site.proxy.origin}" if site.proxy is not None else "")
    for address in addresses:
        parts = urlsplit(address)
        if parts.netloc:
            yield parts.netloc.lower(), parts.path.rstrip("/")
