"""HTML that the platform writes in a line of text where Markdown has no sign, and the nodes that it stands for.

Only what reads back as the same node becomes one; all other HTML stays as it is.
"""

import re
from collections.abc import Mapping
from html import unescape

from syncd.layout.richtext.attributes import SIZE, TEXT, URL, NodeMember, read_members, write_members
from syncd.layout.richtext.html.elements import Attributes, read_html_tag, write_html_tag
from syncd.layout.richtext.nodes import Node, make_inline, make_mark, make_url_ref, read_url

SIMPLE: Mapping[str, str] = {"kbd": "keyboard", "sup": "superscript", "sub": "subscript"}
"""Elements that are marks and have no attributes, and no sign in Markdown."""

_COLOR = re.compile(r"(?:color:(\$?[a-z]+);)?(?:background-color:(\$?[a-z]+);)?")
_KINDS = ("primary", "secondary")
_SIZES = ("small", "medium", "large")
_ACTIONS: Mapping[str, str] = {"ask": "query", "search": "query", "select": "slug"}
"""What a button can do, and the member that says with what."""
_IMAGE: Mapping[str, NodeMember] = {
    "src": NodeMember("ref", URL),
    "alt": NodeMember("alt", TEXT),
    "data-size": NodeMember("size", TEXT),
    "width": NodeMember("width", SIZE),
    "height": NodeMember("height", SIZE),
}
_UNSAID = frozenset({"size", "width", "height", "refDark"})
"""Members of an inline image that Markdown has no sign for."""
_DARK = "(prefers-color-scheme: dark)"


def read_mark(html: str) -> Node | None:
    """Return the mark that an opening tag stands for, or None."""
    found = read_html_tag(html)
    made = _parse_mark(*found) if found else None
    return made if made is not None and _is_same((write_mark(made) or ("",))[0], html) else None


def write_mark(node: Node) -> tuple[str, str] | None:
    """Return the two tags of a mark; None when it is not written as HTML."""
    for name, type in SIMPLE.items():
        if node == make_mark(type):
            return f"<{name}>", f"</{name}>"
    if node.get("type") == "color" and (style := _format_style(node)):
        return write_html_tag("mark", {"style": style}), "</mark>"
    return None


def read_inline(html: str, words: str) -> Node | None:
    """Return the void inline that an opening tag and the plain text in it stand for, or None."""
    found = read_html_tag(html)
    made = _parse_inline(*found, words) if found else None
    written = write_inline(made) if made is not None else None
    return made if written and _is_same(written[0], html) and written[1] == words else None


def write_inline(node: Node) -> tuple[str, str, str] | None:
    """Return the tags of a void inline and the plain text between; None when it is not written as HTML."""
    data = node.get("data")
    if not isinstance(data, dict) or node.keys() - {"object", "type", "isVoid", "data", "marks", "key"}:
        return None
    type, made = node.get("type"), {name: value for name, value in data.items() if isinstance(value, str)}
    if type == "button":
        return _write_button(data, made)
    if type == "mention" and data.keys() == {"ref", "text", "html"} and data["html"] is True:
        ref, text = read_url(data["ref"]), made.get("text")
        return (write_html_tag("a", {"data-mention": None, "href": ref}), text, "</a>") if ref and text else None
    if made != data:
        return None
    if type == "icon" and data.keys() in ({"icon"}, {"icon", "color"}):
        style = {"style": f"color:{made['color']};"} if "color" in made else {}
        return write_html_tag("i", {"class": f"fa-{made['icon']}"} | style), f":{made['icon']}:", "</i>"
    if type == "emoji" and data.keys() == {"code", "text"}:
        given = {"data-gb-custom-inline": None, "data-tag": "emoji", "data-code": made["code"]}
        return write_html_tag("span", given), made["text"], "</span>"
    if type == "expression" and data.keys() == {"expression"}:
        return write_html_tag("code", {"class": "expression"}), made["expression"], "</code>"
    return None


def read_image(html: str, dark: str = "") -> Node | None:
    """Return the inline image of a tag and of the tag of its dark variant, if it has one."""
    tag, source = read_html_tag(html), read_html_tag(dark) if dark else None
    if tag is None or tag[0] != "img" or (dark and source is None):
        return None
    data = read_image_data(tag[1], source[1] if source else None)
    made = None if data is None else make_inline("inline-image", data)
    return made if made is not None and write_image(made) is not None else None


def write_image(node: Node) -> str | None:
    """Return the HTML of an inline image that Markdown has no sign for; None for any other."""
    data = node.get("data")
    return write_image_data(data) if isinstance(data, dict) and data.keys() & _UNSAID else None


