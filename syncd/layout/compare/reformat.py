"""Tell a change of content from a change of formatting, so that a server's re-formatting leaves Git's bytes alone."""

import html
import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from syncd.errors import FileInvalid
from syncd.layout.compare.alignment import find_counterparts, pair_replaced_items
from syncd.layout.compare.page_blocks import ComposedBlock, TokenizedPage, compose_page, read_block_source
from syncd.layout.compare.tokens import NameAddress, tokenize_page
from syncd.layout.page.frontmatter import patch_frontmatter

_WORD = re.compile(r"[^\W_]+")


def preserve_formatting(existing: bytes, body: bytes, *, at: str, name_address: NameAddress | None = None) -> bytes:
    """Return bytes that mean the same as `body` and change the least of the existing page at `at`.

    Shape: each top-level block, and each key of the frontmatter, that means the same as in `existing` keeps its bytes.
    `body` itself when a block could not stand where it would have to. New lines end as most lines of `existing` do, and
    its byte order mark stays.
    `name_address` returns one name for all addresses that lead to the same page or file.
    """
    mark = BOM_UTF8 if existing.startswith(BOM_UTF8) or body.startswith(BOM_UTF8) else b""
    plain, other = existing.removeprefix(BOM_UTF8), body.removeprefix(BOM_UTF8)
    found = _preserve_formatting(plain, other, at=at, name_address=name_address)
    return existing if found == plain else mark + found


def _preserve_formatting(existing: bytes, body: bytes, *, at: str, name_address: NameAddress | None) -> bytes:
    """The same for pages without a byte order mark, which the platform does not store."""
    body = copy_line_ends(existing, body)
    if existing == body or (name_address is None and _is_small_edit(existing, body)):
        return body
    existing_page, page = _tokenize(existing, at, name_address), _tokenize(body, at, name_address)
    if existing_page is None or page is None:
        return body
    if existing_page.has_same_content(page):
        return existing
    blocks = list(_choose_blocks(existing_page, page))
    for force_blank_lines in (False, True):
        text = compose_page(
            blocks, existing_page, page, head=_preserve_head(existing_page, page), force_blank_lines=force_blank_lines
        )
        result = tokenize_page(text, at=at, name_address=name_address)
        if result is not None and result.has_same_content(page):
            return text.encode()
    return body


def copy_line_ends(existing: bytes, body: bytes) -> bytes:
    """Return the body with CRLF where most lines of the existing page end so; a server drops such line ends."""
    return set_line_ends(body, is_crlf=True) if ends_with_crlf(existing) else body


def match_line_ends(existing: bytes, body: bytes) -> bytes:
    """Return the body with the kind of line ends that most lines of the existing text have."""
    is_crlf = ends_with_crlf(existing)
    return body if ends_with_crlf(body) is is_crlf else set_line_ends(body, is_crlf=is_crlf)


def ends_with_crlf(text: bytes) -> bool:
    """Return whether most lines of a text end with CRLF."""
    return text.count(b"\r\n") * 2 > text.count(b"\n")


def set_line_ends(text: bytes, *, is_crlf: bool) -> bytes:
    """Return the text with one kind of line ends, CRLF or LF."""
    plain = text.replace(b"\r\n", b"\n")
    return plain.replace(b"\n", b"\r\n") if is_crlf else plain


def _is_small_edit(existing: bytes, body: bytes) -> bool:
    """Return whether words were added, removed, or changed in one line, and all other bytes are the same.

    Shape: then there is no formatting to preserve, and the page need not be tokenized; True is certain, False is not.
    """
    one, other = existing.split(b"\n"), body.split(b"\n")
    first, last = 0, 0
    shorter = min(len(one), len(other))
    while first < shorter and one[first] == other[first]:
        first += 1
    while last < shorter - first and one[-1 - last] == other[-1 - last]:
        last += 1
    here, there = one[first : len(one) - last], other[first : len(other) - last]
    return (not here or not there or len(here) == len(there) == 1) and _split_words(here) != _split_words(there)


def _split_words(lines: Sequence[bytes]) -> list[str]:
    return _WORD.findall(html.unescape(b"\n".join(lines).decode("utf-8", "replace")))


def _preserve_head(existing: TokenizedPage, desired: TokenizedPage) -> str:
    """Return the desired frontmatter block, with the existing bytes of each key that is equal in both."""
    if existing.frontmatter == desired.frontmatter:
        return existing.head
    if not (
        existing.head
        and desired.head
        and isinstance(existing.frontmatter, Mapping)
        and isinstance(desired.frontmatter, Mapping)
    ):
        return desired.head
    removed: dict[str, Any] = {key: None for key in existing.frontmatter if key not in desired.frontmatter}
    try:
        return patch_frontmatter(existing.head, removed | dict(desired.frontmatter))
    except FileInvalid:
        return desired.head


def _choose_blocks(existing: TokenizedPage, desired: TokenizedPage) -> Iterator[ComposedBlock]:
    """Yield the blocks of the desired page, each in the existing bytes where it exists; a new one may take an old
    one's slot."""
    counterparts = find_counterparts(desired.list_tokens(), existing.list_tokens())
    slots = dict(pair_replaced_items(desired.list_tokens(), existing.list_tokens()))
    for index in range(len(desired.blocks)):
        counterpart = counterparts.get(index)
        if counterpart is not None:
            yield ComposedBlock(read_block_source(existing, counterpart), counterpart, index)
        else:
            yield ComposedBlock(read_block_source(desired, index), slots.get(index), index)


def _tokenize(body: bytes, at: str, name_address: NameAddress | None = None) -> TokenizedPage | None:
    try:
        return tokenize_page(body.decode(), at=at, name_address=name_address)
    except UnicodeDecodeError:
        return None
