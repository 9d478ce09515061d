"""Record what syncd owns on sites until a commit of the lock file has it.

An entry is recorded as soon as it is true. Some requests are recorded before they are sent: when the answer is lost,
nothing else says whether they were carried out.
"""

import sqlite3
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass

from syncd.store.database import Database
from syncd.store.schema import BEGUN, LOCKS, OWNED, Table


@dataclass(frozen=True)
class OwnershipBase:
    """The lock file that the rows of a site add to: `place` is where it is kept, `serial` is its number."""

    site: str
    place: str
    lineage: str
    serial: int


class SiteOwnership:
    """What syncd owns of each site, by ref; an entry is JSON, or "" for what syncd does not own any more."""

    def __init__(self, database: Database) -> None:
        """Keep the ownership of sites in the state database."""
        self._database = database

    def read_base(self, site: str) -> OwnershipBase | None:
        """Return the lock file on which the entries of a site are based, or None when there are none."""

        def work(connection: sqlite3.Connection) -> OwnershipBase | None:
            row = connection.execute(LOCKS.select("site"), {"site": site}).fetchone()
            return OwnershipBase(row[0], row[1], row[2], int(row[3])) if row is not None else None

        return self._database.read(work)

    def read_entries(self, site: str) -> dict[str, str]:
        """Return the entries of a site by ref."""
        return self._read_texts(OWNED, site)

    def read_requests(self, site: str) -> dict[str, str]:
        """Return the requests of a site, as JSON by ref, whose outcome is not known yet."""
        return self._read_texts(BEGUN, site)

    def _read_texts(self, table: Table, site: str) -> dict[str, str]:
        rows = self._database.read(
            lambda connection: connection.execute(table.select("site"), {"site": site}).fetchall()
        )
        return {ref: text for _, ref, text in rows}

    def save_requests(self, site: str, requests: Mapping[str, str]) -> None:
        """Save requests by ref that are about to be sent."""
        rows = [{"site": site, "ref": ref, "request": request} for ref, request in requests.items()]
        self._database.write(lambda connection: connection.executemany(BEGUN.upsert, rows))

    def save_entries(
        self, basis: OwnershipBase, entries: Mapping[str, str], *, whole: bool = False, ended: Collection[str] = ()
    ) -> None:
        """Save entries by ref in one transaction; `whole` deletes all former entries first.

        Shape: `ended` are the refs of requests whose outcome is known now.
        """
        rows = [{"site": basis.site, "ref": ref, "entry": entry} for ref, entry in entries.items()]

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(LOCKS.upsert, asdict(basis) | {"serial": str(basis.serial)})
            if whole:
                connection.execute(OWNED.delete("site"), {"site": basis.site})
            connection.executemany(OWNED.upsert, rows)
            connection.executemany(BEGUN.delete("site", "ref"), [{"site": basis.site, "ref": ref} for ref in ended])

        self._database.write(work)
