"""A document as Markdown: each block in the form that the platform writes."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from syncd.layout.markdown.inline import format_address
from syncd.layout.richtext import tag_lines, tags
from syncd.layout.richtext.expressible import (
    HEADINGS,
    LISTS,
    START_MAX,
    find_caption,
    find_expressible_data,
    find_extras,
    format_html,
    is_expressible,
    read_code_text,
    split_expandable,
)
from syncd.layout.richtext.grammar import SPACE, classify_html, needs_space
from syncd.layout.richtext.html.details import CLOSE
from syncd.layout.richtext.html.elements import write_html_tag
from syncd.layout.richtext.inline.escaping import escape_closing_hashes, quote_title
from syncd.layout.richtext.inline.writing import write_inlines
from syncd.layout.richtext.json_nodes import FENCE_INFO, write_json_fence, write_overlay
from syncd.layout.richtext.nodes import BLOCK_DEPTH_MAX, Node, collect_text, is_empty, make_text
from syncd.layout.richtext.plain_page import read_plain_page
from syncd.layout.richtext.tables import write_pipe_table
from syncd.model.document import Document

_DEPTH_MAX = 3 * BLOCK_DEPTH_MAX
_BULLETS = "*-+"
_FENCES = re.compile(r"^[ \t]*(`{3,}|~{3,})", re.MULTILINE)


def to_markdown(document: Document) -> str:
    """Return the Markdown of a document; what Markdown cannot express is kept in it as JSON.

    Shape: unknown blocks are fences of JSON, unknown inlines and marks are in a `span`, members that a known block
    should not have are in a comment before it. A paragraph without text says nothing and is left out.
    """
    if (plain := read_plain_page(document.nodes)) is not None:
        return plain
    text = _write_blocks(document.nodes, _BlockContext())
    return f"{text}\n" if text else ""


@dataclass(frozen=True)
class _BlockContext:
    """Where blocks stand: how deep, whether without blank lines between, and first in the item of which bullet."""

    depth: int = 0
    tight: bool = False
    item: str | None = None


_CODE: Node = {"object": "block", "type": "code", "data": {}, "nodes": []}


def _write_blocks(nodes: Sequence[Node], place: _BlockContext) -> str:
    pieces: list[str] = []
    last: Node | None = None
    sign = ""
    for node in nodes:
        known = place.depth <= _DEPTH_MAX and is_expressible(node)
        if known and is_empty(node):
            continue
        text, sign = _write_block(node, place, sign) if known else (_write_as_json(node), "")
        # What is kept stands as code does.
        node = node if known else _CODE
        if last is None:
            place = replace(place, item=None) if place.item else place
        else:
            pieces.append("\n" if place.tight and _may_touch(last, node) else "\n\n")
        pieces.append(text)
        last = node
    return "".join(pieces)


def _write_block(node: Node, place: _BlockContext, before: str) -> tuple[str, str]:
    """A block, and the sign of its items when it is a list; `before` is the sign of the list directly before it."""
    beyond = find_extras(node)
    comment = f"{write_overlay(beyond)}\n" if beyond else ""
    if node["type"] in LISTS:
        sign = _choose_sign(node, place, before)
        return comment + _write_list(node, sign, place), sign
    return comment + _write_expressible(node, place), ""


def _write_expressible(node: Node, place: _BlockContext) -> str:
    type, data = str(node["type"]), find_expressible_data(node)
    if (html := format_html(node)) is not None:
        return html
    inside = _BlockContext(place.depth + 1)
    if type in _WRITERS:
        return _WRITERS[type](node, data)
    if type in HEADINGS:
        return _write_heading(node, data)
    if type == "divider":
        # `* ***` would be a thematic break itself.
        return "***" if place.item is None else "___"
    if type == "blockquote":
        return _write_quote(_write_blocks(node["nodes"], inside))
    if type == "expandable":
        return _write_expandable(node, data, inside)
    if type == "code":
        return _write_code(node, data)
    if type == "definition":
        return _write_definition(data, tight=place.tight)
    if type == "tag" and "source" in data:
        return str(data["source"])
    if type == "tag":
        return _wrap(data["tag"], _write_blocks(node["nodes"], inside), data["end"])
    return _write_tag_block(node, type, data, inside)


def _write_tag_block(node: Node, type: str, data: Node, inside: _BlockContext) -> str:
    opening = tags.write_liquid_tag(type, data) or ""
    nodes = node.get("nodes") if "nodes" in node else find_caption(node)
    return (
        opening
        if nodes is None
        else _wrap(opening, _write_blocks(nodes, inside), _format_end_tag(tag_lines.NAMES[type]))
    )


def _wrap(opening: str, text: str, closing: str) -> str:
    return f"{opening}\n{text}\n{closing}" if text else f"{opening}\n{closing}"


def _format_end_tag(name: str) -> str:
    return f"{{% end{name} %}}"


def _guard_paragraph(text: str) -> str:
    return SPACE + text if needs_space(text) else text


def _write_heading(node: Node, data: Node) -> str:
    level = data.get("level", int(node["type"][-1]))
    anchor = f"{write_html_tag('a', {'href': '#' + data['id'], 'id': data['id']})}</a>" if "id" in data else ""
    text = write_inlines(node["nodes"], breaks=False).replace("\n", " ")
    text = f"{text} {anchor}" if anchor else escape_closing_hashes(text)
    return f"{'#' * level} {text}".rstrip(" ")


def _write_code(node: Node, data: Node) -> str:
    text = read_code_text(node) or ""
    more = {name: value for name, value in data.items() if name not in ("syntax", "info")}
    made = _write_fence(text, str(data.get("info", data.get("syntax", ""))))
    return _wrap(tags.write_liquid_tag("code", more) or "", made, _format_end_tag("code")) if more else made


def _write_fence(text: str, info: str) -> str:
    sign = "~" if "`" in info else "`"
    longest = max((len(run[1]) for run in _FENCES.finditer(text)), default=2)
    marks = sign * max(3, longest + 1)
    apart = " " if info.startswith(sign) else ""
    return f"{marks}{apart}{info}\n{text}{marks}"


def _write_as_json(node: Node) -> str:
    """A block as the JSON that keeps it; as its words when even that cannot be."""
    text = write_json_fence(node)
    return (
        _write_fence(f"{text}\n", FENCE_INFO)
        if text is not None
        else write_inlines([make_text(" ".join(collect_text(node).split()))])
    )


def _write_definition(data: Node, *, tight: bool) -> str:
    # Directly before other text, an empty title keeps it from being read as the title.
    title = f" {quote_title(data['title'])}" if "title" in data else ' ""' if tight else ""
    return f"[{data['label']}]: {format_address(data['url']) or '<>'}{title}"


def _write_expandable(node: Node, data: Node, inside: _BlockContext) -> str:
    title, body = split_expandable(node) or ("", [])
    parts = [
        "<details open>" if "defaultExpanded" in data else "<details>",
        f"<summary>{title}</summary>",
        _write_blocks(body, inside),
        CLOSE,
    ]
    return "\n\n".join(part for part in parts if part)


def _write_quote(text: str) -> str:
    return "\n".join(f"> {line}" if line else ">" for line in text.split("\n"))


def _choose_sign(node: Node, place: _BlockContext, before: str) -> str:
    """The sign of a list's items: not that of the list before it, nor that of the item in whose line it starts."""
    if node["type"] == "list-ordered":
        return ")" if before == "." else "."
    return next(sign for sign in _BULLETS if sign not in (before, place.item))


