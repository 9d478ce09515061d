"""An excerpt of what a search found begins and ends with whole words."""

import pytest

from syncd.web.pages.search_results import cut_excerpt

TEXT = "Every word counts here. " * 40 + "The lantern is green. " + "And every word counts there. " * 40


def test_an_excerpt_cuts_no_word() -> None:
    before, word, after = cut_excerpt(TEXT, "lantern")
    assert word == "lantern"
    assert before.startswith("… ")
    assert after.endswith(" …")
    assert set((before + word + after).split()) <= {*TEXT.split(), "…"}
    assert len(before + word + after) < 230


def test_a_text_without_the_words_begins_at_its_start() -> None:
    before, word, after = cut_excerpt(TEXT, "nowhere")
    assert (word, after) == ("", "")
    assert before.startswith("Every word")
    assert set(before.split()) <= {*TEXT.split(), "…"}


@pytest.mark.parametrize("text", ["", "lantern", "x" * 1000 + "lantern" + "x" * 1000])
def test_a_text_of_few_words_is_cut_where_it_must(text: str) -> None:
    before, word, after = cut_excerpt(text, "lantern")
    assert word in text
    assert len(before) + len(word) + len(after) < 240
