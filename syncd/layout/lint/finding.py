"""Findings: what a rule says of one place in one file."""

from dataclasses import dataclass
from typing import Literal

from syncd.layout.lint.rules import RULES

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True, order=True)
class Finding:
    """One place where a rule is broken; `path` is below the space's directory, line and column count from 1."""

    path: str
    line: int
    column: int
    code: str
    message: str
    hint: str = ""
    severity: Severity = "error"


def finding(code: str, path: str, place: tuple[int, int], message: str, hint: str = "") -> Finding:
    """Given a rule's code, a place and what is wrong there, return the finding with the rule's severity."""
    return Finding(path, *place, code, message, hint, RULES[code].severity)
