"""Who calls, and whether they may: one bearer token a request, and a role that each operation declares."""

import hmac
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

import sqlalchemy as sa
from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool

from syncd.platform.http.failures import Failure
from syncd.platform.schema import accounts
from syncd.platform.storage.storage import Storage, hash_token

REMEMBERED_S = 5.0
"""Seconds for which a token that was good is not looked up again; a revoked one may live that long."""
_REMEMBERED_MAX = 1024

ROLES = ("read", "comment", "edit", "review", "create", "admin")
"""Weakest first; each may do what those before it may. Source: API document, Conventions 5."""

ROLE_KEY = "x-role"
EXTENSION_KEY = "x-extension"
"""Marks, in the OpenAPI document, an operation that the API document does not have."""


def declare_role(role: str, *, extension: bool = False) -> dict[str, Any]:
    """Given the weakest role that may call an operation, return its declaration for the route's `openapi_extra`.

    Shapes: `extension` says that the operation is not one of the API document's. The document shows no permission per
    endpoint (Authentication 4), so this is each operation's own, cautious choice.
    """
    assert role in ROLES
    return {ROLE_KEY: role, **({EXTENSION_KEY: True} if extension else {})}


def is_role_at_least(role: str | None, needed: str) -> bool:
    """Given a role, or None for a guest, return whether it is strong enough."""
    return role is not None and ROLES.index(role) >= ROLES.index(needed)


@dataclass(frozen=True)
class Caller:
    """The person behind a request's token.

    Shapes: `roles` has the role, None for a guest, in each organization that the person is a member of; `needed` is
    what the operation at hand asks for.
    """

    user_id: str
    display_name: str
    roles: Mapping[str, str | None]
    needed: str = "read"

    def find_role(self, organization_id: str) -> str | None:
        """Given an organization, return the caller's role in it, None for a guest or a stranger.

        What the caller may do with a single space or collection is another matter: see `spaces.roles`.
        """
        return self.roles.get(organization_id)

    def require_role_in(self, organization_id: str) -> None:
        """Given the organization where an operation acts, let it go on. Raises: as `require_role`."""
        self.require_role(self.find_role(organization_id))

    def require_role(self, role: str | None, needed: str | None = None) -> None:
        """Given the caller's role where an operation acts, let it go on.

        Shapes: `needed` is the operation's own need unless it is given. Raises: Failure 403 when the role is too weak.
        """
        if not is_role_at_least(role, needed or self.needed):
            raise Failure(403, f"This operation needs the role {needed or self.needed}.")


class Callers:
    """The callers of one application, remembered for a few seconds so that a request costs no transaction."""

    def __init__(self, storage: Storage, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._storage = storage
        self._clock = clock
        self._known: dict[str, tuple[float, Caller]] = {}

    async def find_by_token(self, token: str) -> Caller | None:
        """Given a token, return who it stands for, or None when it is not a valid one."""
        key, now = hash_token(token), self._clock()
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

    async def authenticate(self, authorization: str) -> Caller:
        """Given the header of that name, return who sent the request. Raises: Failure 401 without a valid token."""
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise Failure(401, "A request needs the header `Authorization: Bearer <token>`.")
        found = await self.find_by_token(token.strip())
        if found is None:
            raise Failure(401, "The token is not valid.")
        return found

    def clear(self) -> None:
        """Look every token up again from now on; called when one was revoked."""
        self._known.clear()

    def _look_up(self, key: str) -> Caller | None:
        tokens, users, members = accounts.tokens, accounts.users, accounts.members
        # One row for each organization; a user who is in none has one row all the same.
        query = (
            sa.select(tokens.c.hash, users.c.id, users.c.display_name, members.c.organization, members.c.role)
            .join(users, users.c.id == tokens.c.user)
            .outerjoin(members, members.c.user == users.c.id)
            .where(tokens.c.hash == key)
        )
        with self._storage.read() as connection:
            rows = connection.execute(query).all()
        # The index compared byte by byte; the last word belongs to a comparison that takes the same time for all.
        if not rows or not hmac.compare_digest(rows[0].hash, key):
            return None
        roles = {row.organization: row.role for row in rows if row.organization is not None}
        return Caller(rows[0].id, rows[0].display_name, roles)


async def authenticate_caller(request: Request) -> Caller:
    """Given a request, return who sent it and what its operation needs. Raises: Failure 401 without a valid token."""
    callers: Callers = request.app.state.callers
    found = await callers.authenticate(request.headers.get("authorization", ""))
    return replace(found, needed=read_needed_role(request.scope["route"].openapi_extra))


def read_needed_role(declared: Mapping[str, Any] | None) -> str:
    """Given a route's `openapi_extra`, return the weakest role that may call it; admin where it says nothing."""
    return str((declared or {}).get(ROLE_KEY, ROLES[-1]))


CurrentCaller = Annotated[Caller, Depends(authenticate_caller)]
"""A handler's parameter for its caller; an operation without it would be open to everybody."""
