"""Tables as the platform writes them in HTML, and the grids that they are."""

from collections.abc import Callable, Mapping, Sequence

from syncd.layout.richtext.attributes import BARE, FLAG, NUMBER, NodeMember, make_choice, read_members, write_members
from syncd.layout.richtext.html.cells import FIT_VALUES, TYPES, Cell, read_fit
from syncd.layout.richtext.html.elements import (
    Content,
    Element,
    ReadLine,
    WriteLine,
    list_only_elements,
    write_html_tag,
)
from syncd.layout.richtext.html.grids import (
    ALIGNMENT,
    OPTION,
    ROLES,
    TABLE_MEMBERS,
    VIEW_DEFAULTS,
    Column,
    Grid,
    make_table,
    read_grid,
)
from syncd.layout.richtext.nodes import Node
from syncd.layout.richtext.plain_page import COLUMNS_MAX

ReadCell = Callable[[Content], list[Node] | None]
WriteCell = Callable[[Sequence[Node]], str | None]

_VIEW: Mapping[str, NodeMember] = {
    "data-view": NodeMember("type", make_choice(*VIEW_DEFAULTS)),
    "data-card-size": NodeMember("cardSize", make_choice("small", "medium", "large")),
    "data-column-title-hidden": NodeMember("hideColumnTitle", BARE),
    "data-card-wrap": NodeMember("wrap", FLAG),
    "data-header-hidden": NodeMember("hideHeader", BARE),
    "data-search": NodeMember("search", FLAG),
    "data-full-width": NodeMember("fullWidth", FLAG),
}
_ROLES = dict(zip(("data-card-target", "data-card-cover", "data-card-cover-dark"), ROLES, strict=True))
_COLUMN: Mapping[str, NodeMember] = {
    "width": NodeMember("width", NUMBER),
    **ALIGNMENT,
    "data-hidden": NodeMember("hidden", BARE),
    **{name: NodeMember(role, BARE) for name, role in _ROLES.items()},
    "data-type": NodeMember("type", make_choice(*(TYPES - {"text", "select"}))),
    "data-max": NodeMember("max", NUMBER),
}
_FIT = "data-object-fit"


def read_html_table(element: Element, read_cell: ReadCell, read_title: ReadLine) -> Node | None:
    """Return the block of a table element; None when it is not one of the platform's.

    Shape: `read_cell` reads the content of a cell, and `read_title` that of the head of a column.
    """
    grid = _read_grid(element, read_cell, read_title)
    return None if grid is None else make_table(grid)


def write_html_table(node: Node, write_cell: WriteCell, write_title: WriteLine) -> str | None:
    """Return a table as HTML; None when HTML of the platform cannot express it.

    Shape: `write_cell` writes the content of a cell, and `write_title` that of the head of a column.
    """
    grid = read_grid(node)
    if grid is None:
        return None
    attributes = _write_view(grid.view)
    heads = [head for column in grid.columns if (head := _write_column(column, write_title)) is not None]
    rows = [row for cells in grid.cells if (row := _write_row(cells, grid.columns, write_cell)) is not None]
    if attributes is None or len(heads) < len(grid.columns) or len(rows) < len(grid.cells):
        return None
    head, body = f"<tr>{''.join(heads)}</tr>", "".join(rows)
    return f"{write_html_tag('table', attributes)}<thead>{head}</thead><tbody>{body}</tbody></table>"


def normalise_table(node: Node) -> Node | None:
    """Return a table as its HTML would be read; None when it has no HTML."""
    grid = read_grid(node)
    if grid is None:
        return None
    table = make_table(grid)
    return table if "html" not in node["data"] else table | {"data": table["data"] | {"html": True}}


def _read_grid(element: Element, read_cell: ReadCell, read_title: ReadLine) -> Grid | None:
    parts = list_only_elements(element.content)
    if parts is None or [part.name for part in parts] != ["thead", "tbody"] or any(part.attributes for part in parts):
        return None
    heads, rows, view = _read_rows(parts[0], "th"), _read_rows(parts[1], "td"), read_members(element.attributes, _VIEW)
    if view is None or heads is None or rows is None or len(heads) != 1 or not 0 < len(heads[0]) <= COLUMNS_MAX:
        return None
    columns = [column for head in heads[0] if (column := _read_column(head, read_title)) is not None]
    if len(columns) < len(heads[0]) or any(len(row) != len(columns) for row in rows):
        return None
    view.setdefault("type", "grid")
    grid = Grid(view, columns, [])
    for row in rows:
        pairs = zip(row, columns, strict=True)
        cells = [cell for one, column in pairs if (cell := _read_cell(one, column, read_cell)) is not None]
        if len(cells) < len(columns):
            return None
        grid.cells.append(cells)
    return grid


