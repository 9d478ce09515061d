"""Addresses in pages: found where they are addresses, untouched everywhere else."""

from itertools import pairwise
from math import isqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncd.layout.markdown.addresses import make_relative, resolve_address
from syncd.layout.page.links import find_targets, follow_moves, rewrite_addresses
from tests.growing import assert_linear

PAGE = """\
---
icon: x
cover: .gitbook/assets/cover (1).png
coverY: 0
---

# [A](h1.md)

Text [one](one.md "T"), ![two](<two (1).png>), [three](a_(b).md 'T') and [four][ref]. [![i](inner.png)](outer.md)
[ref]: ref.md "T"
[^1]: a note with [five](five.md)

* item [six](six.md)

  continued [seven](seven.md)

      code [no](no.md)
    * nested [eight](eight.md)

> quoted [nine](nine.md)
> ```
> [no](no.md)
> ```

    indented [no](no.md)

```md
[no](no.md)
```

~~~~
[no](no.md)
~~~
[no](no.md)
~~~~

Inline `[no](no.md)` and ``a ` [no](no.md)`` and \\`[ten](ten.md)\\` and \\[no](no.md)
and unclosed ` [eleven](eleven.md).

<figure><img src="fig.png" alt="a > b"><figcaption>[x](twelve.md)</figcaption></figure>
<a class="button" href='thirteen.md?a=1&amp;b=2#c'>x</a> <picture><source srcset="dark.png" media="(x)"></picture>
<!-- [no](no.md) <img src="no.png"> --> <code>[no](no.md)</code>
<pre><code>
[no](no.md)

[no](no.md)
</code></pre>

{% file src=".gitbook/assets/a.pdf" %}
{% embed url="https://x.y/z" %}
{% content-ref url="./" %}
[fourteen.md](fourteen.md)
{% endcontent-ref %}
{% include "../.gitbook/includes/x.md" %}
{% hint style="info" icon="x" %}

| [t](fifteen.md) | `a |
| [t](sixteen.md) | b` |
"""

FOUND = [
    *(".gitbook/assets/cover (1).png", "h1.md", "one.md", "two (1).png", "a_(b).md", "inner.png", "outer.md"),
    *("ref.md", "five.md", "six.md", "seven.md", "eight.md", "nine.md", "ten.md", "eleven.md", "fig.png", "twelve.md"),
    *("thirteen.md?a=1&b=2#c", "dark.png", ".gitbook/assets/a.pdf", "https://x.y/z", "./", "fourteen.md"),
    *("../.gitbook/includes/x.md", "fifteen.md", "sixteen.md"),
]


def test_every_address_outside_code_is_found_in_order() -> None:
    assert [target.text for target in find_targets(PAGE)] == FOUND


def test_a_target_spans_the_raw_address() -> None:
    spans = [PAGE[target.start : target.end] for target in find_targets(PAGE)]
    assert spans == [text.replace("&", "&amp;") for text in FOUND]


def test_rewrite_writes_what_the_syntax_needs() -> None:
    new = {
        ".gitbook/assets/cover (1).png": "a: b.png",
        "one.md": "o n e.md",
        "two (1).png": "two.png",
        "a_(b).md": "(.md",
        "fig.png": 'f"&.png',
        "ref.md": "r (1).md",
        ".gitbook/assets/a.pdf": 'a"b.pdf',
        "../.gitbook/includes/x.md": "x.md",
    }
    text = rewrite_addresses(PAGE, new.get)
    expected = PAGE
    for before, after in (
        ("cover: .gitbook/assets/cover (1).png", "cover: 'a: b.png'"),
        ("(one.md", "(<o n e.md>"),
        ("<two (1).png>", "two.png"),
        ("(a_(b).md", "(<(.md>"),
        ('"fig.png"', '"f&quot;&amp;.png"'),
        ("[ref]: ref.md", "[ref]: <r (1).md>"),
        ('"../.gitbook/includes/x.md"', '"x.md"'),
        ('".gitbook/assets/a.pdf"', '"a%22b.pdf"'),
    ):
        assert before in expected
        expected = expected.replace(before, after)
    assert text == expected
    back = {after: before for before, after in new.items() if "pdf" not in before}
    assert rewrite_addresses(text, back.get) == PAGE.replace(".gitbook/assets/a.pdf", "a%22b.pdf")


