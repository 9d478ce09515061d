"""Searching a published site: only words that the visitor may read are found and shown."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa

from syncd.layout.evaluation import format_value
from syncd.layout.evaluation.visible import CLOSED_TO_SEARCH
from syncd.layout.richtext.outline import split_sections
from syncd.model.words import has_any_term, parse_query, split_words
from syncd.platform.content.visible_text import read_visible_body
from syncd.platform.http.time_limits import check_time
from syncd.platform.revisions.outline import Outline, TreeEntry
from syncd.platform.revisions.tree import PAGES, ROOT
from syncd.platform.schema.search import indexed, pages
from syncd.platform.services.search import index
from syncd.platform.services.search.engine import SearchMatch, find_matches
from syncd.platform.storage.storage import Storage
from syncd.platform.visitors.destinations import open_space_outline
from syncd.platform.visitors.visits import SiteVisit
from syncd.web.pages.search_results import SearchResult, cut_excerpt

FOUND_MAX = 100
"""Pages that one search of a site finds, the best first."""
CHANGED_MAX = 500
"""Pages which differ from main content that one search of a change request's preview looks through."""
SECTIONS_MAX = 5
_READER = "visitor"
"""The name by which every expression that depends on the reader has the reader's claims: a word of its page."""

IndexedSections = tuple[str, Sequence[Sequence[str]]]
"""The stamp of an indexed page, and its sections: anchor, title and words of each."""


@dataclass(frozen=True)
class FoundSection:
    """A part of a page with one of the words; `anchor` is "" for what stands before the first heading."""

    anchor: str
    title: str
    body: str


@dataclass(frozen=True)
class FoundPage:
    """A page that has all words. Shape: `rank` counts from 1 over the whole site; a higher `score` is better."""

    site_space: sa.Row[Any]
    outline: Outline
    entry: TreeEntry
    rank: int
    score: float
    sections: Sequence[FoundSection]

    @property
    def ancestors(self) -> list[TreeEntry]:
        """What the page stands below, outermost first."""
        found: list[TreeEntry] = []
        entry = self.outline.entries[self.entry.parent]
        while entry.node.id not in (PAGES, ROOT):
            found.append(entry)
            entry = self.outline.entries[entry.parent]
        return found[::-1]


def search_site(
    storage: Storage, visit: SiteVisit, site_spaces: Iterable[sa.Row[Any]], text: str, *, most: int = FOUND_MAX
) -> list[FoundPage]:
    """Return the pages of visible site-spaces that have all words of a text, best first.

    Shape: a page whose words depend on who reads it is searched as this visitor reads it, claims included. What a
    change request changes, of which the index knows nothing, comes first in its preview.
    """
    wanted = parse_query(text)
    shown = {row.space: row for row in reversed(list(site_spaces)) if row in visit.visible_site_spaces}
    if not wanted or not shown:
        return []
    index.refresh_index(storage, list(shown))
    with storage.read() as connection:
        sure = find_matches(connection, wanted, list(shown))[: most * 4]
        matches = [*sure, *_find_by_claims(connection, visit, wanted, list(shown), sure)[: most * 4]]
        outlines = {space: open_space_outline(connection, visit, row) for space, row in shown.items()}
        sections = _read_sections(connection, matches)
        stamps = {space: index.IndexStamps(outline) for space, outline in outlines.items()}
        changed = dict.fromkeys(islice(_list_changed(connection, stamps), CHANGED_MAX))
    found = list(islice(_search_changed(storage, visit, shown, outlines, changed, wanted), most))
    for position, match in enumerate(matches):
        check_time()
        outline = outlines[match.space]
        entry = outline.entries.get(match.page)
        if entry is None or (match.space, match.page) in changed or not _is_searched(visit, outline, entry):
            continue
        stamp, known = sections.get((match.space, match.page), ("", ()))
        if not stamps[match.space].is_for_everybody(match.page, stamp):
            known = _read_known_sections(storage, visit, outline, entry)
            if not _has_all_terms(wanted, entry, known):
                continue
        elif position >= len(sure):
            continue
        parts = _select_fitting(known, wanted)
        if not parts and not _has_all_terms(wanted, entry, ()):
            # Of a very long section, the index has the words, and shows the beginning.
            parts = _select_fitting(_read_known_sections(storage, visit, outline, entry), wanted)
        found.append(FoundPage(shown[match.space], outline, entry, len(found) + 1, match.score, parts))
        if len(found) >= most:
            break
    return found[:most]


def _list_changed(connection: sa.Connection, stamps: Mapping[str, index.IndexStamps]) -> Iterator[tuple[str, str]]:
    """The spaces and ids of the pages that the index has not as they are."""
    roots = connection.execute(sa.select(indexed.c.space, indexed.c.root).where(indexed.c.space.in_(stamps)))
    main = {row.space: row.root for row in roots}
    for space, own in stamps.items():
        if own.outline.root != main.get(space):
            yield from ((space, id) for id in own.list_unknown(index.read_stamps(connection, space)))


