"""Direct access to single spaces or collections; the same operations for both."""

from collections.abc import Iterator

from syncd.api.lists import iterate_list
from syncd.api.operation import operation
from syncd.api.transport.transport import Transport
from syncd.model.listing import Listing
from syncd.model.team import Permission, PermissionsAdd, PermissionUpdate


class SpacePermissions:
    """Operations on the direct access to a space; all are beyond the document."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @operation("inviteToSpace")
    def invite(self, space: str, permissions: PermissionsAdd) -> None:
        """Give users and teams roles in a space."""
        self._transport.send("POST", ("spaces", space, "permissions"), body=permissions.wire())

    @operation("listPermissionsForUsersInSpace")
    def list_users(self, space: str) -> Iterator[Permission]:
        """Return the people who have direct access to a space."""
        return iterate_list(self._transport, ("spaces", space, "permissions", "users"), Listing[Permission])

    @operation("listPermissionsForTeamsInSpace")
    def list_teams(self, space: str) -> Iterator[Permission]:
        """Return the teams that have direct access to a space."""
        return iterate_list(self._transport, ("spaces", space, "permissions", "teams"), Listing[Permission])

    @operation("updateUserPermissionInSpace")
    def update_user(self, space: str, user: str, permission: PermissionUpdate) -> None:
        """Set the role of a user in a space."""
        self._transport.send("PATCH", ("spaces", space, "permissions", "users", user), body=permission.wire())

    @operation("updateTeamPermissionInSpace")
    def update_team(self, space: str, team: str, permission: PermissionUpdate) -> None:
        """Set the role of a team in a space."""
        self._transport.send("PATCH", ("spaces", space, "permissions", "teams", team), body=permission.wire())

    @operation("removeUserFromSpace")
    def delete_user(self, space: str, user: str) -> None:
        """End a user's direct access to a space; success too when there was none."""
        self._transport.delete(("spaces", space, "permissions", "users", user))

    @operation("removeTeamFromSpace")
    def delete_team(self, space: str, team: str) -> None:
        """End a team's direct access to a space; success too when there was none."""
        self._transport.delete(("spaces", space, "permissions", "teams", team))


class CollectionPermissions:
    """Operations on the direct access to a collection; all are beyond the document."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @operation("inviteToCollection")
    def invite(self, collection: str, permissions: PermissionsAdd) -> None:
        """Give users and teams roles in a collection."""
        self._transport.send("POST", ("collections", collection, "permissions"), body=permissions.wire())

    @operation("listPermissionsForUsersInCollection")
    def list_users(self, collection: str) -> Iterator[Permission]:
        """Return the people who have direct access to a collection."""
        return iterate_list(self._transport, ("collections", collection, "permissions", "users"), Listing[Permission])

    @operation("listPermissionsForTeamsInCollection")
    def list_teams(self, collection: str) -> Iterator[Permission]:
        """Return the teams that have direct access to a collection."""
        return iterate_list(self._transport, ("collections", collection, "permissions", "teams"), Listing[Permission])

    @operation("updateUserPermissionInCollection")
    def update_user(self, collection: str, user: str, permission: PermissionUpdate) -> None:
        """Set the role of a user in a collection."""
        path = ("collections", collection, "permissions", "users", user)
        self._transport.send("PATCH", path, body=permission.wire())

    @operation("updateTeamPermissionInCollection")
    def update_team(self, collection: str, team: str, permission: PermissionUpdate) -> None:
        """Set the role of a team in a collection."""
        path = ("collections", collection, "permissions", "teams", team)
        self._transport.send("PATCH", path, body=permission.wire())

    @operation("removeUserFromCollection")
    def delete_user(self, collection: str, user: str) -> None:
        """End a user's direct access to a collection; success too when there was none."""
        self._transport.delete(("collections", collection, "permissions", "users", user))

    @operation("removeTeamFromCollection")
    def delete_team(self, collection: str, team: str) -> None:
        """End a team's direct access to a collection; success too when there was none."""
        self._transport.delete(("collections", collection, "permissions", "teams", team))
