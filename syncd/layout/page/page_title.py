"""The heading of level 1 that begins a page: it is the page's title and not part of the page's document."""

import re
from dataclasses import dataclass

from syncd.layout.markdown.inline import parse_heading, unescape

# What may stand before the title: blank lines, and comments, which no reader sees.
_BEFORE = re.compile(r"(?:[ \t]*+\r?\n| {0,3}<!--(?:[^-]|-(?!->))*+-->[ \t]*+\r?\n)*+")
HASH_LINE = re.compile(r" {0,3}#(?:[ \t]++([^\r\n]*+)|(?=\r?\n|\Z))")
"""A line that begins as a heading of level 1 does, and its words."""
_BLANK_LINE = re.compile(r"^[ \t]*+\r?$", re.MULTILINE)
_UNDERLINE = re.compile(r"^ {0,3}=++[ \t]*+(?=\r?$)", re.MULTILINE)


@dataclass(frozen=True)
class Title:
    """The title heading of a page: its span in the text, without the line end, and its plain text."""

    start: int
    end: int
    text: str


def find_title(text: str, start: int = 0) -> Title | None:
    """Return the heading of level 1 that begins the body of a page, or None; `start` is where the body starts."""
    before = _BEFORE.match(text, start)
    at = before.end() if before else start
    if found := HASH_LINE.match(text, at):
        return Title(found.start(), found.end(), _strip_markup(found[1] or ""))
    return _find_underlined_title(text, at)


def _find_underlined_title(text: str, start: int) -> Title | None:
    blank, line = _BLANK_LINE.search(text, start), _UNDERLINE.search(text, start)
    if line is None or (blank is not None and blank.start() < line.start()):
        return None
    # Markdown is imported only here: a page whose title is underlined is rare, and a command starts without it.
    from syncd.layout.richtext.grammar import parse_markdown
    from syncd.layout.richtext.plain_page import TooLarge

    source = text[start : line.end()]
    try:
        first, words, *_ = parse_markdown(source)
    except TooLarge:
        return None
    if (first.type, first.tag) != ("heading_open", "h1") or first.map != [0, source.count("\n") + 1]:
        return None
    return Title(start, line.end(), _strip_markup(words.content))


def _strip_markup(markup: str) -> str:
    return " ".join(unescape(parse_heading(markup)[0]).split("\n"))
