"""Strict YAML: read without surprises, and written as the platform's own exporter writes it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from syncd.layout.yaml.nodes import BYTES_MAX, DEPTH_MAX, Node, Tree
from syncd.model.text import TURNING

WIDTH = 80
"""Columns after which the exporter folds a line."""

Key = str | int
Positions = Mapping[tuple[Key, ...], tuple[int, int]]

NUMBER = (
    r"[-+]?(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9_]+)(?:e[-+]?[0-9]+)?|[-+]?0(?:b[01_]+|o?[0-7_]+|x[0-9a-f_]+)"
    r"|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?|[-+]?\.(?:inf|nan)"
)
SWITCH = "y|n|yes|no|on|off"
"""What some YAML reader, 1.1 or 1.2, takes for a number or a boolean when it is not quoted, whatever the case."""
_DATE = r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}.*"
_AMBIGUOUS = re.compile(f"{NUMBER}|{_DATE}|{SWITCH}|true|false|null|~|<<|", re.IGNORECASE)
_PLAIN = re.compile(r"(?![-?:,\[\]{}#&*!|=>'\"%@` ])(?:[^:#]|:(?=[^ ])|(?<! )#)*(?<![: ])")
_PLAIN_ANYWHERE = re.compile(r"[A-Za-z0-9/_.$^](?:[A-Za-z0-9/_.~%+=@&()!'\u00a1-\u00ff-]|(?<! ) (?! |$))*")
_UNPRINTABLE = re.compile("[\0-\x09\x0b-\x1f\x7f-\xa0\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_TURNING = re.compile(f"[{TURNING}]")
"""Within a line, these are escaped: they would turn the rest of a line that other people read."""
_ESCAPED = re.compile(r'["\\]|' + _UNPRINTABLE.pattern + "|\n")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}


@dataclass(frozen=True)
class LocatedValue:
    """A value with the line and column, from 1, of every key and list item in it; `()` is the value itself."""

    value: Any
    positions: Positions


def load(text: str, *, at: str, bytes_max: int = BYTES_MAX, depth_max: int = DEPTH_MAX) -> Any:
    """Return the value of a YAML 1.2 text: mappings with string keys, lists, and scalars of JSON.

    Shape: a plain number is a number only when writing it back gives the same text (`012` and `1.10` are strings).
    Raises: FileInvalid with line and column; also for aliases, anchors, tags, merge keys, duplicate keys, more than one
    document, more than 1 MiB, and nesting deeper than 16, unless other limits are given.
    """
    return load_located(text, at=at, bytes_max=bytes_max, depth_max=depth_max).value


def load_located(
    text: str, *, at: str, line: int = 1, bytes_max: int = BYTES_MAX, depth_max: int = DEPTH_MAX
) -> LocatedValue:
    """Return the value of a YAML text that starts at a line of a file, with the position of each of its parts.

    Raises: FileInvalid, as `load`.
    """
    # Imported here, because that takes long, and most commands read no YAML.
    from syncd.layout.yaml.compose import compose_tree

    tree = compose_tree(text, at=at, line=line, bytes_max=bytes_max, depth_max=depth_max)
    if tree.root is None:
        return LocatedValue(None, {})
    return LocatedValue(tree.root.plain_value, _LazyPositions(tree, tree.root))


def dump(value: Any) -> str:
    """Return a value of JSON as YAML in block style: insertion order, LF, plain scalars where safe, else quoted."""
    return "".join(_dump_block(value, 0)).lstrip("\n")


def dump_scalar(value: Any, *, level: int = 1) -> str:
    """Return a scalar as it is written at this nesting level."""
    if isinstance(value, str):
        return _dump_string(value, level)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else repr(value)


def dump_line(value: Any) -> str:
    """Return a value of JSON as YAML on one line, in flow style; it can stand in any other YAML."""
    if isinstance(value, Mapping):
        members = ", ".join(f"{_dump_inline_string(str(key))}: {dump_line(item)}" for key, item in value.items())
        return f"{{ {members} }}" if members else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(dump_line, value))}]"
    return _dump_inline_string(value) if isinstance(value, str) else dump_scalar(value)


def _dump_inline_string(text: str) -> str:
    if _PLAIN_ANYWHERE.fullmatch(text) and not _AMBIGUOUS.fullmatch(text):
        return text
    return _TURNING.sub(lambda sign: f"\\u{ord(sign[0]):04X}", _quote(text))


class _LazyPositions(Mapping[tuple[Key, ...], tuple[int, int]]):
    """The positions of the parts of a tree, computed on first use: a file without errors never needs them."""

    def __init__(self, tree: Tree, root: Node) -> None:
        self.tree, self.root = tree, root

    @cached_property
    def offsets(self) -> dict[tuple[Key, ...], int]:
        offsets: dict[tuple[Key, ...], int] = {}
        pending: list[tuple[tuple[Key, ...], Node]] = [((), self.root)]
        while pending:
            path, node = pending.pop()
            offsets[path] = node.key.start if node.key else node.start
            if isinstance(node.value, dict):
                pending += [((*path, key), inner) for key, inner in reversed(node.value.items())]
            elif isinstance(node.value, list):
                pending += [((*path, index), inner) for index, inner in reversed([*enumerate(node.value)])]
        return offsets

    def __getitem__(self, path: tuple[Key, ...]) -> tuple[int, int]:
        return self.tree.locate(self.offsets[path])

    def __iter__(self) -> Iterator[tuple[Key, ...]]:
        return iter(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets)


def _dump_block(value: Any, level: int) -> Iterator[str]:
    """Yield the text of a value, with the separator between its key or dash and it."""
    indent = "  " * level
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            name = _dump_key(str(key))
            yield f"\n{indent}{name}:"
            yield from _dump_nested(item, level + 1)
    elif isinstance(value, list | tuple) and value:
        for item in value:
            # The first line of what is below stands on the line of the dash.
            yield f"\n{indent}- " + "".join(_dump_nested(item, level + 1)).lstrip(" " if _is_flat(item) else " \n")
    else:
        yield "\n" + (dump_scalar(value) if _is_scalar(value) else "{}" if isinstance(value, Mapping) else "[]")
    if not level:
        yield "\n"


def _dump_nested(item: Any, level: int) -> Iterator[str]:
    if _is_flat(item):
        yield (
            f" {dump_scalar(item, level=level)}" if _is_scalar(item) else " {}" if isinstance(item, Mapping) else " []"
        )
    else:
        yield from _dump_block(item, level)


def _is_scalar(item: Any) -> bool:
    return not isinstance(item, Mapping | list | tuple)


def _is_flat(item: Any) -> bool:
    return _is_scalar(item) or not item


def _dump_key(key: str) -> str:
    text = _quote(key) if "\n" in key else _dump_string(key, 1, fold=False)
    # A reader looks for the colon of a plain key only so far.
    return text if len(text) <= 1000 else f"? {_quote(key)}\n"


def _dump_string(text: str, level: int, *, fold: bool = True) -> str:
    if _UNPRINTABLE.search(text):
        return _quote(text)
    indent = "  " * level
    lines = text.split("\n")
    if len(lines) > 1:
        return _dump_literal(text, lines, indent)
    if fold and len(text) > (width := max(WIDTH // 2, WIDTH - len(indent))) and text == " ".join(text.split()):
        return ">-\n" + "\n".join(indent + line for line in _fold_lines(text, width))
    if _PLAIN.fullmatch(text) and not _AMBIGUOUS.fullmatch(text):
        return text
    return "'" + text.replace("'", "''") + "'"


def _dump_literal(text: str, lines: list[str], indent: str) -> str:
    """Return text in block style, where no reader can take a space at a line's edge for indentation; else quoted."""
    body = lines[:-1] if lines[-1] == "" else lines
    if not body[0] or not body[-1] or any(line != line.strip() for line in body):
        return _quote(text)
    header = "|" if lines[-1] == "" else "|-"
    return header + "".join("\n" + (indent + line if line else "") for line in body)


def _fold_lines(text: str, width: int) -> Iterator[str]:
    """Yield lines broken at the last space before the width; a longer word is not broken."""
    start = last = 0
    for space in re.finditer(" ", text):
        if space.start() - start > width:
            end = last if last > start else space.start()
            yield text[start:end]
            start = end + 1
        last = space.start()
    if len(text) - start > width and last > start:
        yield text[start:last]
        start = last + 1
    yield text[start:]


def _quote(text: str) -> str:
    return '"' + _ESCAPED.sub(_escape_sign, text) + '"'


def _escape_sign(found: re.Match[str]) -> str:
    sign = found.group()
    if sign in _ESCAPES:
        return _ESCAPES[sign]
    code = ord(sign)
    return f"\\x{code:02X}" if code < 256 else f"\\u{code:04X}" if code < 65536 else f"\\U{code:08X}"
