"""Lines of text in HTML, as they stand in cells, captions and summaries: as inline nodes, and these as HTML."""

from collections.abc import Iterable, Iterator, Mapping

from markdown_it.token import Token

from syncd.layout.richtext.html.elements import Content, Element, write_tag, write_text
from syncd.layout.richtext.inlines import read_inlines
from syncd.layout.richtext.markup import SIMPLE, write_image, write_image_data, write_inline, write_mark
from syncd.layout.richtext.nodes import Node, common, is_nodes, leaf, mark, url_of
from syncd.layout.richtext.shapes import MENTION

_TAGS: Mapping[str, str] = {"strong": "strong", "b": "strong", "em": "em", "del": "s", "s": "s"}
"""Elements that Markdown has signs for, and the tag of their tokens."""
_MARKS = {"strong": "bold", "em": "italic", "del": "strikethrough", "code": "code"} | dict(SIMPLE)


def read_line(content: Content) -> list[Node]:
    """Given what lies in an element of HTML, return it as inline nodes; elements that are not known stay HTML."""
    return read_inlines(list(_tokens(content)))


def write_line(nodes: object) -> str | None:
    """Given inline nodes, return them as HTML; None when HTML that the platform writes cannot say them."""
    return _write(nodes, [])


def _write(nodes: object, around: list[Node]) -> str | None:
    if not is_nodes(nodes):
        return None
    pieces: list[str] = []
    opened: list[tuple[str, str]] = []
    for html, marks in _items(nodes):
        if html is None or not is_nodes(marks) or marks[: len(around)] != around:
            return None
        tags = [tag for made in marks[len(around) :] if (tag := _tags(made)) is not None]
        if len(around) + len(tags) < len(marks):
            return None
        shared = common(opened, tags)
        pieces += [closing for _, closing in reversed(opened[shared:])]
        pieces += [*(opening for opening, _ in tags[shared:]), html]
        opened = tags
    return "".join([*pieces, *(closing for _, closing in reversed(opened))])


def _items(nodes: Iterable[Node]) -> Iterator[tuple[str | None, object]]:
    """The HTML of each leaf and inline, None where there is none, and the marks around it."""
    for node in nodes:
        if node.get("object") != "text":
            yield _inline(node), node.get("marks", [])
            continue
        leaves = node.get("leaves")
        for one in leaves if is_nodes(leaves) else [{}]:
            text, marks = one.get("text"), one.get("marks")
            is_leaf = isinstance(text, str) and is_nodes(marks) and one == leaf(text, marks)
            yield write_text(str(text)).replace("\n", "<br>") if is_leaf else None, marks


def _inline(node: Node) -> str | None:
    data, type = node.get("data"), node.get("type")
    if node.get("object") != "inline" or not isinstance(data, dict):
        return None
    if type == "html":
        return data["html"] if data.keys() == {"html"} and isinstance(data["html"], str) else None
    if type == "link" and data.keys() == {"ref"}:
        ref, words = url_of(data["ref"]), _write(node.get("nodes"), node.get("marks", []))
        return f"{write_tag('a', {'href': ref})}{words}</a>" if ref and words is not None else None
    if type == "inline-image":
        # The platform writes a text for every image.
        return write_image(node) or write_image_data({"ref": data.get("ref"), "alt": ""} | data)
    if type == "emoji" and data.keys() == {"code"}:
        return f":{data['code']}:"
    if type == "mention" and data.keys() == {"ref", "text"}:
        node = node | {"data": data | {"html": True}}
    written = write_inline(node)
    return None if written is None else f"{written[0]}{write_text(written[1])}{written[2]}"


def _tags(made: Node) -> tuple[str, str] | None:
    for name, type in _MARKS.items():
        if made == mark(type):
            return f"<{name}>", f"</{name}>"
    return write_mark(made)


def _tokens(content: Content) -> Iterator[Token]:
    """The elements of a line as the parser of Markdown would tell them."""
    for piece in content:
        if isinstance(piece, str):
            yield _token("text", piece.replace("\n", " "))
        elif piece.name == "br":
            yield _token("hardbreak")
        elif piece.name == "code" and not piece.attributes and piece.text:
            yield _token("code_inline", piece.text)
        elif piece.name in _TAGS and not piece.attributes:
            yield from _around(_TAGS[piece.name], piece)
        elif piece.name == "a" and piece.attributes.get("href") and piece.attributes.keys() <= {"href", "data-mention"}:
            title = {"title": MENTION} if "data-mention" in piece.attributes else {}
            yield from _around("a", piece, {"href": str(piece.attributes["href"])} | title)
        elif piece.name == "img" and piece.attributes.get("src") and piece.attributes.keys() <= {"src", "alt"}:
            text = _token("text", piece.attributes.get("alt") or "")
            yield Token("image", "img", 0, {"src": str(piece.attributes["src"])}, children=[text])
        else:
            yield from _html(piece)


def _around(tag: str, element: Element, attributes: Mapping[str, str] | None = None) -> Iterator[Token]:
    name = "link" if tag == "a" else tag
    yield Token(f"{name}_open", tag, 1, dict(attributes or {}))
    yield from _tokens(element.content)
    yield Token(f"{name}_close", tag, -1)


def _html(element: Element) -> Iterator[Token]:
    yield _token("html_inline", write_tag(element.name, element.attributes))
    if element.name not in ("img", "source"):
        yield from _tokens(element.content)
        yield _token("html_inline", f"</{element.name}>")


def _token(type: str, content: str = "") -> Token:
    return Token(type, "", 0, content=content)
