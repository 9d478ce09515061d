"""Tables of Markdown as the platform keeps them: columns, records, and a fragment for what stands in a cell."""

from collections.abc import Sequence

from markdown_it.token import Token

from syncd.layout.richtext.inline.expressible import are_inlines_expressible
from syncd.layout.richtext.inline.reading import read_inlines
from syncd.layout.richtext.inline.writing import write_inlines
from syncd.layout.richtext.nodes import (
    Node,
    collect_text,
    make_block,
    make_fragment,
    make_paragraph,
    make_text,
    read_fragments,
)

_ALIGNED = {"left": ":{}-", "center": ":{}:", "right": "-{}:"}
_COLUMN = frozenset({"id", "title", "type", "textAlignment", "aligned"})
_WIDEST = 100
"""Characters up to which the cells of a column are padded to one width; one long cell may not blow up all others."""


def read_pipe_table(tokens: Sequence[Token]) -> Node:
    """Return the block of a table's tokens.

    Shape: columns are named "c0", "c1" …, records "r0", "r1" …, fragments "r0c0" …; a heading that is more than plain
    text has a fragment under the name of its column. The platform aligns every column: `aligned` says that the page
    does, too.
    """
    rows: list[list[list[Node]]] = []
    aligns: list[str] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "th_open":
            aligns.append(str(token.attrs.get("style", "")).removeprefix("text-align:"))
        elif token.type == "inline":
            rows[-1].append(read_inlines(token.children))
    names = [f"c{number}" for number in range(len(aligns))]
    cells: dict[str, list[Node]] = {}
    definition: Node = {}
    for name, align, nodes in zip(names, aligns, rows[0], strict=True):
        title = "".join(map(collect_text, nodes))
        definition[name] = {"id": name, "title": title, "type": "text", "textAlignment": align or "left"}
        definition[name] |= {"aligned": True} if align == "left" else {}
        if nodes != [make_text(title)]:
            cells[name] = nodes
    records: Node = {}
    for number, row in enumerate(rows[1:]):
        values = {name: f"r{number}{name}" for name in names}
        cells |= dict(zip(values.values(), row, strict=True))
        records[f"r{number}"] = {"orderIndex": f"{number:06}", "values": values}
    view = {"type": "grid", "columns": names, "hideHeader": False}
    data = {"view": view, "definition": definition, "records": records}
    return make_block(
        "table", data, fragments=[make_fragment(name, [make_paragraph(nodes)]) for name, nodes in cells.items()]
    )


def write_pipe_table(node: Node) -> str | None:
    """Return the Markdown of a table; None when it is more than columns of text under a header."""
    found = _extract_grid(node)
    if found is None:
        return None
    aligns, rows = found
    cells = [[_format_cell(nodes) for nodes in row] for row in rows]
    widths = [min(_WIDEST, max(3, *(len(row[at]) for row in cells))) for at in range(len(aligns))]
    lines = [" | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
    rules = [_ALIGNED.get(align, "-{}-").format("-" * (width - 2)) for align, width in zip(aligns, widths, strict=True)]
    lines.insert(1, " | ".join(rules))
    return "\n".join(f"| {line} |" for line in lines)


def _format_cell(nodes: list[Node]) -> str:
    return write_inlines(nodes, breaks=False).replace("|", "\\|").replace("\n", " ")


def _extract_grid(node: Node) -> tuple[list[str], list[list[list[Node]]]] | None:
    """How the columns are aligned, and the nodes of each cell, the header first."""
    data, held = node.get("data"), read_fragments(node)
    columns, rows = _read_columns(data), _read_rows(data)
    if held is None or columns is None or rows is None or any(row.keys() != columns.keys() for row in rows):
        return None
    cells = {name: nodes for name, blocks in held.items() if (nodes := _read_cell_inlines(blocks)) is not None}
    named = [*(row[name] for row in rows for name in columns)]
    headers = held.keys() & columns.keys() - set(named)
    # What is kept nowhere but in a fragment may neither be left out nor be said twice.
    if len(cells) < len(held) or len(set(named)) < len(named) or set(named) | headers != held.keys():
        return None
    header = [cells[name] if name in headers else [make_text(column["title"])] for name, column in columns.items()]
    return list(map(_read_alignment, columns.values())), [
        header,
        *([cells[row[name]] for name in columns] for row in rows),
    ]


def _read_columns(data: object) -> dict[str, Node] | None:
    """The columns of a table, in order; None when they are more than titles and how text is aligned."""
    if not isinstance(data, dict) or data.keys() != {"view", "definition", "records"}:
        return None
    view, definition = data["view"], data["definition"]
    names = view.get("columns") if isinstance(view, dict) else None
    if not isinstance(names, list) or view != {"type": "grid", "columns": names, "hideHeader": False}:
        return None
    if not names or not isinstance(definition, dict) or not all(isinstance(name, str) for name in names):
        return None
    if len(set(names)) < len(names) or set(names) != definition.keys():
        return None
    return {name: definition[name] for name in names} if all(map(_is_column, definition.values())) else None


def _read_rows(data: object) -> list[dict[str, str]] | None:
    """The fragment of each cell, by column, row by row; None when a record holds anything else."""
    records = data.get("records") if isinstance(data, dict) else None
    if not isinstance(records, dict) or not all(map(_is_record, records.values())):
        return None
    order = [record["orderIndex"] for record in records.values()]
    return [record["values"] for record in records.values()] if order == sorted(order) else None


def _is_column(column: object) -> bool:
    if not isinstance(column, dict) or column.keys() - _COLUMN or column.get("type") != "text":
        return False
    align = column.get("textAlignment")
    return (
        isinstance(column.get("title"), str)
        and isinstance(align, str)
        and align in _ALIGNED
        and column.get("aligned", True) is True
    )


def _read_alignment(column: Node) -> str:
    align = str(column["textAlignment"])
    return "" if align == "left" and "aligned" not in column else align


def _is_record(record: object) -> bool:
    if not isinstance(record, dict) or record.keys() != {"orderIndex", "values"}:
        return False
    values = record["values"]
    named = isinstance(values, dict) and all(isinstance(name, str) for name in values.values())
    return named and isinstance(record["orderIndex"], str)


def _read_cell_inlines(nodes: list[Node]) -> list[Node] | None:
    """The words of a cell; None when it holds more than one plain paragraph."""
    if len(nodes) != 1 or nodes[0].get("type") != "paragraph" or nodes[0].get("data"):
        return None
    if nodes[0].keys() - {"object", "type", "key", "isVoid", "data", "nodes"} or not are_inlines_expressible(
        nodes[0].get("nodes")
    ):
        return None
    found: list[Node] = nodes[0]["nodes"]
    return found
