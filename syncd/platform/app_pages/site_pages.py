"""The page of a site: what is in it, and, for who may change it, what its readers did."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import timedelta

from syncd.model.insights import EventCount
from syncd.model.listing import Listing
from syncd.model.page import PageTree
from syncd.model.site import Site, SiteSpace
from syncd.net.page_values import PageResponse
from syncd.platform.app_pages.context import AppRequest, build_organization_address
from syncd.platform.http.failures import Failure
from syncd.platform.visitors.offers.agent_feedback import AGENT_FEEDBACK
from syncd.platform.visitors.offers.feedback import RATED
from syncd.platform.visitors.page_links import OWN_FILES
from syncd.web.app.pages import render_site
from syncd.web.app.values import PageCount, SitePart, SiteUse

DAYS = 30
ROWS_MAX = 100
"""Of each table."""
_LISTS_MAX = 20
"""Lists of a thousand counts that are read at most, the newest days first."""
_VIEWED = "page_view"
_FORBIDDEN = 403
_NAMES = {
    _VIEWED: "pages read",
    RATED: "pages rated",
    "search_type_query": "searches",
    "ask_question": "questions",
    AGENT_FEEDBACK: "words of agents",
    "other": "others",
}
_ASKED = ("search_type_query", "ask_question")


async def show_site(at: AppRequest, organization: str, id: str) -> PageResponse:
    """Answer with the page of a site. Raises: Failure."""
    path = {"organization_id": organization, "site_id": id}
    site = Site.model_validate(await at.client.call("getSiteById", path))
    listed = Listing[SiteSpace].model_validate(await at.client.call("listSiteSpaces", path, query={"limit": 1000}))
    sections = await at.client.call("listSiteSections", path, query={"limit": 1000})
    titles = {one["id"]: one["title"] for one in sections["items"]}
    root = build_organization_address(organization)
    parts = [_build_part(one, titles, root) for one in listed.items]
    use = await _read_use(at, path, site, listed.items)
    frame = at.build_frame(site.title, trail=(("Spaces", root),))
    return await at.render(lambda: render_site(frame, site, parts, use, DAYS))


def _build_part(part: SiteSpace, sections: Mapping[str, str], root: str) -> SitePart:
    section = sections.get(part.section or "", "")
    space = part.space
    address = f"{root}/s/{space.id}" if space is not None else ""
    return SitePart(section, part.title, space.title if space is not None else "", address, part.urls.published or "")


async def _read_use(at: AppRequest, path: Mapping[str, str], site: Site, parts: Sequence[SiteSpace]) -> SiteUse | None:
    """What was counted; None for a person who may not know it."""
    try:
        counts = await _list_counts(at, path)
    except Failure as failure:
        if failure.status == _FORBIDDEN:
            return None
        raise
    totals: Counter[str] = Counter()
    words: Counter[str] = Counter()
    remarks: Counter[str] = Counter()
    by_page: defaultdict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    for one in counts:
        totals[one.type] += one.count
        if one.type in (_VIEWED, RATED) and one.page:
            by_page[one.type, one.site_space or "", one.page][one.detail or ""] += one.count
        elif one.type in _ASKED and one.detail:
            words[one.detail] += one.count
        elif one.type == AGENT_FEEDBACK and one.detail:
            remarks[one.detail] += one.count
    spaces = {part.id: part.space.id for part in parts if part.space is not None}
    titles = await _read_titles(at, {spaces[key[1]] for key in by_page if key[1] in spaces})
    base = (site.urls.published or "").rstrip("/")

    def list_pages(type: str) -> list[PageCount]:
        found = [
            PageCount(titles.get(page, page), f"{base}/{OWN_FILES}/pages/{part}/{page}" if base else "", counted)
            for (kind, part, page), counted in by_page.items()
            if kind == type
        ]
        return sorted(found, key=lambda row: (-row.total, row.title))[:ROWS_MAX]

    return SiteUse(
        [(_NAMES.get(type, type.replace("_", " ")), count) for type, count in _sort_counts(totals)],
        list_pages(RATED),
        list_pages(_VIEWED),
        _sort_counts(words)[:ROWS_MAX],
        _sort_counts(remarks)[:ROWS_MAX],
    )


def _sort_counts(counted: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counted.items(), key=lambda one: (-one[1], one[0]))


async def _list_counts(at: AppRequest, path: Mapping[str, str]) -> list[EventCount]:
    since = (at.storage.now() - timedelta(days=DAYS)).strftime("%Y-%m-%d")
    found: list[EventCount] = []
    query: dict[str, object] = {"limit": 1000}
    for _ in range(_LISTS_MAX):
        listing = Listing[EventCount].model_validate(await at.client.call("listSiteEventCounts", path, query=query))
        found += (one for one in listing.items if one.day > since)
        if listing.next is None or not listing.items or listing.items[-1].day <= since:
            break
        query["page"] = listing.next.page
    return found


async def _read_titles(at: AppRequest, spaces: set[str]) -> dict[str, str]:
    """The titles of pages by their ids, of those spaces that the person may read."""
    titles: dict[str, str] = {}
    for space in sorted(spaces):
        try:
            tree = PageTree.model_validate(await at.client.call("listPages", {"space_id": space}))
        except Failure:
            continue
        pending = list(tree.pages)
        while pending:
            page = pending.pop()
            titles[page.id] = page.title
            pending.extend(page.pages)
    return titles
