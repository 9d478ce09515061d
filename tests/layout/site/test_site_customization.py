"""Customization by leaves: laying over loses nothing, comparing settles, and wrong values are told in one sentence."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncd.layout.site.read.customization import (
    build_override,
    check_customization,
    find_inherited,
    find_leaf,
    find_links,
    is_agreeing,
    is_in_step,
    list_leaves,
    overlay_leaves,
)
from syncd.layout.site.read.declared import Item, Place
from syncd.layout.site.read.members import is_importable
from syncd.model.ref import Kind

ROOT = Path(__file__).parents[3]
HERE = Place("site.yaml", 7, 3)
SETTINGS: dict[str, Any] = {
    "updatedAt": "2026-05-04T10:08:47.000Z",
    "title": "Acme",
    "unheardOf": {"deeply": {"kept": 1}},
    "styling": {"theme": "clean", "primaryColor": {"light": "#111111", "dark": "#222222"}, "font": "Inter"},
    "favicon": {"emoji": "1f3e0"},
    "header": {"links": [{"title": "A", "to": None, "links": [], "style": "link", "localizedTitle": {}}]},
    "announcement": {"enabled": True, "message": "Hello", "style": "info"},
    "socialPreview": {},
}

_names = st.sampled_from(["a", "b", "links", "favicon", "to", "title"])
_values = st.recursive(
    st.one_of(st.text(max_size=3), st.booleans(), st.integers(0, 3)),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(_names, inner, max_size=3)),
    max_leaves=8,
)


def _real() -> dict[str, Any]:
    path = ROOT.parent / "shared" / "corpora" / "evolve-site" / "customization.json"
    return json.loads(path.read_text()) if path.exists() else SETTINGS


def _said(kind: Kind, value: dict[str, Any]) -> list[str]:
    found = check_customization(Item(kind, "", list_leaves(value), HERE))
    return [f"{one.message} ({one.hint})" if one.hint else one.message for one in found]


@settings(deadline=None, max_examples=50)
@given(st.dictionaries(_names, _values, max_size=4))
def test_leaves_laid_over_nothing_are_the_settings_again(value: dict[str, Any]) -> None:
    assert overlay_leaves({}, list_leaves(value)) == value
    assert overlay_leaves(value, list_leaves(value)) == value
    assert all(is_in_step(name, leaf, find_leaf(value, name)) for name, leaf in list_leaves(value).items())


def test_real_settings_agree_with_themselves_and_can_be_declared() -> None:
    real = _real()
    for name, leaf in list_leaves(real).items():
        assert is_in_step(name, leaf, find_leaf(real, name))
        assert is_importable("customization", name) is (name not in ("updatedAt", "unheardOf.deeply.kept"))
    wanted = {name: leaf for name, leaf in list_leaves(real).items() if is_importable("customization", name)}
    assert not list(check_customization(Item("customization", "", wanted, HERE)))
    assert overlay_leaves(real, wanted) == real


def test_what_no_leaf_names_survives_an_overlay() -> None:
    body = overlay_leaves(
        SETTINGS, {"styling.theme": "bold", "title": None, "announcement.link": None, "socialPreview": {}}
    )
    assert body["unheardOf"] == SETTINGS["unheardOf"]
    assert body["styling"]["font"] == "Inter"
    assert body["styling"]["theme"] == "bold"
    assert "title" not in body
    assert body["socialPreview"] == {}
    assert SETTINGS["styling"]["theme"] == "clean"
    assert overlay_leaves({}, {"footer.logo.light": None}) == {}


def test_a_favicon_changes_from_emoji_to_icon_in_one_piece() -> None:
    icon = {"icon": {"light": "https://a.example/l", "dark": "https://a.example/d"}}
    assert overlay_leaves(SETTINGS, list_leaves({"favicon": icon}))["favicon"] == icon


def test_entries_of_lists_are_completed_and_what_the_platform_adds_counts_for_nothing() -> None:
    declared = [{"title": "A"}, {"title": "B", "to": {"kind": "space", "space": "s"}, "condition": None}]
    (menu, link) = overlay_leaves({}, {"header.links": declared})["header"]["links"]
    assert menu == {"title": "A", "style": "link", "to": None, "links": []}
    assert "condition" not in link
    assert link["to"] == {"kind": "space", "space": "s"}
    assert is_agreeing(declared[:1], SETTINGS["header"]["links"])
    assert not is_agreeing(declared[:1], [{**menu, "localizedTitle": {"de": "A"}}])
    assert not is_agreeing(declared, [menu])
    assert not is_agreeing(True, 1)


def test_an_override_holds_declared_members_only_and_completes_what_goes_as_a_whole() -> None:
    given_ = {"styling.theme": None, "styling.primaryColor.light": "#333333", "announcement.message": "Old docs"}
    assert build_override(SETTINGS, {**given_, "favicon": None, "header": {}, "title": None}) == {
        "styling": {"theme": None, "primaryColor": {"light": "#333333", "dark": "#222222"}},
        "announcement": {"enabled": True, "message": "Old docs", "style": "info"},
        "favicon": None,
        "title": None,
    }
    assert find_inherited(SETTINGS, "title") is None
    assert find_inherited(SETTINGS, "styling.theme") == "clean"


@pytest.mark.parametrize(
    ("kind", "value", "said"),
    [
        ("customization", {"styling": {"theme": "neon"}}, '"styling.theme" is "neon"; it must be clean, muted, bold'),
        ("customization", {"styling": {"theme": None}}, '"styling.theme" cannot be unset (give it a value, or leave'),
        ("customization", {"styling": "clean"}, '"styling" must be a mapping'),
        ("customization", {"styling": {"font": "Comic"}}, '"styling.font" is "Comic"; it must be ABCFavorit, Inter'),
        ("customization", {"styling": {"font": {"id": "x"}}}, '"styling.font.custom" is missing'),
        ("customization", {"headr": {}}, 'unknown key "headr" (did you mean header?)'),
        ("customization", {"header": {"lins": []}}, 'unknown key "header.lins" (did you mean links?)'),
        ("customization", {"pdf": {"enabled": "yes"}}, '"pdf.enabled" is "yes"; it must be true or false'),
        ("customization", {"title": 2024}, '"title" is 2024; it must be a text in quotes'),
        ("customization", {"title": "A"}, '"title" is too short; the platform needs at least 2 characters'),
        ("customization", {"updatedAt": "now"}, "updatedAt is set by the platform"),
        ("customization", {"privacyPolicy": {"url": "http://a.example"}}, "it must be https"),
        ("customization", {"favicon": {"icon": {"light": "https://a.example"}}}, '"favicon.icon.dark" is missing'),
        ("customization", {"header": {"backgroundColor": {"light": "#fff"}}}, "can be set for single variants only"),
        ("customization", {"header": {"links": [{"title": "x", "to": {"page": "p"}}]}}, "needs exactly one of section"),
        ("customization", {"header": {"links": [{"title": "x", "to": 3}]}}, '"header.links[0].to" is 3; it must be'),
        ("customization", {"header": {"links": [3]}}, '"header.links[0]" must be a mapping'),
        ("customization", {"header": {"links": 3}}, '"header.links" must be a list'),
        ("customization", {"header": {"primaryLink": {"url": "javascript:x"}}}, "must be an http, https or mailto"),
        ("override", {"ai": {"mode": "none"}}, '"ai" cannot be overridden per variant (declare it under customiza'),
        ("override", {"styling": {"monospaceFont": "FiraCode"}}, '"styling.monospaceFont" cannot be overridden per'),
        ("override", {"styling": {"infoColor": {"dark": "#fff"}}}, '"styling.infoColor" has dark but not light (decl'),
        ("override", {"styling": {"infoColor": {"dark": "red", "light": "#fff"}}}, 'it must be a color such as "#346'),
    ],
)
def test_what_the_platform_would_not_take_is_told_in_one_sentence(kind: Kind, value: dict[str, Any], said: str) -> None:
    found = _said(kind, value)
    assert any(said in one for one in found)
    assert all("pydantic" not in one for one in found)


def test_what_the_platform_takes_is_let_through() -> None:
    links: list[dict[str, Any]] = [
        {"title": "Log", "to": {"page": "changelog", "in": "home/en"}},
        {"title": "Menu", "links": [{"title": "Inner", "to": {"raw": {"kind": "space", "space": "s"}}}]},
    ]
    value = {
        "header": {"links": links},
        "favicon": {},
        "title": None,
        "socialPreview": {},
        "styling": {"corners": "straight"},
    }
    assert not _said("customization", value)
    own = {"header": {"linkColor": {"light": "#fff", "dark": "#000"}}, "favicon": None, "styling": {"theme": None}}
    assert not _said("override", own)
    assert not list(check_customization(Item("override", "a", {"reset": True}, HERE)))
    destinations = [to for to, _ in find_links(Item("customization", "", list_leaves(value), HERE))]
    assert destinations == [links[0]["to"], {"raw": {"kind": "space", "space": "s"}}]


def test_a_finding_inside_a_list_stands_where_the_reader_noted_it() -> None:
    exact = Place("site.yaml", 9, 20)
    item = Item("customization", "", {"header.links": [{"title": 5, "to": {"url": "https://a.example"}}]}, HERE)
    (vague,) = check_customization(item)
    (precise,) = check_customization(
        Item(item.kind, "", item.fields, HERE, places={"header.links": HERE, "header.links.0.title": exact})
    )
    assert (vague.line, vague.column) == (7, 3)
    assert (precise.line, precise.column) == (9, 20)


def test_nesting_is_bounded() -> None:
    deep: dict[str, Any] = {}
    for _ in range(20):
        deep = {"a": deep}
    with pytest.raises(ValueError, match="nest"):
        list_leaves(deep)
