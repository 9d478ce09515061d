"""Write the state database as texts that are the same for the same rows, and read them again on another machine.

A table with many rows is in parts, by a hash of each row's key: a row that changes changes one part, and whoever keeps
the texts keeps the others as they are.

What a run came to and when it looked is left out: it changes with every run, and nobody goes on from it. So are former
values, which are for commands on one machine, and plans of sites with approvals, which have a place of their own.
"""

import json
import sqlite3
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from syncd.errors import StoreError, StoreNewer
from syncd.store.database import Database
from syncd.store.schema import BACKUPS, DETAILS, LOOKS, OUTCOMES, PAGES, PLANS, TABLES, VERSION, Table

_DUMPED = tuple(table for table in TABLES if table not in (OUTCOMES, DETAILS, PAGES, LOOKS, PLANS, BACKUPS))
_VERSION = "version"
_ROWS_MAX = 64
"""Of a part on average, before there are more of them; about as many as one change of a space puts into each."""
_MORE = 4
"""How many times more parts there are then: rarely, since all rows move."""
_HAS_PARTS = 1000
"""Added to the version, so that a syncd that knows no parts refuses them."""


class Dump:
    """The state database of one repository, beside a run that uses it; a context manager."""

    def __init__(self, path: Path) -> None:
        """Open the state database at a path, or create one. Raises: StoreNewer, StoreError, DiskFull."""
        self._database = Database(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()

    def read_change(self) -> int:
        """Return a number that is another one once somebody else has changed the database. Raises: StoreError.

        Source: SQLite, PRAGMA data_version.
        """

        def work(connection: sqlite3.Connection) -> int:
            number: int = connection.execute("PRAGMA data_version").fetchone()[0]
            return number

        return self._database.read(work)

    def read_tables(self) -> dict[str, bytes]:
        """Return the rows of each table by its name, or in parts as `name/part`: a line of JSON for each row, in the
        order of the key.

        Shape: equal rows give equal texts. Raises: StoreError.
        """

        def work(connection: sqlite3.Connection) -> dict[str, bytes]:
            found: dict[str, bytes] = {}
            for table in _DUMPED:
                found |= _render_parts(table, connection.execute(table.select()).fetchall())
            return found

        return {_VERSION: f"{_HAS_PARTS + VERSION}\n".encode(), **self._database.read(work)}

    def write_tables(self, tables: Mapping[str, bytes]) -> None:
        """Replace the rows of all tables by those of a dump; what a run came to is forgotten.

        Shape: a dump of an older syncd has fewer tables, and no parts. Raises: StoreNewer, StoreError.
        """
        text = tables.get(_VERSION, b"").strip()
        if not text.isdigit():
            raise StoreError("the dump of the state names no version")
        version = int(text) - (_HAS_PARTS if int(text) > _HAS_PARTS else 0)
        if version > VERSION:
            what = f"the state of the repository was written by a newer syncd (schema {version})"
            raise StoreNewer(what, hint="upgrade syncd here")
        texts: dict[str, bytes] = {}
        for name, text in tables.items():
            table_name = name.partition("/")[0]
            texts[table_name] = texts.get(table_name, b"") + text
        rows = {table: list(_parse_rows(table, texts.get(table.name, b""))) for table in _DUMPED}

        def work(connection: sqlite3.Connection) -> None:
            for table in TABLES:
                connection.execute(table.delete())
                connection.executemany(table.upsert, rows.get(table, ()))

        self._database.write(work)


def _render_parts(table: Table, rows: Sequence[Sequence[str]]) -> dict[str, bytes]:
    """The rows of a table as lines, in as many parts as keep each of them small."""
    count = 1
    while len(rows) > _ROWS_MAX * count:
        count *= _MORE
    parts: dict[str, list[str]] = {}
    for row in rows:
        name = table.name
        if count > 1:
            key = json.dumps(row[: len(table.key)], ensure_ascii=False).encode("utf-8")
            name = f"{table.name}/{zlib.crc32(key) % count:04x}"
        parts.setdefault(name, []).append(json.dumps(row, ensure_ascii=False))
    return {name: ("\n".join(lines) + "\n").encode("utf-8") for name, lines in sorted(parts.items())}


def _parse_rows(table: Table, data: bytes) -> list[dict[str, str]]:
    names = (*table.key, *table.values)
    try:
        rows = [json.loads(line) for line in data.decode("utf-8").split("\n")[:-1]]
    except ValueError as error:
        raise StoreError(f"the dump of {table.name} cannot be read") from error
    if not all(
        isinstance(row, list) and len(row) == len(names) and all(isinstance(v, str) for v in row) for row in rows
    ):
        raise StoreError(f"the dump of {table.name} cannot be read")
    return [dict(zip(names, row, strict=True)) for row in rows]
