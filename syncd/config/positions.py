"""Where each key of a configuration stands: line and column, found with the same parser that reads the values."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

BYTES_PARSED_MAX = 1 << 19
"""Bytes that are parsed in search of positions: a statement of many lines is parsed anew for each of its lines."""


@dataclass(frozen=True)
class FilePosition:
    """A place in a text. Units: both count from 1."""

    line: int
    column: int


def find_positions(data: bytes) -> Mapping[str, FilePosition]:
    """Return the position of every table and key of a TOML text, by its name such as `repository.0.space.1.id`.

    Shape: what stands inside of a list or an inline table has the position of the key that it belongs to. Keys behind
    the place where the text is no TOML, or where the search became too long, are left out.
    """
    positions: dict[str, FilePosition] = {}
    counts: dict[str, int] = {}
    table = ""
    for position, statement in _split_statements(data.decode("utf-8", errors="replace")):
        value: Any = tomllib.loads(statement)
        is_header = statement.lstrip().startswith("[")
        prefix = "" if is_header else table
        name = _count_tables(prefix, value, counts) if is_header else ""
        table = name or table
        for key in [name] if is_header else _list_names(value, prefix):
            positions.setdefault(key, position)
    return positions


def find_nearest(positions: Mapping[str, FilePosition], name: str) -> FilePosition | None:
    """Return the position of a key, else that of the nearest table that it belongs to; None when none is known."""
    while name and name not in positions:
        name = name.rpartition(".")[0]
    return positions.get(name)


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
