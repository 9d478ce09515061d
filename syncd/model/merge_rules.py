"""Merge rules: what must be true of a change request before it is merged, for an organization or for one space."""

from typing import Annotated, Literal

from pydantic import Field

from syncd.model.base import Declared, Observed

RULES_MAX = 50
USERS_MAX = 100
EXPRESSION_MAX = 1024
"""Bounds of one list of rules, of the people whom a rule names, and of a rule's own words; the document names none."""


class PeopleRule(Declared):
    """A rule about the people with these user ids: all of them review, one of them does, or they need not obey."""

    rule: Literal["require_specific_reviewers", "require_one_of_specific_reviewers", "allow_bypass"]
    users: tuple[Annotated[str, Field(min_length=1, max_length=100)], ...] = Field(min_length=1, max_length=USERS_MAX)


class PlainRule(Declared):
    """A rule that needs no more than its name. Source: @gitbook/api 0.146.0."""

    rule: Literal[
        "require_at_least_one_review",
        "require_at_least_one_approved_review",
        "require_all_reviews_approved",
        "require_agent_review",
        "require_up_to_date_change_request",
        "require_change_request_subject",
        "require_change_request_description",
        "require_author_to_merge",
    ]


class CustomRule(Declared):
    """A rule in a language that the document does not show; `message` is for those whom it stops."""

    rule: Literal["custom"]
    expression: str = Field(min_length=1, max_length=EXPRESSION_MAX)
    message: str | None = Field(default=None, max_length=EXPRESSION_MAX)


MergeRule = Annotated[PeopleRule | PlainRule | CustomRule, Field(discriminator="rule")]


class NoRules(Declared):
    """`none` asks for nothing; `inherit` asks for what is asked for above: a space's organization."""

    type: Literal["inherit", "none"]


class RuleList(Declared):
    """Rules of one's own, all of which must be met."""

    type: Literal["rules"]
    rules: tuple[MergeRule, ...] = Field(max_length=RULES_MAX)


MergeRules = Annotated[NoRules | RuleList, Field(discriminator="type")]
"""What a caller sets. Source: API document, Organization and Space; @gitbook/api 0.146.0 for `none`."""


class ObservedMergeRule(Observed):
    """A rule as the platform shows it; rules that this version does not know pass through untouched."""

    rule: str
    users: tuple[str, ...] | None = None
    expression: str | None = None
    message: str | None = None


class ObservedMergeRules(Observed):
    """Merge rules as the platform shows them: `rules` is there when `type` is `rules`."""

    type: str
    rules: tuple[ObservedMergeRule, ...] | None = None
