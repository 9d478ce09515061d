"""The fewest moves that put siblings into order, none of which leaves everything as it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from syncd.plan.fewest_moves import find_staying

Name = TypeVar("Name", bound=str)


@dataclass(frozen=True)
class Move(Generic[Name]):
    """Something that is to stand directly before, or after, one of its siblings."""

    name: Name
    side: Literal["before", "after"]
    anchor: Name


def plan_moves(there: Sequence[Name], wanted: Sequence[Name]) -> tuple[Move[Name], ...]:
    """Return the fewest moves that put siblings into the wanted order; `there` is the order that they have.

    Shape: what `wanted` does not name stays among the others as it is; a move happens when those before it have
    happened; each anchor is in its right place by then. O(n log n).
    """
    place = {name: index for index, name in enumerate(there)}
    wanted = [name for name in wanted if name in place]
    stay = find_staying([place[name] for name in wanted])
    first = stay.index(True) if True in stay else 0
    before = [Move(wanted[at], "before", wanted[at + 1]) for at in range(first - 1, -1, -1)]
    after = [Move(wanted[at], "after", wanted[at - 1]) for at in range(first + 1, len(wanted)) if not stay[at]]
    return (*before, *after)
