"""Images: in a line or as a block, in a light and a dark form."""

from collections.abc import Callable, Mapping

from markupsafe import Markup, escape

from syncd.web.blocks.elements import (
    EMPTY,
    check_link,
    check_picture,
    is_foreign,
    join_markup,
    write_element,
    write_opening,
)
from syncd.web.blocks.members import (
    Node,
    read_choice,
    read_data,
    read_fragment,
    read_kind,
    read_nodes,
    read_number,
    read_ref,
    read_text,
)
from syncd.web.blocks.state import RenderState, find_shown_size


def render_inline_image(state: RenderState, node: Node) -> Markup:
    """Render an image of a line: as high as the line where words stand beside it, unless its writer chose a size."""
    data = read_data(node)
    is_small = state.has_words_beside and data.get("width") is None and data.get("height") is None
    size = read_choice(data, "size", "line" if is_small else "full", "line", "original")
    return write_image(state, data, f"b-inline-image b-size-{size}")


def write_image(state: RenderState, data: Node, class_: str) -> Markup:
    """Return an image in its light and dark form, or its alternative text where it leads nowhere."""
    alt = read_text(data, "alt") or read_text(data, "caption")
    class_ += _write_share(data)
    dark = _write_source(state, data, "refDark", alt, class_, "b-only-dark")
    light = _write_source(state, data, "ref", alt, class_, "b-only-light" if dark else "")
    if not light and not dark:
        return write_element("span", alt or state.context.labels.missing_image, class_="b-missing-image")
    return light + dark


def _write_source(state: RenderState, data: Node, member: str, alt: str, class_: str, theme: str) -> Markup:
    ref = read_ref(data, member)
    target = state.resolve(ref) if ref is not None else None
    address = check_picture(target.address) if target is not None else None
    if target is None or address is None:
        return EMPTY
    if not state.loads_picture(target, address):
        return state.write_picture_link(address, alt, theme)
    given = {"title": read_text(data, "caption") or None, **find_shown_size(data, target)}
    class_ = f"{class_} {theme}".rstrip()
    return write_opening("img", src=address, alt=alt, class_=class_, loading="lazy", decoding="async", **given)


def _write_share(data: Node) -> str:
    """The class of an image that is as wide as a part of its block: `width` in percent, by tens."""
    width = data.get("width")
    share = read_number(width, "value") if isinstance(width, dict) and width.get("unit") == "%" else None
    return f" b-share-{round(share / 10) * 10}" if share is not None and 5 <= share <= 100 else ""


def _render_images(state: RenderState, node: Node) -> Markup:
    data, images = read_data(node), read_nodes(node)
    classes = ["b-images", f"b-align-{read_choice(data, 'align', 'center', 'left', 'right')}"]
    classes += ["b-row"] if len(images) > 1 else []
    classes += ["b-wide"] if data.get("fullWidth") is True else []
    classes += ["b-frame"] if data.get("withFrame") is True else []
    inner = [_render_image(state, one) if read_kind(one) == "image" else state.render_nodes([one]) for one in images]
    return write_element("div", join_markup(inner), class_=" ".join(classes))


def _render_image(state: RenderState, node: Node) -> Markup:
    data, caption = read_data(node), read_fragment(node, "caption")
    link = read_ref(data, "link")
    target = state.resolve(link) if link is not None else None
    address = check_link(target.address) if target is not None else None
    state.links += address is not None
    image = write_image(state, data, "b-image")
    if address is not None:
        state.links -= 1
        image = write_element("a", image, href=address, rel="noopener" if is_foreign(address) else None)
    held = state.render_nodes(caption) if caption else escape(read_text(data, "caption"))
    return write_element("figure", image + (write_element("figcaption", held) if held else EMPTY), class_="b-figure")


def _render_drawing(state: RenderState, node: Node) -> Markup:
    data = dict(read_data(node))
    data["alt"] = read_text(data, "alt") or state.context.labels.drawing
    return write_element("figure", write_image(state, data, "b-image"), class_="b-figure b-drawing")


IMAGE_BLOCKS: Mapping[str, Callable[[RenderState, Node], Markup]] = {
    "images": _render_images,
    "image": _render_image,
    "drawing": _render_drawing,
}
