"""What every command needs of a terminal, and nothing heavy: safe text, colour, and complaints."""

import json
import os
import re
import sys
from typing import TextIO

FORMAT_VERSION = "1.0"
"""Of every JSON document: a minor number adds members, a major one breaks."""
_UNSAFE = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


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


def complain(what: str, hint: str, code: int, *, as_json: bool) -> None:
    """Given an error, say on stderr what failed, on what, and what to do; one JSON line for machines."""
    if as_json:
        print(
            json.dumps({"format_version": FORMAT_VERSION, "error": what, "hint": hint, "exit_code": code}),
            file=sys.stderr,
        )
        return
    print(f"{paint('error:', 31, sys.stderr)} {safe(what)}", file=sys.stderr)
    for line in hint.splitlines():
        print(f"  {paint('hint:', 36, sys.stderr)} {safe(line)}", file=sys.stderr)
