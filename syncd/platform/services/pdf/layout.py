"""Rich text on paper: headings, paragraphs, lists, quotes, hints, code, tables, images and links, and an outline."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fpdf import FPDF
from fpdf.enums import WrapMode
from fpdf.errors import FPDFException
from PIL import Image

from syncd.platform.services.pdf.fonts import Fonts
from syncd.web.pages.wording import find_text_direction
from syncd.web.rendering import Html

SHEETS_MAX = 3_000
"""Pages of paper."""
DEPTH_MAX = 24
"""Blocks within blocks that are indented and drawn as what they are."""

_TEXT_PT, _CODE_PT, _SMALL_PT = 10.5, 9.0, 8.0
_LINE = 1.45
"""Height of a line, in the size of its letters."""
_HEADINGS = {"heading-1": 18.0, "heading-2": 15.0, "heading-3": 12.5}
_TITLE_PT = 22.0
_MM_PER_POINT = 25.4 / 72
_MM_PER_PIXEL = 25.4 / 96
_INDENT = 6.0
_GAP = 2.5
_GREY, _LINK, _BLACK = (110, 110, 110), (30, 80, 170), (20, 20, 20)
_PAPER = (244, 244, 244)
_LINK_SCHEMES = ("http://", "https://", "mailto:")
"""Addresses that a reader of the PDF may follow."""

Node = Mapping[str, Any]


class _NumberedPdf(FPDF):
    """Paper with a number on each sheet."""

    sheet_fonts: Fonts

    def footer(self) -> None:
        """Write the number of the sheet."""
        if self.pages_count > SHEETS_MAX:
            raise FPDFException("too many sheets")
        self.set_y(-15)
        self.sheet_fonts.use("text", "", _SMALL_PT)
        self.set_text_color(*_GREY)
        self.cell(0, 8, str(self.page_no()), align="C")


class PdfLayout:
    """One PDF; `job` has a title and pages with their nodes, `images` is the directory of the images that it names."""

    def __init__(self, job: Mapping[str, Any], images: Path) -> None:
        self._job, self._images = job, images
        self._pdf = _NumberedPdf(format="A4")
        self._pdf.set_auto_page_break(True, margin=20)
        self._pdf.set_margins(20, 20)
        texts = (text for page in job["pages"] for text in (page["title"], *_list_texts(page["nodes"])))
        self._fonts = self._pdf.sheet_fonts = Fonts(self._pdf, (*texts, job["title"]))
        self._files: Mapping[str, Mapping[str, str]] = {}
        """Names of the files that the page at hand refers to, and their images, by id."""
        self._part = 0
        """The part of the page at hand: ids are those of a part."""
        self._titles = {(page["part"], page["id"]): page["title"] for page in job["pages"]}

    def draw(self) -> bytes:
        """Return the file."""
        self._pdf.set_title(self._fonts.spell(self._job["title"]))
        for page in self._job["pages"]:
            self._draw_page(page)
        if not self._job["pages"]:
            self._pdf.add_page()
        return bytes(self._pdf.output())

    def _draw_page(self, page: Mapping[str, Any]) -> None:
        self._files, self._part = page["files"], page["part"]
        self._pdf.add_page()
        self._pdf.set_link(name=f"{page['part']}/{page['id']}")
        title = self._fonts.spell(page["title"]) or "-"
        self._set_font("text", "B", _TITLE_PT)
        self._pdf.start_section(title, level=min(page["depth"], 5))
        self._pdf.multi_cell(
            0,
            _compute_line_height(_TITLE_PT),
            title,
            align="R" if _is_right_to_left(title) else "L",
            new_x="LMARGIN",
            new_y="NEXT",
        )
        self._pdf.ln(_GAP)
        self._draw_blocks(page["nodes"], 0)

    def _draw_blocks(self, nodes: list[Node], depth: int) -> None:
        for node in nodes:
            if node.get("object") == "block":
                self._draw_block(node, depth)

    def _draw_block(self, node: Node, depth: int) -> None:
        type, data = str(node.get("type")), node.get("data") or {}
        if type in _HEADINGS:
            self._draw_heading(node, _HEADINGS[type])
        elif type == "paragraph":
            self._draw_paragraph(node)
        elif type.startswith("list-") and type != "list-item":
            self._draw_list(node, depth, type)
        elif type in ("blockquote", "hint", "expandable"):
            self._draw_aside(node, depth)
        elif type in ("code", "math"):
            self._draw_code(
                str(data.get("formula", "")) or "\n".join(_join_text(line) for line in node.get("nodes") or ())
            )
        elif type == "table":
            self._draw_table(node)
        elif type in ("image", "drawing"):
            self._draw_image(data, _join_text(_find_caption(node)))
        elif type == "divider":
            self._draw_rule()
        elif type == "integration" and isinstance(source := (data.get("props") or {}).get("content"), str):
            self._draw_code(source)
        else:
            if type == "update" and isinstance(date := data.get("date"), str):
                self._draw_line(date, "B")
            self._draw_other(node, depth)

    def _draw_heading(self, node: Node, size: float) -> None:
        if self._pdf.will_page_break(3 * _compute_line_height(size)):
            self._pdf.add_page()
        self._pdf.ln(_GAP)
        self._draw_runs(node.get("nodes") or [], size, "B")
        self._end_line(size)

    def _draw_paragraph(self, node: Node) -> None:
        self._draw_runs(node.get("nodes") or [], _TEXT_PT, "")
        self._end_line(_TEXT_PT)

    def _draw_list(self, node: Node, depth: int, type: str) -> None:
        first = (node.get("data") or {}).get("start", 1)
        start = first if isinstance(first, int) else 1
        for at, item in enumerate(node.get("nodes") or ()):
            done = (item.get("data") or {}).get("checked")
            sign = {"list-ordered": f"{start + at}.", "list-tasks": "[x]" if done else "[ ]"}.get(type, "-")
            self._set_font("text", "", _TEXT_PT)
            is_right = _is_right_to_left(_join_text(item))
            self._pdf.set_x(self._pdf.w - self._pdf.r_margin - _INDENT if is_right else self._pdf.l_margin)
            self._pdf.cell(_INDENT, _compute_line_height(_TEXT_PT), sign, align="R" if is_right else "L")
            with self._indent(depth, is_right=is_right):
                self._pdf.set_x(self._pdf.l_margin)
                self._draw_blocks(item.get("nodes") or [], depth + 1)

    def _draw_aside(self, node: Node, depth: int) -> None:
        top, sheet = self._pdf.get_y(), self._pdf.page_no()
        with self._indent(depth):
            self._pdf.set_x(self._pdf.l_margin)
            self._draw_other(node, depth)
        bottom = self._pdf.get_y() - _GAP
        self._pdf.set_draw_color(*_GREY)
        start = top if sheet == self._pdf.page_no() else self._pdf.t_margin
        self._pdf.line(self._pdf.l_margin + 1, start, self._pdf.l_margin + 1, max(start, bottom))

    def _draw_other(self, node: Node, depth: int) -> None:
        """What only holds something, in nodes or fragments, and what this module does not know."""
        children = [child for piece in node.get("fragments") or () for child in piece.get("nodes") or ()]
        nodes = [*children, *(node.get("nodes") or ())]
        if any(child.get("object") == "block" for child in nodes):
            title = (node.get("data") or {}).get("title")
            if isinstance(title, str) and title:
                self._draw_line(title, "B")
            self._draw_blocks(nodes, depth + 1)
        elif nodes:
            self._draw_runs(nodes, _TEXT_PT, "")
            self._end_line(_TEXT_PT)
        elif words := self._find_title(node.get("data") or {}):
            self._draw_link(words, self._find_address(node["data"]))
            self._end_line(_TEXT_PT)

    def _draw_code(self, text: str) -> None:
        self._set_font("code", "", _CODE_PT)
        self._pdf.set_fill_color(*_PAPER)
        spelled = self._fonts.spell(text.replace("\t", "    ")) or " "
        for line in spelled.split("\n"):
            self._pdf.set_x(self._pdf.l_margin)
            height = _compute_line_height(_CODE_PT)
            self._pdf.multi_cell(
                *(0, height, line or " "), fill=True, align="L", new_x="LMARGIN", new_y="NEXT", wrapmode=WrapMode.CHAR
            )
        self._pdf.ln(_GAP)

    def _draw_table(self, node: Node) -> None:
        rows = self._build_rows(node)
        if not rows or not rows[0]:
            return
        self._set_font("text", "", _SMALL_PT + 1)
        with self._pdf.table(line_height=_compute_line_height(_SMALL_PT + 1), first_row_as_headings=True) as table:
            for cells in rows:
                row = table.row()
                for cell in cells:
                    row.cell(self._fonts.spell(cell.strip()))
        self._pdf.ln(_GAP)

    def _build_rows(self, node: Node) -> list[list[str]]:
        """The cells of a table as text, its heading first."""
        data = node.get("data") or {}
        texts = {str(piece.get("fragment")): _join_text(piece.get("nodes")) for piece in node.get("fragments") or ()}
        definition: Mapping[str, Any] = data.get("definition") or {}
        columns = {name: definition.get(name) or {} for name in (data.get("view") or {}).get("columns") or definition}
        records = sorted((data.get("records") or {}).values(), key=lambda record: str(record.get("orderIndex", "")))
        rows = [record.get("values") or {} for record in records]
        heading = [str(column.get("title", "")) for column in columns.values()]
        return [
            heading,
            *([self._format_cell(row.get(name), columns[name], texts) for name in columns] for row in rows),
        ]

    def _format_cell(self, value: Any, column: Mapping[str, Any], texts: Mapping[str, str]) -> str:
        """What a cell says; in one of text, `value` is the name of a fragment."""
        if isinstance(value, list):
            options = {str(option.get("value")): str(option.get("label")) for option in column.get("options") or ()}
            return ", ".join(
                self._find_title({"ref": one})
                if isinstance(one, Mapping)
                else str(self._files.get(str(one), {}).get("name") or options.get(str(one), one))
                for one in value
            )
        if isinstance(value, Mapping):
            return self._find_title({"ref": value.get("ref", value)})
        if isinstance(value, bool):
            return "[x]" if value else "[ ]"
        return "" if value is None else texts.get(str(value), str(value))

    def _draw_image(self, data: Mapping[str, Any], caption: str = "") -> None:
        name = self._find_image_name(data)
        caption = caption or str(data.get("caption") or "")
        is_drawn = name is not None and self._draw_image_file(self._images / name)
        if words := caption or ("" if is_drawn else str(data.get("alt") or "") or "[image]"):
            self._draw_line(words, "I")

    def _draw_image_file(self, file: Path) -> bool:
        try:
            # Few decoders see a file from outside, and none that runs what is in it.
            with Image.open(file, formats=("PNG", "JPEG", "GIF", "WEBP")) as image:
                width = min(self._pdf.epw, image.width * _MM_PER_PIXEL)
                height = width * image.height / image.width
                limit = self._pdf.eph * 0.9
                if height > limit:
                    width, height = width * limit / height, limit
                self._pdf.image(image, w=width, h=height)
        except (OSError, ValueError, SyntaxError, FPDFException, Image.DecompressionBombError):
            return False
        self._pdf.ln(_GAP)
        return True

    def _draw_rule(self) -> None:
        self._pdf.set_draw_color(*_GREY)
        self._pdf.line(self._pdf.l_margin, self._pdf.get_y(), self._pdf.w - self._pdf.r_margin, self._pdf.get_y())
        self._pdf.ln(2 * _GAP)

    def _draw_runs(self, nodes: list[Node], size: float, style: str) -> None:
        text = "".join(_join_text(node) or _find_label(node.get("data") or {}) for node in nodes)
        if _is_right_to_left(text):
            self._draw_right_runs(nodes, text, size, style)
            return
        for node in nodes:
            if node.get("object") == "text":
                for leaf in node.get("leaves") or ():
                    self._draw_leaf(leaf, size, style)
            elif node.get("type") == "link":
                self._draw_link(_join_text(node), self._find_address(node.get("data") or {}), size)
            elif node.get("type") == "inline-image":
                self._draw_inline_image(node.get("data") or {})
            else:
                self._write_text(_join_text(node) or _find_label(node.get("data") or {}), size, style)

    def _draw_right_runs(self, nodes: list[Node], text: str, size: float, style: str) -> None:
        """A line from the right, as one text: only so can it be put in order. It leads where its only link does."""
        found = (self._find_address(node.get("data") or {}) for node in nodes if node.get("type") == "link")
        links = [address for address in found if address]
        link = links[0] if len(links) == 1 else ""
        self._set_font("text", style, size, _LINK if link else _BLACK)
        spelled = self._fonts.spell(text)
        self._pdf.multi_cell(0, _compute_line_height(size), spelled, align="R", new_y="LAST", link=link)
        for node in nodes:
            if node.get("type") == "inline-image":
                self._draw_inline_image(node.get("data") or {})

    def _draw_leaf(self, leaf: Node, size: float, style: str) -> None:
        marks = {mark.get("type") for mark in leaf.get("marks") or ()}
        letters = "".join(sign for sign, type in (("B", "bold"), ("I", "italic")) if type in marks)
        family = "code" if marks & {"code", "keyboard"} else "text"
        self._write_text(str(leaf.get("text", "")), size, "".join(sorted({*style, *letters})), family=family)

    def _write_text(self, text: str, size: float, style: str, *, family: str = "text", link: str = "") -> None:
        if text:
            self._set_font(family, style, size - 0.5 if family == "code" else size, _LINK if link else _BLACK)
            self._pdf.write(_compute_line_height(size), self._fonts.spell(text), link)

    def _draw_link(self, text: str, address: str, size: float = _TEXT_PT) -> None:
        self._write_text(text, size, "", link=address)

    def _find_address(self, data: Mapping[str, Any]) -> str:
        """Where a node leads: a page of this PDF, or what a reader of the PDF may follow; "" for nothing of these."""
        ref = data.get("ref")
        ref = ref if isinstance(ref, Mapping) else {"url": data.get("url")}
        page, url = ref.get("page"), ref.get("url")
        if (self._part, page) in self._titles and "space" not in ref:
            return f"#{self._part}/{page}"
        return url if isinstance(url, str) and url.startswith(_LINK_SCHEMES) else ""

    def _find_title(self, data: Mapping[str, Any]) -> str:
        """What a void block is called: its title, else the name of what it refers to, else the address as written."""
        ref = data.get("ref")
        ref = ref if isinstance(ref, Mapping) else {}
        page = self._titles.get((self._part, str(ref.get("page"))))
        name = self._files.get(str(ref.get("file")), {}).get("name") or page
        return str(data.get("title") or name or ref.get("url") or ref.get("address") or data.get("url") or "")

    def _find_image_name(self, data: Mapping[str, Any]) -> str | None:
        ref = data.get("ref")
        return self._files.get(str(ref.get("file")), {}).get("image") if isinstance(ref, Mapping) else None

    def _draw_inline_image(self, data: Mapping[str, Any]) -> None:
        name = self._find_image_name(data)
        if name is None:
            self._write_text(str(data.get("alt") or ""), _TEXT_PT, "I")
        elif self._pdf.x > self._pdf.l_margin + 1:
            self._pdf.ln(_compute_line_height(_TEXT_PT))
            self._draw_image(data)
        else:
            self._draw_image(data)

    def _draw_line(self, text: str, style: str) -> None:
        self._write_text(text, _TEXT_PT, style)
        self._end_line(_TEXT_PT)

    def _end_line(self, size: float) -> None:
        self._pdf.ln(_compute_line_height(size))
        self._pdf.ln(_GAP - 1)

    def _set_font(self, family: str, style: str, size: float, colour: tuple[int, int, int] = _BLACK) -> None:
        self._fonts.use(family, style, size)
        self._pdf.set_text_color(*colour)

    @contextmanager
    def _indent(self, depth: int, *, is_right: bool = False) -> Iterator[None]:
        left, right = self._pdf.l_margin, self._pdf.r_margin
        width = _INDENT if depth < DEPTH_MAX // 2 else 0
        self._pdf.set_left_margin(left + (0 if is_right else width))
        self._pdf.set_right_margin(right + (width if is_right else 0))
        try:
            yield
        finally:
            self._pdf.set_left_margin(left)
            self._pdf.set_right_margin(right)
            self._pdf.set_x(left)


def _compute_line_height(size: float) -> float:
    return size * _MM_PER_POINT * _LINE


def _is_right_to_left(text: str) -> bool:
    return find_text_direction("", Html.escape(text)) == "rtl"


def _find_caption(node: Node) -> list[Any]:
    return [piece.get("nodes") for piece in node.get("fragments") or () if piece.get("fragment") == "caption"]


def _find_label(data: Mapping[str, Any]) -> str:
    """What a void inline shows: the words of a mention or button, a formula, an icon's or emoji's name."""
    found = (data.get(name) for name in ("text", "label", "formula", "expression", "code", "icon"))
    return next((value for value in found if isinstance(value, str)), "")


def _join_text(node: Any) -> str:
    return "".join(_list_texts(node))


def _list_texts(value: Any) -> Iterator[str]:
    """The text of every leaf, and what void nodes show instead, at any depth."""
    pending = [value]
    while pending:
        here = pending.pop()
        if isinstance(here, list):
            pending += reversed(here)
        elif isinstance(here, Mapping):
            if isinstance(here.get("text"), str) and here.get("object") == "leaf":
                yield here["text"]
            pending += [here[name] for name in ("fragments", "nodes", "leaves") if name in here][::-1]
