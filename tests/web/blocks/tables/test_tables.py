"""Tables have a heading for each column, and a value of each type that a column can have."""

from typing import Any

import pytest

from syncd.web.blocks import BlockContext, Target
from tests.web.blocks.documents import Node, block, leaf, paragraph, render, render_markdown, url


def table(definition: dict[str, Node], values: Node, **view: Any) -> Node:
    """A table of one record."""
    columns = {name: {"id": name} | one for name, one in definition.items()}
    shown = {"type": "grid", "columns": list(columns)} | view
    records = {"r0": {"orderIndex": "000000", "values": values}}
    words = {"object": "fragment", "fragment": "cell", "nodes": [paragraph("the words")]}
    return block("table", {"view": shown, "definition": columns, "records": records}, fragments=[words])


def test_a_table_of_markdown_has_headings_and_cells() -> None:
    html = render_markdown("| *A* | B |\n|---|--:|\n| x | `y` |")
    assert '<th scope="col" dir="auto"><em>A</em></th>' in html
    assert '<td class="b-align-right" dir="auto"><code>y</code></td>' in html


@pytest.mark.parametrize(
    ("definition", "value", "html"),
    [
        ({"type": "text"}, "cell", "the words"),
        ({"type": "text"}, "no such cell", "no such cell"),
        ({"type": "number"}, 3.0, ">3</td>"),
        ({"type": "number"}, 2.5, ">2.5</td>"),
        ({"type": "number"}, "x", ">x</td>"),
        ({"type": "checkbox"}, True, 'aria-label="Yes">✓'),
        ({"type": "checkbox"}, False, 'aria-label="No">'),
        ({"type": "rating", "max": 5}, 3, 'aria-label="3 of 5">★★★☆☆'),
        ({"type": "rating", "max": 1e9}, 3, "☆" * 17),
        ({"type": "select", "options": [{"value": "a", "label": "Alpha", "color": "red"}]}, ["a", "b"], "b-back-red"),
        ({"type": "select", "options": [{"value": "a", "label": "Alpha"}]}, ["a"], ">Alpha</span>"),
        ({"type": "users"}, ["u1"], ">u1</span>"),
        ({"type": "users"}, [{"kind": "user", "user": "u2"}], ">u2</span>"),
        ({"type": "content-ref"}, url("a.md"), '<a href="a.md">a.md</a>'),
        ({"type": "files"}, [url("a.pdf"), "b.pdf"], '<a href="a.pdf">a.pdf</a>, <a href="b.pdf">b.pdf</a>'),
        ({"type": "image"}, {"ref": url("a.png"), "objectFit": "cover"}, 'src="a.png"'),
        ({"type": "other"}, ["x", 1, True], "x, 1, "),
    ],
)
def test_values_of_each_type_are_shown(definition: Node, value: Any, html: str) -> None:
    assert html in render(table({"c0": definition}, {"c0": value})).html


def test_hidden_columns_and_headings_stay_hidden() -> None:
    node = table({"c0": {"title": "A"}, "c1": {"title": "B"}}, {"c0": "x", "c1": "y"}, columns=["c1"], hideHeader=True)
    html = render(node).html
    assert "y" in html
    assert ">x<" not in html
    assert "<th" not in html


def test_cards_have_a_cover_a_target_and_their_words() -> None:
    definition: dict[str, Node] = {
        "c0": {"type": "text"},
        "c1": {"type": "files"},
        "c2": {"type": "content-ref"},
        "c3": {"type": "rating", "title": "Stars"},
    }
    values = {"c0": "cell", "c1": ["f1"], "c2": {"kind": "page", "page": "p"}, "c3": 2}
    view = {
        "type": "cards",
        "columns": ["c0", "c3"],
        "coverDefinition": "c1",
        "targetDefinition": "c2",
        "cardSize": "large",
    }
    context = BlockContext(resolve=lambda ref: Target(f"/{ref.get('file') or ref.get('page')}", "Title"))
    html = render(table(definition, values, **view), context=context).html
    assert '<ul class="b-cards b-cards-large">' in html
    assert '<img class="b-cover" src="/f1" alt=""' in html
    assert '<a class="b-card-link" href="/p" aria-label="Title">' in html
    assert "the words" in html
    assert '<span class="b-card-label">Stars</span>' in html


def test_records_stand_in_their_order() -> None:
    records = {name: {"orderIndex": index, "values": {"c0": name}} for name, index in (("late", "b"), ("early", "a"))}
    view = {"type": "grid", "columns": ["c0"]}
    html = render(block("table", {"view": view, "definition": {"c0": {"type": "text"}}, "records": records})).html
    assert html.index("early") < html.index("late")


def test_cells_hold_blocks() -> None:
    held = {"object": "fragment", "fragment": "cell", "nodes": [paragraph(leaf("one")), block("divider")]}
    node = table({"c0": {"type": "text"}}, {"c0": "cell"})
    assert '<p dir="auto">one</p><hr>' in render(node | {"fragments": [held]}).html
