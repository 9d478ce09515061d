"""How often one request is tried, how long all of its tries may take, and how long to wait between them."""

from collections.abc import Callable
from typing import Self

from syncd.model.wording import format_count

TRIES = 5
BACKOFF_BASE = 1.0
BACKOFF_CAP = 60.0
"""Seconds before the second try, doubled for each further one, and the most that they grow to."""
DEADLINES_MAX = 2
"""All tries of one request together may take this many deadlines, waits between them not counted."""


class Retries:
    """The tries of one request, at most `tries`. Units: they took `spent` seconds and may take `left` more."""

    def __init__(self, left: float, random: Callable[[], float], tries: int) -> None:
        self.made, self.spent, self.left = 0, 0.0, left
        self._random, self._tries = random, tries

    def limit(self, tries: int) -> Self:
        """Make no more than this number of tries."""
        self._tries = min(self._tries, tries)
        return self

    @property
    def is_over(self) -> bool:
        """Whether no other try is to be made."""
        return self.made >= self._tries or self.left <= 0

    def add_try(self, seconds: float) -> None:
        """Count one more try that took these seconds."""
        self.made += 1
        self.spent += seconds
        self.left -= seconds

    def format_made(self) -> str:
        """Return how many tries were made, and in how many seconds where that is worth a word."""
        spent = f" in {self.spent:.0f} s" if self.spent >= 1 else ""
        return f"{format_count(self.made, 'try')}{spent}"

    def compute_backoff(self) -> float:
        """Return the seconds until the next try, with full jitter."""
        return self._random() * min(BACKOFF_CAP, BACKOFF_BASE * 2.0 ** (self.made - 1))
