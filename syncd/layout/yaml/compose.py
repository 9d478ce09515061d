"""Compose the tree of a YAML text from the events of a parser."""

import re
from typing import Any

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from syncd.errors import FileInvalid, FileUnsupported
from syncd.layout.yaml.nodes import BYTES_MAX, DEPTH_MAX, Node, Tree
from syncd.model.text import has_half_character, quote_name

# The scanner walks a tag or an alias sign by sign; nobody writes such a long one.
_LONG_PROPERTY = re.compile(r"(?:^|[\s,\[{])[!&*]\S{4096}")
_FORBIDDEN = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
# YAML 1.2 takes these for text, the parser for ends of lines and for a mark of the encoding.
_MISREAD_SIGNS = "\x85\u2028\u2029\ufeff"
_PARSER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")
_FLOAT = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:e[-+][0-9]+)?")
_CONSTANTS = {
    word: value
    for value, words in ((True, "true True TRUE"), (False, "false False FALSE"), (None, "null Null NULL ~"))
    for word in [*words.split(), *([""] if value is None else [])]
}
_NUMERIC = frozenset("0123456789-")
_PROPERTY = "uses an alias, an anchor or a tag"


def compose_tree(
    text: str,
    *,
    at: str,
    line: int = 1,
    bytes_max: int = BYTES_MAX,
    depth_max: int = DEPTH_MAX,
    repeats: bool = False,
) -> Tree:
    """Return the tree of a YAML text that starts at a line of a file; with `repeats`, keys may be repeated.

    Raises: FileInvalid with line and column; also for aliases, anchors, tags, merge keys, duplicate keys, more than one
    document, more than 1 MiB, and nesting deeper than 16, unless other limits are given.
    """
    if len(text) > bytes_max or len(text.encode("utf-8", "surrogatepass")) > bytes_max:
        raise FileUnsupported(f"is larger than {bytes_max} bytes", path=at, line=line)
    builder = _TreeBuilder(text, at, line, depth_max)
    builder.repeated = [] if repeats else None
    if found := _LONG_PROPERTY.search(text):
        raise builder.invalid(_PROPERTY, found.start(), FileUnsupported)
    if found := _FORBIDDEN.search(text):
        raise builder.invalid("holds a character that YAML does not allow", found.start())
    try:
        builder.build()
    except yaml.MarkedYAMLError as error:
        raise builder.explain_error(error) from error
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        # Escapes beyond Unicode carry no mark.
        raise FileInvalid("holds a character that YAML does not allow", path=at, line=line) from error
    return Tree(text, builder.root, line, tuple(builder.repeated or ()))


