"""The inline grammar that SUMMARY.md, headings and links share: escapes, anchors, and addresses of links."""

import html
import re
from dataclasses import dataclass, replace
from urllib.parse import quote

from syncd.model.text import CONTROLS, LINE_SEPARATORS

PARENTHESES_MAX = 32
"""Open parentheses that an address may hold; more is not a link (CommonMark), and keeps the scan linear."""

PUNCTUATION = r"[!-/:-@\[-`{-~]"

_ANCHOR = re.compile(r'<a (?:href="#[^"]*" )?(?:id|name)="([^"]*)"></a>')
_ESCAPED = re.compile(r"\\(" + PUNCTUATION + ")")
_CONTROLS = re.compile(f"[{CONTROLS}{LINE_SEPARATORS}]+")
_SPACE = re.compile(r"[ \t]*+(?:\n[ \t]*+)?+")
_ANGLED = re.compile(r"<((?:[^<>\\\n]|\\.)*+)>")
_BARE = re.compile(r"(?:[^\\()\x00-\x20\x7f]|\\(?:" + PUNCTUATION + r"|(?=[^\x00-\x20\x7f])))*+")
_TITLE = re.compile(r""""((?:[^"\\]|\\.)*+)"|'((?:[^'\\]|\\.)*+)'|\(((?:[^()\\]|\\.)*+)\)""", re.DOTALL)
_NEEDS_ESCAPE = re.compile(r"\\(?=" + PUNCTUATION + "|$)")
_NEEDS_ANGLES = re.compile("[\x00-\x20\x7f]|^<|^$")


@dataclass(frozen=True)
class Destination:
    """An address in Markdown: `start:end` is the span with its angle brackets, `text` the address itself."""

    start: int
    end: int
    text: str
    title: str | None = None
    link_end: int = 0
    """Where what follows the closing parenthesis starts."""
    is_angled: bool = False


def unescape(text: str) -> str:
    """Return Markdown text with backslash escapes resolved."""
    return _ESCAPED.sub(r"\1", text) if "\\" in text else text


def escape_backslashes(text: str) -> str:
    """Return plain text such that no backslash in it escapes what follows."""
    return _NEEDS_ESCAPE.sub(r"\\\\", text) if "\\" in text else text


def parse_heading(raw: str) -> tuple[str, str | None]:
    """Return the text of a heading, still escaped, and the slug of its anchor, from what stands behind its `#`."""
    text = raw.strip(" \t")
    bare = text.rstrip("#")
    if bare != text and (not bare or bare[-1] in " \t"):
        text = bare.rstrip(" \t")
    start = text.rfind("<a ")
    anchor = _ANCHOR.fullmatch(text, start) if start >= 0 and text[start - 1 : start] != "\\" else None
    return (text[:start].rstrip(" \t"), html.unescape(anchor[1])) if anchor else (text, None)


def escape_closing(text: str) -> str:
    """Return the text of a heading such that `#` at its end is not read as a closing sequence."""
    bare = text.rstrip("#")
    return f"{bare}\\{text[len(bare) :]}" if bare != text and (not bare or bare[-1] == " ") else text


def parse_destination(text: str, start: int, end: int) -> Destination | None:
    """Return the address of a link with its title, from the position just behind `(`; None when it is not a link."""
    at = _find_match_end(_SPACE, text, start, end)
    found = parse_address(text, at, end)
    if found is None:
        return None
    at = _find_match_end(_SPACE, text, found.end, end)
    title = None
    if at > found.end and (quoted := _TITLE.match(text, at, end)):
        title = unescape(next(part for part in quoted.groups() if part is not None))
        at = _find_match_end(_SPACE, text, quoted.end(), end)
    if at >= end or text[at] != ")":
        return None
    return replace(found, title=title, link_end=at + 1)


def parse_address(text: str, start: int, end: int) -> Destination | None:
    """Return the address that starts at a position, bare or in angle brackets; None when there is none."""
    if start < end and text[start] == "<":
        angled = _ANGLED.match(text, start, end)
        return Destination(start, angled.end(), unescape(angled[1]), is_angled=True) if angled else None
    at, depth = start, 0
    while True:
        at = _find_match_end(_BARE, text, at, end)
        sign = text[at] if at < end else ""
        depth += (sign == "(") - (sign == ")")
        if sign not in ("(", ")") or depth < 0:
            break
        if depth > PARENTHESES_MAX:
            return None
        at += 1
    return Destination(start, at, unescape(text[start:at])) if depth <= 0 else None


def normalise_address(url: str) -> str:
    """Return an address as a document keeps it: trimmed, control characters encoded."""
    return _CONTROLS.sub(lambda signs: quote(signs[0], safe=""), url.strip())


def format_address(address: str) -> str:
    """Return an address as Markdown needs it: bare, or in angle brackets when it holds spaces."""
    address = escape_backslashes(_CONTROLS.sub(" ", address))
    if _NEEDS_ANGLES.search(address) or not _is_balanced(address):
        return "<" + address.replace("<", "\\<").replace(">", "\\>") + ">"
    return address


def _find_match_end(pattern: re.Pattern[str], text: str, start: int, end: int) -> int:
    found = pattern.match(text, start, end)
    return found.end() if found else start


def _is_balanced(address: str) -> bool:
    if "(" not in address and ")" not in address:
        return True
    depth = deepest = 0
    for sign in address:
        depth += (sign == "(") - (sign == ")")
        deepest = max(depth, deepest)
        if depth < 0:
            return False
    return depth == 0 and deepest <= PARENTHESES_MAX
