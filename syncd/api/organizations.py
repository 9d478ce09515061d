"""Organizations: the owners of spaces and sites."""

from collections.abc import Iterator

from syncd.api.lists import iterate
from syncd.api.transport import Transport
from syncd.model.listing import Listing
from syncd.model.organization import Organization


class Organizations:
    """Operations on organizations. Source: API document, Organizations."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self) -> Iterator[Organization]:
        """Return every organization of the token's user."""
        return iterate(self._transport, ("orgs",), Listing[Organization])

    def get(self, organization: str) -> Organization:
        """Given an organization's id, return it."""
        return self._transport.call("GET", ("orgs", organization), Organization)
