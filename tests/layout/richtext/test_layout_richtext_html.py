"""HTML that the platform writes into Markdown: tables, images and aligned text are its nodes, and the same bytes again.

The forms are those of real repositories.
"""

from typing import Any

import pytest

from syncd.layout.richtext.nodes import collect_text
from syncd.layout.richtext.reading import to_document
from syncd.layout.richtext.writing import to_markdown
from syncd.model.document import Document

Node = dict[str, Any]

CARDS = (
    '<table data-card-size="large" data-column-title-hidden data-view="cards" data-full-width="false"><thead><tr>'
    '<th></th><th>Say</th><th data-hidden data-card-target data-type="content-ref"></th>'
    '<th data-hidden data-card-cover data-type="image">Cover image</th>'
    '<th data-hidden data-card-cover-dark data-type="image">Cover image (dark)</th></tr></thead><tbody>'
    '<tr><td><h4><i class="fa-robot">:robot:</i></h4></td><td><strong>AI &#x26; <code>you</code></strong></td>'
    '<td><a href="ai/README.md">ai</a></td><td data-object-fit="contain"><a href="a b.png">a b.png</a></td><td></td>'
    "</tr>"
    '<tr><td></td><td>One<br>two</td><td><a href="x.md#deep">#deep</a></td>'
    '<td><a href="https://x.y/a.png">https://x.y/a.png</a></td><td></td></tr></tbody></table>'
)
GRID = (
    "<table data-header-hidden><thead><tr>"
    '<th width="120" data-type="rating" data-max="5"></th><th width="99.5" align="right" valign="top">T &#x26; '
    '<em>u</em></th><th data-type="number">N</th><th data-type="checkbox"></th><th data-type="files"></th>'
    "<th>State<select multiple>"
    '<option value="1" label="In work" color="blue"></option><option value="2" label="Done" color="green"></option>'
    "</select></th></tr></thead><tbody>"
    '<tr><td>3</td><td align="right" valign="top"><p>A</p><ul><li>B</li><li><p>C</p><ol start="2"><li>D</li></ol>'
    '</li></ul></td><td>-1.5</td><td>true</td><td><a href="a.pdf">a.pdf</a><a href="b.pdf">Other</a></td>'
    '<td><span data-option="1">In work, </span><span data-option="2">Done</span></td></tr>'
    '<tr><td>null</td><td align="right" valign="top"><img src="i.png" alt="" data-size="line"> <img src="j.png" alt="">'
    "</td><td>null</td><td>false</td><td></td><td></td></tr></tbody></table>"
)
PLAIN = "<table><thead><tr><th>A</th></tr></thead><tbody><tr><td>cell</td></tr></tbody></table>"


def read(markdown: str) -> Node:
    """The one block of a page, which comes back with the same bytes."""
    (node,) = to_document(markdown).nodes
    assert to_markdown(Document(nodes=(node,))) == f"{markdown}\n"
    return node


def url(address: str) -> Node:
    return {"kind": "url", "url": address}


def fragments(node: Node) -> dict[str, list[Node]]:
    return {piece["fragment"]: piece["nodes"] for piece in node["fragments"]}


def test_cards_have_a_target_and_covers() -> None:
    table = read(CARDS)
    assert table["type"] == "table"
    assert table["data"]["fullWidth"] is False
    assert table["data"]["view"] == {
        "type": "cards",
        "cardSize": "large",
        "hideColumnTitle": True,
        "columns": ["c0", "c1"],
        "targetDefinition": "c2",
        "coverDefinition": "c3",
        "coverDefinitionDark": "c4",
    }
    assert table["data"]["definition"]["c1"] == {"id": "c1", "title": "Say", "textAlignment": "left", "type": "text"}
    assert table["data"]["definition"]["c3"] == {"id": "c3", "title": "Cover image", "type": "image"}
    first, second = (table["data"]["records"][name]["values"] for name in ("r0", "r1"))
    assert first["c3"] == {"ref": url("a b.png"), "objectFit": "contain"}
    assert (first["c2"], second["c2"], second["c3"]) == (
        url("ai/README.md"),
        url("x.md#deep"),
        url("https://x.y/a.png"),
    )
    assert "c4" not in first
    cells = fragments(table)
    assert cells[first["c0"]][0]["type"] == "heading-3"
    assert cells[first["c0"]][0]["data"] == {"level": 4}
    assert collect_text(cells[second["c1"]][0]) == "One\ntwo"


def test_a_grid_has_columns_of_every_type() -> None:
    table = read(GRID)
    columns = table["data"]["definition"]
    assert table["data"]["view"]["hideHeader"] is True
    assert table["data"]["view"]["columnWidths"] == {"c0": 120, "c1": 99.5}
    assert [column["type"] for column in columns.values()] == [
        "rating",
        "text",
        "number",
        "checkbox",
        "files",
        "select",
    ]
    assert (columns["c1"]["textAlignment"], columns["c1"]["verticalAlignment"]) == ("right", "top")
    assert columns["c0"]["max"] == 5
    assert columns["c5"]["multiple"] is True
    assert columns["c5"]["options"][1] == {"value": "2", "label": "Done", "color": "green"}
    first, second = (table["data"]["records"][name]["values"] for name in ("r0", "r1"))
    assert (first["c0"], first["c2"], first["c3"], first["c5"]) == (3, -1.5, True, ["1", "2"])
    assert first["c4"] == [url("a.pdf"), url("b.pdf")]
    assert table["data"]["labels"] == {"r0c4": ["a.pdf", "Other"]}
    assert (second["c0"], second["c2"], second["c3"], second["c4"], second["c5"]) == (None, None, False, [], [])
    assert [node["type"] for node in fragments(table)[first["c1"]]] == ["paragraph", "list-unordered"]
    (line,) = fragments(table)[second["c1"]]
    assert [node.get("type") for node in line["nodes"]] == ["inline-image", None, "inline-image"]


