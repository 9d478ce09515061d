"""The memory of one repository: anchors and outcomes. It may be deleted at the cost of time, never of data."""

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from syncd.model.anchor import Anchor
from syncd.store.backups import Backups
from syncd.store.database import Database
from syncd.store.plans import Plans
from syncd.store.schema import ADDRESSES, ANCHORS, DETAILS, OUTCOMES, PAGES, REQUESTS, SEEN
from syncd.store.site_ownership import SiteOwnership
from syncd.store.status import FlowOutcome, read_store_summary

_ANCHORS_OF_LANE = "SELECT id, kind, path, form, fingerprint, oid FROM anchors WHERE space = :space AND lane = :lane"
_SOME_ANCHORS = "SELECT id, kind, path, form, fingerprint, oid FROM anchors WHERE space = :space AND lane = :lane AND \
(kind <> 'page' OR path IN (SELECT value FROM json_each(:paths)))"


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

        where = {"space": space, "lane": lane}

        def work(connection: sqlite3.Connection) -> LastSeen | None:
            row = connection.execute(SEEN.select("space", "lane"), where).fetchone()
            if row is None:
                return None
            _, _, revision, commit, shape = row
            anchors = map(Anchor._make, connection.execute(_ANCHORS_OF_LANE, where))
            return LastSeen(revision, commit, {anchor.id: anchor for anchor in anchors}, shape)

        found = self._database.read(work)
        if found is not None:
            self._shown.add((space, lane))
        return found

    def read_lane(self, space: str, lane: str = "main") -> LastSeen | None:
        """Return what `read_last_seen` returns, without the anchors."""
        where = {"space": space, "lane": lane}
        row = self._database.read(lambda connection: connection.execute(SEEN.select(*where), where).fetchone())
        if row is None:
            return None
        self._shown.add((space, lane))
        _, _, revision, commit, shape = row
        return LastSeen(revision, commit, {}, shape)

    def find_anchors(self, space: str, paths: Iterable[str] | None, lane: str = "main") -> list[Anchor]:
        """Return the anchors of a lane at some paths, and of all that is no page; with None, all anchors.

        Shape: the paths are text.
        """
        where = {"space": space, "lane": lane}
        if paths is None:
            return self._database.read(
                lambda connection: list(map(Anchor._make, connection.execute(_ANCHORS_OF_LANE, where)))
            )
        some = where | {"paths": json.dumps(list(paths))}
        return self._database.read(lambda connection: list(map(Anchor._make, connection.execute(_SOME_ANCHORS, some))))

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
        rows = [where | anchor._asdict() for anchor in put]
        gone = [where | {"id": id} for id in removed]

        def work(connection: sqlite3.Connection) -> None:
            is_known = connection.execute(SEEN.select("space", "lane"), where).fetchone() is not None
            if not replace and (space, lane) in self._shown and not is_known:
                return
            connection.execute(SEEN.upsert, where | {"revision": revision, "commit": commit, "shape": shape})
            if replace:
                connection.execute(ANCHORS.delete("space", "lane"), where)
            else:
                connection.executemany(ANCHORS.delete("space", "lane", "id"), gone)
            connection.executemany(ANCHORS.upsert, rows)

        self._database.write(work)

    def forget(self, space: str, lane: str) -> None:
        """Delete everything about a lane."""

        def work(connection: sqlite3.Connection) -> None:
            for table in (SEEN, ANCHORS):
                connection.execute(table.delete("space", "lane"), {"space": space, "lane": lane})

        self._database.write(work)
        self._shown.discard((space, lane))

    def record(self, results: Iterable[FlowOutcome], *, whole: bool = False) -> None:
        """Save the outcomes of flows in place of their former ones, in one transaction.

        Shape: with `whole`, outcomes of all other flows are deleted: what they were about is not configured any more.
        What a page came to in a branch is kept for each branch.
        """
        found = [asdict(result) for result in results]
        rows, pages = [row for row in found if not row["branch"]], [row for row in found if row["branch"]]

        def work(connection: sqlite3.Connection) -> None:
            if whole:
                connection.execute(OUTCOMES.delete())
                connection.execute(DETAILS.delete())
                connection.execute(PAGES.delete())
            for table in (OUTCOMES, DETAILS):
                connection.executemany(table.upsert, rows)
                # Where an older version kept the page of one branch.
                connection.executemany(table.delete("flow", "key"), pages)
            connection.executemany(PAGES.upsert, pages)

        self._database.write(work)

    def list_outcomes(self) -> list[FlowOutcome]:
        """Return the last outcome of every flow, by flow and key."""
        return list(read_store_summary(self._database.path).outcomes)

    def record_addresses(self, space: str, by_page: Mapping[str, str]) -> None:
        """Save the addresses where people read the pages of a space, by page id, in place of all former ones.

        Shape: what is known already is not written again.
        """
        chosen = ADDRESSES.select("space")
        rows = self._database.read(lambda connection: connection.execute(chosen, {"space": space}).fetchall())
        known = {page: address for _, page, address in rows}
        new = [{"space": space, "page": id, "address": text} for id, text in by_page.items() if known.get(id) != text]
        gone = [{"space": space, "page": id} for id in known if id not in by_page]

        def work(connection: sqlite3.Connection) -> None:
            connection.executemany(ADDRESSES.delete("space", "page"), gone)
            connection.executemany(ADDRESSES.upsert, new)

        if new or gone:
            self._database.write(work)

    def record_request(self, space: str, number: int, facts: str) -> None:
        """Save the facts about a change request, as JSON, in place of the former ones."""
        row = {"space": space, "number": str(number), "facts": facts}
        self._database.write(lambda connection: connection.execute(REQUESTS.upsert, row))

    def read_request(self, space: str, number: int) -> str:
        """Return the facts last saved about a change request, or ""."""
        chosen, where = REQUESTS.select("space", "number"), {"space": space, "number": str(number)}
        row = self._database.read(lambda connection: connection.execute(chosen, where).fetchone())
        return str(row[2]) if row is not None else ""

    def forget_request(self, space: str, number: int) -> None:
        """Delete the facts about a change request."""
        where = {"space": space, "number": str(number)}
        self._database.write(lambda connection: connection.execute(REQUESTS.delete("space", "number"), where))

    def close(self) -> None:
        """Close the database; nothing may use this store afterwards."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
