"""Marks around text: which elements they become, and how neighbours share them."""

from collections.abc import Iterable, Mapping, Sequence

from markupsafe import Markup

from syncd.web.blocks.elements import join_markup, write_opening
from syncd.web.blocks.members import Node, read_data, read_kind

_CHANGES: Mapping[str, str] = {"inserted": "ins", "deleted": "del"}
"""Marks of words that only one side of a difference has."""
_ELEMENTS: Mapping[str, str] = {
    "bold": "strong",
    "italic": "em",
    "code": "code",
    "strikethrough": "s",
    "keyboard": "kbd",
    "superscript": "sup",
    "subscript": "sub",
}
COLORS = frozenset({"default", "red", "orange", "yellow", "green", "blue", "purple", "pink", "gray", "grey", "brown"})
_THEMED = {"$primary": "primary", "$info": "info", "$success": "success", "$warning": "warning", "$danger": "danger"}

Tags = tuple[str, str]
"""What opens a mark and what closes it."""
CODE: Tags = ("<code>", "</code>")
Piece = tuple[Sequence[Tags], Markup]
"""HTML, and the marks around it, the outermost first."""


def read_marks(value: object) -> tuple[Tags, ...]:
    """Return the tags of the marks of a leaf or inline; one that is not known has none, and its text stays."""
    marks = [mark for mark in value if isinstance(mark, dict)] if isinstance(value, list | tuple) else []
    return tuple(dict.fromkeys(tags for mark in marks[:16] if (tags := _write_tags(mark)) is not None))


def join_pieces(pieces: Iterable[Piece]) -> Markup:
    """Return pieces one behind the other; a mark that goes on in the next piece is not closed before it."""
    found: list[str] = []
    opened: list[Tags] = []
    for marks, html in pieces:
        common = next((at for at, (one, other) in enumerate(zip(opened, marks, strict=False)) if one != other), None)
        kept = min(len(opened), len(marks)) if common is None else common
        found += [close for _, close in reversed(opened[kept:])]
        found += [open for open, _ in marks[kept:]]
        opened[kept:] = marks[kept:]
        found.append(html)
    found += [close for _, close in reversed(opened)]
    return join_markup(map(Markup, found))


def _write_tags(mark: Node) -> Tags | None:
    kind = read_kind(mark)
    if kind == "color":
        data = read_data(mark)
        classes = [f"b-{name}-{color}" for name in ("text", "back") if (color := read_color(data, _MEMBERS[name]))]
        return (write_opening("span", class_=" ".join(classes)), "</span>") if classes else None
    if kind in _CHANGES:
        return write_opening(_CHANGES[kind], class_=f"b-{kind}"), f"</{_CHANGES[kind]}>"
    name = _ELEMENTS.get(kind)
    return (f"<{name}>", f"</{name}>") if name else None


_MEMBERS = {"text": "text", "back": "background"}


def read_color(data: Node, member: str) -> str:
    """Return the name of a color as classes have it; "" for the default and for one that is not known."""
    value = data.get(member)
    if not isinstance(value, str) or value == "default":
        return ""
    found = _THEMED.get(value, value)
    return found if found in COLORS or found in _THEMED.values() else ""
