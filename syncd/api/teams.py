"""Teams: members who are given access together."""

from collections.abc import Iterator

from syncd.api.lists import iterate_list
from syncd.api.operation import operation
from syncd.api.transport.transport import Transport
from syncd.model.listing import Listing
from syncd.model.team import Team, TeamCreate, TeamMember, TeamMembersUpdate, TeamMemberWrite, TeamUpdate


class Teams:
    """Operations on teams. Source: API document, Teams; those on their members are beyond it."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @operation("listTeamsInOrganizationById")
    def list(self, organization: str, owner: str | None = None, title: str | None = None) -> Iterator[Team]:
        """Return the teams of an organization: those that `owner` manages, with `title` in their title."""
        params = {"owner": owner, "title": title}
        return iterate_list(self._transport, _path(organization), Listing[Team], params=params)

    @operation("createOrganizationTeam")
    def create(self, organization: str, team: TeamCreate) -> Team:
        """Create a team, and return it.

        It is a PUT, which is sent again when nobody knows whether it arrived, so that it may make two teams.
        """
        return self._transport.call("PUT", _path(organization), Team, body=team.wire())

    @operation("getTeamInOrganizationById")
    def get(self, organization: str, team: str) -> Team:
        """Return a team."""
        return self._transport.call("GET", _path(organization, team), Team)

    @operation("updateTeamInOrganizationById")
    def update(self, organization: str, team: str, changes: TeamUpdate) -> Team:
        """Change the title of a team, and return it."""
        return self._transport.call("PATCH", _path(organization, team), Team, body=changes.wire())

    @operation("removeTeamFromOrganizationById")
    def delete(self, organization: str, team: str) -> None:
        """Delete a team; success too when it did not exist."""
        self._transport.delete(_path(organization, team))

    @operation("listTeamMembersInOrganizationById")
    def list_members(self, organization: str, team: str) -> Iterator[TeamMember]:
        """Return the members of a team."""
        return iterate_list(self._transport, _path(organization, team, "members"), Listing[TeamMember])

    @operation("updateMembersInOrganizationTeam")
    def update_members(self, organization: str, team: str, changes: TeamMembersUpdate) -> Listing[TeamMember]:
        """Add and remove members of a team, and return the first page of its members."""
        path = _path(organization, team, "members")
        return self._transport.call("PUT", path, Listing[TeamMember], body=changes.wire())

    @operation("addMemberToOrganizationTeamById")
    def add_member(self, organization: str, team: str, user: str, role: TeamMemberWrite) -> TeamMember:
        """Add a user to a team with a role, and return the member."""
        return self._transport.call("PUT", _path(organization, team, "members", user), TeamMember, body=role.wire())

    @operation("deleteMemberFromOrganizationTeamById")
    def delete_member(self, organization: str, team: str, user: str) -> None:
        """Remove a user from a team; success too when the user was not in it."""
        self._transport.delete(_path(organization, team, "members", user))


def _path(organization: str, *below: str) -> tuple[str, ...]:
    return ("orgs", organization, "teams", *below)
