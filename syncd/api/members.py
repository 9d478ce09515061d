"""Members of an organization, and the invitations by which people become one."""

from collections.abc import Iterator

from syncd.api.lists import iterate_list
from syncd.api.operation import operation
from syncd.api.transport.transport import Transport
from syncd.model.listing import Listing
from syncd.model.member import (
    InviteCreate,
    Invited,
    LinkInvite,
    LinkInviteCreate,
    LinkInviteUpdate,
    Member,
    MemberUpdate,
)


class Members:
    """Operations on members and invitations; all but `delete_link_invite` are beyond the document."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @operation("listMembersInOrganizationById")
    def list(self, organization: str) -> Iterator[Member]:
        """Return the members of an organization."""
        return iterate_list(self._transport, ("orgs", organization, "members"), Listing[Member])

    @operation("getMemberInOrganizationById")
    def get(self, organization: str, user: str) -> Member:
        """Return a member of an organization."""
        return self._transport.call("GET", ("orgs", organization, "members", user), Member)

    @operation("updateMemberInOrganizationById")
    def update(self, organization: str, user: str, changes: MemberUpdate) -> Member:
        """Change the role of a member, and return the member."""
        return self._transport.call("PATCH", ("orgs", organization, "members", user), Member, body=changes.wire())

    @operation("removeMemberFromOrganizationById")
    def delete(self, organization: str, user: str) -> None:
        """End a membership; success too when there was none."""
        self._transport.delete(("orgs", organization, "members", user))

    @operation("inviteUsersToOrganization")
    def invite(self, organization: str, invite: InviteCreate) -> Invited:
        """Make the owners of e-mail addresses members with a role."""
        return self._transport.call("POST", ("orgs", organization, "invites"), Invited, body=invite.wire())

    @operation("joinOrganizationWithInvite")
    def accept(self, organization: str, invite: str) -> None:
        """Join an organization by an invite link."""
        self._transport.send("POST", ("orgs", organization, "invites", invite))

    @operation("listOrganizationInviteLinks")
    def list_link_invites(self, organization: str) -> Iterator[LinkInvite]:
        """Return the invite links of an organization."""
        return iterate_list(self._transport, ("orgs", organization, "link-invites"), Listing[LinkInvite])

    @operation("createOrganizationInviteLink")
    def create_link_invite(self, organization: str, invite: LinkInviteCreate) -> LinkInvite:
        """Create an invite link that gives a role, and return it.

        Raises: AnswerLost when it may or may not have been created.
        """
        return self._transport.call("POST", ("orgs", organization, "link-invites"), LinkInvite, body=invite.wire())

    @operation("getOrganizationInviteLink")
    def get_link_invite(self, organization: str, invite: str) -> LinkInvite:
        """Return an invite link."""
        return self._transport.call("GET", ("orgs", organization, "link-invites", invite), LinkInvite)

    @operation("updateOrganizationInviteLink")
    def update_link_invite(self, organization: str, invite: str, changes: LinkInviteUpdate) -> LinkInvite:
        """Change the role that an invite link gives, and return the link."""
        path = ("orgs", organization, "link-invites", invite)
        return self._transport.call("PATCH", path, LinkInvite, body=changes.wire())

    @operation("deleteOrganizationInviteById")
    def delete_link_invite(self, organization: str, invite: str) -> None:
        """Delete an invite link; success too when it did not exist."""
        self._transport.delete(("orgs", organization, "link-invites", invite))
