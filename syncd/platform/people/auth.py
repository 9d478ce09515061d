"""Authentication and roles: one bearer token for each request, and the role that each operation declares."""

import hmac
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

import sqlalchemy as sa
from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool

from syncd.platform.http.failures import Failure
from syncd.platform.people.content_tokens import ContentGrant, read_content_token
from syncd.platform.schema import accounts
from syncd.platform.storage.storage import Storage, hash_token

REMEMBERED_S = 5.0
"""Seconds for which a valid token is cached; a revoked one may still work for that long."""
_REMEMBERED_MAX = 1024

ROLES = ("read", "comment", "edit", "review", "create", "admin")
"""Weakest first; each role includes those before it. Source: API document, Conventions 5."""

ROLE_KEY = "x-role"
CALLER_KEY = "syncd.caller"
"""Where a scope has a caller who is known already; it is made in this process, and no request can bring it along."""
EXTENSION_KEY = "x-extension"
"""Marks, in the OpenAPI document, an operation that the API document does not have."""
VISITORS_KEY = "x-content-token"
"""Marks, in the OpenAPI document, an operation that a content token may call."""
ANONYMOUS_KEY = "x-anonymous"
"""Marks, in the OpenAPI document, an operation that anybody may call without a token."""
_PLACES = {"organization_id": "organization", "site_id": "site"}
"""Parameters of paths that must name what a content token was made for, with the members that say it."""


def declare_role(
    role: str, *, extension: bool = False, visitors: bool = False, anonymous: bool = False
) -> dict[str, Any]:
    """Return the declaration of the weakest role that may call an operation, for the route's `openapi_extra`.

    Shape: `extension` says that the operation is not one of the API document's, `visitors` that a content token may
    call it, too, `anonymous` that a request without a token may, whose caller is nobody. The document shows no
    permission per endpoint (Authentication 4), so this is each operation's own, cautious choice.
    """
    assert role in ROLES
    marks = {EXTENSION_KEY: extension, VISITORS_KEY: visitors, ANONYMOUS_KEY: anonymous}
    return {ROLE_KEY: role, **{name: True for name, is_set in marks.items() if is_set}}


def is_role_at_least(role: str | None, needed: str) -> bool:
    """Return whether a role is as strong as another; None is a guest."""
    return role is not None and ROLES.index(role) >= ROLES.index(needed)


@dataclass(frozen=True)
class Caller:
    """The person behind a request's token.

    Shape: `roles` has the role, None for a guest, in each organization that the person is a member of; `needed` is
    what the current operation requires. With a content token there is no person: `grant` is what it lets read, and
    `user_id` stands for the token; it is "" for a request without one, where the operation allows that.
    """

    user_id: str
    display_name: str
    roles: Mapping[str, str | None]
    needed: str = "read"
    grant: ContentGrant | None = None

    def find_role(self, organization_id: str) -> str | None:
        """Return the caller's role in an organization; None for a guest and for somebody who is no member.

        What the caller may do with a single space or collection is another matter: see `spaces.roles`.
        """
        return self.roles.get(organization_id)

    def require_role_in(self, organization_id: str) -> None:
        """Require the caller's role in an organization to be strong enough for the operation. Raises: Failure 403."""
        self.require_role(self.find_role(organization_id))

    def require_role(self, role: str | None, needed: str | None = None) -> None:
        """Require a role of the caller to be strong enough.

        Shape: `needed` is by default the role that the operation declares. Raises: Failure 403 when `role` is weaker.
        """
        if not is_role_at_least(role, needed or self.needed):
            raise Failure(403, f"This operation needs the role {needed or self.needed}.")


_NOBODY = Caller("", "", {})


class Callers:
    """The callers of one application, cached for a few seconds so that most requests need no query for them."""

    def __init__(self, storage: Storage, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._storage = storage
        self._clock = clock
        self._known: dict[str, tuple[float, Caller]] = {}

    async def find_by_token(self, token: str) -> Caller | None:
        """Return the caller with a token, or None when the token is not valid."""
        key, now = hash_token(token), self._clock()
        if token.count(".") == 2:
            grant = read_content_token(self._storage.secret, token, self._storage.now())
            if grant is not None:
                return Caller(f"content:{key}", "", {grant.organization: "read"}, grant=grant)
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
        """Return the caller named by the header `Authorization`. Raises: Failure 401 without a valid token."""
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise Failure(401, "A request needs the header `Authorization: Bearer <token>`.")
        found = await self.find_by_token(token.strip())
        if found is None:
            raise Failure(401, "The token is not valid.")
        return found

    def clear(self) -> None:
        """Empty the cache, after roles or users have changed."""
        self._known.clear()

    def _look_up(self, key: str) -> Caller | None:
        tokens, users, members = accounts.tokens, accounts.users, accounts.members
        # One row for each organization; a user without any has one row, too.
        query = (
            sa.select(tokens.c.hash, users.c.id, users.c.display_name, members.c.organization, members.c.role)
            .join(users, users.c.id == tokens.c.user)
            .outerjoin(members, members.c.user == users.c.id)
            .where(tokens.c.hash == key)
        )
        with self._storage.read() as connection:
            rows = connection.execute(query).all()
        # The index compares byte by byte; this comparison takes the same time for every wrong token.
        if not rows or not hmac.compare_digest(rows[0].hash, key):
            return None
        roles = {row.organization: row.role for row in rows if row.organization is not None}
        return Caller(rows[0].id, rows[0].display_name, roles)


async def authenticate_caller(request: Request) -> Caller:
    """Return the caller of a request, with the role that its operation needs.

    Raises: Failure 401 without a valid token; 403 for a content token where the operation is not for visitors, and 404
    where it names something else than the token was made for.
    """
    callers: Callers = request.app.state.callers
    known: Caller | None = request.scope.get(CALLER_KEY)
    declared = request.scope["route"].openapi_extra
    authorization = request.headers.get("authorization")
    if known is None and authorization is None and (declared or {}).get(ANONYMOUS_KEY):
        return replace(_NOBODY, needed=read_needed_role(declared))
    found = known or await callers.authenticate(authorization or "")
    if found.grant is not None:
        _require_granted(found.grant, declared, request.path_params)
    return replace(found, needed=read_needed_role(declared))


def _require_granted(grant: ContentGrant, declared: Mapping[str, Any] | None, path: Mapping[str, Any]) -> None:
    if not (declared or {}).get(VISITORS_KEY):
        raise Failure(403, "A content token reads published content only.")
    named = [(name, getattr(grant, member)) for name, member in _PLACES.items() if name in path]
    if any(path[name] != value for name, value in named) or path.get("space_id", grant.space) not in grant.spaces:
        raise Failure(404, "There is nothing of this for the content token.")


def read_needed_role(declared: Mapping[str, Any] | None) -> str:
    """Return the weakest role that may call a route, from its `openapi_extra`; admin where none is declared."""
    return str((declared or {}).get(ROLE_KEY, ROLES[-1]))


CurrentCaller = Annotated[Caller, Depends(authenticate_caller)]
"""A handler's parameter for its caller; an operation without it would be open to everybody."""
