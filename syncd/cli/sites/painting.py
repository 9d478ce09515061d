"""Plans and drift on a terminal: the colours of lines that `plan/site/text.py` worded, nothing raw from outside."""

import sys
from collections.abc import Iterable, Mapping

from syncd.cli.terminal import paint, safe

COLOURS: Mapping[str, int] = {
    "create": 32,
    "update": 33,
    "move": 34,
    "adopt": 36,
    "delete": 31,
    "blocked": 35,
    "report": 35,
    "gate": 31,
    "warning": 33,
    "title": 1,
    "hint": 36,
}
"""By style; what has none stays as it is. The sign of each line says what its colour does."""


def painted(lines: Iterable[tuple[str, str]]) -> list[str]:
    """Given styles and texts, return lines for standard output."""
    return [_painted(style, safe(text)) for style, text in lines]


def _painted(style: str, text: str) -> str:
    return paint(text, COLOURS[style], sys.stdout) if style in COLOURS and text else text
