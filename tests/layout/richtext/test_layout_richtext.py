"""Rich text keeps its laws: a page that went through nodes once is a fixed point, and renders as it did before."""

import os
import re
from collections.abc import Callable, Sequence
from functools import cache, partial
from html import unescape
from math import isqrt
from operator import mul
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from syncd.layout.page.frontmatter import split_frontmatter
from syncd.layout.richtext.grammar import build_parser
from syncd.layout.richtext.outline import split_sections
from syncd.layout.richtext.reading import to_document
from syncd.layout.richtext.writing import to_markdown
from tests.growing import assert_linear

EXAMPLES = int(os.environ.get("SYNCD_TEST_EXAMPLES", "2000"))
"""Random pages of each long search."""

PIECES = [
    *("a", "b", "foo", "x1", "é", "日本", "😀", "!", "?", ".", ",", "(", ")", "'", '"', "/", ":", "{", "}"),
    *(
        "&amp;",
        "&copy;",
        "&#32;",
        "&nbsp;",
        "&#10;",
        "#",
        "##",
        "-",
        "+",
        "*",
        "**",
        "***",
        "_",
        "__",
        "~",
        "~~",
        "~~~",
    ),
    *("`", "``", "```", "[", "]", "[x] ", "[ ] ", "![", "](/u)", '](/u "t")', "[a]", "[a]: /u\n", "<", "<b>", "</b>"),
    *("<kbd>", "</kbd>", "<sup>", "</sup>", '<mark style="color:red;">', "</mark>", "<br>", "<div>", "</div>", "<!--"),
    *(
        "-->",
        "<http://a.b>",
        "<p@q.r>",
        "> ",
        "1.",
        "2)",
        "- ",
        "* ",
        "+ ",
        "1. ",
        "10. ",
        "=",
        "===",
        "---",
        "***",
        "|",
    ),
    *("| a |", "| - |", "|:-:|", "\\", "\\*", "\\\n", "  \n", "\n", "\n\n", "\n", "\n    ", "\n  ", "\t", " ", "    "),
    *("```js\n", "~~~\n", "\u00a0", "\u3000"),
]
TAGS = [
    *('{% hint style="info" %}\n', "{% endhint %}\n", '{% tab title="x" %}\n', "{% endtab %}\n", "{% foo %}\n"),
    *("{% endfoo %}\n", "{% foo", "%}", '{% code title="a" %}\n', "{% endcode %}\n", '{% embed url="u" %}\n'),
    *("<details>\n\n", "<summary>t</summary>\n\n", "</details>\n", "$$", "$$x$$", ":smile:", "<table>", "</table>\n"),
    *("<p>", "</p>\n", '<p align="center">', "<h4>", "</h4>", "<br>", "<ul><li>", "</li></ul>", "&#x26;", ":x:"),
    *("<table><thead><tr><th>", "</th></tr></thead><tbody><tr><td>", "</td></tr></tbody></table>\n"),
    *('<div align="left">', "</div>\n", "<figure>", '<img src="a" alt="">', "<figcaption><p>"),
    *("</p></figcaption></figure>\n", "<strong>", "</strong>", '<a href="a">', "</a>", '<i class="fa-x">', "</i>"),
    *('<button type="button" class="button primary" data-action="ask">', "</button>"),
    *("<!--syncd:data {}-->\n", "- ", "> ", "  ", "[^1]", "[t][^1]", "[^1]: x", "a", "\n", "\n\n"),
]
PAGE = """
# Title *with* `code`

A paragraph, wrapped
over two lines, with a hard\\
break, **bold _both_**, ~~struck~~, snake_case, 2 * 3 and [a *link*](x.md "t"). <https://example.com/?a=b&c>

* tight
* list
  1. with
  2. numbers

    code by indentation

3) starts at three

   and is loose
4) so

- [x] done
- [ ] open

> quote
> - in it

| Left | Center | Right | `a|b` |
| :--- | :----: | ----: | ----- |
| a \\| b | **c** | d | |

Setext
------

![image](a.png "title") and ![][ref], then [ref] and [an unused](one).

[ref]: https://example.com "Ref"
[unused]: https://example.org

<div align="center">
  <b>HTML</b>
</div>

***
"""
MARKUP = re.compile("(<pre>.*?</pre>)", re.DOTALL)
BLOCK = re.compile(
    r" ?(</?(?:p|ul|ol|li|blockquote|h[1-6]|table|thead|tbody|tr|td|th|details|summary|tag)\b[^>]*>"
    r"|<hr />|<br />|<pre>) ?"
)


