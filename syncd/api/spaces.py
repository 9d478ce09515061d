"""Spaces: pages and files in numbered revisions."""

from collections.abc import Iterator

from syncd.api.lists import iterate
from syncd.api.transport import Transport
from syncd.model.listing import Listing
from syncd.model.space import Space, SpaceCreate, SpaceUpdate


class Spaces:
    """Operations on spaces. Source: API document, Spaces; list and create: content-write §7."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(self, space: str) -> Space:
        """Given a space's id, return it; its `revision` says whether content moved."""
        return self._transport.call("GET", ("spaces", space), Space)

    def list(self, organization: str) -> Iterator[Space]:
        """Given an organization's id, return all of its spaces."""
        return iterate(self._transport, ("orgs", organization, "spaces"), Listing[Space])

    def create(self, organization: str, space: SpaceCreate) -> Space:
        """Given an organization's id and what the space shall be, return the new space.

        Raises: AnswerLost when it may or may not have been created.
        """
        return self._transport.call("POST", ("orgs", organization, "spaces"), Space, body=space.wire())

    def update(self, space: str, changes: SpaceUpdate) -> Space:
        """Given a space's id and the members to change, return the space as it is then."""
        return self._transport.call("PATCH", ("spaces", space), Space, body=changes.wire())
