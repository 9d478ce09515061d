"""Paragraphs, headings, lists and quotes become the elements that browsers and screen readers know."""

import re

import pytest

from syncd.layout.richtext.reading import to_document
from syncd.web.blocks import BlockContext, OutlineEntry, render_document
from tests.web.blocks.documents import block, leaf, paragraph, render, render_markdown


def test_text_is_escaped_and_breaks_stay() -> None:
    assert '<p dir="auto">a &lt;b&gt; &amp; c<br>\nd</p>' in render(paragraph("a <b> & c\nd")).html


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("*a* **b** `c` ~~d~~", "<em>a</em> <strong>b</strong> <code>c</code> <s>d</s>"),
        ("<kbd>K</kbd> H<sub>2</sub>O x<sup>3</sup>", "<kbd>K</kbd> H<sub>2</sub>O x<sup>3</sup>"),
        ("**a *b* c**", "<strong>a <em>b</em> c</strong>"),
        ("**[a](b)**", '<strong><a href="b">a</a></strong>'),
        ('<mark style="color:red;background-color:$primary;">c</mark>', None),
        ("1. a\n2. b", '<ol dir="auto"><li>a</li><li>b</li></ol>'),
        ("3. a\n4. b", '<ol start="3" dir="auto">'),
        ("- a\n  - b", '<ul dir="auto"><li>a<ul dir="auto"><li>b</li></ul></li></ul>'),
        ("> a", '<blockquote dir="auto"><p dir="auto">a</p></blockquote>'),
        ("***", "<hr>"),
        ("- [x] a", 'aria-label="Done"'),
        ("- [ ] a", 'aria-label="To do"'),
    ],
)
def test_markdown_becomes_html(markdown: str, html: str | None) -> None:
    if html is not None:
        assert html in render_markdown(markdown)


def test_colors_are_classes() -> None:
    mark = {"object": "mark", "type": "color", "data": {"text": "red", "background": "url(x)"}}
    assert '<span class="b-text-red">c</span>' in render(paragraph(leaf("c", mark))).html


def test_levels_leave_no_gap_below_the_title_of_the_page() -> None:
    two, three = block("heading-2", {}, leaf("A")), block("heading-3", {"level": 5}, leaf("B"))
    assert [entry.level for entry in render(two, three).outline] == [2, 5]
    one = block("heading-1", {}, leaf("A"))
    assert [entry.level for entry in render(one, two).outline] == [2, 3]


def test_anchors_are_those_of_the_platform_and_each_its_own() -> None:
    first, second = block("heading-2", {"id": "x"}, leaf("A b")), block("heading-2", {}, leaf("1. Set up"))
    found = render(first, second, second)
    assert found.outline == (
        OutlineEntry("x", "A b", 2),
        OutlineEntry("id-1.-set-up", "1. Set up", 2),
        OutlineEntry("id-1.-set-up-1", "1. Set up", 2),
    )
    assert '<h2 id="x" dir="auto">A b<a href="#x" class="b-anchor" aria-label="Link to “A b”">#</a></h2>' in found.html


def test_headings_and_footnotes_around_which_html_stands_keep_their_order() -> None:
    text = "## A\n\nx[^1]\n\n<div>\n\n## B\n\ny[^2]\n\n</div>\n\n## C\n\n[^1]: a\n[^2]: b"
    found = render_document(to_document(text), BlockContext())
    assert [entry.title for entry in found.outline] == ["A", "B", "C"]
    assert re.findall(r'"user-content-fnref-([12])"[^>]*>([12])</a>', found.html) == [("1", "1"), ("2", "2")]
