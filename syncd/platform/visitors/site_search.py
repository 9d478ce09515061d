"""Searching a site over the API, for renderers: with a content token as its visitor, else what everybody sees."""

from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa
from fastapi import Request
from fastapi.responses import JSONResponse

from syncd.model.ask import SpecificScope, WholeScope
from syncd.model.listing import Listing
from syncd.model.search import CurrentScope, NearScope, SearchSpace, SiteSearch
from syncd.platform.http import addresses, answers
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.failures import Failure
from syncd.platform.http.listing import Paging
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import Caller, declare_role
from syncd.platform.schema.content import spaces
from syncd.platform.sites.structure import AtSite
from syncd.platform.spaces import roles
from syncd.platform.spaces.granted import match_granted_spaces
from syncd.platform.visitors.search import FoundPage, search_site
from syncd.platform.visitors.sites import PublishedSites
from syncd.platform.visitors.visits import OPEN_TO_ALL, SiteVisit

router = create_router(prefix="/orgs/{organization_id}/sites/{site_id}", tags=["site-search"])


class SearchBody(RequestBody, SiteSearch):
    """Body of `POST …/search`."""


@router.post(
    "/search",
    response_model=Listing[SearchSpace],
    openapi_extra=declare_role("read", extension=True, visitors=True),
)
def search_site_content(at: AtSite, paging: Paging, body: SearchBody) -> JSONResponse:
    """List the spaces of a published site with pages that have all words of a query, the best page's space first.

    Raises: Failure 400 for a site-space that the site does not have; 404 while the site is not published.
    Source: `searchSiteContent`, @gitbook/api 0.202.0.
    """
    with at.storage.read() as connection:
        site_row = at.require_site(connection)
        readable = _find_readable(connection, at.caller, site_row)
    sites: PublishedSites = at.request.app.state.published_sites
    is_draft = at.caller.grant is not None and at.caller.grant.is_draft
    site = sites.find_any_site(at.site_id) if is_draft else sites.find_site(at.site_id)
    if site is None:
        raise Failure(404, f"Site {at.site_id} is not published.")
    claims = at.caller.grant.claims if at.caller.grant is not None else None
    visit = SiteVisit(site if readable is None else site.with_spaces(readable), "", claims or {})
    chosen = list(_choose_site_spaces(visit, body))
    by_space: dict[str, list[FoundPage]] = {}
    for one in search_site(at.storage, visit, chosen, body.query):
        by_space.setdefault(one.site_space.space, []).append(one)
    envelope = paging.paginate(list(by_space.values()), key=lambda found: f"{found[0].rank:05d}")
    items = [_serialize_space(at.request, visit, found) for found in envelope["items"]]
    return answers.ok(envelope | {"items": items})


def _find_readable(connection: sa.Connection, caller: Caller, site: sa.Row[Any]) -> set[str] | None:
    """The spaces that the caller may search; None where all of the site's are for everybody."""
    if caller.grant is not None:
        return set(connection.scalars(sa.select(spaces.c.id).where(match_granted_spaces(connection, caller.grant))))
    if site.visibility in OPEN_TO_ALL:
        return None
    query = roles.select_spaces(spaces.c.id).where(roles.SPACE_READABLE)
    return {row.id for row in connection.execute(query, {"caller": caller.user_id})}


def _choose_site_spaces(visit: SiteVisit, body: SiteSearch) -> Iterator[sa.Row[Any]]:
    scope = body.scope
    if body.mode is None and isinstance(scope, CurrentScope):
        yield from _choose_near(visit, scope.site_space_id, None)
    elif body.mode == "current" or (body.mode is None and isinstance(scope, NearScope) and not body.site_space_ids):
        near = scope if isinstance(scope, NearScope) else NearScope(mode="default")
        yield from _choose_near(visit, body.site_space_id or near.current_site_space, near.restrict_to)
    elif body.mode == "all" or (body.mode is None and isinstance(scope, WholeScope)):
        yield from (row for row in visit.visible_site_spaces if not row.hidden)
    else:
        ids = scope.site_space_ids if isinstance(scope, SpecificScope) else body.site_space_ids
        yield from (_require_site_space(visit, id) for id in dict.fromkeys(ids))


def _choose_near(visit: SiteVisit, current_id: str | None, restrict_to: str | None) -> Iterator[sa.Row[Any]]:
    """What visitors see first of each section, and the current site-space in the place of its section's default."""
    current = _require_site_space(visit, current_id) if current_id else None
    holders: Sequence[str | None] = [None, *(row.id for row in visit.structure.sections)]
    for holder in holders:
        row = current if current is not None and current.section == holder else visit.find_first(holder)
        is_wanted = restrict_to is None or (restrict_to == "currentSiteSpace") == (row is current)
        if row is not None and is_wanted and (row is current or not row.hidden):
            yield row


def _require_site_space(visit: SiteVisit, id: str) -> sa.Row[Any]:
    row = visit.structure.find_site_space(id)
    if row is None:
        raise Failure(400, f"scope: the site has no site-space {id}")
    return row


def _serialize_space(request: Request, visit: SiteVisit, found: Sequence[FoundPage]) -> dict[str, Any]:
    first = found[0]
    organization = visit.site.row.organization
    app = addresses.build_app_url(request, f"/o/{organization}/s/{first.site_space.space}")
    return {
        "type": "space",
        "id": first.site_space.space,
        "title": visit.require_space(first.site_space).title,
        "score": first.score,
        "pages": [_serialize_page(one, app) for one in found],
    }


def _serialize_page(found: FoundPage, app: str) -> dict[str, Any]:
    entry = found.entry
    address = f"{app}/{entry.path}" if entry.path else app
    return {
        "id": entry.node.id,
        "title": entry.node.title,
        "description": str(entry.node.fields.get("description") or ""),
        "path": entry.path,
        "score": found.score,
        "rank": found.rank,
        "resultType": "section" if found.sections else "page",
        "sections": [
            {
                "id": part.anchor or entry.node.id,
                "title": part.title or entry.node.title,
                "path": f"{entry.path}#{part.anchor}" if part.anchor else entry.path,
                "body": part.body,
                "score": found.score,
                "resultType": "section",
                "urls": {"app": f"{address}#{part.anchor}" if part.anchor else address},
            }
            for part in found.sections
        ],
        "ancestors": [{"title": one.node.title} for one in found.ancestors],
        "urls": {"app": address},
    }
