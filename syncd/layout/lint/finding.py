"""Findings: what a rule reports about a position in a file."""

from dataclasses import dataclass, field
from typing import Any, Literal

from syncd.layout.lint.rules import RULES

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True)
class Fix:
    """How a finding can be mended without a person: set a field of a declared object to a value; None removes the
    field.

    `what` says it in one sentence.
    """

    what: str
    ref: str
    field: str
    value: Any = None


@dataclass(frozen=True, order=True)
class Finding:
    """One position where a rule is broken; line and column count from 1, and `width` is how many characters it covers.

    `path` is below the directory of the space, or of the repository for a site file.
    """

    path: str
    line: int
    column: int
    code: str
    message: str
    hint: str = ""
    severity: Severity = "error"
    width: int = 1
    fix: Fix | None = field(default=None, compare=False)
    covered: tuple["Finding", ...] = field(default=(), compare=False)
    """Findings that this one speaks for: not shown themselves, and mended with it."""

    def list_all(self) -> "tuple[Finding, ...]":
        """Return the finding with those that it covers."""
        return (self, *self.covered)


def make_finding(code: str, path: str, place: tuple[int, int], message: str, hint: str = "") -> Finding:
    """Return a finding with the severity of its rule; `place` is its line and column."""
    return Finding(path, *place, code, message, hint, RULES[code].severity)
