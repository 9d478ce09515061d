"""Differences of documents and texts: what is marked, what stays, and what is too much."""

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
        ["One two three.", "Four five.", "* a\n* b", "> quoted", "## Head", "`code` and **bold**", "One two."]
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
    return own + "".join(read_text(value.get(name, ())) for name in ("nodes", "leaves")) + end


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
