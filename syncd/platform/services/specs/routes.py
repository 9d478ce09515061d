"""OpenAPI specifications over HTTP: the document's six operations, their versions, and the public address of each."""

from typing import Annotated, Any

import sqlalchemy as sa
from fastapi import Path, Request, Response
from fastapi.responses import JSONResponse

from syncd.model.listing import Listing
from syncd.model.openapi_spec import (
    OpenAPISpec,
    OpenAPISpecContent,
    OpenAPISpecCreate,
    OpenAPISpecPut,
    OpenAPISpecRawContent,
    OpenAPISpecUpdate,
    OpenAPISpecVersion,
    Slug,
    SpecSource,
    UrlSource,
)
from syncd.net.failures import Refused
from syncd.net.targets import parse_target
from syncd.platform.http import addresses, answers
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.failures import Failure
from syncd.platform.http.listing import Paging
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import Caller, declare_role, is_role_at_least
from syncd.platform.people.organizations import AtOrganization, OrganizationRequest
from syncd.platform.schema.specs import specs, versions
from syncd.platform.services.specs.processing import HANDLERS, PENDING, enqueue_processing
from syncd.platform.specs.parser import JSON, YAML, load_description
from syncd.platform.specs.shown import may_read_spec
from syncd.platform.storage.storage import CurrentStorage, Storage
from syncd.platform.storage.times import format_time

__all__ = ["HANDLERS", "router"]

router = create_router(tags=["openapi"])

_LIST = "/orgs/{organization_id}/openapi"
_ONE = _LIST + "/{spec_slug}"
_VERSIONS = _ONE + "/versions"
_READ_VERSION = declare_role("read", extension=True, visitors=True)
_FORMATS = {JSON: "json", YAML: "yaml"}
_CONTENT_HEADERS = {"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; sandbox"}

_CONTENT: dict[int | str, dict[str, Any]] = {
    200: {"description": "The document as it was fetched.", "content": {"application/json": {}, "application/yaml": {}}}
}

NewSlug = Annotated[Slug, Path()]
"""A slug that may be made; what only reads takes any text, and does not find it."""


class SpecNew(RequestBody, OpenAPISpecCreate):
    """Body of `POST …/openapi`."""


class SpecPut(RequestBody, OpenAPISpecPut):
    """Body of `PUT …/openapi/{specSlug}`."""


class SpecChange(RequestBody, OpenAPISpecUpdate):
    """Body of `PATCH …/openapi/{specSlug}`."""


@router.get(
    _LIST, operation_id="listOpenAPISpecs", response_model=Listing[OpenAPISpec], openapi_extra=declare_role("read")
)
def list_openapi_specs(at: AtOrganization, paging: Paging) -> JSONResponse:
    """List the specifications of an organization, oldest first."""
    query = sa.select(specs).where(specs.c.organization == at.organization_id)
    with at.storage.read() as connection:
        at.require_organization(connection)
        envelope = paging.paginate_rows(connection, query, specs.c.created_at, specs.c.id)
    return answers.ok(envelope | {"items": [_serialize_spec(at.request, at.caller, row) for row in envelope["items"]]})


@router.post(
    _LIST,
    operation_id="createOpenAPISpec",
    status_code=201,
    response_model=OpenAPISpec,
    openapi_extra=declare_role("create"),
)
def create_openapi_spec(at: AtOrganization, create: SpecNew) -> JSONResponse:
    """Create a private specification from a source, which is processed later.

    Raises: Failure 400 for a source that cannot be used, 409 when the slug is taken.
    """
    source = _build_source(at.storage, create.source)
    with at.storage.write() as connection:
        at.require_organization(connection)
        if _find_spec(connection, at, create.slug) is not None:
            raise Failure(409, f"slug: there is a specification {create.slug} already; PUT gives it another source")
        return answers.created_resource(_insert_spec(connection, at, create.slug, source))


@router.get(_ONE, operation_id="getOpenAPISpecBySlug", response_model=OpenAPISpec, openapi_extra=declare_role("read"))
def get_openapi_spec_by_slug(at: AtOrganization, spec_slug: str) -> JSONResponse:
    """Return a specification."""
    with at.storage.read() as connection:
        return answers.ok(_serialize_spec(at.request, at.caller, _require_spec(connection, at, spec_slug)))


@router.put(
    _ONE,
    operation_id="createOrUpdateOpenAPISpecBySlug",
    response_model=OpenAPISpec,
    responses={201: {"model": OpenAPISpec}},
    openapi_extra=declare_role("create"),
)
def create_or_update_openapi_spec_by_slug(at: AtOrganization, spec_slug: NewSlug, put: SpecPut) -> JSONResponse:
    """Give a specification a source, also when it is the same as before, or create the specification."""
    source = _build_source(at.storage, put.source)
    with at.storage.write() as connection:
        at.require_organization(connection)
        row = _find_spec(connection, at, spec_slug)
        if row is None:
            return answers.created_resource(_insert_spec(connection, at, spec_slug, source))
        values = {**source, "state": PENDING, "asked": row.asked + 1, "updated_at": format_time(at.storage.now())}
        connection.execute(specs.update().where(specs.c.id == row.id).values(values))
        enqueue_processing(connection, at.storage, row.id, row.asked + 1)
        return answers.ok(_serialize_spec(at.request, at.caller, _require_spec(connection, at, spec_slug)))


