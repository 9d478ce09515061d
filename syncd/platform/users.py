"""The person behind the token (`GET /user`, beyond the document: content-write §7)."""

from typing import Any

import sqlalchemy as sa
from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from syncd.platform import addresses, answers, schema
from syncd.platform.auth import Signed
from syncd.platform.storage import Stored

router = APIRouter(tags=["users"])


@router.get("/user")
def get_authenticated_user(request: Request, storage: Stored, caller: Signed) -> JSONResponse:
    """Given a request, return the User behind its token."""
    with storage.read() as connection:
        return answers.ok(shown(connection, request, caller.user_id))


def shown(connection: sa.Connection, request: Request, user_id: str) -> dict[str, Any]:
    """Given a user's id, return the User as the API shows it. Shapes: `email` only when there is one."""
    row = connection.execute(sa.select(schema.users).where(schema.users.c.id == user_id)).one()
    user = {"object": "user", "id": row.id, "displayName": row.display_name}
    if row.email is not None:
        user["email"] = row.email
    return user | {"urls": {"location": addresses.location(request, f"/users/{row.id}")}}
