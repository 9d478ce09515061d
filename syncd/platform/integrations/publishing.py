"""Publishing integrations: who sees them, and their versions.

A script is kept with its version as a blob, bounded in size. Nothing here runs it: this platform serves no code of
others, so an integration acts through the API and through webhooks only, and has no public endpoint.
"""

from typing import Annotated, Any
from urllib.parse import urlsplit

import sqlalchemy as sa
from fastapi import Depends, Path, Query, Request, Response
from fastapi.responses import JSONResponse

from syncd.model.integration import (
    NAME_MAX,
    NAME_PATTERN,
    Category,
    Integration,
    IntegrationPublish,
    Scope,
    Target,
    format_policy,
)
from syncd.model.listing import Listing
from syncd.platform.http import addresses, answers
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.downloads import DownloadSigner, compute_expiry
from syncd.platform.http.failures import Failure
from syncd.platform.http.listing import Paging
from syncd.platform.http.routing import create_router
from syncd.platform.integrations import images
from syncd.platform.integrations.access import AtIntegration, IntegrationRequest, find_integration
from syncd.platform.people.auth import Caller, CurrentCaller, declare_role, is_role_at_least
from syncd.platform.people.organizations import serialize_organization_preview
from syncd.platform.schema import accounts
from syncd.platform.schema.integrations import facets, integrations
from syncd.platform.storage.storage import CurrentStorage, Storage
from syncd.platform.storage.times import format_time

router = create_router(prefix="/integrations", tags=["integrations"])

_TABLE = integrations
_DETAIL_MEMBERS = ("summary", "scopes", "categories", "blocks", "contentSources", "configurations", "externalLinks")
_LISTS: dict[str, Any] = {name: [] for name in ("categories", "blocks", "contentSources", "externalLinks")}


class IntegrationNew(RequestBody, IntegrationPublish):
    """Body of `POST /integrations/{integrationName}`."""


def _build_query(
    search: Annotated[str, Query(max_length=100)] = "",
    category: Category | None = None,
    block_domain: Annotated[
        str | None, Query(alias="blockDomain", max_length=100, pattern=r"^[a-zA-Z0-9\-_.]+$")
    ] = None,
    blocks: bool | None = None,
    content_sources: Annotated[bool | None, Query(alias="contentSources")] = None,
    scope: Scope | None = None,
    target: Target | None = None,
) -> sa.Select[Any]:
    query = sa.select(_TABLE)
    if search:
        texts = (_TABLE.c.title, _TABLE.c.description, _TABLE.c.name)
        query = query.where(sa.or_(*(column.icontains(search, autoescape=True) for column in texts)))
    domain = None if block_domain is None else block_domain.lower()
    for kind, value in (("category", category), ("domain", domain), ("scope", scope)):
        if value is not None:
            having = sa.select(facets.c.integration).where(facets.c.kind == kind, facets.c.value == value)
            query = query.where(_TABLE.c.name.in_(having))
    equal = ((_TABLE.c.has_blocks, blocks), (_TABLE.c.has_content_sources, content_sources), (_TABLE.c.target, target))
    return query.where(*(column == value for column, value in equal if value is not None))


FilteredQuery = Annotated[sa.Select[Any], Depends(_build_query)]


@router.get("", response_model=Listing[Integration], openapi_extra=declare_role("read"))
def list_integrations(
    request: Request,
    storage: CurrentStorage,
    caller: CurrentCaller,
    paging: Paging,
    query: FilteredQuery,
    owner: Annotated[str | None, Query(max_length=100)] = None,
) -> JSONResponse:
    """List the integrations that the caller may see and the filters let through.

    Shape: those are the public ones, and the private ones of the caller's organizations. An unlisted one is shown to
    those who know its name; the list has it only for its own organization, when `owner` asks for that one.
    """
    mine = [id for id, role in caller.roles.items() if is_role_at_least(role, caller.needed)]
    listed = sa.or_(
        _TABLE.c.visibility == "public", sa.and_(_TABLE.c.visibility == "private", _TABLE.c.owner.in_(mine))
    )
    if owner is not None:
        listed = _TABLE.c.owner.in_(mine) if owner in mine else _TABLE.c.visibility == "public"
        query = query.where(_TABLE.c.owner == owner)
    with storage.read() as connection:
        envelope = paging.paginate_rows(connection, query.where(listed), _TABLE.c.created_at, _TABLE.c.name)
        owners = _find_organizations(connection, {row.owner for row in envelope["items"]})
    items = [serialize_integration(request, storage, caller, row, owners[row.owner]) for row in envelope["items"]]
    return answers.ok(envelope | {"items": items})


@router.get("/{integration_name}", response_model=Integration, openapi_extra=declare_role("read"))
def get_integration_by_name(at: AtIntegration) -> JSONResponse:
    """Return an integration."""
    with at.storage.read() as connection:
        return answers.ok(_read_integration(at, connection, at.require_visible(connection)))


@router.post("/{integration_name}", response_model=Integration, openapi_extra=declare_role("admin"))
def publish_integration(
    at: AtIntegration,
    integration_name: Annotated[str, Path(max_length=NAME_MAX, pattern=NAME_PATTERN)],
    body: IntegrationNew,
) -> JSONResponse:
    """Publish an integration, or its next version, for an organization that is named by id or hostname.

    Raises: Failure 404 for an unknown organization, 409 when another one has published under this name.
    """
    with at.storage.read() as connection:
        _require_owner(connection, at.caller, body.organization)
    icon = images.decode_image(body.icon, at="icon") if body.icon else None
    previews = [
        images.decode_image(text, at=f"previewImages.{place}") for place, text in enumerate(body.preview_images)
    ]
    script, *oids = at.storage.blobs.put_all(
        [body.script.encode(), *([icon.data] if icon else []), *(image.data for image in previews)]
    )
    kept = {"icon": icon.build_row(oids.pop(0))} if icon else {}
    rows = [image.build_row(oid) for image, oid in zip(previews, oids, strict=True)]
    with at.storage.write() as connection:
        owner = _require_owner(connection, at.caller, body.organization)
        _save_integration(at, connection, owner.id, body, {"script": script, "images": {**kept, "previews": rows}})
        row = find_integration(connection, at.name)
        assert row is not None
        return answers.ok(_read_integration(at, connection, row))


