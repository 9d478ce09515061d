"""Tags, `{% … %}`, in the lines of a page: which of them become a block, and where each ends."""

import re
from collections.abc import Iterable, Iterator, Mapping

ELSE_TAGS = "else|elif|elsif|elseif"
"""Names of tags that other languages have in a condition, as a part of a pattern."""
TYPES: Mapping[str, str] = {
    "hint": "hint",
    "tabs": "tabs",
    "tab": "tabs-item",
    "stepper": "stepper",
    "step": "stepper-step",
    "columns": "columns",
    "column": "column",
    "updates": "updates",
    "update": "update",
    "prompt": "prompt",
    "if": "if",
    "code": "code",
    "embed": "embed",
    "file": "file",
    "content-ref": "content-ref",
    "include": "reusable-content",
    "openapi": "swagger",
    "openapi-operation": "openapi-operation",
    "openapi-schemas": "openapi-schemas",
    "openapi-webhook": "openapi-webhook",
}
"""The type of the block that a tag becomes, by its name. Source: github.com/GitbookIO/public-docs.

Tags that are not listed survive as they are written, with all up to their end.
"""

NAMES: Mapping[str, str] = {type: name for name, type in TYPES.items()}
"""Tags by the type of their block."""

_NAME = re.compile(r"\{%[ \t\n]*+(@?[A-Za-z][\w/.-]*+)(?=[ \t\n]|%\}|\Z)")
_NAMED_LINE = re.compile(
    r"(?:[ \t>]|[*+-][ \t]|[0-9]{1,9}[.)][ \t]|\[[ xX]\][ \t])*+"
    r"(?P<tag>\{%[ \t]*+(?P<name>@?[A-Za-z][\w/.-]*+)(?=[ \t]|%\}|\Z))"
)
_QUOTE = re.compile("[\"']")

LINES_MAX = 1000
"""Lines that one tag may span; the bound keeps a tag that nothing closes from being searched for to the end."""


def is_known(name: str) -> bool:
    """Return whether a tag of this name, or the tag that it ends, becomes a block of its own."""
    return name in TYPES or name.startswith("@") or (name.startswith("end") and name[3:] in TYPES)


def is_tag(source: str) -> bool:
    """Return whether text is a tag that is kept as it is written, alone or with all up to its end."""
    lines = source.split("\n")
    if not source.startswith("{%") or source != source.rstrip(" \t"):
        return False
    if count_tag_lines(lines) == len(lines):
        return is_known(parse_tag_name(source)) or find_unknown_ends(source).get(0) is None
    return (
        not is_known(parse_tag_name(source))
        and find_unknown_ends(source).get(0) == len(lines) - 1
        and count_tag_lines(lines) > 0
    )


def parse_tag_name(source: str) -> str:
    """Return the name of a tag, "" for none."""
    named = _NAME.match(source)
    return named[1] if named else ""


def count_tag_lines(lines: Iterable[str]) -> int:
    """Return how many of the lines from a tag on it covers; 0 when nothing ends it.

    A blank line may only lie in quotes; a line that starts another tag never does.
    """
    quote = ""
    for number, line in enumerate(lines):
        text = line.strip(" \t")
        if number == LINES_MAX or (number and text.startswith("{%")) or (not text and not quote):
            return 0
        quote = _open_quote(text, quote)
        if text.endswith("%}") and (not number or not quote):
            return number + 1
        if "%}" in text:
            return 0
    return 0


def find_unknown_ends(text: str) -> dict[int, int]:
    """Return for the line of each unknown tag of a page the line of the tag that ends it; linear time."""
    opened: dict[str, list[int]] = {}
    found: dict[int, int] = {}
    lines = text.split("\n")
    for number, line in enumerate(lines):
        named = _NAMED_LINE.match(line) if "{%" in line else None
        if named is None or not count_tag_lines(_strip_quotes(lines, number, named.start("tag"))):
            continue
        name = named["name"]
        if before := opened.get(name[3:]) if name.startswith("end") else None:
            found[before.pop()] = number
        elif not is_known(name):
            opened.setdefault(name, []).append(number)
    return found


def _strip_quotes(lines: list[str], number: int, start: int) -> Iterator[str]:
    """The lines from a tag on, without the signs of quotes."""
    yield lines[number][start:]
    for at in range(number + 1, len(lines)):
        yield lines[at].lstrip(" \t>")


def _open_quote(text: str, quote: str) -> str:
    """The quote that is open behind this text, given the one that is open before it."""
    for sign in _QUOTE.findall(text):
        quote = "" if sign == quote else quote or sign
    return quote
