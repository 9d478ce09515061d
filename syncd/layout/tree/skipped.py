"""Parts of a file that say nothing to the platform either: passed over and reported, while the rest of it counts."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SkippedPart:
    """One such part and why it is passed over; line and column count from 1."""

    path: str
    line: int
    column: int
    why: str
