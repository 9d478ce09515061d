"""Merge rules: whether a change request may be merged now, and if not, which rule says so and what would satisfy it."""

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from syncd.model.merge_check import LatestReview, MergeFacts, list_unmet_rules
from syncd.model.merge_rules import ObservedMergeRules
from syncd.platform.http.failures import Failure
from syncd.platform.schema import accounts
from syncd.platform.schema.reviews import reviews


def find_effective_rules(connection: sa.Connection, space: sa.Row[Any]) -> Mapping[str, Any]:
    """Return the merge rules for a space's change requests: its own, or those that it inherits from its
    organization.
    """
    own: Mapping[str, Any] = space.merge_rules
    if own.get("type") != "inherit":
        return own
    table = accounts.organizations
    details = connection.scalar(sa.select(table.c.details).where(table.c.id == space.organization)) or {}
    # Above an organization there is nothing to inherit.
    above: Mapping[str, Any] = details.get("mergeRules", {})
    return above


def require_merge_rules(
    connection: sa.Connection, space: sa.Row[Any], row: sa.Row[Any], *, caller: str, outdated: bool
) -> None:
    """Require that the space's merge rules allow `caller` to merge a change request.

    Raises: Failure 412 naming the rule that forbids it. The document shows no status for that: 412 is what it has for
    "cannot be done as things are" (@gitbook/api 0.146.0), and sets it apart from 403 (ask for a stronger role)
    and from 409 (the change request is merged or archived).
    """
    rules = find_effective_rules(connection, space)
    if rules.get("type") != "rules":
        return
    described = bool(row.description) and any(row.description.get("nodes") or ())
    given = find_latest_reviews(connection, row.id, revision=row.revision)
    facts = MergeFacts(caller, row.created_by, row.subject, described, outdated, given)
    unmet = next(list_unmet_rules(ObservedMergeRules.model_validate(rules), facts), None)
    if unmet is not None:
        reason = unmet.remedy or "this platform cannot evaluate it; an administrator can remove it or allow a bypass"
        raise Failure(412, f"A merge rule forbids to merge change request {row.number}. {unmet.rule.rule}: {reason}.")


def find_latest_reviews(connection: sa.Connection, change_request: str, *, revision: str) -> dict[str, LatestReview]:
    """Return the latest review of a change request by each reviewer; `revision` is the one that it has now."""
    query = sa.select(reviews.c.reviewer, reviews.c.status, reviews.c.revision).order_by(reviews.c.seq)
    rows = connection.execute(query.where(reviews.c.change_request == change_request))
    return {row.reviewer: LatestReview(row.status, row.revision == revision) for row in rows}
