"""Block structure of Markdown, as far as needed to tell prose from code."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

BREAK = re.compile(r" {0,3}(?:(?:\*[ \t]*+){3,}|(?:-[ \t]*+){3,}|(?:_[ \t]*+){3,})$")
"""A line that is a thematic break."""

_FENCE = re.compile(r"(`{3,})[^`]*$|(~{3,})")
_QUOTES = re.compile(r"(?:[ \t]*+>)*+[ \t]*+")
_MARKER = re.compile(r"(?:[*+-]|[0-9]{1,9}[.)])(?:[ \t]++|$)")
_OWN_BLOCK = re.compile(r"[#|]|\{%|\[[^\]\n]*\]:")
_CODE_INDENT = 4


def find_prose(text: str, start: int = 0) -> Iterator[tuple[int, int]]:
    """Yield the spans of Markdown that hold inline text, one for each block, in order.

    Fenced and indented code is left out, also in lists and quotes. Linear time.
    """
    return _BlockScanner(text).spans(start)


@dataclass
class _BlockScanner:
    text: str
    fence: str = ""
    """The fence that closes the open code block; `margin` and `quoted` say in which list item and quote it lies."""
    margin: int = 0
    quoted: bool = False
    items: list[int] = field(default_factory=list)
    """Where the text of each open list item starts, in columns."""
    after_blank: bool = True
    in_code: bool = False

    def spans(self, position: int) -> Iterator[tuple[int, int]]:
        begin = -1
        while position < len(self.text):
            end = self.text.find("\n", position) + 1 or len(self.text)
            starts, continues = self.scan_line(self.text[position:end].rstrip("\r\n"))
            if begin >= 0 and (starts or not continues):
                yield begin, position
                begin = -1
            if continues and begin < 0:
                begin = position
            position = end
        if begin >= 0:
            yield begin, position

    def scan_line(self, line: str) -> tuple[bool, bool]:
        """Read a line; return whether a block starts with it, and whether it is prose at all."""
        inner = _find_match_end(_QUOTES, line, 0)
        indent = len(line[:inner].partition(">")[0].expandtabs(4))
        blank, quoted = inner == len(line), ">" in line[:inner]
        if self.fence and not self.close_fence(line, inner, indent, blank=blank, quoted=quoted):
            return True, False
        was_blank, self.after_blank = self.after_blank, blank
        if blank:
            return True, False
        marked = _MARKER.match(line, inner) is not None
        if was_blank or marked:
            while self.items and indent < self.items[-1]:
                self.items.pop()
        base = self.items[-1] if self.items else 0
        self.in_code = not quoted and indent >= base + _CODE_INDENT and (was_blank or self.in_code)
        if self.in_code or BREAK.match(line):
            return True, False
        if marked:
            inner = self.open_items(line, inner)
        if fence := _FENCE.match(line, inner):
            self.fence, self.quoted = fence[1] or fence[2], quoted
            self.margin = self.items[-1] if self.items and not quoted else 0
            return True, False
        return marked or was_blank or _OWN_BLOCK.match(line, inner) is not None, True

    def close_fence(self, line: str, inner: int, indent: int, *, blank: bool, quoted: bool) -> bool:
        """Close the open code block when this line ends it; return whether it ended before this line."""
        bare = line[inner:].rstrip(" \t")
        if len(bare) >= len(self.fence) and bare == self.fence[0] * len(bare):
            self.fence, self.after_blank, self.in_code = "", False, False
            return False
        if (blank and not self.quoted) or not (indent < self.margin or (self.quoted and not quoted)):
            return False
        self.fence, self.after_blank = "", True
        return True

    def open_items(self, line: str, inner: int) -> int:
        while marker := _MARKER.match(line, inner):
            inner = marker.end()
            self.items.append(len(line[:inner].expandtabs(4)))
            if len(self.items) > _LIST_DEPTH_MAX:
                break
        return inner


_LIST_DEPTH_MAX = 100
"""List items that are told apart; whoever nests deeper gets prose where an indented block might be code."""


def _find_match_end(pattern: re.Pattern[str], text: str, start: int) -> int:
    found = pattern.match(text, start)
    return found.end() if found else start
