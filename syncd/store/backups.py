"""Store former values of what a site's plan has changed, so that it can be rolled back; old ones are deleted."""

from dataclasses import asdict

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

from syncd.store.database import Database
from syncd.store.schema import backups
from syncd.store.status import Backup

KEPT_PLANS = 50
"""Plans of one site whose former values are kept."""


class Backups:
    """What plans changed, by site and digest; a plan that runs again takes its own place."""

    def __init__(self, database: Database) -> None:
        """Keep backups in the state database."""
        self._database = database

    def save(self, backup: Backup, *, since: str) -> None:
        """Save what a plan is about to change; delete backups of the site that are older than `since` or beyond the
        limit.
        """
        of_site = backups.c.site == backup.site
        insert = sqlite.insert(backups).values(asdict(backup))
        values = {"at": backup.at, "document": backup.document}

        def work(connection: sa.Connection) -> None:
            connection.execute(insert.on_conflict_do_update(index_elements=["site", "digest"], set_=values))
            newest = sa.select(backups.c.digest).where(of_site).order_by(backups.c.at.desc()).limit(KEPT_PLANS)
            old = sa.or_(backups.c.at < since, backups.c.digest.not_in(newest))
            connection.execute(backups.delete().where(of_site, backups.c.digest != backup.digest, old))

        self._database.write(work)

    def list_backups(self, site: str = "") -> list[Backup]:
        """Return the backups of a site, or with "" of all sites, newest first."""

        def work(connection: sa.Connection) -> list[Backup]:
            chosen = sa.select(backups).order_by(backups.c.at.desc(), backups.c.digest)
            rows = connection.execute(chosen.where(backups.c.site == site) if site else chosen).fetchall()
            return [Backup(**row._mapping) for row in rows]

        return self._database.read(work)
