"""Collections: spaces and further collections under one name, which share the level that they give everybody."""

from typing import Any

import sqlalchemy as sa
from fastapi import Request, Response
from fastapi.responses import JSONResponse

from syncd.model.collection import Collection, CollectionCreate, CollectionUpdate
from syncd.model.listing import Listing
from syncd.model.space import Space
from syncd.platform.http import addresses, answers
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.failures import Failure
from syncd.platform.http.listing import Paging
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import Caller, CurrentCaller, declare_role, is_role_at_least
from syncd.platform.people.organizations import AtOrganization, require_member
from syncd.platform.schema.collections import collections
from syncd.platform.schema.content import spaces as spaces_table
from syncd.platform.schema.people import permissions
from syncd.platform.spaces import order_keys, parents, roles, spaces
from syncd.platform.spaces.order_keys import Container
from syncd.platform.storage.storage import CurrentStorage
from syncd.platform.storage.times import format_time

router = create_router(tags=["collections"])

_PERMISSIONS = {"view": "read", "create": "create", "admin": "admin", "viewInviteLinks": "admin"}
_PREFIX = "/collections/{collection_id}"


class CollectionNew(RequestBody, CollectionCreate):
    """Body of `POST …/collections`."""


class CollectionChange(RequestBody, CollectionUpdate):
    """Body of `PATCH /collections/{collectionId}`."""


@router.get(
    "/orgs/{organization_id}/collections", response_model=Listing[Collection], openapi_extra=declare_role("read")
)
def list_collections_in_organization_by_id(at: AtOrganization, paging: Paging, nested: bool = True) -> JSONResponse:
    """List the collections of an organization that the caller may read; without `nested`, only those at the top."""
    table = collections
    query = roles.select_collections(table).where(table.c.organization == at.organization_id, roles.COLLECTION_READABLE)
    by = table.c.created_at if nested else table.c.position
    if not nested:
        query = query.where(table.c.parent.is_(None))
    with at.storage.read() as connection:
        at.require_organization(connection)
        envelope = paging.paginate_rows(connection, query.params(caller=at.caller.user_id), by, table.c.id)
    return answers.ok(envelope | {"items": [serialize_collection(at.request, row) for row in envelope["items"]]})


@router.post(
    "/orgs/{organization_id}/collections",
    response_model=Collection,
    status_code=201,
    openapi_extra=declare_role("create"),
)
def create_collection(at: AtOrganization, body: CollectionNew | None = None) -> JSONResponse:
    """Create a collection at the top of an organization or in another collection, and return it.

    Raises: Failure 400 when collections would be nested too deep.
    """
    new = body or CollectionNew()
    container = Container(at.organization_id, new.parent)
    with at.storage.write() as connection:
        require_member(connection, at.caller, at.organization_id)
        parents.require_container(connection, at.caller, container)
        if len(parents.find_ancestors(connection, new.parent)) >= parents.DEPTH_MAX:
            raise Failure(400, f"parent: collections may be at most {parents.DEPTH_MAX} deep")
        id, now = at.storage.new_id(), at.storage.now()
        row = {
            "title": new.title,
            "parent": new.parent,
            "position": order_keys.compute_last_key(connection, container, now),
        }
        connection.execute(
            collections.insert().values(id=id, organization=at.organization_id, created_at=format_time(now), **row)
        )
        new_collection = read_collection(connection, at.request, at.caller, id)
    return answers.created_resource(new_collection, location=new_collection["urls"]["location"])


@router.get(_PREFIX, response_model=Collection, openapi_extra=declare_role("read"))
def get_collection_by_id(
    request: Request, storage: CurrentStorage, caller: CurrentCaller, collection_id: str
) -> JSONResponse:
    """Return a collection."""
    with storage.read() as connection:
        return answers.ok(serialize_collection(request, parents.require_collection(connection, caller, collection_id)))


