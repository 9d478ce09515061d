"""Inline nodes as Markdown: what has which marks, where the signs of a mark may stand, and links."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from markdown_it.common.utils import MD_TRIM_CHARS, isMdAsciiPunct, isPunctChar, isWhiteSpace

from syncd.layout.richtext.grammar import classify_html
from syncd.layout.richtext.inline.escaping import encode_entities, encode_entity, escape_text, format_destination
from syncd.layout.richtext.inline.expressible import (
    MENTION,
    SIGNED,
    drop_empty_data,
    find_leaf_extras,
    is_inline_expressible,
    is_text_expressible,
)
from syncd.layout.richtext.inline.html import write_image, write_inline, write_mark
from syncd.layout.richtext.json_nodes import LEAF, MARK, NODE, read_visible_text, write_json_span
from syncd.layout.richtext.nodes import Node, count_common_prefix, read_url

_BREAK = "\\\n"
_INDENT = "    "
_Kind = Literal["text", "code", "raw", "open", "close"]


@dataclass
class _Piece:
    """A piece of a line: text, something that stands for itself, or the signs that open or close a mark."""

    kind: _Kind
    text: str
    mark: Node | None = None
    flanks: bool = False
    """Whether what stands beside these signs decides whether they are signs (`**`), or not (`<kbd>`)."""
    apart: bool = False
    """Whether a letter before it would make it part of a word."""


def write_inlines(nodes: list[Node], *, breaks: bool = True, around: list[Node] | None = None) -> str:
    """Return the nodes of a block as Markdown; with the marks `around` a link, the text of the link.

    Shape: a line end in the text is a hard break; without `breaks` it is `<br>`, and all stands in one line, in which
    no block could start.
    """
    return _InlineWriter(breaks, in_link=around is not None, around=around or []).write(nodes)


@dataclass
class _InlineWriter:
    breaks: bool
    in_link: bool
    around: list[Node]

    def write(self, nodes: list[Node]) -> str:
        pieces = list(_insert_signs(self.split_pieces(nodes)))
        _choose_signs(pieces)
        self.choose_breaks(pieces)
        for at, piece in enumerate(pieces):
            if piece.kind == "text":
                piece.text = self.format_text(pieces, at)
            elif piece.kind == "code":
                piece.text = _format_code(piece.text)
        for at in reversed(range(len(pieces))):
            if pieces[at].kind == "open" and pieces[at].flanks:
                self.fix_opening(pieces, at)
        for at, piece in enumerate(pieces):
            if piece.kind == "close" and piece.flanks:
                self.fix_closing(pieces, at)
            elif piece.apart and at and pieces[at - 1].text[-1:].isalnum():
                _encode_last(pieces, at)
        return "".join(self.indent_tags(pieces))

    def choose_breaks(self, pieces: list[_Piece]) -> None:
        """Write each break as a backslash at the end of its line, and as `<br>` where one would be no break."""
        for at, piece in enumerate(pieces):
            if piece.text == _BREAK:
                opens = at > 0 and pieces[at - 1].flanks and pieces[at - 1].kind == "open"
                closes = at + 1 == len(pieces) or (pieces[at + 1].flanks and pieces[at + 1].kind == "close")
                if not self.breaks or opens or closes:
                    piece.text = "<br>"

    def indent_tags(self, pieces: list[_Piece]) -> Iterator[str]:
        """The text of the pieces; a tag that would make HTML of the line that it starts is indented out of its way."""
        last = ""
        for piece in pieces:
            if last.endswith("\n") and classify_html(piece.text, interrupting=True):
                yield _INDENT
            yield piece.text
            last = piece.text

    def split_pieces(self, nodes: list[Node]) -> Iterator[tuple[_Piece, list[Node]]]:
        """Every piece of text and everything that stands for itself, each with its marks, outermost first."""
        for node in nodes:
            if is_text_expressible(node, self.around):
                for leaf in node["leaves"]:
                    yield from self.split_leaf(leaf)
                continue
            marks = list(map(drop_empty_data, node.get("marks") or []))[len(self.around) :]
            if is_inline_expressible(node):
                yield _Piece("raw", self.format_inline(node), apart=node["type"] == "emoji"), marks
            else:
                yield _Piece("raw", self.format_json_span(node)), marks

    def format_json_span(self, node: Node) -> str:
        opening, closing = write_json_span(NODE, node)
        return opening + self.escape(read_visible_text(node)) + closing

    def escape(self, text: str, *, brackets: bool = False) -> str:
        return escape_text(text, starts_line=False, ends_line=False, brackets=brackets or self.in_link)

    def split_leaf(self, leaf: Node) -> Iterator[tuple[_Piece, list[Node]]]:
        marks = list(map(drop_empty_data, leaf.get("marks", [])))[len(self.around) :]
        is_code = any(mark.get("type") == "code" and len(mark) == 2 for mark in marks)
        marks = [mark for at, mark in enumerate(marks) if mark not in marks[:at] and mark != _CODE]
        if extras := find_leaf_extras(leaf):
            marks.append({"object": "leaf", "extras": extras})
        if is_code and leaf["text"]:
            yield _Piece("code", leaf["text"]), marks
        elif leaf["text"]:
            for number, line in enumerate(leaf["text"].split("\n")):
                if number:
                    yield _Piece("raw", _BREAK), marks
                if line:
                    yield _Piece("text", line), marks

    def format_inline(self, node: Node) -> str:
        data, type = node["data"], node["type"]
        if type == "link":
            text = write_inlines(node["nodes"], breaks=self.breaks, around=node.get("marks") or [])
            return f"[{text}]({format_destination(read_url(data['ref']) or '', data.get('title'))})"
        if type == "mention" and "html" not in data:
            address = format_destination(read_url(data["ref"]) or "", MENTION)
            return f"[{self.escape(data['text'], brackets=True)}]({address})"
        if type == "inline-image" and (html := write_image(node)) is not None:
            return html
        if type == "inline-image":
            alt = self.escape(data.get("alt", ""), brackets=True)
            return f"![{alt}]({format_destination(read_url(data['ref']) or '', data.get('caption'))})"
        if type == "inline-math":
            return f"$${data['formula']}$$"
        if type == "html":
            return str(data["html"])
        if (written := write_inline(node)) is not None:
            opening, text, closing = written
            return opening + (text if type == "icon" else self.escape(text)) + closing
        return f":{data['code']}:"

    def format_text(self, pieces: list[_Piece], at: int) -> str:
        before = pieces[at - 1] if at else None
        behind = pieces[at + 1] if at + 1 < len(pieces) else None
        broken = before is not None and before.text == _BREAK
        starts = broken or (before is None and not self.in_link)
        ends = behind is None and not self.in_link
        made = escape_text(pieces[at].text, starts_line=starts and self.breaks, ends_line=ends, brackets=self.in_link)
        if starts:
            made = _encode_start(made)
        if ends:
            bare = made.rstrip(MD_TRIM_CHARS)
            made = bare + encode_entities(made[len(bare) :])
        if made.endswith("!") and behind is not None and behind.text.startswith("["):
            made = f"{made[:-1]}\\!"
        return made

    def fix_opening(self, pieces: list[_Piece], at: int) -> None:
        """Make these signs open: what is in their way becomes an entity."""
        if _is_space(self.find_sign_after(pieces, at)):
            _encode_first(pieces, at)
        before = self.find_sign_before(pieces, at)
        blocked = _is_sign(self.find_sign_after(pieces, at)) or pieces[at].text == "_"
        if blocked and not (_is_space(before) or _is_sign(before)):
            _encode_last(pieces, at)

    def fix_closing(self, pieces: list[_Piece], at: int) -> None:
        """Make these signs close: what is in their way becomes an entity."""
        if _is_space(self.find_sign_before(pieces, at)):
            _encode_last(pieces, at)
        after = self.find_sign_after(pieces, at)
        blocked = _is_sign(self.find_sign_before(pieces, at)) or pieces[at].text == "_"
        if blocked and not (_is_space(after) or _is_sign(after)):
            _encode_first(pieces, at)

    def find_sign_before(self, pieces: list[_Piece], at: int) -> str:
        return pieces[at - 1].text[-1] if at else "[" if self.in_link else " "

    def find_sign_after(self, pieces: list[_Piece], at: int) -> str:
        return pieces[at + 1].text[0] if at + 1 < len(pieces) else " "


_CODE: Node = {"object": "mark", "type": "code"}


def _insert_signs(items: Iterator[tuple[_Piece, list[Node]]]) -> Iterator[_Piece]:
    """The pieces with the signs of their marks between them; equal marks in a row are one."""
    last: _Piece | None = None
    marks: list[Node] = []
    for piece, wanted in items:
        if last is not None and last.kind == piece.kind and piece.kind in ("text", "code") and wanted == marks:
            last.text += piece.text
            continue
        if last is not None:
            yield last
        shared = count_common_prefix(marks, wanted)
        yield from (_make_signs(mark, "close") for mark in reversed(marks[shared:]))
        yield from (_make_signs(mark, "open") for mark in wanted[shared:])
        last, marks = piece, wanted
    if last is not None:
        yield last
        yield from (_make_signs(mark, "close") for mark in reversed(marks))


def _make_signs(mark: Node, kind: Literal["open", "close"]) -> _Piece:
    signs = SIGNED.get(str(mark.get("type"))) if len(mark) == 2 and mark.get("object") == "mark" else None
    if signs is not None:
        return _Piece(kind, signs, mark, flanks=True)
    tags = (
        write_json_span(LEAF, mark["extras"]) if "extras" in mark else write_mark(mark) or write_json_span(MARK, mark)
    )
    return _Piece(kind, tags[kind == "close"], mark)


def _choose_signs(pieces: list[_Piece]) -> None:
    """In a word `_` is no sign: there `*` stands for it, where no other sign is near that it could be taken with."""
    depth = 0
    for at, piece in enumerate(pieces):
        depth += (piece.kind == "open") - (piece.kind == "close")
        if piece.text != "_" or piece.kind != "open" or depth > 1 or pieces[at + 2].mark is not piece.mark:
            continue
        before, behind = pieces[at - 1 : at] if at else [], pieces[at + 3 : at + 4]
        within = any(one.text[-1:].isalnum() for one in before) or any(one.text[:1].isalnum() for one in behind)
        if within and not any(one.mark for one in [*before, *behind]):
            piece.text = pieces[at + 2].text = "*"


def _encode_first(pieces: list[_Piece], at: int) -> None:
    behind = pieces[at + 1] if at + 1 < len(pieces) else None
    if behind is not None and behind.kind == "text":
        behind.text = encode_entity(behind.text[0]) + behind.text[1:]


def _encode_last(pieces: list[_Piece], at: int) -> None:
    before = pieces[at - 1] if at else None
    if before is not None and before.kind == "text":
        before.text = before.text[:-1] + encode_entity(before.text[-1])


def _encode_start(text: str) -> str:
    bare = text.lstrip(MD_TRIM_CHARS)
    return encode_entities(text[: len(text) - len(bare)]) + bare


def _format_code(text: str) -> str:
    text = text.replace("\n", " ")
    runs = {len(run) for run in "".join(sign if sign == "`" else " " for sign in text).split()}
    sign = "`" * next(length for length in range(1, len(runs) + 2) if length not in runs)
    pad = " " if "`" in (text[0], text[-1]) or (text[0] == text[-1] == " " and text.strip(" ")) else ""
    return sign + pad + text + pad + sign


def _is_space(sign: str) -> bool:
    return isWhiteSpace(ord(sign))


def _is_sign(sign: str) -> bool:
    return isMdAsciiPunct(ord(sign)) or isPunctChar(sign)
