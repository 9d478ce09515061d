"""Common items of two sequences: those that both have exactly once, in the same order, as many as possible."""

from collections import Counter
from collections.abc import Hashable, Sequence

from syncd.layout.compare.alignment import find_longest_increasing


def pair_unique_items(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Return the indexes, in both sequences, of items that each has exactly once and that keep their order.

    Shape: the longest such list, ascending on both sides. Cost: n log n.
    """
    counts = Counter(right)
    places = {item: at for at, item in enumerate(right) if counts[item] == 1}
    own = Counter(left)
    shared = [(at, places[item]) for at, item in enumerate(left) if own[item] == 1 and item in places]
    return find_longest_increasing(shared)
