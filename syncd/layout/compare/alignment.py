"""Align two sequences: find which items correspond, in the same order, in nearly linear time."""

from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Hashable, Iterator, Sequence


def pair_equal_items(one: Sequence[Hashable], other: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Return the indices of equal items of two sequences, in order, as many as a cheap search finds.

    Shape: the common start and end; between them the first occurrence of an item is paired with the first of the other,
    the second with the second, and of these the longest run that is in order in both.
    """
    head, tail = _count_equal_ends(one, other)
    middle = pair_occurrences(one[head : len(one) - tail], other[head : len(other) - tail])
    found = [(index, index) for index in range(head)]
    found += [
        (head + one_index, head + other_index) for one_index, other_index in find_longest_increasing(list(middle))
    ]
    return found + [(len(one) - left, len(other) - left) for left in range(tail, 0, -1)]


def pair_replaced_items(one: Sequence[Hashable], other: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    """Yield the indices of items that replaced one another between equal ones."""
    one_index = other_index = 0
    for one_next, other_next in (*pair_equal_items(one, other), (len(one), len(other))):
        if one_next - one_index == other_next - other_index:
            yield from zip(range(one_index, one_next), range(other_index, other_next), strict=True)
        one_index, other_index = one_next + 1, other_next + 1


def pair_occurrences(one: Sequence[Hashable], other: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    """Yield the indices of each item of `one` and of its counterpart in `other`, in the order of `one`, moved or
    not."""
    places: dict[Hashable, deque[int]] = defaultdict(deque)
    for index, item in enumerate(other):
        places[item].append(index)
    for index, item in enumerate(one):
        if places.get(item):
            yield index, places[item].popleft()


def find_counterparts(one: Sequence[Hashable], other: Sequence[Hashable]) -> dict[int, int]:
    """Return for the index of each item of `one` the index of its counterpart in `other`, wherever that has moved
    to."""
    head, tail = _count_equal_ends(one, other)
    middle = pair_occurrences(one[head : len(one) - tail], other[head : len(other) - tail])
    found = {index: index for index in range(head)} | {
        head + one_index: head + other_index for one_index, other_index in middle
    }
    return found | {len(one) - left: len(other) - left for left in range(1, tail + 1)}


def _count_equal_ends(one: Sequence[Hashable], other: Sequence[Hashable]) -> tuple[int, int]:
    """Return how many items both begin with, and with how many of the rest both end."""
    shorter = min(len(one), len(other))
    head = 0
    while head < shorter and one[head] == other[head]:
        head += 1
    tail = 0
    while tail < shorter - head and one[-1 - tail] == other[-1 - tail]:
        tail += 1
    return head, tail


def find_longest_increasing(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return, of pairs whose first numbers rise, the longest part whose second numbers rise as well. Cost: n log n."""
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for index, (_, number) in enumerate(pairs):
        length = bisect_left(tails, number)
        before.append(ends[length - 1] if length else -1)
        if length == len(tails):
            tails.append(number)
            ends.append(index)
        else:
            tails[length], ends[length] = number, index
    rising: list[tuple[int, int]] = []
    at = ends[-1] if ends else -1
    while at >= 0:
        rising.append(pairs[at])
        at = before[at]
    return rising[::-1]
