"""Plans and drift on a terminal: the colours of lines from `plan/site/render/text.py`, nothing raw from outside."""

import shutil
import sys
from collections.abc import Iterable, Mapping

from syncd.cli.terminal.text import paint, safe

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


ROOMY = 90
"""Columns from which plans are told in columns."""


def is_narrow() -> bool:
    """Return whether standard output is a terminal that is too narrow for columns."""
    return sys.stdout.isatty() and shutil.get_terminal_size().columns < ROOMY


def painted(lines: Iterable[tuple[str, str]]) -> list[str]:
    """Given styles and texts, return lines for standard output."""
    return [_painted(style, part) for style, text in lines for part in map(safe, text.split("\n"))]


def _painted(style: str, text: str) -> str:
    return paint(text, COLOURS[style], sys.stdout) if style in COLOURS and text else text
