"""Quiet: tell a change of content from a change of form, so that a server's re-formatting leaves Git's bytes alone."""

import re
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from syncd.errors import FileInvalid
from syncd.layout.frontmatter import fields, split
from syncd.layout.links import resolve, rewrite

_WORD = re.compile(r"[^\W_]+")
_BLANK = re.compile(r"\s+")
_TOKEN_LIMIT = 400_000
"""Characters above which form is not analysed: a page of that size is compared as text."""


def same_meaning(former: bytes, body: bytes, *, at: str) -> bool:
    """Given two bodies of the page at `at`, return whether they differ only in form.

    Shape: equal bytes; or equal but for how relative addresses are spelled; or the same front matter and the same
    CommonMark token stream. Source: house, section 5, "Quiet mirror".
    """
    if former == body:
        return True
    try:
        one, other = _spelled(former.decode(), at), _spelled(body.decode(), at)
    except UnicodeDecodeError:
        return False
    if one == other:
        return True
    if len(one) + len(other) > _TOKEN_LIMIT or _WORD.findall(one) != _WORD.findall(other):
        return False
    return _front(one, at) == _front(other, at) and _tokens(one) == _tokens(other)


def _spelled(text: str, at: str) -> str:
    """The text with every relative address in one spelling."""

    def spell(address: str) -> str | None:
        found = resolve(address, at=at)
        return f"/{found[0]}{found[1]}" if found is not None else None

    return rewrite(text, spell)


def _front(text: str, at: str) -> object:
    try:
        return fields(text, at=at)
    except FileInvalid:
        return split(text)[0]


def _tokens(text: str) -> list[tuple[object, ...]]:
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    return list(_facts(parser.parse(split(text)[1])))


def _facts(tokens: Sequence[Token]) -> Iterator[tuple[object, ...]]:
    """What a reader sees of each token: no markers, no line numbers, wrapped lines as one."""
    words = ""
    for token in tokens:
        if token.type in ("text", "softbreak"):
            words += token.content or " "
            continue
        if words.strip():
            yield ("text", _BLANK.sub(" ", words).strip())
        words = ""
        if token.type == "inline":
            yield from _facts(token.children or [])
        else:
            yield token.type, token.tag, tuple(sorted(token.attrs.items())), token.content, token.info
    if words.strip():
        yield ("text", _BLANK.sub(" ", words).strip())