class _TreeBuilder:
    """Builds nodes from events in a loop with its own stack, so that deep input cannot exhaust Python's stack."""

    def __init__(self, text: str, at: str, line: int, depth_max: int) -> None:
        self.text, self.at, self.line, self.depth_max = text, at, line, depth_max
        self.root: Node | None = None
        self.stack: list[Node] = []
        self.key: Node | None = None
        self.documents = 0
        self.repeated: list[tuple[Node, Node]] | None = None
        self.skipped = int(text.startswith("\ufeff"))

    def build(self) -> None:
        """Read all events. The commonest kind comes first: most of the time is spent in this loop."""
        body, back = _substitute_signs(self.text[self.skipped :])
        following, skipped, stack = _PARSER(body).get_event, self.skipped, self.stack
        while (event := following()) is not None:
            kind = type(event)
            if kind is ScalarEvent:
                holder = stack[-1].value if stack else None
                if event.anchor is not None or event.tag is not None:
                    raise self.invalid(_PROPERTY, event.start_mark.index + skipped, FileUnsupported)
                text, plain = event.value, event.implicit[0]
                if back is not None:
                    text = text.translate(back)
                start, end = event.start_mark.index + skipped, event.end_mark.index + skipped
                if event.style == '"' and has_half_character(text):
                    # Only the parser that stands in where libyaml is missing lets these through.
                    raise self.invalid("holds half a character", start)
                if holder.__class__ is dict and self.key is None:
                    self.add_key(Node(text, start, end, event.style or ""))
                    continue
                value = resolve_scalar(text) if plain else text
                self.add_node(Node(value, start, end, "" if plain else event.style))
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                stack.pop().end = event.end_mark.index + skipped
            else:
                self.add_event(event)

    def add_event(self, event: Event) -> None:
        """Handle the rarer events: all but scalars and the ends of containers."""
        assert event.start_mark is not None
        start = event.start_mark.index + self.skipped
        if isinstance(event, DocumentStartEvent):
            self.documents += 1
            if self.documents > 1 or event.version or event.tags:
                # Directives stand before the three dashes at which the document itself starts.
                start = max(start, self.text.find("---", start))
                raise self.invalid("holds a directive or a second document", start)
        elif isinstance(event, NodeEvent):
            if isinstance(event, AliasEvent) or event.anchor is not None or getattr(event, "tag", None) is not None:
                raise self.invalid(_PROPERTY, start, FileUnsupported)
            if self.stack and self.key is None and isinstance(self.stack[-1].value, dict):
                raise self.invalid("has a key that is not a string", start)
            if len(self.stack) >= self.depth_max:
                raise self.invalid(f"nests deeper than {self.depth_max}", start, FileUnsupported)
            assert isinstance(event, MappingStartEvent | SequenceStartEvent)
            value: Any = {} if isinstance(event, MappingStartEvent) else []
            node = Node(value, start, start, "{" if event.flow_style else "-")
            self.add_node(node)
            self.stack.append(node)

    def add_key(self, node: Node) -> None:
        key: str = node.value
        if key in self.stack[-1].value:
            first = self.stack[-1].value[key].key
            if self.repeated is not None:
                self.repeated.append((first, node))
                self.key = node
                return
            line, _ = Tree(self.text, None, self.line).locate(first.start)
            raise self.invalid(f"repeats the key {quote_name(key)} (first at line {line})", node.start)
        if key == "<<" and not node.style:
            raise self.invalid("uses a merge key", node.start, FileUnsupported)
        self.key = node

    def add_node(self, node: Node) -> None:
        if not self.stack:
            self.root = node
            return
        holder = self.stack[-1].value
        if holder.__class__ is list:
            holder.append(node)
        else:
            assert self.key is not None
            holder.setdefault(self.key.value, node)
            node.key, self.key = self.key, None

    def explain_error(self, error: yaml.MarkedYAMLError) -> FileInvalid:
        mark, what = error.problem_mark or error.context_mark, error.problem or "is not YAML"
        if "escape" in what and error.context_mark:
            # Where the quoted text starts: the parser stands somewhere in the middle of the escape.
            mark = error.context_mark
        if error.context == "while scanning a quoted scalar" and "end of stream" in what and error.context_mark:
            # Where the quote is opened; the end of the file tells nobody anything.
            mark, what = error.context_mark, "this quoted text is not closed"
        offset = mark.index + self.skipped if mark else 0
        if self.text[offset : offset + 1] == "\t" and ("token" in what or "tab" in what):
            what = "a tab cannot indent"
        if "maximum nesting depth" in what:
            # Newer versions of libyaml have a limit of their own, and read far ahead of the first event.
            return self.invalid(f"nests deeper than {self.depth_max}", offset, FileUnsupported)
        return self.invalid(what, offset)

    def invalid(self, what: str, offset: int, kind: type[FileInvalid] = FileInvalid) -> FileInvalid:
        line, column = Tree(self.text, None, self.line).locate(offset)
        return kind(what, path=self.at, line=line, column=column)


def resolve_scalar(text: str) -> Any:
    """Return the value of a plain scalar: a number only when writing it back gives the same text."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if text[0] not in _NUMERIC:
        return text
    if _INTEGER.fullmatch(text):
        return int(text)
    if len(text) < 32 and _FLOAT.fullmatch(text) and repr(float(text)) == text:
        return float(text)
    return text


def _substitute_signs(text: str) -> tuple[str, dict[int, str] | None]:
    """Return the text with substitutes of the same length for what the parser misreads, and the table to undo that."""
    if text.isascii() or not (present := [sign for sign in _MISREAD_SIGNS if sign in text]):
        return text, None
    spare = [sign for sign in map(chr, range(0xFDD0, 0xFDF0)) if sign not in text]
    pairs: dict[str, str | int | None] = dict(zip(present, spare, strict=False))
    return text.translate(str.maketrans(pairs)), {ord(other): sign for sign, other in zip(present, spare, strict=False)}
