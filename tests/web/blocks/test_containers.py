"""Blocks that hold blocks read without a script, and say by more than a colour what they are."""

import re
from dataclasses import asdict

import pytest

from syncd.layout.evaluation import Variables
from syncd.web.blocks import BlockContext, BlockLabels
from syncd.web.blocks.labels import find_block_labels
from tests.web.blocks.documents import Node, block, leaf, paragraph, render, render_markdown


@pytest.mark.parametrize(
    ("style", "label"),
    [("info", "Note"), ("success", "Tip"), ("warning", "Warning"), ("danger", "Danger"), ("x", "Note"), (None, "Note")],
)
def test_a_hint_says_its_style_in_words(style: str | None, label: str) -> None:
    html = render(block("hint", {"style": style}, paragraph("words"))).html
    assert f'role="note" aria-label="{label}"' in html
    assert '<p dir="auto">words</p>' in html


def test_labels_may_be_in_another_language() -> None:
    context = BlockContext(labels=find_block_labels("de-AT"))
    assert 'aria-label="Hinweis"' in render(block("hint", {}, paragraph("x")), context=context).html
    assert find_block_labels("nl") == BlockLabels()


@pytest.mark.parametrize("locale", ["de", "es", "fr"])
def test_labels_are_filled_alike_in_every_language(locale: str) -> None:
    english, said = asdict(BlockLabels()), asdict(find_block_labels(locale))
    assert {name: sorted(re.findall("{.*?}", text)) for name, text in said.items()} == {
        name: sorted(re.findall("{.*?}", text)) for name, text in english.items()
    }


def test_tabs_are_choices_of_which_the_first_is_made() -> None:
    tab = '{%% tab title="%s" %%}\n%s\n{%% endtab %%}\n'
    html = render_markdown("{% tabs %}\n" + tab % ("A", "one") + tab % ("A", "two") + "{% endtabs %}")
    assert '<input class="b-tab-choice" type="radio" name="_a" id="a" checked>' in html
    assert '<input class="b-tab-choice" type="radio" name="_a" id="a-1">' in html
    assert '<label class="b-tab" for="a-1" dir="auto">A</label>' in html
    assert '<section class="b-tab-body" aria-label="A"><p dir="auto">two</p></section>' in html


@pytest.mark.parametrize(
    ("around", "part"), [("tabs", "tab"), ("stepper", "step"), ("columns", "column"), ("updates", "update")]
)
@pytest.mark.parametrize("depth", [1, 2])
def test_a_condition_around_a_part_is_told_within_it(around: str, part: str, depth: int) -> None:
    made = f'{{% {part} title="One" date="2026-01-02" %}}\n\nwords\n\n{{% end{part} %}}\n'
    held = "{% if visitor.claims.x %}\n" * depth + made + "{% endif %}\n" * depth
    html = render_markdown(f"{{% {around} %}}\n{held}{{% end{around} %}}")
    assert html.count("Shown only to readers") == depth
    expected = {"tab": ">One</label>", "step": "<li", "column": 'b-column"', "update": "2026-01-02"}[part]
    assert 0 < html.find(expected) < html.find("Shown only") < html.find("words")
    for claims, shown in ({"x": True}, True), ({}, False):
        reader = BlockContext(variables=Variables({}, claims))
        html = render_markdown(f"{{% {around} %}}\n{held}{{% end{around} %}}", reader)
        assert [word in html for word in (expected, "words", "Shown only")] == [shown, shown, False]


def test_what_a_condition_holds_besides_parts_keeps_it() -> None:
    loose = "{% if visitor.claims.x %}\n{% if visitor.claims.y %}\nstray\n{% endif %}\n{% endif %}\n"
    html = render_markdown(f"{{% tabs %}}\n{loose}{{% endtabs %}}")
    assert html.count("Shown only to readers") == 2


@pytest.mark.parametrize("kind", ["tabs", "stepper", "columns", "updates", "images", "list-unordered"])
def test_what_stands_in_the_place_of_a_part_is_shown(kind: str) -> None:
    assert "stray words" in render(block(kind, {}, paragraph("stray words"))).html
    assert "" in render(block(kind, {})).html


def test_what_can_be_unfolded_is_a_details_element() -> None:
    html = render_markdown("<details open>\n\n<summary>More <strong>here</strong></summary>\n\ninner\n\n</details>")
    assert '<details class="b-expandable" id="more-here" open>' in html
    assert '<summary dir="auto">More <strong>here</strong></summary>' in html
    assert '<p dir="auto">inner</p>' in html


def test_steps_are_an_ordered_list() -> None:
    html = render_markdown("{% stepper %}\n{% step %}\n## One\n{% endstep %}\n{% endstepper %}")
    assert '<ol class="b-stepper"><li class="b-step"><div><h2 id="one"' in html


@pytest.mark.parametrize(
    ("width", "part"), [(50, "b-column-6"), (33.33, "b-column-4"), (200, "b-column-12"), (0, "b-column-1")]
)
def test_widths_of_columns_are_classes(width: float, part: str) -> None:
    column = block("column", {"width": {"unit": "%", "value": width}}, paragraph("x"))
    assert part in render(block("columns", {}, column)).html


def test_updates_have_their_date_and_tags() -> None:
    tags: list[Node] = [{"kind": "tag", "tag": "fix"}]
    html = render(block("updates", {}, block("update", {"date": "2024-01-02", "tags": tags}, paragraph("x")))).html
    assert '<time datetime="2024-01-02">2024-01-02</time>' in html
    assert ">fix</span>" in html
    assert "<span>soon</span>" in render(block("update", {"date": "soon"}, paragraph("x"))).html


def test_a_prompt_shows_what_it_is_for() -> None:
    html = render(block("prompt", {"description": "Write docs", "icon": "rocket"}, paragraph(leaf("Please.")))).html
    assert "Write docs" in html
    assert "Please." in html
