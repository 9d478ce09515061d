"""A document as Markdown: each block in the form that the platform writes."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from syncd.layout.markdown.inline import format_address
from syncd.layout.richtext import tags
from syncd.layout.richtext.escaping import escape_closing, quoted
from syncd.layout.richtext.forms import (
    HEADINGS,
    LISTS,
    START_MAX,
    caption,
    code_text,
    expandable,
    extras,
    fits,
    html_text,
    said,
)
from syncd.layout.richtext.grammar import SPACE, html_kind, needs_space
from syncd.layout.richtext.html.details import CLOSE
from syncd.layout.richtext.html.elements import write_tag
from syncd.layout.richtext.kept import INFO, fence_text, overlay
from syncd.layout.richtext.nodes import DEEPEST, Node, is_empty, text_of, words
from syncd.layout.richtext.phrases import write_words
from syncd.layout.richtext.plain import plain_markdown
from syncd.layout.richtext.tables import write_table
from syncd.model.document import Document

_DEEPEST = 3 * DEEPEST
_BULLETS = "*-+"
_FENCES = re.compile(r"^[ \t]*(`{3,}|~{3,})", re.MULTILINE)


def to_markdown(document: Document) -> str:
    """Given a document, return its Markdown; what Markdown cannot say is kept in it and survives.

    Shapes: unknown blocks are fences of JSON, unknown inlines and marks are in a `span`, members that a known block
    should not have are in a comment before it. A paragraph without text says nothing and is left out.
    """
    if (plain := plain_markdown(document.nodes)) is not None:
        return plain
    text = _write(document.nodes, _Place())
    return f"{text}\n" if text else ""


@dataclass(frozen=True)
class _Place:
    """Where blocks stand: how deep, whether without blank lines between, and first in the item of which bullet."""

    depth: int = 0
    tight: bool = False
    item: str | None = None


_CODE: Node = {"object": "block", "type": "code", "data": {}, "nodes": []}


def _write(nodes: Sequence[Node], place: _Place) -> str:
    pieces: list[str] = []
    last: Node | None = None
    sign = ""
    for node in nodes:
        known = place.depth <= _DEEPEST and fits(node)
        if known and is_empty(node):
            continue
        text, sign = _block(node, place, sign) if known else (_kept(node), "")
        # What is kept stands as code does.
        node = node if known else _CODE
        if last is None:
            place = replace(place, item=None) if place.item else place
        else:
            pieces.append("\n" if place.tight and _may_touch(last, node) else "\n\n")
        pieces.append(text)
        last = node
    return "".join(pieces)


def _block(node: Node, place: _Place, before: str) -> tuple[str, str]:
    """A block, and the sign of its items when it is a list; `before` is the sign of the list directly before it."""
    beyond = extras(node)
    comment = f"{overlay(beyond)}\n" if beyond else ""
    if node["type"] in LISTS:
        sign = _sign(node, place, before)
        return comment + _list(node, sign, place), sign
    return comment + _native(node, place), ""


def _native(node: Node, place: _Place) -> str:
    type, data = str(node["type"]), said(node)
    if (html := html_text(node)) is not None:
        return html
    inside = _Place(place.depth + 1)
    if type in _PLAIN:
        return _PLAIN[type](node, data)
    if type in HEADINGS:
        return _heading(node, data)
    if type == "divider":
        # `* ***` would be a thematic break itself.
        return "***" if place.item is None else "___"
    if type == "blockquote":
        return _quote(_write(node["nodes"], inside))
    if type == "expandable":
        return _expandable(node, data, inside)
    if type == "code":
        return _code(node, data)
    if type == "definition":
        return _definition(data, tight=place.tight)
    if type == "tag" and "source" in data:
        return str(data["source"])
    if type == "tag":
        return _around(data["tag"], _write(node["nodes"], inside), data["end"])
    return _tag(node, type, data, inside)


def _tag(node: Node, type: str, data: Node, inside: _Place) -> str:
    opening = tags.write_tag(type, data) or ""
    nodes = node.get("nodes") if "nodes" in node else caption(node)
    return opening if nodes is None else _around(opening, _write(nodes, inside), _end(tags.NAMES[type]))


def _around(opening: str, text: str, closing: str) -> str:
    return f"{opening}\n{text}\n{closing}" if text else f"{opening}\n{closing}"


def _end(name: str) -> str:
    return f"{{% end{name} %}}"


def _paragraph(text: str) -> str:
    return SPACE + text if needs_space(text) else text


def _heading(node: Node, data: Node) -> str:
    level = data.get("level", int(node["type"][-1]))
    anchor = f"{write_tag('a', {'href': '#' + data['id'], 'id': data['id']})}</a>" if "id" in data else ""
    text = write_words(node["nodes"], breaks=False).replace("\n", " ")
    text = f"{text} {anchor}" if anchor else escape_closing(text)
    return f"{'#' * level} {text}".rstrip(" ")


def _code(node: Node, data: Node) -> str:
    text = code_text(node) or ""
    more = {name: value for name, value in data.items() if name not in ("syntax", "info")}
    made = _fence(text, str(data.get("info", data.get("syntax", ""))))
    return _around(tags.write_tag("code", more) or "", made, _end("code")) if more else made


def _fence(text: str, info: str) -> str:
    sign = "~" if "`" in info else "`"
    longest = max((len(run[1]) for run in _FENCES.finditer(text)), default=2)
    marks = sign * max(3, longest + 1)
    apart = " " if info.startswith(sign) else ""
    return f"{marks}{apart}{info}\n{text}{marks}"


def _kept(node: Node) -> str:
    """A block as the JSON that keeps it; as its words when even that cannot be."""
    text = fence_text(node)
    return _fence(f"{text}\n", INFO) if text is not None else write_words([words(" ".join(text_of(node).split()))])


def _definition(data: Node, *, tight: bool) -> str:
    # Directly before other text, an empty title keeps it from being read as the title.
    title = f" {quoted(data['title'])}" if "title" in data else ' ""' if tight else ""
    return f"[{data['label']}]: {format_address(data['url']) or '<>'}{title}"


def _expandable(node: Node, data: Node, inside: _Place) -> str:
    title, body = expandable(node) or ("", [])
    parts = [
        "<details open>" if "defaultExpanded" in data else "<details>",
        f"<summary>{title}</summary>",
        _write(body, inside),
        CLOSE,
    ]
    return "\n\n".join(part for part in parts if part)


def _quote(text: str) -> str:
    return "\n".join(f"> {line}" if line else ">" for line in text.split("\n"))


def _sign(node: Node, place: _Place, before: str) -> str:
    """The sign of a list's items: not that of the list before it, nor that of the item in whose line it starts."""
    if node["type"] == "list-ordered":
        return ")" if before == "." else "."
    return next(sign for sign in _BULLETS if sign not in (before, place.item))


