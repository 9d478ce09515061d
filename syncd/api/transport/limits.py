"""How much of an answer is read, by its kind: the one table of bytes and memory.

A short JSON text can stand for many values: 15 MB of `[],` are 500 MB of lists, and one emoji makes a text of letters
four times as large. What an answer takes as a whole is estimated while it arrives, before any value of it is made:
first from all signs that begin or part values; only where that is too much, again without those inside of texts.
Measured with pydantic 2.14 on Python 3.11. How many pages a tree may have is `model.item_count`'s to say.
"""

import re
from dataclasses import dataclass
from io import BytesIO
from sys import getsizeof

from pydantic_core import from_json

from syncd.net.failures import TooLarge

MIB = 1 << 20


@dataclass(frozen=True)
class Limit:
    """What a kind of answer may cost. Units: `size` in unpacked bytes; `memory` in bytes, values and text together."""

    size: int
    memory: int


OBJECT = Limit(16 * MIB, 48 * MIB)
"""One thing. The largest texts of the API have 8 MiB."""
LIST = Limit(16 * MIB, 48 * MIB)
"""One page of a list, up to a thousand things; how long the whole list may be is `api.lists`' to say."""
PAGE = Limit(4 * MIB, 24 * MIB)
"""A page or a block of content with its Markdown; the largest that people write have one or two MB."""
DOCUMENT = Limit(16 * MIB, 64 * MIB)
"""A page as a document: a tree with several objects for each paragraph."""
TREE = Limit(32 * MIB, 128 * MIB)
"""A revision: the tree of its pages and the list of its files; 20,000 pages are 14 MB, which take 120 MB."""
FILE = Limit(100 * MIB, 0)
"""A file is not made of values: it goes to a disk piece by piece."""
STREAM = Limit(64 * MIB, 0)
"""An answer that comes event by event; each event has the limits of an object."""
REFUSAL_BYTES = 1 << 16
"""Of an answer that is no success, this much is read: a message is all that is looked for in it."""

_TEXT_COST, _WIDEST, _COLON = 60, 4, ord(":")
_COSTS = {b"{": 400, b"[": 100, b",": 60, b":": 40}
"""Bytes that an object, a list, one more value and one more member take, while they are read and after."""
_TEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
"""A text of JSON, also one that has not ended yet: a search that fails there would begin again at every quote."""
_SHORT = 1 << 16
"""Bytes of a text up to which its width is known exactly."""
_MAY_BE_WIDE = re.compile(rb"[^\x00-\x7f]|\\u")
_NAMES, _NAME = 1000, 64
"""Names of members, and the bytes of one, that are made only once however often they come."""


def choose_page_limit(format: str) -> Limit:
    """Return the limit of a page, by the format that it is asked for in."""
    return PAGE if format == "markdown" else DOCUMENT


class AnswerBuffer:
    """The JSON text of an answer while it arrives."""

    def __init__(self, limit: Limit) -> None:
        self.size = 0
        self._limit = limit
        self._body = BytesIO()
        self._signs, self._is_wide, self._next_estimate = 0, False, 0
        self._values, self._end = 0, 0
        """What the values up to a place in the text take, texts among them known as such."""
        self._names: set[bytes] = set()

    def add(self, piece: bytes) -> None:
        """Add the next piece. Raises: TooLarge as soon as the text so far would take too much memory."""
        self._body.write(piece)
        self.size += len(piece)
        self._is_wide = self._is_wide or b"\\" in piece or not piece.isascii()
        self._signs += _estimate_sign_cost(piece) + piece.count(b'"') * _TEXT_COST // 2
        if self.size >= self._next_estimate and self._may_be_too_much():
            self._next_estimate = self.size + self.size // 2
            self._estimate(self._body.getvalue())

    def read_all(self) -> bytes:
        """Return the complete text. Raises: TooLarge when its values would take too much memory."""
        body = self._body.getvalue()
        if self._may_be_too_much():
            self._estimate(body)
        return body

    def discard(self) -> None:
        """Discard the text: an exception keeps its frames, and with them what was read, for as long as it is kept
        itself."""
        self._body.close()

    def _may_be_too_much(self) -> bool:
        width = _WIDEST if self._is_wide else 1
        return (1 + width) * self.size + self._signs > self._limit.memory

    def _estimate(self, body: bytes) -> None:
        """Go on with the estimate to the end of what is there. Raises: TooLarge."""
        names, limit, end = self._names, self._limit.memory - len(body), self._end
        values, costs = self._values, dict[bytes, int]()
        for found in _TEXT.finditer(body, end):
            start, stop = found.span()
            if stop == len(body) or values > limit:
                break  # a text at the end may go on
            gap = body[end:start]
            if (cost := costs.get(gap)) is None:
                cost = _estimate_sign_cost(gap)
                if len(gap) < _NAME and len(costs) < _NAMES:
                    costs[gap] = cost
            values += cost
            end = stop
            if stop - start > _SHORT:  # looked at where it is: a copy would be as large as the answer
                values += _TEXT_COST + (stop - start) * (_WIDEST if _MAY_BE_WIDE.search(body, start, stop) else 1)
                continue
            text = found[0]
            if body[stop] != _COLON or text not in names:
                values += _TEXT_COST + _estimate_text_size(text)
                if body[stop] == _COLON and len(names) < _NAMES and len(text) <= _NAME:
                    names.add(text)
        self._values, self._end = values, end
        rest = body.find(b'"', end)
        if values + _estimate_sign_cost(body[end:] if rest < 0 else body[end:rest]) > limit:
            most = self._limit.memory // MIB
            raise TooLarge(f"The answer has too many values: they would take more than {most} MiB of memory.")


def _estimate_sign_cost(text: bytes) -> int:
    return sum([cost * text.count(sign) for sign, cost in _COSTS.items()])


def _estimate_text_size(text: bytes) -> int:
    """Return how many bytes the characters of a short JSON text take at most."""
    if not _MAY_BE_WIDE.search(text):
        return len(text)
    try:
        return getsizeof(from_json(text))
    except ValueError:
        return _WIDEST * len(text)