@router.delete("/{integration_name}", status_code=204, openapi_extra=declare_role("admin"))
def unpublish_integration(at: AtIntegration) -> Response:
    """Remove an integration with all its versions, its installations and their events.

    Nothing would be left that could act on them, so no organization keeps an installation of what no longer exists.
    """
    with at.storage.write() as connection:
        row = find_integration(connection, at.name)
        if row is not None and (row.visibility != "private" or row.owner in at.caller.roles):
            at.require_owned(connection)
            connection.execute(_TABLE.delete().where(_TABLE.c.name == at.name))
    return answers.no_content()


def serialize_integration(
    request: Request, storage: Storage, caller: Caller, row: sa.Row[Any], owner: sa.Row[Any]
) -> dict[str, Any]:
    """Return an integration as the API shows it, from its row and its owner's."""
    downloads = DownloadSigner(
        addresses.find_origin(request), storage.secret, compute_expiry(storage.now().timestamp())
    )
    icon = row.images.get("icon")
    policy = row.details.get("contentSecurityPolicy")
    details = {name: row.details[name] for name in _DETAIL_MEMBERS if name in row.details}
    return {
        "object": "integration",
        "name": row.name,
        "version": row.version,
        "title": row.title,
        "description": row.description,
        "target": row.target,
        # Nobody here vouches for an integration.
        "verified": False,
        "visibility": row.visibility,
        **_LISTS,
        **details,
        "previewImages": [
            images.build_image_url(downloads, image, f"{row.name}-{number}")
            for number, image in enumerate(row.images["previews"], 1)
        ],
        "owner": serialize_organization_preview(request, owner, caller.find_role(owner.id)),
        "urls": {
            "location": addresses.build_api_url(request, f"/integrations/{row.name}"),
            "app": addresses.build_app_url(request, f"/integrations/{row.name}"),
            "assets": addresses.build_integration_url(request, row.name, "assets"),
            **addresses.build_endpoint_urls(request, row.name),
            **({"icon": images.build_image_url(downloads, icon, row.name)} if icon else {}),
        },
        "permissions": {"admin": is_role_at_least(caller.find_role(row.owner), "admin")},
        **({"contentSecurityPolicy": policy} if policy else {}),
    }


def _read_integration(at: IntegrationRequest, connection: sa.Connection, row: sa.Row[Any]) -> dict[str, Any]:
    owner = _find_organizations(connection, {row.owner})[row.owner]
    return serialize_integration(at.request, at.storage, at.caller, row, owner)


def _save_integration(
    at: IntegrationRequest, connection: sa.Connection, owner: str, body: IntegrationNew, blobs: dict[str, Any]
) -> None:
    former, now = find_integration(connection, at.name), format_time(at.storage.now())
    if former is not None and former.owner != owner:
        raise Failure(409, f"The name {at.name} is taken. Choose another one.")
    values = _build_columns(body) | blobs | {"version": former.version + 1 if former else 1, "updated_at": now}
    if former is None:
        connection.execute(_TABLE.insert().values(name=at.name, owner=owner, created_at=now, **values))
    else:
        connection.execute(_TABLE.update().where(_TABLE.c.name == at.name).values(values))
    connection.execute(facets.delete().where(facets.c.integration == at.name))
    rows = [{"integration": at.name, "kind": kind, "value": value} for kind, value in _list_facets(body)]
    if rows:
        connection.execute(facets.insert(), rows)


def _build_columns(body: IntegrationNew) -> dict[str, Any]:
    sent = body.wire()
    details = {name: sent[name] for name in (*_DETAIL_MEMBERS, "runtime") if name in sent}
    if body.content_security_policy:
        details["contentSecurityPolicy"] = format_policy(body.content_security_policy)
    return {
        "title": body.title,
        "description": body.description,
        "visibility": body.visibility,
        "target": body.target,
        "has_blocks": bool(body.blocks),
        "has_content_sources": bool(body.content_sources),
        "details": details,
        "secrets": dict(body.secrets),
    }


def _list_facets(body: IntegrationNew) -> set[tuple[str, str]]:
    addressed = {host for block in body.blocks for url in block.url_unfurl if (host := _find_host(url))}
    return {
        *(("category", category) for category in body.categories),
        *(("scope", scope) for scope in body.scopes),
        *(("domain", host) for host in addressed),
    }


def _find_host(url: str) -> str:
    # What a block unfurls is a pattern, such as `https://example.com/**`.
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _require_owner(connection: sa.Connection, caller: Caller, named: str) -> sa.Row[Any]:
    """Return the row of the organization with an id or hostname, if the caller may publish for it.

    Raises: Failure 404 when the caller is no member of such an organization, 403 when the role is too weak.
    """
    mine = _find_organizations(connection, set(caller.roles))
    found = mine.get(named) or next((row for row in mine.values() if row.hostname == named.lower()), None)
    if found is None:
        raise Failure(404, f"No organization {named}.")
    caller.require_role_in(found.id)
    return found


def _find_organizations(connection: sa.Connection, ids: set[str]) -> dict[str, sa.Row[Any]]:
    table = accounts.organizations
    return {row.id: row for row in connection.execute(sa.select(table).where(table.c.id.in_(ids)))}
