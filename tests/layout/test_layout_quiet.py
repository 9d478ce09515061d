"""A server's re-formatting is told apart from an edit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncd.layout.quiet import same_meaning

PAGE = "---\ndescription: 'One'\n---\n\n# Title\n\nA *word* and a [link](guide/setup.md#top).\n\n- one\n- two\n"


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
    assert same_meaning(PAGE.encode(), other.encode(), at="README.md")


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
    assert not same_meaning(PAGE.encode(), other.encode(), at="README.md")


def test_code_is_compared_to_the_letter() -> None:
    assert not same_meaning(b"```\na  b\n```\n", b"```\na b\n```\n", at="a.md")


@given(st.text(max_size=200))
def test_every_page_means_what_it_says(text: str) -> None:
    assert same_meaning(text.encode("utf-8", "replace"), text.encode("utf-8", "replace"), at="a.md")


@given(st.lists(st.sampled_from(["alpha", "beta", "*x*", "`c`", "#", "-", ">", "1.", "\n", "\n\n"]), max_size=12))
def test_a_word_more_is_never_taken_for_form(words: list[str]) -> None:
    text = " ".join(words)
    assert not same_meaning(text.encode(), f"{text} added".encode(), at="a.md")
