"""Members of an organization, and the invitations by which people become one."""

from collections.abc import Iterator

from syncd.api.lists import iterate_list
from syncd.api.operation import operation
from syncd.api.transport import Transport
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
        """Given an organization's id, return its members."""
        return iterate_list(self._transport, ("orgs", organization, "members"), Listing[Member])

    @operation("getMemberInOrganizationById")
    def get(self, organization: str, user: str) -> Member:
        """Given the ids of an organization and a user, return the member."""
        return self._transport.call("GET", ("orgs", organization, "members", user), Member)

    @operation("updateMemberInOrganizationById")
    def update(self, organization: str, user: str, changes: MemberUpdate) -> Member:
        """Given the ids of an organization and a user and a role, return the member with it."""
        return self._transport.call("PATCH", ("orgs", organization, "members", user), Member, body=changes.wire())

    @operation("removeMemberFromOrganizationById")
    def delete(self, organization: str, user: str) -> None:
        """Given the ids of an organization and a user, end the membership; that there was none is success too."""
        self._transport.delete(("orgs", organization, "members", user))

    @operation("inviteUsersToOrganization")
    def invite(self, organization: str, invite: InviteCreate) -> Invited:
        """Given an organization's id, e-mail addresses and a role, make their owners members."""
        return self._transport.call("POST", ("orgs", organization, "invites"), Invited, body=invite.wire())

    @operation("joinOrganizationWithInvite")
    def accept(self, organization: str, invite: str) -> None:
        """Given an organization's id and an invite link's, become a member of the organization."""
        self._transport.send("POST", ("orgs", organization, "invites", invite))

    @operation("listOrganizationInviteLinks")
    def list_link_invites(self, organization: str) -> Iterator[LinkInvite]:
        """Given an organization's id, return its invite links."""
        return iterate_list(self._transport, ("orgs", organization, "link-invites"), Listing[LinkInvite])

    @operation("createOrganizationInviteLink")
    def create_link_invite(self, organization: str, invite: LinkInviteCreate) -> LinkInvite:
        """Given an organization's id and a role, return a new invite link that gives it.

        Raises: AnswerLost when it may or may not have been created.
        """
        return self._transport.call("POST", ("orgs", organization, "link-invites"), LinkInvite, body=invite.wire())

    @operation("getOrganizationInviteLink")
    def get_link_invite(self, organization: str, invite: str) -> LinkInvite:
        """Given the ids of an organization and an invite link, return the link."""
        return self._transport.call("GET", ("orgs", organization, "link-invites", invite), LinkInvite)

    @operation("updateOrganizationInviteLink")
    def update_link_invite(self, organization: str, invite: str, changes: LinkInviteUpdate) -> LinkInvite:
        """Given the ids of an organization and an invite link and a role, return the link that gives it."""
        path = ("orgs", organization, "link-invites", invite)
        return self._transport.call("PATCH", path, LinkInvite, body=changes.wire())

    @operation("deleteOrganizationInviteById")
    def delete_link_invite(self, organization: str, invite: str) -> None:
        """Given the ids of an organization and an invite link, end the link; that it was not there is success too."""
        self._transport.delete(("orgs", organization, "link-invites", invite))
