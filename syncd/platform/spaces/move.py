"""Moving spaces and collections: to another place among or below their siblings, and to another organization."""

from typing import Any

import sqlalchemy as sa
from fastapi import Request
from fastapi.responses import JSONResponse

from syncd.model.collection import Collection, Move, Transfer
from syncd.model.space import Space
from syncd.platform.http import answers
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.failures import Failure
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import Caller, CurrentCaller, declare_role
from syncd.platform.schema import site_tables
from syncd.platform.schema.collections import collections as collections_table
from syncd.platform.schema.content import spaces as spaces_table
from syncd.platform.schema.people import permissions
from syncd.platform.spaces import collections, order_keys, parents, spaces
from syncd.platform.spaces.order_keys import Container
from syncd.platform.storage.storage import CurrentStorage, Storage
from syncd.platform.storage.times import format_time

router = create_router(tags=["spaces", "collections"])

_NO_UPDATE = "It is there already: this would not change anything."


class MoveBody(RequestBody, Move):
    """Body of `POST …/move`."""


class TransferBody(RequestBody, Transfer):
    """Body of `POST …/transfer`."""


@router.post("/spaces/{space_id}/move", response_model=Space, openapi_extra=declare_role("admin"))
def move_space(
    request: Request, storage: CurrentStorage, caller: CurrentCaller, space_id: str, body: MoveBody
) -> JSONResponse:
    """Move a space to a parent and position, by default behind its last sibling, and return it."""
    with storage.write() as connection:
        row = spaces.require_space(connection, caller, space_id)
        values = _build_move_values(storage, connection, caller, row, body)
        values["updated_at"] = format_time(storage.now())
        connection.execute(spaces_table.update().where(spaces_table.c.id == space_id).values(values))
        return answers.ok(spaces.serialize_space(request, spaces.find_space(connection, caller, space_id), caller))


@router.post("/collections/{collection_id}/move", response_model=Collection, openapi_extra=declare_role("admin"))
def move_collection(
    request: Request, storage: CurrentStorage, caller: CurrentCaller, collection_id: str, body: MoveBody
) -> JSONResponse:
    """Move a collection with all that is in it to a parent and position, and return it."""
    with storage.write() as connection:
        row = parents.require_collection(connection, caller, collection_id)
        _require_allowed_depth(connection, collection_id, body)
        values = _build_move_values(storage, connection, caller, row, body)
        connection.execute(collections_table.update().where(collections_table.c.id == collection_id).values(values))
        return answers.ok(collections.read_collection(connection, request, caller, collection_id))


@router.post("/spaces/{space_id}/transfer", response_model=Space, openapi_extra=declare_role("admin"))
def transfer_space(
    request: Request, storage: CurrentStorage, caller: CurrentCaller, space_id: str, body: TransferBody
) -> JSONResponse:
    """Give a space to another organization, and return it; direct access to the space ends."""
    with storage.write() as connection:
        row = spaces.require_space(connection, caller, space_id)
        _require_target_organization(connection, caller, row, body.organization)
        # Who administrates the space only must not take it away from those that it belongs to.
        caller.require_role_in(row.organization)
        _require_unpublished(connection, sa.select(sa.literal(space_id)))
        values = _build_top_values(storage, connection, body.organization) | {"updated_at": format_time(storage.now())}
        connection.execute(permissions.delete().where(permissions.c.content == space_id))
        connection.execute(spaces_table.update().where(spaces_table.c.id == space_id).values(values))
        return answers.ok(spaces.serialize_space(request, spaces.find_space(connection, caller, space_id), caller))


@router.post("/collections/{collection_id}/transfer", response_model=Collection, openapi_extra=declare_role("admin"))
def transfer_collection(
    request: Request, storage: CurrentStorage, caller: CurrentCaller, collection_id: str, body: TransferBody
) -> JSONResponse:
    """Give a collection with all that is in it to another organization, and return it; direct access to any of it
    ends.
    """
    inner = parents.select_subtree_ids(collection_id)
    inner_spaces = sa.select(spaces_table.c.id).where(spaces_table.c.parent.in_(inner))
    with storage.write() as connection:
        row = parents.require_collection(connection, caller, collection_id)
        _require_target_organization(connection, caller, row, body.organization)
        caller.require_role_in(row.organization)
        _require_unpublished(connection, inner_spaces)
        for content in (inner_spaces, inner):
            connection.execute(permissions.delete().where(permissions.c.content.in_(content)))
        owner = {"organization": body.organization}
        connection.execute(spaces_table.update().where(spaces_table.c.id.in_(inner_spaces)).values(owner))
        connection.execute(collections_table.update().where(collections_table.c.id.in_(inner)).values(owner))
        top = collections_table.update().where(collections_table.c.id == collection_id)
        connection.execute(top.values(_build_top_values(storage, connection, body.organization)))
        return answers.ok(collections.read_collection(connection, request, caller, collection_id))


def _build_move_values(
    storage: Storage, connection: sa.Connection, caller: Caller, row: sa.Row[Any], move: Move
) -> dict[str, Any]:
    """Return the new parent and order key of what is moved. Raises: Failure 400, 403, 404, and 409 when nothing
    changes.
    """
    parent = move.parent if "parent" in move.model_fields_set else row.parent
    container = Container(row.organization, parent)
    if parent != row.parent:
        parents.require_container(connection, caller, container)
    if move.position.before is None and move.position.after is None:
        if parent == row.parent:
            raise Failure(409, _NO_UPDATE)
        return {"parent": parent, "position": order_keys.compute_last_key(connection, container, storage.now())}
    key = order_keys.compute_key_at(connection, container, row.id, move.position)
    if key is None:
        raise Failure(409, _NO_UPDATE)
    return {"parent": parent, "position": key}


def _require_allowed_depth(connection: sa.Connection, collection_id: str, move: Move) -> None:
    if move.parent is None:
        return
    above = parents.find_ancestors(connection, move.parent)
    if collection_id in above:
        raise Failure(400, "parent: a collection cannot be moved into itself or into what it holds")
    if len(above) + parents.measure_depth(connection, collection_id) > parents.DEPTH_MAX:
        raise Failure(400, f"parent: collections may be at most {parents.DEPTH_MAX} deep")


def _require_target_organization(
    connection: sa.Connection, caller: Caller, row: sa.Row[Any], organization_id: str
) -> None:
    if row.organization == organization_id:
        raise Failure(409, _NO_UPDATE)
    parents.require_target_organization(connection, caller, organization_id)


def _require_unpublished(connection: sa.Connection, held: sa.Select[Any]) -> None:
    # A site and its spaces belong to one organization, published or not.
    linked = site_tables.site_spaces
    if connection.scalar(sa.select(linked.c.id).where(linked.c.space.in_(held)).limit(1)) is not None:
        raise Failure(412, "A site of this organization has it. Take it out of its sites first.")


def _build_top_values(storage: Storage, connection: sa.Connection, organization_id: str) -> dict[str, Any]:
    container = Container(organization_id, None)
    position = order_keys.compute_last_key(connection, container, storage.now())
    return {"organization": organization_id, "parent": None, "position": position}
