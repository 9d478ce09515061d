"""Visitors: claims and their schema are two forms of one thing, and conditions are about claims that there are."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncd.layout.site.check.condition_reach import can_pass, reads_only_unsigned
from syncd.layout.site.check.conditions import check_conditions
from syncd.layout.site.read.customization import list_leaves
from syncd.layout.site.read.declared import Item, Place, SiteFile, SitePolicy
from syncd.layout.site.read.visitors import build_schema, check_claims, check_removed_claims, list_claims, merge_schema
from syncd.model.adaptive import DRAFT, UNSIGNED_DESCRIPTION, find_claims
from syncd.model.condition import NoCondition, split_condition
from syncd.model.ref import CUSTOMIZATION, VISITORS, Ref

FLAG = {"type": "boolean", "description": "Yes or no."}
PLAN = {"type": "string", "description": "What was bought.", "enum": ["pro", "free"]}
CLAIMS = {"claims.partner": FLAG, "unsigned.beta": FLAG, "unsigned.plan": PLAN}


def _file(*conditions: str, claims: dict[str, Any] | None = CLAIMS, unshown: bool = True) -> SiteFile:
    """Each condition is the one of a section, plain at column 20 of lines from 10 on."""
    items = {} if claims is None else {VISITORS: Item("visitors", "", claims, Place("site.yaml", 5))}
    for number, text in enumerate(conditions):
        where = Place("site.yaml", 10 + number, 20, len(text))
        items[Ref.of("section", f"s{number}")] = Item(
            "section", f"s{number}", {"condition": text}, where, {"condition": where}
        )
    return SiteFile("site.yaml", "org", "site", items, policy=SitePolicy(allow_unshown_types=unshown))


_WORDS = ("visitor.claims.a", "visitor.claims.unsigned.b", "page.vars.c", "1", "'x'", "null", "(", ")", "[", "]")
_SIGNS = ("&&", "||", "??", "!", "==", "<", "+", "in", "?", ":", ".includes(", ".length", "['a']", "[0]")

_named = st.dictionaries(
    st.sampled_from([f"{group}.{name}" for group in ("claims", "unsigned") for name in ("a", "b", "c-d")]),
    st.sampled_from([FLAG, PLAN]),
)


@settings(deadline=None, max_examples=50)
@given(_named, _named, st.sets(st.sampled_from(["claims.a", "unsigned.b"])))
def test_claims_and_schema_are_two_forms_of_one_thing(old: dict[str, Any], new: dict[str, Any], gone: set[str]) -> None:
    schema = build_schema(old)
    assert list_claims(schema) == old
    assert find_claims(schema) is not None
    wider = merge_schema(schema, new)
    assert list_claims(wider) == {**old, **new}
    narrower = merge_schema(wider, dict.fromkeys(gone))
    assert list_claims(narrower) == {name: claim for name, claim in {**old, **new}.items() if name not in gone}


def test_what_the_platform_says_beside_the_claims_is_kept() -> None:
    schema = build_schema(CLAIMS) | {"$schema": "http://json-schema.org/draft-07/schema#"}
    schema["properties"]["unsigned"]["description"] = "Anybody can say so."
    changed = merge_schema(schema, {"claims.partner": None})
    assert changed["$schema"] == schema["$schema"]
    assert changed["properties"]["unsigned"]["description"] == "Anybody can say so."
    assert list_claims(None or {}) == {}
    assert merge_schema(None, {}) == build_schema({})


def test_claims_are_laid_over_whatever_schema_is_there() -> None:
    made = merge_schema(None, {"claims.a": FLAG, "unsigned.b": FLAG, "unsigned.gone": None, "claims.no": None})
    closed = {"type": "object", "additionalProperties": False}
    inner = {**closed, "description": UNSIGNED_DESCRIPTION, "properties": {"b": FLAG}}
    assert made == {"$schema": DRAFT, **closed, "properties": {"a": FLAG, "unsigned": inner}}
    foreign = {**made, "x": 1, "properties": {**made["properties"], "theirs": {"type": "number"}}}
    less = merge_schema(foreign, {"claims.a": None, "unsigned.b": None})
    assert less == {**foreign, "properties": {"theirs": {"type": "number"}, "unsigned": {**inner, "properties": {}}}}
    assert merge_schema(closed, {"unsigned.gone": None}) == {**closed, "properties": {}}


@pytest.mark.parametrize(
    ("name", "claim", "said"),
    [
        ("claims.a", {"type": "boolean"}, 'claim "a": description must be a text'),
        ("claims.unsigned", FLAG, '"unsigned" is no name for a signed claim'),
        ("unsigned.plan", PLAN, 'claim "unsigned.plan" has the type string; the API shows boolean claims only'),
        ("claims.a", {"type": "bool", "description": ""}, 'claim "a": type must be one of boolean, string'),
        ("claims.a", 3, 'claim "a": type must be one of boolean, string'),
        ("claims.a", {**FLAG, "default": True}, 'claim "a" may only have description, type'),
    ],
)
def test_a_claim_that_the_platform_would_not_take_is_found(name: str, claim: Any, said: str) -> None:
    (found,) = check_claims(_file(claims={name: claim}, unshown=False))
    assert found.code == "SY203"
    assert found.message.startswith(said)
    assert found.hint


def test_claims_are_counted_and_may_be_unset() -> None:
    assert not list(check_claims(_file(claims={"claims.old": None, "claims.new": FLAG})))
    (found,) = check_claims(_file(claims={f"claims.c{number}": FLAG for number in range(201)}))
    assert "more than 200 claims" in found.message
    assert not list(check_claims(_file(claims=None)))


def test_a_claim_that_a_condition_still_reads_cannot_go() -> None:
    read = [("developers/v3", "visitor.claims.unsigned.beta == true"), ("broken", "((")]
    (found,) = check_removed_claims(["claims.partner", "unsigned.beta"], read, Place("site.yaml"))
    assert found.message == 'claim "unsigned.beta" is still used by developers/v3'


@pytest.mark.parametrize(
    ("text", "at", "width", "said"),
    [
        ("visitor.claims.partnr == true", 0, 21, 'visitor.claims.partnr is not declared; did you mean "partner"?'),
        ("true == visitor.claims.beta", 8, 19, 'visitor.claims.beta is not declared; did you mean "unsigned.beta"?'),
        ("visitor.claims.unsigned.x", 0, 25, "visitor.claims.unsigned.x is not declared"),
        ("visitor.claims.partner = true", 23, 1, "a condition compares with == or ==="),
        ("(visitor.claims.partner", 23, 1, "a condition needs `)` at character 24"),
        ("visitor.claims.partner == 'true'", 26, 6, "visitor.claims.partner is a boolean, but 'true' is a string"),
        (
            "visitor.claims.partner && visitor.claims.unsigned.plan != 'prox'",
            58,
            6,
            "'prox' is no value of visitor.cla",
        ),
        ("visitor.claims.partner\n&& true", 0, 29, "a condition stands on one line"),
        ("window.location", 0, 1, "a condition needs a value, or one of visitor.claims"),
    ],
)
def test_a_wrong_condition_is_found_at_its_column(text: str, at: int, width: int, said: str) -> None:
    (found,) = [one for one in check_conditions(_file(text)) if one.severity == "error"]
    assert found.code == "SY201"
    assert found.message.startswith(said)
    assert (found.line, found.column - 20) == (10, at)
    assert found.width == (width if at else max(width, found.width))


def test_a_claim_that_is_chosen_by_an_expression_is_a_warning() -> None:
    (found,) = check_conditions(_file("visitor.claims['a' + 'b']"))
    assert (found.code, found.severity) == ("SY201", "warning")


def test_without_claims_of_its_own_a_file_is_held_to_the_platforms() -> None:
    file = _file("visitor.claims.partnr", claims=None)
    assert not list(check_conditions(file))
    (found,) = check_conditions(file, build_schema(CLAIMS))
    assert 'did you mean "partner"' in found.message
    assert not list(check_conditions(_file("visitor.claims.partner", claims=None), build_schema(CLAIMS)))


def test_conditions_of_links_are_checked_where_they_stand() -> None:
    links = [{"title": "x", "to": {"url": "https://a.example"}, "condition": "visitor.claims.partnr"}]
    place = Place("site.yaml", 40, 11, len(links[0]["condition"]) + 2)
    settings_ = list_leaves({"header": {"links": links}})
    file = _file()
    items = {
        **file.items,
        CUSTOMIZATION: Item("customization", "", settings_, place, {"header.links.0.condition": place}),
    }
    (found,) = check_conditions(SiteFile("site.yaml", "org", "site", items))
    assert (found.line, found.column, found.width) == (40, 12, 21)


@pytest.mark.parametrize(
    ("text", "open_to_all"),
    [
        ("visitor.claims.unsigned.beta == true", True),
        ("visitor.claims.partner == true", False),
        ("visitor.claims.partner && visitor.claims.unsigned.beta", False),
        ("visitor.claims.partner || visitor.claims.unsigned.beta", True),
        ("!visitor.claims.partner && visitor.claims.unsigned.beta", True),
        ("visitor.claims.unsigned.beta ? visitor.claims.partner : false", False),
        ("visitor.claims.unsigned.beta ? visitor.claims.partner : true", True),
        ("['a'].includes(visitor.claims.plan) && visitor.claims.unsigned.beta", False),
        ("['a'].includes(visitor.claims.unsigned.plan)", True),
        ("visitor.claims.tags.includes(visitor.claims.unsigned.plan)", False),
        ("'beta' in visitor.claims && visitor.claims.unsigned.beta", False),
        ("visitor.claims.n + 1 > 3 && visitor.claims.unsigned.beta", False),
        ("-visitor.claims.n >= -3 && visitor.claims.unsigned.beta", False),
        ("visitor.claims.plan ?? visitor.claims.unsigned.beta", True),
        ("visitor.claims.plan === null && visitor.claims.unsigned.beta", False),
        ("visitor.claims.plan == undefined && visitor.claims.unsigned.beta", True),
        ("visitor.claims.unsigned.plan === 'pro' && 1 == 2", False),
        ("visitor.claims.name.trim() && visitor.claims.unsigned.beta", False),
        ("visitor.claims['p' + 'q'] && visitor.claims.unsigned.beta", True),
    ],
)
def test_a_gate_is_judged_by_what_its_condition_can_come_to(text: str, open_to_all: bool) -> None:
    assert reads_only_unsigned(split_condition(text)) is open_to_all
    found = [one for one in check_conditions(_file(text, claims=None)) if one.code == "SY202"]
    assert bool(found) is open_to_all


def test_a_variant_behind_a_signed_gate_needs_no_other() -> None:
    section = Item("section", "s", {"condition": "visitor.claims.partner"}, Place("site.yaml", 9))
    inner = Item(
        "variant", "s/v", {"condition": "visitor.claims.unsigned.beta"}, Place("site.yaml", 11), parent=Ref("section:s")
    )
    assert not list(check_conditions(SiteFile("site.yaml", "o", "s", {section.ref: section, inner.ref: inner})))
    bare = Item("section", "s", {}, Place("site.yaml", 9))
    (found,) = check_conditions(SiteFile("site.yaml", "o", "s", {bare.ref: bare, inner.ref: inner}))
    assert (found.code, found.severity, found.line) == ("SY202", "warning", 11)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.sampled_from(_WORDS + _SIGNS), max_size=14))
def test_every_condition_that_can_be_read_can_be_judged(tokens: list[str]) -> None:
    try:
        parts = split_condition("visitor.claims.a == " + " ".join(tokens))
    except NoCondition:
        return
    assert can_pass(parts) in (True, False)
    for part in parts:
        assert all(0 <= place < parts.index(part) for place in part.of)
