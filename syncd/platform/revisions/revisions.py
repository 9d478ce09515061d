"""Revisions: numbered, immutable states of a space's content; each is a row that names the root of a shared tree."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import sqlalchemy as sa

from syncd.platform.cache import Cache
from syncd.platform.http.failures import Failure
from syncd.platform.revisions import tree
from syncd.platform.revisions.outline import Draft, Outline, open_tree
from syncd.platform.schema.content import revisions
from syncd.platform.storage.storage import Storage
from syncd.platform.storage.times import format_time

_REMEMBERED = 4_096
_cache: Cache[str, "Saved"] = Cache(_REMEMBERED)


@dataclass(frozen=True, slots=True)
class Saved:
    """A revision as the database keeps it."""

    id: str
    space: str
    parents: tuple[str, ...]
    root: bytes
    type: str
    merged_from: str | None
    created_at: str
    created_by: str | None


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a new revision comes from."""

    space: str
    parents: Sequence[str]
    type: str = "edits"
    by: str | None = None
    merged_from: str | None = None


def save(storage: Storage, connection: sa.Connection, draft: Draft, origin: Origin) -> Saved:
    """Given a draft and where it comes from, keep its tree and return the new revision."""
    root, rows = draft.seal()
    tree.save(connection, rows)
    return record(storage, connection, root, origin)


def record(storage: Storage, connection: sa.Connection, root: bytes, origin: Origin) -> Saved:
    """Given the root of a tree that is kept already, and where it comes from, return the new revision of it."""
    last = sa.select(sa.func.coalesce(sa.func.max(revisions.c.seq), 0)).where(revisions.c.space == origin.space)
    saved = Saved(
        id=storage.new_id(),
        space=origin.space,
        parents=tuple(origin.parents),
        root=root,
        type=origin.type,
        merged_from=origin.merged_from,
        created_at=format_time(storage.now()),
        created_by=origin.by,
    )
    connection.execute(revisions.insert().values(seq=last.scalar_subquery() + 1, **asdict(saved)))
    return saved


def get(connection: sa.Connection, space: str, id: str) -> Saved:
    """Given a space's and a revision's id, return the revision. Raises: Failure 404 when the space has no such one."""
    saved = _cache.get(id)
    if saved is None:
        row = connection.execute(sa.select(revisions).where(revisions.c.id == id)).one_or_none()
        saved = None if row is None else _cache.put(id, _of_row(row))
    if saved is None or saved.space != space:
        raise Failure(404, f"No revision {id} in space {space}.")
    return saved


def outline(connection: sa.Connection, space: str, id: str) -> Outline:
    """Given a space's and a revision's id, return the revision's tree. Raises: Failure 404."""
    return open_tree(connection, get(connection, space, id).root)


def _of_row(row: sa.Row[Any]) -> Saved:
    return Saved(
        row.id, row.space, tuple(row.parents), row.root, row.type, row.merged_from, row.created_at, row.created_by
    )
