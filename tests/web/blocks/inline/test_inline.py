"""What stands in a line: images, formulas, emoji, icons, buttons, mentions, footnotes and a writer's HTML."""

import re

import pytest

from syncd.web.blocks import BlockContext, Target
from tests.web.blocks.documents import block, inline, leaf, paragraph, render, render_markdown, url


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        (":smile:", 'aria-label="smile" class="b-emoji">😄</span>'),
        (":no_such_emoji_here:", ":no_such_emoji_here:"),
        ('<i class="fa-rocket">:rocket:</i>', 'class="b-icon" role="img" aria-label="rocket"><path d="M'),
        ('<i class="fa-github">:github:</i>', 'class="b-icon" role="img" aria-label="github"><path d="M'),
        (
            '<a href="b.md" class="button primary">Go</a>',
            '<a href="b.md" class="b-button b-button-primary"><span>Go</span></a>',
        ),
        (
            '<button type="button" class="button secondary" data-action="ask" data-query="How?">Ask</button>',
            'href="?ask=How%3F"',
        ),
        (
            '<button type="button" class="button secondary" data-action="search" data-query="x">S</button>',
            'href="?q=x"',
        ),
        ("![Alt text](a.png)", '<img src="a.png" alt="Alt text"'),
        ("a <b>raw *x*</b> b", "a <b>raw <em>x</em></b> b"),
        ("a <u>x", "a <u></u>x"),
        ("a<br>b", "a<br>\nb"),
        (
            "`x --no-flag -n <-->`",
            '<code>x <span class="b-whole">--no-flag</span> <span class="b-whole">-n</span> &lt;--&gt;</code>',
        ),
        ("`--an-option-of-many-letters`", '<code><span class="b-whole">--a</span>n-option-of-many-letters</code>'),
        ("`a-b a--b` and --flag", "<code>a-b a--b</code> and --flag"),
        ('<div align="center">\n\n**x**\n\n</div>', '<div align="center">\n<p dir="auto"><strong>x</strong></p></div>'),
        ("<details class=x><summary>S</summary>\n\nwords\n\n</details>", '<p dir="auto">words</p></details>'),
        ("a <h1>Big</h1>", "<h2>Big</h2>"),
        ('<a name="there"></a>', '<a name="there"'),
        ("<!-- only for writers -->", ""),
        ("[label]: https://x.example", ""),
    ],
)
def test_markdown_becomes_html(markdown: str, html: str) -> None:
    found = render_markdown(markdown)
    assert html in found if html else not found.strip()


def test_addresses_in_html_lead_where_references_do() -> None:
    context = BlockContext(resolve=lambda ref: Target(f"/site/{ref['url']}"))
    html = render_markdown('<p><img src="a.png"><a href="b.md">b</a></p>', context)
    assert 'src="/site/a.png"' in html
    assert 'href="/site/b.md"' in html


def test_formulas_are_mathml_and_bad_ones_their_source() -> None:
    assert "<msup><mi>x</mi><mn>2</mn></msup>" in render_markdown("$$x^2$$ in text")
    assert '<math display="block"' in render_markdown("$$\nx\n$$")
    assert ">\\frac{</code>" in render_markdown("a $$\\frac{$$ b")
    assert "&lt;script&gt;" in render_markdown("a $$\\text{<script>}$$ b")


def test_images_have_a_light_and_a_dark_form() -> None:
    data = {"ref": url("l.png"), "refDark": url("d.png"), "alt": "A", "width": {"unit": "%", "value": 48}}
    caption = {"object": "fragment", "fragment": "caption", "nodes": [paragraph("Words")]}
    html = render(block("images", {"align": "left"}, block("image", data, fragments=[caption]))).html
    assert '<img src="l.png" alt="A" class="b-image b-share-50 b-only-light"' in html
    assert '<img src="d.png" alt="A" class="b-image b-share-50 b-only-dark"' in html
    assert '<figcaption><p dir="auto">Words</p></figcaption>' in html


@pytest.mark.parametrize(
    ("markdown", "sizes"),
    [
        ("![x](x.png)", ["full"]),
        ("Click ![x](x.png) now", ["line"]),
        ("![x](x.png) ![y](y.png)", ["full", "full"]),
        ("[![x](x.png)](https://x.example)", ["full"]),
        ("[![x](x.png)](https://x.example) and more", ["line"]),
        ("[![x](x.png) words](https://x.example)", ["line"]),
        ("**![x](x.png)** words", ["line"]),
        ("<ins>![x](x.png)</ins> words", ["line"]),
        ("Words:\\\n![x](x.png)\\\nSee ![y](y.png).", ["full", "line"]),
        ('<img src="x.png" alt="" data-size="line">![y](y.png)', ["line", "full"]),
        ('Words <img src="x.png" alt="" data-size="original">', ["original"]),
        ('Words <img src="x.png" alt="x">', ["line"]),
        ('Words <img src="x.png" alt="x" width="40">', ["full"]),
        ("## Title ![x](x.png)", ["line"]),
        (":rocket: ![x](x.png)", ["line"]),
        ("| a |\n| --- |\n| ![x](x.png) |\n| b ![x](x.png) |", ["full", "line"]),
        ("- ![x](x.png)\n- b ![x](x.png)", ["full", "line"]),
    ],
)
def test_an_image_with_words_beside_it_is_as_high_as_their_line(markdown: str, sizes: list[str]) -> None:
    assert re.findall(r"<img[^>]* class=\"b-inline-image b-size-([a-z]+)\"", render_markdown(markdown)) == sizes


