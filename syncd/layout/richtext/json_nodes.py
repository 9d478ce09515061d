"""What Markdown cannot say, kept in it all the same: unknown nodes, marks and members, as JSON that reads back exactly.

Each form is read only when it is spelled as it would be written; so nothing that people write is taken for one.
"""

import json
import re
from collections.abc import Callable

from syncd.layout.richtext.html.elements import read_html_tag, write_html_tag
from syncd.layout.richtext.nodes import Node, collect_text
from syncd.model.text import has_half_character

FENCE_INFO = "json syncd:node"
"""The info string of a fence that keeps a block."""

NODE, MARK, LEAF = "data-syncd", "data-syncd-mark", "data-syncd-leaf"
"""Attributes of a `span` that keep an inline, a mark, and members of a leaf."""

_OVERLAY = re.compile(r"<!--syncd:data (\{.*\})-->")
_SIGNS = str.maketrans({sign: f"\\u{ord(sign):04x}" for sign in "&<>`|"})


def write_json_fence(node: Node) -> str | None:
    """Return the JSON that keeps a block; None when it has none, or is nested too deep for it."""
    return _dump_json(node, indent=2)


def read_json_fence(text: str) -> Node | None:
    """Return the block that the text of a fence keeps, exactly as it was; None when it keeps none."""
    found = _read_exact(text, write_json_fence)
    return found if found is not None and found.get("object") == "block" else None


def write_overlay(members: Node) -> str | None:
    """Return the comment that keeps members of a block in front of it; None when they have no JSON."""
    text = write_json_line(members)
    return None if text is None else f"<!--syncd:data {text}-->"


def read_overlay(html: str) -> Node | None:
    """Return the members that an HTML block keeps for the block behind it; None when it keeps none."""
    found = _OVERLAY.fullmatch(html)
    return (_read_exact(found[1], write_json_line) or None) if found else None


def write_json_line(node: Node) -> str | None:
    """Return the JSON of a node on one line, without signs that HTML, code or tables would read as their own."""
    text = _dump_json(node)
    return None if text is None else text.translate(_SIGNS)


def write_json_span(kind: str, node: Node) -> tuple[str, str]:
    """Return the two tags that keep a node (NODE, MARK or LEAF) around its words."""
    return write_html_tag("span", {kind: write_json_line(node) or "{}"}), "</span>"


def read_json_span(html: str) -> tuple[str, Node] | None:
    """Return the kind and the node that an opening tag keeps; None when it keeps none."""
    found = read_html_tag(html) if NODE in html else None
    if found is None or found[0] != "span" or len(found[1]) != 1:
        return None
    ((kind, text),) = found[1].items()
    node = _read_exact(text or "", write_json_line) if kind in (NODE, MARK, LEAF) else None
    return None if node is None else (kind, node)


def read_visible_text(node: Node) -> str:
    """Return the words that readers see in place of a kept inline."""
    return " ".join(collect_text(node).split())


def _read_exact(text: str, spelling: Callable[[Node], str | None]) -> Node | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and spelling(value) == text else None


def _dump_json(node: Node, *, indent: int | None = None) -> str | None:
    separators = (",", ":") if indent is None else (",", ": ")
    try:
        text = json.dumps(node, ensure_ascii=False, allow_nan=False, separators=separators, indent=indent)
        # Half a character cannot stand in a page; then all that is not ASCII is spelled in ASCII.
        return json.dumps(node, separators=separators, indent=indent) if has_half_character(text) else text
    except (ValueError, TypeError, RecursionError):
        return None
