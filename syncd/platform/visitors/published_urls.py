"""Published addresses over HTTP: which content a renderer shows at an address, and the token with which it reads it.

Anybody may ask, without a token, too: the answer gives no more than a visitor of the address gets.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated, Any
from urllib.parse import quote, unquote, urlencode, urlsplit

import sqlalchemy as sa
from fastapi import Depends, Query, Request
from fastapi.responses import JSONResponse

from syncd.model.published_url import TOKEN_MAX, URL_MAX, PublishedUrlAnswer, PublishedUrlLookup, UrlVisitor
from syncd.platform.http import addresses, answers
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.failures import Failure
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import Caller, CurrentCaller, declare_role
from syncd.platform.people.content_tokens import ContentGrant, issue_content_token
from syncd.platform.revisions.revisions import require_revision
from syncd.platform.schema import site_tables
from syncd.platform.schema.content import change_requests
from syncd.platform.spaces.spaces import require_space
from syncd.platform.storage.storage import CurrentStorage, Storage
from syncd.platform.visitors.destinations import Redirected, find_destination
from syncd.platform.visitors.sites import PublishedSite, PublishedSites
from syncd.platform.visitors.visits import (
    PREVIEWS,
    SignInNeeded,
    SiteVisit,
    VisitorToken,
    VisitPlace,
    find_place,
    open_preview,
    open_visit,
)

router = create_router(prefix="/urls", tags=["urls"])

_SIGN = "~"
_PREVIEW_KINDS = ("changes", "revisions")
"""What an address may name behind `~`, with its id: what it shows in the place of the main content of its space."""
_CLOSED = Failure(404, "No site is published at this address.")


class LookupBody(RequestBody, PublishedUrlLookup):
    """Body of `POST /urls/published`."""


@dataclass(frozen=True)
class UrlParameters:
    """What `GET /urls/published` may ask for; who would read the address is known by a token or not at all."""

    url: Annotated[str, Query(min_length=1, max_length=URL_MAX)]
    token: Annotated[str, Query(alias="visitorAuthToken", max_length=TOKEN_MAX)] = ""
    redirect_on_error: Annotated[bool, Query(alias="redirectOnError")] = False


@dataclass(frozen=True)
class _PublishedAddress:
    """An address as its reader has it: its path on this platform, and the origin and path that its reader sees.

    Shape: `is_draft` says that it shows the site to people of its organization, published or not.
    """

    name: str
    parts: tuple[str, ...]
    origin: str
    base: str
    is_draft: bool = False


@dataclass(frozen=True)
class _AddressContent:
    """What an address shows of its space: a revision, and the id of the change request that it is of, if any."""

    revision: str
    change_request: str = ""
    is_preview: bool = False


@router.post(
    "/published",
    response_model=PublishedUrlAnswer,
    openapi_extra=declare_role("read", extension=True, anonymous=True),
)
def resolve_published_content_by_url(
    request: Request, storage: CurrentStorage, caller: CurrentCaller, body: LookupBody
) -> JSONResponse:
    """Return the site content at an address, or where the address leads.

    At the address of a preview, a person's token gives a content token of the draft; all others are sent to the app.

    Raises: Failure 404 when nothing is published there; of a site for visitors whom its owner knows, 401 when nothing
    says where they sign in, or when their token does not count and `redirectOnError` does not ask for that place.
    Source: `resolvePublishedContentByUrl`, @gitbook/api 0.202.0.
    """
    return answers.ok(_resolve_url(request, storage, caller, body))


@router.get(
    "/published",
    response_model=PublishedUrlAnswer,
    openapi_extra=declare_role("read", extension=True, anonymous=True),
)
def get_published_content_by_url(
    request: Request,
    storage: CurrentStorage,
    caller: CurrentCaller,
    lookup: Annotated[UrlParameters, Depends()],
) -> JSONResponse:
    """Return the site content at an address, as `resolvePublishedContentByUrl` does: older renderers ask this way.

    Source: `getPublishedContentByUrl`, @gitbook/api 0.146.0.
    """
    visitor = UrlVisitor(jwt_token=lookup.token)
    body = PublishedUrlLookup(url=lookup.url, redirect_on_error=lookup.redirect_on_error, visitor=visitor)
    return answers.ok(_resolve_url(request, storage, caller, body))


def _resolve_url(request: Request, storage: Storage, caller: Caller, lookup: PublishedUrlLookup) -> dict[str, Any]:
    seen = _read_address(request, storage, lookup.url)
    if seen is None:
        raise _CLOSED
    if seen.is_draft and not caller.user_id:
        address = seen.origin + quote("/".join((seen.base, *seen.parts)))
        return {"target": "application", "redirect": address}
    opened = _open_address(request, storage, caller, seen, lookup.visitor)
    if isinstance(opened, SignInNeeded):
        # Who signs in and comes back with a token that does not count would be sent there without end.
        if opened.is_refused and not lookup.redirect_on_error:
            raise Failure(401, "The token of this visitor is not one that the site's key signed, or its time is over.")
        if not opened.address:
            raise Failure(401, "This site is for visitors with a token of its owner.")
        return _build_sign_in(opened, seen)
    visit, parts = opened
    parts, preview = _take_preview(parts)
    with storage.read() as connection:
        if preview is None:
            found = find_destination(connection, visit, parts)
            if isinstance(found, Redirected):
                return _build_redirect(visit.site, found, seen)
        place = find_place(visit, parts)
        if place is None:
            raise _CLOSED
        content = _AddressContent(visit.require_space(place.site_space).revision)
        if preview is not None:
            content = _find_preview(connection, caller, place, *preview)
    sites: PublishedSites = request.app.state.published_sites
    fingerprint = sites.compute_fingerprint(visit.site)
    grant = _build_grant(caller, visit, place.site_space, content, lookup.visitor.type, fingerprint)
    return _build_content(storage, visit, place, seen, grant)


def _open_address(
    request: Request, storage: Storage, caller: Caller, seen: _PublishedAddress, visitor: UrlVisitor
) -> tuple[SiteVisit, Sequence[str]] | SignInNeeded:
    """The visit of an address, and what of the address leads on. Raises: Failure 404 where the caller sees nothing."""
    sites: PublishedSites = request.app.state.published_sites
    if seen.is_draft:
        draft = sites.find_draft_site(caller, seen.name)
        if draft is None:
            raise _CLOSED
        return open_preview(draft, seen.base, visitor.unsigned_claims), seen.parts
    site = sites.find_site(seen.name)
    token = VisitorToken(visitor.jwt_token, visitor.unsigned_claims)
    opened = None
    if site is not None:
        opened = open_visit(site, seen.base, seen.parts, token, storage.now().timestamp())
    if opened is None:
        raise _CLOSED
    return opened


def _read_address(request: Request, storage: Storage, url: str) -> _PublishedAddress | None:
    """The site and the path that an address names, on this platform or in a directory that shows a site."""
    try:
        split = urlsplit(url)
    except ValueError:
        return None
    parts = tuple(unquote(part) for part in split.path.split("/") if part)
    origin = f"{split.scheme}://{split.netloc}"
    if origin == addresses.find_origin(request):
        if parts[1:] and parts[0] == "sites":
            return _PublishedAddress(parts[1], parts[2:], origin, f"/sites/{parts[1]}")
        if parts[2:] and "/".join(("", *parts[:2])) == PREVIEWS:
            return _PublishedAddress(parts[2], parts[3:], origin, f"{PREVIEWS}/{parts[2]}", is_draft=True)
        return None
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


def _take_preview(parts: Sequence[str]) -> tuple[Sequence[str], tuple[str, str] | None]:
    """The segments without those that name a change request or a revision, and what and which these name."""
    for at in range(len(parts) - 2):
        if parts[at] == _SIGN and parts[at + 1] in _PREVIEW_KINDS:
            return [*parts[:at], *parts[at + 3 :]], (parts[at + 1], parts[at + 2])
    return parts, None


def _find_preview(connection: sa.Connection, caller: Caller, place: VisitPlace, kind: str, id: str) -> _AddressContent:
    """The change request or revision of a space, for somebody who may read what is not published."""
    if not caller.user_id:
        raise _CLOSED
    space = require_space(connection, caller, place.site_space.space).id
    if kind == "revisions":
        return _AddressContent(require_revision(connection, space, id).id, is_preview=True)
    table = change_requests
    named = sa.or_(table.c.id == id, sa.cast(table.c.number, sa.String) == id)
    row = connection.execute(sa.select(table).where(table.c.space == space, named)).first()
    if row is None:
        raise _CLOSED
    return _AddressContent(row.revision, row.id, is_preview=True)


def _build_grant(
    caller: Caller,
    visit: SiteVisit,
    row: sa.Row[Any],
    content: _AddressContent,
    visitor_type: str,
    fingerprint: str,
) -> ContentGrant:
    """What the content token of a site-space lets its holder read."""
    return ContentGrant(
        organization=visit.site.row.organization,
        site=visit.site.row.id,
        site_space=row.id,
        site_section=row.section or "",
        space=row.space,
        revision=content.revision,
        spaces=tuple(dict.fromkeys(one.space for one in visit.visible_site_spaces)),
        visibility=visit.site.row.visibility,
        share_link=visit.share_link,
        change_request=content.change_request,
        is_draft=visit.is_preview,
        reader=caller.user_id if visit.is_preview or content.is_preview else "",
        visitor_type=visitor_type,
        claims=visit.claims,
        fingerprint=fingerprint,
    )


def _build_content(
    storage: Storage, visit: SiteVisit, place: VisitPlace, seen: _PublishedAddress, grant: ContentGrant
) -> dict[str, Any]:
    row = place.site_space
    optional = {
        "siteSection": row.section,
        "shareKey": visit.share_key,
        "changeRequest": grant.change_request,
        "preview": bool(grant.reader),
        "contextId": sha256(visit.visitor_class.encode()).hexdigest()[:16] if visit.claims else "",
    }
    return {
        "site": grant.site,
        "siteSpace": row.id,
        "space": row.space,
        "revision": grant.revision,
        "organization": grant.organization,
        "pathname": f"/{place.page_path}",
        "basePath": f"{visit.build_path(row).rstrip('/')}/",
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


def _build_sign_in(needed: SignInNeeded, seen: _PublishedAddress) -> dict[str, Any]:
    back = urlencode({"location": "/" + "/".join(seen.parts)})
    joint = "&" if "?" in needed.address else "?"
    return {"target": "external", "site": needed.site, "redirect": f"{needed.address}{joint}{back}"}
