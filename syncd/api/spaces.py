"""Spaces: pages and files in numbered revisions."""

from collections.abc import Iterator

from syncd.api.lists import iterate_list
from syncd.api.operation import operation
from syncd.api.transport import Transport
from syncd.model.collection import Move, Transfer
from syncd.model.listing import Listing
from syncd.model.space import GitSync, Space, SpaceCreate, SpaceUpdate


class Spaces:
    """Operations on spaces. Source: API document, Spaces; list and create: content-write §7."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @operation("getSpaceById")
    def get(self, space: str, share_key: str | None = None) -> Space:
        """Given a space's id, return it; its `revision` says whether content moved."""
        return self._transport.call("GET", ("spaces", space), Space, params={"shareKey": share_key})

    @operation("getSpaceGitInfo")
    def get_git_info(self, space: str) -> GitSync:
        """Given a space's id, return how a Git provider syncs it. Raises: NotFound when none does."""
        return self._transport.call("GET", ("spaces", space, "git", "info"), GitSync)

    @operation("listSpacesInOrganizationById")
    def list(self, organization: str) -> Iterator[Space]:
        """Given an organization's id, return all of its spaces."""
        return iterate_list(self._transport, ("orgs", organization, "spaces"), Listing[Space])

    @operation("createSpace")
    def create(self, organization: str, space: SpaceCreate) -> Space:
        """Given an organization's id and what the space shall be, return the new space.

        Raises: AnswerLost when it may or may not have been created.
        """
        return self._transport.call("POST", ("orgs", organization, "spaces"), Space, body=space.wire())

    @operation("updateSpaceById")
    def update(self, space: str, changes: SpaceUpdate) -> Space:
        """Given a space's id and the members to change, return the space as it is then."""
        return self._transport.call("PATCH", ("spaces", space), Space, body=changes.wire())

    @operation("deleteSpaceById")
    def delete(self, space: str) -> None:
        """Given a space's id, delete it; it can be restored for seven days. That it was not there is success too."""
        self._transport.delete(("spaces", space))

    @operation("duplicateSpace")
    def duplicate(self, space: str) -> Space:
        """Given a space's id, return a new space with the same content.

        Raises: AnswerLost when it may or may not have been created.
        """
        return self._transport.call("POST", ("spaces", space, "duplicate"), Space)

    @operation("restoreSpace")
    def restore(self, space: str) -> Space:
        """Given the id of a space that was deleted in the last seven days, return it, active again."""
        return self._transport.call("POST", ("spaces", space, "restore"), Space)

    @operation("moveSpace")
    def move(self, space: str, move: Move) -> Space:
        """Given a space's id, a parent collection and a position, return the space, moved there."""
        return self._transport.call("POST", ("spaces", space, "move"), Space, body=move.wire())

    @operation("transferSpace")
    def transfer(self, space: str, transfer: Transfer) -> Space:
        """Given a space's id and another organization, return the space, which belongs to it then."""
        return self._transport.call("POST", ("spaces", space, "transfer"), Space, body=transfer.wire())
