"""Blocks that lead elsewhere have what is known of the other end; conditions are decided for the reader."""

import pytest

from syncd.layout.evaluation import Variables
from syncd.web.blocks import BlockContext, Target
from syncd.web.blocks.references import format_size
from tests.web.blocks.documents import block, inline, leaf, paragraph, render, render_markdown, url

PAGE = {"kind": "page", "page": "p1"}
KNOWN = BlockContext(resolve=lambda ref: Target("/guide", "The guide", "What it says") if ref == PAGE else None)


def test_a_page_has_its_title_and_description() -> None:
    html = render(block("content-ref", {"ref": PAGE}), context=KNOWN).html
    assert 'href="/guide"' in html
    assert ">The guide</span>" in html
    assert ">What it says</span>" in html


def test_a_link_without_words_has_the_title_of_its_page() -> None:
    assert '<a href="/guide">The guide</a>' in render(paragraph(inline("link", {"ref": PAGE})), context=KNOWN).html


def test_what_leads_nowhere_is_marked_and_noted() -> None:
    gone = {"kind": "page", "page": "p2"}
    found = render(paragraph(inline("link", {"ref": gone}, leaf("words"))), block("content-ref", {"ref": gone}))
    assert '<span class="b-broken" title="This link leads nowhere.">words</span>' in found.html
    assert found.unresolved == (gone,)
    assert "href" not in found.html


def test_a_file_has_its_name_and_size() -> None:
    context = BlockContext(resolve=lambda ref: Target("/f/manual.pdf", "manual.pdf", size=1_500_000))
    html = render(block("file", {"ref": {"kind": "file", "file": "f"}}), context=context).html
    assert "1.4 MB" in html
    assert "download" in html


