"""Fonts of a PDF: the ones that every reader has, and for other scripts the ones of this machine, when it has some.

The built-in fonts cover Latin-1 and add nothing to the file. Text beyond that gets DejaVu or a like family embedded,
as far as the text uses it, and for letters that it does not have the first of `FALLBACKS` that has them. What no font
can draw becomes a box, or a question mark on a machine without any of these fonts.
"""

import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path

from fpdf import FPDF
from fpdf.fonts import TTFFont

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

FALLBACKS = (
    "/usr/share/fonts/truetype/wqy/wqy-microhei.ttc",
    "/usr/share/fonts/truetype/wqy/wqy-zenhei.ttc",
    "/usr/share/fonts/truetype/droid/DroidSansFallbackFull.ttf",
    "/usr/share/fonts/truetype/nanum/NanumGothic.ttf",
    "/usr/share/fonts/opentype/ipafont-gothic/ipag.ttf",
    "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/truetype/noto/NotoSansThai-Regular.ttf",
    "/usr/share/fonts/truetype/noto/NotoSansDevanagari-Regular.ttf",
    "/usr/share/fonts/truetype/noto/NotoSansArabic-Regular.ttf",
    "/usr/share/fonts/truetype/noto/NotoSansHebrew-Regular.ttf",
    "/System/Library/Fonts/Supplemental/Arial Unicode.ttf",
    "/Library/Fonts/Arial Unicode.ttf",
)
"""Fonts of other scripts, where Debian and macOS keep them."""
BOX = "□"
"""Stands for a letter that no font can draw."""

_SPELLED = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "…": "...", "•": "-"})


class Fonts:
    """The two families of one PDF, `text` and `code`, and how text is spelled in them."""

    def __init__(self, pdf: FPDF, texts: Iterable[str]) -> None:
        self._pdf = pdf
        found = next((Path(place) for place in PLACES if Path(place, FILES["text", ""]).is_file()), None)
        unplain = [text for text in texts if not _is_plain(text)]
        self._embedded = found is not None and bool(unplain)
        self._undrawn: dict[int, str] = {}
        if self._embedded and found is not None:
            for (family, style), name in FILES.items():
                file = found / name
                pdf.add_font(family, style, file if file.is_file() else found / FILES["text", ""])
            self._add_fallbacks({ord(sign) for text in unplain for sign in text if sign.isprintable()})

    def _add_fallbacks(self, signs: set[int]) -> None:
        """Load what it takes to draw these characters, and note those that no font has."""
        missing = signs - _list_signs(self._pdf, "text")
        # Code has letters that its own family lacks, and styles differ: another font of the first family has these.
        families = ["text"]
        for number, file in enumerate(FALLBACKS):
            if not missing or not Path(file).is_file():
                continue
            family = f"fallback-{number}"
            self._pdf.add_font(family, "", file)
            left = missing - _list_signs(self._pdf, family)
            families += [family] if left != missing else []
            missing = left
        self._pdf.set_fallback_fonts(families, exact_match=False)
        if any(unicodedata.bidirectional(chr(sign)) in ("R", "AL") for sign in signs):
            self._pdf.set_text_shaping(True)
        self._undrawn = dict.fromkeys(missing, BOX)

    def use(self, family: str, style: str, size: float) -> None:
        """Write in a font from now on. Shape: `style` has the letters B, I and S. Units: `size` in points."""
        if self._embedded:
            self._pdf.set_font(family, "S" * ("S" in style) if family == "code" else style, size)
        else:
            self._pdf.set_font({"text": "Helvetica", "code": "Courier"}[family], style, size)

    def spell(self, text: str) -> str:
        """Return a text as the fonts can draw it."""
        text = "\n".join(map(mask_unprintable, text.split("\n")))
        return (
            text.translate(self._undrawn)
            if self._embedded
            else text.translate(_SPELLED).encode("latin-1", "replace").decode("latin-1")
        )


def _list_signs(pdf: FPDF, family: str) -> set[int]:
    font = pdf.fonts[family]
    return set(font.cmap) if isinstance(font, TTFFont) else set()


def _is_plain(text: str) -> bool:
    return text.isascii() or _is_latin_1(text.translate(_SPELLED))


def _is_latin_1(text: str) -> bool:
    try:
        text.encode("latin-1")
    except UnicodeEncodeError:
        return False
    return True
