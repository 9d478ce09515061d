"""Strict YAML: files are read without surprises and written as the platform's own exporter writes them."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    NodeEvent,
    ScalarEvent,
    SequenceStartEvent,
)

from syncd.errors import FileInvalid

BYTES_MAX = 1 << 20
DEPTH_MAX = 16
WIDTH = 80
"""Columns after which the exporter folds a line."""

Key = str | int
Where = Mapping[tuple[Key, ...], tuple[int, int]]

# The scanner walks a tag or an alias sign by sign; nobody writes such a long one.
_LONG_PROPERTY = re.compile(r"(?:^|[\s,\[{])[!&*]\S{4096}")
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")
_FLOAT = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:e[-+][0-9]+)?")
_WORDS = {
    word: value
    for value, words in ((True, "true True TRUE"), (False, "false False FALSE"), (None, "null Null NULL ~"))
    for word in [*words.split(), *([""] if value is None else [])]
}
# What any YAML reader, 1.1 or 1.2, may take for something else than a string.
_AMBIGUOUS = re.compile(
    r"[-+]?(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9_]+)(?:e[-+]?[0-9]+)?|[-+]?0(?:b[01_]+|o?[0-7_]+|x[0-9a-f_]+)"
    r"|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?|[-+]?\.(?:inf|nan)|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}.*"
    r"|y|n|yes|no|on|off|true|false|null|~|<<|",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"(?![-?:,\[\]{}#&*!|=>'\"%@` ])(?:[^:#]|:(?=[^ ])|(?<! )#)*(?<![: ])")
_UNPRINTABLE = re.compile("[^\n\x20-\x7e\xa1-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
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
    if len(text) > bytes_max or len(text.encode("utf-8", "surrogatepass")) > bytes_max:
        raise FileInvalid(f"is larger than {bytes_max} bytes", path=at, line=line)
    if _LONG_PROPERTY.search(text):
        raise FileInvalid("uses an alias, an anchor or a tag", path=at, line=line)
    builder = _Builder(text, at, line, depth_max)
    try:
        for event in YAML(typ="safe", pure=True).parse(text):
            builder.take(event)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise builder.invalid(error.problem or "is not YAML", mark) from error
    except (YAMLError, ValueError, OverflowError) as error:
        # The reader's complaint about characters, and escapes beyond Unicode, carry no mark.
        raise FileInvalid("holds a character that YAML does not allow", path=at, line=line) from error
    return Located(builder.root, builder.where)


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


@dataclass
class _Builder:
    """Events in, value out. A loop with its own stack: the depth of the input is never the depth of ours."""

    text: str
    at: str
    line: int
    depth_max: int
    root: Any = None
    where: dict[tuple[Key, ...], tuple[int, int]] = field(default_factory=dict)
    stack: list[tuple[Any, tuple[Key, ...]]] = field(default_factory=list)
    key: str | None = None
    documents: int = 0

    def __post_init__(self) -> None:
        # The parser counts U+2028 and a lone CR as ends of a line; editors and Git do not.
        self.starts = [0, *(found.end() for found in re.finditer("\n", self.text))]

    def take(self, event: Event) -> None:
        if isinstance(event, DocumentStartEvent):
            self.documents += 1
            if self.documents > 1 or event.version or event.tags:
                raise self.invalid("holds a directive or a second document", event.start_mark)
        elif isinstance(event, NodeEvent):
            self.node(event)
        elif type(event).__name__ in ("MappingEndEvent", "SequenceEndEvent"):
            self.stack.pop()

    def node(self, event: NodeEvent) -> None:
        if isinstance(event, AliasEvent) or event.anchor is not None or getattr(event, "tag", None) is not None:
            raise self.invalid("uses an alias, an anchor or a tag", event.start_mark)
        holder = self.stack[-1][0] if self.stack else None
        if isinstance(holder, dict) and self.key is None:
            self.take_key(event, holder)
            return
        value: Any = [] if isinstance(event, SequenceStartEvent) else {}
        if isinstance(event, ScalarEvent):
            value = self.resolve(event)
        path = self.place(value, event)
        if not isinstance(event, ScalarEvent):
            if len(self.stack) >= self.depth_max:
                raise self.invalid(f"nests deeper than {self.depth_max}", event.start_mark)
            self.stack.append((value, path))

    def take_key(self, event: NodeEvent, holder: dict[str, Any]) -> None:
        if not isinstance(event, ScalarEvent):
            raise self.invalid("has a key that is not a string", event.start_mark)
        if event.value in holder:
            raise self.invalid(f"repeats the key {event.value!a}", event.start_mark)
        if event.value == "<<" and event.implicit[0]:
            raise self.invalid("uses a merge key", event.start_mark)
        self.key = self.plain(event)
        self.where[(*self.stack[-1][1], self.key)] = self.position(event.start_mark)

    def place(self, value: Any, event: NodeEvent) -> tuple[Key, ...]:
        if not self.stack:
            self.root, self.where[()] = value, self.position(event.start_mark)
            return ()
        holder, path = self.stack[-1]
        if isinstance(holder, dict):
            assert self.key is not None
            path, holder[self.key], self.key = (*path, self.key), value, None
            return path
        path = (*path, len(holder))
        holder.append(value)
        self.where[path] = self.position(event.start_mark)
        return path

    def resolve(self, event: ScalarEvent) -> Any:
        text = self.plain(event)
        if not event.implicit[0]:
            return text
        if text in _WORDS:
            return _WORDS[text]
        if _INTEGER.fullmatch(text):
            return int(text)
        if len(text) < 32 and _FLOAT.fullmatch(text) and repr(float(text)) == text:
            return float(text)
        return text

    def plain(self, event: ScalarEvent) -> str:
        text: str = event.value
        if not text.isascii() and any("\ud800" <= sign <= "\udfff" for sign in text):
            raise self.invalid("holds half a character", event.start_mark)
        return text

    def position(self, mark: Any) -> tuple[int, int]:
        row = bisect_right(self.starts, mark.index) - 1
        return self.line + row, mark.index - self.starts[row] + 1

    def invalid(self, what: str, mark: Any) -> FileInvalid:
        line, column = self.position(mark) if mark else (self.line, 1)
        return FileInvalid(what, path=self.at, line=line, column=column)


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
