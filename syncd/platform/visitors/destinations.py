"""What is at an address of a site for a visitor: a page, or where a redirect of the site leads."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa
from pydantic import TypeAdapter

from syncd.layout.tree.paths import make_collision_key
from syncd.model.redirect import Destination, ToExternal, ToPage, ToSection, ToSiteSpace, make_source_key
from syncd.platform.revisions.outline import Outline, TreeEntry, find_cached_outline, open_outline
from syncd.platform.revisions.tree import PAGES
from syncd.platform.schema.site_tables import redirects
from syncd.platform.visitors.visits import SiteVisit, VisitPlace, find_place, skip_default_path

_ADAPTER: TypeAdapter[ToSection | ToSiteSpace | ToPage | ToExternal] = TypeAdapter(Destination)

README = "readme"
"""What stands for the first page of a space in an address of Markdown."""
HOME_NAMES = ("index", "index.html")
"""What stands for the page above it in an address of Markdown, as in those of static sites."""


@dataclass(frozen=True)
class PageFound:
    """A page that the visitor may read, and the revision's tree that it is in."""

    place: VisitPlace
    outline: Outline
    entry: TreeEntry


@dataclass(frozen=True)
class Redirected:
    """The address leads on; `is_external` says that it leaves the site, `is_permanent` that it always will."""

    address: str
    is_external: bool = False
    is_permanent: bool = False


@dataclass(frozen=True)
class NothingThere:
    """There is no page at the address; `place` is the site-space that it was looked for in, None without one."""

    place: VisitPlace | None


def find_destination(
    connection: sa.Connection, visit: SiteVisit, parts: Sequence[str]
) -> PageFound | Redirected | NothingThere:
    """Return what is at an address below a site. Content comes before redirects."""
    place = find_place(visit, parts)

    def find_page(place: VisitPlace) -> PageFound | None:
        return _find_page(visit, place, open_space_outline(connection, visit, place.site_space))

    found = find_page(place) if place is not None else None
    if place is not None and found is None and (meant := skip_default_path(place)) is not None:
        found = find_page(meant)
    if found is not None:
        # A group has no text: its address is that of the first page in it.
        if found.place.is_exact and _is_named(found):
            return found
        return Redirected(visit.build_path(found.place.site_space, found.place.page_path and found.entry.path))
    return _follow_redirect(connection, visit, "/".join(part for part in parts if part)) or NothingThere(place)


def find_markdown_page(
    connection: sa.Connection, visit: SiteVisit, parts: Sequence[str]
) -> PageFound | Redirected | NothingThere:
    """Return the page whose Markdown is at an address, which ends in `.md`.

    Shape: `index.md` below a page is that page's own Markdown, too, unless a page there is named so; `readme.md` is
    that of the first page of a space.
    """
    *above, last = parts
    stem = last.removesuffix(".md")
    found = find_destination(connection, visit, [*above, stem])
    if isinstance(found, PageFound):
        return found
    names_first = stem.casefold() == README and (home := find_place(visit, above)) is not None and not home.page_path
    return find_destination(connection, visit, above) if stem in HOME_NAMES or names_first else found


def find_page_in_memory(visit: SiteVisit, parts: Sequence[str]) -> PageFound | None:
    """Return the page at its own address when that can be said without the database; None when not."""
    place = find_place(visit, parts)
    outline = None if place is None else find_cached_outline(visit.require_space(place.site_space).root)
    if place is None or outline is None or outline.computed:
        return None
    found = _find_page(visit, place, outline)
    return found if found is not None and place.is_exact and _is_named(found) else None


def open_space_outline(connection: sa.Connection, visit: SiteVisit, site_space: sa.Row[Any]) -> Outline:
    """Return the tree of the main content of a visible site-space, with the pages that are computed in it."""
    outline = open_outline(connection, visit.require_space(site_space).root)
    return visit.site.complete(connection, visit.site.row.organization, outline) if outline.computed else outline


def find_first_page(visit: SiteVisit, outline: Outline, below: str = PAGES) -> TreeEntry | None:
    """Return the first page below an entry that the visitor may read, in reading order; hidden ones do not count."""
    pending = [below]
    while pending:
        entry = outline.entries.get(pending.pop())
        if entry is None:
            continue
        if entry.node.id != PAGES and (entry.node.fields.get("hidden") or not visit.may_read_page(outline, entry)):
            continue
        if entry.node.type == "document":
            return entry
        pending += reversed(outline.order.get(entry.node.id, ()))
    return None


def _find_page(visit: SiteVisit, place: VisitPlace, outline: Outline) -> PageFound | None:
    if place.page_path:
        entry = outline.entries.get(outline.by_path.get(make_collision_key(place.page_path), ""))
    else:
        entry = find_first_page(visit, outline)
    if not visit.may_read_page(outline, entry):
        return None
    if entry is not None and entry.node.type == "group":
        entry = find_first_page(visit, outline, entry.node.id)
    return PageFound(place, outline, entry) if entry is not None and entry.node.type == "document" else None


def _is_named(found: PageFound) -> bool:
    """Whether the path is that of the page; the first page of a space is also read at the space's own address."""
    return found.place.page_path in ("", found.entry.path)


def _follow_redirect(connection: sa.Connection, visit: SiteVisit, path: str) -> Redirected | None:
    if not path:
        return None
    key = make_source_key(f"/{path}")
    query = sa.select(redirects.c.destination, redirects.c.permanent).where(redirects.c.site == visit.site.row.id)
    stored = connection.execute(query.where(redirects.c.source_key == key)).one_or_none()
    found = _find_target(connection, visit, stored.destination) if stored is not None else None
    # What is for some visitors only may lead elsewhere tomorrow.
    is_permanent = stored is not None and stored.permanent and visit.is_for_everybody
    return found and replace(found, is_permanent=is_permanent)


def _find_target(connection: sa.Connection, visit: SiteVisit, destination: object) -> Redirected | None:
    match _ADAPTER.validate_python(destination):
        case ToExternal(url=url):
            return Redirected(url, is_external=True)
        case ToSection(site_section_id=id):
            return _lead_to(visit, visit.find_first(id))
        case ToSiteSpace(site_space_id=id):
            return _lead_to(visit, visit.structure.find_site_space(id))
        case ToPage(site_space_id=id, page_id=page_id):
            return _lead_to_page(connection, visit, visit.structure.find_site_space(id), page_id)


def _lead_to(visit: SiteVisit, site_space: sa.Row[Any] | None) -> Redirected | None:
    if site_space is None or site_space not in visit.visible_site_spaces:
        return None
    return Redirected(visit.build_path(site_space))


def _lead_to_page(
    connection: sa.Connection, visit: SiteVisit, site_space: sa.Row[Any] | None, page_id: str
) -> Redirected | None:
    if site_space is None or site_space not in visit.visible_site_spaces:
        return None
    outline = open_space_outline(connection, visit, site_space)
    entry = outline.entries.get(page_id)
    if entry is None or not visit.may_read_page(outline, entry):
        return None
    return Redirected(visit.build_path(site_space, entry.path))
