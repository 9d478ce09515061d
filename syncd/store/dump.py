"""Write the state database as texts that are the same for the same rows, and read them again on another machine.

What a run came to and when it looked is left out: it changes with every run, and nobody goes on from it. So are saved
plans of sites, with people's approvals, and former values: they are for commands on one machine.
"""

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from syncd.errors import StoreError, StoreNewer
from syncd.store.database import Database
from syncd.store.schema import BACKUPS, DETAILS, LOOKS, OUTCOMES, PLANS, TABLES, VERSION, Table

_DUMPED = tuple(table for table in TABLES if table not in (OUTCOMES, DETAILS, LOOKS, PLANS, BACKUPS))
_VERSION = "version"


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
        """Return each table that has rows, by its name: a line of JSON for each row, in the order of the key.

        Raises: StoreError.
        """

        def work(connection: sqlite3.Connection) -> dict[str, bytes]:
            found = {}
            for table in _DUMPED:
                rows = connection.execute(table.select()).fetchall()
                if rows:
                    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
                    found[table.name] = ("\n".join(lines) + "\n").encode("utf-8")
            return found

        return {_VERSION: f"{VERSION}\n".encode(), **self._database.read(work)}

    def write_tables(self, tables: Mapping[str, bytes]) -> None:
        """Replace the rows of all tables by those of a dump; what a run came to is forgotten.

        Shape: a dump of an older syncd has fewer tables. Raises: StoreNewer, StoreError.
        """
        version = tables.get(_VERSION, b"").strip()
        if not version.isdigit():
            raise StoreError("the dump of the state names no version")
        if int(version) > VERSION:
            what = f"the state of the repository was written by a newer syncd (schema {int(version)})"
            raise StoreNewer(what, hint="upgrade syncd here")
        rows = {table: list(_parse_rows(table, tables.get(table.name, b""))) for table in _DUMPED}

        def work(connection: sqlite3.Connection) -> None:
            for table in TABLES:
                connection.execute(table.delete())
                connection.executemany(table.upsert, rows.get(table, ()))

        self._database.write(work)


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
