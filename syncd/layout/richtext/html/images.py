"""Images and drawings as the platform writes them: figures in HTML, alone or side by side in a `div`."""

from collections.abc import Mapping

from syncd.layout.richtext.attributes import FLAG, TEXT, URL, NodeMember, make_choice, read_members, write_members
from syncd.layout.richtext.html.elements import (
    Content,
    Element,
    ReadLine,
    WriteLine,
    list_only_elements,
    write_html_tag,
)
from syncd.layout.richtext.inline.html import read_image_data, write_image_data
from syncd.layout.richtext.nodes import (
    Node,
    is_nodes,
    make_block,
    make_fragment,
    make_paragraph,
    make_url_ref,
    read_fragments,
    read_url,
)

_IMAGES: Mapping[str, NodeMember] = {
    "align": NodeMember("align", make_choice("left", "center", "right")),
    "data-full-width": NodeMember("fullWidth", FLAG),
    "data-with-frame": NodeMember("withFrame", FLAG),
}
"""Attributes of the `div` around images."""
_DRAWING: Mapping[str, NodeMember] = {"src": NodeMember("ref", URL), "alt": NodeMember("alt", TEXT)}
_DRAWING_CLASS = "gitbook-drawing"
_MEMBERS = frozenset({"object", "type", "key", "isVoid", "data", "fragments"})
_BARE: Node = {"bare": True}
"""In the data of an image that stands in no figure, and of a block whose `div` says nothing."""


def read_images(element: Element, read_caption: ReadLine) -> Node | None:
    """Return the block of images that an element is; None when it is something else."""
    if element.name != "div":
        image = _read_image(element, read_caption)
        return None if image is None else make_block("images", {}, [image])
    data, figures = read_members(element.attributes, _IMAGES), list_only_elements(element.content)
    images = [image for figure in figures or () if (image := _read_image(figure, read_caption)) is not None]
    if data is None or not figures or len(images) < len(figures):
        return None
    return make_block("images", dict(_BARE) if not data and len(images) == 1 else data, images)


def write_images(node: Node, write_caption: WriteLine) -> str | None:
    """Return the HTML of a block of images; None when figures cannot express it."""
    images, data = node.get("nodes"), node.get("data") or {}
    if not is_nodes(images) or not images:
        return None
    attributes = write_members({} if data == _BARE else data, _IMAGES)
    figures = [figure for image in images if (figure := _write_image(image, write_caption)) is not None]
    if attributes is None or len(figures) < len(images):
        return None
    inner = " ".join(figures)
    return f"{write_html_tag('div', attributes)}{inner}</div>" if data or len(images) > 1 else inner


def read_drawing(element: Element) -> Node | None:
    """Return the drawing that an element is; None when it is something else."""
    attributes = dict(element.attributes)
    if element.name != "img" or attributes.pop("class", None) != _DRAWING_CLASS:
        return None
    data = read_members(attributes, _DRAWING)
    return make_block("drawing", data) if data and "ref" in data else None


def write_drawing(node: Node) -> str | None:
    """Return the HTML of a drawing; None when an image cannot express it."""
    attributes = write_members(node.get("data") or {}, _DRAWING)
    if not attributes or "src" not in attributes or "nodes" in node:
        return None
    return write_html_tag("img", {**attributes, "class": _DRAWING_CLASS})


def _read_image(element: Element, read_caption: ReadLine) -> Node | None:
    """An image of its own, or a figure with an image and a caption, which may be empty."""
    if element.name != "figure":
        data = _read_picture(element)
        return None if data is None else make_block("image", data | _BARE, fragments=[])
    parts = list_only_elements(element.content)
    if element.attributes or parts is None or len(parts) != 2 or parts[1].name != "figcaption" or parts[1].attributes:
        return None
    data, caption = _read_linked(parts[0]), _read_captions(parts[1].content, read_caption)
    if data is None or caption is None:
        return None
    return make_block("image", data, fragments=[make_fragment("caption", caption)] if caption else [])


def _read_linked(element: Element) -> Node | None:
    """The data of an image that may stand in a link."""
    if element.name != "a":
        return _read_picture(element)
    pictures, link = list_only_elements(element.content), element.attributes.get("href")
    if pictures is None or len(pictures) != 1 or element.attributes.keys() != {"href"} or not link:
        return None
    data = _read_picture(pictures[0])
    return None if data is None else data | {"link": make_url_ref(link)}


def _read_picture(element: Element) -> Node | None:
    """The data of an image that may have a dark variant."""
    if element.name == "img":
        return read_image_data(element.attributes)
    parts = list_only_elements(element.content) if element.name == "picture" and not element.attributes else None
    if parts is None or [part.name for part in parts] != ["source", "img"]:
        return None
    return read_image_data(parts[1].attributes, parts[0].attributes)


def _read_captions(content: Content, read_caption: ReadLine) -> list[Node] | None:
    parts = list_only_elements(content)
    if parts is None or any(part.name != "p" or part.attributes for part in parts):
        return None
    return [make_paragraph(read_caption(part.content)) for part in parts]


def _write_image(image: Node, write_caption: WriteLine) -> str | None:
    data, fragments = image.get("data"), read_fragments(image)
    if image.get("type") != "image" or image.keys() - _MEMBERS or not isinstance(data, dict) or fragments is None:
        return None
    if data.get("bare") is True:
        members = {member: value for member, value in data.items() if member != "bare"}
        return None if fragments else write_image_data(members)
    picture = write_image_data({member: value for member, value in data.items() if member != "link"})
    lines = [_write_paragraph(line, write_caption) for line in fragments.get("caption", ())]
    link = read_url(data["link"]) if "link" in data else ""
    if picture is None or link is None or None in lines or fragments.keys() - {"caption"}:
        return None
    caption = "".join(f"<p>{line}</p>" for line in lines)
    shown = f"{write_html_tag('a', {'href': link})}{picture}</a>" if link else picture
    return f"<figure>{shown}<figcaption>{caption}</figcaption></figure>"


def _write_paragraph(node: Node, write_caption: WriteLine) -> str | None:
    return write_caption(node.get("nodes")) if node.get("type") == "paragraph" and not node.get("data") else None
