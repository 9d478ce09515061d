"""HTML that the platform writes where Markdown has no sign, and the nodes that it stands for.

Only what can be written back byte for byte becomes a node; all other HTML stays as it is.
"""

import re
from collections.abc import Mapping
from html import unescape

from syncd.layout.richtext.nodes import (
    Node,
    block,
    common,
    fragment,
    fragments_of,
    inline,
    is_nodes,
    leaf,
    mark,
    paragraph,
    url_of,
    url_ref,
)

OPEN = "<details>"
CLOSE = "</details>"

_TAG = re.compile(r'<([A-Za-z][A-Za-z0-9-]*+)((?:\s+[A-Za-z_:][\w:.-]*+(?:="[^"]*+")?)*+)>')
_ATTRIBUTE = re.compile(r'\s+([A-Za-z_:][\w:.-]*+)(?:="([^"]*+)")?')
_PIECE = re.compile(r"<(/?)([a-z]+)>|([^<]+)")
_COLOR = re.compile(r"(?:color:(\$?[a-z]+);)?(?:background-color:(\$?[a-z]+);)?")
_FIGURE = re.compile(r"<figure>(<img [^<>]*>)<figcaption>(?:<p>(.*)</p>)?</figcaption></figure>", re.DOTALL)
_DETAILS = re.compile(r"<details( open)?>\s*(?:<summary>([^\n]*)</summary>)?\s*")
_SUMMARY = re.compile(r"<summary>([^\n]*)</summary>\s*")
_SIMPLE = {"kbd": "keyboard", "sup": "superscript", "sub": "subscript"}
_PHRASES = _SIMPLE | {"strong": "bold", "em": "italic", "del": "strikethrough", "code": "code"}
_IMAGE = frozenset({"object", "type", "key", "isVoid", "data", "fragments"})
_LENGTHS = ("width", "height")
_LONGEST = 1_000_000
_NUMBER = re.compile("[1-9][0-9]{0,5}")
_KINDS = ("primary", "secondary")


def tag_of(html: str) -> tuple[str, dict[str, str | None]] | None:
    """Given an opening tag, return its name and attributes; None when it could not be written back as it stands."""
    found = _TAG.fullmatch(html)
    if found is None:
        return None
    given: dict[str, str | None] = {}
    for one in _ATTRIBUTE.finditer(found[2]):
        if one[1] in given:
            return None
        given[one[1]] = None if one[2] is None else unescape(one[2])
    return (found[1], given) if tag(found[1], given) == html else None


def tag(name: str, attributes: Mapping[str, str | None]) -> str:
    """Given a name and attributes, return the opening tag; None is an attribute without a value."""
    spelled = (key if value is None else f'{key}="{_quoted(value)}"' for key, value in attributes.items())
    return "<" + " ".join([name, *spelled]) + ">"


def read_mark(html: str) -> Node | None:
    """Given an opening tag, return the mark that it stands for."""
    found = tag_of(html)
    made = _mark(*found) if found else None
    return made if made is not None and (write_mark(made) or ("",))[0] == html else None


def write_mark(node: Node) -> tuple[str, str] | None:
    """Given a mark, return its two tags; None when it is none that is written as HTML."""
    for name, type in _SIMPLE.items():
        if node == mark(type):
            return f"<{name}>", f"</{name}>"
    if node.get("type") == "color" and (style := _style(node)):
        return tag("mark", {"style": style}), "</mark>"
    return None


def read_inline(html: str, words: str) -> Node | None:
    """Given an opening tag and the plain text in it, return the void inline that it stands for."""
    found = tag_of(html)
    if found is None:
        return None
    made = _inline(*found, words)
    return made if made is not None and write_inline(made) == (html, words, f"</{found[0]}>") else None


