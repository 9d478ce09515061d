"""Numbers and lists in sentences."""

import pytest

from syncd.model.wording import format_count, format_first


@pytest.mark.parametrize(
    ("count", "noun", "words"),
    [
        (0, "file", "0 files"),
        (1, "file", "1 file"),
        (1200, "file", "1,200 files"),
        (2, "address", "2 addresses"),
        (1, "try", "1 try"),
        (5, "try", "5 tries"),
        (2, "day", "2 days"),
    ],
)
def test_a_number_and_its_noun_agree(count: int, noun: str, words: str) -> None:
    assert format_count(count, noun) == words


@pytest.mark.parametrize(("names", "words"), [("", ""), ("a", "a"), ("ab", "a, b"), ("abcde", "a, b and 3 more")])
def test_a_list_that_is_cut_says_so(names: str, words: str) -> None:
    assert format_first(list(names), 2) == words
