"""What stands in a line: text with marks, links, and what else an inline can be."""

from collections.abc import Callable, Mapping, Sequence

from markupsafe import Markup, escape

from syncd.web.blocks.elements import (
    EMPTY,
    check_link,
    check_picture,
    is_foreign,
    write_element,
    write_opening,
)
from syncd.web.blocks.marks import Piece, Tags, join_pieces, read_marks
from syncd.web.blocks.members import (
    Node,
    collect_words,
    read_choice,
    read_data,
    read_kind,
    read_nodes,
    read_ref,
    read_text,
)
from syncd.web.blocks.state import RenderState

_BREAK = Markup("<br>\n")


def render_line(state: RenderState, nodes: Sequence[Node], around: Sequence[Tags] = ()) -> Markup:
    """Render the inline nodes of a line; marks that stand `around` it already are not said again."""
    pieces = _list_pieces(state, nodes)
    if around:
        pieces = [([mark for mark in marks if mark not in around], html) for marks, html in pieces]
    return join_pieces(pieces)


def _list_pieces(state: RenderState, nodes: Sequence[Node]) -> list[Piece]:
    found: list[Piece] = []
    for node in nodes:
        if node.get("object") == "text" or "leaves" in node:
            found += [(read_marks(leaf.get("marks")), _render_text(state, leaf)) for leaf in read_nodes(node, "leaves")]
        elif (kind := read_kind(node)) in _INLINES:
            found.append((read_marks(node.get("marks")), _INLINES[kind](state, node)))
        elif node.get("object") == "block":
            found.append(((), state.render_block(state, node)))
        else:
            found.append((read_marks(node.get("marks")), _render_unknown(state, node)))
    return found


def _render_text(state: RenderState, leaf: Node) -> Markup:
    text = leaf.get("text")
    if not isinstance(text, str):
        return EMPTY
    state.words += len(text.split())
    html = escape(text)
    return html.replace("\n", _BREAK) if "\n" in text else html


def _render_unknown(state: RenderState, node: Node) -> Markup:
    note = state.note_unknown(node.get("type") or node.get("object"))
    words = collect_words(node) or read_text(read_data(node), "text") or read_text(read_data(node), "label")
    return write_element("span", words or f"[{read_kind(node)[:60] or '?'}]", class_="b-unknown", title=note)


def write_link(state: RenderState, ref: Node | None, content: Markup, **attributes: str | None) -> Markup:
    """Return a link to what a reference leads to; the words alone, and a note, where it leads nowhere."""
    target = state.resolve(ref) if ref is not None else None
    address = check_link(target.address) if target is not None and target.address else None
    if address is None:
        return write_element("span", content, class_="b-broken", title=state.context.labels.no_link)
    rel = "noopener" if is_foreign(address) else None
    return write_element("a", content, href=address, rel=rel, **attributes)


def _render_link(state: RenderState, node: Node) -> Markup:
    data = read_data(node)
    ref = read_ref(data)
    content = render_line(state, read_nodes(node), read_marks(node.get("marks")))
    if not content.strip() and ref is not None and (target := state.resolve(ref)) is not None:
        content = escape(target.title or target.address)
    return write_link(state, ref, content, title=read_text(data, "title") or None)


def _render_image(state: RenderState, node: Node) -> Markup:
    data = read_data(node)
    return write_image(state, data, class_=f"b-inline-image b-size-{read_choice(data, 'size', 'line', 'original')}")


def write_image(state: RenderState, data: Node, class_: str) -> Markup:
    """Return an image in its light and dark form, or its alternative text where it leads nowhere."""
    alt = read_text(data, "alt") or read_text(data, "caption")
    dark = _write_source(state, data, "refDark", alt, f"{class_} b-only-dark")
    light = _write_source(state, data, "ref", alt, f"{class_} b-only-light" if dark else class_)
    if not light and not dark:
        return write_element("span", alt or state.context.labels.missing_image, class_="b-missing-image")
    return light + dark


def _write_source(state: RenderState, data: Node, member: str, alt: str, class_: str) -> Markup:
    ref = read_ref(data, member)
    target = state.resolve(ref) if ref is not None else None
    address = check_picture(target.address) if target is not None else None
    if target is None or address is None:
        return EMPTY
    size = {"width": _read_pixels(data, "width"), "height": _read_pixels(data, "height")}
    if not any(size.values()) and target.width and target.height:
        size = {"width": str(target.width), "height": str(target.height)}
    title = read_text(data, "caption") or None
    return write_opening(
        "img", src=address, alt=alt, class_=class_, title=title, loading="lazy", decoding="async", **size
    )


def _read_pixels(data: Node, member: str) -> str | None:
    value = data.get(member)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 10_000:
        return None
    return str(round(value))


_INLINES: Mapping[str, Callable[[RenderState, Node], Markup]] = {
    "link": _render_link,
    "inline-image": _render_image,
}
