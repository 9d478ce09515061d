"""Who calls, and whether they may: one bearer token a request, one table of what each operation needs."""

import hmac
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import sqlalchemy as sa
from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool

from syncd.platform import schema
from syncd.platform.failures import Failure
from syncd.platform.storage import Storage, token_hash

REMEMBERED_S = 5.0
"""Seconds for which a token that was good is not looked up again; a revoked one may live that long."""
_REMEMBERED_MAX = 1024

ROLES = ("read", "comment", "edit", "review", "create", "admin")
"""Weakest first; each may do what those before it may. Source: API document, Conventions 5."""

NEEDED: dict[str, str] = {
    "createChangeRequest": "edit",
    "updateChangeRequestById": "edit",
    "updateChangeRequestContent": "edit",
    "updateChangeRequest": "edit",
    "mergeChangeRequest": "review",
    "createSpace": "create",
    "restoreSpace": "create",
    "updateSpaceById": "create",
    "deleteSpaceById": "create",
}
"""Operations and the role they need. Unnamed ones need `read` to read and `admin` to write: a gap never lets in."""


@dataclass(frozen=True)
class Caller:
    """The person behind a request's token."""

    user_id: str
    display_name: str
    role: str


class Callers:
    """The callers of one application, remembered for a few seconds so that a request costs no transaction."""

    def __init__(self, storage: Storage, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._storage = storage
        self._clock = clock
        self._known: dict[str, tuple[float, Caller]] = {}

    async def behind(self, token: str) -> Caller | None:
        """Given a token, return who it stands for, or None when it is not a valid one."""
        key, now = token_hash(token), self._clock()
        until, known = self._known.get(key, (0.0, None))
        if known is not None and now < until:
            return known
        found = await run_in_threadpool(self._look_up, key)
        if found is None:
            self._known.pop(key, None)
            return None
        if len(self._known) >= _REMEMBERED_MAX:
            self._known.clear()
        self._known[key] = (now + REMEMBERED_S, found)
        return found

    def forget(self) -> None:
        """Look every token up again from now on; called when one was revoked."""
        self._known.clear()

    def _look_up(self, key: str) -> Caller | None:
        tokens, users, members = schema.tokens, schema.users, schema.members
        # The one organization's member row gives the role; a user without one is a guest who may only read.
        query = (
            sa.select(tokens.c.hash, users.c.id, users.c.display_name, members.c.role)
            .join(users, users.c.id == tokens.c.user)
            .outerjoin(members, members.c.user == users.c.id)
            .where(tokens.c.hash == key)
            .limit(1)
        )
        with self._storage.read() as connection:
            row = connection.execute(query).one_or_none()
        # The index compared byte by byte; the last word belongs to a comparison that takes the same time for all.
        if row is None or not hmac.compare_digest(row.hash, key):
            return None
        return Caller(row.id, row.display_name, row.role or "read")


async def caller(request: Request) -> Caller:
    """Given a request, return who sent it. Raises: Failure 401 without a valid token, 403 when the role is too weak."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Failure(401, "A request needs the header `Authorization: Bearer <token>`.")
    callers: Callers = request.app.state.callers
    found = await callers.behind(token.strip())
    if found is None:
        raise Failure(401, "The token is not valid.")
    needed = needed_role(request.scope["route"].unique_id, request.method)
    if ROLES.index(found.role) < ROLES.index(needed):
        raise Failure(403, f"This operation needs the role {needed}.")
    return found


def needed_role(operation: str, method: str) -> str:
    """Given an operation's id and method, return the weakest role that may call it."""
    return NEEDED.get(operation, "read" if method in ("GET", "HEAD") else "admin")


Signed = Annotated[Caller, Depends(caller)]
"""A handler's parameter for its caller; an operation without it would be open to everybody."""
