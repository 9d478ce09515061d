"""Team (`team`): members who are given access together."""

from typing import Annotated, Literal

from pydantic import Field

from syncd.model.base import Declared, Nullable, Observed, ObservedId
from syncd.model.user import User

TITLE_MAX = 64
"""Source: @gitbook/api 0.146.0."""
MEMBERS_MAX = 1000
"""People whom one request names."""

TeamTitle = Annotated[str, Field(min_length=1, max_length=TITLE_MAX, pattern=r"\S")]
MemberIds = Annotated[tuple[Annotated[str, Field(min_length=1, max_length=100)], ...], Field(max_length=MEMBERS_MAX)]
TeamRole = Literal["owner", "member"]


class Team(Observed):
    """A team as the platform shows it. Source: API document, Team."""

    object: Literal["team"] = "team"
    id: ObservedId
    title: str
    members: int
    spaces: int
    created_at: str
    permissions: dict[str, bool] = {}


class TeamCreate(Declared):
    """Body of `PUT …/teams`."""

    title: TeamTitle
    members: MemberIds = ()


class TeamUpdate(Declared):
    """Body of `PATCH …/teams/{teamId}`. Source: @gitbook/api 0.146.0 for what is required."""

    title: TeamTitle


class TeamMember(Observed):
    """A person in a team; an `owner` may change the team."""

    object: Literal["team-member"] = "team-member"
    id: ObservedId
    role: str
    user: User


class TeamMembersUpdate(Declared):
    """Body of `PUT …/teams/{teamId}/members`: whom to add and whom to remove."""

    add: MemberIds = ()
    remove: MemberIds = ()


class TeamMemberWrite(Declared):
    """Body of `PUT …/teams/{teamId}/members/{userId}`."""

    role: TeamRole = "member"


class Permission(Observed):
    """What a person or a team may do with a space or a collection; exactly one of `user` and `team` is there.

    Shape: `permission` is the `role` under the name that clients of the public product read.
    """

    role: Nullable[str]
    permission: Nullable[str] = None
    user: User | None = None
    team: Team | None = None


class PermissionUpdate(Declared):
    """Body of `PATCH …/permissions/users/{userId}` and `…/permissions/teams/{teamId}`."""

    role: Literal["admin", "create", "review", "edit", "comment", "read"]


class Invitee(Declared):
    """Whom to give access to a space or a collection, and how much."""

    user: Annotated[str, Field(min_length=1, max_length=100)]
    role: Literal["admin", "create", "review", "edit", "comment", "read"]


class TeamInvitee(Declared):
    """Which team to give access to a space or a collection, and how much."""

    team: Annotated[str, Field(min_length=1, max_length=100)]
    role: Literal["admin", "create", "review", "edit", "comment", "read"]


class PermissionsAdd(Declared):
    """Body of `POST …/permissions`: who gets access."""

    users: Annotated[tuple[Invitee, ...], Field(max_length=100)] = ()
    teams: Annotated[tuple[TeamInvitee, ...], Field(max_length=100)] = ()
