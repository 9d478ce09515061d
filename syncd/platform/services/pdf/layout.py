"""Rich text on paper: headings, paragraphs, lists, quotes, hints, code, tables, images and links, and an outline."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fpdf import FPDF
from fpdf.enums import WrapMode
from fpdf.errors import FPDFException
from PIL import Image

from syncd.platform.services.pdf.contents import ENTRIES_MIN, ContentsWriter
from syncd.platform.services.pdf.fonts import Fonts
from syncd.platform.services.pdf.lines import (
    BLACK,
    GREY,
    LINK,
    PAPER,
    WHITE,
    LineWriter,
    Run,
    compute_line_height,
    make_run,
)
from syncd.platform.services.pdf.tables import TableReader, draw_rows, list_sides
from syncd.platform.services.pdf.texts import (
    find_caption,
    find_label,
    find_source,
    is_right_to_left,
    join_text,
    list_html_lines,
    list_texts,
)

SHEETS_MAX = 3_000
"""Pages of paper."""
DEPTH_MAX = 24
"""Blocks within blocks that are indented and drawn as what they are."""

_TEXT_PT, _CODE_PT, _SMALL_PT = 10.5, 9.0, 8.0
_HEADINGS = {"heading-1": 18.0, "heading-2": 15.0, "heading-3": 12.5}
_TITLE_PT = 22.0
_MM_PER_PIXEL = 25.4 / 96
_INDENT = 6.0
_GAP = 2.5
_HINTS = {
    "info": ((70, 80, 95), "i"),
    "success": ((20, 115, 60), "+"),
    "warning": ((160, 95, 0), "!"),
    "danger": ((185, 35, 30), "×"),
}
"""The colour of each kind of hint, and the sign that tells it without colours."""
_LEADING = ("link", "button", "mention")
"""Inlines that lead somewhere."""
_SIGNS = ("icon", "emoji")
"""Inlines that are printed by their names where no words are beside them: a name within a sentence is none of it."""
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
        self.set_text_color(*GREY)
        self.cell(0, 8, str(self.page_no()), align="C")


class PdfLayout:
    """One PDF; `job` has a title and pages with their nodes, `images` is the directory of the images that it names."""

    def __init__(self, job: Mapping[str, Any], images: Path) -> None:
        self._job, self._images = job, images
        self._pdf = _NumberedPdf(format="A4")
        self._pdf.set_auto_page_break(True, margin=20)
        self._pdf.set_margins(20, 20)
        texts = (text for page in job["pages"] for text in (page["title"], *list_texts(page["nodes"])))
        self._fonts = self._pdf.sheet_fonts = Fonts(self._pdf, (*texts, job["title"]))
        self._files: Mapping[str, Mapping[str, str]] = {}
        """Names of the files that the page at hand refers to, and their images, by id."""
        self._part = 0
        """The part of the page at hand: ids are those of a part."""
        self._goes_on = False  # whether the page at hand begins on the sheet that is there
        self._titles = {(page["part"], page["id"]): page["title"] for page in job["pages"]}

    def draw(self) -> bytes:
        """Return the file."""
        self._pdf.set_title(self._fonts.spell(self._job["title"]))
        if len(self._job["pages"]) >= ENTRIES_MIN:
            self._pdf.add_page()
            self._draw_title(self._fonts.spell(self._job["title"]))
            ContentsWriter(self._pdf, self._fonts).reserve_sheets(len(self._job["pages"]))
            self._goes_on = True
        for page in self._job["pages"]:
            self._draw_page(page)
        if not self._job["pages"]:
            self._pdf.add_page()
        return bytes(self._pdf.output())

    def _draw_page(self, page: Mapping[str, Any]) -> None:
        self._files, self._part = page["files"], page["part"]
        if not self._goes_on:
            self._pdf.add_page()
        self._goes_on = not page["nodes"]  # a title alone needs no sheet for itself
        self._keep_room(5, _TITLE_PT)
        self._pdf.set_link(name=f"{page['part']}/{page['id']}")
        title = self._fonts.spell(page["title"]) or "-"
        self._pdf.start_section(title, level=min(page["depth"], 5))
        self._draw_title(title)
        self._draw_blocks(page["nodes"], 0)

    def _draw_title(self, title: str) -> None:
        self._set_font("text", "B", _TITLE_PT)
        side = "R" if is_right_to_left(title) else "L"
        self._pdf.multi_cell(0, compute_line_height(_TITLE_PT), title, align=side, new_x="LMARGIN", new_y="NEXT")
        self._pdf.ln(_GAP)

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
            if isinstance(title := data.get("title"), str) and title:
                self._draw_line(title, "B")
            self._draw_code(
                str(data.get("formula", "")) or "\n".join(join_text(line) for line in node.get("nodes") or ())
            )
        elif type == "table":
            self._draw_table(node)
        elif type in ("image", "drawing"):
            self._draw_image(data, join_text(find_caption(node)))
        elif type in ("embed", "file", "content-ref"):
            self._draw_reference(node)
        elif type == "divider":
            self._draw_rule()
        elif isinstance(source := find_source(type, data), str):
            self._draw_code(source)
        elif type == "html":
            for line in list_html_lines(str(data.get("html") or "")):
                self._draw_runs([{"object": "text", "leaves": [{"object": "leaf", "text": line}]}], _TEXT_PT, "")
                self._end_line(_TEXT_PT)
        else:
            if type == "update" and isinstance(date := data.get("date"), str):
                self._keep_room(5)
                self._draw_line(date, "B")
            self._draw_other(node, depth)

    def _draw_heading(self, node: Node, size: float) -> None:
        self._keep_room(5, size)
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
            is_right = is_right_to_left(join_text(item))
            self._pdf.set_x(self._pdf.w - self._pdf.r_margin - _INDENT if is_right else self._pdf.l_margin)
            self._pdf.cell(_INDENT, compute_line_height(_TEXT_PT), sign, align="R" if is_right else "L")
            with self._indent(depth, is_right=is_right):
                self._pdf.set_x(self._pdf.l_margin)
                self._draw_blocks(item.get("nodes") or [], depth + 1)

    def _draw_aside(self, node: Node, depth: int) -> None:
        height = compute_line_height(_TEXT_PT)
        self._keep_room(2)
        colour, sign = _HINTS.get(str((node.get("data") or {}).get("style")), _HINTS["info"])
        is_hint, is_right = node.get("type") == "hint", is_right_to_left(join_text(node))
        place = self._pdf.w - self._pdf.r_margin - 2 if is_right else self._pdf.l_margin + 2
        top, sheet = self._pdf.get_y(), self._pdf.page_no()
        if is_hint:
            self._draw_sign(sign, colour, place, top)
        with self._indent(depth, is_right=is_right):
            self._pdf.set_x(self._pdf.l_margin)
            self._draw_other(node, depth)
        self._draw_bar(place, (sheet, top + height * is_hint), colour if is_hint else GREY)

    def _draw_sign(self, sign: str, colour: tuple[int, int, int], x: float, y: float) -> None:
        """A sign in a disc around `x`, beside the line that begins at `y`."""
        height = compute_line_height(_TEXT_PT)
        self._pdf.set_fill_color(*colour)
        self._pdf.circle(x, y + height / 2, 1.9, style="F")
        self._set_font("text", "B", _CODE_PT, WHITE)
        self._pdf.set_xy(x - 3, y)
        self._pdf.cell(6, height, self._fonts.spell(sign), align="C")

    def _draw_bar(self, x: float, start: tuple[int, float], colour: tuple[int, int, int]) -> None:
        """A line from a sheet and a height on it to where the PDF stands, on each sheet between."""
        end = self._pdf.page_no()
        bottom = self._pdf.get_y() - _GAP
        for sheet in range(start[0], end + 1):
            self._pdf.page = sheet
            self._pdf.set_draw_color(*colour)
            top = start[1] if sheet == start[0] else self._pdf.t_margin
            length = (bottom if sheet == end else self._pdf.h - self._pdf.b_margin) - top
            if length > 1:
                self._pdf.line(x, top, x, top + length)

    def _draw_reference(self, node: Node) -> None:
        """What a block leads to, and its caption where that says something else. A page that is not here may be one of
        which this reader may not know: its card says what the writer called it."""
        data, caption = node.get("data") or {}, join_text(find_caption(node)).strip()
        address, is_card = self._find_address(data), node.get("type") == "content-ref"
        words = (self._find_title(data) if address or not is_card else "") or caption
        self._draw_link(words, address)
        self._end_line(_TEXT_PT)
        if not is_card and caption not in ("", words):
            self._draw_line(caption, "I")

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
        self._pdf.set_fill_color(*PAPER)
        spelled = self._fonts.spell(text.replace("\t", "    ")) or " "
        for line in spelled.split("\n"):
            self._pdf.set_x(self._pdf.l_margin)
            height = compute_line_height(_CODE_PT)
            self._pdf.multi_cell(
                *(0, height, line or " "), fill=True, align="L", new_x="LMARGIN", new_y="NEXT", wrapmode=WrapMode.CHAR
            )
        self._pdf.ln(_GAP)

    def _draw_table(self, node: Node) -> None:
        rows = TableReader(self._find_title, self._find_address, self._files).read_rows(node)
        if not rows[0]:
            return
        draw_rows(self._pdf, self._fonts, rows, list_sides(node))
        self._pdf.ln(_GAP)

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
        self._pdf.set_draw_color(*GREY)
        self._pdf.line(self._pdf.l_margin, self._pdf.get_y(), self._pdf.w - self._pdf.r_margin, self._pdf.get_y())
        self._pdf.ln(2 * _GAP)

    def _draw_runs(self, nodes: list[Node], size: float, style: str) -> None:
        text = "".join(join_text(node) or find_label(node.get("data") or {}) for node in nodes)
        if is_right_to_left(text):
            self._draw_right_runs(nodes, text, size, style)
            return
        lines, runs = LineWriter(self._pdf, self._fonts, size), list[Run]()
        is_alone = not any(join_text(node).strip() or node.get("type") in _LEADING for node in nodes)
        for node in nodes:
            if node.get("type") == "inline-image" and self._find_image_name(node.get("data") or {}):
                lines.write_runs(runs)
                runs = []
                self._draw_inline_image(node["data"])
            else:
                runs += self._list_runs(node, style, is_alone=is_alone)
        lines.write_runs(runs)

    def _list_runs(self, node: Node, style: str, *, is_alone: bool) -> Iterator[Run]:
        data, type = node.get("data") or {}, node.get("type")
        if node.get("object") == "text":
            yield from (make_run(leaf, style) for leaf in node.get("leaves") or ())
        elif type == "inline-image":
            yield Run(str(data.get("alt") or ""), "I")
        elif is_alone or type not in _SIGNS:
            link = self._find_address(data) if type in _LEADING else ""
            yield Run(join_text(node) or find_label(data) or self._find_title(data), "" if link else style, link=link)
            # Buttons stand apart, also where nothing is between them.
            yield Run(" " if type == "button" else "")

    def _draw_right_runs(self, nodes: list[Node], text: str, size: float, style: str) -> None:
        """A line from the right, as one text: only so can it be put in order. It leads where its only link does."""
        found = (self._find_address(node.get("data") or {}) for node in nodes if node.get("type") == "link")
        links = [address for address in found if address]
        link = links[0] if len(links) == 1 else ""
        self._set_font("text", style, size, LINK if link else BLACK)
        spelled = self._fonts.spell(text)
        self._pdf.multi_cell(0, compute_line_height(size), spelled, align="R", new_y="LAST", link=link)
        for node in nodes:
            if node.get("type") == "inline-image":
                self._draw_inline_image(node.get("data") or {})

    def _draw_link(self, text: str, address: str) -> None:
        LineWriter(self._pdf, self._fonts, _TEXT_PT).write_runs([Run(text, link=address)])

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
        if self._pdf.x > self._pdf.l_margin + 1:
            self._pdf.ln(compute_line_height(_TEXT_PT))
        self._draw_image(data)

    def _draw_line(self, text: str, style: str) -> None:
        LineWriter(self._pdf, self._fonts, _TEXT_PT).write_runs([Run(text, style)])
        self._end_line(_TEXT_PT)

    def _keep_room(self, lines: int, size: float = _TEXT_PT) -> None:
        """Go to the next sheet where this one has no room for so many lines: what belongs together stays together."""
        if self._pdf.will_page_break(lines * compute_line_height(size)):
            self._pdf.add_page()

    def _end_line(self, size: float) -> None:
        self._pdf.ln(compute_line_height(size))
        self._pdf.ln(_GAP - 1)

    def _set_font(self, family: str, style: str, size: float, colour: tuple[int, int, int] = BLACK) -> None:
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
