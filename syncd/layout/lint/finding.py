"""Findings: what a rule says of one place in one file."""

from dataclasses import dataclass, field
from typing import Any, Literal

from syncd.layout.lint.rules import RULES

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True)
class Fix:
    """What can be done about a finding without a person: a field of a declared thing gets a value; None takes it out.

    `what` says it in one sentence.
    """

    what: str
    ref: str
    field: str
    value: Any = None


@dataclass(frozen=True, order=True)
class Finding:
    """One place where a rule is broken; line and column count from 1, and `width` is how many characters it covers.

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
    along: tuple["Finding", ...] = field(default=(), compare=False)
    """Findings that this one speaks for: not shown themselves, and mended with it."""

    def all(self) -> "tuple[Finding, ...]":
        """Given a finding, return it with those that it speaks for."""
        return (self, *self.along)


def finding(code: str, path: str, place: tuple[int, int], message: str, hint: str = "") -> Finding:
    """Given a rule's code, a place and what is wrong there, return the finding with the rule's severity."""
    return Finding(path, *place, code, message, hint, RULES[code].severity)
