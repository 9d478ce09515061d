"""How things of a site were before a plan ran, so that it can be taken back; the oldest are forgotten."""

from dataclasses import asdict

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

from syncd.store.database import Database
from syncd.store.glance import Backup
from syncd.store.schema import backups

KEPT_PLANS = 50
"""Plans of one site whose former values are kept."""


class Backups:
    """What plans changed, by site and digest; a plan that runs again takes its own place."""

    def __init__(self, database: Database) -> None:
        """Given the state database, keep them there."""
        self._database = database

    def keep(self, backup: Backup, *, since: str) -> None:
        """Given what a plan is about to change, keep it, and forget what is older than `since` or one too many."""
        of_site = backups.c.site == backup.site
        insert = sqlite.insert(backups).values(asdict(backup))
        values = {"at": backup.at, "document": backup.document}

        def work(connection: sa.Connection) -> None:
            connection.execute(insert.on_conflict_do_update(index_elements=["site", "digest"], set_=values))
            newest = sa.select(backups.c.digest).where(of_site).order_by(backups.c.at.desc()).limit(KEPT_PLANS)
            old = sa.or_(backups.c.at < since, backups.c.digest.not_in(newest))
            connection.execute(backups.delete().where(of_site, backups.c.digest != backup.digest, old))

        self._database.write(work)

    def kept(self, site: str = "") -> list[Backup]:
        """Given a site or nothing, return what is kept of it, or of all, the newest first."""

        def work(connection: sa.Connection) -> list[Backup]:
            chosen = sa.select(backups).order_by(backups.c.at.desc(), backups.c.digest)
            rows = connection.execute(chosen.where(backups.c.site == site) if site else chosen).fetchall()
            return [Backup(**row._mapping) for row in rows]

        return self._database.read(work)
