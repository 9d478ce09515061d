"""Teams: members who are given access together; an owner of a team may change it as an administrator may."""

from typing import Annotated, Any

import sqlalchemy as sa
from fastapi import Query, Response
from fastapi.responses import JSONResponse

from syncd.model.listing import Listing
from syncd.model.team import Team, TeamCreate, TeamUpdate
from syncd.platform.http import answers
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.failures import Failure
from syncd.platform.http.listing import Paging
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import declare_role, is_role_at_least
from syncd.platform.people.organizations import AtOrganization, OrganizationRequest, require_member
from syncd.platform.schema import accounts
from syncd.platform.schema.content import spaces
from syncd.platform.schema.people import permissions, team_members, teams
from syncd.platform.storage.times import format_time

router = create_router(prefix="/orgs/{organization_id}/teams", tags=["teams"])

_TABLE = teams
_FILTER_MAX = 256


class TeamNew(RequestBody, TeamCreate):
    """Body of `PUT …/teams`."""


class TeamChange(RequestBody, TeamUpdate):
    """Body of `PATCH …/teams/{teamId}`."""


@router.get("", response_model=Listing[Team], openapi_extra=declare_role("read"))
def list_teams_in_organization_by_id(
    at: AtOrganization,
    paging: Paging,
    owner: Annotated[str | None, Query(max_length=_FILTER_MAX)] = None,
    title: Annotated[str | None, Query(max_length=_FILTER_MAX)] = None,
) -> JSONResponse:
    """List the teams of an organization by the time they were created.

    Shape: `owner` keeps the teams that this member can change, `title` those that have it in their title in any letter
    case. Source: @gitbook/api 0.146.0.
    """
    query = select_teams(at)
    if owner is not None:
        query = query.where(_match_teams_owned_by(at.organization_id, owner))
    if title is not None:
        query = query.where(_TABLE.c.title.icontains(title, autoescape=True))
    with at.storage.read() as connection:
        role = at.require_organization(connection).role
        envelope = paging.paginate_rows(connection, query, _TABLE.c.created_at, _TABLE.c.id)
    return answers.ok(envelope | {"items": [serialize_team(row, role) for row in envelope["items"]]})


@router.put("", status_code=201, response_model=Team, openapi_extra=declare_role("admin"))
def create_organization_team(at: AtOrganization, body: TeamNew) -> JSONResponse:
    """Create a team of members of the organization, and return it."""
    id = at.storage.new_id()
    row = {
        "id": id,
        "organization": at.organization_id,
        "title": body.title,
        "created_at": format_time(at.storage.now()),
    }
    with at.storage.write() as connection:
        at.require_organization(connection)
        connection.execute(_TABLE.insert().values(row))
        insert_team_members(connection, at, id, body.members)
        return answers.created_resource(_read_team(connection, at, id))


@router.get("/{team_id}", response_model=Team, openapi_extra=declare_role("read"))
def get_team_in_organization_by_id(at: AtOrganization, team_id: str) -> JSONResponse:
    """Return a team."""
    with at.storage.read() as connection:
        at.require_organization(connection)
        return answers.ok(_read_team(connection, at, team_id))


@router.patch("/{team_id}", response_model=Team, openapi_extra=declare_role("admin"))
def update_team_in_organization_by_id(at: AtOrganization, team_id: str, body: TeamChange) -> JSONResponse:
    """Change the title of a team, and return the team."""
    with at.storage.write() as connection:
        require_team_owner(connection, at, team_id)
        connection.execute(_TABLE.update().where(_TABLE.c.id == team_id).values(title=body.title))
        return answers.ok(_read_team(connection, at, team_id))


@router.delete("/{team_id}", status_code=204, openapi_extra=declare_role("admin"))
def remove_team_from_organization_by_id(at: AtOrganization, team_id: str) -> Response:
    """Delete a team, and with it the access that it gave; its members stay members of the organization."""
    with at.storage.write() as connection:
        if not _can_change_team(connection, at, team_id):
            at.require_organization(connection)
        gone = connection.execute(
            _TABLE.delete().where(_TABLE.c.id == team_id, _TABLE.c.organization == at.organization_id)
        )
        if gone.rowcount:
            given = (permissions.c.kind == "team", permissions.c.subject == team_id)
            connection.execute(permissions.delete().where(*given))
    return answers.no_content()


