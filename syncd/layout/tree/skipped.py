"""Parts of a file that the platform ignores: syncd ignores and reports them, and reads the rest."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SkippedPart:
    """One ignored part and the reason; line and column count from 1, and are 0 where a whole file or folder is meant.

    Shape: `path` is "" where no file says it, as in a table of contents that is inferred from folders.
    """

    path: str
    line: int
    column: int
    reason: str

    @property
    def place(self) -> str:
        """Where it is, or "" where no file says it."""
        return f"{self.path}:{self.line}:{self.column}" if self.line else self.path
