"""Text and addresses in Markdown: every sign that would be taken for markup is escaped, and as few others as can be."""

import re

from syncd.layout.markdown.inline import format_address

_BRACKETED = r"(?P<always>[\\`\[\]])"
_FREE = r"(?P<always>[\\`\[])"
_REST = (
    r"|(?P<star>\*+)|(?P<line>_+)"
    r"|(?P<doubled>~(?=~|\Z)|(?<=~)~|\A~|\$(?=\$|\Z)|(?<=\$)\$|\A\$)"
    r"|(?P<tag><(?=[A-Za-z/!?]|\Z))"
    r"|(?P<entity>&(?=#?[A-Za-z0-9]{1,32};))"
    r"|(?P<emoji>:(?=[+-]?[a-z0-9][a-z0-9_+-]*:|[a-z0-9_+-]*\Z))"
    r"|(?P<space>\u00a0)|(?P<lines>\r)"
)
_IN_BRACKETS = re.compile(_BRACKETED + _REST)
_IN_TEXT = re.compile(_FREE + _REST)
_NOTE = re.compile(r"\[(?:[^\[\]\\`*_<&!~$:\n]*\]\[)?\^[^\[\]\\`*_<&!~$:\s]+\]")
_LINE_START = re.compile(
    r"(?P<digits>[0-9]{1,9})(?=[.)](?:[ \t]|\Z|\n))"
    r"|(?=[-+](?:[ \t]|\Z|\n)|#{1,6}(?:[ \t]|\Z|\n)|>|=+[ \t]*(?:\Z|\n)|-+[ \t]*(?:\Z|\n)|[-:|][-:| \t]*(?:\Z|\n))"
)
_CLOSING = re.compile(r"(?:(?<=[ \t])|\A)#+\Z")
_ENTITY = re.compile(r"&(?=#?[A-Za-z0-9]{1,32};)")
_LINE_END = re.compile(r"[\n\r]")
_TITLE = re.compile(r'["\\]')


def encode_entity(sign: str) -> str:
    """Return a character as an entity, which no rule reads as a space, a line end or a letter."""
    return "&nbsp;" if sign == "\u00a0" else f"&#x{ord(sign):X};"


def encode_entities(text: str) -> str:
    """Return text with every character as an entity."""
    return "".join(map(encode_entity, text))


def escape_text(text: str, *, starts_line: bool, ends_line: bool, brackets: bool) -> str:
    """Return plain text as Markdown that reads as this text.

    Shape: `starts_line` and `ends_line` say that nothing stands before and behind it in its line, so that it must not
    look like a block; a line end in it becomes an entity; with `brackets` it stands in the brackets of a link.
    """
    made = (_IN_BRACKETS if brackets else _IN_TEXT).sub(_escape_match, text).replace("\n", encode_entity("\n"))
    return _escape_line_start(made, whole=ends_line) if starts_line else made


def escape_closing_hashes(text: str) -> str:
    """Return the Markdown of a heading such that `#` at its end is not read as a closing sequence."""
    found = _CLOSING.search(text)
    return f"{text[: found.start()]}\\{text[found.start() :]}" if found else text


def format_destination(url: str, title: str | None) -> str:
    """Return an address and a title as they stand in the parentheses of a link."""
    address = format_address(_ENTITY.sub("&amp;", url))
    return f"{address} {quote_title(title)}" if title else address


def quote_title(title: str) -> str:
    """Return the title of a link in quotes, on one line."""
    text = _ENTITY.sub("&amp;", _TITLE.sub(r"\\\g<0>", title))
    return '"' + _LINE_END.sub(lambda sign: encode_entity(sign[0]), text) + '"'


def _escape_line_start(line: str, *, whole: bool) -> str:
    if line.startswith("{%") and (not whole or "%}" not in line or line.rstrip(" \t").endswith("%}")):
        return "\\" + line
    found = _LINE_START.match(line)
    return line if found is None else f"{found['digits'] or ''}\\{line[found.end() :]}"


def _escape_match(found: re.Match[str]) -> str:
    text, (start, end) = found[0], found.span()
    match found.lastgroup:
        case "always" if text == "[" and found.re is _IN_TEXT and _NOTE.match(found.string, start):
            return text
        case "emoji" if start > 1 and found.string[start - 1].isalnum():
            return text
        case "star":
            spaced = start > 0 and end < len(found.string) and found.string[start - 1] == " " == found.string[end]
            return text if spaced and len(text) == 1 else "\\*" * len(text)
        case "line":
            # In a word it is no markup. What stands at the edge may become an entity, which is no letter.
            inside = start > 1 and end < len(found.string) - 1
            word = inside and found.string[start - 1].isalnum() and found.string[end].isalnum()
            return text if word else "\\_" * len(text)
        case "space" | "lines":
            return encode_entity(text)
    return f"\\{text}"
