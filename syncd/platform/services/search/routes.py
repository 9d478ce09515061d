"""Searching the main content of a space, or of all spaces of an organization that the caller may read."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Annotated, Any

import sqlalchemy as sa
from fastapi import Query, Request
from fastapi.responses import JSONResponse

from syncd.model.listing import Listing
from syncd.model.search import QUERY_MAX, SearchPage, SearchSpace
from syncd.model.words import has_any_term, parse_query
from syncd.platform.http import addresses, answers
from syncd.platform.http.listing import Paging
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import Caller, CurrentCaller, declare_role
from syncd.platform.people.organizations import AtOrganization
from syncd.platform.revisions import revisions
from syncd.platform.revisions.outline import Outline
from syncd.platform.revisions.tree import PAGES
from syncd.platform.schema.content import spaces
from syncd.platform.schema.search import pages
from syncd.platform.services.search import index
from syncd.platform.services.search.engine import SearchMatch, find_matches
from syncd.platform.spaces import roles
from syncd.platform.spaces.spaces import require_space
from syncd.platform.storage.storage import CurrentStorage

router = create_router(tags=["search"])

SECTIONS_MAX = 20
"""Sections that a page is shown with: those that match, in reading order."""
PAGES_MAX = 20
"""Pages that a space of an organization is shown with, the best first; the space's own search has all."""

# Made once: to make a statement costs more than to carry it out.
_READABLE = roles.select_spaces(spaces).where(
    spaces.c.organization == sa.bindparam("organization"), spaces.c.deleted_at.is_(None), roles.SPACE_READABLE
)
_PAGES = pages.c.page.in_(sa.bindparam("pages", expanding=True))
_SECTIONS = sa.select(pages.c.page, pages.c.sections).where(pages.c.space == sa.bindparam("space"), _PAGES)
_LENGTHS = sa.select(pages.c.space, pages.c.page, sa.func.length(sa.cast(pages.c.sections, sa.Text))).where(
    pages.c.space.in_(sa.bindparam("spaces", expanding=True)), _PAGES
)

SearchText = Annotated[str, Query(alias="query", min_length=1, max_length=QUERY_MAX)]


@router.get("/spaces/{space_id}/search", response_model=Listing[SearchPage], openapi_extra=declare_role("read"))
def search_space_content(
    request: Request, storage: CurrentStorage, caller: CurrentCaller, paging: Paging, space_id: str, text: SearchText
) -> JSONResponse:
    """List the pages of a space that have all words of a query, best first; the last word may be incomplete."""
    with storage.read() as connection:
        space = require_space(connection, caller, space_id)
    index.refresh_index(storage, [space_id])
    wanted = parse_query(text)
    with storage.read() as connection:
        measure = partial(_measure_pages, connection)
        envelope = paging.paginate(
            find_matches(connection, wanted, [space_id]), key=lambda match: match.key, measure=measure
        )
        shown = _serialize_pages(connection, request, space, envelope["items"], wanted)
    return answers.ok(envelope | {"items": shown})


@router.get("/orgs/{organization_id}/search", response_model=Listing[SearchSpace], openapi_extra=declare_role("read"))
def search_organization_content(at: AtOrganization, paging: Paging, text: SearchText) -> JSONResponse:
    """List the spaces with pages that have all words of a query, the space with the best page first."""
    with at.storage.read() as connection:
        at.require_organization(connection)
        readable = {row.id: row for row in _select_readable_spaces(connection, at.caller, at.organization_id)}
    index.refresh_index(at.storage, list(readable))
    wanted = parse_query(text)
    with at.storage.read() as connection:
        found: dict[str, list[SearchMatch]] = {}
        for match in find_matches(connection, wanted, list(readable)):
            found.setdefault(match.space, []).append(match)
        envelope = paging.paginate(
            [matched[:PAGES_MAX] for matched in found.values()],
            key=lambda matched: matched[0].key,
            measure=lambda several: [sum(_measure_pages(connection, matched)) for matched in several],
        )
        items = [
            {
                "type": "space",
                "id": matched[0].space,
                "score": matched[0].score,
                "title": readable[matched[0].space].title,
                "pages": _serialize_pages(connection, at.request, readable[matched[0].space], matched, wanted),
            }
            for matched in envelope["items"]
        ]
    return answers.ok(envelope | {"items": items})


def _select_readable_spaces(connection: sa.Connection, caller: Caller, organization: str) -> Iterable[sa.Row[Any]]:
    return connection.execute(_READABLE, {"caller": caller.user_id, "organization": organization})


def _serialize_pages(
    connection: sa.Connection, request: Request, space: sa.Row[Any], found: list[SearchMatch], wanted: tuple[str, ...]
) -> list[dict[str, Any]]:
    chosen = {"space": space.id, "pages": [match.page for match in found]}
    parts = {row.page: row.sections for row in connection.execute(_SECTIONS, chosen)}
    main = connection.scalar(sa.select(spaces.c.revision).where(spaces.c.id == space.id))
    outline = revisions.open_revision(connection, space.id, str(main))
    app = addresses.build_app_url(request, f"/o/{space.organization}/s/{space.id}")
    return [
        _serialize_page(outline, match, parts[match.page], wanted, app)
        for match in found
        # Content may have moved since the index was brought up to date.
        if match.page in parts and match.page in outline.entries
    ]


def _measure_pages(connection: sa.Connection, found: Sequence[SearchMatch]) -> list[int]:
    """The bytes of what the index has to show of each page."""
    wanted = {"spaces": list({match.space for match in found}), "pages": [match.page for match in found]}
    sizes = {(row.space, row.page): int(row[2]) for row in connection.execute(_LENGTHS, wanted)}
    return [sizes.get((match.space, match.page), 0) for match in found]


def _serialize_page(
    outline: Outline, match: SearchMatch, parts: list[list[str]], wanted: tuple[str, ...], app: str
) -> dict[str, Any]:
    id, entry = match.page, outline.entries[match.page]
    address = f"{app}/{entry.path}" if entry.path else app
    score = match.score
    fitting = [part for part in parts if has_any_term(wanted, f"{part[1]} {part[2]}")][:SECTIONS_MAX]
    return {
        "id": id,
        "title": entry.node.title,
        "description": str(entry.node.fields.get("description") or ""),
        "path": entry.path,
        "score": score,
        "resultType": "section" if fitting else "page",
        "sections": [
            {
                "id": anchor or id,
                "title": title or entry.node.title,
                "path": f"{entry.path}#{anchor}" if anchor else entry.path,
                "body": body,
                "score": score,
                "urls": {"app": f"{address}#{anchor}" if anchor else address},
            }
            for anchor, title, body in fitting
        ],
        "ancestors": [{"title": title} for title in _list_ancestor_titles(outline, id)],
        "urls": {"app": address},
    }


def _list_ancestor_titles(outline: Outline, id: str) -> list[str]:
    titles: list[str] = []
    parent = outline.entries[id].parent
    while parent != PAGES:
        titles.append(outline.entries[parent].node.title)
        parent = outline.entries[parent].parent
    return titles[::-1]
