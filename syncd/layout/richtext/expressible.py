"""Forms of blocks: which of them Markdown can say, and which of their members it cannot.

A block that fits is written as Markdown, behind a comment that keeps members beyond it; any other is kept as it is.
"""

import re
from collections.abc import Callable, Iterator, Mapping

from markdown_it.common.utils import MD_TRIM_RE, mdTrim

from syncd.layout.markdown.inline import normalise_address
from syncd.layout.richtext import tag_lines, tags
from syncd.layout.richtext.grammar import build_parser, classify_html, has_early_end
from syncd.layout.richtext.html.blocks import is_html_expressible, read_html_block, write_html_block
from syncd.layout.richtext.html.details import write_title
from syncd.layout.richtext.inline.expressible import are_inlines_expressible, is_text_expressible
from syncd.layout.richtext.json_nodes import FENCE_INFO, read_json_fence, write_overlay
from syncd.layout.richtext.nodes import (
    Node,
    collect_text,
    is_nodes,
    make_block,
    make_leaf,
    read_fragments,
)
from syncd.layout.richtext.tables import write_pipe_table

HEADINGS = ("heading-1", "heading-2", "heading-3")
LISTS = ("list-unordered", "list-ordered", "list-tasks")

_DATA: Mapping[str, frozenset[str]] = {
    "paragraph": frozenset({"align", "html"}),
    "heading-1": frozenset({"id", "align", "html"}),
    "heading-2": frozenset({"id", "align", "html"}),
    "heading-3": frozenset({"id", "level", "align", "html"}),
    "list-unordered": frozenset({"loose"}),
    "list-ordered": frozenset({"loose", "start"}),
    "list-tasks": frozenset({"loose"}),
    "list-item": frozenset({"checked"}),
    "blockquote": frozenset(),
    "divider": frozenset(),
    "math": frozenset({"formula"}),
    "html": frozenset({"html"}),
    "definition": frozenset({"label", "url", "title"}),
    "tag": frozenset({"source", "tag", "end"}),
    "expandable": frozenset({"defaultExpanded"}),
    "images": frozenset({"align", "fullWidth", "withFrame", "bare"}),
    "drawing": frozenset({"ref", "alt"}),
    "table": frozenset({"view", "definition", "records", "labels", "html", "search", "fullWidth"}),
}
"""What Markdown says of the data of a block; of blocks that are tags, each tag knows for itself.

The platform's list has no block for HTML (`html`), for the definition of an address (`definition`) and for a tag that
is not known (`tag`): they are opaque here, so that a page loses nothing. Headings of level 4 to 6, which it does not
have either, are `heading-3` with their `level` in the data.
"""

_VALID: Mapping[str, Callable[[object], bool]] = {
    "id": lambda value: isinstance(value, str) and is_valid_anchor(value),
    "level": lambda value: not isinstance(value, bool) and value in (4, 5, 6),
    "loose": lambda value: value is True,
    "defaultExpanded": lambda value: value is True,
    "checked": lambda value: isinstance(value, bool),
    "start": lambda value: (
        isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= START_MAX and value != 1
    ),
}
START_MAX = 999_999_999
"""The highest number of a list item that Markdown can count from."""

_BASE = frozenset({"object", "type", "key", "isVoid", "data"})
_CODE_INDENT = 4
_ESCAPED = re.compile(r"\\.")
_SPACE = re.compile(r"[ \t\n]+")
_FENCE = frozenset({"syntax", "info"})
_VOID = frozenset({"divider", "math", "html", "definition", "expandable", "table", "drawing"})
_AS_HTML = frozenset({"align", "html"})
"""Members of a paragraph or heading that only HTML says."""


def is_valid_anchor(value: str) -> bool:
    """Return whether a link in a heading can define this id."""
    return bool(value) and not any(sign in '"<>&`\\|' or sign.isspace() for sign in value)


def find_extras(node: Node) -> Node:
    """Return the members of an expressible block that Markdown cannot express; keys and other derived ones aside."""
    type, data = str(node.get("type")), node.get("data") or {}
    found = {
        name: value for name, value in node.items() if name not in _BASE and name not in _list_content_members(type)
    }
    if isinstance(meta := found.get("meta"), dict) and not meta.keys() - {"id", "token"}:
        del found["meta"]
    if "isVoid" in node and node["isVoid"] is not _is_void(node):
        found["isVoid"] = node["isVoid"]
    beyond = {name: value for name, value in data.items() if not _is_member_expressible(node, name, value)}
    return found | ({"data": beyond} if beyond else {})


def find_expressible_data(node: Node) -> Node:
    """Return the data of an expressible block without members that Markdown cannot express."""
    return {
        name: value for name, value in (node.get("data") or {}).items() if _is_member_expressible(node, name, value)
    }


