"""Find the line of a page's file at which a block of the page begins: blocks are found by their text, in order."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from syncd.layout.page.frontmatter import split_frontmatter
from syncd.layout.richtext.nodes import collect_text
from syncd.model.document import Document

_KEY = 24
"""Letters by which a line is looked up."""
_WRAPPED = 8
"""Letters that a line has at least when it alone stands for a longer paragraph."""
_BESIDE = re.compile(r"\]\([^)\n]*\)|<[^>\n]*>|\{[%#][^}\n]*\}")
"""Addresses, tags and anchors: a line has them, the text of its block has not."""


def find_block_line(text: str, document: Document, key: str) -> int:
    """Return the line, from 1, of a page's file at which the block with this key begins.

    Shape: a block without text of its own has the line of the text before it; a block that is not found has line 1.
    """
    lines = _LineIndex(text)
    line = 1
    is_reached = False
    for block, leaf in _walk_blocks(document.nodes):
        is_reached = is_reached or block.get("key") == key
        found = lines.find_next(_fold_letters(collect_text(block))) if leaf else None
        line = found if found is not None else line
        if is_reached and (leaf or not block.get("nodes")):
            return line
    return 1


def find_top_lines(text: str, document: Document) -> tuple[int, ...]:
    """Return for each block at the top of a document the line, from 1, of the page's file at which it begins.

    Shape: a block that is not found has the line of the one before it.
    """
    lines, found, line = _LineIndex(text), [], 1
    for node in document.nodes:
        places = [lines.find_next(_fold_letters(collect_text(block))) for block, leaf in _walk_blocks([node]) if leaf]
        start = next((place for place in places if place is not None), line)
        found.append(start)
        line = max(start, lines.last_line)
    return tuple(found)


class _LineIndex:
    """The lines of a file behind its frontmatter, indexed by the letters with which they begin; each is found once."""

    def __init__(self, text: str) -> None:
        head, body = split_frontmatter(text)
        self.last_line = 0
        self.lines_by_start: dict[str, list[int]] = defaultdict(list)
        self.letters_by_line: dict[int, str] = {}
        for number, line in enumerate(body.split("\n"), start=head.count("\n") + 1):
            letters = _fold_letters(_BESIDE.sub("]", line))
            if letters:
                self.lines_by_start[letters[:_KEY]].append(number)
                self.letters_by_line[number] = letters

    def find_next(self, letters: str) -> int | None:
        """Return the next line that begins with the letters of a block, and continue behind that line."""
        for size in range(min(_KEY, len(letters)), 0, -1):
            places = self.lines_by_start.get(letters[:size], [])
            at = bisect_left(places, self.last_line + 1)
            if at < len(places) and self._is_start(letters, self.letters_by_line[places[at]]):
                self.last_line = places[at]
                return self.last_line
        return None

    def _is_start(self, letters: str, line: str) -> bool:
        return letters == line or (len(line) >= _WRAPPED and (letters.startswith(line) or line.startswith(letters)))


def _walk_blocks(nodes: Sequence[Any]) -> Iterator[tuple[dict[str, Any], bool]]:
    """Yield the blocks in nodes of a document, top down, each with whether it holds text and no other block."""
    pending: list[Any] = list(reversed(nodes))
    while pending:
        node = pending.pop()
        if not isinstance(node, dict):
            continue
        children = [child for name in ("fragments", "nodes") for child in _filter_dicts(node.get(name))]
        inner = [child for child in children if child.get("object") in ("block", "fragment")]
        if node.get("object") == "block":
            yield node, bool(children) and not inner
        pending += reversed(inner)


def _filter_dicts(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _fold_letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
