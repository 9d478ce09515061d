"""What every command needs of a terminal, and nothing heavy: safe text, safe JSON, colour, and complaints."""

import json
import os
import re
import shutil
import sys
from typing import Any, TextIO
from unicodedata import combining, east_asian_width

from syncd.daemon.systemd import ERROR, is_journal, mark_priority
from syncd.model.text import show_hidden, show_hidden_in_json

FORMAT_VERSION = "1.0"
"""Of every JSON document: a minor number adds members, a major one breaks."""
_COLOUR = re.compile(r"\x1b\[\d*m")


def safe(text: str) -> str:
    """Given text from outside, return it as one line that shows what a terminal would obey: a line end is `\\u000a`."""
    return show_hidden(text)


def safe_json(value: Any, *, indent: int | None = 2) -> str:
    """Given a JSON value, return it as text in which a terminal finds nothing to obey, and a program the same value."""
    return show_hidden_in_json(json.dumps(value, ensure_ascii=False, indent=indent, default=str))


def moment(text: str) -> str:
    """Given a time in ISO 8601 and UTC, return it as people read it."""
    return f"{text[:19].replace('T', ' ')} UTC" if text.endswith(("Z", "+00:00")) else text


def paint(text: str, colour: int, stream: TextIO) -> str:
    """Given text and a colour, return it coloured where the stream is a terminal that wants colour."""
    return f"\x1b[{colour}m{text}\x1b[0m" if is_coloured(stream) else text


def is_coloured(stream: TextIO) -> bool:
    """Given a stream, return whether it is a terminal that wants colour."""
    environ = os.environ
    wanted = bool(environ.get("CLICOLOR_FORCE")) or (stream.isatty() and environ.get("TERM") != "dumb")
    return wanted and not environ.get("NO_COLOR")


def print_text(text: str, stream: TextIO | None = None) -> None:
    """Given lines of text, print them; on a terminal, lines that do not fit are broken between words."""
    stream = stream or sys.stdout
    if (width := columns_of(stream)) is not None:
        text = "\n".join(part for line in text.split("\n") for part in wrap_line(line, width))
    print(text, file=stream)


def columns_of(stream: TextIO) -> int | None:
    """Given a stream, return how many columns its terminal has; None where it is none."""
    return shutil.get_terminal_size().columns if stream.isatty() else None


def log_text(text: str, priority: int) -> None:
    """Given lines of text, print them on stderr at once; where that is the journal, with their priority."""
    try:
        descriptor = sys.stderr.fileno()
    except OSError:  # a stream of another program that has none
        descriptor = -1
    if is_journal(descriptor, os.environ):
        print(mark_priority(text, priority), file=sys.stderr, flush=True)
    else:
        print_text(text, sys.stderr)
        sys.stderr.flush()


def wrap_line(line: str, width: int, *, hang: int = 4) -> list[str]:
    """Given a line, perhaps coloured, return it in parts of at most so many columns, the later ones indented further.

    Units: columns.
    Shape: a word is never broken, so that an address or a path can be copied; spaces within a part stay as they are.
    """
    if _columns(line) <= width:
        return [line]
    words = re.findall(r" *[^ ]+", line)
    indent = " " * min(len(line) - len(line.lstrip(" ")) + hang, width // 2)
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
        document = {"format_version": FORMAT_VERSION, "error": what, "hint": hint, "exit_code": code}
        print(safe_json(document, indent=None), file=sys.stderr)
        return
    log_text(f"{paint('error:', 31, sys.stderr)} {safe(what)}", ERROR)
    for line in filter(None, hint.split("\n")):
        log_text(f"  {paint('hint:', 36, sys.stderr)} {safe(line)}", ERROR)