def format_html(node: Node) -> str | None:
    """Return the HTML that an expressible block is written as; None when Markdown expresses it."""
    type, data = str(node["type"]), find_expressible_data(node)
    if type in ("images", "drawing") or data.keys() & _AS_HTML or (type == "table" and write_pipe_table(node) is None):
        return write_html_block(_without_extras(node, data))
    return None


def is_expressible(node: Node) -> bool:
    """Return whether Markdown can express a block, apart from its extras; the blocks in it are not looked at."""
    data = node.get("data") or {}
    if node.get("object") != "block" or not isinstance(node.get("type"), str) or not isinstance(data, dict):
        return False
    if node["type"] not in _DATA and node["type"] not in tag_lines.NAMES and node["type"] != tags.INTEGRATION:
        return False
    if not _has_expressible_content(node, find_expressible_data(node)):
        return False
    beyond = find_extras(node)
    return not beyond or (write_overlay(beyond) is not None and not beyond.keys() & {"nodes", "fragments"})


def normalise_label(source: str) -> str:
    """Return what stands in the brackets of a definition on one line."""
    label = _SPACE.sub(" ", source).lstrip(" ")
    return label if label.endswith("\\ ") else label.rstrip(" ")


def parse_syntax(info: str) -> str:
    """Return the language that stands behind the sign of a fence, "" for none."""
    return MD_TRIM_RE.split(mdTrim(info), maxsplit=1)[0]


def read_code_text(node: Node) -> str | None:
    """Return the text of a block of code; None when its lines are more than text."""
    lines: list[str] = []
    if not is_nodes(node.get("nodes")):
        return None
    for line in node["nodes"]:
        nodes = line.get("nodes")
        if line.get("type") != "code-line" or line.get("data") or line.keys() - _BASE - {"nodes"}:
            return None
        if not is_nodes(nodes) or not all(map(_is_plain, nodes)):
            return None
        text = "".join(map(collect_text, nodes))
        if any(sign in text for sign in "\n\r\0"):
            return None
        lines.append(text)
    return "".join(f"{line}\n" for line in lines)


def find_caption(node: Node) -> list[Node] | None:
    """Return the caption of a block that is a tag without blocks of its own; None when it has none."""
    return (read_fragments(node) or {}).get("caption")


def split_expandable(node: Node) -> tuple[str, list[Node]] | None:
    """Return the title of an expandable as HTML, and its body; None when it is something else."""
    held = read_fragments(node)
    if held is None or held.keys() != {"expandable-title", "expandable-body"} or len(held["expandable-title"]) != 1:
        return None
    (title,) = held["expandable-title"]
    if title.get("type") != "paragraph" or not is_expressible(title) or find_extras(title):
        return None
    text = write_title(title["nodes"])
    return None if text is None else (text, held["expandable-body"])


def _list_content_members(type: str) -> frozenset[str]:
    if type in ("expandable", "table") or (type in tag_lines.NAMES and tags.find_body(type) == "caption"):
        return frozenset({"fragments"})
    return (
        frozenset()
        if type in _VOID or (type in tag_lines.NAMES and tags.find_body(type) == "none")
        else frozenset({"nodes"})
    )


def _is_void(node: Node) -> bool:
    type = str(node["type"])
    if type == "tag":
        return "nodes" not in node
    return type in _VOID or type == tags.INTEGRATION or (type in tag_lines.NAMES and tags.find_body(type) != "blocks")


def _is_member_expressible(node: Node, name: str, value: object) -> bool:
    type = str(node.get("type"))
    if type == "code" and name in _FENCE:
        return True
    if name in _AS_HTML and (type == "paragraph" or type in HEADINGS):
        known = {member: node["data"][member] for member in node["data"] if member in _DATA[type]}
        return is_html_expressible(_without_extras(node, known))
    if type in tag_lines.NAMES or type == tags.INTEGRATION:
        return name == tags.RAW or tags.is_member_expressible(type, name, value)
    return name in _DATA.get(type, ()) and (name not in _VALID or _VALID[name](value))


def _has_expressible_content(node: Node, data: Node) -> bool:
    type, nodes = node["type"], node.get("nodes")
    if type == "paragraph" or type in HEADINGS:
        return bool(data.keys() & _AS_HTML) or are_inlines_expressible(nodes)
    if type in LISTS:
        return is_nodes(nodes) and bool(nodes) and all(_is_item(one, type) for one in nodes)
    if type == "list-item":
        return False
    if type in _CHECKS:
        return _CHECKS[type](node, data)
    if type == "code":
        return _is_code(node, data)
    if type == "blockquote":
        return _are_blocks(nodes)
    if tags.write_liquid_tag(type, data) is None or ("nodes" in node and tags.find_body(type) != "blocks"):
        return False
    if tags.find_body(type) == "blocks":
        return _are_blocks(nodes)
    held = read_fragments(node)
    return held is not None and not held.keys() - ({"caption"} if tags.find_body(type) == "caption" else set())


