"""Put a list into order with the fewest moves."""

from bisect import bisect_left
from collections.abc import Sequence


def settled(places: Sequence[int | None]) -> list[bool]:
    """Given the present place of each item in the desired order (None: not there yet), return which may stay.

    Shape: the items that stay are a longest increasing subsequence, so the number of moves is the least possible.
    """
    tails: list[int] = []
    ends: list[int] = []
    before: list[int | None] = [None] * len(places)
    for index, place in enumerate(places):
        if place is None:
            continue
        length = bisect_left(tails, place)
        before[index] = ends[length - 1] if length else None
        if length == len(tails):
            tails.append(place)
            ends.append(index)
        else:
            tails[length], ends[length] = place, index
    stay = [False] * len(places)
    here = ends[-1] if ends else None
    while here is not None:
        stay[here] = True
        here = before[here]
    return stay
