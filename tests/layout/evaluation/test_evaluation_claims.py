"""Expressions of a reader whose claims are known come to what JavaScript would say; what cannot be said is false."""

import pytest

from syncd.layout.evaluation import Variables

CLAIMS = {"plan": "pro", "age": 7, "beta": True, "groups": ["a", "b"], "none": None, "unsigned": {"x": "1"}}
VARIABLES = Variables({"space": {"n": 3, "s": "v"}, "page": {"p": False}}, CLAIMS)


@pytest.mark.parametrize(
    "condition",
    [
        'visitor.claims.plan === "pro"',
        "visitor.claims.age >= 7 && visitor.claims.age < 8",
        "visitor.claims.beta",
        'visitor.claims.groups.includes("a")',
        '!visitor.claims.groups.includes("c")',
        '["free", "pro"].includes(visitor.claims.plan)',
        "visitor.claims.groups.length == 2",
        'visitor.claims.groups[1] === "b"',
        "visitor.claims.absent === undefined",
        "visitor.claims.none == undefined && visitor.claims.none !== undefined",
        "visitor.claims.unsigned.x == 1 && visitor.claims.unsigned.x !== 1",
        '"plan" in visitor.claims',
        'visitor.claims.plan.startsWith("p") && visitor.claims.plan.toUpperCase() == "PRO"',
        '(visitor.claims.absent ?? "x") === "x"',
        "space.vars.n + 1 === 4 && !page.vars.p",
        'space.vars.s + visitor.claims.age === "v7"',
        "visitor.claims.age % 4 === 3 && visitor.claims.age / 0 > 1000",
    ],
)
def test_conditions_are_decided_for_a_reader(condition: str) -> None:
    assert VARIABLES.evaluate_condition(condition) is True
    assert VARIABLES.evaluate_condition(f"!({condition})") is False


@pytest.mark.parametrize(
    "condition",
    [
        "visitor.claims.absent",
        "visitor.claims.absent.deeper",
        'visitor.claims.plan == "free"',
        "visitor.claims.plan.repeat(9) == visitor.claims.plan",
        "visitor.claims.plan ===",
        "process.exit()",
        '"x" in visitor.claims.plan',
        "visitor.claims.age / 0 - visitor.claims.age / 0 == 0",
    ],
)
def test_what_cannot_be_computed_is_false(condition: str) -> None:
    assert VARIABLES.evaluate_condition(condition) is False


def test_expressions_have_the_value_that_a_reader_sees() -> None:
    assert VARIABLES.evaluate("visitor.claims.plan") == "pro"
    assert VARIABLES.evaluate("visitor.claims.groups") is None
    assert Variables({"space": {}, "page": {}}).evaluate("visitor.claims.plan") is None
    assert Variables({}).evaluate_condition("visitor.claims.plan") is None
