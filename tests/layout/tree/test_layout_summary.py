"""SUMMARY.md: text and entries are two forms of one thing."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncd.errors import FileInvalid
from syncd.layout.tree.skipped import SkippedPart
from syncd.layout.tree.summary import Entry, parse_summary, render_summary, walk_entries
from tests.growing import assert_linear

CANONICAL = """\
# Table of contents

* [Home title](README.md)

## Group title

* [Page](dir/page.md)
  * [Child](dir/parent/child.md "Link title")
    * [Grandchild](<dir/a name with (spaces.md>)
* [Parent](dir/parent/README.md)

## Group with custom slug <a href="#old-slug" id="old-slug"></a>

* [External](https://example.com/x_(y))
* [Page in another space](https://app.gitbook.com/s/abc/some/path)
* [Anchor entry](dir/page.md#anchor)
* [A \\[bracketed\\] title & more, `code` and *stars*](b.md)
* ```yaml
  type: builtin:openapi
  props: {models: false, downloadLink: true, grouping: by-operation}

  dependencies: {spec: {ref: {kind: openapi, spec: slug}}}
  ```
* Nested group <a href="#n" id="n"></a>
  * [Inner](inner.md)
    * ```yaml
      type: x
      ```

***

* [Ungrouped page placed after groups](x/README.md)
* [Gone](/broken/pages/abc)
"""


def test_the_whole_grammar_reads_and_writes_back() -> None:
    entries = parse_summary(CANONICAL)
    assert render_summary(entries) == CANONICAL
    home, group, slugged, last, gone = entries
    assert home == Entry("document", "Home title", "README.md")
    assert group.title == "Group title"
    page, parent = group.children
    assert page.children == (
        Entry(
            "document",
            "Child",
            "dir/parent/child.md",
            link_title="Link title",
            children=(Entry("document", "Grandchild", "dir/a name with (spaces.md"),),
        ),
    )
    assert parent.path == "dir/parent/README.md"
    assert (slugged.title, slugged.slug) == ("Group with custom slug", "old-slug")
    external, other, anchor, bracketed, computed, nested = slugged.children
    assert (external.kind, external.target) == ("link", "https://example.com/x_(y)")
    assert other.target == "https://app.gitbook.com/s/abc/some/path"
    assert (anchor.kind, anchor.path, anchor.anchor) == ("document", "dir/page.md", "anchor")
    assert bracketed.title == "A [bracketed] title & more, `code` and *stars*"
    assert (computed.computed or "").splitlines()[::3] == [
        "type: builtin:openapi",
        "dependencies: {spec: {ref: {kind: openapi, spec: slug}}}",
    ]
    assert (nested.kind, nested.title, nested.slug) == ("group", "Nested group", "n")
    assert (last.kind, gone.kind) == ("document", "link")
    assert [entry.line for entry, _ in walk_entries(entries)][:4] == [3, 5, 7, 8]


@pytest.mark.parametrize(
    "text",
    [
        "# Summary\n\n- [A](a.md)\n    - [B](b.md)\n        - [C](c.md)\n    - [D](d.md)\n- [E](e.md)\n",
        "+ [A](a.md)\n  + [B](b.md)\n    + [C](c.md)\n  + [D](d.md)\n+ [E](e.md)",
        "* [A](a.md)\n\t* [B](b.md)\n\t\t* [C](c.md)\n\t* [D](d.md)\n* [E](e.md)",
        "\ufeff# T\r\n\r\n* [A](a.md)\r\n  * [B](b.md)\r\n    * [C](<c.md>)\r\n\r\n  * [D](d.md)\r\n* [E](e.md)\r\n",
        "*   [A]( a.md )\n    *   [B](b.md)\n        *   [C](c.md)\n    *   [D](d.md)\n*   [E](e.md)  \n",
    ],
    ids=["four spaces", "plus", "tabs", "crlf", "wide"],
)
def test_other_spellings_mean_the_same(text: str) -> None:
    b = Entry("document", "B", "b.md", children=(Entry("document", "C", "c.md"),))
    a = Entry("document", "A", "a.md", children=(b, Entry("document", "D", "d.md")))
    assert parse_summary(text) == (a, Entry("document", "E", "e.md"))


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("# T\n\nSome prose\n", 3, 1),
        ("* [A](a.md) and more\n", 1, 13),
        ("* [A](a.md) [B](b.md)\n", 1, 13),
        ("* See [A](a.md)\n", 1, 3),
        ("* [A]\n", 1, 3),
        ("* [A](\n", 1, 3),
        ("* [A]()\n", 1, 7),
        ("* [A] (a.md)\n", 1, 3),
        ("* [A](a b.md)\n", 1, 3),
        ("    * [A](a.md)\n", 1, 5),
        ("1. [A](a.md)\n", 1, 1),
        ("<!-- [A](a.md) -->\n", 1, 1),
        ("* [A](a.md)\n\n# Again\n", 3, 1),
        ("## [A](a.md)\n", 1, 4),
        ("* ```yaml\n  a: 1\n", 1, 3),
        ("* ```python\n  a\n  ```\n", 1, 3),
        ("* ```yaml\n a: 1\n  ```\n", 2, 2),
        ("* ```yaml\n  a: 1\n  ```\n  * [A](a.md)\n", 4, 3),
        ("```\n* [A](a.md)\n```\n", 1, 1),
        ("* [A\n](a.md)\n", 1, 3),
    ],
    ids=ascii,
)
def test_a_line_that_cannot_be_kept_is_an_error_where_it_stands(text: str, line: int, column: int) -> None:
    with pytest.raises(FileInvalid) as refusal:
        parse_summary(text, at="SUMMARY.md")
    assert (refusal.value.line, refusal.value.column) == (line, column)
    assert str(refusal.value).startswith(f"SUMMARY.md:{line}:{column}: ")


def test_an_address_with_a_space_is_told_with_what_to_write() -> None:
    with pytest.raises(FileInvalid, match=r"angle brackets: `\[Use it\]\(<user guide\.md>\)`"):
        parse_summary("* [Use it](user guide.md)\n", at="SUMMARY.md")
    assert parse_summary("* [Use it](<user guide.md>)\n") == (Entry("document", "Use it", "user guide.md"),)
    for other in ('* [A](a b.md "T")\n', "* [A] (a b.md)\n", "* [A](<a b.md)\n"):
        with pytest.raises(FileInvalid, match="is not of the form"):
            parse_summary(other, at="SUMMARY.md")


def test_an_entry_may_lead_up_as_far_as_the_summary_is_down() -> None:
    assert parse_summary("* [A](../a.md)\n", at="product/SUMMARY.md") == (Entry("document", "A", "../a.md"),)


@pytest.mark.parametrize(
    ("address", "at"),
    [
        ("../a.md", "SUMMARY.md"),
        ("x/../../a.md", "SUMMARY.md"),
        ("../a.pdf", "SUMMARY.md"),
        ("../../a.md", "p/SUMMARY.md"),
    ],
)
def test_an_entry_that_leads_out_is_left_out_and_told(address: str, at: str) -> None:
    skipped: list[SkippedPart] = []
    assert parse_summary(f"* [A]({address})\n* [B](b.md)\n", at=at, skipped=skipped) == (
        Entry("document", "B", "b.md"),
    )
    assert [(part.path, part.line, part.column) for part in skipped] == [(at, 1, 7)]


def test_an_empty_summary_has_no_entries() -> None:
    assert parse_summary("") == ()
    assert render_summary(()) == "# Table of contents\n"
    assert parse_summary(render_summary(())) == ()


def test_deep_nesting_is_read_and_written_without_recursion() -> None:
    entry = Entry("document", "leaf", "leaf.md")
    for depth in range(2000):
        entry = Entry("document", str(depth), f"{depth}.md", children=(entry,))
    text = render_summary([entry])
    assert render_summary(parse_summary(text)) == text
    assert sum(1 for _ in walk_entries(parse_summary(text))) == 2001


@pytest.mark.parametrize(
    ("before", "unit", "after"),
    [
        ("", "* [", ""),
        ("* ", "[", ""),
        ("* [a](", "(", ""),
        ("## ", " ", "x"),
        ("* [a](<", "<", ""),
        ("", "* ", ""),
    ],
    ids=["bullets", "brackets", "parentheses", "spaces", "angles", "markers"],
)
def test_hostile_lines_take_linear_time(before: str, unit: str, after: str) -> None:
    def read(size: int) -> None:
        with suppress(FileInvalid):
            parse_summary(before + unit * (size // len(unit)) + after)

    assert_linear(read, 12_500)


LINE = st.characters(codec="utf-8", exclude_categories=("Cc", "Zl", "Zp"))
TITLE = st.one_of(
    st.text(LINE, max_size=30).map(lambda title: title.strip(" ")),
    st.sampled_from(
        [
            "[x]",
            "a \\[b\\]",
            "## #",
            "a #",
            "#",
            "* a",
            "- b",
            "***",
            "```yaml",
            "[a](b.md)",
            "\\",
            "a\\",
            "🚀 go",
            "x</a>",
        ]
    ),
    st.sampled_from(
        ['<a href="#x" id="x"></a>', 'T <a id="y"></a>', "`code` & *more*", "_", "[ ] task", "](", "&amp;", "日本語"]
    ),
)
SEGMENT = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Zl", "Zp"), exclude_characters="/#?:"),
    min_size=1,
    max_size=12,
)
PATH = st.lists(SEGMENT.filter(lambda part: part not in ("..", ".")), min_size=1, max_size=3).map(
    lambda parts: "d" + "/".join(parts) + ".md"
)
OPTIONAL = st.one_of(st.none(), TITLE)
ANCHOR = st.one_of(st.none(), st.text(LINE, max_size=8))
URL = st.sampled_from(
    [
        "https://example.com/a b",
        "https://x.y/z_(w)",
        "/broken/pages/x",
        "#anchor",
        "mailto:a@b.c",
        "x.pdf",
        "https://[::1]/<x>",
    ]
)
YAML_TEXT = st.lists(st.sampled_from(["type: x", "", "  - a", "```", "````", "b: 'c'"]), max_size=5).map("\n".join)


def _entries(inner: st.SearchStrategy[Entry]) -> st.SearchStrategy[Entry]:
    children = st.lists(inner, max_size=4).map(tuple)
    return st.one_of(
        st.builds(Entry, st.just("document"), TITLE, PATH, ANCHOR, link_title=OPTIONAL, children=children),
        st.builds(Entry, st.just("group"), TITLE, slug=OPTIONAL, children=children),
        st.builds(Entry, st.just("link"), TITLE, link_title=OPTIONAL, target=URL, children=children),
    )


LEAF = st.one_of(
    st.builds(Entry, st.just("document"), TITLE, PATH, link_title=OPTIONAL),
    st.builds(lambda text: Entry("computed", "", computed=text), YAML_TEXT),
)
TREE = st.lists(st.recursive(LEAF, _entries, max_leaves=12), max_size=6).map(tuple)


@settings(deadline=None, max_examples=100)
@given(TREE)
def test_any_tree_comes_back(entries: tuple[Entry, ...]) -> None:
    text = render_summary(entries)
    assert parse_summary(text) == entries
    assert render_summary(parse_summary(text)) == text


@settings(deadline=None, max_examples=100)
@given(st.lists(st.text(max_size=40), max_size=4), st.text(max_size=20))
def test_titles_from_outside_cannot_add_lines(titles: list[str], target: str) -> None:
    entries = [Entry("document", title, "a.md", link_title=title) for title in titles]
    entries += [
        Entry("group", title, slug=title, children=(Entry("link", title, target=f"x:{target}"),)) for title in titles
    ]
    read = parse_summary(render_summary(entries))
    assert [entry.kind for entry, _ in walk_entries(read)] == [entry.kind for entry, _ in walk_entries(entries)]


@pytest.mark.parametrize("title", ["A page", "a & b <c> `d` *e*", "ünï#%", '"'])
@pytest.mark.parametrize(
    "path",
    [
        *("a.md", "a-b_c/d.e/f.md", "a.md.md", "-.md", "a/b/../c.md", "../a.md", "a/../../b.md", "a..b.md", "./a.md"),
        *("/a.md", ".a.md", "a//b.md", "a/.b.md", "x/./y.md", "A.MD", "a.markdown", "a.png", "c:a.md"),
    ],
)
def test_a_plain_address_means_the_same_as_one_in_angle_brackets(title: str, path: str) -> None:
    """Most entries are read by one expression; in angle brackets, an address is read by the whole grammar."""
    plain: list[SkippedPart] = []
    angled: list[SkippedPart] = []
    one = parse_summary(f"* [{title}]({path})\n", at="docs/SUMMARY.md", skipped=plain)
    other = parse_summary(f"* [{title}](<{path}>)\n", at="docs/SUMMARY.md", skipped=angled)
    assert one == other
    assert [part.reason for part in plain] == [part.reason for part in angled]
