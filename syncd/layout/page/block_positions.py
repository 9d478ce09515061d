"""Where in a page's file a block of the page stands: blocks are found by their text, in order."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from syncd.layout.page.frontmatter import split
from syncd.layout.richtext.nodes import text_of
from syncd.model.document import Document

_KEY = 24
"""Letters by which a line is looked up."""
_WRAPPED = 8
"""Letters that a line has at least when it alone stands for a longer paragraph."""
_BESIDE = re.compile(r"\]\([^)\n]*\)|<[^>\n]*>|\{[%#][^}\n]*\}")
"""Addresses, tags and anchors: a line has them, the text of its block has not."""


def line_of(text: str, document: Document, key: str) -> int:
    """Given a page's file and its document, return the line on which the block with this key begins, from 1.

    Shape: a block without text of its own is taken to stand where the text before it stands; an unknown one on line 1.
    """
    lines = _Lines(text)
    here = 1
    wanted = False
    for block, leaf in _blocks(document):
        wanted = wanted or block.get("key") == key
        found = lines.next(_letters(text_of(block))) if leaf else None
        here = found if found is not None else here
        if wanted and (leaf or not block.get("nodes")):
            return here
    return 1


class _Lines:
    """The lines of a file behind its frontmatter, by the letters with which they begin; each is passed once."""

    def __init__(self, text: str) -> None:
        head, body = split(text)
        self.before = 0
        self.places: dict[str, list[int]] = defaultdict(list)
        self.whole: dict[int, str] = {}
        for number, line in enumerate(body.split("\n"), start=head.count("\n") + 1):
            letters = _letters(_BESIDE.sub("]", line))
            if letters:
                self.places[letters[:_KEY]].append(number)
                self.whole[number] = letters

    def next(self, letters: str) -> int | None:
        """Given the letters of a block, return the next line that begins it, and go on behind that line."""
        for size in range(min(_KEY, len(letters)), 0, -1):
            places = self.places.get(letters[:size], [])
            at = bisect_left(places, self.before + 1)
            if at < len(places) and self._begins(letters, self.whole[places[at]]):
                self.before = places[at]
                return self.before
        return None

    def _begins(self, letters: str, line: str) -> bool:
        return letters == line or (len(line) >= _WRAPPED and (letters.startswith(line) or line.startswith(letters)))


def _blocks(document: Document) -> Iterator[tuple[dict[str, Any], bool]]:
    """The blocks of a document from top to bottom, each with whether it holds text and no other block."""
    pending: list[Any] = list(reversed(document.nodes))
    while pending:
        here = pending.pop()
        if not isinstance(here, dict):
            continue
        held = [child for name in ("fragments", "nodes") for child in _listed(here.get(name))]
        inner = [child for child in held if child.get("object") in ("block", "fragment")]
        if here.get("object") == "block":
            yield here, bool(held) and not inner
        pending += reversed(inner)


def _listed(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
