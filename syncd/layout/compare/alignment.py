"""Align two sequences: which item of one stands for which of the other, in the same order, in next to linear time."""

from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Hashable, Iterator, Sequence


def pairs(one: Sequence[Hashable], other: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Given two sequences, return the places of equal items, as many in order as a cheap search finds.

    Shape: what both begin and end with; between, the first occurrence of an item stands for the first of the other,
    the second for the second, and of these the longest run that is in order in both.
    """
    head, tail = _ends(one, other)
    middle = occurrences(one[head : len(one) - tail], other[head : len(other) - tail])
    found = [(place, place) for place in range(head)]
    found += [(head + here, head + there) for here, there in find_rising(list(middle))]
    return found + [(len(one) - left, len(other) - left) for left in range(tail, 0, -1)]


def slots(one: Sequence[Hashable], other: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    """Given two sequences, return the places of items that took each other's place between equal ones."""
    here = there = 0
    for first, second in (*pairs(one, other), (len(one), len(other))):
        if first - here == second - there:
            yield from zip(range(here, first), range(there, second), strict=True)
        here, there = first + 1, second + 1


def occurrences(one: Sequence[Hashable], other: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    """Given two sequences, return each item of `one` with its counterpart, in the order of `one`, moved or not."""
    places: dict[Hashable, deque[int]] = defaultdict(deque)
    for place, item in enumerate(other):
        places[item].append(place)
    for place, item in enumerate(one):
        if places.get(item):
            yield place, places[item].popleft()


def counterparts(one: Sequence[Hashable], other: Sequence[Hashable]) -> dict[int, int]:
    """Given two sequences, return for each item of `one` its counterpart in `other`, wherever that has moved to."""
    head, tail = _ends(one, other)
    middle = occurrences(one[head : len(one) - tail], other[head : len(other) - tail])
    found = {place: place for place in range(head)} | {head + here: head + there for here, there in middle}
    return found | {len(one) - left: len(other) - left for left in range(1, tail + 1)}


def _ends(one: Sequence[Hashable], other: Sequence[Hashable]) -> tuple[int, int]:
    """How many items both begin with, and with how many of the rest both end."""
    shorter = min(len(one), len(other))
    head = 0
    while head < shorter and one[head] == other[head]:
        head += 1
    tail = 0
    while tail < shorter - head and one[-1 - tail] == other[-1 - tail]:
        tail += 1
    return head, tail


def find_rising(found: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Given pairs whose first places rise, return the longest part whose second places rise as well. Cost: n log n."""
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for index, (_, place) in enumerate(found):
        length = bisect_left(tails, place)
        before.append(ends[length - 1] if length else -1)
        if length == len(tails):
            tails.append(place)
            ends.append(index)
        else:
            tails[length], ends[length] = place, index
    rising: list[tuple[int, int]] = []
    here = ends[-1] if ends else -1
    while here >= 0:
        rising.append(found[here])
        here = before[here]
    return rising[::-1]
