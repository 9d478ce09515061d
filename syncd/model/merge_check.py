"""Whether merge rules allow a merge: one answer for a server that decides, and for a caller that wants to know before.

All rules of a list must be met; one that lets the caller bypass them overrides the others. Only a reviewer's latest
review counts, and an approval counts for the content that it was given for: a revision later it is outdated. The
author's own review counts only where a rule names the author.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from syncd.model.merge_rules import ObservedMergeRule, ObservedMergeRules

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
    """What rules look at. Shape: `reviews` is by reviewer."""

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
        """Return whether a person's latest review approves the content as it is now."""
        return user in self.reviews and self.reviews[user].is_approval


@dataclass(frozen=True)
class UnmetRule:
    """A rule that forbids a merge, and what would satisfy it: "" for a rule that cannot be evaluated here."""

    rule: ObservedMergeRule
    remedy: str


def _is_approved_by_all(rule: ObservedMergeRule, facts: MergeFacts) -> bool:
    return all(facts.is_approved_by(user) for user in rule.users or ())


def _is_approved_by_one(rule: ObservedMergeRule, facts: MergeFacts) -> bool:
    return any(facts.is_approved_by(user) for user in rule.users or ())


_RULES: Mapping[str, tuple[Callable[[ObservedMergeRule, MergeFacts], bool], str]] = {
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


def list_unmet_rules(rules: ObservedMergeRules, facts: MergeFacts) -> Iterator[UnmetRule]:
    """Yield those of a space's effective merge rules that forbid a merge, in their order.

    Shape: a rule that nobody here can evaluate, such as an agent's review or an expression, is not taken as met.
    """
    listed = (rules.rules or ()) if rules.type == "rules" else ()
    if any(rule.rule == "allow_bypass" and facts.caller in (rule.users or ()) for rule in listed):
        return
    for rule in listed:
        if rule.rule == "allow_bypass":
            continue
        is_met, remedy = _RULES.get(rule.rule, (None, ""))
        if is_met is None or not is_met(rule, facts):
            yield UnmetRule(rule, remedy)