def test_a_folded_cover_is_one_address() -> None:
    text = "---\ncover: >-\n  https://example.com/a/long\nicon: x\n---\n"
    (target,) = find_targets(text)
    assert target.text == "https://example.com/a/long"
    assert rewrite_addresses(text, lambda _: "x.png") == "---\ncover: x.png\nicon: x\n---\n"


@pytest.mark.parametrize(
    "text",
    [
        "- item\n\n      [no](no.md)\n",
        "1. item\n   ```\n   [no](no.md)\n   ```\n",
        "* ```\n  [no](no.md)\n  ```\n",
        "text\n\n\t[no](no.md)\n",
        "```\n[no](no.md)\n",
        "`` [no](no.md) ` [no](no.md) ``\n",
        "`a\n[no](no.md)`\n",
        "\\[no](no.md)\n",
        "](no.md)\n",
        "[no] (no.md)\n",
        "[no](no.md no)\n",
        "[no](<no.md)\n",
        "[no](a(b.md\n",
        "***\n\n    [no](no.md)\n",
    ],
    ids=ascii,
)
def test_what_only_looks_like_a_link_is_left_alone(text: str) -> None:
    assert list(find_targets(text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "- item\n\n    [yes](yes.md)\n",
        "text\n    [yes](yes.md)\n",
        "- a\n  - b\n    - [yes](yes.md)\n",
        "10. a\n\n    [yes](yes.md)\n",
        "* a\nlazy\n\n  [yes](yes.md)\n",
        "```\nx\n```\n[yes](yes.md)\n",
        "> ```\n> x\n[yes](yes.md)\n",
        "- ```\n  x\n\n[yes](yes.md)\n",
        "`a\n\n[yes](yes.md)`\n",
        "[\n  y\n](\n  yes.md\n  'T'\n)\n",
        "<pre>[yes](yes.md)\n",
        "<!-- [yes](yes.md)\n",
        "a < b [yes](yes.md) > c\n",
        "- `a\n- b` [yes](yes.md)\n",
    ],
    ids=ascii,
)
def test_a_link_that_only_looks_like_code_is_found(text: str) -> None:
    assert [target.text for target in find_targets(text)] == ["yes.md"]


@pytest.mark.parametrize(
    ("address", "at", "meaning"),
    [
        ("x.md", "README.md", ("x.md", "")),
        ("../x.md#a", "guides/y.md", ("x.md", "#a")),
        ("./", "guides/README.md", ("guides", "")),
        ("./", "README.md", ("", "")),
        ("a%20b.md", "x.md", ("a b.md", "")),
        ("x.png?raw=true#y", "a/b.md", ("a/x.png", "?raw=true#y")),
        ("c%23.md", "x.md", ("c#.md", "")),
        ("../../x.md", "guides/y.md", None),
        ("#a", "x.md", None),
        ("https://x.y", "x.md", None),
        ("mailto:a@b", "x.md", None),
        ("/x.md", "x.md", None),
        ("//x.y/z", "x.md", None),
        ("", "x.md", None),
        ("%2e%2e/x.md", "y.md", None),
    ],
)
def test_addresses_mean_files_below_the_root(address: str, at: str, meaning: tuple[str, str] | None) -> None:
    assert resolve_address(address, at=at) == meaning


@pytest.mark.parametrize(
    ("path", "at", "address"),
    [
        ("x.md", "README.md", "x.md"),
        ("x.md", "a/b/c.md", "../../x.md"),
        ("a/b.md", "a/c.md", "b.md"),
        (".gitbook/assets/a (1).png", "a/b.md", "../.gitbook/assets/a (1).png"),
        ("c#.md", "x.md", "c%23.md"),
        ("a%20b.md", "x.md", "a%2520b.md"),
        ("100%.md", "x.md", "100%.md"),
        ("a:b.md", "x.md", "a:b.md"),
        ("ab:b.md", "x.md", "./ab:b.md"),
    ],
)
def test_relative_addresses_are_spelled_as_writers_spell_them(path: str, at: str, address: str) -> None:
    assert make_relative(path, at=at) == address


NAME = st.text(st.characters(codec="utf-8", exclude_characters="/\x00"), min_size=1, max_size=12).filter(
    lambda name: name not in (".", "..")
)
PATH = st.lists(NAME, min_size=1, max_size=4).map("/".join)


