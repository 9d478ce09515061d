"""What every command needs of a terminal, and nothing heavy: safe text, colour, and complaints."""

import json
import os
import re
import shutil
import sys
from typing import TextIO
from unicodedata import combining, east_asian_width

FORMAT_VERSION = "1.0"
"""Of every JSON document: a minor number adds members, a major one breaks."""
_UNSAFE = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_COLOUR = re.compile(r"\x1b\[\d*m")


def safe(text: str) -> str:
    """Given text from outside, return it with control, bidirectional and zero-width characters made visible."""
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def moment(text: str) -> str:
    """Given a time in ISO 8601 and UTC, return it as people read it."""
    return f"{text[:19].replace('T', ' ')} UTC" if text.endswith(("Z", "+00:00")) else text


def paint(text: str, colour: int, stream: TextIO) -> str:
    """Given text and a colour, return it coloured where the stream is a terminal that wants colour."""
    environ = os.environ
    wanted = bool(environ.get("CLICOLOR_FORCE")) or (stream.isatty() and environ.get("TERM") != "dumb")
    return f"\x1b[{colour}m{text}\x1b[0m" if wanted and not environ.get("NO_COLOR") else text


def print_text(text: str, stream: TextIO | None = None) -> None:
    """Given lines of text, print them; on a terminal, lines that do not fit are broken between words."""
    stream = stream or sys.stdout
    if stream.isatty():
        width = shutil.get_terminal_size().columns
        text = "\n".join(part for line in text.split("\n") for part in wrap_line(line, width))
    print(text, file=stream)


def wrap_line(line: str, width: int) -> list[str]:
    """Given a line, perhaps coloured, return it in parts of at most so many columns, the later ones indented further.

    Shape: a word is never broken, so that an address or a path can be copied; spaces within a part stay as they are.
    """
    if _columns(line) <= width:
        return [line]
    words = re.findall(r" *[^ ]+", line)
    indent = " " * min(len(line) - len(line.lstrip(" ")) + 4, width // 2)
    parts = [words[0]]
    for word in words[1:]:
        if _columns(parts[-1] + word) <= width:
            parts[-1] += word
        else:
            parts.append(indent + word.lstrip(" "))
    return parts


def _columns(text: str) -> int:
    """Columns that a text takes on a terminal: colours take none, wide characters two, combining ones none."""
    plain = _COLOUR.sub("", text)
    if plain.isascii():
        return len(plain)
    return sum(2 if east_asian_width(one) in "WF" else 0 if combining(one) else 1 for one in plain)


def complain(what: str, hint: str, code: int, *, as_json: bool) -> None:
    """Given an error, say on stderr what failed, on what, and what to do; one JSON line for machines."""
    if as_json:
        print(
            json.dumps({"format_version": FORMAT_VERSION, "error": what, "hint": hint, "exit_code": code}),
            file=sys.stderr,
        )
        return
    print_text(f"{paint('error:', 31, sys.stderr)} {safe(what)}", sys.stderr)
    for line in hint.splitlines():
        print_text(f"  {paint('hint:', 36, sys.stderr)} {safe(line)}", sys.stderr)
