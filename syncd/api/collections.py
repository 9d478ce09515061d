"""Collections: spaces and further collections under one name."""

from collections.abc import Iterator

from syncd.api.lists import iterate_list
from syncd.api.operation import operation
from syncd.api.transport.transport import Transport
from syncd.model.collection import Collection, CollectionCreate, CollectionUpdate, Move, Transfer
from syncd.model.listing import Listing
from syncd.model.space import Space


class Collections:
    """Operations on collections. Source: API document, Collections."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @operation("listCollectionsInOrganizationById")
    def list(self, organization: str, nested: bool | None = None) -> Iterator[Collection]:
        """Return the collections of an organization; without nested ones only when `nested` is False."""
        path = ("orgs", organization, "collections")
        return iterate_list(self._transport, path, Listing[Collection], params={"nested": nested})

    @operation("createCollection")
    def create(self, organization: str, collection: CollectionCreate) -> Collection:
        """Create a collection, and return it.

        Raises: AnswerLost when it may or may not have been created.
        """
        path = ("orgs", organization, "collections")
        return self._transport.call("POST", path, Collection, body=collection.wire())

    @operation("getCollectionById")
    def get(self, collection: str) -> Collection:
        """Return a collection."""
        return self._transport.call("GET", ("collections", collection), Collection)

    @operation("updateCollectionById")
    def update(self, collection: str, changes: CollectionUpdate) -> Collection:
        """Change a collection, and return it."""
        return self._transport.call("PATCH", ("collections", collection), Collection, body=changes.wire())

    @operation("deleteCollectionById")
    def delete(self, collection: str) -> None:
        """Delete a collection; success too when it did not exist.

        Raises: Rejected with status 409 by the embedded platform when something is in it.
        """
        self._transport.delete(("collections", collection))

    @operation("listSpacesInCollectionById")
    def list_spaces(self, collection: str) -> Iterator[Space]:
        """Return the spaces in a collection."""
        return iterate_list(self._transport, ("collections", collection, "spaces"), Listing[Space])

    @operation("moveCollection")
    def move(self, collection: str, move: Move) -> Collection:
        """Move a collection to a parent and a position, and return it."""
        return self._transport.call("POST", ("collections", collection, "move"), Collection, body=move.wire())

    @operation("transferCollection")
    def transfer(self, collection: str, transfer: Transfer) -> Collection:
        """Move a collection to another organization, and return it."""
        return self._transport.call("POST", ("collections", collection, "transfer"), Collection, body=transfer.wire())