@pytest.mark.parametrize(
    ("size", "words"), [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KB"), (52_428_800, "50 MB"), (-1, "0 B")]
)
def test_sizes_are_short(size: int, words: str) -> None:
    assert format_size(size) == words


def test_an_embed_is_a_link_that_loads_nothing() -> None:
    found = render(block("embed", {"url": "https://youtu.be/x"}))
    assert 'href="https://youtu.be/x" rel="noopener" data-embed="https://youtu.be/x"' in found.html
    assert "iframe" not in found.html
    assert found.assets == {"embeds"}


def test_reusable_content_has_footnotes_of_its_own() -> None:
    ref = {"kind": "reusable-content", "reusableContent": "r"}
    context = BlockContext(read_reusable=lambda ref: [paragraph("shared[^1]"), paragraph("[^1]: of the content")])
    page = (block("reusable-content", {"ref": ref}), paragraph("own[^1]"), paragraph("[^1]: of the page"))
    html = render(*page, context=context).html
    assert '<p dir="auto">shared<sup class="b-footnote"><a href="#user-content-fn-1" ' in html
    assert '<li id="user-content-fn-1">of the content <a href="#user-content-fnref-1" ' in html
    assert '<p dir="auto">own<sup class="b-footnote"><a href="#user-content-fn-1-1" ' in html
    assert '<li id="user-content-fn-1-1">of the page <a href="#user-content-fnref-1-1" ' in html


def test_reusable_content_stands_in_its_place() -> None:
    ref = {"kind": "reusable-content", "reusableContent": "r"}
    context = BlockContext(read_reusable=lambda ref: [paragraph("shared words")])
    assert "shared words" in render(block("reusable-content", {"ref": ref}), context=context).html
    found = render(block("reusable-content", {"ref": ref}))
    assert "is not there" in found.html
    assert found.unresolved == (ref,)


def test_a_page_has_one_heading_of_level_1_whatever_it_includes() -> None:
    ref = {"kind": "reusable-content", "reusableContent": "r"}
    headings = [block(f"heading-{level}", None, leaf(f"Part {level}")) for level in (1, 2)]
    context = BlockContext(read_reusable=lambda ref: headings)
    found = render(
        block("reusable-content", {"ref": ref}),
        block("heading-2", None, leaf("Own")),
        context=context,
    )
    assert [(entry.title, entry.level) for entry in found.outline] == [("Part 1", 2), ("Part 2", 3), ("Own", 2)]
    assert "<h1" not in found.html


def test_an_integration_is_readable() -> None:
    props = {"url": "https://x.example", "lines": 3, "of": ["a", {"b": 1}]}
    html = render(block("integration", {"integration": "github", "block": "file", "props": props})).html
    for words in (
        "github/file",
        "https://x.example",
        '<dt>lines</dt><dd dir="auto">3</dd>',
        "[&#34;a&#34;, {&#34;b&#34;: 1}]",
    ):
        assert words in html


def test_a_diagram_reads_as_its_source() -> None:
    found = render_markdown("```mermaid\ngraph TD; A-->B\n```")
    assert "graph TD; A--&gt;B</pre>" in found
    node = block("integration", {"integration": "mermaid", "block": "d", "props": {"content": "graph"}})
    assert render(node).assets == {"mermaid"}


def test_unknown_tags_stay_as_they_are_written() -> None:
    html = render_markdown('{% chart a="b" %}\nwords\n{% endchart %}')
    assert "{% chart a=&#34;b&#34; %}\nwords\n{% endchart %}" in html
    assert "not known here (chart)" in html


@pytest.mark.parametrize("around", ["{}", "* one\n\n  {}", "> {}"])
def test_a_block_without_an_end_says_so_where_it_begins(around: str) -> None:
    html = render_markdown("Before.\n\n" + around.format('{% hint style="info" %}') + "\n\nWords.")
    assert "This block begins here, and no {% endhint %} ends it:" in html
    assert html.index("Before.") < html.index("{% hint style=&#34;info&#34; %}</pre>") < html.index("Words.")
    assert "not known here" not in html


@pytest.mark.parametrize(
    "line", ['{% hint style="info" %}Words.{% endhint %}', "{% if visitor.claims.a %}Words.{% endif %}"]
)
def test_a_block_on_one_line_says_that_it_is_none(line: str) -> None:
    html = render_markdown(line)
    assert "with other words, this is no block:" in html
    assert "ends it" not in html


def test_an_end_without_a_block_says_that_it_ends_none() -> None:
    html = render_markdown("{% endtabs %}")
    assert "This ends no block:" in html
    assert "{% endtabs %}</pre>" in html


EXPRESSION = '<code class="expression">space.vars.v</code>'
CONDITION = f"{{% if visitor.claims.beta %}}\nsecret words\n{{% endif %}}\n\nx {EXPRESSION} {{{{ space.vars.v }}}}"


@pytest.mark.parametrize(
    ("claims", "is_shown", "is_noted"), [(None, True, True), ({}, False, False), ({"beta": True}, True, False)]
)
def test_conditions_are_decided_for_the_reader(claims: dict[str, bool] | None, is_shown: bool, is_noted: bool) -> None:
    html = render_markdown(CONDITION, BlockContext(variables=Variables({"space": {"v": "1.2"}}, claims)))
    assert ("secret words" in html) is is_shown
    assert ("visitor.claims.beta" in html) is is_noted
    assert "x 1.2 1.2" in html


def test_expressions_without_a_value_stay_as_they_are() -> None:
    assert '<code class="b-expression">space.vars.v</code>' in render_markdown(CONDITION)


def test_what_a_reader_may_not_see_is_not_looked_at() -> None:
    hidden = block("if", {"expression": "visitor.claims.beta"}, paragraph(inline("link", {"ref": PAGE}, leaf("x"))))
    found = render(hidden, block("heading-2", {}, leaf("A")), context=BlockContext(variables=Variables({}, {})))
    assert found.unresolved == ()
    assert [entry.title for entry in found.outline] == ["A"]


def test_addresses_with_other_hosts_say_so() -> None:
    assert 'rel="noopener"' in render(paragraph(inline("link", {"ref": url("//other.example")}, leaf("x")))).html
