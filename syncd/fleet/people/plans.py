"""Plans of sites that wait for an approval, in PostgreSQL: approved from any machine, carried out by any worker.

A run takes them into the state database of its clone, which every flow knows, and gives them back in the transaction
that records it. So an approval is used up by the run that is recorded, and by no other: where a worker dies with an
approved plan, the next one plans anew, and the approval counts for what is left only if that is all of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from syncd.daemon.workspaces import read_time
from syncd.errors import StalePlan
from syncd.fleet.database import FleetDatabase, Row
from syncd.fleet.schedule import wake_repositories
from syncd.store.plans import Plans
from syncd.store.status import PendingPlan

if TYPE_CHECKING:
    import psycopg

Key = tuple[str, str]
"""Site and digest of a plan."""


@dataclass(frozen=True)
class FleetPlan:
    """A plan that waits, and the repository that says what its site is to be.

    Shape: `approved_at` is the time of the database's clock; `plan.approved` is the same by the clock here.
    """

    repository: str
    plan: PendingPlan
    approved_at: datetime | None = None


def list_plans(database: FleetDatabase, *, repository: str = "", beginning: str = "") -> list[FleetPlan]:
    """Return the plans that wait, of one repository or of all, whose digest begins so; by repository and site.

    Raises: FleetUnreachable.
    """
    rows = database.query(
        "SELECT repository, site, digest, file, document, at, comment, approved_at,"
        " extract(epoch FROM clock_timestamp() - approved_at)::float8 FROM syncd_fleet_plans"
        " WHERE %(repository)s IN ('', repository) AND starts_with(digest, %(beginning)s) ORDER BY repository, site",
        {"repository": repository, "beginning": beginning},
    )
    return [
        FleetPlan(repository, PendingPlan(site, digest, file, document, at, _find_approval_time(age), comment), when)
        for repository, site, digest, file, document, at, comment, when, age in rows
    ]


def _find_approval_time(age: float | None) -> str:
    """Return when a plan was approved by the clock here, from how long ago that was; "" for never. Units: seconds."""
    if age is None:
        return ""
    # Clocks of machines differ, and an approval from the future is none: so its age counts, by the database's clock.
    return (read_time() - timedelta(seconds=max(age, 0) + 1)).isoformat(timespec="seconds")


def approve_plan(database: FleetDatabase, waiting: FleetPlan, comment: str) -> str:
    """Approve a plan that waits for one run within a day, wake its repository, and return when that was.

    Raises: StalePlan when it does not wait any more; FleetUnreachable.
    """
    plan = waiting.plan
    with database.transact() as cursor:
        cursor.execute(
            "UPDATE syncd_fleet_plans SET approved_at = clock_timestamp(), comment = %(comment)s"
            " WHERE repository = %(repository)s AND site = %(site)s AND digest = %(digest)s RETURNING approved_at",
            {"repository": waiting.repository, "site": plan.site, "digest": plan.digest, "comment": comment},
        )
        found = cursor.fetchone()
    if found is None:
        raise StalePlan(
            f"no plan {plan.digest} waits for approval",
            hint="it was applied, or things have changed since: read the plan that waits now",
        )
    wake_repositories(database, (waiting.repository,))
    at: datetime = found[0]
    return at.isoformat(timespec="seconds")


def lend_plans(database: FleetDatabase, repository: str, plans: Plans) -> Sequence[FleetPlan]:
    """Let the state database of a clone have the plans of the fleet and no other, and return them.

    Raises: FleetUnreachable, StoreError.
    """
    lent = list_plans(database, repository=repository)
    wanted = [one.plan for one in lent]
    # A database that is written to counts as changed, and all of it would be read to see whether it was.
    if plans.list_pending() != wanted:
        plans.replace_pending(wanted)
    return lent


def keep_plans(
    cursor: "psycopg.Cursor[Row]", repository: str, lent: Sequence[FleetPlan], left: Sequence[PendingPlan]
) -> None:
    """Keep what a run left of the plans that it was lent, in the transaction that records it.

    Shape: an approval that came while it ran stays.
    """
    before: Mapping[Key, FleetPlan] = {(one.plan.site, one.plan.digest): one for one in lent}
    keys = [(one.site, one.digest) for one in left]
    for key, one in before.items():
        if key not in keys:
            cursor.execute(
                "DELETE FROM syncd_fleet_plans"
                " WHERE repository = %(repository)s AND site = %(site)s AND digest = %(digest)s",
                {"repository": repository, "site": one.plan.site, "digest": one.plan.digest},
            )
    for plan in left:
        former = before.get((plan.site, plan.digest))
        if former is not None and former.plan == plan:
            continue
        cursor.execute(
            "INSERT INTO syncd_fleet_plans AS p (repository, site, digest, file, document, at)"
            " VALUES (%(repository)s, %(site)s, %(digest)s, %(file)s, %(document)s, %(at)s)"
            " ON CONFLICT (repository, site, digest) DO UPDATE SET file = excluded.file, document = excluded.document,"
            " at = excluded.at, approved_at = CASE WHEN p.approved_at = %(used)s THEN NULL ELSE p.approved_at END",
            {
                "repository": repository,
                "site": plan.site,
                "digest": plan.digest,
                "file": plan.file,
                "document": plan.document,
                "at": plan.at,
                # What the run was lent as approved and left without was too old.
                "used": former.approved_at if former is not None and not plan.approved else None,
            },
        )
