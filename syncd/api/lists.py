"""Complete lists: a list is complete or an error is raised, since something that is absent is never something
deleted."""

from collections.abc import Iterator
from typing import TypeVar

from syncd.api.transport.addresses import Params
from syncd.api.transport.answers import LIMITS
from syncd.api.transport.limits import LIST
from syncd.api.transport.transport import Transport
from syncd.errors import AnswerTooLarge, NotThePlatform, Unreachable
from syncd.model.base import Observed
from syncd.model.listing import Listing

Item = TypeVar("Item", bound=Observed)

LIMIT = 1000
"""Items of one page; the most that the API allows."""
PAGES_MAX = 10_000
ITEMS_MAX = 100_000
"""Items of one list; the longest that people have are redirects and files, by the ten thousand."""
CURSOR_MAX = 4096
"""Characters of what names a page of a list."""
EMPTY_MAX = 100
"""Pages without an item in a row; a few are possible where the platform filters after paging."""


def iterate_list(
    transport: Transport,
    path: tuple[str, ...],
    listing: type[Listing[Item]],
    *,
    params: Params | None = None,
    limit: int = LIMIT,
) -> Iterator[Item]:
    """Yield the items of a list operation, page by page, each of at most `limit` items.

    Raises: NotThePlatform for a cursor that was there before, or pages without end; AnswerTooLarge for items without
    end; Unreachable for fewer items than the platform counts: the list changed while it was read; PlatformError,
    Stopped.
    """
    label = f"GET /{'/'.join(path)}"
    seen: set[str] = set()
    cursor: str | None = None
    items = empty = 0
    while True:
        parameters = {**(params or {}), "limit": limit, "page": cursor}
        page = transport.call("GET", path, listing, params=parameters, limit=LIST)
        yield from page.items
        items += len(page.items)
        if items > ITEMS_MAX:
            raise AnswerTooLarge(f"{label}: the list has more than {ITEMS_MAX} items", hint=LIMITS)
        if page.next is None:
            break
        empty = 0 if page.items else empty + 1
        cursor = page.next.page
        if len(cursor) > CURSOR_MAX:
            raise NotThePlatform(f"{label}: the list goes on at a page of {len(cursor)} characters, which is none")
        if cursor in seen or len(seen) >= PAGES_MAX or empty >= EMPTY_MAX:
            raise NotThePlatform(f"{label}: the pages of the list do not come to an end")
        seen.add(cursor)
    if page.count is not None and items < page.count:
        raise Unreachable(f"{label}: {items} items came, the platform counts {page.count}")
