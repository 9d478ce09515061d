"""Read the content of a page, block by block, without its formatting: markers, escapes, line breaks, the layout of
tables."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from syncd.errors import FileInvalid
from syncd.layout.compare.page_blocks import Block, TokenizedPage
from syncd.layout.markdown.addresses import resolve_address
from syncd.layout.page.frontmatter import read_fields, split_frontmatter
from syncd.layout.page.links import rewrite_addresses
from syncd.layout.richtext.html.elements import read_html_tag, write_html_tag
from syncd.layout.richtext.plain_page import TooLarge

if TYPE_CHECKING:
    from markdown_it.token import Token

CHARACTERS_MAX = 200_000
"""Characters above which a page is not analysed: it is compared as text."""

_BLANK = re.compile(r"\s+")
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n|\Z)")
_TEXT = frozenset({"text", "text_special", "softbreak"})

NameAddress = Callable[[str], str | None]
"""One name for all addresses as written that lead to the same; None for one that it does not know."""


def tokenize_page(text: str, *, at: str, name_address: NameAddress | None = None) -> TokenizedPage | None:
    """Return the content of the page at `at` as blocks; None when it is too large.

    Shape: a relative address counts by what it leads to; `name_address` resolves addresses that are more than a path.
    Source: syncd/manual/explanation/fidelity.md, "Another form".
    """
    if len(text) > CHARACTERS_MAX:
        return None
    head, body = split_frontmatter(text)
    normalised = split_frontmatter(_normalise_addresses(text, at, name_address))[1]
    lines = tuple(_LINE.findall(body))
    try:
        return TokenizedPage(head, _read_frontmatter(text, at), lines, tuple(_split_blocks(normalised, lines)))
    except TooLarge:
        return None


def _normalise_addresses(text: str, at: str, name_address: NameAddress | None) -> str:
    """Return the text with every relative address in one spelling; no line becomes two."""

    def normalise(address: str) -> str | None:
        named = name_address(address) if name_address is not None else None
        if named is not None:
            return named
        found = resolve_address(address, at=at)
        return f"/{found[0]}{found[1]}" if found is not None else None

    return rewrite_addresses(text, normalise)


def _read_frontmatter(text: str, at: str) -> object:
    try:
        return read_fields(text, at=at)
    except FileInvalid:
        return split_frontmatter(text)[0]


def _split_blocks(body: str, lines: Sequence[str]) -> Iterator[Block]:
    # Here, as most runs compare nothing, and the parser takes longer to load than they do.
    from syncd.layout.richtext.grammar import parse_markdown

    tokens = parse_markdown(body)
    first = 0
    for at, token in enumerate(tokens):
        if token.level or token.nesting > 0:
            continue
        start, end = tokens[first].map or (0, 0)
        while end > start and not lines[end - 1].strip():
            end -= 1
        yield Block(start, end, tuple(_normalise_tokens(tokens[first : at + 1])))
        first = at + 1


def _normalise_tokens(tokens: "Sequence[Token]") -> Iterator[tuple[object, ...]]:
    """Yield what a reader sees of each token: no markers, no line numbers, wrapped lines as one."""
    words = ""
    for token in tokens:
        if token.type in _TEXT:
            words += token.content or " "
            continue
        if words.strip():
            yield ("text", _BLANK.sub(" ", words).strip())
        words = ""
        if token.type == "inline":
            yield from _normalise_tokens(token.children or [])
        else:
            yield _normalise_token(token)
    if words.strip():
        yield ("text", _BLANK.sub(" ", words).strip())


def _normalise_token(token: "Token") -> tuple[object, ...]:
    match token.type:
        case "definition":
            return token.type, token.meta["label"], token.meta["url"], token.meta["title"]
        case "html_block":
            return token.type, _BLANK.sub(" ", _normalise_html_block(token.content.strip())).strip()
        case "html_inline":
            tag = read_html_tag(token.content)
            return token.type, _BLANK.sub(" ", write_html_tag(*tag) if tag else token.content).strip()
        case "tag":
            return token.type, _BLANK.sub(" ", token.content).strip()
        case "fence" | "code_block":
            return "code", token.content, token.info.strip()
        case "list_item_open":
            return (token.type,)
    return token.type, token.tag, tuple(sorted(token.attrs.items())), token.content, token.info


def _normalise_html_block(html: str) -> str:
    """Return a block of HTML as the platform spells it, when it is one of the platform's."""
    from syncd.layout.richtext.html.blocks import read_html_block, write_html_block

    node = read_html_block(html)
    return (write_html_block(node) if node is not None else None) or html
