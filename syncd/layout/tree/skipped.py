"""Parts of a file that the platform ignores: syncd ignores and reports them, and reads the rest."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SkippedPart:
    """One ignored part and the reason; line and column count from 1."""

    path: str
    line: int
    column: int
    reason: str
