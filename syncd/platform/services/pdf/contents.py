"""The table of contents of a PDF: the titles of its pages, each with the number of the sheet on which it begins."""

from collections.abc import Sequence

from fpdf import FPDF
from fpdf.enums import XPos, YPos
from fpdf.outline import OutlineSection

from syncd.platform.services.pdf.fonts import Fonts
from syncd.platform.services.pdf.lines import BLACK, compute_line_height
from syncd.platform.services.pdf.texts import is_right_to_left

ENTRIES_MIN = 6
"""Of fewer pages, nobody looks for one."""
_SIZE_PT, _INDENT, _NUMBER = 10.5, 5.0, 14.0
_LETTERS_MAX = 200


class ContentsWriter:
    """Draws the table of contents where the PDF stands once the sheets of all pages are known."""

    def __init__(self, pdf: FPDF, fonts: Fonts) -> None:
        self._pdf, self._fonts = pdf, fonts
        self._height = compute_line_height(_SIZE_PT)

    def reserve_sheets(self, entries: int) -> None:
        """Leave as many sheets as so many entries take, and go to the one behind them."""
        left = entries - int((self._pdf.h - self._pdf.b_margin - self._pdf.y) / self._height)
        sheets = 1 + max(0, -(-left // int(self._pdf.eph / self._height)))
        self._pdf.insert_toc_placeholder(
            lambda _, sections: self._draw_entries(sections), pages=sheets, reset_page_indices=False
        )

    def _draw_entries(self, sections: Sequence[OutlineSection]) -> None:
        self._fonts.use("text", "", _SIZE_PT)
        self._pdf.set_text_color(*BLACK)
        for section in sections:
            indent = section.level * _INDENT
            cells = [(self._pdf.epw - indent - _NUMBER, section.name), (_NUMBER, str(section.page_number))]
            is_right = is_right_to_left(section.name)
            self._pdf.set_x(self._pdf.l_margin + (0 if is_right else indent))
            link = self._pdf.add_link(page=section.page_number)
            for width, text in reversed(cells) if is_right else cells:
                align = "R" if (width > _NUMBER) == is_right else "L"
                self._pdf.cell(width, self._height, self._cut(text, width), align=align, link=link)
            self._pdf.cell(0, self._height, "", new_x=XPos.LMARGIN, new_y=YPos.NEXT)

    def _cut(self, text: str, width: float) -> str:
        """As much of a text as has room in one line."""
        shown = text[:_LETTERS_MAX]
        while shown and self._pdf.get_string_width(shown) > width - 2 * self._pdf.c_margin:
            shown = shown[:-1]
        return shown if shown == text else f"{shown[:-3]}..."
