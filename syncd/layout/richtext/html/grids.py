"""Tables between their nodes and their HTML: cards, widths, hidden columns, columns of other types and rich cells.

Shape: columns, records and fragments are named as in `tables`, since their names are not in the HTML; `labels` has the
words of a cell that holds a reference, where they are not the end of its address.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from syncd.layout.richtext.attributes import NodeMember, make_choice, write_members, write_number
from syncd.layout.richtext.html.cells import NO_VALUE, TYPES, Cell, CellType, is_label, make_cell_labels
from syncd.layout.richtext.html.elements import Attributes
from syncd.layout.richtext.nodes import (
    Node,
    collect_text,
    is_nodes,
    make_block,
    make_fragment,
    make_paragraph,
    make_text,
    read_fragments,
)
from syncd.layout.richtext.plain_page import COLUMNS_MAX

VIEW_DEFAULTS: Mapping[str, Node] = {"grid": {"hideHeader": False}, "cards": {"cardSize": "medium"}}
"""What every view of a type has; no attribute says it."""
TABLE_MEMBERS = frozenset({"search", "fullWidth"})
"""Members of a table that stand beside its view."""
ROLES = ("targetDefinition", "coverDefinition", "coverDefinitionDark")
"""Members of a view that name one column."""
OPTION = {"value", "label", "color"}
"""The members of an option to select."""
ALIGNMENT: Mapping[str, NodeMember] = {
    "align": NodeMember("textAlignment", make_choice("left", "center", "right")),
    "valign": NodeMember("verticalAlignment", make_choice("top", "middle", "bottom")),
}
"""Attributes of a column that each of its cells has, too."""

_MEMBERS = frozenset({"view", "definition", "records", "labels", "html", *TABLE_MEMBERS})
_OF_COLUMNS = frozenset({"columns", "columnWidths", *ROLES})
"""Members of a view that HTML says at its columns."""
_OF_TYPES: Mapping[str, tuple[str, ...]] = {"rating": ("max",), "select": ("multiple", "options")}
"""Members of a definition that only columns of one type have."""
_ALIGNMENTS = frozenset(value.member for value in ALIGNMENT.values())

Fragments = dict[str, list[Node]]
"""The nodes of fragments by name; whoever reads some removes them, so that what is left has been passed over."""


@dataclass
class Column:
    """A column: what its definition says beside its id, and what the view says of it; `title` are inline nodes."""

    definition: Node
    title: list[Node]
    width: float | None = None
    hidden: bool = False
    roles: list[str] = field(default_factory=list)

    @cached_property
    def alignment(self) -> Attributes | None:
        """The attributes that each of its cells has; None when no attribute says how they are aligned."""
        members = {member: value for member, value in self.definition.items() if member in _ALIGNMENTS}
        return write_members(members, ALIGNMENT)

    @cached_property
    def cells(self) -> CellType | None:
        """What its cells hold; None for text."""
        if self.definition["type"] == "text":
            return None
        options = {option["value"]: option["label"] for option in self.definition.get("options", ())}
        return CellType(self.definition["type"], options)


@dataclass
class Grid:
    """A table.

    Shape: `view` has the members of the view that are of no column, and those beside it; `cells` has row by row each
    cell's value and, for a reference, its words; the value of a column of text are blocks.
    """

    view: Node
    columns: list[Column]
    cells: list[list[Cell]]


def read_grid(node: Node) -> Grid | None:
    """Return the grid of a table; None when it has members that HTML cannot express."""
    data, fragments = node.get("data"), read_fragments(node)
    if not isinstance(data, dict) or fragments is None or data.keys() - _MEMBERS:
        return None
    view, definition = data.get("view"), data.get("definition")
    if not isinstance(view, dict) or not isinstance(definition, dict) or not 0 < len(definition) <= COLUMNS_MAX:
        return None
    names = _order_columns(view, definition)
    columns = list(_read_columns(names, definition, view, fragments)) if names is not None else []
    if names is None or len(columns) != len(names):
        return None
    cells = _read_cells(data.get("records"), data.get("labels", {}), names, columns, fragments)
    if cells is None or fragments:
        return None
    members = {member: value for member, value in view.items() if member not in _OF_COLUMNS}
    return Grid(members | {member: data[member] for member in data if member in TABLE_MEMBERS}, columns, cells)


def make_table(grid: Grid) -> Node:
    """Return the table of a grid."""
    columns = {f"c{number}": column for number, column in enumerate(grid.columns)}
    view = {member: value for member, value in grid.view.items() if member not in TABLE_MEMBERS}
    view |= {member: value for member, value in VIEW_DEFAULTS[view["type"]].items() if member not in view}
    view["columns"] = [name for name, column in columns.items() if not column.hidden]
    if widths := {name: column.width for name, column in columns.items() if column.width is not None}:
        view["columnWidths"] = widths
    definition: dict[str, Node] = {}
    fragments: list[Node] = []
    for name, column in columns.items():
        view |= dict.fromkeys(column.roles, name)
        title = "".join(map(collect_text, column.title))
        aligned = {} if column.cells else {"textAlignment": "left"}
        definition[name] = {"id": name, "title": title} | aligned | column.definition
        if column.title != [make_text(title)]:
            fragments.append(make_fragment(name, [make_paragraph(column.title)]))
    records, labels = _make_records(grid, columns, fragments)
    data: Node = {"view": view, "definition": definition, "records": records} | ({"labels": labels} if labels else {})
    data |= {member: value for member, value in grid.view.items() if member in TABLE_MEMBERS}
    return make_block("table", data, fragments=fragments)


def _make_records(grid: Grid, columns: Mapping[str, Column], fragments: list[Node]) -> tuple[Node, Node]:
    """The records and the words of references; the blocks of cells are added to the fragments."""
    records: Node = {}
    labels: Node = {}
    for number, row in enumerate(grid.cells):
        values: Node = {}
        for (name, column), (value, label) in zip(columns.items(), row, strict=True):
            place = f"r{number}{name}"
            if column.cells is None:
                fragments.append(make_fragment(place, value))
                value = place
            if value is not NO_VALUE:
                values[name] = value
            if label is not None:
                labels[place] = label
        records[f"r{number}"] = {"orderIndex": f"{number:06}", "values": values}
    return records, labels


def _order_columns(view: Node, definition: Node) -> list[str] | None:
    """The columns in the order in which they stand: the shown ones as the view has them, hidden ones where they are."""
    shown, widths = view.get("columns"), view.get("columnWidths", {})
    named = [view[role] for role in ROLES if role in view]
    if str(view.get("type")) not in VIEW_DEFAULTS or not isinstance(shown, list) or not isinstance(widths, dict):
        return None
    if not all(isinstance(name, str) for name in (*shown, *named)):
        return None
    known = set(shown)
    if len(known) < len(shown) or not {*known, *named, *widths} <= definition.keys():
        return None
    visible = iter(shown)
    return [next(visible) if name in known else name for name in definition]


def _read_columns(names: Sequence[str], definition: Node, view: Node, fragments: Fragments) -> Iterator[Column]:
    """The columns, up to the first that HTML does not say."""
    for name in names:
        own, width = _find_own_members(definition[name]), view.get("columnWidths", {}).get(name)
        if own is None or (width is not None and write_number(width) is None):
            return
        title = fragments.pop(name) if name in fragments else [make_paragraph([make_text(definition[name]["title"])])]
        if len(title) != 1 or title[0].get("type") != "paragraph" or not is_nodes(title[0].get("nodes")):
            return
        roles = [role for role in view if role in ROLES and view[role] == name]
        yield Column(own, title[0]["nodes"], width, name not in view["columns"], roles)


def _find_own_members(definition: object) -> Node | None:
    """What a definition says beside id and title; None when HTML does not say all of it."""
    if not isinstance(definition, dict) or not isinstance(definition.get("title"), str):
        return None
    own = {member: value for member, value in definition.items() if member not in ("id", "title")}
    type = str(own.get("type"))
    if type not in TYPES or own.keys() - {"type", *_ALIGNMENTS, *_OF_TYPES.get(type, ())}:
        return None
    if type == "select" and not _has_options(own):
        return None
    if type == "text" and own.get("textAlignment") == "left":
        del own["textAlignment"]
    return own


def _has_options(own: Node) -> bool:
    options = own.get("options")
    if not isinstance(own.get("multiple"), bool) or not is_nodes(options):
        return False
    return all(one.keys() == OPTION and all(isinstance(value, str) for value in one.values()) for one in options)


def _read_cells(
    records: object, labels: object, names: Sequence[str], columns: Sequence[Column], fragments: Fragments
) -> list[list[Cell]] | None:
    """The cells row by row; None when a record holds anything else."""
    if not isinstance(records, dict) or not isinstance(labels, dict) or not all(map(_is_record, records.values())):
        return None
    rows: list[list[Cell]] = []
    for record, content in sorted(records.items(), key=lambda item: str(item[1]["orderIndex"])):
        values = content["values"]
        if not values.keys() <= set(names):
            return None
        row: list[Cell] = []
        for name, column in zip(names, columns, strict=True):
            value = values.get(name, NO_VALUE)
            if column.cells is None:
                value = _take_cell_blocks(value, fragments)
                if value is None:
                    return None
            elif value is NO_VALUE and column.cells.type in ("select", "files"):
                value = []
            kept, usual = labels.get(f"{record}{name}"), make_cell_labels(value)
            row.append((value, kept if kept != usual and is_label(kept, usual) else None))
        rows.append(row)
    return rows


def _is_record(record: object) -> bool:
    return isinstance(record, dict) and record.keys() == {"orderIndex", "values"} and isinstance(record["values"], dict)


def _take_cell_blocks(value: object, fragments: Fragments) -> list[Node] | None:
    """The blocks of a cell of text; None when they are nowhere."""
    if value is NO_VALUE:
        return [make_paragraph([make_text("")])]
    return fragments.pop(value) if isinstance(value, str) and value in fragments else None
