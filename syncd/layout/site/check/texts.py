"""A rule about texts: SY006, characters that nobody sees and that make a line read as another one."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from syncd.layout.lint.finding import Finding
from syncd.layout.site.read.declared import Item, SiteFile
from syncd.layout.site.read.reader import shorten_text
from syncd.layout.site.read.rules import report_finding
from syncd.model.text import CONTROLS, LINE_SEPARATORS, TAGS, TURNING, ZERO_WIDTH

_FLAG = "\U0001f3f4[\U000e0030-\U000e007a]{1,6}\U000e007f"
"""The flag of a region, such as Wales: the only use of tag characters."""
_UNSEEN = re.compile(f"{_FLAG}|((?![\t\n])[{CONTROLS}{LINE_SEPARATORS}{TURNING}{ZERO_WIDTH}{TAGS}])")
"""What nobody sees, but for tab and line end, and for what Persian, Hebrew, Mongolian and families of emoji need."""
_DEEP = 16


def check_texts(file: SiteFile) -> Iterator[Finding]:
    """Yield the first invisible character of each text in a site file that has one."""
    for item in file.items.values():
        for name, text in list_texts(item):
            if not text.isprintable() and (sign := _find_first(text)):
                message = f"{_format_name(item, name)} holds {sign}, which nobody sees"
                yield report_finding("SY006", item.where(name), message, "take it out, or type the text anew")


def list_texts(item: Item) -> Iterator[tuple[str, str]]:
    """Yield every text of a declared item, with the name of its field."""
    for name, value in item.fields.items():
        if isinstance(value, str):
            yield name, value
        elif value is not None and not isinstance(value, bool | int | float):
            yield from ((name, text) for text in _walk_texts(value))
    if item.note:
        yield "note", item.note


def _walk_texts(value: Any, deep: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif deep < _DEEP and isinstance(value, Mapping | list | tuple):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _walk_texts(part, deep + 1)


def _find_first(text: str) -> str:
    """The first character that nobody sees, by its number and its name; "" where there is none."""
    sign = next((found[1] for found in _UNSEEN.finditer(text) if found[1]), "")
    return f"U+{ord(sign):04X} ({unicodedata.name(sign, 'a control character').lower()})" if sign else ""


def _format_name(item: Item, name: str) -> str:
    field, key = shorten_text(name), f'"{shorten_text(item.key)}"'
    match item.kind:
        case "visitors":
            return f'claim "{field.partition(".")[2]}"'
        case "site" | "customization":
            return f"{field} of the site"
        case "override":
            return f"{field} of the override for {key}"
        case kind:
            return f"{field} of {kind} {key}"
