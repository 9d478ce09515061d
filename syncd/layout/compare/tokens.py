"""What a page says, block by block, apart from how it is spelled: markers, escapes, line breaks, the look of tables."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markdown_it.token import Token

from syncd.errors import FileInvalid
from syncd.layout.page.frontmatter import fields, split
from syncd.layout.page.links import resolve, rewrite
from syncd.layout.richtext.grammar import parse
from syncd.layout.richtext.html.blocks import read_block, write_block
from syncd.layout.richtext.html.elements import read_tag, write_tag
from syncd.layout.richtext.plain import TooLarge

CHARACTERS_MAX = 200_000
"""Characters above which a page is not analysed: it is compared as text."""

_BLANK = re.compile(r"\s+")
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n|\Z)")
_TEXT = frozenset({"text", "text_special", "softbreak"})

Facts = tuple[tuple[object, ...], ...]
Name = Callable[[str], str | None]
"""Given an address as written, one name for all addresses that lead to the same; None for one that it does not know."""


class Block(NamedTuple):
    """A block that lies in no other: lines `start:end` of the body without blank ones at its end, and what it says."""

    start: int
    end: int
    facts: Facts


@dataclass(frozen=True)
class Meaning:
    """A page taken apart. Shapes: `head` is its frontmatter block, `front` what that says; `lines` is the body."""

    head: str
    front: object
    lines: tuple[str, ...]
    blocks: tuple[Block, ...]

    def source(self, start: int, end: int) -> str:
        """Given a range of lines, return their text as it is."""
        return "".join(self.lines[start:end])

    def says(self, other: "Meaning") -> bool:
        """Given another page, return whether both mean the same."""
        return self.front == other.front and self.facts() == other.facts()

    def facts(self) -> list[Facts]:
        """Return what the page says below its frontmatter."""
        return [block.facts for block in self.blocks]


def meaning(text: str, *, at: str, name: Name | None = None) -> Meaning | None:
    """Given the text of the page at `at`, return what it means; None when it is too large to be taken apart.

    Shape: relative addresses count by what they lead to, which `name` knows of an address that is more than a path.
    Source: house, section 5, "Quiet mirror".
    """
    if len(text) > CHARACTERS_MAX:
        return None
    head, body = split(text)
    spelled = split(_spelled(text, at, name))[1]
    lines = tuple(_LINE.findall(body))
    try:
        return Meaning(head, _front(text, at), lines, tuple(_blocks(spelled, lines)))
    except TooLarge:
        return None


def _spelled(text: str, at: str, name: Name | None) -> str:
    """The text with every relative address in one spelling; no line becomes two."""

    def spell(address: str) -> str | None:
        named = name(address) if name is not None else None
        if named is not None:
            return named
        found = resolve(address, at=at)
        return f"/{found[0]}{found[1]}" if found is not None else None

    return rewrite(text, spell)


def _front(text: str, at: str) -> object:
    try:
        return fields(text, at=at)
    except FileInvalid:
        return split(text)[0]


def _blocks(body: str, lines: Sequence[str]) -> Iterator[Block]:
    tokens = parse(body)
    first = 0
    for at, token in enumerate(tokens):
        if token.level or token.nesting > 0:
            continue
        start, end = tokens[first].map or (0, 0)
        while end > start and not lines[end - 1].strip():
            end -= 1
        yield Block(start, end, tuple(_facts(tokens[first : at + 1])))
        first = at + 1


def _facts(tokens: Sequence[Token]) -> Iterator[tuple[object, ...]]:
    """What a reader sees of each token: no markers, no line numbers, wrapped lines as one."""
    words = ""
    for token in tokens:
        if token.type in _TEXT:
            words += token.content or " "
            continue
        if words.strip():
            yield ("text", _BLANK.sub(" ", words).strip())
        words = ""
        if token.type == "inline":
            yield from _facts(token.children or [])
        else:
            yield _fact(token)
    if words.strip():
        yield ("text", _BLANK.sub(" ", words).strip())


def _fact(token: Token) -> tuple[object, ...]:
    match token.type:
        case "definition":
            return token.type, token.meta["label"], token.meta["url"], token.meta["title"]
        case "html_block":
            return token.type, _BLANK.sub(" ", _usual_block(token.content.strip())).strip()
        case "html_inline":
            tag = read_tag(token.content)
            return token.type, _BLANK.sub(" ", write_tag(*tag) if tag else token.content).strip()
        case "tag":
            return token.type, _BLANK.sub(" ", token.content).strip()
        case "fence" | "code_block":
            return "code", token.content, token.info.strip()
        case "list_item_open":
            return (token.type,)
    return token.type, token.tag, tuple(sorted(token.attrs.items())), token.content, token.info


def _usual_block(html: str) -> str:
    """A block of HTML as the platform spells it, when it is one of the platform's."""
    node = read_block(html)
    return (write_block(node) if node is not None else None) or html
