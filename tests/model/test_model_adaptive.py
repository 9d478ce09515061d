"""Schemas of visitors: only closed shapes of described claims, and each claim suggests a condition that can be read."""

from typing import Any

import pytest

from syncd.model.adaptive import CLAIMS_MAX, DEPTH_MAX, find_claims, suggest_conditions
from syncd.model.condition import find_condition_claims


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _claim(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "description": "Known of the visitor", **more}


_WHOLE = _object(
    isBetaUser=_claim("boolean"),
    plan=_claim("string", enum=["pro", 'the "best"']),
    name=_claim("string"),
    seats=_claim("number"),
    tags=_claim("array", items=_claim("string", enum=["a"])),
    scores=_claim("array", items=_claim("number")),
    company=_object(size=_claim("number")) | {"description": "Where they work"},
    unsigned=_object(**{"a-b": _claim("boolean")}),
)


def test_each_claim_suggests_one_condition_that_reads_it() -> None:
    claims = find_claims({"$schema": "http://json-schema.org/draft-07/schema#", **_WHOLE})
    conditions = suggest_conditions(claims)
    for claim, condition in zip(claims, conditions, strict=True):
        (read,) = find_condition_claims(condition.condition)
        assert read[: len(claim.path)] == claim.path
    assert {condition.description: condition.condition for condition in conditions} == {
        "Visitors of whom isBetaUser is true": "visitor.claims.isBetaUser === true",
        "Visitors of whom plan is pro": 'visitor.claims.plan === "pro"',
        "Visitors of whom name is known": "visitor.claims.name !== undefined",
        "Visitors of whom seats is more than 0": "visitor.claims.seats > 0",
        "Visitors of whom tags has a": 'visitor.claims.tags.includes("a")',
        "Visitors of whom scores has an entry": "visitor.claims.scores.length > 0",
        "Visitors of whom company.size is more than 0": "visitor.claims.company.size > 0",
        "Visitors of whom unsigned.a-b is true": 'visitor.claims.unsigned["a-b"] === true',
    }


def test_the_longest_claim_still_makes_a_condition() -> None:
    schema = _claim("string", enum=['"' * 100])
    for number in range(DEPTH_MAX):
        schema = _object(**{f"{number}-".ljust(64, "x"): schema}) | {"description": ""}
    del schema["description"]
    assert find_condition_claims(suggest_conditions(find_claims(schema))[0].condition)


@pytest.mark.parametrize(
    "properties",
    [
        {"a": {"type": "boolean"}},
        {"a": {"type": "null", "description": ""}},
        {"a": {"type": ["boolean"], "description": ""}},
        {"a": True},
        {"a": {"$ref": "https://example.com/schema.json"}},
        {"a": _claim("boolean", default=True)},
        {"a": _claim("boolean", description="x" * 513)},
        {"a": _claim("string", enum=[])},
        {"a": _claim("string", enum=["a", "a"])},
        {"a": _claim("string", enum=[1])},
        {"a": _claim("string", enum=["a\n"])},
        {"a": _claim("array")},
        {"a": _claim("array", items=_claim("array", items=_claim("boolean")))},
        {"a": _claim("array", items={"type": "boolean", "enum": []})},
        {"a": _object()},
        {"a": _claim("object", properties={})},
        {"unsigned": {"type": "object", "properties": {}}},
        {"": _claim("boolean")},
        {" a": _claim("boolean")},
        {'a"': _claim("boolean")},
        {"x" * 65: _claim("boolean")},
        {f"a{number}": _claim("boolean") for number in range(CLAIMS_MAX + 1)},
    ],
)
def test_any_other_claim_is_refused(properties: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="jsonSchema"):
        find_claims(_object(**properties))


@pytest.mark.parametrize(
    "change",
    [
        {"type": "array"},
        {"additionalProperties": True},
        {"properties": []},
        {"$schema": "https://json-schema.org/draft/2020-12/schema"},
        {"$ref": "#"},
        {"definitions": {}},
    ],
)
def test_any_other_root_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="jsonSchema"):
        find_claims(_object() | change)


def test_depth_is_bounded_and_deep_schemas_do_no_harm() -> None:
    schema = _object()
    for _ in range(DEPTH_MAX + 1):
        schema = _object(a=schema | {"description": ""})
    with pytest.raises(ValueError, match="nest"):
        find_claims(schema)
