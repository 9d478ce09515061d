"""A page as blocks, and a page of blocks of two others: each with the bytes and the blank lines that it has there."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

BlockTokens = tuple[tuple[object, ...], ...]


class Block(NamedTuple):
    """A top-level block: lines `start:end` of the body without blank ones at its end, and its normalised tokens."""

    start: int
    end: int
    tokens: BlockTokens


@dataclass(frozen=True)
class TokenizedPage:
    """A page as blocks. Shape: `head` is its frontmatter block, `frontmatter` the parsed value; `lines` is the
    body."""

    head: str
    frontmatter: object
    lines: tuple[str, ...]
    blocks: tuple[Block, ...]

    def source(self, start: int, end: int) -> str:
        """Return the text of a range of lines."""
        return "".join(self.lines[start:end])

    def has_same_content(self, other: "TokenizedPage") -> bool:
        """Return whether two pages mean the same."""
        return self.frontmatter == other.frontmatter and self.list_tokens() == other.list_tokens()

    def list_tokens(self) -> list[BlockTokens]:
        """Return the normalised tokens of each block."""
        return [block.tokens for block in self.blocks]


class ComposedBlock(NamedTuple):
    """A block of the composed page, with its index in the existing and in the desired page, where it is a block of
    them."""

    text: str
    existing: int | None = None
    desired: int | None = None


def read_block_source(page: TokenizedPage, index: int) -> str:
    """Return the source of the block at an index of a page."""
    block = page.blocks[index]
    return page.source(block.start, block.end)


def compose_page(
    blocks: Iterable[ComposedBlock],
    existing: TokenizedPage,
    desired: TokenizedPage,
    *,
    head: str,
    force_blank_lines: bool = False,
) -> str:
    """Return the text of a page from its blocks in order and its frontmatter block.

    Shape: what lies between two blocks, before the first and behind the last, comes from the page where both stand so,
    the existing one first; else it is a blank line, and with `force_blank_lines` it is at least that.
    """
    newline = "\r\n" if (existing.lines or desired.lines or ("",))[0].endswith("\r\n") else "\n"
    same_head = bool(existing.head) == bool(desired.head)
    above = ComposedBlock(head, -1 if same_head else None, -1 if desired.head else None)
    pieces = [head]
    for block in (*blocks, ComposedBlock("", len(existing.blocks), len(desired.blocks))):
        at_edge = above.text == head or not block.text
        gap = _find_gap(above, block, existing, desired)
        if not at_edge:
            gap = newline if gap is None or (force_blank_lines and not gap.strip(" \t")) else gap
        if pieces[-1] and block.text and not pieces[-1].endswith(("\n", "\r")):
            pieces.append(newline)
        pieces += [gap or "", block.text]
        above = block
    return "".join(pieces)


def _find_gap(
    above: ComposedBlock, below: ComposedBlock, existing: TokenizedPage, desired: TokenizedPage
) -> str | None:
    """Return the blank lines between two blocks in a page where the one follows the other; None when none has them
    so."""
    if above.existing is not None and below.existing == above.existing + 1:
        return _read_gap_above(existing, below.existing)
    if above.desired is not None and below.desired == above.desired + 1:
        return _read_gap_above(desired, below.desired)
    return None


def _read_gap_above(page: TokenizedPage, index: int) -> str:
    start = page.blocks[index - 1].end if index else 0
    return page.source(start, page.blocks[index].start if index < len(page.blocks) else len(page.lines))
