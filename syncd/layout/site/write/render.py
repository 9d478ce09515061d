"""How values are written in a site file: what is small stands on one line, what is large in block style."""

from collections.abc import Mapping
from typing import Any

from syncd.layout.yaml.yaml import dump_line

WIDTH = 100
"""Columns that a value on one line may take."""
STEP = 2
_DEPTH_MAX = 3


def render_block(value: Any, indent: int, *, spread: bool = False) -> str:
    """Return the lines of a mapping or list that is not empty; `spread` puts none of its values on one line.

    Shape: the text starts with the indentation of the first line, and ends without a line end.
    """
    margin = " " * indent
    if isinstance(value, Mapping):
        return "\n".join(
            f"{margin}{dump_line(key)}:{render_below(item, indent, len(key) + 1, spread=spread)}"
            for key, item in value.items()
        )
    return "\n".join(f"{margin}-{render_entry(item, indent)}" for item in value)


def render_below(value: Any, indent: int, used: int = 0, *, spread: bool = False) -> str:
    """Return what stands behind the colon of a key: a value on one line, or a block."""
    if is_flat(value) or (not spread and fits_line(value, WIDTH - indent - used)):
        return f" {dump_line(value)}"
    return f"\n{render_block(value, indent + STEP)}"


def render_entry(value: Any, indent: int) -> str:
    """Return what stands behind the dash of an entry."""
    if is_flat(value) or fits_line(value, WIDTH - indent):
        return f" {dump_line(value)}"
    return " " + render_block(value, indent + STEP).lstrip(" ")


def is_flat(value: Any) -> bool:
    """Return whether a value can only stand on one line: a scalar, or an empty collection."""
    return not isinstance(value, Mapping | list | tuple) or not value


def fits_line(value: Any, width: int) -> bool:
    """Return whether a value reads well on one line of a width: neither long, nor deep, nor a long list."""
    return _find_depth(value) <= _DEPTH_MAX and len(dump_line(value)) <= width


def _find_depth(value: Any, limit: int = _DEPTH_MAX + 1) -> int:
    """How deep a value nests, as far as it matters; items in a list count as deep."""
    if is_flat(value) or not limit:
        return 0
    if isinstance(value, Mapping):
        return 1 + max(_find_depth(item, limit - 1) for item in value.values())
    return 1 if all(map(is_flat, value)) else limit
