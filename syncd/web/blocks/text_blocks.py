"""Blocks of text: paragraphs, headings, lists, quotes, dividers."""

from collections.abc import Callable, Iterable, Mapping

from markupsafe import Markup

from syncd.layout.page.anchors import find_heading_anchor
from syncd.web.blocks.context import OutlineEntry
from syncd.web.blocks.elements import EMPTY, find_direction, join_markup, write_element
from syncd.web.blocks.inline.line import render_line
from syncd.web.blocks.members import Node, collect_words, read_choice, read_data, read_kind, read_nodes
from syncd.web.blocks.state import RenderState

_ALIGNED = ("left", "center", "right", "start", "end")
_LEVEL_MAX = 6


def read_level(node: Node) -> int:
    """Return the level of a heading in its document, 1 to 6; 0 for what is no heading."""
    kind = read_kind(node)
    if kind not in ("heading-1", "heading-2", "heading-3"):
        return 0
    level = read_data(node).get("level")
    return (
        level if isinstance(level, int) and not isinstance(level, bool) and 3 < level <= _LEVEL_MAX else int(kind[-1])
    )


def has_first_level(nodes: Iterable[Node]) -> bool:
    """Return whether blocks, or those in them, have a heading of the first level."""
    pending = list(nodes)
    while pending:
        node = pending.pop()
        if read_level(node) == 1:
            return True
        if read_kind(node) not in ("paragraph", "code"):
            pending += [*read_nodes(node, "fragments"), *read_nodes(node)]
    return False


def _render_paragraph(state: RenderState, node: Node) -> Markup:
    content = render_line(state, read_nodes(node))
    return write_element("p", content, class_=_write_alignment(node), dir="auto") if content else EMPTY


def _write_alignment(node: Node) -> str | None:
    align = read_choice(read_data(node), "align", *_ALIGNED)
    return f"b-align-{align}" if align not in ("left", "start") else None


def _render_heading(state: RenderState, node: Node) -> Markup:
    content = render_line(state, read_nodes(node))
    title = " ".join(collect_words(node).split())
    anchor = state.allocate_id(find_heading_anchor(node))
    level = min(read_level(node) + state.shift, _LEVEL_MAX)
    state.outline.append(OutlineEntry(anchor, title, level))
    label = state.context.labels.link_to_heading.format(title=title)
    link = write_element("a", "#", href=f"#{anchor}", class_="b-anchor", aria_label=label)
    return write_element(f"h{level}", content + link, id=anchor, class_=_write_alignment(node), dir="auto")


def _render_quote(state: RenderState, node: Node) -> Markup:
    content = state.render_nodes(read_nodes(node))
    return write_element("blockquote", content, dir=find_direction(content))


def _render_divider(state: RenderState, node: Node) -> Markup:
    return Markup("<hr>")


def _render_list(state: RenderState, node: Node) -> Markup:
    items = join_markup([_render_item(state, item) for item in read_nodes(node)])
    return write_element("ul", items, dir=find_direction(items))


def _render_ordered(state: RenderState, node: Node) -> Markup:
    start = read_data(node).get("start")
    first = str(start) if isinstance(start, int) and not isinstance(start, bool) and 0 <= start < 10**9 else None
    items = join_markup([_render_item(state, item) for item in read_nodes(node)])
    return write_element("ol", items, start=first, dir=find_direction(items))


def _render_tasks(state: RenderState, node: Node) -> Markup:
    items = join_markup([_render_item(state, item, task=True) for item in read_nodes(node)])
    return write_element("ul", items, class_="b-tasks", dir=find_direction(items))


def _render_item(state: RenderState, item: Node, *, task: bool = False) -> Markup:
    if item.get("object") != "block" or read_kind(item) != "list-item":
        return write_element("li", state.render_nodes([item]))
    content, data = _render_tight(state, read_nodes(item)), read_data(item)
    if task or "checked" in data:
        return write_element(
            "li", _write_tick(state, data.get("checked") is True) + write_element("div", content), class_="b-task"
        )
    return write_element("li", content)


def _render_tight(state: RenderState, nodes: list[Node]) -> Markup:
    """What stands in an item: one paragraph needs no element of its own."""
    if nodes and read_kind(nodes[0]) == "paragraph" and all(read_kind(one).startswith("list-") for one in nodes[1:]):
        return render_line(state, read_nodes(nodes[0])) + state.render_nodes(nodes[1:])
    return state.render_nodes(nodes)


def _write_tick(state: RenderState, is_done: bool) -> Markup:
    labels = state.context.labels
    words = labels.done if is_done else labels.open
    return write_element("span", "✓" if is_done else EMPTY, class_="b-tick", role="img", aria_label=words)


TEXT_BLOCKS: Mapping[str, Callable[[RenderState, Node], Markup]] = {
    "paragraph": _render_paragraph,
    "heading-1": _render_heading,
    "heading-2": _render_heading,
    "heading-3": _render_heading,
    "list-unordered": _render_list,
    "list-ordered": _render_ordered,
    "list-tasks": _render_tasks,
    "blockquote": _render_quote,
    "divider": _render_divider,
}
