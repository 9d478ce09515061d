"""Blocks in HTML: paragraphs and headings with an alignment, lists in cells, images and tables, as nodes and back.

A block that Markdown could say too, but that is written as HTML, has `html` in its data.
"""

from collections.abc import Callable, Mapping, Sequence

from syncd.layout.richtext.html.elements import (
    DEPTH_MAX,
    Content,
    Element,
    list_only_elements,
    read_element,
    write_html_tag,
)
from syncd.layout.richtext.html.images import read_drawing, read_images, write_drawing, write_images
from syncd.layout.richtext.html.lines import read_html_line, write_html_line
from syncd.layout.richtext.html.tables import normalise_table, read_html_table, write_html_table
from syncd.layout.richtext.nodes import Node, is_empty, is_nodes, make_block, make_paragraph
from syncd.layout.richtext.tables import write_pipe_table

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LISTS = {"ul": "list-unordered", "ol": "list-ordered"}
_ALIGNMENTS = ("left", "center", "right")
_BLOCKS = frozenset({"p", *_HEADINGS, *_LISTS, "figure", "div"})
_LEVELS_MAX = 3 * DEPTH_MAX
"""Nodes within nodes; an element becomes at most a block, a fragment or item, and the paragraph in it."""
_DEEPEST = 3
"""The last type of heading that the platform has; deeper ones have their level in the data."""


def read_html_block(html: str) -> Node | None:
    """Return the node that the platform makes of a block of HTML; None for HTML that is not its own.

    Shape: what is returned is written as HTML that reads as the same node.
    """
    node = _read_top_block(html)
    if node is None or is_empty(node):
        return None
    written = write_html_block(node)
    return node if written is not None and (written == html or _is_read_as(written, node)) else None


def write_html_block(node: Node) -> str | None:
    """Return the HTML of a block; None when it is not a block of HTML."""
    type = str(node.get("type"))
    if _is_text(type):
        return _write_text(node) if (node.get("data") or {}).keys() & {"align", "html"} else None
    return _WRITERS[type](node) if type in _WRITERS else None


def is_html_expressible(node: Node) -> bool:
    """Return whether HTML can express a block with all its members."""
    written = write_html_block(node) if _has_shape(node) else None
    return written is not None and _is_read_as(written, node)


def _read_top_block(html: str) -> Node | None:
    """The block that an element stands for which is in no other."""
    element = read_element(html)
    if element is None or element.name in _LISTS:
        return None
    if element.name == "table":
        table = read_html_table(element, _read_cell, read_html_line)
        if table is None or write_pipe_table(table) is None:
            return table
        # Markdown has a form of its own for a plain table; this one is not written in it.
        return table | {"data": table["data"] | {"html": True}}
    node = _read_by_name(element)
    if node is None or not _is_text(node["type"]) or "align" in node["data"]:
        return node
    return node | {"data": node["data"] | {"html": True}}


def _read_by_name(element: Element) -> Node | None:
    if element.name == "p" or element.name in _HEADINGS:
        return _read_text(element)
    if element.name in _LISTS:
        return _read_list(element)
    return read_drawing(element) or read_images(element, read_html_line)


def _read_text(element: Element) -> Node | None:
    align = element.attributes.get("align")
    if element.attributes.keys() - {"align"} or (element.attributes and align not in _ALIGNMENTS):
        return None
    data: Node = {"align": align} if align else {}
    nodes = read_html_line(element.content)
    if element.name == "p":
        return make_block("paragraph", data, nodes)
    level = _HEADINGS[element.name]
    return make_block(f"heading-{min(level, _DEEPEST)}", ({"level": level} if level > _DEEPEST else {}) | data, nodes)


def _write_text(node: Node) -> str | None:
    type, data, words = str(node["type"]), node.get("data") or {}, write_html_line(node.get("nodes"))
    align = data.get("align")
    if words is None or data.keys() - {"align", "html", "level"} or ("align" in data and align not in _ALIGNMENTS):
        return None
    name = "p" if type == "paragraph" else f"h{data.get('level', type[-1])}"
    return f"{write_html_tag(name, {'align': align} if align else {})}{words}</{name}>"


