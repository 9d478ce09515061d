"""Reusable content in the place of the tags that include it, in the Markdown of a page."""

import re
from collections.abc import Callable

from syncd.layout.markdown.addresses import make_relative, resolve_address
from syncd.layout.markdown.blocks import find_prose
from syncd.layout.page import links
from syncd.layout.page.frontmatter import split_frontmatter

DEPTH_MAX = 8
"""Includes within includes."""
INCLUDES_MAX = 500
CHARACTERS_MAX = 250_000
"""Of all that one page includes: a few texts that include each other several times could fill any memory."""
_INCLUDE = re.compile(r'\{%[ \t]*+include[ \t]++"([^"\n]*+)"[ \t]*+%\}')


class IncludesTooMuch(ValueError):
    """A page includes more than anybody could read."""


def has_includes(text: str) -> bool:
    """Return whether a text may include something, were it there."""
    return _INCLUDE.search(text) is not None


def expand_includes(text: str, at: str, find: Callable[[str], tuple[str, str] | None]) -> str:
    """Return the text of a page at a path with what it includes in the place of each tag, links as seen from the page.

    Shape: `find` returns the path and the text of the reusable content at a path, None where there is none; then the
    tag stays, as does one of content that includes itself. Raises: IncludesTooMuch.
    """
    left = [INCLUDES_MAX, CHARACTERS_MAX]

    def put_in(text: str, at: str, trail: tuple[str, ...]) -> str:
        def replacement(tag: re.Match[str]) -> str:
            target = resolve_address(tag[1], at=at)
            found = find(target[0]) if target else None
            if found is None or found[0] in trail or len(trail) > DEPTH_MAX:
                return tag[0]
            here, whole = found
            raw = split_frontmatter(whole)[1].strip("\r\n")
            left[0] -= 1
            left[1] -= len(raw)
            if min(left) < 0:
                raise IncludesTooMuch
            return links.rewrite_addresses(
                put_in(raw, here, (*trail, here)), lambda to: _rebase_address(to, source=here, at=at)
            )

        return replace_in_prose(text, _INCLUDE, replacement)

    return put_in(text, at, (at,))


def replace_in_prose(text: str, pattern: re.Pattern[str], replacement: Callable[[re.Match[str]], str]) -> str:
    """Return a text with matches replaced outside of code blocks, which show how such syntax is written."""
    if not pattern.search(text):
        return text
    pieces: list[str] = []
    done = 0
    for start, end in find_prose(text, len(split_frontmatter(text)[0])):
        for found in pattern.finditer(text, start, end):
            pieces += [text[done : found.start()], replacement(found)]
            done = found.end()
    return "".join([*pieces, text[done:]])


def _rebase_address(address: str, *, source: str, at: str) -> str | None:
    target = resolve_address(address, at=source)
    return make_relative(target[0], at=at) + target[1] if target else None