def write_inline(node: Node) -> tuple[str, str, str] | None:
    """Given a void inline that is written as HTML, return its tags and the plain text between; None for any other."""
    data = node.get("data")
    if not isinstance(data, dict) or node.keys() - {"object", "type", "isVoid", "data", "marks", "key"}:
        return None
    made = {name: value for name, value in data.items() if isinstance(value, str)}
    type, ref = node.get("type"), url_of(data.get("ref"))
    if type == "icon" and made == data and data.keys() in ({"icon"}, {"icon", "color"}):
        style = {"style": f"color:{made['color']};"} if "color" in made else {}
        return tag("i", {"class": f"fa-{made['icon']}"} | style), f":{made['icon']}:", "</i>"
    if type == "emoji" and made == data and data.keys() == {"code", "text"}:
        given = {"data-gb-custom-inline": None, "data-tag": "emoji", "data-code": made["code"]}
        return tag("span", given), made["text"], "</span>"
    if type == "expression" and made == data and data.keys() == {"expression"}:
        return tag("code", {"class": "expression"}), made["expression"], "</code>"
    if type == "button" and ref is not None and made.keys() | {"ref"} == data.keys() and made.get("kind") in _KINDS:
        icon = {"data-icon": made["icon"]} if "icon" in made else {}
        if made.keys() - {"icon"} == {"label", "kind"}:
            return tag("a", {"href": ref, "class": f"button {made['kind']}"} | icon), made["label"], "</a>"
    return None


def read_figure(html: str) -> Node | None:
    """Given an HTML block, return the image that it shows; None when it is no plain figure."""
    found = _FIGURE.fullmatch(html)
    image = tag_of(found[1]) if found else None
    if found is None or image is None or image[0] != "img" or not isinstance(image[1].get("src"), str):
        return None
    data: Node = {"ref" if name == "src" else name: _length(name, value) for name, value in image[1].items()}
    data["ref"] = url_ref(str(image[1]["src"]))
    caption = read_phrase(found[2]) if found[2] is not None else None
    if (found[2] is not None and caption is None) or None in data.values() or "ref" in image[1]:
        return None
    held = [fragment("caption", [paragraph(caption)])] if caption is not None else []
    made = block("images", {}, [block("image", data, fragments=held)])
    return made if write_figure(made) == html else None


def write_figure(node: Node) -> str | None:
    """Given an `images` block, return its figure; None when it is more than one plain image."""
    images = node.get("nodes")
    if not is_nodes(images) or len(images) != 1 or node.get("data"):
        return None
    image, held = images[0], fragments_of(images[0])
    data = image.get("data")
    if image.get("type") != "image" or not isinstance(data, dict) or held is None or held.keys() - {"caption"}:
        return None
    if image.keys() - _IMAGE or "src" in data or (source := url_of(data.get("ref"))) is None:
        return None
    given = {name: str(value) if _is_length(name, value) else value for name, value in data.items()}
    given = {"src" if name == "ref" else name: source if name == "ref" else value for name, value in given.items()}
    text = _caption(held["caption"]) if "caption" in held else ""
    if text is None or not all(isinstance(value, str) for value in given.values()):
        return None
    caption = f"<p>{text}</p>" if "caption" in held else ""
    made = f"<figure>{tag('img', given)}<figcaption>{caption}</figcaption></figure>"
    return made if _FIGURE.fullmatch(made) and "\n" not in made and tag_of(tag("img", given)) else None


def read_details(html: str, behind: str | None) -> tuple[bool, list[Node], bool] | None:
    """Given an HTML block and the one behind it, return whether the details that they open are open, and the title.

    Shape: the third tells whether the title stands in the second block; None when no details begin here.
    """
    found = _DETAILS.fullmatch(html)
    if found is None:
        return None
    second = _SUMMARY.fullmatch(behind) if found[2] is None and behind is not None else None
    title = found[2] if found[2] is not None else second[1] if second else None
    nodes = read_phrase(title) if title is not None else None
    return None if nodes is None else (found[1] is not None, nodes, second is not None)