def alternative(tokens: Sequence[Token] | None) -> str:
    """The text of an image: the renderer's own loses what is escaped in an image within an image."""
    signs = {"softbreak": " ", "hardbreak": " "}
    wraps = {"emoji": ":{}:", "math": "$${}$$"}
    return "".join(
        alternative(token.children)
        if token.type == "image"
        else signs.get(token.type, wraps.get(token.type, "{}").format(token.content))
        for token in tokens or ()
    )


def image(self: object, tokens: Sequence[Token], at: int, options: object, env: object) -> str:
    return f"<img {sorted((tokens[at].attrs | {'alt': alternative(tokens[at].children)}).items())}>"


def inline_html(self: object, tokens: Sequence[Token], at: int, options: object, env: object) -> str:
    """A tag as it is, but every spelling of a line break and of an entity in one."""
    return "<br />" if re.fullmatch("<br */?>", tokens[at].content) else unescape(tokens[at].content)


@cache
def standard() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"maxNesting": 45, "tasklists": True}).enable(["table", "strikethrough"])
    made.add_render_rule(
        "html_block", lambda self, tokens, at, options, env: f"\n{unescape(tokens[at].content.lstrip())}"
    )
    made.add_render_rule("image", image)
    made.add_render_rule("html_inline", inline_html)
    return made


@cache
def dialect() -> MarkdownIt:
    """The parser of pages, with a rendering in which tags and formulas can be seen."""
    made: MarkdownIt = build_parser.__wrapped__()
    made.enable("text_join")
    made.normalizeLink = lambda url: MarkdownIt.normalizeLink(made, url)  # type: ignore[method-assign]
    shapes: dict[str, Callable[[str], str]] = {
        "html_block": lambda text: f"\n{unescape(text.lstrip())}",
        "tag": lambda text: f"<tag {' '.join(text.strip('{}% ').replace(chr(39), chr(34)).split())}>\n",
        "math_block": lambda text: f"<math>{text}</math>\n",
        "math": lambda text: f"$${text}$$",
        "emoji": lambda text: f":{text}:",
        "definition": lambda text: "",
    }
    for type, shape in shapes.items():
        made.add_render_rule(type, lambda self, tokens, at, options, env, shape=shape: shape(tokens[at].content))
    made.add_render_rule("image", image)
    made.add_render_rule("html_inline", inline_html)
    return made


def rendered(markdown: str) -> str:
    """HTML with white space where it shows; a page without the platform's additions by the plain parser."""
    added = any(sign in markdown for sign in ("{%", "$$", "[^"))
    html = (
        (dialect() if added else standard())
        .render(markdown if markdown.endswith("\n") else f"{markdown}\n")
        .replace("<p></p>", "")
    )
    parts = MARKUP.split(html)
    parts[::2] = [BLOCK.sub(r"\1", re.sub(r"[ \n\t]+", " ", part)) for part in parts[::2]]
    return "".join(parts).strip()


def assert_laws(markdown: str) -> None:
    document = to_document(markdown)
    written = to_markdown(document)
    again = to_document(written)
    assert again == document
    assert to_markdown(again) == written
    assert rendered(written) == rendered(markdown)


pages = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)
tagged = st.lists(st.sampled_from(TAGS), max_size=20).map("".join)


@given(pages)
@example(PAGE)
@example("*a*_b_ **a**__b__ *a *b* c*")
@example("[**a**](b) **[a](b)** **a [b](c) d**")
@example("- a\n- b\n\n  c\n\n-\n- d\n\n\n\n1. x\n1) y")
@example("* * a\n  * ***\n* ```\n  x\n\n  y")
@example("~~~ a`b\n``` x\n\n~~~")
@example("> <!--\n\na")
@example("<b>\n\na <b>\n<i>\nc")
@example("![a](<b c> \"d 'e'\") [](<>) [x](y\\(z)")
@example("&#32;<b> \\# 1\\. \\- &#10; a")
@example("&#x20;<div>\\\na\n=\n\n&#x20;<div>\n-\n\n# &#x20;<div>")
@example("&#x20;[a](b)\n\n&#x20;&#x20;<b>\n\n&#32;<b>\n\n&#x20;<div a\n\n&#x20;\\<b>\n\n&#x20;<b> c")
@settings(max_examples=25, deadline=None)
def test_markdown_is_said_again(markdown: str) -> None:
    assert_laws(markdown)


@given(tagged)
@example("{% hint %}\n- {% endhint %}\n{% tabs %}\n{% endtabs")
@example('<button type="button" class="button primary" data-action="ask">Ask\n</button>')
@example("- {% hint %}\n  a\n  {% endhint %}\n\nb")
@settings(max_examples=25, deadline=None)
def test_additions_are_said_again(markdown: str) -> None:
    assert_laws(markdown)


