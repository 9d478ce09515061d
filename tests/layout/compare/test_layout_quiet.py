"""A server's re-formatting is told apart from an edit."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncd.layout.compare.page_blocks import TokenizedPage
from syncd.layout.compare.patch_page import merge_words, patch_page
from syncd.layout.compare.reformat import preserve_formatting
from syncd.layout.compare.tokens import tokenize_page

PAGE = "---\ndescription: 'One'\n---\n\n# Title\n\nA *word* and a [link](guide/setup.md#top).\n\n- one\n- two\n"


def is_same_content(existing: bytes, other: bytes) -> bool:
    """Return whether a server's form of a page leaves every byte of it as it is."""
    return preserve_formatting(existing, other, at="README.md") == existing


@pytest.mark.parametrize(
    "other",
    [
        PAGE,
        PAGE.replace("- one\n- two", "* one\n* two"),
        PAGE.replace("*word*", "_word_"),
        PAGE.replace("'One'", "One"),
        PAGE.replace("A *word* and", "A *word*\nand"),
        PAGE.replace("guide/setup.md", "./guide/setup.md"),
        PAGE.rstrip("\n"),
        PAGE.replace("\n", "\r\n"),
    ],
)
def test_form_is_not_content(other: str) -> None:
    assert is_same_content(PAGE.encode(), other.encode())


@pytest.mark.parametrize(
    "other",
    [
        PAGE.replace("two", "three"),
        PAGE.replace("*word*", "**word**"),
        PAGE.replace("*word*", "word"),
        PAGE.replace("'One'", "'Two'"),
        PAGE.replace("setup.md", "usage.md"),
        PAGE.replace("#top", "#end"),
        PAGE.replace("- one\n- two", "1. one\n2. two"),
        PAGE.replace("# Title", "## Title"),
        PAGE + "\n![](x.png)\n",
        PAGE.replace("A *word*", "    A *word*"),
    ],
)
def test_content_is_not_form(other: str) -> None:
    assert not is_same_content(PAGE.encode(), other.encode())


TABLE = '<table><thead><tr><th width="9">A&#x26;B</th></tr></thead><tbody><tr><td>c</td></tr></tbody></table>\n'
BUTTON = 'Ask <button type="button" class="button primary" data-action="ask" data-query="it&#x27;s?">here</button>.\n'
FIGURE = '<figure><img src="a.png" alt="it&#x27;s"><figcaption></figcaption></figure>\n'


@pytest.mark.parametrize(
    ("page", "other", "is_same"),
    [
        (TABLE, TABLE.replace("&#x26;", "&amp;"), True),
        (TABLE, TABLE.replace("<tr>", "\n  <tr>"), True),
        (TABLE, TABLE.replace('"9"', '"8"'), False),
        (BUTTON, BUTTON.replace("&#x27;", "'"), True),
        (BUTTON, BUTTON.replace("&#x27;", ""), False),
        (FIGURE, FIGURE.replace("&#x27;", "'"), True),
        (FIGURE, FIGURE.replace("a.png", "b.png"), False),
    ],
)
def test_the_spelling_of_html_is_form(page: str, other: str, is_same: bool) -> None:
    assert is_same_content(page.encode(), other.encode()) is is_same


def test_code_is_compared_to_the_letter() -> None:
    assert not is_same_content(b"```\na  b\n```\n", b"```\na b\n```\n")


@given(st.text(max_size=200))
def test_every_page_means_what_it_says(text: str) -> None:
    assert is_same_content(text.encode("utf-8", "replace"), text.encode("utf-8", "replace"))


@given(st.lists(st.sampled_from(["alpha", "beta", "*x*", "`c`", "#", "-", ">", "1.", "\n", "\n\n"]), max_size=12))
def test_a_word_more_is_never_taken_for_form(words: list[str]) -> None:
    text = " ".join(words)
    assert not is_same_content(text.encode(), f"{text} added".encode())


WRITTEN = b"""---
extra: 1
description: 'One'
---
# Title
A *word*
on two lines.
- one
- two

Kept __so__.
"""
SERVED = b"""---
description: One
extra: 1
---

# Title

A _word_ on two lines.

* one
* two

Kept **so**.
"""


def tokenize_bytes(text: bytes) -> TokenizedPage:
    found = tokenize_page(text.decode(), at="a.md")
    assert found is not None
    return found


def test_only_the_block_that_says_something_else_is_replaced() -> None:
    text = preserve_formatting(WRITTEN, SERVED.replace(b"two lines", b"three lines"), at="a.md")
    assert text == WRITTEN.replace(b"A *word*\non two lines.", b"A _word_ on three lines.")


def test_only_the_key_that_says_something_else_is_replaced() -> None:
    text = preserve_formatting(WRITTEN, SERVED.replace(b"description: One", b"description: Two"), at="a.md")
    assert text == WRITTEN.replace(b"'One'", b"Two")


def test_a_new_block_stands_where_it_was_put_and_the_others_keep_their_bytes() -> None:
    body = SERVED.replace(b"* one", b"New.\n\n* one") + b"\nLast.\n"
    text = preserve_formatting(WRITTEN, body, at="a.md")
    assert text == WRITTEN.replace(b"lines.\n- one", b"lines.\n\nNew.\n\n- one") + b"\nLast.\n"


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_new_lines_end_as_most_lines_of_the_page_do(ends: str) -> None:
    former = "# A\n\nOne.\n\nTwo.\n".replace("\n", ends).encode()
    wanted = "# A\n\nOne.\n\n* New\n* list\n\nTwo and a half.\n"
    assert preserve_formatting(former, wanted.encode(), at="a.md") == wanted.replace("\n", ends).encode()


