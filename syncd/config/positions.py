"""Where each key of a configuration stands: line and column, found with the same parser that reads the values."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

BYTES_PARSED_MAX = 1 << 19
"""Bytes that are parsed in search of positions: a statement of many lines is parsed anew for each of its lines."""


@dataclass(frozen=True)
class FilePosition:
    """A place in a text. Units: both count from 1."""

    line: int
    column: int


@dataclass(frozen=True)
class RepeatedName:
    """A table or key that a TOML text has twice, and both places."""

    name: str
    first: FilePosition
    second: FilePosition


def find_positions(data: bytes) -> Mapping[str, FilePosition]:
    """Return the position of every table and key of a TOML text, by its name such as `repository.0.space.1.id`.

    Shape: what stands inside of a list or an inline table has the position of the key that it belongs to. Keys behind
    the place where the text is no TOML, or where the search became too long, are left out.
    """
    positions: dict[str, FilePosition] = {}
    for position, names in _read_statements(data):
        for name in names:
            positions.setdefault(name, position)
    return positions


def find_repeated(data: bytes, line: int) -> RepeatedName | None:
    """Return the table or key that the statement around a line repeats, as no TOML text may; None where it has none."""
    positions: dict[str, FilePosition] = {}
    found = None
    for position, names in _read_statements(data):
        if position.line > line:
            break
        # What lies in a list is named by the list, and `[a]` is in the way of `[[a]]`, whose name is `a.0`.
        keys = list(takewhile(lambda name: not name.rpartition(".")[2].isdigit(), names)) or names
        ways = (way for name in reversed(keys) for way in (name, name.removesuffix(".0")))
        repeated = next((way for way in ways if way in positions), None)
        found = RepeatedName(repeated, positions[repeated], position) if repeated is not None else None
        for name in names:
            positions.setdefault(name, position)
    return found


def find_nearest(positions: Mapping[str, FilePosition], name: str) -> FilePosition | None:
    """Return the position of a key, else that of the nearest table that it belongs to; None when none is known."""
    while name and name not in positions:
        name = name.rpartition(".")[0]
    return positions.get(name)


def _read_statements(data: bytes) -> Iterator[tuple[FilePosition, Sequence[str]]]:
    """Yield the position of each statement of a TOML text, and the tables and keys that it names."""
    counts: dict[str, int] = {}
    table = ""
    for position, statement in _split_statements(data.decode("utf-8-sig", errors="replace")):
        value: Any = tomllib.loads(statement)
        is_header = statement.lstrip().startswith("[")
        if is_header:
            table = _count_tables("", value, counts) or table
        yield position, [table] if is_header else list(_list_names(value, table))


def _split_statements(text: str) -> Iterator[tuple[FilePosition, str]]:
    """Yield each statement of a TOML text with the position of its first character."""
    pending, first, budget = "", 0, BYTES_PARSED_MAX
    for number, line in enumerate(text.split("\n"), start=1):
        if not pending:
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            first = number
        pending += line + "\n"
        budget -= len(pending)
        if budget < 0:
            return
        try:
            tomllib.loads(pending)
        except (tomllib.TOMLDecodeError, RecursionError):
            continue
        yield FilePosition(first, len(pending) - len(pending.lstrip()) + 1), pending
        pending = ""


def _count_tables(name: str, value: Any, counts: dict[str, int]) -> str:
    """Return the name of the table that a header opens, with the numbers of the list items on the way to it."""
    while value:
        if isinstance(value, list):
            counts[name] = counts.get(name, -1) + 1
            return f"{name}.{counts[name]}"
        key, value = next(iter(value.items()))
        name = f"{name}.{key}".lstrip(".")
        if isinstance(value, dict) and name in counts:
            name = f"{name}.{counts[name]}"
    return name


def _list_names(value: Any, name: str) -> Iterator[str]:
    """Yield the names of all keys in a statement, of a dotted key each part."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        below = f"{name}.{key}".lstrip(".")
        yield below
        yield from _list_names(inner, below)
