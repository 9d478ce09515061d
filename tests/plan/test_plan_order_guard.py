"""Orders need the fewest moves; guards stop what only a person may approve."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncd.errors import BecameEmpty, TooMuch
from syncd.plan.fewest_moves import find_staying
from syncd.plan.guard import guard_deletions


@given(st.permutations(range(7)))
def test_the_items_that_stay_are_in_order_and_as_many_as_possible(places: list[int]) -> None:
    stay = [place for place, keep in zip(places, find_staying(places), strict=True) if keep]
    assert stay == sorted(stay)
    longest = max(n for n in range(len(places) + 1) if any(list(c) == sorted(c) for c in combinations(places, n)))
    assert len(stay) == longest


@given(st.lists(st.none() | st.integers(0, 50), unique_by=lambda place: place if place is not None else object()))
def test_what_is_not_there_yet_never_stays(places: list[int | None]) -> None:
    assert all(place is not None for place, keep in zip(places, find_staying(places), strict=True) if keep)


@pytest.mark.parametrize(
    ("deleted", "existing", "remain", "error"),
    [
        (0, 100, 100, None),
        (10, 100, 90, None),
        (11, 100, 89, TooMuch),
        (50, 1000, 950, None),
        (51, 1000, 949, TooMuch),
        (3, 3, 0, BecameEmpty),
    ],
)
def test_the_guard_holds_what_is_too_much(
    deleted: int, existing: int, remain: int, error: type[Exception] | None
) -> None:
    names = [f"page-{n}.md" for n in range(deleted)]
    if error is None:
        guard_deletions("mirror.docs", names, existing, remain=remain, force={})
        return
    with pytest.raises(error, match=r"mirror\.docs") as caught:
        guard_deletions("mirror.docs", names, existing, remain=remain, force={"mirror.docs": deleted - 1})
    assert f"--force mirror.docs={deleted}" in caught.value.hint  # type: ignore[attr-defined]
    assert (error is TooMuch) == (f"over {max(10, existing // 20)} (" in str(caught.value))
    guard_deletions("mirror.docs", names, existing, remain=remain, force={"mirror.docs": deleted})
