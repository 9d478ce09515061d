"""The frame of a site's pages for one visitor: sections, variants, links, looks, and the table of contents."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal
from urllib.parse import quote, urlencode

import sqlalchemy as sa

from syncd.layout.site.addresses.app_addresses import read_app_address
from syncd.model.customization import SiteCustomizationSettings
from syncd.platform.cache import Cache
from syncd.platform.publish.settings import select_links
from syncd.platform.revisions.outline import Outline, TreeEntry
from syncd.platform.revisions.tree import PAGES
from syncd.platform.visitors.destinations import find_first_page
from syncd.platform.visitors.page_links import OWN_FILES
from syncd.platform.visitors.visits import SiteVisit
from syncd.web.pages.contents import Contents, ContentsEntry
from syncd.web.pages.customization import find_locale, is_safe_address, resolve_settings
from syncd.web.pages.shell import SiteFrame, SiteLink

PDF, FEEDBACK = "pdf", "feedback"
"""The segments behind a site-space's own files at which its PDFs are, and to which its pages send their forms."""
ASK = "ask"
"""The segment behind a site's own files at which questions are answered."""
_REMEMBERED_ENTRIES = 200_000
_contents: Cache[tuple[bytes, str, str], Contents] = Cache(_REMEMBERED_ENTRIES, weigh=lambda one: len(one.entries) + 1)


def build_scope(visit: SiteVisit, site_space: sa.Row[Any]) -> str:
    """Return the path of what belongs to one site-space beside its pages."""
    return f"{visit.base}/{OWN_FILES}/v/{site_space.id}"


def build_pdf_path(visit: SiteVisit, site_space: sa.Row[Any], page: str = "") -> str:
    """Return the path of the PDF of a page, or of a whole site-space; "" where its customization has none."""
    setting = read_space_settings(visit, site_space).pdf
    if setting is None or not setting.enabled:
        return ""
    return f"{build_scope(visit, site_space)}/{PDF}" + (f"/{page}" if page else "")


def build_feedback_path(visit: SiteVisit, site_space: sa.Row[Any], page: str) -> str:
    """Return the path to which the form of a page is sent; "" where the site asks nothing, and in a preview."""
    setting = read_space_settings(visit, site_space).feedback
    if setting is None or not setting.enabled or visit.is_preview:
        return ""
    return f"{build_scope(visit, site_space)}/{FEEDBACK}/{page}"


def may_ask(visit: SiteVisit, site_space: sa.Row[Any]) -> bool:
    """Return whether a site-space's customization lets visitors ask questions."""
    setting = read_space_settings(visit, site_space).ai
    return setting is not None and setting.mode != "none"


def build_ask_path(visit: SiteVisit, question: str) -> str:
    """Return the path of the page that answers a question."""
    return f"{visit.base}/{OWN_FILES}/{ASK}?{urlencode({'q': question})}"


def build_search_path(visit: SiteVisit, words: str) -> str:
    """Return the path of the page that shows what a search finds."""
    return f"{visit.base}/{OWN_FILES}/search?{urlencode({'q': words})}"


def build_frame(visit: SiteVisit, site_space: sa.Row[Any]) -> SiteFrame:
    """Return the frame around the pages of a site-space."""
    settings = read_space_settings(visit, site_space)
    return SiteFrame(
        visit.site.row.title if settings.title is None else settings.title,
        settings,
        home=f"{visit.base}/",
        files=f"{visit.base}/{OWN_FILES}",
        theme=f"{build_scope(visit, site_space)}/theme.css",
        sections=tuple(_list_sections(visit, site_space, None)),
        variants=tuple(_list_variants(visit, site_space)),
        search=f"{visit.base}/{OWN_FILES}/search",
    )


def read_space_settings(visit: SiteVisit, site_space: sa.Row[Any]) -> SiteCustomizationSettings:
    """Return how the pages of a site-space look, with plain addresses, and without links that are for others."""
    own = select_links(visit.site.variant_settings.get(site_space.id, visit.site.settings), visit.fulfils)
    title = {"title": visit.site.settings.get("title")}
    language = visit.require_space(site_space).language
    spoken = {"internationalization": {"locale": language}} if language else {}
    return resolve_settings({**own, **title, **spoken}, lambda to: _find_address(visit, site_space, to))


def find_space_locale(visit: SiteVisit, site_space: sa.Row[Any]) -> str:
    """Return the language in which a site-space speaks: that of its space, else the one of its customization."""
    return find_locale(read_space_settings(visit, site_space))


