"""Direct access to one space or collection, for people and for teams; it goes before what everybody may do there.

The same operations, made once for spaces and once for collections.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import sqlalchemy as sa
from fastapi import Depends, Request, Response
from fastapi.responses import JSONResponse

from syncd.model.listing import Listing
from syncd.model.team import Permission, PermissionsAdd, PermissionUpdate
from syncd.platform.database.tables import upsert
from syncd.platform.http import answers
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.failures import Failure
from syncd.platform.http.listing import Paging
from syncd.platform.http.routing import create_router
from syncd.platform.people import members, teams, users
from syncd.platform.people.auth import Caller, CurrentCaller, declare_role
from syncd.platform.people.organizations import OrganizationRequest
from syncd.platform.schema import accounts
from syncd.platform.schema.people import permissions
from syncd.platform.schema.people import teams as teams_table
from syncd.platform.spaces import parents, spaces
from syncd.platform.storage.storage import CurrentStorage, Storage
from syncd.platform.storage.times import format_time

router = create_router(tags=["permissions"])

_TABLE = permissions
_KEY = ("content", "kind", "subject")


class PermissionsNew(RequestBody, PermissionsAdd):
    """Body of `POST …/permissions`."""


class PermissionChange(RequestBody, PermissionUpdate):
    """Body of `PATCH …/permissions/users/{userId}` and `…/permissions/teams/{teamId}`."""


@dataclass(frozen=True)
class ContentRequest:
    """A request about the access to one space or collection."""

    request: Request
    storage: Storage
    caller: Caller
    content_id: str
    find: Callable[[sa.Connection, Caller, str], sa.Row[Any]]

    def require_owner(self, connection: sa.Connection) -> OrganizationRequest:
        """Return the request as one about the owning organization. Raises: Failure 404 and 403."""
        row = self.find(connection, self.caller, self.content_id)
        return OrganizationRequest(self.request, self.storage, self.caller, str(row.organization))

    def grant(self, connection: sa.Connection, kind: str, subjects: dict[str, str]) -> None:
        """Give each of the users or teams a role in this space or collection."""
        now = format_time(self.storage.now())
        rows = [
            {"content": self.content_id, "kind": kind, "subject": id, "role": role, "created_at": now}
            for id, role in subjects.items()
        ]
        upsert(connection, _TABLE, rows, key=_KEY)

    def match_permissions(self, kind: str) -> tuple[sa.ColumnElement[bool], ...]:
        """Return the conditions that select direct access of a kind, `user` or `team`, to this content."""
        return _TABLE.c.content == self.content_id, _TABLE.c.kind == kind


async def _read_space_request(
    request: Request, storage: CurrentStorage, caller: CurrentCaller, space_id: str
) -> ContentRequest:
    return ContentRequest(request, storage, caller, space_id, spaces.require_space)


async def _read_collection_request(
    request: Request, storage: CurrentStorage, caller: CurrentCaller, collection_id: str
) -> ContentRequest:
    return ContentRequest(request, storage, caller, collection_id, parents.require_collection)


OnSpace = Annotated[ContentRequest, Depends(_read_space_request)]
OnCollection = Annotated[ContentRequest, Depends(_read_collection_request)]
_READ, _CHANGE = declare_role("read", extension=True), declare_role("admin", extension=True)
_SPACE, _COLLECTION = "/spaces/{space_id}/permissions", "/collections/{collection_id}/permissions"


@router.post(_SPACE, status_code=204, openapi_extra=_CHANGE)
def invite_to_space(at: OnSpace, body: PermissionsNew) -> Response:
    """Give people and teams direct access to a space, each with a role."""
    return _grant_all(at, body)


@router.post(_COLLECTION, status_code=204, openapi_extra=_CHANGE)
def invite_to_collection(at: OnCollection, body: PermissionsNew) -> Response:
    """Give people and teams direct access to a collection, each with a role."""
    return _grant_all(at, body)


@router.get(f"{_SPACE}/users", response_model=Listing[Permission], openapi_extra=_READ)
def list_permissions_for_users_in_space(at: OnSpace, paging: Paging) -> JSONResponse:
    """List the people who have direct access to a space."""
    return _list_users(at, paging)


@router.get(f"{_COLLECTION}/users", response_model=Listing[Permission], openapi_extra=_READ)
def list_permissions_for_users_in_collection(at: OnCollection, paging: Paging) -> JSONResponse:
    """List the people who have direct access to a collection."""
    return _list_users(at, paging)


@router.get(f"{_SPACE}/teams", response_model=Listing[Permission], openapi_extra=_READ)
def list_permissions_for_teams_in_space(at: OnSpace, paging: Paging) -> JSONResponse:
    """List the teams that have direct access to a space."""
    return _list_teams(at, paging)


@router.get(f"{_COLLECTION}/teams", response_model=Listing[Permission], openapi_extra=_READ)
def list_permissions_for_teams_in_collection(at: OnCollection, paging: Paging) -> JSONResponse:
    """List the teams that have direct access to a collection."""
    return _list_teams(at, paging)


@router.patch(_SPACE + "/users/{user_id}", status_code=204, openapi_extra=_CHANGE)
def update_user_permission_in_space(at: OnSpace, user_id: str, body: PermissionChange) -> Response:
    """Change the role of a person who has direct access to a space."""
    return _update_role(at, "user", user_id, body.role)


@router.patch(_COLLECTION + "/users/{user_id}", status_code=204, openapi_extra=_CHANGE)
def update_user_permission_in_collection(at: OnCollection, user_id: str, body: PermissionChange) -> Response:
    """Change the role of a person who has direct access to a collection."""
    return _update_role(at, "user", user_id, body.role)


@router.patch(_SPACE + "/teams/{team_id}", status_code=204, openapi_extra=_CHANGE)
def update_team_permission_in_space(at: OnSpace, team_id: str, body: PermissionChange) -> Response:
    """Change the role of a team that has direct access to a space."""
    return _update_role(at, "team", team_id, body.role)


@router.patch(_COLLECTION + "/teams/{team_id}", status_code=204, openapi_extra=_CHANGE)
def update_team_permission_in_collection(at: OnCollection, team_id: str, body: PermissionChange) -> Response:
    """Change the role of a team that has direct access to a collection."""
    return _update_role(at, "team", team_id, body.role)


@router.delete(_SPACE + "/users/{user_id}", status_code=204, openapi_extra=_CHANGE)
def remove_user_from_space(at: OnSpace, user_id: str) -> Response:
    """End a person's direct access to a space."""
    return _revoke_role(at, "user", user_id)


