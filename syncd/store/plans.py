"""Store plans that wait for a person's approval, and the state of each site when it was last read."""

from dataclasses import asdict

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

from syncd.store.database import Database
from syncd.store.schema import looks, plans
from syncd.store.status import PendingPlan, SiteState


class Plans:
    """The plans of sites that are held, at most one a site: another plan takes the place of the former."""

    def __init__(self, database: Database) -> None:
        """Keep plans in the state database."""
        self._database = database

    def save_pending(self, plan: PendingPlan) -> None:
        """Save a plan that a person has to approve; one with the same digest keeps its approval and comment."""

        def work(connection: sa.Connection) -> None:
            connection.execute(plans.delete().where(plans.c.site == plan.site, plans.c.digest != plan.digest))
            connection.execute(sqlite.insert(plans).values(asdict(plan)).on_conflict_do_nothing())

        self._database.write(work)

    def list_pending(self, site: str = "") -> list[PendingPlan]:
        """Return the pending plan of a site, or with "" those of all sites, by site."""

        def work(connection: sa.Connection) -> list[PendingPlan]:
            chosen = sa.select(plans).order_by(plans.c.site)
            rows = connection.execute(chosen.where(plans.c.site == site) if site else chosen).fetchall()
            return [PendingPlan(**row._mapping) for row in rows]

        return self._database.read(work)

    def approve(self, plan: PendingPlan, *, at: str, comment: str) -> None:
        """Record that a person approved a pending plan. Shape: `at` is the time as text."""
        chosen = plans.update().where(plans.c.site == plan.site, plans.c.digest == plan.digest)
        self._database.write(lambda connection: connection.execute(chosen.values(approved=at, comment=comment)))

    def delete(self, site: str) -> None:
        """Delete the pending plan of a site: it was applied, or nothing waits for approval any more."""
        self._database.write(lambda connection: connection.execute(plans.delete().where(plans.c.site == site)))

    def read_site_state(self, site: str) -> SiteState | None:
        """Return the state in which a site was when a run last read it, or None."""

        def work(connection: sa.Connection) -> SiteState | None:
            row = connection.execute(sa.select(looks).where(looks.c.site == site)).first()
            return SiteState(**row._mapping) if row is not None else None

        return self._database.read(work)

    def save_site_state(self, look: SiteState) -> None:
        """Save the state of a site in place of the last one."""
        insert = sqlite.insert(looks).values(asdict(look))
        values = {"inputs": look.inputs, "facts": look.facts, "at": look.at}
        self._database.write(
            lambda connection: connection.execute(insert.on_conflict_do_update(index_elements=["site"], set_=values))
        )