@router.patch(_PREFIX, response_model=Collection, openapi_extra=declare_role("admin"))
def update_collection_by_id(
    request: Request, storage: CurrentStorage, caller: CurrentCaller, collection_id: str, body: CollectionChange
) -> JSONResponse:
    """Change the members of a collection that the body sets, and return the collection."""
    values = {name: getattr(body, name) for name in body.model_fields_set}
    with storage.write() as connection:
        parents.require_collection(connection, caller, collection_id)
        if values:
            connection.execute(collections.update().where(collections.c.id == collection_id).values(values))
        return answers.ok(read_collection(connection, request, caller, collection_id))


@router.delete(_PREFIX, status_code=204, openapi_extra=declare_role("admin"))
def delete_collection_by_id(storage: CurrentStorage, caller: CurrentCaller, collection_id: str) -> Response:
    """Delete an empty collection; one that holds something is refused, so that no space changes its access by this.

    A deleted space of it that is restored later comes back at the top of the organization. If it inherited its default
    role from the collection, only administrators can read it then. Raises: Failure 409 when something is in it.
    """
    with storage.write() as connection:
        row = parents.find_collection(connection, caller, collection_id)
        if row is None:
            return answers.no_content()
        caller.require_role(row.level)
        _require_empty(connection, collection_id)
        update_spaces = spaces_table.update().where(spaces_table.c.parent == collection_id)
        connection.execute(update_spaces.where(spaces_table.c.default_level == "inherit").values(default_level=None))
        connection.execute(update_spaces.values(parent=None))
        connection.execute(permissions.delete().where(permissions.c.content == collection_id))
        connection.execute(collections.delete().where(collections.c.id == collection_id))
    return answers.no_content()


@router.get(_PREFIX + "/spaces", response_model=Listing[Space], openapi_extra=declare_role("read"))
def list_spaces_in_collection_by_id(
    request: Request, storage: CurrentStorage, caller: CurrentCaller, paging: Paging, collection_id: str
) -> JSONResponse:
    """List the spaces directly in a collection that the caller may read, in their order."""
    query = spaces.select_readable_spaces(caller, spaces_table.c.parent == collection_id)
    with storage.read() as connection:
        parents.require_collection(connection, caller, collection_id)
        envelope = paging.paginate_rows(connection, query, spaces_table.c.position, spaces_table.c.id)
    return answers.ok(envelope | {"items": [spaces.serialize_space(request, row, caller) for row in envelope["items"]]})


def read_collection(connection: sa.Connection, request: Request, caller: Caller, collection_id: str) -> dict[str, Any]:
    """Return a collection that exists as the API shows it."""
    row = parents.find_collection(connection, caller, collection_id)
    assert row is not None
    return serialize_collection(request, row)


def serialize_collection(request: Request, row: sa.Row[Any]) -> dict[str, Any]:
    """Return a collection as the API shows it, from its row with the caller's `level`."""
    optional = {"description": row.description or None, "parent": row.parent}
    return {
        "object": "collection",
        "id": row.id,
        "title": row.title,
        "organization": row.organization,
        "defaultLevel": row.default_level,
        **{name: value for name, value in optional.items() if value is not None},
        "urls": {
            "location": addresses.build_api_url(request, f"/collections/{row.id}"),
            "app": addresses.build_app_url(request, f"/o/{row.organization}/c/{row.id}"),
        },
        "permissions": {name: is_role_at_least(row.level, needed) for name, needed in _PERMISSIONS.items()},
    }


def _require_empty(connection: sa.Connection, collection_id: str) -> None:
    live = sa.select(sa.literal(1)).where(spaces_table.c.parent == collection_id, spaces_table.c.deleted_at.is_(None))
    inner = sa.select(sa.literal(1)).where(collections.c.parent == collection_id)
    if connection.scalar(live.union_all(inner).limit(1)) is not None:
        raise Failure(409, "The collection is not empty. Move or delete the spaces and collections in it first.")