def _search_changed(
    storage: Storage,
    visit: SiteVisit,
    shown: Mapping[str, sa.Row[Any]],
    outlines: Mapping[str, Outline],
    changed: Iterable[tuple[str, str]],
    wanted: tuple[str, ...],
) -> Iterator[FoundPage]:
    rank = 0
    for space, id in changed:
        check_time()
        outline = outlines[space]
        entry = outline.entries[id]
        if not _is_searched(visit, outline, entry):
            continue
        known = _read_known_sections(storage, visit, outline, entry)
        if _has_all_terms(wanted, entry, known):
            rank += 1
            yield FoundPage(shown[space], outline, entry, rank, 1.0, _select_fitting(known, wanted))


def _is_searched(visit: SiteVisit, outline: Outline, entry: TreeEntry) -> bool:
    here: TreeEntry = entry
    while here.node.id not in (PAGES, ROOT):
        if any(here.node.fields.get(name) for name in CLOSED_TO_SEARCH):
            return False
        here = outline.entries[here.parent]
    return visit.may_read_page(outline, entry)


def _read_sections(
    connection: sa.Connection, matches: Sequence[SearchMatch]
) -> Mapping[tuple[str, str], IndexedSections]:
    spaces, ids = {match.space for match in matches}, [match.page for match in matches]
    query = sa.select(pages.c.space, pages.c.page, pages.c.stamp, pages.c.sections)
    rows = connection.execute(query.where(pages.c.space.in_(spaces), pages.c.page.in_(ids)))
    return {(row.space, row.page): (row.stamp, row.sections) for row in rows}


def _read_known_sections(
    storage: Storage, visit: SiteVisit, outline: Outline, entry: TreeEntry
) -> Sequence[Sequence[str]]:
    body = read_visible_body(outline, entry, storage.blobs.get, visit.claims)
    return [(part.id, part.title, part.body) for part in split_sections(body)]


def _find_by_claims(
    connection: sa.Connection,
    visit: SiteVisit,
    wanted: tuple[str, ...],
    spaces: Collection[str],
    known: Collection[SearchMatch],
) -> list[SearchMatch]:
    """Pages that may have all words once the visitor's claims stand in them; the index knows of no claims."""
    claimed = set(split_words(" ".join(_list_claimed_texts(visit.claims))))
    *whole, last = wanted
    left = [word for word in whole if word not in claimed]
    left += [] if any(word.startswith(last) for word in claimed) else [last]
    if len(left) == len(wanted):
        return []
    found = {(match.space, match.page) for match in known}
    matches = find_matches(connection, (_READER, *left), spaces)
    return [match for match in matches if (match.space, match.page) not in found]


def _list_claimed_texts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for one in value.values():
            yield from _list_claimed_texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _list_claimed_texts(one)
    else:
        yield format_value(value) if isinstance(value, str | bool | int | float) else ""


def _has_all_terms(wanted: tuple[str, ...], entry: TreeEntry, sections: Sequence[Sequence[str]]) -> bool:
    described = (str(entry.node.fields.get(name) or "") for name in ("linkTitle", "description"))
    *whole, last = wanted
    words = set(split_words(" ".join((entry.node.title, *described, *(f"{one[1]} {one[2]}" for one in sections)))))
    return words.issuperset(whole) and any(word.startswith(last) for word in words)


def _select_fitting(sections: Sequence[Sequence[str]], wanted: tuple[str, ...]) -> list[FoundSection]:
    """The parts of a page with one of the words."""
    fitting = (FoundSection(*part) for part in sections if has_any_term(wanted, f"{part[1]} {part[2]}"))
    return [one for one, _ in zip(fitting, range(SECTIONS_MAX), strict=False)]


def list_results(visit: SiteVisit, found: Iterable[FoundPage], searched: str) -> list[SearchResult]:
    """Return found pages as the site's own pages show them."""
    return [_find_description(visit, one, searched) for one in found]


def _find_description(visit: SiteVisit, page: FoundPage, searched: str) -> SearchResult:
    own = str(page.entry.node.fields.get("description") or "")
    best = next((one for one in page.sections if one.anchor), next(iter(page.sections), FoundSection("", "", own)))
    words = f"{best.title}: {best.body}" if best.title else best.body
    address = visit.build_path(page.site_space, quote(page.entry.path)) + (f"#{best.anchor}" if best.anchor else "")
    path = " / ".join(_list_crumbs(visit, page))
    return SearchResult(page.entry.node.title, address, path, cut_excerpt(words, searched))


def _list_crumbs(visit: SiteVisit, page: FoundPage) -> Iterator[str]:
    """Where a page lies: its section, its variant where the section has several, and what it stands below."""
    row = page.site_space
    section = visit.structure.find_section(row.section)
    if section is not None and len(visit.structure.sections) > 1:
        yield section.title
    if len(visit.list_site_spaces(row.section)) > 1:
        yield row.title or visit.require_space(row).title
    yield from (entry.node.title for entry in page.ancestors)
