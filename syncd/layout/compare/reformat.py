"""Quiet: tell a change of content from a change of form, so that a server's re-formatting leaves Git's bytes alone."""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from syncd.errors import FileInvalid
from syncd.layout.compare.alignment import counterparts, slots
from syncd.layout.compare.compose_blocks import Part, part_of, weave
from syncd.layout.compare.tokens import Meaning, Name, meaning
from syncd.layout.page.frontmatter import patch

_WORD = re.compile(r"[^\W_]+")


def same_meaning(former: bytes, body: bytes, *, at: str) -> bool:
    """Given two bodies of the page at `at`, return whether they differ only in form.

    Shape: equal bytes; or the same frontmatter and the same CommonMark token stream, relative addresses compared by
    what they lead to. Source: house, section 5, "Quiet mirror".
    """
    if former == body:
        return True
    one, other = _meaning(former, at), _meaning(body, at)
    return one is not None and other is not None and one.says(other)


def settled(former: bytes, body: bytes, *, at: str, name: Name | None = None) -> bytes:
    """Given what Git has of the page at `at` and what it shall say, return bytes that say it and change the least.

    Shape: means the same as `body`; each top-level block, and each key of the frontmatter, that means the same as in
    `former` has the bytes that it has there. `body` itself when a block could not stand where it would have to. Lines
    that are new end as most lines of `former` do. `name` names what an address leads to.
    """
    body = _end_lines_as(former, body)
    if former == body or (name is None and _is_small_edit(former, body)):
        return body
    one, other = _meaning(former, at, name), _meaning(body, at, name)
    if one is None or other is None:
        return body
    if one.says(other):
        return former
    parts = list(_parts(one, other))
    for parted in (False, True):
        text = weave(parts, one, other, head=_settled_head(one, other), parted=parted)
        found = meaning(text, at=at, name=name)
        if found is not None and found.says(other):
            return text.encode()
    return body


def _end_lines_as(former: bytes, body: bytes) -> bytes:
    """The body with CRLF where most lines of the former end so; a server knows no such line ends."""
    if former.count(b"\r\n") * 2 <= former.count(b"\n"):
        return body
    return body.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


def _is_small_edit(former: bytes, body: bytes) -> bool:
    """Whether words were put into a page, taken out of it, or changed in one line, and all else is the same bytes.

    Shape: then nothing is left to settle, and nobody has to take the page apart; True is certain, False is not.
    """
    one, other = former.split(b"\n"), body.split(b"\n")
    first, last = 0, 0
    shorter = min(len(one), len(other))
    while first < shorter and one[first] == other[first]:
        first += 1
    while last < shorter - first and one[-1 - last] == other[-1 - last]:
        last += 1
    here, there = one[first : len(one) - last], other[first : len(other) - last]
    return (not here or not there or len(here) == len(there) == 1) and _words(here) != _words(there)


def _words(lines: Sequence[bytes]) -> list[str]:
    return _WORD.findall(html.unescape(b"\n".join(lines).decode("utf-8", "replace")))


def _settled_head(former: Meaning, wanted: Meaning) -> str:
    """A frontmatter block that says what the wanted one's does, each key that both have alike in the former's bytes."""
    if former.front == wanted.front:
        return former.head
    if not (former.head and wanted.head and isinstance(former.front, Mapping) and isinstance(wanted.front, Mapping)):
        return wanted.head
    gone: dict[str, Any] = {key: None for key in former.front if key not in wanted.front}
    try:
        return patch(former.head, gone | dict(wanted.front))
    except FileInvalid:
        return wanted.head


def _parts(former: Meaning, wanted: Meaning) -> Iterator[Part]:
    """The blocks of the wanted page, each in the former's bytes where it is there; a new one may take a place there."""
    known = counterparts(wanted.facts(), former.facts())
    places = dict(slots(wanted.facts(), former.facts()))
    for place in range(len(wanted.blocks)):
        here = known.get(place)
        if here is not None:
            yield Part(part_of(former, here), here, place)
        else:
            yield Part(part_of(wanted, place), places.get(place), place)


def _meaning(body: bytes, at: str, name: Name | None = None) -> Meaning | None:
    try:
        return meaning(body.decode(), at=at, name=name)
    except UnicodeDecodeError:
        return None
