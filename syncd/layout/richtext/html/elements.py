"""HTML as the platform writes it into Markdown: elements, their attributes in order, and their spelling.

Only what the platform writes is read: attributes in double quotes or without a value, and everything closed.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape
from typing import Any, Union

DEPTH_MAX = 20
"""Elements within elements; the platform's own nest some six deep."""

_TAG = re.compile(r'<([A-Za-z][A-Za-z0-9-]*+)((?:\s+[A-Za-z_:][\w:.-]*+(?:="[^"]*+")?)*+)>')
_ATTRIBUTE = re.compile(r'\s+([A-Za-z_:][\w:.-]*+)(?:="([^"]*+)")?')
_CLOSING = re.compile(r"</([A-Za-z][A-Za-z0-9-]*+)>")
_TEXT = re.compile(r"[^<]++")
_IN_TEXT = str.maketrans({"&": "&#x26;", "<": "&#x3C;"})
_IN_VALUE = str.maketrans({sign: f"&#x{ord(sign):X};" for sign in "&\"'`<>\n"})
"""What the platform spells with an entity, and `<`, `>` and line ends, so that a tag stays one tag in its line."""
_VOID = frozenset({"img", "br", "source"})

Attributes = Mapping[str, str | None]
"""The attributes of a tag, in order; None is an attribute without a value."""
Content = Sequence[Union["Element", str]]
"""Text and elements, in order."""
ReadLine = Callable[[Content], list[dict[str, Any]]]
"""Reads a line of text as inline nodes."""
WriteLine = Callable[[object], str | None]
"""Writes inline nodes as a line of text; None when HTML cannot express them."""


@dataclass(frozen=True)
class Element:
    """An element: its name, its attributes, and what lies in it."""

    name: str
    attributes: Attributes = field(default_factory=dict)
    content: Content = ()

    @property
    def text(self) -> str | None:
        """The text in it; None when it holds elements."""
        pieces = [piece for piece in self.content if isinstance(piece, str)]
        return "".join(pieces) if len(pieces) == len(self.content) else None


def read_elements(html: str) -> list[Element | str] | None:
    """Return the elements and the text of HTML; None when the platform writes no such HTML.

    Linear time.
    """
    opened: list[tuple[str, Attributes]] = []
    levels: list[list[Element | str]] = [[]]
    at = 0
    while at < len(html):
        if text := _TEXT.match(html, at):
            levels[-1].append(unescape(text[0]))
            at = text.end()
        elif closing := _CLOSING.match(html, at):
            if not opened or opened[-1][0] != closing[1]:
                return None
            content = levels.pop()
            levels[-1].append(Element(*opened.pop(), content))
            at = closing.end()
        else:
            tag = _TAG.match(html, at)
            attributes = _parse_attributes(tag[2]) if tag else None
            if tag is None or attributes is None or len(opened) == DEPTH_MAX:
                return None
            if tag[1] in _VOID:
                levels[-1].append(Element(tag[1], attributes))
            else:
                opened.append((tag[1], attributes))
                levels.append([])
            at = tag.end()
    return None if opened else levels[0]


def read_element(html: str) -> Element | None:
    """Return the one element that HTML consists of; None when it is anything else, or not as the platform writes it."""
    content = read_elements(html)
    elements = list_only_elements(content) if content is not None else None
    return elements[0] if elements is not None and len(elements) == 1 else None


def read_html_tag(html: str) -> tuple[str, dict[str, str | None]] | None:
    """Return the name and attributes of an opening tag; None when the platform writes no such tag.

    Shape: an entity may be spelled in any way; all else is as `write_html_tag` has it.
    """
    tag = _TAG.fullmatch(html)
    attributes = _parse_attributes(tag[2]) if tag else None
    if tag is None or attributes is None:
        return None
    return (tag[1], attributes) if unescape(write_html_tag(tag[1], attributes)) == unescape(html) else None


def write_html_tag(name: str, attributes: Attributes) -> str:
    """Return the opening tag of a name and attributes."""
    spelled = (key if value is None else f'{key}="{value.translate(_IN_VALUE)}"' for key, value in attributes.items())
    return "<" + " ".join([name, *spelled]) + ">"


def write_html_text(text: str) -> str:
    """Return text as HTML."""
    return text.translate(_IN_TEXT)


def list_only_elements(content: Content) -> list[Element] | None:
    """Return the elements in the content of an element; None when text stands between them."""
    if any(isinstance(piece, str) and piece.strip() for piece in content):
        return None
    return [piece for piece in content if isinstance(piece, Element)]


def _parse_attributes(source: str) -> dict[str, str | None] | None:
    attributes: dict[str, str | None] = {}
    for found in _ATTRIBUTE.finditer(source):
        if found[1] in attributes:
            return None
        attributes[found[1]] = None if found[2] is None else unescape(found[2])
    return attributes
