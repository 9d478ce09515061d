"""Emoji, as signs of Unicode, and icons, as pictures, with words for who cannot see them."""

import re
from functools import cache
from importlib.resources import files

import emoji
from markupsafe import Markup

from syncd.web.blocks.elements import write_element
from syncd.web.blocks.inline.marks import read_color
from syncd.web.blocks.members import Node, read_data, read_text
from syncd.web.blocks.state import RenderState

_CODE = re.compile(r"[0-9a-fA-F]{2,6}(?:-[0-9a-fA-F]{2,6}){0,9}")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,60}")
_SPARKLE = "M256 16c22 150 90 218 240 240-150 22-218 90-240 240-22-150-90-218-240-240 150-22 218-90 240-240z"
_OWN = {"sparkle": ("512", _SPARKLE), "sparkles": ("512", _SPARKLE)}
_LIKE = {
    "circles-overlap": "clone", "gitbook": "book-open", "gitbook-assistant": "sparkles", "hand-wave": "hand",
    "messages": "comments", "memo": "file-lines", "books": "book", "browser": "window-maximize", "grid": "table-cells",
    "ballot-check": "list-check", "chart-mixed": "chart-column", "rectangle-terminal": "terminal",
    "list-timeline": "timeline", "square-list": "rectangle-list", "laptop-mobile": "laptop", "sitemap-alt": "sitemap",
}  # fmt: skip
"""Names that the free icons do not have, each with one that looks like it."""
_OTHER = "circle"


def render_emoji(state: RenderState, node: Node) -> Markup:
    """Render an emoji as its sign, or as what is written for it."""
    data = read_data(node)
    code, text = read_text(data, "code"), read_text(data, "text")
    sign = find_emoji(code) or text or f":{code}:"
    return write_element(
        "span", sign, role="img", aria_label=code.replace("_", " ").replace("-", " "), class_="b-emoji"
    )


@cache
def find_emoji(code: str) -> str:
    """Return the sign of an emoji by its code points, such as `1f600`, or by its name; "" when there is none."""
    if _CODE.fullmatch(code):
        points = [int(point, 16) for point in code.split("-")]
        if all(0x80 <= point < 0x110000 and not 0xD800 <= point < 0xE000 for point in points):
            sign = "".join(map(chr, points))
            return sign if emoji.is_emoji(sign) or emoji.is_emoji(sign + "\ufe0f") else ""
    found = emoji.emojize(f":{code}:", language="alias")
    return "" if found.startswith(":") else found


def render_icon(state: RenderState, node: Node) -> Markup:
    """Render an icon of a line: its picture, and its name for who does not see it."""
    data = read_data(node)
    color = read_color(data, "color")
    return write_icon(read_text(data, "icon"), f" b-text-{color}" if color else "", is_said=True)


def write_icon(name: str, classes: str = "", *, is_said: bool = False) -> Markup:
    """Return the picture of an icon; "" for one without a picture where words say enough.

    With `is_said`, screen readers say its name.
    """
    if not _NAME.fullmatch(name):
        return write_element("span", name) if is_said else Markup()
    known = find_icon(name) or (find_icon(_OTHER) if is_said else None)
    if known is None:
        return Markup()
    width, path = known
    label = {"role": "img", "aria_label": name.replace("-", " ")} if is_said else {"aria_hidden": "true"}
    drawn = write_element("path", d=path)
    return write_element("svg", drawn, viewBox=f"0 0 {width} 512", class_=f"b-icon{classes}", **label)


def write_sign(emoji_code: str, icon: str) -> Markup:
    """Return what stands before a title: its emoji, given as a sign or by its code, or its icon; "" for neither.

    Shape: screen readers pass it over, since the title says enough.
    """
    if emoji_code:
        return write_element("span", find_emoji(emoji_code) or emoji_code, class_="emoji", aria_hidden="true")
    return write_icon(icon) if icon and find_icon(icon) else Markup()


def find_icon(name: str) -> tuple[str, str] | None:
    """Return the width of an icon that is 512 high, and its path; None when none is like it.

    A name that is not known loses its last words, as of `shield-check`, until what is left is known.
    """
    icons = _load_icons()
    while name:
        name = _LIKE.get(name, name)
        if name in icons:
            return icons[name]
        name = name.rpartition("-")[0]
    return None


@cache
def _load_icons() -> dict[str, tuple[str, str]]:
    """Read the icons that come with syncd: each line has the names of one, its width and its path."""
    text = files("syncd.web").joinpath("static", "icons.tsv").read_text(encoding="utf-8")
    known: dict[str, tuple[str, str]] = {}
    for line in text.splitlines():
        names, width, path = line.split("\t")
        known |= dict.fromkeys(names.split(" "), (width, path))
    return known | _OWN
