"""Revisions: numbered, immutable states of a space's content; each is a row that names the root of a shared tree."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import sqlalchemy as sa

from syncd.platform.cache import Cache
from syncd.platform.http.failures import Failure
from syncd.platform.revisions import tree
from syncd.platform.revisions.outline import Draft, Outline, open_outline
from syncd.platform.schema.content import revisions
from syncd.platform.storage.storage import Storage
from syncd.platform.storage.times import format_time

_REMEMBERED = 4_096
_cache: Cache[str, "RevisionRecord"] = Cache(_REMEMBERED)


@dataclass(frozen=True, slots=True)
class RevisionRecord:
    """A revision as the database stores it."""

    id: str
    space: str
    parents: tuple[str, ...]
    root: bytes
    type: str
    merged_from: str | None
    created_at: str
    created_by: str | None


@dataclass(frozen=True, slots=True)
class RevisionOrigin:
    """Where a new revision comes from."""

    space: str
    parents: Sequence[str]
    type: str = "edits"
    by: str | None = None
    merged_from: str | None = None


def insert_revision(
    storage: Storage, connection: sa.Connection, draft: Draft, origin: RevisionOrigin
) -> RevisionRecord:
    """Store the tree of a draft, and a new revision of it, and return the revision."""
    root, rows = draft.hash_tree()
    tree.insert_nodes(connection, rows)
    return insert_revision_of_tree(storage, connection, root, origin)


def insert_revision_of_tree(
    storage: Storage, connection: sa.Connection, root: bytes, origin: RevisionOrigin
) -> RevisionRecord:
    """Store a new revision of a tree whose nodes are stored already, and return it."""
    last = sa.select(sa.func.coalesce(sa.func.max(revisions.c.seq), 0)).where(revisions.c.space == origin.space)
    saved = RevisionRecord(
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


def require_revision(connection: sa.Connection, space: str, id: str) -> RevisionRecord:
    """Return a revision of a space. Raises: Failure 404 when the space has none with this id."""
    saved = _cache.get(id)
    if saved is None:
        row = connection.execute(sa.select(revisions).where(revisions.c.id == id)).one_or_none()
        saved = None if row is None else _cache.put(id, _build_record(row))
    if saved is None or saved.space != space:
        raise Failure(404, f"No revision {id} in space {space}.")
    return saved


def open_revision(connection: sa.Connection, space: str, id: str) -> Outline:
    """Return the tree of a space's revision. Raises: Failure 404, as `require_revision`."""
    return open_outline(connection, require_revision(connection, space, id).root)


def _build_record(row: sa.Row[Any]) -> RevisionRecord:
    return RevisionRecord(
        row.id, row.space, tuple(row.parents), row.root, row.type, row.merged_from, row.created_at, row.created_by
    )
