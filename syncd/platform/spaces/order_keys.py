"""The order of the spaces and collections under one parent: each has a key, and a key fits between any two.

A move writes only the key of the moved item. Keys grow when items are moved to the same position again and again, so
all keys under a parent are renumbered evenly before they grow too long.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from syncd.model.collection import Position, Sibling
from syncd.platform.http.failures import Failure
from syncd.platform.schema.collections import collections
from syncd.platform.schema.content import spaces

KEY_MAX = 64
"""Characters of a key, beyond which all keys under a parent are made anew."""

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_MIDDLE = _DIGITS[len(_DIGITS) // 2]


@dataclass(frozen=True)
class Container:
    """What spaces and collections are in: a collection, or the organization itself when `parent` is None."""

    organization: str
    parent: str | None


def compute_key_between(low: str, high: str | None) -> str:
    """Return a key between two keys; `high` None is behind every key.

    Shape: `low` sorts before `high`, and neither ends with `0`, so that there is always room.
    """
    key = ""
    while True:
        at = len(key)
        first = _DIGITS.index(low[at]) if at < len(low) else 0
        last = len(_DIGITS) if high is None else _DIGITS.index(high[at]) if at < len(high) else 0
        if last - first > 1:
            return key + _DIGITS[(first + last) // 2]
        key += _DIGITS[first]
        if first < last:
            # Behind this digit, everything sorts before `high`.
            high = None


def compute_last_key(connection: sa.Connection, container: Container, now: datetime) -> str:
    """Return an order key behind all siblings in a container: usually the time, so that keys stay short."""
    key = f"{int(now.timestamp() * 1000):013d}{_MIDDLE}"
    standing = _select_siblings(container)
    last = connection.scalar(sa.select(sa.func.max(standing.c.position)))
    if last is None or last < key:
        return key
    if len(last) < KEY_MAX:
        return f"{last}{_MIDDLE}"
    _renumber_keys(connection, container)
    return key


def compute_key_at(connection: sa.Connection, container: Container, id: str, position: Position) -> str | None:
    """Return the order key of something that is put at a position among its siblings; None when it is there already.

    Raises: Failure 400 when the position names no sibling, or two that are not next to each other.
    """
    low, high = _find_neighbours(connection, container, id, position)
    standing = _select_siblings(container)
    former = connection.execute(sa.select(standing).where(standing.c.id == id)).one_or_none()
    if (
        former is not None
        and _get_sort_key(low) < _get_sort_key(former)
        and (high is None or _get_sort_key(former) < _get_sort_key(high))
    ):
        return None
    key = _compute_short_key(low, high)
    if key is None:
        _renumber_keys(connection, container)
        low, high = _find_neighbours(connection, container, id, position)
        key = _compute_short_key(low, high)
    assert key is not None
    return key


def _compute_short_key(low: sa.Row[Any] | None, high: sa.Row[Any] | None) -> str | None:
    """Return a key between two, or None when there is none or it would be too long."""
    under, over = "" if low is None else low.position, None if high is None else high.position
    if over is not None and under >= over:
        return None
    key = f"{under}{_MIDDLE}" if over is None else compute_key_between(under, over)
    return key if len(key) < KEY_MAX else None


def _find_neighbours(
    connection: sa.Connection, container: Container, id: str, position: Position
) -> tuple[sa.Row[Any] | None, sa.Row[Any] | None]:
    """Return what will stand just before, and just behind, what is put at a position."""
    standing = _select_siblings(container)
    others = sa.select(standing).where(standing.c.id != id)
    key = sa.tuple_(standing.c.position, standing.c.id)

    def find_sibling(sibling: Sibling) -> sa.Row[Any]:
        row = connection.execute(
            others.where(standing.c.id == sibling.id, standing.c.type == sibling.type)
        ).one_or_none()
        if row is None:
            raise Failure(400, f"position: no {sibling.type} {sibling.id} stands beside it")
        return row

    def next_to(row: sa.Row[Any], *, behind: bool) -> sa.Row[Any] | None:
        order = (standing.c.position, standing.c.id)
        if behind:
            query = others.where(key > _get_sort_key(row)).order_by(*order)
        else:
            query = others.where(key < _get_sort_key(row)).order_by(*(column.desc() for column in order))
        return connection.execute(query.limit(1)).one_or_none()

    high = None if position.before is None else find_sibling(position.before)
    if position.after is None:
        assert high is not None
        return next_to(high, behind=False), high
    low = find_sibling(position.after)
    follower = next_to(low, behind=True)
    if high is not None and (follower is None or follower.id != high.id):
        raise Failure(400, "position: `after` and `before` do not stand side by side")
    return low, follower


def _renumber_keys(connection: sa.Connection, container: Container) -> None:
    """Make all keys under a parent anew; they sort before any time, which is what is put at the end."""
    standing = _select_siblings(container)
    ordered = connection.execute(sa.select(standing).order_by(standing.c.position, standing.c.id)).all()
    for number, row in enumerate(ordered, 1):
        table = spaces if row.type == "space" else collections
        values = {"position": f"{number:013d}{_MIDDLE}"}
        connection.execute(table.update().where(table.c.id == row.id).values(values))


def _select_siblings(container: Container) -> sa.Subquery:
    def of(table: sa.Table, type: str) -> sa.Select[Any]:
        here = (table.c.organization == container.organization, table.c.parent == container.parent)
        columns = (table.c.id, table.c.position, sa.literal_column(f"'{type}'", sa.String).label("type"))
        return sa.select(*columns).where(*here)

    live = of(spaces, "space").where(spaces.c.deleted_at.is_(None))
    return sa.union_all(live, of(collections, "collection")).subquery()


def _get_sort_key(row: sa.Row[Any] | None) -> tuple[str, str]:
    return ("", "") if row is None else (row.position, row.id)
