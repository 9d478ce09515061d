"""Store former values of what a site's plan has changed, so that it can be rolled back; old ones are deleted."""

import sqlite3
from dataclasses import asdict
from itertools import starmap
from pathlib import Path

from syncd.store.database import Database
from syncd.store.schema import BACKUPS
from syncd.store.status import SITES_SINCE, Backup, read_database

KEPT_PLANS = 50
"""Plans of one site whose former values are kept."""
_NEWEST_FIRST = "SELECT site, digest, at, document FROM backups WHERE :site IN (site, '') ORDER BY at DESC, digest"
_DELETION = """
    DELETE FROM backups WHERE site = :site AND digest <> :digest AND (
        at < :since OR digest NOT IN (SELECT digest FROM backups WHERE site = :site ORDER BY at DESC LIMIT :kept)
    )
"""


class Backups:
    """What plans changed, by site and digest; a plan that runs again takes its own place."""

    def __init__(self, database: Database) -> None:
        """Keep backups in the state database."""
        self._database = database

    def save(self, backup: Backup, *, since: str) -> None:
        """Save what a plan is about to change; delete backups of the site that are older than `since` or beyond the
        limit.
        """

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(BACKUPS.upsert, asdict(backup))
            limits = {"site": backup.site, "digest": backup.digest, "since": since, "kept": KEPT_PLANS}
            connection.execute(_DELETION, limits)

        self._database.write(work)

    def delete(self, site: str, digest: str) -> None:
        """Delete the backup of a plan, if there is one."""
        where = {"site": site, "digest": digest}
        self._database.write(lambda connection: connection.execute(BACKUPS.delete("site", "digest"), where))

    def list_backups(self, site: str = "") -> list[Backup]:
        """Return the backups of a site, or with "" of all sites, newest first."""

        return self._database.read(lambda connection: _list_backups(connection, site))


def read_backups(path: Path) -> list[Backup]:
    """Return the backups of all sites in the state database at a path, newest first, and write nothing.

    Raises: StoreError when it exists and cannot be read.
    """
    return read_database(
        path, lambda connection, version: _list_backups(connection, "") if version >= SITES_SINCE else [], []
    )


def _list_backups(connection: sqlite3.Connection, site: str) -> list[Backup]:
    return list(starmap(Backup, connection.execute(_NEWEST_FIRST, {"site": site})))