def _write_list(node: Node, sign: str, place: _BlockContext) -> str:
    data = find_expressible_data(node)
    first = data.get("start", 1)
    items: list[str] = []
    for number, item in enumerate(node["nodes"], first):
        marker = f"{min(number, START_MAX)}{sign}" if node["type"] == "list-ordered" else sign
        inside = _BlockContext(place.depth + 2, tight="loose" not in data, item=sign)
        items.append(_write_item(item, marker, inside))
    return ("\n\n" if "loose" in data else "\n").join(items)


def _write_item(item: Node, marker: str, inside: _BlockContext) -> str:
    text = _write_blocks(item["nodes"], inside)
    data = item.get("data") or {}
    task = "" if "checked" not in data else "[x] " if data["checked"] else "[ ] "
    first, *others = text.split("\n")
    indent = " " * (len(marker) + 1)
    lines = [
        f"{marker} {task}{first}" if first or task else marker,
        *(indent + line if line else "" for line in others),
    ]
    return "\n".join(lines)


def _may_touch(before: Node, node: Node) -> bool:
    """Whether a block, directly behind another in a list without blank lines, is read as a block of its own."""
    type, behind = str(node["type"]), str(before["type"])
    source = _find_html(before)
    if behind == "expandable" or (source is not None and classify_html(source) == "open"):
        starts_with_tag = type != "code" or find_expressible_data(node).keys() - {"syntax", "info"}
        return (type in tag_lines.NAMES and bool(starts_with_tag)) or type in ("tag", tags.INTEGRATION)
    if find_extras(node):
        return True
    goes_on = _ends_in_paragraph(before) or behind == "table"
    if (html := _find_html(node)) is not None:
        return classify_html(html, interrupting=True) is not None or not goes_on
    if type in ("paragraph", "math", "definition"):
        return not goes_on
    if type == "table":
        return behind == "paragraph" or not goes_on
    if type in LISTS:
        return behind != "paragraph" or (_has_first_line(node) and "start" not in find_expressible_data(node))
    return type != "blockquote" or behind != "blockquote"


def _ends_in_paragraph(node: Node) -> bool:
    """Whether a block ends in a paragraph, which the next line would go on with."""
    while node.get("type") == "list-item" or (node.get("type") in ("blockquote", *LISTS) and is_expressible(node)):
        if not node["nodes"]:
            return False
        node = node["nodes"][-1]
    return node.get("type") == "paragraph" and is_expressible(node) and format_html(node) is None


def _has_first_line(node: Node) -> bool:
    first = node["nodes"][0]
    return bool(first["nodes"]) or "checked" in (first.get("data") or {})


def _find_html(node: Node) -> str | None:
    """The HTML that a block is, or is written as."""
    return str(node["data"]["html"]) if node["type"] == "html" else format_html(node)


_WRITERS: Mapping[str, Callable[[Node, Node], str]] = {
    "paragraph": lambda node, data: _guard_paragraph(write_inlines(node["nodes"])),
    "math": lambda node, data: _wrap("$$", data["formula"], "$$"),
    "html": lambda node, data: str(data["html"]),
    "table": lambda node, data: write_pipe_table(node) or "",
}