def _read_rows(part: Element, name: str) -> list[list[Element]] | None:
    """The cells of each row; None when something else lies in between."""
    rows = list_only_elements(part.content)
    if rows is None or any(row.name != "tr" or row.attributes for row in rows):
        return None
    cells = [list_only_elements(row.content) for row in rows]
    found = [row for row in cells if row is not None and all(cell.name == name for cell in row)]
    return found if len(found) == len(rows) else None


def _write_view(view: Node) -> dict[str, str | None] | None:
    usual = {"type": "grid"} | VIEW_DEFAULTS[view["type"]]
    members = {member: value for member, value in view.items() if member not in usual or usual[member] != value}
    return write_members(dict(sorted(members.items(), key=lambda item: item[0] in TABLE_MEMBERS)), _VIEW)


def _read_column(head: Element, read_title: ReadLine) -> Column | None:
    members = read_members(head.attributes, _COLUMN)
    if members is None:
        return None
    content = list(head.content)
    if content and isinstance(content[-1], Element) and content[-1].name == "select":
        options = _read_options(content.pop())
        if options is None or "type" in members:
            return None
        members |= {"type": "select"} | options
    roles = [role for role in members if role in ROLES]
    width, hidden = members.pop("width", None), members.pop("hidden", False)
    own = {member: value for member, value in members.items() if member not in ROLES}
    if (own.setdefault("type", "text") == "rating") is not ("max" in own):
        return None
    return Column(own, read_title(content), width, hidden, roles)


def _read_options(select: Element | str) -> Node | None:
    if not isinstance(select, Element) or select.attributes not in ({}, {"multiple": None}):
        return None
    options = list_only_elements(select.content)
    if options is None or any(option.name != "option" or option.content for option in options):
        return None
    if any(option.attributes.keys() != OPTION or None in option.attributes.values() for option in options):
        return None
    return {"multiple": "multiple" in select.attributes, "options": [dict(option.attributes) for option in options]}


def _write_column(column: Column, write_title: WriteLine) -> str | None:
    type, title = column.definition["type"], write_title(column.title)
    members: Node = {} if column.width is None else {"width": column.width}
    members |= ({"hidden": True} if column.hidden else {}) | dict.fromkeys(column.roles, True)
    members |= {} if type in ("text", "select") else {"type": type}
    members |= {"max": column.definition.get("max")} if type == "rating" else {}
    attributes = write_members(members, _COLUMN)
    if attributes is None or column.alignment is None or title is None:
        return None
    # The width stands first, the alignment second.
    ordered = {name: attributes.pop(name) for name in ("width",) if name in attributes} | dict(column.alignment)
    options = _write_options(column.definition) if type == "select" else ""
    return f"{write_html_tag('th', ordered | attributes)}{title}{options}</th>"


def _write_options(definition: Node) -> str:
    options = "".join(f"{write_html_tag('option', option)}</option>" for option in definition["options"])
    return f"{write_html_tag('select', {'multiple': None} if definition['multiple'] else {})}{options}</select>"


def _read_cell(element: Element, column: Column, read_cell: ReadCell) -> Cell | None:
    attributes = dict(element.attributes)
    fit = FIT_VALUES.read(attributes.pop(_FIT) or "") if _FIT in attributes and _is_image_column(column) else None
    if attributes != column.alignment or (_FIT in element.attributes and fit is None):
        return None
    if column.cells is not None:
        return column.cells.read(element.content, fit) if element.content or fit is None else None
    blocks = read_cell(element.content)
    return None if blocks is None else (blocks, None)


def _write_row(cells: Sequence[Cell], columns: Sequence[Column], write_cell: WriteCell) -> str | None:
    pieces: list[str] = []
    for (value, words), column in zip(cells, columns, strict=True):
        content = write_cell(value) if column.cells is None else column.cells.write(value, words)
        if content is None:
            return None
        fit = {_FIT: read_fit(value)} if _is_image_column(column) and read_fit(value) else {}
        pieces.append(f"{write_html_tag('td', {**(column.alignment or {}), **fit})}{content}</td>")
    return f"<tr>{''.join(pieces)}</tr>"


def _is_image_column(column: Column) -> bool:
    return bool(column.definition["type"] == "image")
