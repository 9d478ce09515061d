"""Search: pages of a space, or of every space of an organization, that have some words."""

from collections.abc import Iterator

from syncd.api.lists import iterate_list
from syncd.api.operation import operation
from syncd.api.transport.transport import Transport
from syncd.model.listing import Listing
from syncd.model.search import SearchPage, SearchSpace


class Search:
    """Searching main content. Source: API document, Space content and Organizations."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @operation("searchSpaceContent")
    def search_space(self, space: str, query: str) -> Iterator[SearchPage]:
        """Return the pages of a space that have the words, the best first."""
        return iterate_list(self._transport, ("spaces", space, "search"), Listing[SearchPage], params={"query": query})

    @operation("searchOrganizationContent")
    def search_organization(self, organization: str, query: str) -> Iterator[SearchSpace]:
        """Return the spaces of an organization with pages that have the words, the best first."""
        return iterate_list(
            self._transport, ("orgs", organization, "search"), Listing[SearchSpace], params={"query": query}
        )
