"""Differences of documents and texts: what is marked, what stays, and what is too much."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncd.layout.richtext.reading import to_document
from syncd.model.document import Document
from syncd.web.app.block_diff import BLOCKS_MAX, build_merged_nodes, build_side_nodes, compare_blocks
from syncd.web.app.documents import render_difference
from syncd.web.app.line_diff import compare_lines, count_changes, fold_lines
from syncd.web.blocks import BlockContext, render_document

PARTS = st.lists(
    st.sampled_from(
        [
            *("One two three.", "Four five.", "* a\n* b", "> quoted", "## Head", "`code` and **bold**", "One two."),
            *("| A |\n| - |\n| one |\n| two |", "| A |\n| - |\n| two |\n| three |", "* a\n\n  ```\n  x\n  ```\n* b"),
            *("```py\none\ntwo\n\nthree\n```", "```py\none\nthree\n\nfour\n```"),
            *("<details>\n\n<summary>More</summary>\n\nSome words.\n\n</details>",),
            *("<details>\n\n<summary>More</summary>\n\nOther words.\n\n</details>",),
        ]
    ),
    max_size=8,
)


def read_nodes(markdown: str) -> list[dict[str, Any]]:
    return list(to_document(markdown).nodes)


def render(before: str, after: str, *, sides: bool = False) -> str:
    changes = compare_blocks(read_nodes(before), read_nodes(after))
    nodes = build_side_nodes(changes) if sides else build_merged_nodes(changes)
    return str(render_document(Document(nodes=tuple(nodes)), BlockContext()).html)


def test_the_same_has_no_change() -> None:
    assert "b-change" not in render("A.\n\n* b\n", "A.\n\n* b\n")


def test_changed_words_are_marked_inside_of_their_sentence() -> None:
    html = render("The quick fox jumps.", "The slow fox jumps.")
    assert 'The <del class="b-deleted">quick</del><ins class="b-inserted">slow</ins> fox jumps.' in html
    assert 'aria-label="Changed"' in html


def test_what_has_little_in_common_is_removed_and_added() -> None:
    html = render("Completely other words.", "Nothing that was there before.")
    assert html.index('aria-label="Removed"') < html.index('aria-label="Added"')
    assert html.count('id="_change-1"') == 1
    assert "_change-2" not in html


def test_items_of_a_list_are_compared_one_by_one() -> None:
    html = render("* one\n* two\n* three\n", "* one\n* three\n* four\n")
    assert '<li><del class="b-deleted">two</del></li>' in html
    assert '<li><ins class="b-inserted">four</ins></li>' in html
    assert "<li>one</li>" in html


TABS = """{% tabs %}
{% tab title="One" %}
The same here.
{% endtab %}

{% tab title="Two" %}
The SECOND word counts.

