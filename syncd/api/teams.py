"""Teams: members who are given access together."""

from collections.abc import Iterator

from syncd.api.lists import iterate_list
from syncd.api.operation import operation
from syncd.api.transport import Transport
from syncd.model.listing import Listing
from syncd.model.team import Team, TeamCreate, TeamMember, TeamMembersUpdate, TeamMemberWrite, TeamUpdate


class Teams:
    """Operations on teams. Source: API document, Teams; those on their members are beyond it."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @operation("listTeamsInOrganizationById")
    def list(self, organization: str, owner: str | None = None, title: str | None = None) -> Iterator[Team]:
        """Given an organization's id, return its teams: those that `owner` manages, with `title` in their title."""
        params = {"owner": owner, "title": title}
        return iterate_list(self._transport, _path(organization), Listing[Team], params=params)

    @operation("createOrganizationTeam")
    def create(self, organization: str, team: TeamCreate) -> Team:
        """Given an organization's id, a title and members, return the new team.

        It is a PUT, which is sent again when nobody knows whether it arrived, so that it may make two teams.
        """
        return self._transport.call("PUT", _path(organization), Team, body=team.wire())

    @operation("getTeamInOrganizationById")
    def get(self, organization: str, team: str) -> Team:
        """Given the ids of an organization and a team, return the team."""
        return self._transport.call("GET", _path(organization, team), Team)

    @operation("updateTeamInOrganizationById")
    def update(self, organization: str, team: str, changes: TeamUpdate) -> Team:
        """Given the ids of an organization and a team and a title, return the team with it."""
        return self._transport.call("PATCH", _path(organization, team), Team, body=changes.wire())

    @operation("removeTeamFromOrganizationById")
    def delete(self, organization: str, team: str) -> None:
        """Given the ids of an organization and a team, delete the team; that it was not there is success too."""
        self._transport.delete(_path(organization, team))

    @operation("listTeamMembersInOrganizationById")
    def list_members(self, organization: str, team: str) -> Iterator[TeamMember]:
        """Given the ids of an organization and a team, return who is in the team."""
        return iterate_list(self._transport, _path(organization, team, "members"), Listing[TeamMember])

    @operation("updateMembersInOrganizationTeam")
    def update_members(self, organization: str, team: str, changes: TeamMembersUpdate) -> Listing[TeamMember]:
        """Given a team, whom to add and whom to remove, return the first page of who is in the team then."""
        path = _path(organization, team, "members")
        return self._transport.call("PUT", path, Listing[TeamMember], body=changes.wire())

    @operation("addMemberToOrganizationTeamById")
    def add_member(self, organization: str, team: str, user: str, role: TeamMemberWrite) -> TeamMember:
        """Given a team, a user's id and a role in the team, return the member of the team."""
        return self._transport.call("PUT", _path(organization, team, "members", user), TeamMember, body=role.wire())

    @operation("deleteMemberFromOrganizationTeamById")
    def delete_member(self, organization: str, team: str, user: str) -> None:
        """Given a team and a user's id, take the user out of it; that the user was not in it is success too."""
        self._transport.delete(_path(organization, team, "members", user))


def _path(organization: str, *below: str) -> tuple[str, ...]:
    return ("orgs", organization, "teams", *below)