def _read_list(element: Element) -> Node | None:
    elements, start = list_only_elements(element.content), element.attributes.get("start")
    if not elements or any(item.name != "li" or item.attributes for item in elements):
        return None
    if element.attributes.keys() - {"start"} or ("start" in element.attributes and not (start or "").isdecimal()):
        return None
    items = [nodes for item in elements if (nodes := _read_cell(item.content)) is not None]
    if len(items) < len(elements):
        return None
    data: Node = {"start": int(start)} if start else {}
    return make_block(_LISTS[element.name], data, [make_block("list-item", {}, nodes) for nodes in items])


def _write_list(node: Node) -> str | None:
    items, data = node.get("nodes"), node.get("data") or {}
    name = next(name for name, type in _LISTS.items() if type == node["type"])
    if not is_nodes(items) or not items or data.keys() - ({"start"} if name == "ol" else set()):
        return None
    written = [html for item in items if _is_item(item) and (html := _write_cell(item["nodes"])) is not None]
    if len(written) < len(items):
        return None
    opening = write_html_tag(name, {"start": str(data["start"])} if "start" in data else {})
    return f"{opening}{''.join(f'<li>{html}</li>' for html in written)}</{name}>"


def _read_cell(content: Content) -> list[Node] | None:
    """The blocks of a cell or of an item of a list; None when they are not the platform's."""
    if not any(isinstance(piece, Element) and piece.name in _BLOCKS for piece in content):
        return [make_paragraph(read_html_line(content))]
    elements = list_only_elements(content)
    nodes = [node for element in elements or () if (node := _read_by_name(element)) is not None]
    return nodes if elements is not None and len(nodes) == len(elements) else None


def _write_cell(nodes: Sequence[Node]) -> str | None:
    if len(nodes) == 1 and nodes[0].get("type") == "paragraph" and not nodes[0].get("data"):
        return write_html_line(nodes[0].get("nodes"))
    pieces = [html for node in nodes if (html := _write_cell_block(node)) is not None]
    return "".join(pieces) if pieces and len(pieces) == len(nodes) else None


def _write_cell_block(node: Node) -> str | None:
    """A block of a cell."""
    type = str(node.get("type"))
    if _is_text(type):
        return _write_text(node)
    if type in _LISTS.values():
        return _write_list(node)
    return _WRITERS[type](node) if type in ("images", "drawing") else None


def _is_text(type: str) -> bool:
    return type == "paragraph" or type.startswith("heading-")


def _is_item(node: Node) -> bool:
    return node.get("type") == "list-item" and not node.get("data") and is_nodes(node.get("nodes"))


def _has_shape(node: Node) -> bool:
    """Whether a block, and all in it, holds data and nodes where those belong, and no more levels than HTML has."""
    pending = [(node, 0)]
    while pending:
        here, depth = pending.pop()
        children = [here[name] for name in ("nodes", "fragments") if here.get(name) is not None]
        if depth > _LEVELS_MAX or not isinstance(here.get("data", {}), dict) or not all(map(is_nodes, children)):
            return False
        pending += [(child, depth + 1) for nodes in children for child in nodes]
    return True


def _is_read_as(html: str, node: Node) -> bool:
    wanted = _drop_derived(node)
    if node.get("type") == "table":
        wanted = normalise_table(wanted) or wanted
    return _read_top_block(html) == wanted


def _drop_derived(node: Node) -> Node:
    """The block without keys and other members that follow from the rest, at any depth."""
    made = {name: value for name, value in node.items() if name not in ("key", "meta")}
    for name in ("nodes", "fragments"):
        if is_nodes(made.get(name)):
            made[name] = [_drop_derived(child) for child in made[name]]
    return made


_WRITERS: Mapping[str, Callable[[Node], str | None]] = {
    "images": lambda node: write_images(node, write_html_line),
    "drawing": write_drawing,
    "table": lambda node: write_html_table(node, _write_cell, write_html_line),
}
