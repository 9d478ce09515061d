"""Plans that wait for a person: held, approved for a day, used once."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta

from syncd.errors import ConfigInvalid, StalePlan
from syncd.plan.site.render.document import render_plan_document
from syncd.plan.site.render.text import render_plan_text
from syncd.plan.site.steps import Gate, SitePlan
from syncd.store.status import PendingPlan
from syncd.sync.workspace import Workspace

VALID = timedelta(hours=24)
"""How long an approval holds."""


def find_closed_gates(workspace: Workspace, plan: SitePlan) -> tuple[Gate, ...]:
    """Return the gates of a plan that nobody has opened, by force with their exact number or by approving the plan."""
    closed = tuple(gate for gate in plan.gates if workspace.force.get(gate.scope) != gate.count)
    return () if not closed or is_approved(workspace, plan) else closed


def is_approved(workspace: Workspace, plan: SitePlan) -> bool:
    """Return whether somebody approved exactly this plan, less than a day ago."""
    digest = plan.digest
    return any(
        one.digest == digest and is_approval_valid(one, workspace.now())
        for one in workspace.store.plans.list_pending(plan.site)
    )


def is_approval_valid(pending: PendingPlan, now: datetime) -> bool:
    """Return whether a pending plan is approved and the approval still counts."""
    if not pending.approved:
        return False
    age = now - datetime.fromisoformat(pending.approved)
    return timedelta() <= age <= VALID


def hold_plan(workspace: Workspace, plan: SitePlan, file: str) -> None:
    """Save a plan with closed gates until a person has decided."""
    at = workspace.now().isoformat(timespec="seconds")
    words = {"plan": render_plan_document(plan), "text": render_plan_text(plan)}
    document = json.dumps(words, ensure_ascii=False, default=str)
    plans = workspace.store.plans
    if any(one.approved and not is_approval_valid(one, workspace.now()) for one in plans.list_pending(plan.site)):
        plans.delete(plan.site)  # yesterday's approval is none: the plan has to be read again
    plans.save_pending(PendingPlan(plan.site, plan.digest, file, document, at))


def find_held_plan(held: Sequence[PendingPlan], beginning: str) -> PendingPlan:
    """Return the pending plan whose digest begins so.

    Raises: ConfigInvalid when several do; StalePlan when none does.
    """
    fitting = [plan for plan in held if beginning and plan.digest.startswith(beginning)]
    if len(fitting) > 1:
        several = ", ".join(plan.digest for plan in fitting)
        raise ConfigInvalid(f"{beginning} stands for {len(fitting)} plans: {several}", hint="type more of the digest")
    if not fitting:
        waiting = ", ".join(plan.digest for plan in held)
        raise StalePlan(
            f"no plan {beginning} waits for approval",
            hint=f"waiting: {waiting}"
            if waiting
            else "none waits: it was applied, or things have changed since; syncd site plan",
        )
    return fitting[0]
