"""Users, visible to themselves and to those who share an organization with them."""

from collections.abc import Collection
from typing import Any

import sqlalchemy as sa
from fastapi import Request
from fastapi.responses import JSONResponse

from syncd.model.user import User, UserUpdate
from syncd.platform.http import addresses, answers
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.failures import Failure
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import Caller, CurrentCaller, declare_role
from syncd.platform.schema import accounts
from syncd.platform.storage.storage import CurrentStorage, Storage
from syncd.platform.storage.times import format_time

router = create_router(tags=["users"])


class UserChange(RequestBody, UserUpdate):
    """Body of `PATCH /users/{userId}`."""


@router.get("/user", response_model=User, openapi_extra=declare_role("read", extension=True))
async def get_authenticated_user(request: Request, storage: CurrentStorage, caller: CurrentCaller) -> JSONResponse:
    """Return the user whose token the request has. Source: @gitbook/api 0.202.0."""

    def read() -> dict[str, Any]:
        with storage.read() as connection:
            return read_user(connection, request, caller.user_id)

    return answers.ok(await storage.run_read(read))


@router.get("/users/{user_id}", response_model=User, openapi_extra=declare_role("read", extension=True, visitors=True))
def get_user_by_id(request: Request, storage: CurrentStorage, caller: CurrentCaller, user_id: str) -> JSONResponse:
    """Return a user who shares an organization with the caller.

    Raises: Failure 404 for anybody else, and always for a content token: readers of a site learn nobody's name, and a
    renderer shows a page whose table names people.
    """
    if caller.grant is not None:
        raise Failure(404, f"No user {user_id}.")
    with storage.read() as connection:
        _require_shared_organization(connection, caller, user_id)
        return answers.ok(read_user(connection, request, user_id))


@router.patch("/users/{user_id}", response_model=User, openapi_extra=declare_role("read", extension=True))
def update_user_by_id(
    request: Request, storage: CurrentStorage, caller: CurrentCaller, user_id: str, body: UserChange
) -> JSONResponse:
    """Change the caller's own name or photo, and return the user. Raises: Failure 403 for somebody else's."""
    with storage.write() as connection:
        _require_shared_organization(connection, caller, user_id)
        if user_id != caller.user_id:
            raise Failure(403, "People change their own name and photo only.")
        values = {name: getattr(body, name) for name in body.model_fields_set}
        if values:
            connection.execute(accounts.users.update().where(accounts.users.c.id == user_id).values(values))
        user = read_user(connection, request, user_id)
    request.app.state.callers.clear()
    return answers.ok(user)


def read_user(connection: sa.Connection, request: Request, user_id: str) -> dict[str, Any]:
    """Read a user as the User of the API. Shape: `email` only when there is one."""
    return read_users(connection, request, [user_id])[user_id]


def read_users(connection: sa.Connection, request: Request, user_ids: Collection[str]) -> dict[str, dict[str, Any]]:
    """Read users as Users of the API, by id, in one query."""
    rows = connection.execute(sa.select(accounts.users).where(accounts.users.c.id.in_(user_ids)))
    return {row.id: serialize_user(request, row) for row in rows}


def serialize_user(request: Request, row: sa.Row[Any]) -> dict[str, Any]:
    """Return a user's row as the User of the API."""
    optional = {"email": row.email, "photoURL": row.photo_url}
    return {
        "object": "user",
        "id": row.id,
        "displayName": row.display_name,
        **{name: value for name, value in optional.items() if value is not None},
        "urls": {"location": addresses.build_api_url(request, f"/users/{row.id}")},
    }


def find_or_create_user(storage: Storage, connection: sa.Connection, email: str) -> str:
    """Return the id of the user with an e-mail address, who is created when there is none.

    Shape: the address of a new user is not verified. The platform sends no e-mail, so only its operator can vouch for
    an address, with `syncd platform token create --user EMAIL`.
    """
    table, address = accounts.users, email.lower()
    same = sa.select(table.c.id).where(sa.func.lower(table.c.email) == address)
    id = connection.scalar(same.order_by(table.c.email_verified.desc(), table.c.created_at, table.c.id).limit(1))
    if id is None:
        id = storage.new_id()
        row = {"id": id, "display_name": address.partition("@")[0], "email": address}
        connection.execute(table.insert().values(row | {"created_at": format_time(storage.now())}))
    return str(id)


def _require_shared_organization(connection: sa.Connection, caller: Caller, user_id: str) -> None:
    mine, theirs = accounts.members.alias(), accounts.members.alias()
    together = sa.select(theirs.c.user).join(mine, mine.c.organization == theirs.c.organization)
    shared = together.where(mine.c.user == caller.user_id, theirs.c.user == user_id).limit(1)
    if user_id != caller.user_id and connection.scalar(shared) is None:
        raise Failure(404, f"No user {user_id}.")
