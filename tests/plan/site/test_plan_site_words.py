"""What a plan says of long values, and on narrow terminals."""

from typing import Any

import pytest

from syncd.model.ref import Ref
from syncd.plan.site.format import format_change, split_change
from syncd.plan.site.render.text import render_drift_text, render_plan_text
from syncd.plan.site.steps import FieldChange, Line, SitePlan

MENU: list[dict[str, Any]] = [
    {"title": "A", "links": []},
    {"title": "B", "to": {"kind": "url", "url": "u"}},
    {"title": "C"},
]


@pytest.mark.parametrize(
    ("before", "after", "parts"),
    [
        ("x", "y", [("menu", "x", "y")]),
        (None, MENU, [("menu", None, MENU)]),
        ({"a": {"b": 1, "c": None}}, {"a": {"b": 2, "d": {}}}, [("menu.a.b", 1, 2)]),
        (MENU, [*MENU[:1], {"title": "N"}, *MENU[1:]], [("menu[N]", None, {"title": "N"})]),
        (MENU, MENU[:1] + MENU[2:], [("menu[B]", MENU[1], None)]),
        (MENU, [{**MENU[0], "condition": "x"}, *MENU[1:]], [("menu[A].condition", None, "x")]),
        ([1, 2], [1, 3], [("menu[2]", 2, 3)]),
        ({"a": []}, {"a": None}, [("menu", {"a": []}, {"a": None})]),
    ],
)
def test_of_a_long_value_only_what_differs_is_told(before: Any, after: Any, parts: list[Any]) -> None:
    found = split_change(FieldChange("menu", before, after))
    assert [(one.name, one.before, one.after) for one in found] == parts


def test_a_destination_is_told_whole() -> None:
    change = FieldChange("destination", {"kind": "external", "url": "a"}, {"kind": "external", "url": "b"})
    assert split_change(change) == [change]


def test_a_value_with_quotes_is_readable() -> None:
    assert format_change(FieldChange("condition", None, 'x == "y"'))[1] == "'x == \"y\"'"


def test_many_differences_inside_one_value_are_counted() -> None:
    line = Line("update", Ref("customization:"), (FieldChange("menu", list(range(9)), list(range(9, 18))),))
    told = [text for _, text in render_plan_text(SitePlan("s", lines=(line,)))]
    assert "menu[5]  4 -> 13" in told[5]
    assert told[6].strip() == "menu  differs in 4 more places"


def test_without_room_for_columns_they_go_below_each_other() -> None:
    change = FieldChange("title", "Old", "New", "drift", "site.yaml:3:5")
    lines = (Line("report", Ref("section:a"), (change,), where="site.yaml:2:5"),)
    told = [text for _, text in render_plan_text(SitePlan("s", lines=lines, warnings=("w",)), narrow=True)]
    assert told[:5] == [
        "warning: w",
        "",
        "left as it is",
        "  ? leave   section a  [site.yaml:2]",
        "      title  is Old; the file says New",
    ]
    assert render_drift_text(SitePlan("s", lines=lines), narrow=True)[0][1].split("\n") == [
        "? section a title",
        "      is Old; the file says New  [site.yaml:3]",
    ]
