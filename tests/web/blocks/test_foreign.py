"""A link stands for a picture of another host that the page does not load."""

import pytest

from syncd.web.blocks import BlockContext, Target
from tests.growing import assert_linear
from tests.web.blocks.documents import Node, block, inline, leaf, paragraph, render, render_markdown, url

FAR = "https://example.org/a.png"
LOADING = BlockContext(loads_foreign_pictures=True)
LINK = f'<a href="{FAR}" rel="noopener noreferrer" class="b-foreign-picture">Picture from example.org: A cat</a>'
IN_LINK = '<span class="b-foreign-picture">Picture from example.org: A cat</span>'
IMAGE = {"ref": url(FAR), "alt": "A cat"}
CELLS = {"view": {"type": "grid"}, "definition": {"c": {"type": "image"}}, "records": {"r": {"values": {"c": FAR}}}}


@pytest.mark.parametrize(
    "node",
    [
        paragraph(inline("inline-image", IMAGE)),
        block("images", {}, block("image", IMAGE)),
        block("html", {"html": f'<p align="center"><img alt="A cat" width="200" src="{FAR}"></p>'}),
    ],
)
def test_a_link_stands_for_a_picture_of_another_host(node: Node) -> None:
    html = render(node).html
    assert LINK in html
    assert "<img" not in html
    shown = render(node, context=LOADING).html
    assert f'src="{FAR}"' in shown
    assert "b-foreign-picture" not in shown


def test_a_cell_has_a_link_and_a_card_no_cover() -> None:
    html = render(block("table", CELLS)).html
    assert f'href="{FAR}"' in html
    assert "Picture from example.org</a>" in html
    card = {**CELLS, "view": {"type": "cards", "coverDefinition": "c", "columns": []}}
    assert "<img" not in render(block("table", card)).html
    assert f'src="{FAR}"' in render(block("table", card), context=LOADING).html


@pytest.mark.parametrize(
    "text",
    [
        f"[![A cat]({FAR})](page.md)",
        f'<a href="page.md"><img src="{FAR}" alt="A cat"></a>',
        f'<a href="page.md">**![A cat]({FAR})**</a>',
    ],
)
def test_no_link_stands_in_a_link(text: str) -> None:
    html = render_markdown(text)
    assert IN_LINK in html
    assert html.count("<a ") == 1


def test_a_picture_behind_a_link_is_a_link() -> None:
    assert LINK in render_markdown(f'<p><a href="b.md">b</a> <img src="{FAR}" alt="A cat"></p>')
    link = inline("link", {"ref": url("b.md")}, leaf("b"))
    assert LINK in render(paragraph(link, inline("inline-image", IMAGE))).html


def test_each_theme_has_the_link_to_its_own_picture() -> None:
    data = {**IMAGE, "refDark": url("dark.png")}
    html = render(block("images", {}, block("image", data))).html
    assert 'class="b-foreign-picture b-only-light"' in html
    assert '<img src="dark.png" alt="A cat" class="b-image b-only-dark"' in html


def test_a_picture_without_encryption_is_loaded_nowhere() -> None:
    text = "![A cat](http://example.org:8080/a.png)"
    for context in (BlockContext(), LOADING):
        assert ">Picture from example.org: A cat</a>" in render_markdown(text, context)


def test_a_file_of_the_host_of_the_page_is_shown() -> None:
    own = BlockContext(resolve=lambda ref: Target("http://127.0.0.1:8000/f/a.png", is_own=True))
    html = render(block("images", {}, block("image", {"ref": {"kind": "file", "file": "f"}})), context=own).html
    assert '<img src="http://127.0.0.1:8000/f/a.png"' in html


def test_what_a_picture_says_of_itself_is_text() -> None:
    html = render_markdown(f'<img src="{FAR}?a=1&amp;b=2" alt="<b>&quot;x&quot; &amp; y</b>">')
    assert "Picture from example.org: &lt;b&gt;&#34;x&#34; &amp; y&lt;/b&gt;</a>" in html
    assert f'href="{FAR}?a=1&amp;b=2"' in html


def test_words_between_many_elements_of_one_take_linear_time() -> None:
    assert_linear(lambda count: render_markdown("<span>" + "x <b>y</b> " * count + "</span>\n"), 400)
