"""What is recorded of a flow for people."""

import pytest

from syncd.plan.change import Change
from syncd.sync.outcome import Applied, describe_outcome

CHANGE = Change("update", "page", "options.md")


@pytest.mark.parametrize(
    ("changes", "words"), [((), "0 changes"), ((CHANGE,), "1 change"), ((CHANGE,) * 2, "2 changes")]
)
def test_changes_are_counted(changes: tuple[Change, ...], words: str) -> None:
    assert describe_outcome(Applied(changes)) == ("applied", words)