def read_contents(visit: SiteVisit, site_space: sa.Row[Any], outline: Outline) -> Contents:
    """Return the table of contents of a site-space as the visitor sees it; hidden pages are not in it.

    Shape: the `path` of an entry is the id of its page.
    """
    key = (outline.root, site_space.id, visit.visitor_class)
    return _contents.get(key) or _contents.put(key, _build_contents(visit, site_space, outline))


def _build_contents(visit: SiteVisit, site_space: sa.Row[Any], outline: Outline) -> Contents:
    entries: list[ContentsEntry] = []
    children: list[list[int]] = []
    tops: list[int] = []
    first = find_first_page(visit, outline)
    pending = [(id, -1) for id in reversed(outline.order.get(PAGES, ()))]
    while pending:
        id, parent = pending.pop()
        entry = outline.entries[id]
        if entry.node.fields.get("hidden") or not visit.fulfils(entry.node.fields.get("condition")):
            continue
        kind, address = _find_kind(visit, site_space, entry, is_first=first is entry)
        if not kind:
            continue
        number, below = len(entries), list[int]()
        title = str(entry.node.fields.get("linkTitle") or entry.node.title or address)
        page = id if kind == "page" else ""
        signs = (str(entry.node.fields.get(name) or "") for name in ("emoji", "icon"))
        entries.append(ContentsEntry(number, kind, title, address, page, parent, below, *signs))
        children.append(below)
        (tops if parent < 0 else children[parent]).append(number)
        pending += [(child, number) for child in reversed(outline.order.get(id, ()))]
    return Contents(tuple(entries), tuple(tops))


def _find_kind(
    visit: SiteVisit, site_space: sa.Row[Any], entry: TreeEntry, *, is_first: bool
) -> tuple[Literal["page", "group", "link", ""], str]:
    match entry.node.type:
        case "document":
            return "page", visit.build_path(site_space, "" if is_first else quote(entry.path))
        case "group":
            return "group", ""
        case "link":
            address = _find_address(visit, site_space, entry.node.fields.get("target") or {})
            address = address if is_safe_address(address) else ""
            return ("link", address) if address else ("", "")
    return "", ""


def _find_address(visit: SiteVisit, site_space: sa.Row[Any], to: Mapping[str, Any]) -> str:
    """Where a reference of a customization leads; a page is found by its path when it is shown, by the page itself."""
    if to.get("kind") == "url":
        return _lead_from_app(visit, site_space, str(to.get("url") or ""))
    space = to.get("space") or site_space.space
    found = visit.find_site_space_of(str(space), site_space)
    if found is None:
        return ""
    if to.get("kind") == "space":
        return visit.build_path(found)
    if to.get("kind") in ("page", "anchor") and to.get("page"):
        return f"{visit.base}/{OWN_FILES}/pages/{found.id}/{quote(str(to['page']), safe='')}"
    return ""


def _lead_from_app(visit: SiteVisit, site_space: sa.Row[Any], address: str) -> str:
    """Where an address leads that may be the app's of a space of the site; "" where the visitor does not see that."""
    named = read_app_address(address)
    if named is None or named.space not in visit.site.spaces:
        return address
    found = visit.find_site_space_of(named.space, site_space)
    return "" if found is None else visit.build_path(found, quote(named.path)) + named.anchor


def _list_sections(visit: SiteVisit, current: sa.Row[Any], group: str | None) -> Iterator[SiteLink]:
    """The sections of the site in their order; a group is a menu of what is in it."""
    structure = visit.structure
    for row in structure.list_children(group):
        if structure.find_section(row.id) is None:
            inner = tuple(_flatten_groups(_list_sections(visit, current, row.id)))
            if inner:
                yield SiteLink(
                    row.title, is_current=any(one.is_current for one in inner), links=inner, icon=row.icon or ""
                )
        elif (first := visit.find_first(row.id)) is not None:
            yield SiteLink(row.title, visit.build_path(first), row.id == current.section, icon=row.icon or "")


def _flatten_groups(links: Iterator[SiteLink]) -> Iterator[SiteLink]:
    """A menu shows one level: groups in groups stand behind each other."""
    for link in links:
        yield from link.links or (link,)


def _list_variants(visit: SiteVisit, current: sa.Row[Any]) -> Iterator[SiteLink]:
    for row in visit.list_site_spaces(current.section):
        if not row.hidden or row is current:
            title = row.title or visit.require_space(row).title
            yield SiteLink(title, visit.build_path(row), row is current)