def test_a_byte_order_mark_is_form_and_stays() -> None:
    marked = f"\ufeff{PAGE}".encode()
    assert is_same_content(marked, PAGE.rstrip("\n").encode())
    assert is_same_content(PAGE.encode(), marked)
    edited = PAGE.replace("* one", "* three")
    assert preserve_formatting(marked, edited.encode(), at="README.md") == f"\ufeff{edited}".encode()


def test_blocks_that_changed_places_keep_their_bytes() -> None:
    text = preserve_formatting(b"a *b*\n\nc __d__\n\ne\n", b"c **d**\n\ne\n\na _b_\n", at="a.md")
    assert text == b"c __d__\n\ne\n\na *b*\n"


def test_lists_that_would_become_one_are_taken_as_they_come() -> None:
    former, body = b"- a\n\nbetween\n\n- b\n", b"* a\n\n- b\n"
    assert preserve_formatting(former, body, at="a.md") == body


BLOCKS = st.lists(
    st.sampled_from(
        [
            *("one *two*", "one _two_", "three\nfour", "three four", "- a\n- b", "* a\n* b", "# H", "H\n=", "> q"),
            *(
                "```\nc\n```",
                "~~~\nc\n~~~",
                "    c",
                "<div>",
                "<!-- x",
                "[r]: /u",
                "[r]",
                "1. n",
                "***",
                "---",
                "|a|\n|-|",
            ),
            *("{% hint %}", "{% endhint %}", "x  \ny", "\\*z\\*"),
        ]
    ),
    max_size=7,
)


@given(BLOCKS, BLOCKS, st.sampled_from(["\n\n", "\n"]))
@settings(max_examples=50, deadline=None)
def test_the_result_means_what_it_shall_and_keeps_every_block_that_stays(
    former: list[str], wanted: list[str], between: str
) -> None:
    one, other = between.join(former).encode(), "\n\n".join(wanted).encode()
    text = preserve_formatting(one, other, at="a.md")
    assert is_same_content(text, other)
    assert preserve_formatting(text, other, at="a.md") == text
    if text == other:
        return
    mine, theirs = tokenize_bytes(one), tokenize_bytes(other)
    sources = {block.tokens: mine.source(block.start, block.end).strip("\n") for block in mine.blocks}
    for block in theirs.blocks:
        if mine.list_tokens().count(block.tokens) == 1 and theirs.list_tokens().count(block.tokens) == 1:
            assert sources[block.tokens].encode() in text


LOSSY = SERVED.replace(b"_word_ ", b"").replace(b"Kept **so**.", b"Kept.")


def test_what_the_server_lost_stays_when_another_block_is_edited() -> None:
    edited = LOSSY.replace(b"* two", b"* three") + b"\nNew.\n"
    found = patch_page(WRITTEN, LOSSY, edited, at="a.md")
    assert found.body == WRITTEN.replace(b"- one\n- two", b"* one\n* three") + b"\nNew.\n"
    assert not found.conflicts


def test_what_the_server_lost_stays_when_its_own_block_is_edited_elsewhere() -> None:
    found = patch_page(WRITTEN, LOSSY, LOSSY.replace(b"two lines", b"three lines"), at="a.md")
    assert found.body == WRITTEN.replace(b"two lines", b"three lines")
    assert not found.conflicts


def test_an_edit_of_the_very_place_has_its_way_and_is_told() -> None:
    found = patch_page(WRITTEN, LOSSY, LOSSY.replace(b"A on", b"A phrase on"), at="a.md")
    assert b"A phrase on two lines." in found.body
    assert found.conflicts == (6,)


def test_a_block_that_the_server_dropped_stays_until_a_person_drops_it() -> None:
    writer, before = b"a\n\n<lost>\n\nb\n", b"a\n\nb\n"
    assert patch_page(writer, before, b"a2\n\nb\n", at="a.md").body == b"a2\n\n<lost>\n\nb\n"
    assert patch_page(writer, before, b"a\n\nnew\n\nb\n", at="a.md").body.count(b"<lost>") == 1


def test_an_edit_of_a_page_with_windows_line_ends_mixes_no_line_ends() -> None:
    writer, before = b"a\r\n\r\nb\r\n\r\nc <lost>\r\n", b"a\n\nb\n\nc\n"
    found = patch_page(writer, before, b"a\n\nnew\nlines\n\nc\n", at="a.md")
    assert found.body == b"a\r\n\r\nnew\r\nlines\r\n\r\nc <lost>\r\n"
    assert patch_page(writer, before, b"a\n\nc\n", at="a.md").body == b"a\r\n\r\nc <lost>\r\n"


@pytest.mark.parametrize(
    ("one", "other", "merged"),
    [
        ("the big red fox", "the red wolf", "the big red wolf"),
        ("the\nred fox", "the red wolf", "the\nred wolf"),
        ("the red dog", "the red wolf", None),
        ("the red fox runs", "the red fox sits", None),
    ],
)
def test_a_passage_is_merged_word_by_word(one: str, other: str, merged: str | None) -> None:
    assert merge_words("the red fox", one, other) == merged


@given(BLOCKS, BLOCKS, BLOCKS)
@settings(max_examples=50, deadline=None)
def test_an_edit_is_carried_over_whatever_it_is(writer: list[str], before: list[str], after: list[str]) -> None:
    texts = ["\n\n".join(blocks).encode() for blocks in (writer, before, after)]
    found = patch_page(*texts, at="a.md")
    if is_same_content(texts[1], texts[2]):
        assert found.body == texts[0]
    assert patch_page(texts[0], texts[0], texts[2], at="a.md").conflicts == ()
