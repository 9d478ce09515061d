"""Pagination: the envelope of every list endpoint, and a cursor that stays valid when rows come and go."""

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Annotated, Any, TypeVar

import sqlalchemy as sa
from fastapi import Depends, Query

from syncd.platform.http.failures import Failure

T = TypeVar("T")
Measure = Callable[[Sequence[T]], Sequence[int]]

LIMIT_MAX = 1000
"""Source: API document, Limits."""
LIMIT_DEFAULT = 50
"""The document does not show the default page size; small enough that clients must learn to follow `next`."""
PAGE_BYTES = 1024 * 1024
"""The size of one page of a list; further items come with the next page, whatever the limit is."""
CURSOR_MAX = 2048
"""Characters of a cursor; those that this server makes are shorter."""
_NUMBER = re.compile(r"-?[0-9]{1,18}")


@dataclass(frozen=True)
class ListQuery:
    """The query parameters of a list; `page` is a cursor from an earlier answer."""

    page: str | None
    limit: int | None

    def paginate(
        self,
        items: Sequence[T],
        *,
        key: Callable[[T], str],
        descending: bool = False,
        measure: Measure[T] | None = None,
    ) -> dict[str, Any]:
        """Return the requested page of all items; see the function `paginate`. Raises: Failure 400 as that."""
        return paginate(items, page=self.page, limit=self.limit, key=key, descending=descending, measure=measure)

    def paginate_rows(
        self, connection: sa.Connection, query: sa.Select[Any], *by: sa.ColumnElement[Any], descending: bool = False
    ) -> dict[str, Any]:
        """Return the requested page of a query's rows in the envelope, ordered by text or integer columns.

        Shape: the columns together are unique, never change for a row and contain no space. Raises: as `paginate`.
        """
        size = resolve_page_size(self.limit)
        keyed = query.add_columns(*(column.label(f"_key{at}") for at, column in enumerate(by)))
        keyed = keyed.order_by(*(column.desc() for column in by)) if descending else keyed.order_by(*by)
        if self.page is not None:
            last = _split_cursor_key(decode_cursor(self.page), by)
            keyed = keyed.where(sa.tuple_(*by) < last if descending else sa.tuple_(*by) > last)
        fits = _count_fitting_rows(connection, keyed, query, size)
        found = connection.execute(keyed.limit(fits + 1)).all()
        counted = query.with_only_columns(*by, maintain_column_froms=True).subquery()
        total = connection.scalar(sa.select(sa.func.count()).select_from(counted))
        envelope: dict[str, Any] = {"items": found[:fits], "count": total}
        if 0 < fits < len(found):
            envelope["next"] = {"page": encode_cursor(" ".join(map(str, found[fits - 1][-len(by) :])))}
        return envelope


async def _read_paging(
    page: Annotated[str | None, Query(max_length=CURSOR_MAX)] = None,
    limit: Annotated[int | None, Query(ge=0, le=LIMIT_MAX)] = None,
) -> ListQuery:
    return ListQuery(page, limit)


Paging = Annotated[ListQuery, Depends(_read_paging)]
"""A handler's parameter for the query parameters `page` and `limit`."""


def paginate(
    items: Sequence[T],
    *,
    page: str | None,
    limit: int | None,
    key: Callable[[T], str],
    descending: bool = False,
    measure: Measure[T] | None = None,
) -> dict[str, Any]:
    """Return the envelope `{items, next?, count}` of the items behind the cursor, in the order of `key`.

    Shape: `key` is unique and never changes for an item, and orders the list as text (an ISO time then the id). The
    items in the envelope are the ones given; a caller renders them afterwards, so that only one page is rendered.
    `measure` returns the bytes that each of some items takes; without it, none takes many.
    Raises: Failure 400 for a limit outside 0 to 1000 or a cursor that this server did not make.
    """
    size = resolve_page_size(limit)
    ordered = sorted(items, key=key, reverse=descending)
    rest = ordered if page is None else _skip_to_cursor(ordered, decode_cursor(page), key, descending)
    if measure is not None and size:
        size = max(1, count_fitting(measure(rest[:size])))
    envelope: dict[str, Any] = {"items": rest[:size], "count": len(ordered)}
    # A page of size 0 has no last item to continue from; without `next`, no client can loop on it.
    if 0 < size < len(rest):
        envelope["next"] = {"page": encode_cursor(key(rest[size - 1]))}
    return envelope


def count_fitting(sizes: Iterable[int]) -> int:
    """Return how many items fit on one page, from their sizes in bytes, in order."""
    return sum(total <= PAGE_BYTES for total in accumulate(sizes))


def resolve_page_size(limit: int | None) -> int:
    """Return the page size for the parameter `limit`. Raises: Failure 400 when it is outside 0 to 1000."""
    if limit is None:
        return LIMIT_DEFAULT
    if not 0 <= limit <= LIMIT_MAX:
        raise Failure(400, f"limit: must be from 0 to {LIMIT_MAX}")
    return limit


def encode_cursor(key: str) -> str:
    """Return the cursor of the next page, from the key of the last item of this one."""
    return base64.urlsafe_b64encode(key.encode()).decode().rstrip("=")


def decode_cursor(page: str) -> str:
    """Return the key in a cursor. Raises: Failure 400 when this server did not create the cursor."""
    try:
        # Encoded again and compared, because the decoder skips characters that are not in its alphabet.
        key = base64.urlsafe_b64decode(page + "=" * (-len(page) % 4)).decode()
    except (binascii.Error, ValueError):
        key = ""
    if not key or encode_cursor(key) != page:
        raise Failure(400, "page: not a page identifier of this list")
    return key


def _count_fitting_rows(connection: sa.Connection, keyed: sa.Select[Any], query: sa.Select[Any], size: int) -> int:
    """Return how many rows fit on a page: at least one, so that a reader reaches the end of the list."""
    documents = [column for column in query.selected_columns if isinstance(column.type, sa.JSON)]
    if not documents or size <= 1:
        return size
    # An estimate, because stored JSON may escape characters beyond ASCII; no document is read into memory for it.
    lengths = [sa.func.coalesce(sa.func.length(sa.cast(column, sa.Text)), 0) for column in documents]
    sizes = list(connection.scalars(keyed.with_only_columns(sum(lengths, sa.literal(0))).limit(size)))
    return size if sum(sizes) <= PAGE_BYTES else max(1, count_fitting(sizes))


def _split_cursor_key(key: str, by: Sequence[sa.ColumnElement[Any]]) -> tuple[str | int, ...]:
    parts = key.split(" ")
    # No text in the database has the character NUL; PostgreSQL refuses to compare with one.
    if (
        len(parts) != len(by)
        or "\0" in key
        or any(_is_number(column) and not _NUMBER.fullmatch(part) for part, column in zip(parts, by, strict=True))
    ):
        raise Failure(400, "page: not a page identifier of this list")
    return tuple(int(part) if _is_number(column) else part for part, column in zip(parts, by, strict=True))


def _is_number(column: sa.ColumnElement[Any]) -> bool:
    return isinstance(column.type, sa.Integer)


def _skip_to_cursor(ordered: list[T], last: str, key: Callable[[T], str], descending: bool) -> list[T]:
    if descending:
        return [item for item in ordered if key(item) < last]
    return [item for item in ordered if key(item) > last]
