"""YAML as a tree in which every value knows its position in the text and how it is written."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

BYTES_MAX = 1 << 20
DEPTH_MAX = 16


class Node:
    """One value: a mapping's `value` is its nodes by key, a list's its nodes, a scalar's the parsed value.

    Shape: `start` and `end` are offsets in the text; the end of what is in block style is only the start of what comes
    next. `style` is that of the scalar (`''` for a plain one), `{` for what is in flow style, `-` for what is in block
    style. `key` is the node of the key under which it stands in a mapping.
    """

    __slots__ = ("end", "key", "start", "style", "value")

    def __init__(self, value: Any, start: int, end: int, style: str) -> None:
        self.value, self.start, self.end, self.style = value, start, end, style
        self.key: Node | None = None

    @property
    def plain_value(self) -> Any:
        """Return the value without nodes."""
        value = self.value
        if isinstance(value, dict):
            return {key: node.plain_value for key, node in value.items()}
        return [node.plain_value for node in value] if isinstance(value, list) else value

    def walk(self) -> Iterator["Node"]:
        """Yield this node and all below it, parents first, in the order of the text."""
        pending = [self]
        while pending:
            node = pending.pop()
            yield node
            if isinstance(node.value, dict | list):
                pending += reversed(list(node.value.values() if isinstance(node.value, dict) else node.value))


@dataclass(frozen=True)
class Tree:
    """A YAML text and the node of its document, None when it is empty; `line` is the number of its first line."""

    text: str
    root: Node | None
    line: int = 1
    repeated: tuple[tuple[Node, Node], ...] = ()
    """Keys that stand in a mapping once more, each with the first; the first one's value counts."""

    @cached_property
    def line_starts(self) -> list[int]:
        """The offsets at which lines start. A lone CR and U+2028 end none: for editors and Git they do not."""
        return [0, *(found.end() for found in re.finditer("\n", self.text))]

    def locate(self, offset: int) -> tuple[int, int]:
        """Return the line and column, from 1, of an offset."""
        row = bisect_right(self.line_starts, offset) - 1
        return self.line + row, offset - self.line_starts[row] + 1
