"""Which leaves, marks and inlines Markdown can express as they are."""

import re
from typing import Any

from markdown_it.common.html_re import HTML_TAG_RE

from syncd.layout.markdown.inline import normalise_address
from syncd.layout.richtext.grammar import EMOJI, MATH, build_parser
from syncd.layout.richtext.inline.html import write_image, write_inline, write_mark
from syncd.layout.richtext.json_nodes import write_json_line
from syncd.layout.richtext.nodes import Node, is_nodes, make_leaf, make_mark, read_url

MENTION = "mention"
"""The title that tells a mention from a link. Source: github.com/GitbookIO/public-docs."""

SIGNED = {"bold": "**", "italic": "_", "strikethrough": "~~"}
"""Marks that are written with signs around the text."""

_PLAIN = frozenset({*SIGNED, "code"})
_PLAIN_LEAF = 3
_BASE = frozenset({"object", "type", "key", "isVoid", "data", "marks"})


def are_inlines_expressible(nodes: object, around: list[Node] | None = None) -> bool:
    """Return whether each node of a block or link can be written, as it is or as JSON in the line."""
    return isinstance(nodes, list) and all(_is_node_expressible(node, around or []) for node in nodes)


def is_text_expressible(node: Node, around: list[Node]) -> bool:
    """Return whether a node is a text node with only leaves; `around` are the marks around it."""
    leaves = node.get("leaves")
    if node.get("object") != "text" or node.keys() - {"object", "key", "leaves"} or not is_nodes(leaves):
        return False
    return all(_is_leaf_expressible(one, around) for one in leaves)


def is_inline_expressible(node: Node) -> bool:
    """Return whether Markdown can express an inline with all its members."""
    data, type = node.get("data"), node.get("type")
    if node.get("object") != "inline" or not isinstance(data, dict) or not _are_marks(node.get("marks", [])):
        return False
    if node.get("marks") == []:
        return False
    void = type != "link"
    if node.keys() - _BASE - ({"nodes"} if not void else set()) or node.get("isVoid", void) is not void:
        return False
    return _is_data_expressible(str(type), data, node)


def is_known_mark(node: Node) -> bool:
    """Return whether Markdown, or HTML that the platform writes, can express a mark."""
    plain = drop_empty_data(node)
    return any(plain == make_mark(type) for type in _PLAIN) or write_mark(plain) is not None


def drop_empty_data(node: Node) -> Node:
    """Return a mark without empty data."""
    return {name: value for name, value in node.items() if name != "data"} if node.get("data") == {} else node


def find_leaf_extras(node: Node) -> Node:
    """Return the members of a leaf beyond text and marks; an empty list of selections means nothing."""
    known = {"object", "text", "marks"} | ({"selections"} if node.get("selections") == [] else set())
    return {name: value for name, value in node.items() if name not in known}


def _is_data_expressible(type: str, data: Node, node: Node) -> bool:
    match type:
        case "link":
            return _is_link_expressible(data, node)
        case "inline-image" if write_image(node) is not None:
            return True
        case "inline-image":
            texts = [data[name] for name in ("alt", "caption") if name in data]
            return not data.keys() - {"ref", "alt", "caption"} and _is_address(data.get("ref")) and _are_texts(texts)
        case "inline-math":
            return data.keys() == {"formula"} and _matches(MATH, "$$", data["formula"])
        case "emoji" if data.keys() == {"code"}:
            return _matches(EMOJI, ":", data["code"])
        case "html":
            html = data.get("html")
            return data.keys() == {"html"} and isinstance(html, str) and HTML_TAG_RE.fullmatch(html) is not None
        case "mention" if "html" not in data:
            return data.keys() == {"ref", "text"} and _is_address(data["ref"]) and _are_texts([data["text"]])
    return write_inline(node) is not None


def _is_node_expressible(node: object, around: list[Node]) -> bool:
    if not isinstance(node, dict):
        return False
    if is_text_expressible(node, around) or (
        is_inline_expressible(node) and not (around and node.get("type") == "link")
    ):
        return True
    return node.get("object") in ("inline", "text") and write_json_line(node) is not None


def _is_leaf_expressible(node: Node, around: list[Node]) -> bool:
    marks = node.get("marks", [])
    if not marks and not around and len(node) == _PLAIN_LEAF and node.keys() >= {"object", "text", "marks"}:
        return isinstance(node["text"], str) and node["object"] == "leaf" and isinstance(marks, list)
    if not isinstance(node.get("text"), str) or node.get("object", "leaf") != "leaf" or not _are_marks(marks):
        return False
    extras = find_leaf_extras(node)
    return marks[: len(around)] == around and (not extras or write_json_line(extras) is not None)


def _is_link_expressible(data: Node, node: Node) -> bool:
    nodes = node.get("nodes")
    if data.keys() - {"ref", "title"} or not _is_address(data.get("ref")):
        return False
    if not _are_texts([data[name] for name in ("title",) if name in data]):
        return False
    if not is_nodes(nodes) or any(one.get("type") == "link" for one in nodes):
        return False
    around = node.get("marks", [])
    return are_inlines_expressible(nodes, around) and not (
        data.get("title") == MENTION and is_plain_text(nodes, around)
    )


def is_plain_text(nodes: list[Node], around: list[Node]) -> bool:
    """Return whether the nodes of a link are one piece of text with no marks but those around it."""
    leaves = nodes[0].get("leaves") if len(nodes) == 1 else None
    if not is_nodes(leaves) or len(leaves) != 1 or not leaves[0].get("text"):
        return False
    return leaves[0] == make_leaf(leaves[0]["text"], around)


def _are_marks(value: object) -> bool:
    return is_nodes(value) and all(is_known_mark(one) or write_json_line(one) is not None for one in value)


def _is_address(ref: object) -> bool:
    url = read_url(ref)
    return url is not None and url == normalise_address(url) and build_parser().validateLink(url)


def _are_texts(values: list[Any]) -> bool:
    return all(isinstance(value, str) and value for value in values)


def _matches(pattern: re.Pattern[str], sign: str, text: object) -> bool:
    return isinstance(text, str) and pattern.fullmatch(f"{sign}{text}{sign}") is not None
