"""Words are compared by their stems: the forms of one word are one, and other words stay apart."""

import pytest

from syncd.platform.services.stems import compute_stem, find_stems

FAMILIES = [
    "configure configured configures configuring configuration configurations",
    "install installs installed installing installation installations",
    "deploy deploys deployed deploying",
    "translate translates translated translating translation translations",
    "authorize authorized authorization authorizes",
    "query queries queried querying",
    "merge merges merged merging",
    "class classes",
    "stop stops stopped stopping",
]


@pytest.mark.parametrize("family", FAMILIES)
def test_the_forms_of_a_word_have_one_stem(family: str) -> None:
    assert len({compute_stem(word) for word in family.split()}) == 1


def test_other_words_have_other_stems() -> None:
    assert len({compute_stem(family.split()[0]) for family in FAMILIES}) == len(FAMILIES)


def test_words_without_meaning_and_lone_letters_have_none() -> None:
    assert find_stems("How do I get to the x, and why doesn't it?") == []
    assert find_stems("version 2") == [compute_stem("version"), "2"]


def test_words_of_other_languages_keep_their_endings() -> None:
    assert find_stems("Größe größer") == ["grösse", "grösser"]
    assert find_stems("設定変更") == ["設定", "定変", "変更"]
