"""A long history on two sides: no word is lost, nothing comes back, and all sides end equal."""

import os
from typing import Any

import pytest

from tests.sampling import sample_cases
from tests.sync.history import History

SEED = int(os.environ.get("SYNCD_TEST_SEED", "1"))


@pytest.mark.timeout(60)
def test_a_short_history_loses_no_word(world: Any) -> None:
    History(world, SEED).play(12)


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", sample_cases(range(10), long=(0, 8)))
def test_two_hundred_random_edits_lose_no_word(world: Any, seed: int) -> None:
    """Ten histories make two thousand edits."""
    History(world, SEED * 1000 + seed, clones=1 + seed % 3).play(200)
