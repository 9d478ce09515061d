"""Numbers in sentences."""

import pytest

from syncd.model.wording import format_count


@pytest.mark.parametrize(
    ("count", "noun", "words"),
    [(0, "file", "0 files"), (1, "file", "1 file"), (1200, "file", "1,200 files"), (2, "address", "2 addresses")],
)
def test_a_number_and_its_noun_agree(count: int, noun: str, words: str) -> None:
    assert format_count(count, noun) == words
