"""Lines of a PDF: words of different looks one behind the other, of which none is broken that fits into a line."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from fpdf import FPDF

from syncd.platform.services.pdf.fonts import Fonts

GREY, LINK, BLACK = (110, 110, 110), (30, 80, 170), (20, 20, 20)
PAPER, WHITE = (244, 244, 244), (255, 255, 255)
_MM_PER_POINT = 25.4 / 72
_LINE = 1.45
"""Height of a line, in the size of its letters."""
_CODE_LESS = 0.5
"""Letters of code look larger than others of their size. Units: points."""
_APART = re.compile(r"[\s\u2e80-\u9fff\uf900-\ufaff\uff00-\uff60]")
"""Signs beside which a line may end: white space, and those of languages that have none between words."""


@dataclass(frozen=True)
class Run:
    """Text of one look; `style` has the letters B, I and S, `place` is LINE, SUP or SUB, `link` may be ""."""

    text: str
    style: str = ""
    family: str = "text"
    link: str = ""
    place: str = "LINE"


def compute_line_height(size: float) -> float:
    """Return the height of a line. Units: `size` in points, the height in millimetres."""
    return size * _MM_PER_POINT * _LINE


def make_run(leaf: Mapping[str, Any], style: str) -> Run:
    """Return the run of a leaf of a document, which adds its marks to a style."""
    marks = {mark.get("type") for mark in leaf.get("marks") or ()}
    signs = {sign for sign, type in (("B", "bold"), ("I", "italic"), ("S", "strikethrough")) if type in marks}
    place = "SUP" if "superscript" in marks else "SUB" if "subscript" in marks else "LINE"
    family = "code" if marks & {"code", "keyboard"} else "text"
    return Run(str(leaf.get("text", "")), "".join(sorted({*style, *signs})), family, place=place)


class LineWriter:
    """Writes runs where the PDF stands, from margin to margin. Units: `size` in points."""

    def __init__(self, pdf: FPDF, fonts: Fonts, size: float) -> None:
        self._pdf, self._fonts, self._size = pdf, fonts, size

    def _use_look(self, run: Run) -> None:
        """Write as a run looks from now on."""
        self._fonts.use(run.family, run.style, self._size - (_CODE_LESS if run.family == "code" else 0))
        self._pdf.set_text_color(*(LINK if run.link else BLACK))

    def write_runs(self, runs: Sequence[Run]) -> None:
        """Write runs one behind the other: a word stays in one line, whatever its looks."""
        word: list[Run] = []
        shown = [run for run in runs if run.text]
        if shown and self._pdf.x <= self._pdf.l_margin:
            shown[0] = replace(shown[0], text=shown[0].text.lstrip())
        for run, behind in zip_longest(shown, shown[1:]):
            places = [found.span() for found in _APART.finditer(run.text)]
            if not places:
                word.append(run)
                continue
            goes_on = behind is not None and not _APART.match(behind.text)
            start = places[0][0] if word or self._pdf.x > self._pdf.l_margin else 0
            end = places[-1][1] if goes_on else len(run.text)
            self._write_word([*word, replace(run, text=run.text[:start])])
            self._write(replace(run, text=run.text[start:end]))
            word = [replace(run, text=run.text[end:])] if goes_on else []
        self._write_word(word)

    def _write_word(self, runs: Sequence[Run]) -> None:
        width = sum(map(self._measure, runs))
        left = self._pdf.w - self._pdf.r_margin - self._pdf.x - 2 * self._pdf.c_margin
        if runs and left < width <= self._pdf.epw - 2 * self._pdf.c_margin and self._pdf.x > self._pdf.l_margin:
            self._pdf.ln(compute_line_height(self._size))
        for run in runs:
            self._write(run)

    def _measure(self, run: Run) -> float:
        self._use_look(run)
        return self._pdf.get_string_width(self._fonts.spell(run.text))

    def _write(self, run: Run) -> None:
        if not run.text:
            return
        self._use_look(run)
        self._pdf.char_vpos = run.place
        self._pdf.write(compute_line_height(self._size), self._fonts.spell(run.text), run.link)
        self._pdf.char_vpos = "LINE"
