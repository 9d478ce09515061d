"""Put a list into order with the fewest moves."""

from collections.abc import Sequence

from syncd.layout.compare.alignment import find_longest_increasing


def find_staying(places: Sequence[int | None], fixed: Sequence[bool] = ()) -> list[bool]:
    """Return which items of a list need no move; `places` has the present place of each item in the desired order, or
    None.

    Shape: the items that stay are a longest increasing subsequence, so the number of moves is the least possible. As
    many as possible of the `fixed` items, which cannot be moved at all, stay, and the others are placed around them.
    """
    pinned = [index for index, place in enumerate(places) if fixed and fixed[index] and place is not None]
    kept = _mark_rising([places[index] for index in pinned])
    stay = [False] * len(places)
    start, floor = 0, -1
    for index, is_kept in [*zip(pinned, kept, strict=True), (len(places), True)]:
        if not is_kept:
            continue
        ceiling = places[index] if index < len(places) else None
        loose = [
            place if place is not None and place > floor and (ceiling is None or place < ceiling) else None
            for place in (None if fixed and fixed[at] else places[at] for at in range(start, index))
        ]
        stay[start:index] = _mark_rising(loose)
        if ceiling is not None:
            stay[index], start, floor = True, index + 1, ceiling
    return stay


def _mark_rising(places: Sequence[int | None]) -> list[bool]:
    """Which of these are in a longest increasing subsequence."""
    stay = [False] * len(places)
    for index, _ in find_longest_increasing(
        [(index, place) for index, place in enumerate(places) if place is not None]
    ):
        stay[index] = True
    return stay
