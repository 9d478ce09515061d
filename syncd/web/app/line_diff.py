"""What changed between two texts, line by line, with some lines around each change; and how much it is."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

LINES_MAX = 4_000
"""Lines of each side between the first and the last change that are compared; more are shown as replaced."""
AROUND = 3


@dataclass(frozen=True)
class DiffLine:
    """A line of a difference: `kind` is "same", "added", "removed", or "gap" for lines that are left out.

    Shape: lines count from 1; 0 on the side that has not got the line.
    """

    kind: str
    before: int
    after: int
    text: str = ""


def compare_lines(before: str, after: str) -> list[DiffLine]:
    """Return the lines of both texts in one order, all of them."""
    left, right = before.splitlines(), after.splitlines()
    found: list[DiffLine] = []
    for kind, from_left, to_left, from_right, to_right in _list_line_steps(left, right):
        if kind == "equal":
            pairs = zip(range(from_left, to_left), range(from_right, to_right), strict=True)
            found += [DiffLine("same", old + 1, new + 1, right[new]) for old, new in pairs]
            continue
        found += [DiffLine("removed", at + 1, 0, left[at]) for at in range(from_left, to_left)]
        found += [DiffLine("added", 0, at + 1, right[at]) for at in range(from_right, to_right)]
    return found


def count_changes(lines: Sequence[DiffLine]) -> tuple[int, int]:
    """Return how many lines were added, and how many removed."""
    kinds = [line.kind for line in lines]
    return kinds.count("added"), kinds.count("removed")


def fold_lines(lines: Sequence[DiffLine]) -> list[DiffLine]:
    """Return the changed lines and those around them; a gap stands for all others."""
    near: set[int] = set()
    for at, line in enumerate(lines):
        if line.kind != "same":
            near.update(range(at - AROUND, at + AROUND + 1))
    found: list[DiffLine] = []
    for at, line in enumerate(lines):
        if at in near:
            found.append(line)
        elif not found or found[-1].kind != "gap":
            found.append(DiffLine("gap", line.before, line.after))
    return found


def _list_line_steps(left: Sequence[str], right: Sequence[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """The steps from one side to the other; how both begin and end costs nothing."""
    shortest = min(len(left), len(right))
    start = next((at for at in range(shortest) if left[at] != right[at]), shortest)
    end = next((at for at in range(shortest - start) if left[-at - 1] != right[-at - 1]), shortest - start)
    middle = left[start : len(left) - end], right[start : len(right) - end]
    yield "equal", 0, start, 0, start
    if max(map(len, middle)) > LINES_MAX:
        yield "replace", start, len(left) - end, start, len(right) - end
    else:
        for kind, *places in SequenceMatcher(None, *middle, autojunk=False).get_opcodes():
            from_left, to_left, from_right, to_right = (place + start for place in places)
            yield kind, from_left, to_left, from_right, to_right
    yield "equal", len(left) - end, len(left), len(right) - end, len(right)