def test_an_image_that_is_nowhere_leaves_its_words() -> None:
    assert ">What it shows</span>" in render(paragraph(inline("inline-image", {"alt": "What it shows"}))).html


def test_a_mention_has_the_name_of_whom_it_mentions() -> None:
    user = {"kind": "user", "user": "u1"}
    context = BlockContext(resolve=lambda ref: Target("", "Ada"))
    node = paragraph(inline("mention", {"ref": user}))
    assert ">Ada</span>" in render(node, context=context).html
    assert ">u1</span>" in render(node).html


@pytest.mark.parametrize(
    ("html", "shown"),
    [
        ('<img src="x.png">', '<li><img src="x.png" alt=""></li>'),
        ('<img src="x.png" alt="A cat">', '<li><img src="x.png" alt="A cat"></li>'),
        ('<img src="gone.png" alt="A <cat>">', '<span class="b-missing-image">A &lt;cat&gt;</span>'),
        ('<img src="gone.png">', '<span class="b-missing-image">Image</span>'),
    ],
)
def test_a_writers_picture_has_an_alternative_or_stands_as_its_words(html: str, shown: str) -> None:
    context = BlockContext(resolve=lambda ref: Target("" if ref["url"] == "gone.png" else ref["url"]))
    assert shown in render(block("html", {"html": f"<ul><li>{html}</li></ul>"}), context=context).html


def test_footnotes_stand_at_the_end_with_a_way_back() -> None:
    html = render_markdown("One[^a], two[^b], again[^a], none[^c].\n\n[^a]: First *words*[^b].\n\n[^b]: Second.")
    assert (
        '<a href="#user-content-fn-a" id="user-content-fnref-a" role="doc-noteref" aria-label="Footnote 1">1</a>'
        in html
    )
    assert '<li id="user-content-fn-a">First <em>words</em><sup' in html
    assert '<a href="#user-content-fnref-a" role="doc-backlink" aria-label="Back to the text">↩</a>' in html
    assert "none[^c]." in html
    assert html.count("Second.") == 1


def test_a_footnote_that_nothing_speaks_of_is_shown_all_the_same() -> None:
    assert '<li id="user-content-fn-a">Lost words.</li>' in render_markdown("Text.\n\n[^a]: Lost words.")
    html = render_markdown("Text.\n\n[^a]: Lost[^b].\n[^b]: Not lost.")
    assert '<li id="user-content-fn-b">Not lost. <a href="#user-content-fnref-b"' in html


def test_footnotes_may_follow_each_other_without_a_blank_line() -> None:
    notes = "[^a]: First `code`\n[^b]: [Second](https://x.example)\nand more.\n[^a]: once more"
    html = render_markdown(f"One[^a], two[^b].\n\n{notes}")
    assert ">2</a></sup>." in html
    assert '<li id="user-content-fn-a">First <code>code</code> <a' in html
    assert '<li id="user-content-fn-b"><a href="https://x.example" rel="noopener">Second</a> and more.' in html
    assert ": once more" in html


def test_very_many_footnotes_in_one_paragraph_cost_what_they_are() -> None:
    text = {"object": "leaf", "text": "".join(f"[^{number}]: Words. " for number in range(20_000)), "marks": []}
    html = render({"object": "block", "type": "paragraph", "nodes": [{"object": "text", "leaves": [text]}]}).html
    assert html.count(">Words.") == 20_000


def test_very_many_references_to_a_footnote_cost_what_they_are() -> None:
    text = {"object": "leaf", "text": "[^a]" * 20_000, "marks": []}
    note = paragraph("[^a]: Words.")
    html = render(paragraph({"object": "text", "leaves": [text]}), note).html
    assert html.count("doc-noteref") == 20_000


def test_annotations_are_footnotes() -> None:
    body = {"object": "fragment", "fragment": "annotation-body", "nodes": [paragraph("what it says")]}
    html = render(paragraph(inline("annotation", {}, leaf("the words"), fragments=[body]))).html
    assert 'the words<sup class="b-footnote">' in html
    assert "what it says" in html


def test_what_runs_from_right_to_left_finds_its_way() -> None:
    html = render_markdown("# עברית\n\nשלום\n\n- فقرة\n\n| عربي |\n|---|\n| x |\n\n日本語")
    for element in (
        "<h2 id",
        '<p dir="auto">שלום',
        "<li>فقرة",
        '<th scope="col" dir="rtl">عربي',
        '<p dir="auto">日本語',
    ):
        assert element in html


def test_what_holds_paragraphs_runs_as_its_first_letter_does() -> None:
    """A browser looks for no letter in paragraphs, which have a direction of their own."""
    html = render_markdown(
        "> اقتباس\n\n* واحد\n\n  نص\n\n1. ثانيا\n\n   نص\n\n> Quote\n\n| أ | b |\n|---|---|\n| 1 | *2* &amp; |\n\n"
        '{% hint style="info" %}\nتلميح\n{% endhint %}\n\n'
        "{% stepper %}\n{% step %}\nخطوة\n{% endstep %}\n{% endstepper %}\n\n"
        "{% columns %}\n{% column %}\nعمود\n{% endcolumn %}\n{% endcolumns %}\n"
    )
    for element in (
        '<blockquote dir="rtl">',
        '<ul dir="rtl">',
        '<ol dir="rtl">',
        '<table dir="rtl">',
        'role="note" aria-label="Note" dir="rtl">',
        '<ol class="b-stepper" dir="rtl">',
        '<div class="b-columns" dir="rtl">',
        '<blockquote dir="auto"><p dir="auto">Quote',
        '<th scope="col" dir="auto">b',
        "<td>1</td><td><em>2</em> &amp;</td>",
    ):
        assert element in html
