"""Who is in a team, and who owns it."""

from typing import Any

import sqlalchemy as sa
from fastapi import Response
from fastapi.responses import JSONResponse

from syncd.model.listing import Listing
from syncd.model.team import TeamMember, TeamMembersUpdate, TeamMemberWrite
from syncd.platform.http import answers
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.failures import Failure
from syncd.platform.http.listing import Paging
from syncd.platform.http.routing import create_router
from syncd.platform.people import members, teams, users
from syncd.platform.people.auth import declare_role
from syncd.platform.people.organizations import AtOrganization, OrganizationRequest, require_member
from syncd.platform.schema import accounts
from syncd.platform.schema.people import team_members

router = create_router(prefix="/orgs/{organization_id}/teams/{team_id}/members", tags=["teams"])

_TABLE = team_members


class TeamMembersChange(RequestBody, TeamMembersUpdate):
    """Body of `PUT …/teams/{teamId}/members`."""


class TeamMemberNew(RequestBody, TeamMemberWrite):
    """Body of `PUT …/teams/{teamId}/members/{userId}`."""


@router.get("", response_model=Listing[TeamMember], openapi_extra=declare_role("read", extension=True))
def list_team_members_in_organization_by_id(at: AtOrganization, team_id: str, paging: Paging) -> JSONResponse:
    """List the members of a team by the time they joined it."""
    with at.storage.read() as connection:
        at.require_organization(connection)
        teams.require_team(connection, at, team_id)
        envelope = paging.paginate_rows(connection, _select_team_members(team_id), _TABLE.c.joined_at, _TABLE.c.user)
    return answers.ok(envelope | {"items": [_serialize_team_member(at, row) for row in envelope["items"]]})


@router.put("", response_model=Listing[TeamMember], openapi_extra=declare_role("admin", extension=True))
def update_members_in_organization_team(
    at: AtOrganization, team_id: str, paging: Paging, body: TeamMembersChange
) -> JSONResponse:
    """Add members to a team, remove others, and list its members."""
    with at.storage.write() as connection:
        teams.require_team_owner(connection, at, team_id)
        teams.insert_team_members(connection, at, team_id, body.add)
        gone = (_TABLE.c.team == team_id, _TABLE.c.user.in_(body.remove))
        connection.execute(_TABLE.delete().where(*gone))
        envelope = paging.paginate_rows(connection, _select_team_members(team_id), _TABLE.c.joined_at, _TABLE.c.user)
    return answers.ok(envelope | {"items": [_serialize_team_member(at, row) for row in envelope["items"]]})


@router.put("/{user_id}", response_model=TeamMember, openapi_extra=declare_role("admin", extension=True))
def add_member_to_organization_team_by_id(
    at: AtOrganization, team_id: str, user_id: str, body: TeamMemberNew | None = None
) -> JSONResponse:
    """Add a member of the organization to a team, or change the role in it, and return the team member.

    Raises: Failure 404 for who is no member of the organization.
    """
    with at.storage.write() as connection:
        teams.require_team_owner(connection, at, team_id)
        if not members.is_member(connection, at.organization_id, user_id):
            raise Failure(404, f"No member {user_id} in organization {at.organization_id}.")
        teams.insert_team_members(connection, at, team_id, (user_id,))
        if body is not None and "role" in body.model_fields_set:
            here = (_TABLE.c.team == team_id, _TABLE.c.user == user_id)
            connection.execute(_TABLE.update().where(*here).values(role=body.role))
        row = connection.execute(_select_team_members(team_id).where(_TABLE.c.user == user_id)).one()
        return answers.ok(_serialize_team_member(at, row))


@router.delete("/{user_id}", status_code=204, openapi_extra=declare_role("admin", extension=True))
def delete_member_from_organization_team_by_id(at: AtOrganization, team_id: str, user_id: str) -> Response:
    """Remove a user from a team; everybody may leave one."""
    with at.storage.write() as connection:
        if user_id == at.caller.user_id:
            require_member(connection, at.caller, at.organization_id)
            teams.require_team(connection, at, team_id)
        else:
            teams.require_team_owner(connection, at, team_id)
        connection.execute(_TABLE.delete().where(_TABLE.c.team == team_id, _TABLE.c.user == user_id))
    return answers.no_content()


def _select_team_members(team_id: str) -> sa.Select[Any]:
    people = accounts.users
    columns = (people, _TABLE.c.role)
    return sa.select(*columns).join_from(_TABLE, people, people.c.id == _TABLE.c.user).where(_TABLE.c.team == team_id)


def _serialize_team_member(at: OrganizationRequest, row: sa.Row[Any]) -> dict[str, Any]:
    user = users.serialize_user(at.request, row)
    return {"object": "team-member", "id": row.id, "role": row.role, "user": user}
