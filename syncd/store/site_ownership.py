"""Record what syncd owns on sites until a commit of the lock file has it.

An entry is recorded as soon as it is true. Some requests are recorded before they are sent: when the answer is lost,
nothing else says whether they were carried out.
"""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

from syncd.store.database import Database
from syncd.store.schema import begun, locks, owned


def _build_upsert(table: sa.Table, key: tuple[str, ...], *names: str) -> sqlite.Insert:
    row = sqlite.insert(table)
    return row.on_conflict_do_update(index_elements=key, set_={name: row.excluded[name] for name in names})


# Made once: a run may write them down thousands of times, and making one takes longer than its writing.
_HEAD = _build_upsert(locks, ("site",), "place", "lineage", "serial")
_ROW = _build_upsert(owned, ("site", "ref"), "entry")
_BEGUN = _build_upsert(begun, ("site", "ref"), "request")
_ALL = owned.delete().where(owned.c.site == sa.bindparam("at"))
_ENDED = begun.delete().where(begun.c.site == sa.bindparam("at"), begun.c.ref == sa.bindparam("of"))


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
        chosen = sa.select(locks).where(locks.c.site == site)

        def work(connection: sa.Connection) -> OwnershipBase | None:
            row = connection.execute(chosen).first()
            return OwnershipBase(row.site, row.place, row.lineage, int(row.serial)) if row is not None else None

        return self._database.read(work)

    def read_entries(self, site: str) -> dict[str, str]:
        """Return the entries of a site by ref."""
        chosen = sa.select(owned.c.ref, owned.c.entry).where(owned.c.site == site).order_by(owned.c.ref)

        def work(connection: sa.Connection) -> dict[str, str]:
            return {row.ref: row.entry for row in connection.execute(chosen).fetchall()}

        return self._database.read(work)

    def read_requests(self, site: str) -> dict[str, str]:
        """Return the requests of a site, as JSON by ref, whose outcome is not known yet."""
        chosen = sa.select(begun.c.ref, begun.c.request).where(begun.c.site == site).order_by(begun.c.ref)

        def work(connection: sa.Connection) -> dict[str, str]:
            return {row.ref: row.request for row in connection.execute(chosen).fetchall()}

        return self._database.read(work)

    def save_requests(self, site: str, requests: Mapping[str, str]) -> None:
        """Save requests by ref that are about to be sent."""
        rows = [{"site": site, "ref": ref, "request": request} for ref, request in requests.items()]
        self._database.write(lambda connection: connection.execute(_BEGUN, rows))

    def save_entries(
        self, basis: OwnershipBase, entries: Mapping[str, str], *, whole: bool = False, ended: Collection[str] = ()
    ) -> None:
        """Save entries by ref in one transaction; `whole` deletes all former entries first.

        Shape: `ended` are the refs of requests whose outcome is known now.
        """
        rows = [{"site": basis.site, "ref": ref, "entry": entry} for ref, entry in entries.items()]

        def work(connection: sa.Connection) -> None:
            connection.execute(_HEAD, asdict(basis) | {"serial": str(basis.serial)})
            if whole:
                connection.execute(_ALL, {"at": basis.site})
            if rows:
                connection.execute(_ROW, rows)
            if ended:
                connection.execute(_ENDED, [{"at": basis.site, "of": ref} for ref in ended])

        self._database.write(work)