def read_phrase(html: str) -> list[Node] | None:
    """Given HTML that is only text with simple tags, return its nodes; None when it is more than that."""
    leaves: list[Node] = []
    marks: list[Node] = []
    at = 0
    while at < len(html):
        piece = _PIECE.match(html, at)
        if piece is None or (piece[2] and piece[2] not in _PHRASES):
            return None
        at = piece.end()
        if piece[3]:
            leaves.append(leaf(unescape(piece[3]), marks))
        elif not piece[1]:
            marks.append(mark(_PHRASES[piece[2]]))
        elif not marks or marks.pop() != mark(_PHRASES[piece[2]]):
            return None
    nodes: list[Node] = [{"object": "text", "leaves": leaves or [leaf("")]}]
    return nodes if write_phrase(nodes) == html else None


def write_phrase(nodes: object) -> str | None:
    """Given inline nodes, return them as HTML; None when simple tags cannot say them."""
    if not is_nodes(nodes) or len(nodes) != 1 or nodes[0].keys() - {"key"} != {"object", "leaves"}:
        return None
    leaves = nodes[0]["leaves"]
    if not is_nodes(leaves) or not leaves:
        return None
    pieces: list[str] = []
    opened: list[str] = []
    for one in leaves:
        marks = one.get("marks")
        names = [name for each in marks for name in _PHRASES if each == mark(_PHRASES[name])] if is_nodes(marks) else []
        if not isinstance(one.get("text"), str) or one != leaf(one["text"], [mark(_PHRASES[name]) for name in names]):
            return None
        shared = common(opened, names)
        pieces += [f"</{name}>" for name in reversed(opened[shared:])]
        pieces += [*(f"<{name}>" for name in names[shared:]), _quoted(one["text"]).replace("&quot;", '"')]
        opened = names
    made = "".join([*pieces, *(f"</{name}>" for name in reversed(opened))])
    return None if "\n" in made else made


def _length(name: str, value: str | None) -> str | int | None:
    return int(value) if name in _LENGTHS and value is not None and _NUMBER.fullmatch(value) else value


def _is_length(name: str, value: object) -> bool:
    return name in _LENGTHS and isinstance(value, int) and not isinstance(value, bool) and 0 < value < _LONGEST


def _caption(nodes: list[Node]) -> str | None:
    if len(nodes) != 1 or nodes[0].get("type") != "paragraph" or nodes[0].get("data"):
        return None
    return write_phrase(nodes[0].get("nodes"))


def _mark(name: str, given: Mapping[str, str | None]) -> Node | None:
    if name in _SIMPLE:
        return mark(_SIMPLE[name])
    if name == "mark" and given.keys() == {"style"} and (color := _COLOR.fullmatch(given["style"] or "")):
        return mark("color", {"text": color[1] or "default", "background": color[2] or "default"})
    return None


def _style(node: Node) -> str | None:
    data = node.get("data")
    if not isinstance(data, dict) or node != mark("color", data) or data.keys() != {"text", "background"}:
        return None
    parts = (("color", data["text"]), ("background-color", data["background"]))
    style = "".join(f"{name}:{value};" for name, value in parts if value != "default")
    return style if style and _COLOR.fullmatch(style) and "default" not in style else None


def _inline(name: str, given: Mapping[str, str | None], words: str) -> Node | None:
    value = {key: text or "" for key, text in given.items()}
    if name == "i" and (style := value.get("class", "")).startswith("fa-"):
        color = value.get("style", "").removeprefix("color:").removesuffix(";")
        return inline("icon", {"icon": style[3:]} | ({"color": color} if color else {}))
    if name == "span" and value.get("data-tag") == "emoji":
        return inline("emoji", {"code": value.get("data-code", ""), "text": words})
    if name == "code" and value.get("class") == "expression":
        return inline("expression", {"expression": words})
    if name == "a" and value.get("class", "").startswith("button "):
        icon = {"icon": value["data-icon"]} if "data-icon" in value else {}
        kind = value["class"].removeprefix("button ")
        return inline("button", {"label": words, "kind": kind, "ref": url_ref(value.get("href", ""))} | icon)
    return None


def _quoted(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
