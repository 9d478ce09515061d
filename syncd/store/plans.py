"""Store plans that wait for a person's approval, and the state of each site when it was last read."""

import sqlite3
from collections.abc import Sequence
from dataclasses import asdict
from itertools import starmap

from syncd.store.database import Database
from syncd.store.schema import LOOKS, PLANS
from syncd.store.status import PendingPlan, SiteState


class Plans:
    """The plans of sites that are held, at most one a site: another plan takes the place of the former."""

    def __init__(self, database: Database) -> None:
        """Keep plans in the state database."""
        self._database = database

    def save_pending(self, plan: PendingPlan) -> None:
        """Save a plan that a person has to approve; one with the same digest keeps its approval and comment."""

        def work(connection: sqlite3.Connection) -> None:
            row = asdict(plan)
            connection.execute("DELETE FROM plans WHERE site = :site AND digest <> :digest", row)
            connection.execute(PLANS.insertion, row)

        self._database.write(work)

    def list_pending(self, site: str = "") -> list[PendingPlan]:
        """Return the pending plan of a site, or with "" those of all sites, by site."""
        chosen = PLANS.select("site") if site else PLANS.select()
        return self._database.read(
            lambda connection: list(starmap(PendingPlan, connection.execute(chosen, {"site": site})))
        )

    def replace_pending(self, pending: Sequence[PendingPlan]) -> None:
        """Let these plans be the ones that wait, with their approvals, in place of all former ones."""

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(PLANS.delete())
            connection.executemany(PLANS.insertion, list(map(asdict, pending)))

        self._database.write(work)

    def approve(self, plan: PendingPlan, *, at: str, comment: str) -> None:
        """Record that a person approved a pending plan. Shape: `at` is the time as text."""
        change = "UPDATE plans SET approved = :at, comment = :comment WHERE site = :site AND digest = :digest"
        values = {"at": at, "comment": comment, "site": plan.site, "digest": plan.digest}
        self._database.write(lambda connection: connection.execute(change, values))

    def delete(self, site: str) -> None:
        """Delete the pending plan of a site: it was applied, or nothing waits for approval any more."""
        self._database.write(lambda connection: connection.execute(PLANS.delete("site"), {"site": site}))

    def read_site_state(self, site: str) -> SiteState | None:
        """Return the state in which a site was when a run last read it, or None."""

        def work(connection: sqlite3.Connection) -> SiteState | None:
            row = connection.execute(LOOKS.select("site"), {"site": site}).fetchone()
            return SiteState(*row) if row is not None else None

        return self._database.read(work)

    def save_site_state(self, state: SiteState) -> None:
        """Save the state of a site in place of the last one."""
        self._database.write(lambda connection: connection.execute(LOOKS.upsert, asdict(state)))