def require_team(connection: sa.Connection, at: OrganizationRequest, team_id: str) -> sa.Row[Any]:
    """Return a team's row with its counts. Raises: Failure 404."""
    row = connection.execute(select_teams(at).where(_TABLE.c.id == team_id)).one_or_none()
    if row is None:
        raise Failure(404, f"No team {team_id} in organization {at.organization_id}.")
    return row


def require_team_owner(connection: sa.Connection, at: OrganizationRequest, team_id: str) -> None:
    """Require the caller to own a team, or to be an administrator.

    Raises: Failure 404 when the team does not exist for the caller, 403 for any other member.
    """
    if not _can_change_team(connection, at, team_id):
        at.require_organization(connection)
    require_team(connection, at, team_id)


def insert_team_members(
    connection: sa.Connection, at: OrganizationRequest, team_id: str, user_ids: tuple[str, ...]
) -> None:
    """Insert members of the organization into a team; those in it keep their role. Raises: Failure 400."""
    wanted = list(dict.fromkeys(user_ids))
    table = accounts.members
    known = sa.select(table.c.user).where(table.c.organization == at.organization_id, table.c.user.in_(wanted))
    found = set(connection.scalars(known))
    unknown = [id for id in wanted if id not in found]
    if unknown:
        raise Failure(400, f"members: {len(unknown)} are no members of the organization, such as {unknown[0]}")
    inside = sa.select(team_members.c.user).where(team_members.c.team == team_id)
    already, now = set(connection.scalars(inside)), format_time(at.storage.now())
    rows = [{"team": team_id, "user": id, "role": "member", "joined_at": now} for id in wanted if id not in already]
    if rows:
        connection.execute(team_members.insert(), rows)


def has_team(connection: sa.Connection, organization_id: str, team_id: str) -> bool:
    """Return whether an organization has a team."""
    query = sa.select(_TABLE.c.id).where(_TABLE.c.id == team_id, _TABLE.c.organization == organization_id)
    return connection.scalar(query) is not None


def select_teams(at: OrganizationRequest) -> sa.Select[Any]:
    """Return a query of an organization's teams with the columns that `serialize_team` reads, counts included."""
    inside = sa.select(sa.func.count()).where(team_members.c.team == _TABLE.c.id)
    given = sa.select(sa.func.count()).where(permissions.c.kind == "team", permissions.c.subject == _TABLE.c.id)
    live = given.where(permissions.c.content == spaces.c.id, spaces.c.deleted_at.is_(None))
    mine = inside.where(team_members.c.user == at.caller.user_id, team_members.c.role == "owner")
    counts = (
        inside.correlate(_TABLE).scalar_subquery().label("members"),
        live.correlate(_TABLE).scalar_subquery().label("spaces"),
        mine.correlate(_TABLE).scalar_subquery().label("owned"),
    )
    return sa.select(_TABLE, *counts).where(_TABLE.c.organization == at.organization_id)


def _match_teams_owned_by(organization_id: str, user_id: str) -> sa.ColumnElement[bool]:
    owned = sa.select(team_members.c.team).where(team_members.c.user == user_id, team_members.c.role == "owner")
    table = accounts.members
    admin = sa.select(table.c.user).where(
        table.c.organization == organization_id, table.c.user == user_id, table.c.role == "admin"
    )
    return sa.or_(_TABLE.c.id.in_(owned), admin.exists())


def _can_change_team(connection: sa.Connection, at: OrganizationRequest, team_id: str) -> bool:
    require_member(connection, at.caller, at.organization_id)
    here = (_TABLE.c.id == team_id, _TABLE.c.organization == at.organization_id)
    mine = sa.select(_TABLE.c.id).where(*here, _match_teams_owned_by(at.organization_id, at.caller.user_id))
    return connection.scalar(mine) is not None


def _read_team(connection: sa.Connection, at: OrganizationRequest, team_id: str) -> dict[str, Any]:
    role = require_member(connection, at.caller, at.organization_id).role
    return serialize_team(require_team(connection, at, team_id), role)


def serialize_team(row: sa.Row[Any], caller_role: str | None) -> dict[str, Any]:
    """Return a row of `require_team` as the Team of the API, with the caller's permissions."""
    return {
        "object": "team",
        "id": row.id,
        "title": row.title,
        "members": row.members,
        "spaces": row.spaces,
        "createdAt": row.created_at,
        "permissions": {
            "admin": bool(row.owned) or is_role_at_least(caller_role, "admin"),
            "view": is_role_at_least(caller_role, "read"),
        },
    }
