"""YAML as people write it: any value, in block and flow style, with comments in every place."""

import random
from collections.abc import Iterator
from typing import Any

from syncd.layout.yaml.yaml import dump_line, dump_scalar

WORDS = (
    *("a", "b c", "no", "1.0", "", "x: y", "#h", "- z", "é", "it's", 'q"q', "http://x/y", "/a/b", "a, b", "[x", "{y"),
    *("~", "null", "true", "long " * 24 + "z", "two\nlines\n", "tab\tx", "*a", "&b", "!c", "%d", "@e", "`f", "x #y"),
    *("trail ", "colon:", "2024-01-01", "|", ">", "?", "? a", "---", "...", "\u2028x"),
)
KEYS = ("a", "b", "c", "d", "e-f", "x/y", "with space", "no", "1", "k: v", "#k", "q'k", "é")


class Writer:
    """Writes one document; the same seed gives the same text."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.comments = 0

    def value(self, depth: int = 0) -> Any:
        """Return any value."""
        kind = self.random.random()
        if depth > 3 or kind < 0.45:
            return self.random.choice([None, True, False, 0, 7, -3, 2.5, *WORDS, *WORDS])
        if kind < 0.75:
            return {key: self.value(depth + 1) for key in self.random.sample(KEYS, self.random.randrange(4))}
        return [self.value(depth + 1) for _ in range(self.random.randrange(4))]

    def document(self) -> str:
        """Return a text whose value is a mapping or list with something in it."""
        value = self.value()
        while not isinstance(value, dict | list) or not value:
            value = self.value()
        body = self._block(value, 0) if self.random.random() < 0.85 else self._flow(value) + "\n"
        text = self._comment(0) + body + self._comment(0)
        return text.replace("\n", "\r\n") if self.random.random() < 0.15 else text

    def _scalar(self, value: Any) -> str:
        if isinstance(value, str):
            if self.random.random() < 0.3 and value.isprintable():
                return "'" + value.replace("'", "''") + "'"
            return dump_line(value)
        return self.random.choice(["null", "~"]) if value is None else dump_scalar(value)

    def _flow(self, value: Any) -> str:
        if not isinstance(value, dict | list):
            return self._scalar(value)
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        if not value:
            return opening + self.random.choice(["", " "]) + closing
        pairs = value.items() if isinstance(value, dict) else ((None, item) for item in value)
        parts = [("" if key is None else f"{dump_line(key)}: ") + self._flow(item) for key, item in pairs]
        comma = self.random.choice(["", "", ","])
        if self.random.random() < 0.15:
            return f"{opening}\n" + ",\n".join(" " * 12 + part for part in parts) + f"{comma}\n{' ' * 10}{closing}"
        space = self.random.choice(["", " "])
        return opening + space + self.random.choice([", ", ",  "]).join(parts) + comma + space + closing

    def _comment(self, indent: int) -> str:
        """A line of its own: a comment, a blank line, or none."""
        kind = self.random.random()
        if kind < 0.15:
            self.comments += 1
            return " " * self.random.choice([indent, indent, 0]) + f"# note {self.comments}\n"
        return "\n" if kind < 0.2 else ""

    def _tail(self) -> str:
        """What stands behind a value on its line."""
        if self.random.random() < 0.15:
            self.comments += 1
            return f"   # note {self.comments}"
        return self.random.choice(["", "", " "])

    def _block(self, value: Any, indent: int, *, begun: bool = False) -> str:
        return "".join(self._entries(value, indent, begun))

    def _entries(self, value: Any, indent: int, begun: bool) -> Iterator[str]:
        pairs = value.items() if isinstance(value, dict) else ((None, item) for item in value)
        for number, (key, item) in enumerate(pairs):
            if number or not begun:
                yield self._comment(indent) + " " * indent
            yield "-" if key is None else f"{dump_line(key)}:"
            yield self._below(item, indent, listed=key is None)

    def _below(self, value: Any, indent: int, *, listed: bool) -> str:
        if isinstance(value, dict | list) and value and self.random.random() < 0.6:
            step = self.random.choice([2, 2, 3, 4])
            if listed and self.random.random() < 0.8:
                return " " * (step - 1) + self._block(value, indent + step, begun=True)
            beside = not listed and isinstance(value, list) and self.random.random() < 0.4
            return f"{self._tail()}\n{self._block(value, indent + (0 if beside else step))}"
        if value is None and self.random.random() < 0.5:
            return f"{self._tail()}\n"
        margin = " " * (indent + 4)
        if value == "two\nlines\n" and self.random.random() < 0.7:
            return f" |\n{margin}two\n{margin}lines\n" + self.random.choice(["", "\n"])
        simple = isinstance(value, str) and value.isprintable() and value == value.strip() != ""
        if simple and self.random.random() < 0.2:
            return f" {self.random.choice(['|-', '>-'])}\n{margin}{value}\n"
        return f" {self._flow(value)}{self._tail()}\n"


def paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Given a value, return everything in it with its path."""
    yield path, value
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from paths(item, (*path, key))
