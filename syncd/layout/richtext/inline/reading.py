"""Inline Markdown as nodes: text with marks, links, images and what else stands in a line."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from markdown_it.common.normalize_url import normalizeLink
from markdown_it.common.utils import escapeHtml
from markdown_it.token import Token

from syncd.layout.markdown.inline import normalise_address
from syncd.layout.richtext.inline.expressible import (
    MENTION,
    find_leaf_extras,
    is_inline_expressible,
    is_known_mark,
    is_plain_text,
)
from syncd.layout.richtext.inline.html import read_image, read_inline, read_mark
from syncd.layout.richtext.json_nodes import LEAF, MARK, NODE, read_json_span, read_visible_text
from syncd.layout.richtext.nodes import (
    Node,
    make_inline,
    make_leaf,
    make_mark,
    make_text,
    make_url_ref,
)

_SIGNS = {"em": ("italic", "em"), "strong": ("bold", "strong"), "s": ("strikethrough", "s")}
_OPENING = re.compile(r"<([A-Za-z][A-Za-z0-9-]*+)")
_BREAK = re.compile(r"<br *+/?>")
_PLAIN = frozenset({"text", "text_special", "softbreak", "hardbreak", "code_inline"})
_PAIRED = frozenset({"kbd", "sup", "sub", "mark", "i", "span", "code", "a", "button", "picture"})


def read_inlines(tokens: Sequence[Token] | None) -> list[Node]:
    """Return the nodes of the tokens of a line of text, at least one.

    Shape: a soft line break is a space, as CommonMark says and readers see it; a hard break, or `<br>`, is a line end.
    """
    reader = _InlineReader()
    reader.read_tokens(tokens or [])
    return reader.nodes or [make_text("")]


def read_alternative_text(tokens: Iterable[Token] | None) -> str:
    """Return what stands in the brackets of an image, without markup."""
    pieces: list[str] = []
    pending = list(reversed(list(tokens or ())))
    while pending:
        token = pending.pop()
        if token.type in ("softbreak", "hardbreak"):
            pieces.append(" ")
        elif token.type == "image":
            pending.extend(reversed(token.children or []))
        elif token.type == "math":
            pieces.append(f"$${token.content}$$")
        else:
            pieces.append(_format_token(token))
    return "".join(pieces)


@dataclass
class _OpenMark:
    """A mark that is open: without `mark` it stays HTML, as does what closes it."""

    mark: Node | None
    close: str


class _InlineReader:
    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.line: Node = {}
        """The text node that text is added to, as long as nothing else is said."""
        self.open: list[_OpenMark] = []
        self.links: list[tuple[list[Node], Token, list[Node]] | None] = []
        self.added_count = 0
        """Grows with all that is said, so that a mark that closes and opens again at once is noticed."""
        self.closed: dict[str, int] = {}

    def read_tokens(self, tokens: Sequence[Token]) -> None:
        pairs = _pair_html_tags(tokens)
        skip = -1
        for at, token in enumerate(tokens):
            if at <= skip:
                continue
            if token.type == "html_inline":
                skip = self.read_html(tokens, at, pairs)
            elif token.tag in _SIGNS and token.nesting:
                type, name = _SIGNS[token.tag]
                self.open_mark(make_mark(type), f"<{name}>", f"</{name}>") if token.nesting > 0 else self.close_mark()
            else:
                self.read_token(token)

    def read_token(self, token: Token) -> None:
        match token.type:
            case "softbreak":
                self.add_text(" ")
            case "hardbreak":
                self.add_text("\n")
            case "text_special":
                # A line end that is written as an entity is white space, not a break.
                self.add_text(token.content.replace("\n", " "))
            case "code_inline":
                self.add_text(token.content, make_mark("code"))
            case "image":
                self.add_node(self.make_image(token))
            case "link_open" if self.links:
                # An address in angle brackets may stand in a link, which no document can have: it stays HTML.
                self.open_mark(None, f'<a href="{escapeHtml(normalizeLink(str(token.attrs["href"])))}">', "</a>")
                self.links.append(None)
            case "link_open":
                self.links.append((self.nodes, token, self.list_marks()))
                self.nodes = []
                self.added_count += 1
            case "link_close":
                self.close_link(self.links.pop())
            case "math":
                self.add_node(make_inline("inline-math", {"formula": token.content}, marks=self.list_marks()))
            case "emoji":
                self.add_node(make_inline("emoji", {"code": token.content}, marks=self.list_marks()))
            case _:
                self.add_text(token.content)

    def list_marks(self) -> list[Node]:
        return [one.mark for one in self.open if one.mark is not None] if self.open else []

    def make_marks_member(self) -> Node:
        """The member of an inline that has the marks around it."""
        return {"marks": marks} if (marks := self.list_marks()) else {}

    def add_text(self, text: str, *more: Node) -> None:
        """Add text; equal marks in a row are one leaf."""
        if not text:
            return
        self.added_count += 1
        made = make_leaf(text, more)
        if around := self.list_marks():
            made["marks"] = [one for one in around if one.get("object") != "leaf"] + list(more)
            for one in around:
                if one.get("object") == "leaf":
                    made |= one | {"object": "leaf"}
        if not self.nodes or self.nodes[-1] is not self.line:
            self.line = {"object": "text", "leaves": [made]}
            self.nodes.append(self.line)
        elif (before := self.line["leaves"][-1]) | {"text": text} == made:
            before["text"] += text
        else:
            self.line["leaves"].append(made)

    def add_node(self, node: Node) -> None:
        self.added_count += 1
        self.nodes.append(node)

    def open_mark(self, made: Node | None, html: str, close: str) -> None:
        """Open a mark. What is marked so already, or was until here, stays HTML: marks can neither nest nor touch."""
        if made in self.list_marks() or self.closed.get(repr([*self.list_marks(), made])) == self.added_count:
            made = None
        if made is None:
            self.add_node(make_inline("html", {"html": html}, marks=self.list_marks()))
        self.open.append(_OpenMark(made, close))

    def close_mark(self) -> None:
        one = self.open.pop()
        if one.mark is None:
            self.add_node(make_inline("html", {"html": one.close}, marks=self.list_marks()))
        else:
            self.closed[repr([*self.list_marks(), one.mark])] = self.added_count

    def read_html(self, tokens: Sequence[Token], at: int, pairs: Mapping[int, int]) -> int:
        """Take an HTML tag, with all up to its end when it is one void inline; where that ends."""
        html, until = tokens[at].content, pairs.get(at, -1)
        if _BREAK.fullmatch(html):
            self.add_text("\n")
            return at
        if until in (-2, at):
            self.close_mark()
            return at
        if html.startswith("<img") and (image := read_image(html)) is not None:
            self.add_node(image | self.make_marks_member())
            return at
        if until < at:
            self.add_node(make_inline("html", {"html": html}, marks=self.list_marks()))
            return at
        inner = tokens[at + 1 : until]
        if (node := self.parse_inline(html, inner)) is not None:
            self.add_node(node)
            return until
        self.open_mark(self.parse_mark(html, inner) if inner else None, html, tokens[until].content)
        return at

    def parse_mark(self, html: str, inner: Sequence[Token]) -> Node | None:
        if (made := read_mark(html)) is not None:
            return made
        kind, kept = read_json_span(html) or (NODE, {})
        if kind == MARK and not is_known_mark(kept):
            return kept
        plain = all(token.type in _PLAIN or _BREAK.fullmatch(token.content) for token in inner)
        return kept | {"object": "leaf"} if kind == LEAF and plain and find_leaf_extras(kept) == kept else None

    def parse_inline(self, html: str, inner: Sequence[Token]) -> Node | None:
        if html == "<picture>" and [token.type for token in inner] == ["html_inline", "html_inline"]:
            made = read_image(inner[1].content, inner[0].content)
            return made | self.make_marks_member() if made is not None else None
        # A line end between the tags is written as a space, and is a space when it is read again.
        if not all(token.type in ("text", "text_special", "softbreak", "emoji") for token in inner):
            return None
        text = "".join(map(_format_token, inner))
        if (kept := read_json_span(html)) is not None:
            fits = (
                kept[0] == NODE
                and not is_inline_expressible(kept[1])
                and (kept[1].get("marks") or []) == self.list_marks()
            )
            return kept[1] if fits and read_visible_text(kept[1]) == text else None
        node = read_inline(html, text)
        return node | self.make_marks_member() if node is not None else None

    def make_image(self, token: Token) -> Node:
        data: Node = {"ref": make_url_ref(normalise_address(str(token.attrs["src"])))}
        if alt := read_alternative_text(token.children):
            data["alt"] = alt
        if title := token.attrs.get("title"):
            data["caption"] = str(title)
        return make_inline("inline-image", data, marks=self.list_marks())

    def close_link(self, opened: tuple[list[Node], Token, list[Node]] | None) -> None:
        if opened is None:
            self.close_mark()
            return
        inner = self.nodes or [make_text("", opened[2])]
        self.nodes, token, around = opened
        data: Node = {"ref": make_url_ref(normalise_address(str(token.attrs["href"])))}
        title = str(token.attrs.get("title", ""))
        if title == MENTION and is_plain_text(inner, around):
            self.add_node(make_inline("mention", data | {"text": inner[0]["leaves"][0]["text"]}, marks=around))
            return
        self.add_node(make_inline("link", data | ({"title": title} if title else {}), inner, marks=around))


def _format_token(token: Token) -> str:
    match token.type:
        case "softbreak":
            return " "
        case "emoji":
            return f":{token.content}:"
        case _:
            return token.content


def _pair_html_tags(tokens: Sequence[Token]) -> dict[int, int]:
    """For each opening HTML tag the place of its end, for each such end -2; only what nests as Markdown does."""
    found: dict[int, int] = {}
    frames: list[list[tuple[str, int]]] = [[]]
    for at, token in enumerate(tokens):
        if token.nesting > 0:
            frames.append([])
        elif token.nesting < 0 and len(frames) > 1:
            frames.pop()
        elif token.type == "html_inline":
            html, frame = token.content, frames[-1]
            opening = _OPENING.match(html)
            if opening and opening[1] in _PAIRED:
                frame.append((opening[1], at))
            elif frame and html == f"</{frame[-1][0]}>":
                found[frame.pop()[1]] = at
                found[at] = -2
    return found
