"""Addresses by text: remembered, else from the database, else found in the text and kept there."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

import sqlalchemy as sa

from syncd.layout.page import links
from syncd.platform.cache import Cache
from syncd.platform.database.tables import insert_new
from syncd.platform.http.time_limits import check_time
from syncd.platform.schema.links import addresses
from syncd.platform.storage.storage import Storage

ADDRESSES_MAX = 2_000
"""Addresses of one text that count."""
ADDRESS_MAX = 2_048
"""Characters of an address; a longer one, such as an image that is written out, is none that anybody follows."""

_REMEMBERED = 1_000_000
_ASKED_AT_ONCE = 5_000
_READ_AT_ONCE = 1_000
_CHARACTERS_AT_ONCE = 2_000_000
_cache: Cache[str, tuple[str, ...]] = Cache(_REMEMBERED, weigh=lambda found: 1 + len(found))


def find_addresses(storage: Storage, bodies: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """Return the addresses in texts by their blob ids; a text is read only once, then its addresses are in the
    database.
    """
    wanted = dict.fromkeys(bodies)
    found = {body: known for body in wanted if (known := _cache.get(body)) is not None}
    missing = [body for body in wanted if body not in found]
    with storage.read() as connection:
        for start in range(0, len(missing), _ASKED_AT_ONCE):
            query = sa.select(addresses).where(addresses.c.body.in_(missing[start : start + _ASKED_AT_ONCE]))
            for row in connection.execute(query):
                found[row.body] = _cache.put(row.body, tuple(row.found))
    for read in _read_texts(storage, [body for body in missing if body not in found]):
        found |= read
        with storage.write() as connection:
            insert_new(connection, addresses, [{"body": body, "found": list(held)} for body, held in read.items()])
        # Who asks again goes on from here.
        check_time(even_written=True)
    return found


def _read_texts(storage: Storage, bodies: Iterable[str]) -> Iterator[dict[str, tuple[str, ...]]]:
    """The addresses of texts that nobody asked for before, in parts that are kept at once."""
    part: dict[str, tuple[str, ...]] = {}
    size = 0
    for body in bodies:
        text = storage.blobs.get(body).decode()
        part[body] = _cache.put(body, _extract_addresses(text))
        size += len(text)
        if len(part) == _READ_AT_ONCE or size > _CHARACTERS_AT_ONCE:
            yield part
            part, size = {}, 0
    if part:
        yield part


def _extract_addresses(text: str) -> tuple[str, ...]:
    each = dict.fromkeys(target.text for target in links.find_targets(text) if len(target.text) <= ADDRESS_MAX)
    return tuple(islice(each, ADDRESSES_MAX))
