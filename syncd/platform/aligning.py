"""Two sequences side by side: the items that both have in the same order, as many as possible."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Sequence


def unique_pairs(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Given two sequences, return where the items that each has exactly once stand in both, in the order of both.

    Shapes: the longest such list, ascending on both sides. Cost: n log n.
    """
    counts = Counter(right)
    places = {item: at for at, item in enumerate(right) if counts[item] == 1}
    own = Counter(left)
    shared = [(at, places[item]) for at, item in enumerate(left) if own[item] == 1 and item in places]
    return _ascending(shared)


def _ascending(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest part of the pairs, which ascend on the left, that ascends on the right too."""
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for index, (_, right) in enumerate(pairs):
        length = bisect_left(ends, right)
        ends[length : length + 1] = [right]
        last[length : length + 1] = [index]
        before.append(last[length - 1] if length else -1)
    found: list[tuple[int, int]] = []
    index = last[-1] if last else -1
    while index >= 0:
        found.append(pairs[index])
        index = before[index]
    return found[::-1]
