"""The line of a finding as a terminal can show it, with carets under the place."""

import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import accumulate

from syncd.cli.terminal.text import escape

CELLS_MAX = 110
"""So many cells of a line are shown, or as many as a terminal has; of a longer line, those around the place."""
_LEAD = 30
"""So many cells are shown before the place when a line is cut."""
_TAB = "    "
_MARGIN = len("    1 | ") + len("……")
"""Cells beside those of a line that is cut."""


class SourceText:
    """The text of one file, read when the first finding in it is shown."""

    def __init__(self, read: Callable[[], bytes]) -> None:
        self._read = read

    @cached_property
    def _lines(self) -> Sequence[bytes]:
        return self._read().split(b"\n")

    @cached_property
    def _starts(self) -> Sequence[int]:
        return list(accumulate((len(line) + 1 for line in self._lines), initial=0))

    def get_line(self, number: int) -> str:
        """Return the line with a number, counted from 1, without its line end; "" where there is none."""
        if not 1 <= number <= len(self._lines):
            return ""
        return self._lines[number - 1].decode("utf-8", "replace").removesuffix("\r")

    def count_bytes_before(self, line: int, column: int) -> int:
        """Return how many bytes of the file stand before a line and column, both counted from 1."""
        start = self._starts[min(line, len(self._starts)) - 1]
        return start + len(self.get_line(line)[: column - 1].encode("utf-8", "replace"))


def format_excerpt(text: str, line: int, column: int, width: int, *, columns: int | None = None) -> tuple[str, str]:
    """Return two lines for a terminal: a line of a file with its number, and carets under `width` characters of it.

    Units: `columns` are those of the terminal, None where there is none.
    Shape: tabs are four spaces and control characters are spelled out; the carets stand under their characters also
    behind wide ones. A place behind the end of the line has one caret there.
    """
    pieces = [_TAB if sign == "\t" else escape(sign) for sign in text]
    cells = list(accumulate(map(_count_cells, pieces), initial=0))
    at, end = min(column - 1, len(pieces)), min(column - 1 + width, len(pieces))
    first, last = 0, len(pieces)
    most = CELLS_MAX if columns is None else max(_LEAD + 1, min(CELLS_MAX, columns - _MARGIN))
    if cells[-1] > most:
        first = bisect_left(cells, max(0, min(cells[at] - _LEAD, cells[-1] - most)))
        last = bisect_left(cells, cells[first] + most + 1) - 1
    before, behind = "…" if first else "", "…" if last < len(pieces) else ""
    gap = " " * (len(before) + cells[at] - cells[first])
    carets = "^" * max(1, cells[min(end, last)] - cells[at])
    shown = f"{before}{''.join(pieces[first:last])}{behind}"
    return f"{line:>5} | {shown}".rstrip(), f"      | {gap}{carets}"


def _count_cells(piece: str) -> int:
    """How many cells of a terminal a character, or its spelled-out form, takes."""
    if piece.isascii():
        return len(piece)
    if unicodedata.category(piece[0]) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(piece[0]) in "WF" else len(piece)
