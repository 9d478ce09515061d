"""Fonts of a PDF: the ones that every reader has, and for other scripts the ones of this machine, when it has some.

The built-in fonts cover Latin-1 and add nothing to the file. Text beyond that gets DejaVu or a like family embedded,
as far as the text uses it; on a machine without one, what cannot be drawn becomes a question mark.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from fpdf import FPDF

from syncd.model.text import mask_unprintable

PLACES = (
    "/usr/share/fonts/truetype/dejavu",
    "/usr/share/fonts/dejavu",
    "/usr/share/fonts/dejavu-sans-fonts",
    "/usr/share/fonts/TTF",
    "/usr/local/share/fonts/dejavu",
    "/Library/Fonts",
    "/opt/homebrew/share/fonts",
)
"""Where systems keep the files of `FILES`."""

FILES: Mapping[tuple[str, str], str] = {
    ("text", ""): "DejaVuSans.ttf",
    ("text", "B"): "DejaVuSans-Bold.ttf",
    ("text", "I"): "DejaVuSans-Oblique.ttf",
    ("text", "BI"): "DejaVuSans-BoldOblique.ttf",
    ("code", ""): "DejaVuSansMono.ttf",
}

_SPELLED = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "…": "...", "•": "-"})


class Fonts:
    """The two families of one PDF, `text` and `code`, and how text is spelled in them."""

    def __init__(self, pdf: FPDF, texts: Iterable[str]) -> None:
        self._pdf = pdf
        found = next((Path(place) for place in PLACES if Path(place, FILES["text", ""]).is_file()), None)
        self._embedded = found is not None and any(not _is_plain(text) for text in texts)
        if self._embedded and found is not None:
            for (family, style), name in FILES.items():
                file = found / name
                pdf.add_font(family, style, file if file.is_file() else found / FILES["text", ""])

    def use(self, family: str, style: str, size: float) -> None:
        """Write in a font from now on. Shape: `style` has the letters B and I. Units: `size` in points."""
        if self._embedded:
            self._pdf.set_font(family, "" if family == "code" else style, size)
        else:
            self._pdf.set_font({"text": "Helvetica", "code": "Courier"}[family], style, size)

    def spell(self, text: str) -> str:
        """Return a text as the fonts can draw it."""
        text = "\n".join(map(mask_unprintable, text.split("\n")))
        return text if self._embedded else text.translate(_SPELLED).encode("latin-1", "replace").decode("latin-1")


def _is_plain(text: str) -> bool:
    return text.isascii() or _is_latin_1(text.translate(_SPELLED))


def _is_latin_1(text: str) -> bool:
    try:
        text.encode("latin-1")
    except UnicodeEncodeError:
        return False
    return True