@router.patch(
    _ONE, operation_id="updateOpenAPISpecBySlug", response_model=OpenAPISpec, openapi_extra=declare_role("create")
)
def update_openapi_spec_by_slug(at: AtOrganization, spec_slug: str, update: SpecChange) -> JSONResponse:
    """Change who may see a specification, and return it."""
    with at.storage.write() as connection:
        row = _require_spec(connection, at, spec_slug)
        values = {"visibility": update.visibility, "updated_at": format_time(at.storage.now())}
        connection.execute(specs.update().where(specs.c.id == row.id).values(values))
        return answers.ok(_serialize_spec(at.request, at.caller, _require_spec(connection, at, spec_slug)))


@router.delete(_ONE, operation_id="deleteOpenAPISpecBySlug", status_code=204, openapi_extra=declare_role("create"))
def delete_openapi_spec_by_slug(at: AtOrganization, spec_slug: str) -> Response:
    """Delete a specification with its versions."""
    with at.storage.write() as connection:
        at.require_organization(connection)
        connection.execute(specs.delete().where(*_match_spec(at, spec_slug)))
    return answers.no_content()


@router.get(
    _VERSIONS,
    operation_id="listOpenAPISpecVersionsBySlug",
    response_model=Listing[OpenAPISpecVersion],
    openapi_extra=declare_role("read", extension=True),
)
def list_openapi_spec_versions(at: AtOrganization, spec_slug: str, paging: Paging) -> JSONResponse:
    """List the versions of a specification, newest first."""
    with at.storage.read() as connection:
        row = _require_spec(connection, at, spec_slug)
        query = sa.select(versions).where(versions.c.spec == row.id)
        envelope = paging.paginate_rows(connection, query, versions.c.created_at, versions.c.id, descending=True)
    return answers.ok(envelope | {"items": [_serialize_version(at, spec_slug, item) for item in envelope["items"]]})


@router.get(
    _VERSIONS + "/{version_id}",
    operation_id="getOpenAPISpecVersionById",
    response_model=OpenAPISpecVersion,
    openapi_extra=_READ_VERSION,
)
def get_openapi_spec_version_by_id(at: AtOrganization, spec_slug: str, version_id: str) -> JSONResponse:
    """Return a version of a specification, or its `latest` one."""
    with at.storage.read() as connection:
        _, row = _require_version(connection, at, spec_slug, version_id)
        return answers.ok(_serialize_version(at, spec_slug, row))


@router.get(
    _VERSIONS + "/{version_id}/content",
    operation_id="getOpenAPISpecVersionContentById",
    response_model=OpenAPISpecContent,
    openapi_extra=_READ_VERSION,
)
def get_openapi_spec_version_content_by_id(at: AtOrganization, spec_slug: str, version_id: str) -> JSONResponse:
    """Return what a version of a specification says, or its `latest` one, parsed.

    Source: `getOpenAPISpecVersionContentById`, @gitbook/api 0.146.0.
    """
    with at.storage.read() as connection:
        spec, row = _require_version(connection, at, spec_slug, version_id)
    content = at.storage.blobs.get(row.content)
    shown = _serialize_spec(at.request, at.caller, spec)
    source = spec.source_url or shown["urls"]["location"]
    entrypoint = {
        "filename": f"openapi.{_FORMATS[row.media_type]}",
        "dir": "./",
        "isEntrypoint": True,
        "references": [],
        "specification": load_description(content),
    }
    urls = {"source": source, "public": shown["urls"].get("published")}
    return answers.ok({"filesystem": [entrypoint], "url": source, "urls": urls})


@router.get(
    _VERSIONS + "/{version_id}/content/raw",
    operation_id="getOpenAPISpecVersionContentRawById",
    response_model=OpenAPISpecRawContent,
    openapi_extra=_READ_VERSION,
)
def get_openapi_spec_version_content_raw_by_id(at: AtOrganization, spec_slug: str, version_id: str) -> JSONResponse:
    """Return the text of a version of a specification, or of its `latest` one, as it was written."""
    with at.storage.read() as connection:
        _, row = _require_version(connection, at, spec_slug, version_id)
    text = at.storage.blobs.get(row.content).decode("utf-8-sig")
    return answers.ok({"text": text, "format": _FORMATS[row.media_type]})


