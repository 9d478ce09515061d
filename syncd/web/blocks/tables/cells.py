"""Cells of tables: values of each type that a column can have."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from markupsafe import Markup, escape

from syncd.web.blocks.context import Target
from syncd.web.blocks.elements import (
    EMPTY,
    check_link,
    check_picture,
    is_foreign,
    write_element,
    write_opening,
)
from syncd.web.blocks.inline.line import describe_ref
from syncd.web.blocks.inline.marks import COLORS
from syncd.web.blocks.members import Node, read_nodes, read_number, read_ref, read_text
from syncd.web.blocks.state import RenderState, find_shown_size

_RATING_MAX = 20


@dataclass(frozen=True)
class Column:
    """A column of a table: its name, and what its definition says."""

    name: str
    definition: Node

    @property
    def kind(self) -> str:
        """Its type, "text" where it says none."""
        return read_text(self.definition, "type") or "text"

    @property
    def is_named(self) -> bool:
        """Whether its title has to stand beside a value, which says too little alone."""
        return self.kind in ("number", "checkbox", "rating", "select") and bool(read_text(self.definition, "title"))


def render_cell(state: RenderState, column: Column, value: object, label: object) -> Markup:
    """Render a value that stands in no fragment; `label` are the words for what it refers to, if there are some.

    Shape: a value that its column could not have is shown as what it is, where it is text or a number.
    """
    if value is None:
        return EMPTY
    write = _CELLS.get(column.kind, _write_any)
    html = write(state, column, value, label)
    state.words += len(html.striptags().split())
    return html


def find_target(state: RenderState, value: object) -> Target | None:
    """Return what the value of a cell refers to, the first of several."""
    first = value[0] if isinstance(value, list) and value else value
    ref = _find_ref(first)
    if ref is None:
        return None
    # A cell of files names one of the space's files by its id alone, and any other by its address.
    if isinstance(first, str) and (found := state.context.resolve({"kind": "file", "file": first})) is not None:
        return found if check_link(found.address) else None
    return state.resolve(ref)


def _find_ref(value: object) -> Node | None:
    if isinstance(value, str):
        return {"kind": "url", "url": value} if value.strip() else None
    if not isinstance(value, dict):
        return None
    return value if isinstance(value.get("kind"), str) else read_ref(value)


def _write_any(state: RenderState, column: Column, value: object, label: object) -> Markup:
    if isinstance(value, bool):
        return _write_tick(state, column, value, label)
    if isinstance(value, str | int | float):
        return escape(str(value))
    if isinstance(value, list):
        return Markup(", ").join(_write_any(state, column, one, None) for one in value[:1000])
    return _write_reference(state, value, label)


def _write_number(state: RenderState, column: Column, value: object, label: object) -> Markup:
    number = read_number({"value": value}, "value")
    return _write_any(state, column, value, label) if number is None else escape(f"{number:.15g}")


def _write_tick(state: RenderState, column: Column, value: object, label: object) -> Markup:
    labels = state.context.labels
    words = labels.yes if value is True else labels.no
    return write_element("span", "✓" if value is True else EMPTY, class_="b-tick", role="img", aria_label=words)


def _write_rating(state: RenderState, column: Column, value: object, label: object) -> Markup:
    number = read_number({"value": value}, "value")
    if number is None:
        return _write_any(state, column, value, label)
    most = max(1, min(_RATING_MAX, round(read_number(column.definition, "max") or 5)))
    stars = max(0, min(most, round(number)))
    words = state.context.labels.rating.format(value=f"{number:g}", most=most)
    return write_element("span", "★" * stars + "☆" * (most - stars), class_="b-rating", role="img", aria_label=words)


def _write_options(state: RenderState, column: Column, value: object, label: object) -> Markup:
    options = {read_text(one, "value"): one for one in read_nodes(column.definition, "options")}
    chosen = [str(one) for one in value[:1000]] if isinstance(value, list) else [str(value)]
    return Markup(" ").join(_write_option(name, options.get(name, {})) for name in chosen)


def _write_option(name: str, option: Node) -> Markup:
    color = read_text(option, "color")
    class_ = f"b-option b-back-{color}" if color in COLORS else "b-option"
    return write_element("span", read_text(option, "label") or name, class_=class_)


def _write_references(state: RenderState, column: Column, value: object, label: object) -> Markup:
    values = value if isinstance(value, list) else [value]
    labels = label if isinstance(label, list) else [label] * len(values)
    labels += [None] * (len(values) - len(labels))
    pairs = zip(values[:1000], labels, strict=False)
    return Markup(", ").join(_write_reference(state, one, words) for one, words in pairs)


def _write_reference(state: RenderState, value: object, label: object) -> Markup:
    target = find_target(state, value)
    ref = _find_ref(value)
    title = (target.title if target else "") or (label if isinstance(label, str) else "")
    words = title or (describe_ref(ref) if ref else "") or str(value)[:200]
    address = check_link(target.address) if target is not None else None
    if address is None:
        return write_element("span", words, class_="b-broken", title=state.context.labels.no_link)
    return write_element("a", words, href=address, rel="noopener" if is_foreign(address) else None)


def _write_image(state: RenderState, column: Column, value: object, label: object) -> Markup:
    target = find_target(state, value)
    address = check_picture(target.address) if target is not None else None
    if target is None or address is None:
        return _write_reference(state, value, label)
    alt = target.title or (label if isinstance(label, str) else "")
    if not state.loads_picture(target, address):
        return state.write_picture_link(address, alt)
    size = find_shown_size({}, target)
    return write_opening("img", src=address, alt=alt, class_="b-cell-image", loading="lazy", decoding="async", **size)


def _write_people(state: RenderState, column: Column, value: object, label: object) -> Markup:
    people = value if isinstance(value, list) else [value]
    refs = [{"kind": "user", "user": one} if isinstance(one, str) else one for one in people[:1000]]
    names = [_name_person(state, ref) for ref in refs if isinstance(ref, dict)]
    return Markup(" ").join(write_element("span", name, class_="b-mention") for name in names)


def _name_person(state: RenderState, ref: Node) -> str:
    found = state.context.resolve(ref) if isinstance(ref.get("kind"), str) else None
    return (found.title if found else "") or describe_ref(ref)


_Write = Callable[[RenderState, Column, object, object], Markup]
_CELLS: Mapping[str, _Write] = {
    "number": _write_number,
    "checkbox": _write_tick,
    "rating": _write_rating,
    "select": _write_options,
    "content-ref": _write_references,
    "files": _write_references,
    "image": _write_image,
    "users": _write_people,
}
