"""Published addresses over HTTP: which content a renderer shows at an address, and the token with which it reads it.

Anybody may ask, without a token, too: the answer gives no more than a visitor of the address gets.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from urllib.parse import quote, unquote, urlencode, urlsplit

import sqlalchemy as sa
from fastapi import Request
from fastapi.responses import JSONResponse

from syncd.model.published_url import PublishedUrlAnswer, PublishedUrlLookup
from syncd.platform.http import addresses, answers
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.failures import Failure
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import Caller, CurrentCaller, declare_role
from syncd.platform.people.content_tokens import ContentGrant, issue_content_token
from syncd.platform.schema import site_tables
from syncd.platform.schema.content import change_requests
from syncd.platform.spaces.spaces import require_space
from syncd.platform.storage.storage import CurrentStorage, Storage
from syncd.platform.visitors.destinations import Redirected, find_destination
from syncd.platform.visitors.sites import PublishedSite, PublishedSites
from syncd.platform.visitors.visits import (
    SignInNeeded,
    SiteVisit,
    VisitorToken,
    VisitPlace,
    find_place,
    open_visit,
)

router = create_router(prefix="/urls", tags=["urls"])

PREVIEW = ("~", "changes")
"""Segments behind which an address names a change request of the space that is read there."""
_CLOSED = Failure(404, "No site is published at this address.")


class LookupBody(RequestBody, PublishedUrlLookup):
    """Body of `POST /urls/published`."""


@dataclass(frozen=True)
class _PublishedAddress:
    """An address as its reader has it: its path on this platform, and the origin and path that its reader sees."""

    name: str
    parts: tuple[str, ...]
    origin: str
    base: str


@router.post(
    "/published",
    response_model=PublishedUrlAnswer,
    openapi_extra=declare_role("read", extension=True, anonymous=True),
)
def resolve_published_content_by_url(
    request: Request, storage: CurrentStorage, caller: CurrentCaller, body: LookupBody
) -> JSONResponse:
    """Return the site content at an address, or where the address leads.

    Raises: Failure 404 when nothing is published there, 401 when the site is for visitors whom its owner knows and
    nothing says where they sign in.
    Source: `resolvePublishedContentByUrl`, @gitbook/api 0.202.0.
    """
    seen = _read_address(request, storage, body.url)
    sites: PublishedSites = request.app.state.published_sites
    site = sites.find_site(seen.name) if seen is not None else None
    if seen is None or site is None:
        raise _CLOSED
    visitor = VisitorToken(body.visitor.jwt_token, body.visitor.unsigned_claims)
    opened = open_visit(site, seen.base, seen.parts, visitor, storage.now().timestamp())
    if opened is None:
        raise _CLOSED
    if isinstance(opened, SignInNeeded):
        if not opened.address:
            raise Failure(401, "This site is for visitors with a token of its owner.")
        return answers.ok(_build_sign_in(site, opened.address, seen))
    visit, parts = opened
    parts, number = _take_change_request(parts)
    with storage.read() as connection:
        if not number:
            found = find_destination(connection, visit, parts)
            if isinstance(found, Redirected):
                return answers.ok(_build_redirect(site, found, seen))
        place = find_place(visit, parts)
        if place is None:
            raise _CLOSED
        row = _find_change_request(connection, caller, place, number) if number else None
    return answers.ok(_build_content(storage, visit, place, seen, row, body.visitor.type))


def _read_address(request: Request, storage: Storage, url: str) -> _PublishedAddress | None:
    """The site and the path that an address names, on this platform or in a directory that shows a site."""
    try:
        split = urlsplit(url)
    except ValueError:
        return None
    parts = tuple(unquote(part) for part in split.path.split("/") if part)
    origin = f"{split.scheme}://{split.netloc}"
    if origin == addresses.find_origin(request):
        return (
            _PublishedAddress(parts[1], parts[2:], origin, f"/sites/{parts[1]}")
            if parts[1:] and parts[0] == "sites"
            else None
        )
    table = site_tables.sites
    with storage.read() as connection:
        rows = connection.execute(sa.select(table.c.id, table.c.proxy).where(table.c.proxy.is_not(None))).all()
    below = "/".join((split.netloc, *parts))
    fits = [row for row in rows if f"{below}/".startswith(f"{row.proxy}/")]
    site = max(fits, key=lambda row: len(row.proxy), default=None)
    if site is None:
        return None
    depth = site.proxy.count("/")
    return _PublishedAddress(site.id, parts[depth:], origin, f"/{'/'.join(parts[:depth])}")


def _take_change_request(parts: Sequence[str]) -> tuple[Sequence[str], str]:
    """The segments without those that name a change request, and the one that does, "" without any."""
    for at in range(len(parts) - 2):
        if tuple(parts[at : at + 2]) == PREVIEW:
            return [*parts[:at], *parts[at + 3 :]], parts[at + 2]
    return parts, ""


def _find_change_request(connection: sa.Connection, caller: Caller, place: VisitPlace, number: str) -> sa.Row[Any]:
    """The change request of a space, for somebody who may read what is not published."""
    if not caller.user_id:
        raise _CLOSED
    table, space = change_requests, require_space(connection, caller, place.site_space.space)
    named = sa.or_(table.c.id == number, sa.cast(table.c.number, sa.String) == number)
    row = connection.execute(sa.select(table).where(table.c.space == space.id, named)).first()
    if row is None:
        raise _CLOSED
    return row


def _build_content(
    storage: Storage,
    visit: SiteVisit,
    place: VisitPlace,
    seen: _PublishedAddress,
    change_request: sa.Row[Any] | None,
    visitor_type: str,
) -> dict[str, Any]:
    row, content = place.site_space, visit.require_space(place.site_space)
    revision = content.revision if change_request is None else change_request.revision
    grant = ContentGrant(
        organization=visit.site.row.organization,
        site=visit.site.row.id,
        site_space=row.id,
        site_section=row.section or "",
        space=row.space,
        revision=revision,
        spaces=tuple(dict.fromkeys(one.space for one in visit.visible_site_spaces)),
        visibility=visit.site.row.visibility,
        share_link=visit.share_link,
        change_request="" if change_request is None else change_request.id,
        visitor_type=visitor_type,
        claims=visit.claims,
    )
    base = visit.build_path(row)
    optional = {
        "siteSection": row.section,
        "shareKey": visit.share_key,
        "changeRequest": grant.change_request,
        "preview": change_request is not None,
        "contextId": sha256(visit.visitor_class.encode()).hexdigest()[:16] if visit.claims else "",
    }
    return {
        "site": grant.site,
        "siteSpace": row.id,
        "space": row.space,
        "revision": revision,
        "organization": grant.organization,
        "pathname": f"/{place.page_path}",
        "basePath": base if base.endswith("/") else f"{base}/",
        "siteBasePath": f"{visit.base}/",
        "canonicalUrl": seen.origin + quote(visit.build_path(row, place.page_path)),
        "apiToken": issue_content_token(storage.secret, grant, storage.now()),
        "complete": place.is_settled,
        **{name: value for name, value in optional.items() if value},
    }


def _build_redirect(site: PublishedSite, found: Redirected, seen: _PublishedAddress) -> dict[str, Any]:
    if found.is_external:
        return {"target": "external", "site": site.row.id, "redirect": found.address}
    return {"target": "content", "redirect": seen.origin + quote(found.address)}


def _build_sign_in(site: PublishedSite, fallback: str, seen: _PublishedAddress) -> dict[str, Any]:
    back = urlencode({"location": "/" + "/".join(seen.parts)})
    return {"target": "external", "site": site.row.id, "redirect": f"{fallback}{'&' if '?' in fallback else '?'}{back}"}
