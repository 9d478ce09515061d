"""The memory of one repository: anchors and outcomes. It may be deleted at the cost of time, never of data."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any, Self

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

from syncd.model.anchor import Anchor
from syncd.store.backups import Backups
from syncd.store.database import Database
from syncd.store.plans import Plans
from syncd.store.schema import addresses, anchors, outcomes, requests, seen
from syncd.store.site_ownership import SiteOwnership
from syncd.store.status import FlowOutcome, read_store_summary

_ANCHOR = ("id", "kind", "path", "form", "fingerprint", "oid")
_values = attrgetter(*_ANCHOR)


@dataclass(frozen=True)
class LastSeen:
    """One lane of a space as it was last in step: the revision, the commit, and every anchor by id.

    Shape: `shape` is a digest of the page tree without its texts; "" when it is not known.
    """

    revision: str
    commit: str
    anchors: dict[str, Anchor]
    shape: str = ""


class Store:
    """The state database of one repository; a context manager."""

    def __init__(self, path: Path) -> None:
        """Open the state database at a path, or create one. Raises: StoreNewer, StoreError, DiskFull."""
        self._database = Database(path)
        self.plans = Plans(self._database)
        self.backups = Backups(self._database)
        self.ownership = SiteOwnership(self._database)
        self._shown: set[tuple[str, str]] = set()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person should know: each damaged database that was moved aside, and where it is now."""
        return tuple(
            f"the state database was damaged and begun anew; the former one is {path}"
            for path in self._database.moved_aside
        )

    def read_last_seen(self, space: str, lane: str = "main") -> LastSeen | None:
        """Return what was last saved of a lane, "main" or a change request's id, or None."""

        def work(connection: sa.Connection) -> LastSeen | None:
            row = connection.execute(sa.select(seen).where(*_match_lane(seen, space, lane))).first()
            if row is None:
                return None
            columns = [anchors.c[name] for name in _ANCHOR]
            rows = connection.execute(sa.select(*columns).where(*_match_lane(anchors, space, lane))).fetchall()
            return LastSeen(
                row.revision, row.commit, {anchor.id: anchor for anchor in map(Anchor._make, rows)}, row.shape
            )

        found = self._database.read(work)
        if found is not None:
            self._shown.add((space, lane))
        return found

    def save_last_seen(
        self,
        space: str,
        lane: str,
        *,
        revision: str,
        commit: str,
        put: Iterable[Anchor],
        removed: Iterable[str],
        replace: bool = False,
        shape: str = "",
    ) -> None:
        """Save what changed in a lane in one transaction; `replace` deletes all former anchors first.

        A change to anchors that this store once returned and has lost since is not saved: a part must never pass for
        the whole. Raises: DiskFull, StoreError.
        """
        where = {"space": space, "lane": lane}
        rows = [where | dict(zip(_ANCHOR, _values(anchor), strict=True)) for anchor in put]
        gone = [{"gone": id} for id in removed]

        def work(connection: sa.Connection) -> None:
            if not replace and (space, lane) in self._shown and not _has_lane(connection, space, lane):
                return
            _upsert(connection, seen, [where | {"revision": revision, "commit": commit, "shape": shape}])
            if replace:
                connection.execute(anchors.delete().where(*_match_lane(anchors, space, lane)))
            elif gone:
                connection.execute(
                    anchors.delete().where(*_match_lane(anchors, space, lane), anchors.c.id == sa.bindparam("gone")),
                    gone,
                )
            _upsert(connection, anchors, rows)

        self._database.write(work)

    def forget(self, space: str, lane: str) -> None:
        """Delete everything about a lane."""

        def work(connection: sa.Connection) -> None:
            for table in (seen, anchors):
                connection.execute(table.delete().where(*_match_lane(table, space, lane)))

        self._database.write(work)
        self._shown.discard((space, lane))

    def record(self, results: Iterable[FlowOutcome], *, whole: bool = False) -> None:
        """Save the outcomes of flows in place of their former ones, in one transaction.

        Shape: with `whole`, outcomes of all other flows are deleted: what they were about is not configured any more.
        """
        rows = [asdict(result) for result in results]

        def work(connection: sa.Connection) -> None:
            if whole:
                connection.execute(outcomes.delete())
            _upsert(connection, outcomes, rows)

        self._database.write(work)

    def list_outcomes(self) -> list[FlowOutcome]:
        """Return the last outcome of every flow, by flow and key."""
        return list(read_store_summary(self._database.path).outcomes)

    def record_addresses(self, space: str, by_page: Mapping[str, str]) -> None:
        """Save the addresses where people read the pages of a space, by page id, in place of all former ones.

        Shape: what is known already is not written again.
        """
        columns = sa.select(addresses.c.page, addresses.c.address).where(addresses.c.space == space)
        rows = self._database.read(lambda connection: connection.execute(columns).all())
        known = {row.page: row.address for row in rows}
        new = [{"space": space, "page": id, "address": text} for id, text in by_page.items() if known.get(id) != text]
        gone = [{"id": id} for id in known if id not in by_page]
        deletion = addresses.delete().where(addresses.c.space == space, addresses.c.page == sa.bindparam("id"))

        def work(connection: sa.Connection) -> None:
            if gone:
                connection.execute(deletion, gone)
            _upsert(connection, addresses, new)

        if new or gone:
            self._database.write(work)

    def record_request(self, space: str, number: int, facts: str) -> None:
        """Save the facts about a change request, as JSON, in place of the former ones."""
        row = {"space": space, "number": str(number), "facts": facts}
        self._database.write(lambda connection: _upsert(connection, requests, [row]))

    def read_request(self, space: str, number: int) -> str:
        """Return the facts last saved about a change request, or ""."""
        chosen = sa.select(requests.c.facts).where(requests.c.space == space, requests.c.number == str(number))
        return self._database.read(lambda connection: connection.execute(chosen).scalar()) or ""

    def forget_request(self, space: str, number: int) -> None:
        """Delete the facts about a change request."""
        gone = requests.delete().where(requests.c.space == space, requests.c.number == str(number))
        self._database.write(lambda connection: connection.execute(gone))

    def close(self) -> None:
        """Close the database; nothing may use this store afterwards."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _match_lane(table: sa.Table, space: str, lane: str) -> tuple[sa.ColumnElement[bool], ...]:
    return table.c.space == space, table.c.lane == lane


def _has_lane(connection: sa.Connection, space: str, lane: str) -> bool:
    return connection.execute(sa.select(seen.c.lane).where(*_match_lane(seen, space, lane))).first() is not None


def _upsert(connection: sa.Connection, table: sa.Table, rows: list[dict[str, Any]]) -> None:
    if not rows:
        return
    insert = sqlite.insert(table)
    values = {column.name: insert.excluded[column.name] for column in table.c if not column.primary_key}
    connection.execute(insert.on_conflict_do_update(index_elements=list(table.primary_key), set_=values), rows)
