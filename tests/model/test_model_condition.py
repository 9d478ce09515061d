"""Conditions: what can be an expression over a visitor's claims is read, everything else is refused."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncd.model.condition import (
    CONDITION_MAX,
    DEPTH_MAX,
    STEPS_MAX,
    NoCondition,
    find_condition_claims,
    split_condition,
)

_READ = {
    "visitor.claims.isBetaUser == true": {("isBetaUser",)},
    'visitor.claims.unsigned.persona !== "partner"': {("unsigned", "persona")},
    '"beta" in visitor.claims': {()},
    'visitor.claims["a-b"]["it\\\'s"]': {("a-b", "it's")},
    "visitor?.claims?.plan": {("plan",)},
    "[\"a\", 'b'].includes(visitor.claims.plan)": {("plan",)},
    'visitor.claims.tags.includes("x") || !(visitor.claims.n > -1.5e3)': {("tags",), ("n",)},
    "visitor.claims[visitor.claims.key].x": {(), ("key",)},
    "visitor.claims.a ? space.vars.b == 1 : page.vars['c'] ?? null": {("a",)},
    "visitor.claims.name.trim().length > 0": {("name",)},
}


@pytest.mark.parametrize("text", _READ)
def test_a_condition_says_which_claims_it_reads(text: str) -> None:
    assert find_condition_claims(text) == _READ[text]
    assert find_condition_claims(f"\n  ({text})\t") == _READ[text]


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "true",
        "1 < 2",
        "visitor",
        "visitor.beta",
        "visitor()",
        "visitor.claims()",
        "visitor.claims.",
        "visitor.claims.a b",
        "visitor.claims.a = 1",
        "visitor.claims.a; alert(1)",
        "visitor.claims.a => 1",
        "visitor.claims.a == 'x",
        "visitor.claims.a &&",
        "(visitor.claims.a",
        "visitor.claims.a)",
        "[visitor.claims.a",
        "visitor.claims.a ? 1",
        "`${visitor.claims.a}`",
        "alert(visitor.claims.a)",
        "window.visitor.claims.a",
        "space.title == visitor.claims.a",
        "visitor.claims.a /* why */",
        "visitor.claims.\u00e9",
    ],
)
def test_what_cannot_be_a_condition_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="condition"):
        find_condition_claims(text)


def test_length_and_depth_are_bounded() -> None:
    longest = "visitor.claims.a" + " " * (CONDITION_MAX - 16)
    assert find_condition_claims(longest)
    for text in (longest + " ", "(" * DEPTH_MAX + "visitor.claims.a" + ")" * DEPTH_MAX, "visitor.claims" + "[" * 900):
        with pytest.raises(ValueError, match="condition"):
            find_condition_claims(text)


@settings(deadline=None, max_examples=50)
@given(st.text(st.sampled_from("visitor.claims()[]!=<>&|?:,\"'\\ 0a-+"), max_size=60))
def test_no_text_does_more_than_be_read_or_refused(text: str) -> None:
    with suppress(ValueError):
        assert find_condition_claims("visitor.claims.a == " + text)


def test_the_parts_of_a_condition_stand_where_they_were_read() -> None:
    text = "['x'].includes(visitor.claims.unsigned.plan) && !visitor.claims['a-b'].c"
    parts = split_condition(text)
    spelled = {part.what: text[slice(*part.span)] for part in parts}
    assert spelled["call"] == "['x'].includes(visitor.claims.unsigned.plan)"
    assert spelled["&&"] == text
    assert [text[slice(*part.span)] for part in parts if part.claim] == [
        "visitor.claims.unsigned.plan",
        "visitor.claims['a-b'].c",
    ]
    assert all(place < index for index, part in enumerate(parts) for place in part.of)


def test_steps_are_bounded_and_long_chains_need_no_depth() -> None:
    assert split_condition("visitor.claims.a" + "&&1" * ((STEPS_MAX - 6) // 2))
    with pytest.raises(NoCondition, match="words and signs"):
        split_condition("visitor.claims.a" + "&&1" * (STEPS_MAX // 2))


def test_a_failure_names_the_character() -> None:
    with pytest.raises(NoCondition, match=r"single|== or ===") as failure:
        split_condition("visitor.claims.a = 1")
    assert failure.value.at == 17