def _list(node: Node, sign: str, place: _Place) -> str:
    data = said(node)
    first = data.get("start", 1)
    items: list[str] = []
    for number, item in enumerate(node["nodes"], first):
        marker = f"{min(number, START_MAX)}{sign}" if node["type"] == "list-ordered" else sign
        inside = _Place(place.depth + 2, tight="loose" not in data, item=sign)
        items.append(_item(item, marker, inside))
    return ("\n\n" if "loose" in data else "\n").join(items)


def _item(item: Node, marker: str, inside: _Place) -> str:
    text = _write(item["nodes"], inside)
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
    source = _html(before)
    if behind == "expandable" or (source is not None and html_kind(source) == "open"):
        starts_with_tag = type != "code" or said(node).keys() - {"syntax", "info"}
        return (type in tags.NAMES and bool(starts_with_tag)) or type in ("tag", tags.INTEGRATION)
    if extras(node):
        return True
    goes_on = _runs_on(before) or behind == "table"
    if (html := _html(node)) is not None:
        return html_kind(html, interrupting=True) is not None or not goes_on
    if type in ("paragraph", "math", "definition"):
        return not goes_on
    if type == "table":
        return behind == "paragraph" or not goes_on
    if type in LISTS:
        return behind != "paragraph" or (_starts(node) and "start" not in said(node))
    return type != "blockquote" or behind != "blockquote"


def _runs_on(node: Node) -> bool:
    """Whether a block ends in a paragraph, which the next line would go on with."""
    while node.get("type") == "list-item" or (node.get("type") in ("blockquote", *LISTS) and fits(node)):
        if not node["nodes"]:
            return False
        node = node["nodes"][-1]
    return node.get("type") == "paragraph" and fits(node) and html_text(node) is None


def _starts(node: Node) -> bool:
    first = node["nodes"][0]
    return bool(first["nodes"]) or "checked" in (first.get("data") or {})


def _html(node: Node) -> str | None:
    """The HTML that a block is, or is written as."""
    return str(node["data"]["html"]) if node["type"] == "html" else html_text(node)


_PLAIN: Mapping[str, Callable[[Node, Node], str]] = {
    "paragraph": lambda node, data: _paragraph(write_words(node["nodes"])),
    "math": lambda node, data: _around("$$", data["formula"], "$$"),
    "html": lambda node, data: str(data["html"]),
    "table": lambda node, data: write_table(node) or "",
}
