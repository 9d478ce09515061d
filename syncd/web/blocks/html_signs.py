"""Tags and comments in a writer's HTML, found in linear time, whatever it looks like: nothing here cleans anything."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

_START = re.compile(r"<!--|<(/?)([A-Za-z][A-Za-z0-9-]*)")
_SPECIAL = re.compile("[\"'>]")


@dataclass(frozen=True)
class HtmlSign:
    """A tag, or a comment with the name "". Shape: it is `html[start:end]`, and `name` is in small letters."""

    start: int
    end: int
    name: str = ""
    is_closing: bool = False
    is_void: bool = False


def find_html_signs(html: str) -> Iterator[HtmlSign]:
    """Yield the tags and comments of a text in order; a tag without an end is text."""
    ends = _TagEnds(html)
    at = 0
    while (found := _START.search(html, at)) is not None:
        if found[2] is None:
            end = html.find("-->", found.end())
            sign = HtmlSign(found.start(), len(html) if end < 0 else end + len("-->"))
        else:
            end = ends.find_end(found.end())
            if end < 0:
                at = found.end()
                continue
            is_void = found.end() < end and html[end - 1] == "/"
            sign = HtmlSign(found.start(), end + 1, found[2].lower(), bool(found[1]), is_void)
        yield sign
        at = sign.end


def drop_html_signs(html: str) -> str:
    """Return a text with a space in the place of each tag and comment."""
    pieces, at = [], 0
    for sign in find_html_signs(html):
        pieces.append(html[at : sign.start])
        at = sign.end
    return " ".join((*pieces, html[at:]))


class _TagEnds:
    """Where tags of a text end, each place computed once: looking for the end of each tag would read all of it again
    and again where there is none.
    """

    def __init__(self, html: str) -> None:
        self._places = [found.start() for found in _SPECIAL.finditer(html)]
        self._ends = [-1] * (len(self._places) + 1)
        """By special sign: the place of the `>` that ends a tag which gets there outside of a value; -1 for none."""
        nearest = {"'": len(self._places), '"': len(self._places)}
        for number in range(len(self._places) - 1, -1, -1):
            sign = html[self._places[number]]
            if sign == ">":
                self._ends[number] = self._places[number]
            else:
                self._ends[number] = self._ends[min(nearest[sign] + 1, len(self._places))]
                nearest[sign] = number

    def find_end(self, at: int) -> int:
        """Return the place of the `>` that ends a tag whose name ends at a place; -1 when there is none."""
        return self._ends[bisect_left(self._places, at)]