@settings(deadline=None, max_examples=100)
@given(PATH, PATH, st.sampled_from(["[x]({})", "![x]({})", "[x]({} 'T')", "[x]: {}\n"]))
def test_a_relative_address_leads_back_even_through_markdown(path: str, at: str, template: str) -> None:
    assert resolve_address(make_relative(path, at=at), at=at) == (path, "")
    text = rewrite_addresses(template.format("old.md"), lambda _: make_relative(path, at=at))
    (target,) = find_targets(text)
    meaning = resolve_address(target.text, at=at)
    if not any(sign in path for sign in "\x7f\u2028\u2029") and path.isprintable():
        assert meaning == (path, "")


MARKDOWN = st.text(alphabet="[]()<>`~!\\ \n\t*-+>#ab.\"'{%}:=/|0123", max_size=200)


@settings(deadline=None, max_examples=100)
@given(st.one_of(MARKDOWN, st.text(max_size=100), st.permutations(PAGE.splitlines(keepends=True)).map("".join)))
def test_rewriting_nothing_changes_nothing(text: str) -> None:
    assert rewrite_addresses(text, lambda _: None) == text
    assert rewrite_addresses(text, lambda address: address) == text
    found = list(find_targets(text))
    assert all(one.end <= other.start for one, other in pairwise(found))
    assert all(target.text for target in found)


HOSTILE = [
    *(
        "[",
        "]",
        "`",
        "[](",
        "[](<",
        '[](a "',
        "[](a '",
        "[](a (",
        "<a ",
        '<a "',
        "<a '\"",
        "{% ",
        '{% file "',
        "<!--",
        "<pre>",
    ),
    *(
        "<code>",
        "* ",
        "> ",
        "    ",
        "\\",
        "[a]: ",
        "``` ",
        "`` ` ",
        "![",
        "(",
        ")",
        "1. ",
        "[x](",
        "<",
        "\n",
        "|",
        "- \n",
        ">\n",
        "\t",
    ),
    *("[](a)", "`a` ", "<b>", "* a\n", "    a\n\n", "```\n", "[[](", "<!-- -->", "~~~", "#", "[]: \n"),
]


@pytest.mark.long
@pytest.mark.parametrize("unit", HOSTILE, ids=ascii)
def test_hostile_text_takes_linear_time(unit: str) -> None:
    def rewritten(size: int) -> None:
        text = unit * (size // len(unit))
        for page in (text, f"---\ncover: a{text}b\n---\n", f"- x{text}"):
            assert rewrite_addresses(page, lambda _: None) == page

    assert_linear(rewritten, 12_500)


def test_backtick_runs_of_all_lengths_take_linear_time() -> None:
    def rewritten(size: int) -> None:
        lengths = range(1, isqrt(2 * size))  # which make a text of that size
        text = " ".join("`" * length for length in lengths)
        assert rewrite_addresses(text, lambda _: None) == text

    assert_linear(rewritten, 12_500)


@pytest.mark.parametrize(
    ("at", "to", "text", "followed"),
    [
        (
            "x.md",
            "x/README.md",
            "[a](a.md#b) ![i](<i (1).png>) [h](README.md)",
            "[a](../a.md#b) ![i](<../i (1).png>) [h](../README.md)",
        ),
        ("x/README.md", "x.md", "[a](../a.md) [c](c.md)", "[a](a.md) [c](x/c.md)"),
        (
            "a.md",
            "a.md",
            "[old](old.md#x) [bare](old) [kept](./kept.md)",
            "[old](new/README.md#x) [bare](new/README.md) [kept](./kept.md)",
        ),
        (
            "g/a.md",
            "g/a.md",
            '`[old](../old.md)` <a href="../old.md">',
            '`[old](../old.md)` <a href="../new/README.md">',
        ),
        (
            "g/a.md",
            "a.md",
            "[up](../) [url](https://x.y/old.md) [top](#t)",
            "[up](./) [url](https://x.y/old.md) [top](#t)",
        ),
    ],
)
def test_links_follow_what_moves(at: str, to: str, text: str, followed: str) -> None:
    assert follow_moves(text, {"old.md": "new/README.md", at: to}, at=at, to=to) == followed