@pytest.mark.long
@given(pages | tagged)
@settings(max_examples=EXAMPLES, deadline=None)
def test_many_pages_are_said_again(markdown: str) -> None:
    assert_laws(markdown)


@given(st.text(max_size=200))
@settings(max_examples=25, deadline=None)
def test_any_text_is_a_page(text: str) -> None:
    document = to_document(text)
    assert to_document(to_markdown(document)) == document


def test_a_page_keeps_its_form_where_the_platform_has_no_other() -> None:
    written = to_markdown(to_document(PAGE))
    for line in ("* tight", "  1. with", "3) starts", "* [x] done", "> * in it", "# Title _with_ `code`", "## Setext"):
        assert line.replace("3)", "3.") in written
    assert "wrapped over two lines, with a hard\\\nbreak, **bold _both_**, ~~struck~~, snake_case, 2 * 3" in written
    assert "[unused]: https://example.org" in written
    assert 'then [ref](https://example.com "Ref")' in written
    assert '[ref]: https://example.com "Ref"' in written


@pytest.mark.parametrize("part", range(12))
def test_real_pages_are_said_again(corpora: Path | None, part: int) -> None:
    for path in sorted(corpora.rglob("*.md") if corpora else ())[part::12]:
        assert_laws(split_frontmatter(path.read_text())[1])


def test_a_block_keeps_its_key_when_another_is_put_before_it() -> None:
    page = "Intro\n\n## Same\n\nText\n\n* a\n* b\n\n## Same\n"
    before = [node["key"] for node in to_document(page).nodes]
    after = [node["key"] for node in to_document(f"New\n\n{page}").nodes]
    assert after[1:] == before
    assert len(set(after)) == len(after)
    assert before[4] == f"{before[1]}-2"


def nested(depth: int) -> str:
    return "".join(f"{'  ' * level}- a\n" for level in range(depth))


def options(size: int) -> str:
    """A table whose column has many options, of which each cell has another."""
    known = "".join(f'<option value="{at}" label="L{at}" color="blue"></option>' for at in range(size))
    cells = "".join(f'<tr><td><span data-option="{at}">L{at}</span></td></tr>' for at in range(size))
    return TABLE.format(f"<th><select>{known}</select></th>", cells)


NESTED = nested(200)
TABLE = "<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>"
SIGNS = (">", "[", "![", "*", "_", "`", "<", "{%", "- ", "&", "$$", ":", "|", "\\", "[a](", "<a ")
LINES = ("{% hint %}\n", "{% x %}\n", '{% x "\n\n', "$$\n", "<details>\n\n", "[a]: b\n", "<!--")
ELEMENTS = ("<p>", '<p a="b"', "<table><thead><tr>", "</td>", "<p>&#x26;", '<img src="a">')
HOSTILE: list[Callable[[int], str]] = [
    *(partial(mul, sign) for sign in (*SIGNS, *ELEMENTS)),
    *(lambda size, line=line: line * (size // 8) for line in LINES),
    lambda size: "{% hint %}\n" * (size // 3) + "deep\n" + "{% endhint %}\n" * (size // 3),
    lambda size: "> " * (size // 3) + "deep",
    lambda size: nested(isqrt(3 * size)),
    lambda size: "![" * (size // 24) + "](a)" * (size // 24),
    lambda size: f"<p>{'<strong>a</strong><em>b</em>' * (size // 12)}</p>",
    lambda size: f"<p>{('<kbd>' * 19 + '</kbd>' * 19) * (size // 200)}</p>",
    lambda size: f"<details>\n\n<summary>{'<strong>a</strong>' * (size // 12)}</summary>\n\n</details>",
    lambda size: TABLE.format("<th></th>" * size, ""),
    lambda size: TABLE.format("<th></th>", "<tr><td>a</td></tr>" * (size // 12)),
    lambda size: f"{TABLE.format('<th></th>', '<tr><td>a</td></tr>')}\n\n" * (size // 40),
    lambda size: options(size // 12),
]


@pytest.mark.long
@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text(60)[:8]))
def test_hostile_pages_cost_no_more_than_their_size(text: Callable[[int], str]) -> None:
    def round_trip(size: int) -> None:
        page = text(size)
        document = to_document(page)
        written = to_markdown(document)
        assert to_document(written) == document
        assert len(written) < 4 * len(page) + 100

    assert_linear(round_trip, 1_500)


def test_what_is_nested_too_deep_is_plain_text() -> None:
    written = to_markdown(to_document("> " * 200 + "deep **words**"))
    assert written.startswith("> > > ")
    assert "\\> > >" in written
    assert "deep **words**" in written
    assert sum(section.body.count("a") for section in split_sections(NESTED)) == 200