def read_image_data(attributes: Attributes, dark: Attributes | None = None) -> Node | None:
    """Return the data of an image from its attributes and those of its dark variant; None for others."""
    data = read_members(attributes, _IMAGE)
    if data is None or "ref" not in data or dark is None:
        return data if data and "ref" in data else None
    if dark.keys() != {"srcset", "media"} or dark["media"] != _DARK or not dark["srcset"]:
        return None
    return data | {"refDark": make_url_ref(dark["srcset"])}


def write_image_data(data: Node) -> str | None:
    """Return the tag of an image, in a picture when it has a dark variant; None when no tag can express it."""
    members = {member: value for member, value in data.items() if member != "refDark"}
    attributes = write_members(members, _IMAGE)
    if attributes is None or "src" not in attributes:
        return None
    tag = write_html_tag("img", attributes)
    if "refDark" not in data:
        return tag
    dark = read_url(data["refDark"])
    return f"<picture>{write_html_tag('source', {'srcset': dark, 'media': _DARK})}{tag}</picture>" if dark else None


def _is_same(one: str, other: str) -> bool:
    """Whether two tags differ in nothing but how entities are spelled."""
    return unescape(one) == unescape(other)


def _parse_mark(name: str, given: Attributes) -> Node | None:
    if name in SIMPLE:
        return make_mark(SIMPLE[name])
    if name == "mark" and given.keys() == {"style"} and (color := _COLOR.fullmatch(given["style"] or "")):
        return make_mark("color", {"text": color[1] or "default", "background": color[2] or "default"})
    return None


def _format_style(node: Node) -> str | None:
    data = node.get("data")
    if not isinstance(data, dict) or node != make_mark("color", data) or data.keys() != {"text", "background"}:
        return None
    parts = (("color", data["text"]), ("background-color", data["background"]))
    style = "".join(f"{name}:{value};" for name, value in parts if value != "default")
    return style if style and _COLOR.fullmatch(style) and "default" not in style else None


def _parse_inline(name: str, given: Attributes, words: str) -> Node | None:
    value = {key: text or "" for key, text in given.items()}
    if name == "i" and (style := value.get("class", "")).startswith("fa-"):
        color = value.get("style", "").removeprefix("color:").removesuffix(";")
        return make_inline("icon", {"icon": style[3:]} | ({"color": color} if color else {}))
    if name == "span" and value.get("data-tag") == "emoji":
        return make_inline("emoji", {"code": value.get("data-code", ""), "text": words})
    if name == "code" and value.get("class") == "expression":
        return make_inline("expression", {"expression": words})
    if name == "a" and given.keys() == {"data-mention", "href"} and words:
        return make_inline("mention", {"ref": make_url_ref(value["href"]), "text": words, "html": True})
    if name in ("a", "button") and value.get("class", "").startswith("button "):
        return _read_button(value, words)
    return None


def _read_button(value: Mapping[str, str], words: str) -> Node:
    kind, *size = value["class"].split(" ")[1:]
    data: Node = {"label": words, "kind": kind} | ({"size": size[0]} if size else {})
    if "href" in value:
        data["ref"] = make_url_ref(value["href"])
    if "data-action" in value:
        said = value.get("data-query", value.get("data-slug"))
        more = {} if said is None else {_ACTIONS.get(value["data-action"], "query"): said}
        data["action"] = {"action": value["data-action"]} | more
    return make_inline("button", data | ({"icon": value["data-icon"]} if "data-icon" in value else {}))


def _write_button(data: Node, made: Mapping[str, str]) -> tuple[str, str, str] | None:
    known = data.keys() <= {"label", "kind", "size", "ref", "action", "icon"}
    if not known or not data.keys() - made.keys() <= {"ref", "action"} or {"ref", "action"} <= data.keys():
        return None
    if not made.get("label") or made.get("kind") not in _KINDS or made.get("size", "small") not in _SIZES:
        return None
    style = {"class": " ".join(["button", made["kind"], *([made["size"]] if "size" in made else [])])}
    icon = {"data-icon": made["icon"]} if "icon" in made else {}
    if "action" in data:
        done = _write_action(data["action"])
        tag = write_html_tag("button", {"type": "button", **style, **done, **icon}) if done is not None else None
    else:
        ref = read_url(data["ref"]) if "ref" in data else ""
        tag = write_html_tag("a", ({"href": ref} if "ref" in data else {}) | style | icon) if ref is not None else None
    return None if tag is None else (tag, made["label"], f"</{'button' if 'action' in data else 'a'}>")


def _write_action(action: object) -> dict[str, str] | None:
    member = _ACTIONS.get(str(action.get("action"))) if isinstance(action, dict) else None
    if member is None or not isinstance(action, dict):
        return None
    said = action.get(member)
    if action.keys() - {"action", member} or not isinstance(said, str | None):
        return None
    return {"data-action": action["action"]} | ({f"data-{member}": said} if said is not None else {})