@router.get(
    "/published/openapi/{spec_id}",
    operation_id="readPublishedOpenAPISpec",
    response_class=Response,
    responses=_CONTENT,
)
def read_published_openapi_spec(storage: CurrentStorage, spec_id: str) -> Response:
    """Answer everybody with the latest version of a public specification.

    Raises: Failure 404 when there is none with this id, or it is not public.
    """
    latest = sa.select(versions).join(specs, specs.c.last_version == versions.c.id)
    with storage.read() as connection:
        row = connection.execute(latest.where(specs.c.id == spec_id, specs.c.visibility == "public")).one_or_none()
    if row is None:
        raise Failure(404, "No public specification at this address.")
    headers = {**_CONTENT_HEADERS, "Access-Control-Allow-Origin": "*", "Cache-Control": "public, max-age=60"}
    return Response(storage.blobs.get(row.content), media_type=row.media_type, headers=headers)


def _build_source(storage: Storage, source: SpecSource) -> dict[str, str | None]:
    if isinstance(source, UrlSource):
        try:
            parse_target(source.url)
        except Refused as refused:
            raise Failure(400, f"source.url: {refused}") from None
        return {"source_url": source.url, "source_text": None}
    return {"source_url": None, "source_text": storage.blobs.put(source.text.encode())}


def _insert_spec(
    connection: sa.Connection, at: OrganizationRequest, slug: str, source: dict[str, str | None]
) -> dict[str, Any]:
    id, now = at.storage.new_id(), format_time(at.storage.now())
    row = {"id": id, "organization": at.organization_id, "slug": slug, "asked": 1, "state": PENDING, **source}
    state = {"visibility": "private", "last_problems": [], "created_at": now, "updated_at": now}
    connection.execute(specs.insert().values({**row, **state}))
    enqueue_processing(connection, at.storage, id, 1)
    return _serialize_spec(at.request, at.caller, _require_spec(connection, at, slug))


def _match_spec(at: OrganizationRequest, slug: str) -> tuple[sa.ColumnElement[bool], ...]:
    return specs.c.organization == at.organization_id, specs.c.slug == slug


def _find_spec(connection: sa.Connection, at: OrganizationRequest, slug: str) -> sa.Row[Any] | None:
    return connection.execute(sa.select(specs).where(*_match_spec(at, slug))).one_or_none()


def _require_spec(connection: sa.Connection, at: OrganizationRequest, slug: str) -> sa.Row[Any]:
    at.require_organization(connection)
    row = _find_spec(connection, at, slug)
    if row is None:
        raise Failure(404, f"No OpenAPI specification {slug[:100]} in organization {at.organization_id}.")
    return row


def _require_version(
    connection: sa.Connection, at: OrganizationRequest, slug: str, version_id: str
) -> tuple[sa.Row[Any], sa.Row[Any]]:
    """A specification and a version of it; with a content token, of one that its spaces show or that is public."""
    grant = at.caller.grant
    spec = _require_spec(connection, at, slug) if grant is None else _find_spec(connection, at, slug)
    if spec is None or (grant is not None and not may_read_spec(connection, at.storage, grant, spec)):
        raise Failure(404, f"No OpenAPI specification {slug[:100]} in organization {at.organization_id}.")
    wanted = spec.last_version if version_id == "latest" else version_id
    row = connection.execute(
        sa.select(versions).where(versions.c.id == wanted, versions.c.spec == spec.id)
    ).one_or_none()
    if row is None:
        raise Failure(404, f"No version {version_id[:100]} of this specification.")
    return spec, row


def _serialize_spec(request: Request, caller: Caller, row: sa.Row[Any]) -> dict[str, Any]:
    optional = {
        "sourceURL": row.source_url,
        "lastVersion": row.last_version,
        "lastProcessedAt": row.last_processed_at,
        "lastProcessErrorCode": row.last_error,
    }
    below = f"/orgs/{row.organization}/openapi/{row.slug}"
    is_public = row.visibility == "public" and row.last_version is not None
    return {
        "object": "openapi-spec",
        "id": row.id,
        "createdAt": row.created_at,
        "updatedAt": row.updated_at,
        "slug": row.slug,
        "processingState": row.state,
        "visibility": row.visibility,
        **{name: value for name, value in optional.items() if value is not None},
        "lastProcessedErrors": row.last_problems,
        "lastProcessedErrorCount": len(row.last_problems),
        "permissions": {"view": True, "edit": is_role_at_least(caller.find_role(row.organization), "create")},
        "urls": {
            "location": addresses.build_api_url(request, below),
            "app": addresses.build_app_url(request, f"/o/{row.organization}/openapi/{row.slug}"),
            **({"published": addresses.build_api_url(request, f"/published/openapi/{row.id}")} if is_public else {}),
        },
    }


def _serialize_version(at: OrganizationRequest, slug: str, row: sa.Row[Any]) -> dict[str, Any]:
    below = f"/orgs/{at.organization_id}/openapi/{slug}/versions/{row.id}"
    return {
        "object": "openapi-spec-version",
        "id": row.id,
        "createdAt": row.created_at,
        "urls": {"location": addresses.build_api_url(at.request, below)},
    }
