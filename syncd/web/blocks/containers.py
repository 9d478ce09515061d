"""Blocks that hold blocks: hints, tabs, steps, what can be unfolded, columns, updates, prompts."""

import re
from collections.abc import Callable, Iterator, Mapping

from markupsafe import Markup, escape

from syncd.layout.page.anchors import make_tab_anchor
from syncd.web.blocks.changes import find_change_word
from syncd.web.blocks.elements import EMPTY, find_box_direction, join_markup, write_element
from syncd.web.blocks.inline.icons import write_icon
from syncd.web.blocks.inline.line import render_line
from syncd.web.blocks.members import (
    Node,
    collect_words,
    read_choice,
    read_data,
    read_fragment,
    read_kind,
    read_nodes,
    read_number,
    read_text,
)
from syncd.web.blocks.state import RenderState
from syncd.web.rendering import render_template

_STYLES = ("info", "success", "warning", "danger")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9:.+Z-]{4,20})?")
_TWELFTHS = 12


def _render_hint(state: RenderState, node: Node) -> Markup:
    data = read_data(node)
    style = read_choice(data, "style", *_STYLES)
    content = state.render_nodes(read_nodes(node))
    return render_template(
        "blocks/hint.html",
        style=style,
        label=getattr(state.context.labels, style),
        icon=write_icon(read_text(data, "icon")),
        content=content,
        dir=find_box_direction(content),
    )


def _list_parts(state: RenderState, nodes: list[Node], kind: str) -> Iterator[Node]:
    """The parts of a block; a condition around a part that cannot be decided stands around what the part holds."""
    for node in nodes:
        held = read_nodes(node)
        if read_kind(node) != "if" or not any(read_kind(one) in (kind, "if") for one in held):
            yield node
            continue
        truth = state.context.variables.evaluate_condition(read_text(read_data(node), "expression"))
        for part in _list_parts(state, held, kind) if truth is not False else ():
            if truth:
                yield part
            elif read_kind(part) == kind:
                yield part | {"nodes": [node | {"nodes": read_nodes(part)}]}
            else:
                yield node | {"nodes": [part]}


def _render_tabs(state: RenderState, node: Node) -> Markup:
    items = [
        {
            "anchor": state.allocate_id(make_tab_anchor(title := read_text(read_data(item), "title"), number)),
            "title": title or state.context.labels.tab.format(number=number),
            "icon": write_icon(read_text(read_data(item), "icon")),
            "content": state.render_nodes(read_nodes(item) if read_kind(item) == "tabs-item" else [item]),
            "change": find_change_word(state, item),
        }
        for number, item in enumerate(_list_parts(state, read_nodes(node), "tabs-item"), 1)
    ]
    if not items:
        return EMPTY
    # In a difference, the first tab that changed is the open one.
    chosen = next((number for number, item in enumerate(items, 1) if item["change"]), 1)
    group = f"_{items[0]['anchor']}"
    return render_template("blocks/tabs.html", group=group, items=items, chosen=chosen, labels=state.context.labels)


def _render_stepper(state: RenderState, node: Node) -> Markup:
    steps = [
        state.render_nodes(read_nodes(step) if read_kind(step) == "stepper-step" else [step])
        for step in _list_parts(state, read_nodes(node), "stepper-step")
    ]
    items = join_markup([write_element("li", write_element("div", step), class_="b-step") for step in steps])
    return write_element("ol", items, class_="b-stepper", dir=find_box_direction(items))


def _render_expandable(state: RenderState, node: Node) -> Markup:
    data = read_data(node)
    title, body = read_fragment(node, "expandable-title"), read_fragment(node, "expandable-body")
    if title is None and body is None:
        body = [*read_nodes(node), *(one for held in read_nodes(node, "fragments") for one in read_nodes(held))]
    said = _render_title(state, title or []) or escape(read_text(data, "title") or state.context.labels.more)
    return render_template(
        "blocks/expandable.html",
        title=said,
        anchor=state.allocate_anchor(collect_words(title or [])),
        is_open=data.get("defaultExpanded") is True,
        content=state.render_nodes(body or []),
    )


def _render_title(state: RenderState, nodes: list[Node]) -> Markup:
    """The words of a title, whichever blocks they stand in: nothing but a line may stand there."""
    lines = [render_line(state, read_nodes(one) if one.get("object") == "block" else [one]) for one in nodes]
    return Markup(" ").join(lines)


def _render_columns(state: RenderState, node: Node) -> Markup:
    columns = [_render_column(state, column) for column in _list_parts(state, read_nodes(node), "column")]
    content = join_markup(columns)
    return write_element("div", content, class_="b-columns", dir=find_box_direction(content))


def _render_column(state: RenderState, node: Node) -> Markup:
    if read_kind(node) != "column":
        return write_element("div", state.render_nodes([node]), class_="b-column")
    data = read_data(node)
    width = data.get("width")
    share = read_number(width, "value") if isinstance(width, dict) else None
    part = max(1, min(_TWELFTHS, round(share * _TWELFTHS / 100))) if share is not None else 0
    classes = ["b-column", f"b-column-{part}" if part else ""]
    align = read_choice(data, "verticalAlignment", "top", "middle", "bottom")
    classes.append("" if align == "top" else f"b-{align}")
    return write_element("div", state.render_nodes(read_nodes(node)), class_=" ".join(filter(None, classes)))


def _render_updates(state: RenderState, node: Node) -> Markup:
    items = join_markup([_render_update(state, one) for one in _list_parts(state, read_nodes(node), "update")])
    return write_element("section", items, class_="b-updates", aria_label=state.context.labels.updates)


def _render_update(state: RenderState, node: Node) -> Markup:
    if read_kind(node) != "update":
        return state.render_nodes([node])
    data = read_data(node)
    date = read_text(data, "date")
    return render_template(
        "blocks/update.html",
        date=date,
        is_date=_DATE.fullmatch(date) is not None,
        tags=[read_text(tag, "tag") for tag in read_nodes(data, "tags") if read_text(tag, "tag")],
        content=state.render_nodes(read_nodes(node)),
    )


def _render_prompt(state: RenderState, node: Node) -> Markup:
    data = read_data(node)
    return render_template(
        "blocks/prompt.html",
        label=state.context.labels.prompt,
        icon=write_icon(read_text(data, "icon")),
        description=read_text(data, "description"),
        content=state.render_nodes(read_nodes(node)),
    )


def _render_part(state: RenderState, node: Node) -> Markup:
    """A part of a block that stands alone."""
    return state.render_nodes(read_nodes(node))


CONTAINER_BLOCKS: Mapping[str, Callable[[RenderState, Node], Markup]] = {
    "hint": _render_hint,
    "tabs": _render_tabs,
    "stepper": _render_stepper,
    "expandable": _render_expandable,
    "columns": _render_columns,
    "updates": _render_updates,
    "update": _render_update,
    "prompt": _render_prompt,
    "tabs-item": _render_part,
    "stepper-step": _render_part,
    "column": _render_part,
    "list-item": _render_part,
}