```
code
```
{% endtab %}
{% endtabs %}
"""


def test_the_tab_that_changed_is_open_and_says_so() -> None:
    html = render(TABS, TABS.replace("SECOND", "other"))
    assert '<del class="b-deleted">SECOND</del><ins class="b-inserted">other</ins> word counts.' in html
    assert 'id="two" checked' in html
    assert 'Two <span class="b-change-word">Changed</span>' in html
    assert html.count(" checked") == 1
    assert html.count("b-tabs") == 1
    sides = render(TABS, TABS.replace("SECOND", "other"), sides=True)
    assert sides.count("SECOND") == sides.count("other") == 1
    assert sides.count(' checked>\n<label class="b-tab" for="two') == 2


def test_code_within_a_block_is_removed_and_added_there() -> None:
    html = render(TABS, TABS.replace("\ncode\n", "\nother\n"))
    assert html.count("b-tabs") == 1
    assert html.index('aria-label="Removed"') < html.index("code</") < html.index('aria-label="Added"')


def test_lines_of_code_are_compared_one_by_one() -> None:
    before = '```py\none = 1\n\ntext = """\nold\n"""\nlast = 3\n```\n'
    after = before.replace("old", "<new>\nmore").replace("one = 1", "one = 1\n")
    html = render(before, after)
    assert html.count("<pre") == html.count('aria-label="Changed"') == 1
    marked = re.findall(r"<(del|ins) class=\"b-\w+\">(.*?)</\1>", html)
    assert [(name, re.sub("<.*?>", "", line)) for name, line in marked] == [
        ("ins", ""),
        ("del", "old"),
        ("ins", "&lt;new&gt;"),
        ("ins", "more"),
    ]
    assert '<del class="b-deleted"><span class="k-text">old</span></del>' in html, "coloured as its side has it"
    former, latter = re.findall("<pre.*?</pre>", render(before, after, sides=True), re.DOTALL)
    assert ("old" in former, "more" in former) == (True, False)
    assert ("old" in latter, "more" in latter) == (False, True)


def test_a_diagram_that_changed_is_drawn_as_each_side_has_it() -> None:
    text = "```mermaid\ngraph TD\nA-->B\nB-->C\n```\n"
    html = render(text, text.replace("B-->C", "B-->D"))
    assert html.index('aria-label="Removed"') < html.index('aria-label="Added"')
    assert "<ins" not in html


@pytest.mark.parametrize(
    ("former", "latter"), [("inside", "within"), ("More", "Much more"), ("<details>", "<details open>")]
)
def test_what_is_folded_is_shown_open_where_it_changed(former: str, latter: str) -> None:
    text = "<details>\n\n<summary>More of it</summary>\n\nWords that are inside of it.\n\n</details>\n"
    html = render(text, text.replace(former, latter))
    assert html.count("<details") == 1
    assert re.search("<details[^>]* open>", html)
    assert "Changed" in html
    assert re.search("<details[^>]* open>", render("", text))
    assert not re.search("<details[^>]* open>", render(text, text))


@pytest.mark.parametrize(
    "text",
    [
        "{% stepper %}\n{% step %}\n### Step\n\nThis is OLD now.\n{% endstep %}\n{% endstepper %}\n",
        "{% columns %}\n{% column %}\nThis is OLD now.\n{% endcolumn %}\n{% endcolumns %}\n",
        '{% updates %}\n{% update date="2026-01-02" %}\nThis is OLD now.\n{% endupdate %}\n{% endupdates %}\n',
        "| A | B |\n| - | - |\n| x | This is OLD now. |\n| y | z |\n",
    ],
)
def test_words_are_compared_within_every_block_that_holds_others(text: str) -> None:
    html = render(text, text.replace("OLD", "NEW"))
    assert 'This is <del class="b-deleted">OLD</del><ins class="b-inserted">NEW</ins> now.' in html
    assert html.count('aria-label="Changed"') == 1
    assert 'aria-label="Removed"' not in html


def test_rows_of_a_table_are_compared_one_by_one() -> None:
    head = "| A | B |\n| - | - |\n"
    before, after = f"{head}| a | 1 |\n| b | 2 |\n| c | 3 |\n", f"{head}| a | 1 |\n| c | 3 |\n| d | 4 |\n"
    html = render(before, after)
    assert html.count("<table") == 1
    assert html.count("<tr") == 5
    assert '<tr class="b-removed"><td dir="auto"><del class="b-deleted">b</del>' in html
    assert '<tr class="b-added"><td dir="auto"><ins class="b-inserted">d</ins>' in html
    assert render(before, after, sides=True).count("<tr") == 8
    other = render(before, before.replace("| A |", "| Z |"))
    assert 'aria-label="Removed"' in other


def test_marks_and_links_count_as_content() -> None:
    html = render("Some bold words here.", "Some **bold** words here.")
    assert '<del class="b-deleted">bold</del>' in html
    assert '<ins class="b-inserted"><strong>bold</strong></ins>' in html
    html = render("See [the docs](https://a.example) now.", "See [the docs](https://b.example) now.")
    assert "https://a.example" in html
    assert "https://b.example" in html


def test_words_without_spaces_between_them_are_compared_by_letters() -> None:
    html = render("今日は天気がいいです。", "今日は気分がいいです。")
    assert "今日は" in html
    assert "<del" in html
    assert html.count("いいです") == 1


def test_both_sides_have_ids_of_their_own() -> None:
    html = render("## Head\n\nOne two three.", "## Head\n\nOne two four.", sides=True)
    assert 'id="head"' in html
    assert 'id="head-1"' in html


def test_hostile_text_stays_text() -> None:
    html = render("Safe <script>alert(1)</script> words", "Safe \\<script>alert(2)\\</script> words")
    assert "<script" not in html


@given(PARTS, PARTS)
def test_each_side_can_be_read_from_the_difference(before: list[str], after: list[str]) -> None:
    """The sides of a difference have exactly the text of the documents."""
    left, right = read_nodes("\n\n".join(before)), read_nodes("\n\n".join(after))
    rows = build_side_nodes(compare_blocks(left, right))
    for name, nodes in (("before", left), ("after", right)):
        held = [node for row in rows for side in row["fragments"] if side["fragment"] == name for node in side["nodes"]]
        assert read_text(held).split() == read_text(nodes).split()


def read_text(value: Any) -> str:
    """Return the text of all leaves, with spaces between blocks."""
    if isinstance(value, list | tuple):
        return "".join(map(read_text, value))
    if not isinstance(value, dict):
        return ""
    own = value["text"] if isinstance(value.get("text"), str) else ""
    end = " " if value.get("object") == "block" else ""
    return own + "".join(read_text(value.get(name, ())) for name in ("fragments", "nodes", "leaves")) + end


def test_very_many_blocks_are_compared_at_both_ends_only() -> None:
    many = [f"Paragraph {number}." for number in range(BLOCKS_MAX + 1)]
    changed = [*many[:1000], "Something else.", *many[1001:]]
    changes = compare_blocks(read_nodes("\n\n".join(many)), read_nodes("\n\n".join(changed)))
    assert sum(not change.is_same for change in changes) == 1


def test_a_page_that_is_too_long_says_so() -> None:
    page = {"document": {"nodes": read_nodes("word " * 100_000)}}
    found = render_difference(page, page, "changes", lambda node: BlockContext().annotate(node))
    assert "too long" in found.cut
    assert not found.html


@pytest.mark.parametrize(
    ("before", "after", "counts"),
    [("", "", (0, 0)), ("a\nb\n", "a\nc\n", (1, 1)), ("", "a\nb\n", (2, 0)), ("a\nb\nc\n", "b\n", (0, 2))],
)
def test_lines_are_counted(before: str, after: str, counts: tuple[int, int]) -> None:
    assert count_changes(compare_lines(before, after)) == counts


@given(st.lists(st.sampled_from("abc"), max_size=12), st.lists(st.sampled_from("abc"), max_size=12))
def test_each_text_can_be_read_from_its_lines(before: list[str], after: list[str]) -> None:
    lines = compare_lines("\n".join(before), "\n".join(after))
    assert [line.text for line in lines if line.kind != "added"] == before
    assert [line.text for line in lines if line.kind != "removed"] == after


def test_lines_far_from_a_change_are_left_out() -> None:
    many = [str(number) for number in range(100)]
    lines = fold_lines(compare_lines("\n".join(many), "\n".join([*many[:50], "new", *many[50:]])))
    assert [line.kind for line in lines].count("gap") == 2
    assert len(lines) == 9
