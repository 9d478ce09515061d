"""Documents of people who mean harm: nothing of them runs, nothing is lost without a word, nothing raises."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncd.model.document import BLOCKS, INLINES
from syncd.web.blocks import BlockContext, Target
from tests.web.blocks.documents import Node, block, inline, leaf, paragraph, render, render_markdown, url

ELEMENTS = frozenset(
    {
        *("a", "abbr", "article", "aside", "b", "bdi", "blockquote", "br", "code", "col", "colgroup", "dd", "details"),
        *("div", "dl", "dt", "em", "figcaption", "figure", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "input"),
        *("kbd", "label", "li", "ol", "p", "pre", "s", "section", "span", "strong", "sub", "summary", "sup", "table"),
        *("tbody", "td", "th", "thead", "time", "tr", "u", "ul", "center", "small", "mark", "picture", "q"),
        *("math", "mfrac", "mi", "mn", "mo", "mrow", "mspace", "msqrt", "mstyle", "msub", "msup", "mtext", "mtable"),
        *("mtr", "mtd", "munder", "mover", "mroot", "mpadded", "mphantom", "menclose", "msubsup", "munderover"),
    }
)
_ADDRESS = re.compile(r"(?:https?:|mailto:|tel:|[^:]*$|[^:/?#]*[/?#])", re.IGNORECASE)


class Checker(HTMLParser):
    """Collects what a browser would have to be afraid of."""

    def __init__(self) -> None:
        super().__init__()
        self.wrong: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ELEMENTS:
            self.wrong.append(tag)
        for name, value in attrs:
            if name.startswith("on") or name in ("style", "srcdoc", "srcset", "formaction", "action", "xlink:href"):
                self.wrong.append(name)
            if name in ("href", "src", "data-embed") and not _ADDRESS.match(value or ""):
                self.wrong.append(str(value))
            if name == "id":
                self.ids.append(str(value))

    def handle_comment(self, data: str) -> None:
        self.wrong.append(f"<!--{data}")


def check(html: str) -> None:
    """Assert that HTML has only elements, attributes and addresses that can do no harm, and each id once."""
    checker = Checker()
    checker.feed(html)
    checker.close()
    assert not checker.wrong, html
    assert len(set(checker.ids)) == len(checker.ids), html


@pytest.mark.parametrize("html", ["<script>", "<p onclick=x>", '<a href="java:x">', "<!--x-->", "<p id=x><p id=x>"])
def test_the_check_finds_what_it_should(html: str) -> None:
    with pytest.raises(AssertionError):
        check(html)


HTML = [
    "<script>alert(1)</script>",
    "<SCRIPT SRC=//evil.example/x.js></SCRIPT>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)><circle/></svg>",
    "<svg><script>alert(1)</script></svg>",
    "<svg><animate onbegin=alert(1) attributeName=x dur=1s>",
    '<svg><use href="data:image/svg+xml,<svg id=x xmlns=http://www.w3.org/2000/svg><script>alert(1)</script></svg>#x"/>',
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style></mglyph></table></mtext></math>",
    '<math href="javascript:alert(1)"><mi>x</mi></math>',
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<iframe src=javascript:alert(1)></iframe>",
    "<object data=data:text/html,<script>alert(1)</script>></object>",
    "<embed src=javascript:alert(1)>",
    '<a href="javascript:alert(1)">x</a>',
    '<a href=" java\tscript:alert(1)">x</a>',
    '<a href="&#106;avascript:alert(1)">x</a>',
    '<a href="data:text/html,<script>alert(1)</script>">x</a>',
    '<a href="vbscript:msgbox(1)">x</a>',
    "<form action=javascript:alert(1)><button formaction=javascript:alert(1)>x</button></form>",
    "<input autofocus onfocus=alert(1)>",
    "<details open ontoggle=alert(1)>x</details>",
    "<body onload=alert(1)>",
    "<base href=//evil.example/>",
    "<meta http-equiv=refresh content='0;url=javascript:alert(1)'>",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<style>*{background:url(javascript:alert(1))}</style>",
    '<div style="background:url(javascript:alert(1))">x</div>',
    '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
    "<template><img src=x onerror=alert(1)></template>",
    '<textarea><img title="</textarea><img src=x onerror=alert(1)>"></textarea>',
    '<xmp><img title="</xmp><img src=x onerror=alert(1)>"></xmp>',
    '<title><img title="</title><img src=x onerror=alert(1)>"></title>',
    "<!--><img src=x onerror=alert(1)>-->",
    "<![CDATA[<img src=x onerror=alert(1)>]]>",
    "<a href='x' onclick='alert(1)' id='_strip' name='_main' style='x'>x</a>",
    "<p id=x>1</p><p id=x>2</p>",
    '<img srcset="x.png 1x, javascript:alert(1) 2x" src="data:image/svg+xml,<svg onload=alert(1)>">',
    "<table background=javascript:alert(1)><tr><td>x</td></tr></table>",
    "<div " + "<div " * 200,
    "<b>" * 3000 + "x",
    "<a title='\ue0000\ue001'>",
]


@pytest.mark.parametrize("html", HTML)
def test_html_of_markdown_does_no_harm(html: str) -> None:
    check(render_markdown(html))
    check(render_markdown(f"before {html} after"))
    check(render_markdown(f"{html}\n\nbetween *words*\n\n</b></div></a></svg></details>"))


@pytest.mark.parametrize("html", HTML)
def test_html_in_nodes_does_no_harm(html: str) -> None:
    data = {"html": html}
    check(render(block("html", data), paragraph("x <b>"), block("html", {"html": "</a></div>"})).html)
    check(
        render(
            paragraph(inline("html", data), leaf('\ue0000\ue001 " onclick=x'), inline("html", {"html": "</a>"}))
        ).html
    )


ADDRESSES = [
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    " javascript:alert(1)",
    "\x01javascript:alert(1)",
    "java\nscript:alert(1)",
    "java\tscript:alert(1)",
    "javascript&colon;alert(1):",
    "data:text/html,<script>alert(1)</script>",
    "data:image/svg+xml;base64,PHN2Zz4=",
    "vbscript:x",
    "file:///etc/passwd",
    "blob:https://x/1",
    "view-source:x",
    "intent://x#Intent;end",
    "\ufeffjavascript:alert(1)",
    "javascript\u200b:alert(1)",
    "x y:alert(1)",
    "ja%76ascript:alert(1)",
    '"><script>alert(1)</script>',
    "x" * 10_000,
]


def link_everywhere(address: str) -> list[Node]:
    """Every block and inline that leads somewhere, all to one address."""
    ref = url(address)
    cell = {"c0": ref, "c1": [ref, address], "c2": {"ref": ref, "objectFit": "cover"}}
    kinds = {"c0": "content-ref", "c1": "files", "c2": "image"}
    definition = {name: {"id": name, "type": kind, "title": "t"} for name, kind in kinds.items()}
    grid = {"records": {"r0": {"orderIndex": "0", "values": cell}}, "definition": definition}
    cards = {"type": "cards", "targetDefinition": "c0", "coverDefinition": "c1", "coverDefinitionDark": "c2"}
    return [
        paragraph(inline("link", {"ref": ref, "title": address}, leaf("x"))),
        paragraph(inline("mention", {"ref": ref, "text": "x"})),
        paragraph(inline("button", {"ref": ref, "label": "x"})),
        paragraph(inline("inline-image", {"ref": ref, "refDark": ref})),
        block("images", {}, block("image", {"ref": ref, "refDark": ref, "link": ref, "alt": address})),
        block("drawing", {"ref": ref}),
        block("file", {"ref": ref}),
        block("content-ref", {"ref": ref}),
        block("embed", {"url": address}),
        block("integration", {"integration": "x", "block": "y", "props": {"url": address, "z": [address]}}),
        block("table", {"view": {"type": "grid", "columns": list(cell)}, **grid}),
        block("table", {"view": cards | {"columns": list(cell)}, **grid}),
        block("html", {"html": f'<a href="{address}">x</a><img src="{address}">'}),
    ]


@pytest.mark.parametrize("address", ADDRESSES)
def test_only_known_schemes_become_links(address: str) -> None:
    check(render(*link_everywhere(address)).html)
    targeted = BlockContext(resolve=lambda ref: Target(address, "<b>title</b>", "<i>", emoji="<u>"))
    found = render(*link_everywhere("/x"), context=targeted).html
    check(found)
    assert "<b>title" not in found


@pytest.mark.parametrize(
    "address", ["http://a/b", "HTTPS://a", "mailto:a@b.c", "tel:+1", "/a", "a.md#b", "#x", "?q=1", "a/b:c"]
)
def test_addresses_of_documents_become_links(address: str) -> None:
    assert f'href="{address}"' in render(paragraph(inline("link", {"ref": url(address)}, leaf("x")))).html


@pytest.mark.parametrize("kind", ["block", "inline"])
@pytest.mark.parametrize(
    "payload", ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{ 7*7 }}", "\x00\ud800"]
)
def test_words_of_any_member_stay_words(kind: str, payload: str) -> None:
    members = ("title", "style", "icon", "syntax", "formula", "code", "text", "label", "alt", "caption", "date", "url")
    data: Node = dict.fromkeys((*members, "source", "tag", "expression", "integration", "arguments", "id"), payload)
    for name in sorted(BLOCKS | INLINES | {"html", "tag", payload}):
        node = {"object": kind, "type": name, "data": data, "nodes": [leaf(payload)], "meta": {"id": payload}}
        fragments = [{"object": "fragment", "fragment": payload, "nodes": [paragraph(payload)]}]
        check(render(node | {"fragments": fragments}, paragraph(node)).html)


@pytest.mark.parametrize(
    "formula",
    [
        r"\text{<script>alert(1)</script>}",
        r"\href{javascript:alert(1)}{x}",
        r"\style{color:red}{x}",
        r"\class{a\" onclick=\"x}{b}",
        r"\mathop{<img src=x onerror=alert(1)>}",
        r"\color{red\" onclick=\"x}{b}",
        r"\frac{",
        "{" * 1000 + "x" + "}" * 1000,
        r"\left(" * 300,
        "x" * 5000,
        "",
    ],
)
def test_formulas_do_no_harm(formula: str) -> None:
    check(render(block("math", {"formula": formula}), paragraph(inline("inline-math", {"formula": formula}))).html)


@pytest.mark.parametrize(
    "kind", ["blockquote", "hint", "expandable", "tabs", "list-unordered", "columns", "nobody-knows"]
)
def test_what_is_nested_without_end_is_shown_as_its_words(kind: str) -> None:
    node = paragraph("deep words")
    for _ in range(3000):
        node = block(kind, {}, node)
    found = render(node).html
    check(found)
    assert "deep words" in found


def test_inlines_nested_without_end_are_shown_as_their_words() -> None:
    node = leaf("deep words")
    for _ in range(3000):
        node = inline("link", {"ref": url("/x")}, node)
    assert "deep words" in render(paragraph(node)).html
    notes = "\n\n".join(f"[^{number}]: see [^{number + 1}]" for number in range(3000))
    assert "see" in render_markdown(f"[^0]\n\n{notes}\n\n[^3000]: end")


def test_content_that_includes_itself_ends() -> None:
    ref = {"kind": "reusable-content", "reusableContent": "a"}
    held = [
        paragraph("again"),
        block("reusable-content", {"ref": ref}),
        block("reusable-content", {"ref": ref | {"x": 1}}),
    ]
    context = BlockContext(read_reusable=lambda ref: held)
    assert render(*held, context=context).html.count("again") < 300


@pytest.mark.parametrize("kind", ["widget", "heading-9", "", None, 7, ["x"]])
def test_what_is_not_known_is_shown_with_a_note(kind: Any) -> None:
    node = {"object": "block", "type": kind, "data": {}, "nodes": [paragraph("its words")]}
    found = render(node, paragraph({"object": "inline", "type": kind, "nodes": [leaf("and these")]}))
    assert "its words" in found.html
    assert "and these" in found.html
    assert "not known here" in found.html
    assert found.unknown


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(["type", "data", "nodes", "fragments", "leaves", "marks", "object", "ref", "view", "records"])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.dictionaries(NAMES, ANY, max_size=5), max_size=3), st.data())
def test_no_shape_raises(nodes: list[Node], data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(sorted(BLOCKS | INLINES)))
    strange = {"object": data.draw(st.sampled_from(["block", "inline"])), "type": kind}
    check(render(*nodes, *(strange | node | {"type": kind} for node in nodes)).html)
