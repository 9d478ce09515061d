"""Tables of a PDF: what a cell says and where it leads, and how wide the columns are."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fpdf import FPDF
from fpdf.enums import Align
from fpdf.fonts import FontFace

from syncd.platform.services.pdf.fonts import Fonts
from syncd.platform.services.pdf.lines import BLACK, LINK, PAPER, WHITE, LineWriter, Run, compute_line_height
from syncd.platform.services.pdf.texts import is_right_to_left, join_text, list_nodes

MEASURED_MAX = 200
"""Rows by which the width of a column is decided."""
SIZE_PT = 9.0
"""Letters of a table. Units: points."""
_ROOM, _LEAST = 2.5, 5.0
"""Beside the words of a cell, and of a column at least. Units: millimetres."""
_LETTERS_MAX = 40
"""A cell with fewer letters stands on one sheet, however narrow its column is."""
_RULE = (190, 190, 190)
_SIDES: Mapping[str, Align] = {"left": Align.L, "center": Align.C, "right": Align.R}

Node = Mapping[str, Any]


@dataclass(frozen=True)
class Cell:
    """What a cell says, and where it leads."""

    text: str
    link: str = ""


@dataclass(frozen=True)
class TableReader:
    """Reads the cells of tables: `find_title` and `find_address` tell what data refer to, `names` those of files."""

    find_title: Callable[[Node], str]
    find_address: Callable[[Node], str]
    names: Mapping[str, Mapping[str, str]]

    def read_rows(self, node: Node) -> list[list[Cell]]:
        """Return the cells of a table, its heading first."""
        data = node.get("data") or {}
        fragments = {str(piece.get("fragment")): piece.get("nodes") for piece in node.get("fragments") or ()}
        columns = _read_columns(data)
        records = sorted((data.get("records") or {}).values(), key=lambda record: str(record.get("orderIndex", "")))
        rows = [record.get("values") or {} for record in records]
        heading = [Cell(str(column.get("title", ""))) for column in columns.values()]
        target = (data.get("view") or {}).get("targetDefinition")
        return [heading, *(self._read_row(row, row.get(target), columns, fragments) for row in rows)]

    def _read_row(self, row: Node, target: Any, columns: Mapping[str, Node], fragments: Node) -> list[Cell]:
        """The cells of a row; the first with words leads where a card does, unless it leads somewhere itself."""
        cells = [self._read_cell(row.get(name), columns[name], fragments) for name in columns]
        link = self.find_address({"ref": target.get("ref", target)}) if isinstance(target, Mapping) else ""
        first = next((number for number, cell in enumerate(cells) if cell.text), None)
        if link and first is not None and not cells[first].link:
            cells[first] = Cell(cells[first].text, link)
        return cells

    def _read_cell(self, value: Any, column: Node, fragments: Node) -> Cell:
        """One cell; in a column of text, `value` is the name of a fragment."""
        if isinstance(value, list):
            options = {str(option.get("value")): str(option.get("label")) for option in column.get("options") or ()}
            return Cell(", ".join(self._name_value(one, options) for one in value))
        if isinstance(value, Mapping):
            ref = {"ref": value.get("ref", value)}
            return Cell(self.find_title(ref).strip(), self.find_address(ref))
        if isinstance(value, bool):
            return Cell("[x]" if value else "[ ]")
        if str(value) not in fragments:
            return Cell("" if value is None else str(value))
        nodes = list(list_nodes(fragments[str(value)]))
        found = (self.find_address(node.get("data") or {}) for node in nodes if node.get("type") == "link")
        links = [address for address in found if address]
        # A cell is one text: it leads where its only link does.
        return Cell(join_text(fragments[str(value)]).strip(), links[0] if len(links) == 1 else "")

    def _name_value(self, value: Any, options: Mapping[str, str]) -> str:
        if isinstance(value, Mapping):
            return self.find_title({"ref": value})
        return str(self.names.get(str(value), {}).get("name") or options.get(str(value), value))


def list_sides(node: Node) -> list[Align]:
    """Return on which side the words of each column stand."""
    columns = _read_columns(node.get("data") or {}).values()
    return [_SIDES.get(str(column.get("textAlignment")), Align.L) for column in columns]


def draw_rows(pdf: FPDF, fonts: Fonts, rows: Sequence[Sequence[Cell]], sides: Sequence[Align]) -> None:
    """Draw a table from margin to margin; where it goes on, its heading stands again. A column without words is left
    out. What has no room as a table is drawn row by row.
    """
    shown = [number for number in range(len(rows[0])) if any(cells[number].text for cells in rows)]
    if not shown:
        return
    rows, sides = [[cells[number] for number in shown] for cells in rows], [sides[number] for number in shown]
    fonts.use("text", "", SIZE_PT)
    spelled = [[Cell(fonts.spell(cell.text), cell.link) for cell in cells] for cells in rows]
    widths = list(_spread_widths(pdf, spelled))
    if _has_room(pdf, spelled, widths):
        _draw_table(pdf, spelled, sides, widths)
    else:
        _draw_records(LineWriter(pdf, fonts, SIZE_PT), pdf, rows)


def _has_room(pdf: FPDF, rows: Sequence[Sequence[Cell]], widths: Sequence[float]) -> bool:
    """Whether every column can have words, and every row stands on one sheet."""
    lines = 0.45 * pdf.eph / compute_line_height(SIZE_PT)
    return min(widths) >= _LEAST and all(
        len(cell.text) < _LETTERS_MAX or _measure(pdf, [cell.text]) / width + cell.text.count("\n") < lines
        for cells in rows
        for cell, width in zip(cells, widths, strict=True)
    )


def _draw_records(lines: LineWriter, pdf: FPDF, rows: Sequence[Sequence[Cell]]) -> None:
    for cells in rows[1:]:
        for name, cell in zip(rows[0], cells, strict=True):
            if cell.text:
                title = [Run(f"{name.text}: ", "B")] if name.text else []
                lines.write_runs([*title, Run(cell.text, link=cell.link)])
                pdf.ln(compute_line_height(SIZE_PT))
        pdf.ln(compute_line_height(SIZE_PT) / 2)


def _draw_table(pdf: FPDF, rows: Sequence[Sequence[Cell]], sides: Sequence[Align], widths: Sequence[float]) -> None:
    is_right = is_right_to_left(" ".join(cell.text for cells in rows[:3] for cell in cells))
    has_heading = any(cell.text for cell in rows[0])
    pdf.set_draw_color(*_RULE)
    with pdf.table(
        line_height=compute_line_height(SIZE_PT),
        col_widths=tuple(widths[::-1] if is_right else widths),
        first_row_as_headings=has_heading,
        headings_style=FontFace(emphasis="B", color=BLACK, fill_color=PAPER),
    ) as table:
        for number, cells in enumerate(rows[not has_heading :], not has_heading):
            row = table.row()
            beside = list(zip(cells, sides, strict=True))
            for cell, side in beside[::-1] if is_right else beside:
                look = FontFace(color=LINK if cell.link else BLACK, fill_color=WHITE) if number else None
                begins_right = side is Align.L and (is_right or is_right_to_left(cell.text))
                row.cell(cell.text, align=Align.R if begins_right else side, link=cell.link or None, style=look)


def _read_columns(data: Node) -> Mapping[str, Node]:
    definition: Mapping[str, Any] = data.get("definition") or {}
    return {name: definition.get(name) or {} for name in (data.get("view") or {}).get("columns") or definition}


def _spread_widths(pdf: FPDF, rows: Sequence[Sequence[Cell]]) -> Iterator[float]:
    """The width of each column: first for its longest word, up to an even share, then for all that a line may take."""
    share = pdf.epw / len(rows[0])
    columns = list(zip(*rows[:MEASURED_MAX], strict=True))
    whole = [max(_measure(pdf, cell.text.split("\n")) for cell in column) for column in columns]
    words = [max(_measure(pdf, cell.text.split()) for cell in column) for column in columns]
    least = [min(width, share) for width in words]
    wished = [max(width - floor, 0.0) for width, floor in zip(whole, least, strict=True)]
    left = pdf.epw - sum(least)
    for floor, more in zip(least, wished, strict=True):
        yield floor + (left * more / sum(wished) if any(wished) else left / len(least))


def _measure(pdf: FPDF, texts: Sequence[str]) -> float:
    return max((pdf.get_string_width(text) for text in texts), default=0.0) * 1.06 + 2 * pdf.c_margin + _ROOM