def _is_item(node: Node, list_type: str) -> bool:
    if node.get("type") != "list-item" or node.get("object") != "block" or not isinstance(node.get("data") or {}, dict):
        return False
    if list_type == "list-tasks" and "checked" not in (node.get("data") or {}):
        return False
    return _are_blocks(node.get("nodes")) and not find_extras(node)


def _is_code(node: Node, data: Node) -> bool:
    syntax, info, text = data.get("syntax", ""), data.get("info", ""), read_code_text(node)
    if text is None or not isinstance(syntax, str) or not isinstance(info, str):
        return False
    if any(sign in info + syntax for sign in "\n\r\0") or syntax != parse_syntax(syntax) or mdTrim(info) != info:
        return False
    if ("syntax" in data) != bool(syntax) or ("info" in data and (info == syntax or parse_syntax(info) != syntax)):
        return False
    more = {name: value for name, value in data.items() if name not in _FENCE}
    if more and tags.write_liquid_tag("code", more) is None:
        return False
    return info != FENCE_INFO or read_json_fence(text.removesuffix("\n")) is None


def _is_formula(node: Node, data: Node) -> bool:
    formula = data.get("formula")
    if "nodes" in node or not isinstance(formula, str) or not _is_source(formula):
        return False
    return not formula or all(line.strip(" \t") not in ("", "$$") for line in formula.split("\n"))


def _is_html(node: Node, data: Node) -> bool:
    html = data.get("html")
    if "nodes" in node or not isinstance(html, str) or not _is_source(html) or html != html.lstrip(" \t").rstrip("\n"):
        return False
    kind = classify_html(html)
    if kind is None or read_html_block(html) is not None:
        return False
    lines = html.split("\n")
    if kind == "closed":
        return not has_early_end(html)
    return all(line.strip(" \t") for line in lines) and not any(map(tag_lines.count_tag_lines, _find_tag_tails(lines)))


def _is_source(text: str) -> bool:
    """Whether a page can hold this text as it is."""
    return "\r" not in text and "\0" not in text


def _find_tag_tails(lines: list[str]) -> Iterator[Iterator[str]]:
    """What stands from each line on that could be a tag, the first line aside."""
    for number, line in enumerate(lines[1:], 1):
        if line.lstrip(" \t").startswith("{%") and len(line.expandtabs(4)) - len(line.lstrip(" \t")) < _CODE_INDENT:
            yield (lines[at] for at in range(number, len(lines)))


def _is_definition(node: Node, data: Node) -> bool:
    label, url, title = data.get("label"), data.get("url"), data.get("title", "x")
    if not isinstance(label, str) or not isinstance(url, str) or not isinstance(title, str) or not title:
        return False
    plain = label == normalise_label(label) and label[:1] not in ("", "^")
    return (
        plain
        and _is_label(label)
        and url == normalise_address(url)
        and build_parser().validateLink(url)
        and "nodes" not in node
    )


def _is_label(label: str) -> bool:
    bare = _ESCAPED.sub("", label)
    return not any(sign in bare for sign in "[]\0") and not bare.endswith("\\")


def _is_tag(node: Node, data: Node) -> bool:
    source, opening, closing = (data.get(name) for name in ("source", "tag", "end"))
    if data.keys() == {"source"}:
        return isinstance(source, str) and tag_lines.is_tag(source) and "nodes" not in node
    if data.keys() != {"tag", "end"} or not isinstance(opening, str) or not isinstance(closing, str):
        return False
    name = tag_lines.parse_tag_name(opening)
    ends = (
        name in tags.TAGS
        and tag_lines.parse_tag_name(closing) == f"end{name}"
        and tag_lines.is_tag(opening)
        and tag_lines.is_tag(closing)
    )
    typed = name != "code" and tags.read_liquid_tag(opening) is not None
    return ends and not typed and _are_blocks(node.get("nodes"))


def _without_extras(node: Node, data: Node) -> Node:
    """A block with this data, and nothing else but what its HTML can say."""
    type = str(node["type"])
    return make_block(type, data, None if type in _VOID else node.get("nodes"), fragments=node.get("fragments"))


def _is_html_block(node: Node, data: Node) -> bool:
    return is_html_expressible(_without_extras(node, data))


def _are_blocks(nodes: object) -> bool:
    return is_nodes(nodes) and all(node.get("object") == "block" for node in nodes)


def _is_plain(node: Node) -> bool:
    """Whether a node is text without marks."""
    return is_text_expressible(node, []) and all(one == make_leaf(one["text"]) for one in node["leaves"])


_CHECKS: Mapping[str, Callable[[Node, Node], bool]] = {
    "divider": lambda node, data: "nodes" not in node,
    "math": _is_formula,
    "html": _is_html,
    "definition": _is_definition,
    "tag": _is_tag,
    "expandable": lambda node, data: split_expandable(node) is not None and "nodes" not in node,
    "images": _is_html_block,
    "drawing": _is_html_block,
    "table": lambda node, data: write_pipe_table(node) is not None or _is_html_block(node, data),
}
