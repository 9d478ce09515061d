"""The line that a finding is about, as a terminal can show it, with a caret under the place."""

import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import accumulate

from syncd.cli.terminal.text import safe

CELLS_MAX = 110
"""Cells of a line that are shown; of a longer one, those around the place."""
_LEAD = 30
"""Cells that are shown before the place, where a line is cut."""
_TAB = "    "


class Source:
    """The text of one file, read when the first finding in it is shown."""

    def __init__(self, read: Callable[[], bytes]) -> None:
        self._read = read

    @cached_property
    def _lines(self) -> Sequence[bytes]:
        return self._read().split(b"\n")

    @cached_property
    def _starts(self) -> Sequence[int]:
        return list(accumulate((len(line) + 1 for line in self._lines), initial=0))

    def line(self, number: int) -> str:
        """Given the number of a line, return it without its end; "" where there is none."""
        if not 1 <= number <= len(self._lines):
            return ""
        return self._lines[number - 1].decode("utf-8", "replace").removesuffix("\r")

    def byte(self, line: int, column: int) -> int:
        """Given a line and a column from 1, return how many bytes of the file stand before it."""
        start = self._starts[min(line, len(self._starts)) - 1]
        return start + len(self.line(line)[: column - 1].encode("utf-8", "replace"))


def excerpt(text: str, line: int, column: int, width: int) -> tuple[str, str]:
    """Given a line of a file, its number and a place in it, return two lines for a terminal: the text and the carets.

    Shapes: tabs are four spaces, what a terminal must not get is spelled out, and the carets stand under what they
    mean whatever stands before it; a place behind the end of the line has one caret there.
    """
    pieces = [_TAB if sign == "\t" else safe(sign) for sign in text]
    cells = list(accumulate(map(_cells, pieces), initial=0))
    at, end = min(column - 1, len(pieces)), min(column - 1 + width, len(pieces))
    first, last = 0, len(pieces)
    if cells[-1] > CELLS_MAX:
        first = bisect_left(cells, max(0, min(cells[at] - _LEAD, cells[-1] - CELLS_MAX)))
        last = bisect_left(cells, cells[first] + CELLS_MAX + 1) - 1
    before, behind = "…" if first else "", "…" if last < len(pieces) else ""
    gap = " " * (len(before) + cells[at] - cells[first])
    carets = "^" * max(1, cells[min(end, last)] - cells[at])
    shown = f"{before}{''.join(pieces[first:last])}{behind}"
    return f"{line:>5} | {shown}".rstrip(), f"      | {gap}{carets}"


def _cells(piece: str) -> int:
    """How many cells of a terminal a character, or what stands for it, takes."""
    if piece.isascii():
        return len(piece)
    if unicodedata.category(piece[0]) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(piece[0]) in "WF" else len(piece)
