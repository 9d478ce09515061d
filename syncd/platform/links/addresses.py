"""Addresses by text: remembered, else from the database, else found in the text and kept there."""

from collections.abc import Iterable, Mapping
from itertools import islice

import sqlalchemy as sa

from syncd.layout import links
from syncd.platform.cache import Cache
from syncd.platform.links.schema import addresses
from syncd.platform.storage import Storage
from syncd.platform.tables import insert_new

ADDRESSES_MAX = 2_000
"""Addresses of one text that count."""
ADDRESS_MAX = 2_048
"""Characters of an address; a longer one, such as an image that is written out, is none that anybody follows."""

_REMEMBERED = 1_000_000
_ASKED_AT_ONCE = 5_000
_READ_AT_ONCE = 1_000
_cache: Cache[str, tuple[str, ...]] = Cache(_REMEMBERED, weigh=lambda found: 1 + len(found))


def found_in(storage: Storage, bodies: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """Given blob ids of texts, return the addresses in each; a text is read only the first time that anybody asks."""
    wanted = dict.fromkeys(bodies)
    found = {body: known for body in wanted if (known := _cache.get(body)) is not None}
    missing = [body for body in wanted if body not in found]
    with storage.read() as connection:
        for start in range(0, len(missing), _ASKED_AT_ONCE):
            query = sa.select(addresses).where(addresses.c.body.in_(missing[start : start + _ASKED_AT_ONCE]))
            for row in connection.execute(query):
                found[row.body] = _cache.put(row.body, tuple(row.found))
    unread = iter([body for body in missing if body not in found])
    while batch := tuple(islice(unread, _READ_AT_ONCE)):
        read = {body: _cache.put(body, _addresses(storage.blobs.get(body).decode())) for body in batch}
        found |= read
        with storage.write() as connection:
            insert_new(connection, addresses, [{"body": body, "found": list(held)} for body, held in read.items()])
    return found


def _addresses(text: str) -> tuple[str, ...]:
    each = dict.fromkeys(target.text for target in links.targets(text) if len(target.text) <= ADDRESS_MAX)
    return tuple(islice(each, ADDRESSES_MAX))
