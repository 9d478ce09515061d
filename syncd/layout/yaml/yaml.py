"""Strict YAML: files are read without surprises and written as the platform's own exporter writes them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from syncd.layout.yaml.nodes import BYTES_MAX, DEPTH_MAX, Node, Tree, compose
from syncd.model.text import TURNING

WIDTH = 80
"""Columns after which the exporter folds a line."""

Key = str | int
Where = Mapping[tuple[Key, ...], tuple[int, int]]

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
_UNPRINTABLE = re.compile("[^\n\x20-\x7e\xa1-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
_TURNING = re.compile(f"[{TURNING}]")
"""Within a line, these are escaped: they would turn the rest of a line that other people read."""
_ESCAPED = re.compile(r'["\\]|' + _UNPRINTABLE.pattern + "|\n")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}


@dataclass(frozen=True)
class Located:
    """A value with the place, line and column from 1, of every key and list item in it; `()` is the whole."""

    value: Any
    where: Where


def load(text: str, *, at: str, bytes_max: int = BYTES_MAX, depth_max: int = DEPTH_MAX) -> Any:
    """Given YAML 1.2, return its value: mappings with string keys, lists, and scalars of JSON.

    Shapes: a plain number is a number only when writing it back gives the same text (`012` and `1.10` are strings).
    Raises: FileInvalid with line and column; also for aliases, anchors, tags, merge keys, duplicate keys, more than one
    document, more than 1 MiB, and nesting deeper than 16, unless other limits are given.
    Source: reliability §3.7, §5.5.
    """
    return load_located(text, at=at, bytes_max=bytes_max, depth_max=depth_max).value


def load_located(
    text: str, *, at: str, line: int = 1, bytes_max: int = BYTES_MAX, depth_max: int = DEPTH_MAX
) -> Located:
    """Given YAML that starts at a line of a file, return its value and where each part of it stands.

    Raises: FileInvalid, as `load`.
    """
    tree = compose(text, at=at, line=line, bytes_max=bytes_max, depth_max=depth_max)
    if tree.root is None:
        return Located(None, {})
    return Located(tree.root.plain, _Places(tree, tree.root))


def dump(value: Any) -> str:
    """Given a value of JSON, return YAML in block style: insertion order, LF, plain scalars where safe, else quoted."""
    return "".join(_block(value, 0)).lstrip("\n")


def scalar(value: Any, *, level: int = 1) -> str:
    """Given a scalar, return how it is written as a value at this nesting level."""
    if isinstance(value, str):
        return _string(value, level)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else repr(value)


def dump_line(value: Any) -> str:
    """Given a value of JSON, return YAML on one line, in flow style; it can stand in any other YAML."""
    if isinstance(value, Mapping):
        members = ", ".join(f"{_in_line(str(key))}: {dump_line(item)}" for key, item in value.items())
        return f"{{ {members} }}" if members else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(dump_line, value))}]"
    return _in_line(value) if isinstance(value, str) else scalar(value)


def _in_line(text: str) -> str:
    if _PLAIN_ANYWHERE.fullmatch(text) and not _AMBIGUOUS.fullmatch(text):
        return text
    return _TURNING.sub(lambda sign: f"\\u{ord(sign[0]):04X}", _quoted(text))


class _Places(Mapping[tuple[Key, ...], tuple[int, int]]):
    """Where the parts of a tree stand, looked up when somebody asks: most files are right, and nobody does."""

    def __init__(self, tree: Tree, root: Node) -> None:
        self.tree, self.root = tree, root

    @cached_property
    def offsets(self) -> dict[tuple[Key, ...], int]:
        offsets: dict[tuple[Key, ...], int] = {}
        waiting: list[tuple[tuple[Key, ...], Node]] = [((), self.root)]
        while waiting:
            path, node = waiting.pop()
            offsets[path] = node.key.start if node.key else node.start
            if isinstance(node.value, dict):
                waiting += [((*path, key), inner) for key, inner in reversed(node.value.items())]
            elif isinstance(node.value, list):
                waiting += [((*path, index), inner) for index, inner in reversed([*enumerate(node.value)])]
        return offsets

    def __getitem__(self, path: tuple[Key, ...]) -> tuple[int, int]:
        return self.tree.position(self.offsets[path])

    def __iter__(self) -> Iterator[tuple[Key, ...]]:
        return iter(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets)


def _block(value: Any, level: int) -> Iterator[str]:
    """The text of a value, with what stands between its key or dash and it."""
    indent = "  " * level
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            name = _key(str(key))
            yield f"\n{indent}{name}:"
            yield from _below(item, level + 1)
    elif isinstance(value, list | tuple) and value:
        for item in value:
            # The first line of what is below stands on the line of the dash.
            yield f"\n{indent}- " + "".join(_below(item, level + 1)).lstrip(" " if _is_flat(item) else " \n")
    else:
        yield "\n" + (scalar(value) if _is_scalar(value) else "{}" if isinstance(value, Mapping) else "[]")
    if not level:
        yield "\n"


def _below(item: Any, level: int) -> Iterator[str]:
    if _is_flat(item):
        yield f" {scalar(item, level=level)}" if _is_scalar(item) else " {}" if isinstance(item, Mapping) else " []"
    else:
        yield from _block(item, level)


def _is_scalar(item: Any) -> bool:
    return not isinstance(item, Mapping | list | tuple)


def _is_flat(item: Any) -> bool:
    return _is_scalar(item) or not item


def _key(key: str) -> str:
    text = _quoted(key) if "\n" in key else _string(key, 1, fold=False)
    # A reader looks for the colon of a plain key only so far.
    return text if len(text) <= 1000 else f"? {_quoted(key)}\n"


def _string(text: str, level: int, *, fold: bool = True) -> str:
    if _UNPRINTABLE.search(text):
        return _quoted(text)
    indent = "  " * level
    lines = text.split("\n")
    if len(lines) > 1:
        return _literal(text, lines, indent)
    if fold and len(text) > (width := max(WIDTH // 2, WIDTH - len(indent))) and text == " ".join(text.split()):
        return ">-\n" + "\n".join(indent + line for line in _folded(text, width))
    if _PLAIN.fullmatch(text) and not _AMBIGUOUS.fullmatch(text):
        return text
    return "'" + text.replace("'", "''") + "'"


def _literal(text: str, lines: list[str], indent: str) -> str:
    """Block style, but only where no reader can take a space at a line's edge for indentation."""
    body = lines[:-1] if lines[-1] == "" else lines
    if not body[0] or not body[-1] or any(line != line.strip() for line in body):
        return _quoted(text)
    header = "|" if lines[-1] == "" else "|-"
    return header + "".join("\n" + (indent + line if line else "") for line in body)


def _folded(text: str, width: int) -> Iterator[str]:
    """Break at the last space before the width; a longer word stays whole."""
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


def _quoted(text: str) -> str:
    return '"' + _ESCAPED.sub(_escape, text) + '"'


def _escape(found: re.Match[str]) -> str:
    sign = found.group()
    if sign in _ESCAPES:
        return _ESCAPES[sign]
    code = ord(sign)
    return f"\\x{code:02X}" if code < 256 else f"\\u{code:04X}" if code < 65536 else f"\\U{code:08X}"
