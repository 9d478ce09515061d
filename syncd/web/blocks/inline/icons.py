"""Emoji and icons: signs of Unicode, with words for who cannot see them."""

import re
from functools import cache

import emoji
from markupsafe import Markup

from syncd.web.blocks.elements import write_element
from syncd.web.blocks.inline.marks import read_color
from syncd.web.blocks.members import Node, read_data, read_text
from syncd.web.blocks.state import RenderState

_CODE = re.compile(r"[0-9a-fA-F]{2,6}(?:-[0-9a-fA-F]{2,6}){0,9}")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,60}")
_SIGNS = {
    "arrow-right": "→", "arrow-left": "←", "arrow-up": "↑", "arrow-down": "↓", "arrow-up-right-from-square": "↗",
    "check": "✓", "circle-check": "✓", "xmark": "✕", "circle-xmark": "✕", "plus": "+", "minus": "−", "star": "★",
    "heart": "♥", "circle-info": "ℹ", "info": "ℹ", "triangle-exclamation": "⚠", "warning": "⚠", "bolt": "⚡",
    "lightbulb": "💡", "book": "📖", "book-open": "📖", "rocket": "🚀", "gear": "⚙", "gears": "⚙", "wrench": "🔧",
    "screwdriver-wrench": "🛠", "key": "🔑", "lock": "🔒", "unlock": "🔓", "user": "👤", "users": "👥", "bell": "🔔",
    "envelope": "✉", "phone": "☎", "house": "🏠", "home": "🏠", "folder": "📁", "file": "📄", "download": "⬇",
    "upload": "⬆", "link": "🔗", "code": "⟨⟩", "terminal": "⌘", "bug": "🐞", "clock": "🕒", "calendar": "📅",
    "cloud": "☁", "database": "🗄", "globe": "🌐", "flag": "⚑", "tag": "🏷", "magnifying-glass": "🔍", "play": "▶",
    "pause": "⏸", "stop": "⏹", "shield": "🛡", "shield-halved": "🛡", "pen": "✎", "pencil": "✎", "trash": "🗑",
    "image": "🖼", "video": "🎬", "music": "♫", "comment": "💬", "comments": "💬", "circle-question": "?",
    "question": "?", "fire": "🔥", "robot": "🤖", "sparkles": "✨", "wand-magic-sparkles": "✨", "puzzle-piece": "🧩",
    "credit-card": "💳", "cart-shopping": "🛒", "server": "🖥", "laptop": "💻", "desktop": "🖥", "mobile": "📱",
    "chart-line": "📈", "chart-simple": "📊", "graduation-cap": "🎓", "building": "🏢", "map": "🗺", "compass": "🧭",
}  # fmt: skip
"""Signs for names of icons that docs use often; all others are their first letter in a box."""


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
    """Render an icon of a line: its sign, and its name for who does not see it."""
    data = read_data(node)
    color = read_color(data, "color")
    return write_icon(read_text(data, "icon"), f" b-text-{color}" if color else "", is_said=True)


def write_icon(name: str, classes: str = "", *, is_said: bool = False) -> Markup:
    """Return the sign of an icon; "" for one without a sign where words say enough.

    With `is_said`, screen readers say its name.
    """
    if not _NAME.fullmatch(name):
        return write_element("span", name) if is_said else Markup()
    known = _SIGNS.get(name)
    if known is None and not is_said:
        return Markup()
    label = {"role": "img", "aria_label": name.replace("-", " ")} if is_said else {"aria_hidden": "true"}
    return write_element(
        "span", known or name[0].upper(), class_=f"b-icon{'' if known else ' b-icon-letter'}{classes}", **label
    )
