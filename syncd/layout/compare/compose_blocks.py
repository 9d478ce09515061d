"""Weave a page from blocks of two others: each in the bytes that it has there, with the blank lines between them."""

from collections.abc import Iterable
from typing import NamedTuple

from syncd.layout.compare.tokens import Meaning


class Part(NamedTuple):
    """A block of the page to be, and which block it is in the former and in the wanted page, where it is one."""

    text: str
    former: int | None = None
    wanted: int | None = None


def part_of(page: Meaning, place: int) -> str:
    """Given a page and a place among its blocks, return the source of that block."""
    block = page.blocks[place]
    return page.source(block.start, block.end)


def weave(parts: Iterable[Part], former: Meaning, wanted: Meaning, *, head: str, parted: bool = False) -> str:
    """Given the blocks of a page in order and its frontmatter block, return its text.

    Shape: what lies between two blocks, before the first and behind the last, comes from the page where both stand so,
    the former one first; else it is a blank line, and with `parted` it is that at least.
    """
    newline = "\r\n" if (former.lines or wanted.lines or ("",))[0].endswith("\r\n") else "\n"
    same_head = bool(former.head) == bool(wanted.head)
    above = Part(head, -1 if same_head else None, -1 if wanted.head else None)
    pieces = [head]
    for part in (*parts, Part("", len(former.blocks), len(wanted.blocks))):
        at_edge = above.text == head or not part.text
        gap = _between(above, part, former, wanted)
        if not at_edge:
            gap = newline if gap is None or (parted and not gap.strip(" \t")) else gap
        if pieces[-1] and part.text and not pieces[-1].endswith(("\n", "\r")):
            pieces.append(newline)
        pieces += [gap or "", part.text]
        above = part
    return "".join(pieces)


def _between(above: Part, below: Part, former: Meaning, wanted: Meaning) -> str | None:
    """The blank lines between two blocks in the page where the one follows the other; None when that is nowhere."""
    if above.former is not None and below.former == above.former + 1:
        return _gap(former, below.former)
    if above.wanted is not None and below.wanted == above.wanted + 1:
        return _gap(wanted, below.wanted)
    return None


def _gap(page: Meaning, place: int) -> str:
    start = page.blocks[place - 1].end if place else 0
    return page.source(start, page.blocks[place].start if place < len(page.blocks) else len(page.lines))
