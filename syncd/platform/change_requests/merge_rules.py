"""Merge rules: whether a change request may be merged now, and if not, which rule says so and what would satisfy it.

All rules of a list must be met; one that lets the caller bypass them overrides the others. Only a reviewer's latest
review counts, and an approval counts for the content that it was given for: a revision later it is outdated. The
author's own review counts only where a rule names the author.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from syncd.platform.http.failures import Failure
from syncd.platform.schema import accounts
from syncd.platform.schema.reviews import reviews

APPROVED = "approved"


@dataclass(frozen=True)
class LatestReview:
    """The latest review of one reviewer."""

    status: str
    is_current: bool

    @property
    def is_approval(self) -> bool:
        """Whether it approves of the content as it is now."""
        return self.status == APPROVED and self.is_current


@dataclass(frozen=True)
class MergeFacts:
    """What rules look at. Shapes: `reviews` is by reviewer."""

    caller: str
    author: str
    subject: str
    has_description: bool
    is_outdated: bool
    reviews: Mapping[str, LatestReview]

    @property
    def others(self) -> list[LatestReview]:
        """The reviews of everybody but the author."""
        return [review for reviewer, review in self.reviews.items() if reviewer != self.author]

    def is_approved_by(self, user: str) -> bool:
        """Given a person, return whether that person approves of the content as it is now."""
        return user in self.reviews and self.reviews[user].is_approval


def _is_approved_by_all(rule: Mapping[str, Any], facts: MergeFacts) -> bool:
    return all(facts.is_approved_by(user) for user in rule["users"])


def _is_approved_by_one(rule: Mapping[str, Any], facts: MergeFacts) -> bool:
    return any(facts.is_approved_by(user) for user in rule["users"])


_RULES: Mapping[str, tuple[Callable[[Mapping[str, Any], MergeFacts], bool], str]] = {
    "require_specific_reviewers": (
        _is_approved_by_all,
        "every reviewer it names must approve the content as it is now",
    ),
    "require_one_of_specific_reviewers": (
        _is_approved_by_one,
        "one reviewer it names must approve the content as it is now",
    ),
    "require_at_least_one_review": (
        lambda rule, facts: any(review.is_current for review in facts.others),
        "somebody else than its author must review the content as it is now",
    ),
    "require_at_least_one_approved_review": (
        lambda rule, facts: any(review.is_approval for review in facts.others),
        "somebody else than its author must approve the content as it is now",
    ),
    "require_all_reviews_approved": (
        lambda rule, facts: all(review.is_approval for review in facts.reviews.values()),
        "whoever reviewed it must approve the content as it is now",
    ),
    "require_up_to_date_change_request": (
        lambda rule, facts: not facts.is_outdated,
        "it must be up to date with main content; POST …/update first",
    ),
    "require_change_request_subject": (lambda rule, facts: bool(facts.subject.strip()), "it must have a subject"),
    "require_change_request_description": (lambda rule, facts: facts.has_description, "it must have a description"),
    "require_author_to_merge": (lambda rule, facts: facts.caller == facts.author, "only its author may merge it"),
}


def find_unmet_rule(rules: Mapping[str, Any], facts: MergeFacts) -> str | None:
    """Given merge rules that are one's own, return which one forbids a merge and what would satisfy it, or None."""
    listed = rules.get("rules") or () if rules.get("type") == "rules" else ()
    if any(rule["rule"] == "allow_bypass" and facts.caller in rule["users"] for rule in listed):
        return None
    for rule in listed:
        name = rule["rule"]
        if name == "allow_bypass":
            continue
        if name not in _RULES:
            # A rule that nobody here can evaluate (an agent's review, an expression) must not be taken as met.
            return f"{name}: this platform cannot evaluate it; an administrator can remove it or allow a bypass"
        met, wanted = _RULES[name]
        if not met(rule, facts):
            return f"{name}: {wanted}"
    return None


def find_effective_rules(connection: sa.Connection, space: sa.Row[Any]) -> Mapping[str, Any]:
    """Given a space's row, return the rules for its change requests: its own, or its organization's."""
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
    """Given a change request's row and who wants to merge it, let it go on.

    Raises: Failure 412 naming the rule that forbids it. The document shows no status for that: 412 is what it has for
    "cannot be done as things are" (not-shown.md (b), line 529), and sets it apart from 403 (ask for a stronger role)
    and from 409 (the change request is merged or archived).
    """
    rules = find_effective_rules(connection, space)
    if rules.get("type") != "rules":
        return
    described = bool(row.description) and any(row.description.get("nodes") or ())
    given = find_latest_reviews(connection, row.id, revision=row.revision)
    facts = MergeFacts(caller, row.created_by, row.subject, described, outdated, given)
    reason = find_unmet_rule(rules, facts)
    if reason is not None:
        raise Failure(412, f"A merge rule forbids to merge change request {row.number}. {reason}.")


def find_latest_reviews(connection: sa.Connection, change_request: str, *, revision: str) -> dict[str, LatestReview]:
    """Given a change request and its revision now, return the latest review of each reviewer."""
    query = sa.select(reviews.c.reviewer, reviews.c.status, reviews.c.revision).order_by(reviews.c.seq)
    rows = connection.execute(query.where(reviews.c.change_request == change_request))
    return {row.reviewer: LatestReview(row.status, row.revision == revision) for row in rows}
