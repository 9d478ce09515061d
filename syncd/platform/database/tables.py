"""What all tables share: one catalogue, types that behave alike on SQLite and PostgreSQL, and two ways to write.

Each module of `schema` registers its tables here, and `tables_all` imports every one of them.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql, sqlite

metadata = sa.MetaData()
"""The one table catalogue; the revisions in `migrations` say the same, and a test compares the two."""

Text = sa.String().with_variant(sa.String(collation="C"), "postgresql")
"""Ids, keys, times and names: compared and sorted byte by byte, as SQLite does anyway, whatever the server's locale."""

Json = sa.JSON
"""A document whose members keep their order. PostgreSQL cannot compare two of them: no DISTINCT and no GROUP BY."""

Rows = Sequence[Mapping[str, Any]]


def insert_new(connection: sa.Connection, table: sa.Table, rows: Rows) -> int:
    """Insert the rows that violate no unique constraint, and return their number; existing rows stay as they are.

    Shape: all rows have the same members.
    """
    if not rows:
        return 0
    insert = _create_insert(connection, table).on_conflict_do_nothing().execution_options(preserve_rowcount=True)
    return connection.execute(insert, list(rows)).rowcount


def upsert(connection: sa.Connection, table: sa.Table, rows: Rows, *, key: Collection[str]) -> None:
    """Insert rows, or update the existing rows with the same key.

    Shape: all rows have the same members; `key` names the columns of the primary key or of a unique constraint. An
    existing row keeps the columns that `rows` do not have.
    """
    if not rows:
        return
    insert = _create_insert(connection, table)
    values = {name: insert.excluded[name] for name in rows[0] if name not in key}
    if values:
        connection.execute(insert.on_conflict_do_update(index_elements=list(key), set_=values), list(rows))
    else:
        connection.execute(insert.on_conflict_do_nothing(index_elements=list(key)), list(rows))


def _create_insert(connection: sa.Connection, table: sa.Table) -> "postgresql.Insert | sqlite.Insert":
    # Each dialect has a class of its own for the same clause; the other dialect is never imported.
    if connection.dialect.name == "postgresql":
        from sqlalchemy.dialects import postgresql

        return postgresql.insert(table)
    from sqlalchemy.dialects import sqlite

    return sqlite.insert(table)