@router.delete(_COLLECTION + "/users/{user_id}", status_code=204, openapi_extra=_CHANGE)
def remove_user_from_collection(at: OnCollection, user_id: str) -> Response:
    """End a person's direct access to a collection."""
    return _revoke_role(at, "user", user_id)


@router.delete(_SPACE + "/teams/{team_id}", status_code=204, openapi_extra=_CHANGE)
def remove_team_from_space(at: OnSpace, team_id: str) -> Response:
    """End a team's direct access to a space."""
    return _revoke_role(at, "team", team_id)


@router.delete(_COLLECTION + "/teams/{team_id}", status_code=204, openapi_extra=_CHANGE)
def remove_team_from_collection(at: OnCollection, team_id: str) -> Response:
    """End a team's direct access to a collection."""
    return _revoke_role(at, "team", team_id)


def _grant_all(at: ContentRequest, body: PermissionsAdd) -> Response:
    wanted = {"user": {one.user: one.role for one in body.users}, "team": {one.team: one.role for one in body.teams}}
    with at.storage.write() as connection:
        owner = at.require_owner(connection)
        for kind, subjects in wanted.items():
            for id in subjects:
                if not _EXISTENCE_CHECKS[kind](connection, owner.organization_id, id):
                    raise Failure(400, f"{kind}s: {id} is none of organization {owner.organization_id}")
            at.grant(connection, kind, dict(subjects))
    return answers.no_content()


def _update_role(at: ContentRequest, kind: str, id: str, role: str) -> Response:
    with at.storage.write() as connection:
        owner = at.require_owner(connection)
        if not _EXISTENCE_CHECKS[kind](connection, owner.organization_id, id):
            raise Failure(404, f"No {kind} {id} in organization {owner.organization_id}.")
        at.grant(connection, kind, {id: role})
    return answers.no_content()


def _revoke_role(at: ContentRequest, kind: str, id: str) -> Response:
    with at.storage.write() as connection:
        at.require_owner(connection)
        connection.execute(_TABLE.delete().where(*at.match_permissions(kind), _TABLE.c.subject == id))
    return answers.no_content()


def _list_users(at: ContentRequest, paging: Paging) -> JSONResponse:
    people = accounts.users
    joined = sa.select(people, _TABLE.c.role).join_from(_TABLE, people, people.c.id == _TABLE.c.subject)
    with at.storage.read() as connection:
        at.require_owner(connection)
        query = joined.where(*at.match_permissions("user"))
        envelope = paging.paginate_rows(connection, query, _TABLE.c.created_at, _TABLE.c.subject)
    items = [_serialize_permission(row, user=users.serialize_user(at.request, row)) for row in envelope["items"]]
    return answers.ok(envelope | {"items": items})


def _list_teams(at: ContentRequest, paging: Paging) -> JSONResponse:
    with at.storage.read() as connection:
        owner = at.require_owner(connection)
        query = (
            teams.select_teams(owner)
            .add_columns(_TABLE.c.role)
            .join(_TABLE, _TABLE.c.subject == teams_table.c.id)
            .where(*at.match_permissions("team"))
        )
        envelope = paging.paginate_rows(connection, query, _TABLE.c.created_at, _TABLE.c.subject)
    role = at.caller.find_role(owner.organization_id)
    items = [_serialize_permission(row, team=teams.serialize_team(row, role)) for row in envelope["items"]]
    return answers.ok(envelope | {"items": items})


def _serialize_permission(row: sa.Row[Any], **who: dict[str, Any]) -> dict[str, Any]:
    return {"role": row.role, "permission": row.role, **who}


_EXISTENCE_CHECKS = {"user": members.is_member, "team": teams.has_team}
