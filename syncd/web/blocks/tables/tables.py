"""Tables: grids and cards, with the types of their columns."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from markupsafe import Markup, escape

from syncd.web.blocks.context import Target
from syncd.web.blocks.elements import (
    EMPTY,
    check_picture,
    find_box_direction,
    find_direction,
    join_markup,
    write_element,
    write_opening,
)
from syncd.web.blocks.inline.line import render_line
from syncd.web.blocks.members import (
    Node,
    collect_words,
    read_choice,
    read_data,
    read_kind,
    read_nodes,
    read_number,
    read_text,
)
from syncd.web.blocks.state import RenderState
from syncd.web.blocks.tables.cells import Column, find_target, render_cell
from syncd.web.rendering import render_template

_ROWS = {"deleted": "b-removed", "inserted": "b-added"}
_ALIGNED = ("left", "center", "right")


@dataclass(frozen=True)
class _Table:
    """A table as it is shown: its columns in order, its records, and the blocks of its fragments by name."""

    view: Node
    definition: dict[str, Node]
    columns: list[Column]
    records: list[tuple[str, Node]]
    fragments: dict[str, list[Node]]
    labels: Node
    changes: dict[str, str]
    """In a difference, what became of a record, by name."""


def _render_table(state: RenderState, node: Node) -> Markup:
    table = _read_table(node)
    if read_choice(table.view, "type", "grid", "cards") == "cards":
        return _render_cards(state, table)
    return _render_grid(state, table, is_wide=read_data(node).get("fullWidth") is True)


def _read_table(node: Node) -> _Table:
    data = read_data(node)
    view, definition, labels = (_read_object(data, name) for name in ("view", "definition", "labels"))
    known = {str(name): one for name, one in definition.items() if isinstance(one, dict)}
    named = view.get("columns")
    names = (
        [name for name in named if isinstance(name, str) and name in known] if isinstance(named, list) else list(known)
    )
    records = [(str(name), one) for name, one in _read_object(data, "records").items() if isinstance(one, dict)]
    # What a record has no index for stands where it is written.
    records.sort(key=lambda record: str(record[1].get("orderIndex", "")))
    held = [one for one in read_nodes(node, "fragments") if isinstance(one.get("fragment"), str)]
    return _Table(
        view,
        known,
        [Column(name, known[name]) for name in dict.fromkeys(names)],
        [(name, _read_object(record, "values")) for name, record in records],
        {str(one["fragment"]): read_nodes(one) for one in held},
        labels,
        {name: read_text(record, "change") for name, record in records},
    )


def _read_object(data: Node, name: str) -> Node:
    value = data.get(name)
    return value if isinstance(value, dict) else {}


def _render_grid(state: RenderState, table: _Table, *, is_wide: bool) -> Markup:
    head = EMPTY
    if table.view.get("hideHeader") is not True:
        cells = [_write_heading(state, table, column) for column in table.columns]
        head = write_element("thead", write_element("tr", join_markup(cells))) if any(cells) else EMPTY
    rows = [
        write_element(
            "tr",
            join_markup([_render_grid_cell(state, table, name, values, one) for one in table.columns]),
            class_=_ROWS.get(table.changes[name]),
        )
        for name, values in table.records
    ]
    body = write_element("tbody", join_markup(rows))
    inner = write_element("table", _write_widths(table) + head + body, dir=find_box_direction(head + body))
    return write_element("div", inner, class_="b-table b-wide" if is_wide else "b-table", tabindex="0")


def _write_heading(state: RenderState, table: _Table, column: Column) -> Markup:
    title = _render_title(state, table, column)
    return write_element("th", title, scope="col", class_=_write_alignment(column), dir=find_direction(title))


def _render_title(state: RenderState, table: _Table, column: Column) -> Markup:
    if column.name in table.fragments:
        return _render_blocks(state, table.fragments[column.name])
    title = read_text(column.definition, "title")
    state.words += len(title.split())
    return escape(title)


def _render_blocks(state: RenderState, nodes: list[Node]) -> Markup:
    """What stands in a cell: one paragraph needs no element of its own."""
    if len(nodes) == 1 and read_kind(nodes[0]) == "paragraph":
        return render_line(state, read_nodes(nodes[0]))
    return state.render_nodes(nodes)


def _write_alignment(column: Column) -> str | None:
    across = read_choice(column.definition, "textAlignment", *_ALIGNED)
    up = read_choice(column.definition, "verticalAlignment", "top", "middle", "bottom")
    classes = [f"b-align-{across}"] if across != "left" else []
    classes += [f"b-{up}"] if up != "top" else []
    return " ".join(classes) or None


def _write_widths(table: _Table) -> Markup:
    widths = _read_object(table.view, "columnWidths")
    found = [read_number(widths, column.name) for column in table.columns]
    if not any(found):
        return EMPTY
    shown = (str(round(width)) if width and 0 < width < 5000 else None for width in found)
    return write_element("colgroup", join_markup([write_opening("col", width=width) for width in shown]))


def _render_grid_cell(state: RenderState, table: _Table, record: str, values: Node, column: Column) -> Markup:
    content = _render_value(state, table, record, values, column)
    return write_element("td", content, class_=_write_alignment(column), dir=find_direction(content))


def _render_value(state: RenderState, table: _Table, record: str, values: Node, column: Column) -> Markup:
    value = values.get(column.name)
    if isinstance(value, str) and value in table.fragments:
        return _render_blocks(state, table.fragments[value])
    return render_cell(state, column, value, table.labels.get(f"{record}{column.name}"))


def _render_cards(state: RenderState, table: _Table) -> Markup:
    size = read_choice(table.view, "cardSize", "medium", "large")
    cards = [_render_card(state, table, record, values) for record, values in table.records]
    return write_element("ul", join_markup(cards), class_=f"b-cards b-cards-{size}")


def _render_card(state: RenderState, table: _Table, record: str, values: Node) -> Markup:
    target = _find_role(state, table, values, "targetDefinition")
    cells = [
        {
            "title": _render_title(state, table, column) if column.is_named else EMPTY,
            "content": content,
            "kind": column.kind,
        }
        for column in table.columns
        if (content := _render_value(state, table, record, values, column))
    ]
    words = " ".join(collect_words([table.fragments.get(str(value)) for value in values.values()]).split())
    return render_template(
        "blocks/card.html",
        address=target.address if target else "",
        label=(target.title if target else "") or words[:100],
        covers=list(_find_covers(state, table, values)),
        cells=cells,
    )


def _find_covers(state: RenderState, table: _Table, values: Node) -> Iterator[tuple[str, str]]:
    """The addresses of the images on a card, each with its class; one that is not loaded is left out."""
    light = _find_role(state, table, values, "coverDefinition")
    dark = _find_role(state, table, values, "coverDefinitionDark")
    for target, class_ in ((light, "b-only-light" if dark else ""), (dark, "b-only-dark" if light else "")):
        address = check_picture(target.address) if target is not None else None
        if target is not None and address is not None and state.loads_picture(target, address):
            yield address, class_


def _find_role(state: RenderState, table: _Table, values: Node, role: str) -> Target | None:
    name = table.view.get(role)
    return find_target(state, values.get(name)) if isinstance(name, str) else None


TABLE_BLOCKS: Mapping[str, Callable[[RenderState, Node], Markup]] = {"table": _render_table}
