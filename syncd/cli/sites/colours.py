"""Plans and drift on a terminal: lines of `plan/site/render/text.py`, escaped and coloured."""

import shutil
import sys
from collections.abc import Iterable, Mapping

from syncd.cli.terminal.text import escape, style_text

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
"""By style; a text of another style is not coloured. The sign of each line says the same as its colour."""


WIDE_COLUMNS = 90
"""On a terminal of so many columns, plans are printed in columns."""


def is_narrow() -> bool:
    """Return whether standard output is a terminal that is too narrow for columns."""
    return sys.stdout.isatty() and shutil.get_terminal_size().columns < WIDE_COLUMNS


def style_lines(lines: Iterable[tuple[str, str]]) -> list[str]:
    """Return the lines of styled texts for standard output."""
    return [_style_line(style, part) for style, text in lines for part in map(escape, text.split("\n"))]


def _style_line(style: str, text: str) -> str:
    return style_text(text, COLOURS[style], sys.stdout) if style in COLOURS and text else text