def test_a_plain_table_in_html_stays_html() -> None:
    table = read(PLAIN)
    assert table["data"]["html"] is True
    del table["data"]["html"]
    assert to_markdown(Document(nodes=(table,))) == "| A    |\n| ---- |\n| cell |\n"


IMAGES = {
    "a caption": (
        '<figure><img src="a.png" alt="A &#x26; B" width="375"><figcaption><p>C <code>d</code></p></figcaption>'
        "</figure>",
        {},
        [{"ref": url("a.png"), "alt": "A & B", "width": 375}],
    ),
    "a share of the width": (
        '<figure><img src="a.png" alt="" width="50%"><figcaption></figcaption></figure>',
        {},
        [{"ref": url("a.png"), "alt": "", "width": {"unit": "%", "value": 50}}],
    ),
    "a dark variant": (
        '<figure><picture><source srcset="d.png" media="(prefers-color-scheme: dark)"><img src="a.png" alt="">'
        "</picture><figcaption></figcaption></figure>",
        {},
        [{"ref": url("a.png"), "alt": "", "refDark": url("d.png")}],
    ),
    "a frame": (
        '<div data-with-frame="true"><figure><img src="a.png" alt=""><figcaption></figcaption></figure></div>',
        {"withFrame": True},
        [{"ref": url("a.png"), "alt": ""}],
    ),
    "a frame without a figure": (
        '<div data-with-frame="true" align="left"><img src="a.png" alt="A"></div>',
        {"withFrame": True, "align": "left"},
        [{"ref": url("a.png"), "alt": "A", "bare": True}],
    ),
    "several side by side": (
        '<div align="left" data-full-width="false"><figure><img src="a.png" alt=""><figcaption></figcaption></figure> '
        '<figure><img src="b.png" alt=""><figcaption><p>B</p></figcaption></figure></div>',
        {"align": "left", "fullWidth": False},
        [{"ref": url("a.png"), "alt": ""}, {"ref": url("b.png"), "alt": ""}],
    ),
    "a link": (
        '<figure><a href="x.md"><img src="a.png" alt=""></a><figcaption></figcaption></figure>',
        {},
        [{"ref": url("a.png"), "alt": "", "link": url("x.md")}],
    ),
}


@pytest.mark.parametrize(("markdown", "data", "images"), IMAGES.values(), ids=IMAGES)
def test_images_have_what_their_figures_say(markdown: str, data: Node, images: list[Node]) -> None:
    block = read(markdown)
    assert (block["type"], block["data"]) == ("images", data)
    assert [image["data"] for image in block["nodes"]] == images


OTHERS = {
    "a drawing": ('<img src="a.svg" alt="" class="gitbook-drawing">', "drawing", {"ref": url("a.svg"), "alt": ""}),
    "an aligned paragraph": ('<p align="center">a <strong>b</strong></p>', "paragraph", {"align": "center"}),
    "an aligned heading": ('<h4 align="right">a</h4>', "heading-3", {"level": 4, "align": "right"}),
    "a paragraph": ("<p>a<br>b</p>", "paragraph", {"html": True}),
}


@pytest.mark.parametrize(("markdown", "type", "data"), OTHERS.values(), ids=OTHERS)
def test_text_and_drawings_in_html_are_blocks(markdown: str, type: str, data: Node) -> None:
    block = read(markdown)
    assert (block["type"], block["data"]) == (type, data)


UNKNOWN = {
    "people": PLAIN.replace("<th>", '<th data-type="users" data-multiple>'),
    "a cell over two columns": PLAIN.replace("<td>", '<td colspan="2">'),
    "no header": "<table><tbody><tr><td>cell</td></tr></tbody></table>",
    "a cell too many": PLAIN.replace("<td>", "<td></td><td>"),
    "a table beside text in a table": PLAIN.replace("cell", f"<p>a</p>{PLAIN}"),
    "an unknown view": PLAIN.replace("<table>", '<table data-view="calendar">'),
    "an unknown attribute": PLAIN.replace("<th>", '<th style="x">'),
    "an alignment of one cell": PLAIN.replace("<td>", '<td align="right">'),
    "no number": PLAIN.replace("<th>", '<th data-type="number">'),
    "an unknown option": PLAIN.replace("A", "<select></select>").replace("cell", '<span data-option="1">x</span>'),
    "an unclosed element": PLAIN.replace("cell", "<strong>cell"),
    "too many columns": PLAIN.replace("<th>A</th>", "<th></th>" * 201).replace("<td>cell</td>", "<td></td>" * 201),
    "too deep": PLAIN.replace("cell", "<kbd>" * 20 + "</kbd>" * 20),
    "a figure without an image": "<figure><figcaption></figcaption></figure>",
    "a picture for another medium": (
        '<figure><picture><source srcset="d.png" media="print"><img src="a.png" alt=""></picture>'
        "<figcaption></figcaption></figure>"
    ),
    "a div of text": '<div align="center">a</div>',
}


@pytest.mark.parametrize("markdown", UNKNOWN.values(), ids=UNKNOWN)
def test_what_is_not_understood_stays_as_it_is(markdown: str) -> None:
    block = read(markdown)
    assert (block["type"], block["data"]) == ("html", {"html": markdown})


def test_a_page_of_too_many_tags_is_one_block_of_code() -> None:
    page = f"Text.\n\n{PLAIN.replace('<tr><td>cell</td></tr>', '<tr><td>cell</td></tr>' * 13_000)}\n"
    (node,) = to_document(page).nodes
    assert node["data"] == {"syntax": "markdown", "plain": True}
    assert to_markdown(to_document(page)) == page
