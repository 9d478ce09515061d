"""Lines of text in HTML, as they stand in cells, captions and summaries: as inline nodes, and these as HTML."""

from collections.abc import Iterable, Iterator, Mapping

from markdown_it.token import Token

from syncd.layout.richtext.html.elements import Content, Element, write_html_tag, write_html_text
from syncd.layout.richtext.inline.expressible import MENTION
from syncd.layout.richtext.inline.html import SIMPLE, write_image, write_image_data, write_inline, write_mark
from syncd.layout.richtext.inline.reading import read_inlines
from syncd.layout.richtext.nodes import Node, count_common_prefix, is_nodes, make_leaf, make_mark, read_url

_TAGS: Mapping[str, str] = {"strong": "strong", "b": "strong", "em": "em", "del": "s", "s": "s"}
"""Elements that Markdown has signs for, and the tag of their tokens."""
_MARKS = {"strong": "bold", "em": "italic", "del": "strikethrough", "code": "code"} | dict(SIMPLE)


def read_html_line(content: Content) -> list[Node]:
    """Return the content of an element of HTML as inline nodes; unknown elements stay HTML."""
    return read_inlines(list(_make_tokens(content)))


def write_html_line(nodes: object) -> str | None:
    """Return inline nodes as HTML; None when HTML that the platform writes cannot express them."""
    return _write_inlines(nodes, [])


def _write_inlines(nodes: object, around: list[Node]) -> str | None:
    if not is_nodes(nodes):
        return None
    pieces: list[str] = []
    opened: list[tuple[str, str]] = []
    for html, marks in _write_items(nodes):
        if html is None or not is_nodes(marks) or marks[: len(around)] != around:
            return None
        tags = [tag for made in marks[len(around) :] if (tag := _write_mark_tags(made)) is not None]
        if len(around) + len(tags) < len(marks):
            return None
        shared = count_common_prefix(opened, tags)
        pieces += [closing for _, closing in reversed(opened[shared:])]
        pieces += [*(opening for opening, _ in tags[shared:]), html]
        opened = tags
    return "".join([*pieces, *(closing for _, closing in reversed(opened))])


def _write_items(nodes: Iterable[Node]) -> Iterator[tuple[str | None, object]]:
    """The HTML of each leaf and inline, None where there is none, and the marks around it."""
    for node in nodes:
        if node.get("object") != "text":
            yield _write_inline(node), node.get("marks", [])
            continue
        leaves = node.get("leaves")
        for one in leaves if is_nodes(leaves) else [{}]:
            text, marks = one.get("text"), one.get("marks")
            is_leaf = isinstance(text, str) and is_nodes(marks) and one == make_leaf(text, marks)
            yield write_html_text(str(text)).replace("\n", "<br>") if is_leaf else None, marks


def _write_inline(node: Node) -> str | None:
    data, type = node.get("data"), node.get("type")
    if node.get("object") != "inline" or not isinstance(data, dict):
        return None
    if type == "html":
        return data["html"] if data.keys() == {"html"} and isinstance(data["html"], str) else None
    if type == "link" and data.keys() == {"ref"}:
        ref, words = read_url(data["ref"]), _write_inlines(node.get("nodes"), node.get("marks", []))
        return f"{write_html_tag('a', {'href': ref})}{words}</a>" if ref and words is not None else None
    if type == "inline-image":
        # The platform writes a text for every image.
        return write_image(node) or write_image_data({"ref": data.get("ref"), "alt": ""} | data)
    if type == "emoji" and data.keys() == {"code"}:
        return f":{data['code']}:"
    if type == "mention" and data.keys() == {"ref", "text"}:
        node = node | {"data": data | {"html": True}}
    written = write_inline(node)
    return None if written is None else f"{written[0]}{write_html_text(written[1])}{written[2]}"


def _write_mark_tags(made: Node) -> tuple[str, str] | None:
    for name, type in _MARKS.items():
        if made == make_mark(type):
            return f"<{name}>", f"</{name}>"
    return write_mark(made)


def _make_tokens(content: Content) -> Iterator[Token]:
    """The elements of a line as the parser of Markdown would tell them."""
    for piece in content:
        if isinstance(piece, str):
            yield _make_token("text", piece.replace("\n", " "))
        elif piece.name == "br":
            yield _make_token("hardbreak")
        elif piece.name == "code" and not piece.attributes and piece.text:
            yield _make_token("code_inline", piece.text)
        elif piece.name in _TAGS and not piece.attributes:
            yield from _wrap_tokens(_TAGS[piece.name], piece)
        elif piece.name == "a" and piece.attributes.get("href") and piece.attributes.keys() <= {"href", "data-mention"}:
            title = {"title": MENTION} if "data-mention" in piece.attributes else {}
            yield from _wrap_tokens("a", piece, {"href": str(piece.attributes["href"])} | title)
        elif piece.name == "img" and piece.attributes.get("src") and piece.attributes.keys() <= {"src", "alt"}:
            text = _make_token("text", piece.attributes.get("alt") or "")
            yield Token("image", "img", 0, {"src": str(piece.attributes["src"])}, children=[text])
        else:
            yield from _make_html_tokens(piece)


def _wrap_tokens(tag: str, element: Element, attributes: Mapping[str, str] | None = None) -> Iterator[Token]:
    name = "link" if tag == "a" else tag
    yield Token(f"{name}_open", tag, 1, dict(attributes or {}))
    yield from _make_tokens(element.content)
    yield Token(f"{name}_close", tag, -1)


def _make_html_tokens(element: Element) -> Iterator[Token]:
    yield _make_token("html_inline", write_html_tag(element.name, element.attributes))
    if element.name not in ("img", "source"):
        yield from _make_tokens(element.content)
        yield _make_token("html_inline", f"</{element.name}>")


def _make_token(type: str, content: str = "") -> Token:
    return Token(type, "", 0, content=content)
