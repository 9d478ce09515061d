"""Members: who is in an organization, with which role, and how they leave."""

from typing import Any

import sqlalchemy as sa
from fastapi import Request, Response
from fastapi.responses import JSONResponse

from syncd.model.listing import Listing
from syncd.model.member import Member, MemberUpdate
from syncd.platform.http import addresses, answers
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.failures import Failure
from syncd.platform.http.listing import Paging
from syncd.platform.http.routing import create_router
from syncd.platform.people import users
from syncd.platform.people.auth import declare_role
from syncd.platform.people.organizations import AtOrganization, OrganizationRequest, require_member
from syncd.platform.schema import accounts
from syncd.platform.schema.collections import collections
from syncd.platform.schema.content import spaces
from syncd.platform.schema.people import permissions, team_members, teams

router = create_router(prefix="/orgs/{organization_id}/members", tags=["members"])

_TABLE = accounts.members
_LAST = "An organization needs an administrator. Make somebody else one first."


class MemberChange(RequestBody, MemberUpdate):
    """Body of `PATCH …/members/{userId}`."""


@router.get("", response_model=Listing[Member], openapi_extra=declare_role("read", extension=True))
def list_members_in_organization_by_id(at: AtOrganization, paging: Paging) -> JSONResponse:
    """List the members of an organization by the time they joined."""
    with at.storage.read() as connection:
        at.require_organization(connection)
        envelope = paging.paginate_rows(
            connection, select_members(at.organization_id), _TABLE.c.joined_at, _TABLE.c.user
        )
    return answers.ok(envelope | {"items": [serialize_member(at.request, row) for row in envelope["items"]]})


@router.get("/{user_id}", response_model=Member, openapi_extra=declare_role("read", extension=True))
def get_member_in_organization_by_id(at: AtOrganization, user_id: str) -> JSONResponse:
    """Return a member of an organization."""
    with at.storage.read() as connection:
        at.require_organization(connection)
        return answers.ok(_read_member(connection, at, user_id))


@router.patch("/{user_id}", response_model=Member, openapi_extra=declare_role("admin", extension=True))
def update_member_in_organization_by_id(at: AtOrganization, user_id: str, body: MemberChange) -> JSONResponse:
    """Change the role of a member, and return the member; null makes a guest. The last administrator stays one."""
    with at.storage.write() as connection:
        at.require_organization(connection)
        _read_member(connection, at, user_id)
        if body.role != "admin":
            _require_other_admin(connection, at.organization_id, user_id)
        member_row = (_TABLE.c.organization == at.organization_id, _TABLE.c.user == user_id)
        connection.execute(_TABLE.update().where(*member_row).values(role=body.role))
        member = _read_member(connection, at, user_id)
    at.forget_callers()
    return answers.ok(member)


@router.delete("/{user_id}", status_code=204, openapi_extra=declare_role("admin", extension=True))
def remove_member_from_organization_by_id(at: AtOrganization, user_id: str) -> Response:
    """End a membership, and with it what it gave access to; everybody may end their own."""
    with at.storage.write() as connection:
        row = require_member(connection, at.caller, at.organization_id)
        if user_id != at.caller.user_id:
            at.caller.require_role(row.role)
        _require_other_admin(connection, at.organization_id, user_id)
        _delete_member(connection, at.organization_id, user_id)
    at.forget_callers()
    return answers.no_content()


def is_member(connection: sa.Connection, organization_id: str, user_id: str) -> bool:
    """Return whether a user is a member of an organization."""
    query = sa.select(_TABLE.c.user).where(_TABLE.c.organization == organization_id, _TABLE.c.user == user_id)
    return connection.scalar(query) is not None


def select_members(organization_id: str) -> sa.Select[Any]:
    """Return a query of an organization's members with the columns that `serialize_member` reads."""
    given = sa.select(sa.func.count()).where(permissions.c.kind == "user", permissions.c.subject == _TABLE.c.user)
    in_spaces = given.where(permissions.c.content == spaces.c.id, spaces.c.organization == organization_id)
    in_teams = (
        sa.select(sa.func.count())
        .where(team_members.c.user == _TABLE.c.user, team_members.c.team == teams.c.id)
        .where(teams.c.organization == organization_id)
    )
    columns = (accounts.users, _TABLE.c.role, _TABLE.c.joined_at, _TABLE.c.organization)
    counts = (
        in_spaces.correlate(_TABLE).scalar_subquery().label("spaces"),
        in_teams.correlate(_TABLE).scalar_subquery().label("teams"),
    )
    joined = sa.select(*columns, *counts).join_from(_TABLE, accounts.users, accounts.users.c.id == _TABLE.c.user)
    return joined.where(_TABLE.c.organization == organization_id)


def _read_member(connection: sa.Connection, at: OrganizationRequest, user_id: str) -> dict[str, Any]:
    row = connection.execute(select_members(at.organization_id).where(_TABLE.c.user == user_id)).one_or_none()
    if row is None:
        raise Failure(404, f"No member {user_id} in organization {at.organization_id}.")
    return serialize_member(at.request, row)


def serialize_member(request: Request, row: sa.Row[Any]) -> dict[str, Any]:
    """Return a row of `select_members` as the Member of the API."""
    # Members cannot be disabled here, and nobody signs in by SSO, since tokens are the only credentials.
    return {
        "object": "member",
        "id": row.id,
        "role": row.role,
        "user": users.serialize_user(request, row),
        "disabled": False,
        "joinedAt": row.joined_at,
        "sso": False,
        "spaces": row.spaces,
        "teams": row.teams,
        "urls": {"location": addresses.build_api_url(request, f"/orgs/{row.organization}/members/{row.id}")},
    }


def _require_other_admin(connection: sa.Connection, organization_id: str, user_id: str) -> None:
    admins = sa.select(_TABLE.c.user).where(_TABLE.c.organization == organization_id, _TABLE.c.role == "admin")
    found = set(connection.scalars(admins.limit(2)))
    if found == {user_id}:
        raise Failure(409, _LAST)


def _delete_member(connection: sa.Connection, organization_id: str, user_id: str) -> None:
    ours = sa.select(teams.c.id).where(teams.c.organization == organization_id)
    connection.execute(team_members.delete().where(team_members.c.user == user_id, team_members.c.team.in_(ours)))
    for table in (spaces, collections):
        content = sa.select(table.c.id).where(table.c.organization == organization_id)
        mine = (permissions.c.kind == "user", permissions.c.subject == user_id, permissions.c.content.in_(content))
        connection.execute(permissions.delete().where(*mine))
    connection.execute(_TABLE.delete().where(_TABLE.c.organization == organization_id, _TABLE.c.user == user_id))
