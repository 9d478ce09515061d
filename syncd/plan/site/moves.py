"""The fewest moves that put siblings into order, none of which leaves everything as it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from syncd.plan.order import settled


@dataclass(frozen=True)
class Move:
    """Something that is to stand directly before, or after, one of its siblings."""

    name: str
    side: Literal["before", "after"]
    anchor: str


def moves(there: Sequence[str], wanted: Sequence[str]) -> tuple[Move, ...]:
    """Given siblings in the order that they have, and some of them in the order wanted, return the moves, in order.

    Shapes: what `wanted` does not name stays among the others as it is; a move happens when those before it have
    happened; each anchor stands in its right place by then. O(n log n).
    """
    place = {name: index for index, name in enumerate(there)}
    wanted = [name for name in wanted if name in place]
    stay = settled([place[name] for name in wanted])
    first = stay.index(True) if True in stay else 0
    before = [Move(wanted[at], "before", wanted[at + 1]) for at in range(first - 1, -1, -1)]
    after = [Move(wanted[at], "after", wanted[at - 1]) for at in range(first + 1, len(wanted)) if not stay[at]]
    return (*before, *after)


def moved(there: Sequence[str], made: Sequence[Move]) -> list[str]:
    """Given siblings and moves, return the siblings as they stand after the moves."""
    order = list(there)
    for move in made:
        order.remove(move.name)
        order.insert(order.index(move.anchor) + (move.side == "after"), move.name)
    return order
