"""Text for terminals: escaping, JSON, colour, line wrapping and error messages; it imports nothing heavy."""

import os
import re
import shutil
import sys
from shlex import quote
from typing import Any, TextIO
from unicodedata import combining, east_asian_width

from syncd.model.text import show_hidden, show_hidden_in_json

FORMAT_VERSION = "1.0"
"""Of every JSON document: a minor number adds members, a major one breaks."""
_COMMAND = re.compile(
    r"(?:^|(?<=: ))syncd init\b.*$|(?:^|(?<=then )|(?<=run ))syncd (?:pull|push|resolve|sync)\b", re.MULTILINE
)
"""A command in a hint: `init` ends the line, and of the others paths, options and words for people follow."""
_LOGIN = re.compile(r"(?P<scheme>https?://)[^/@\s]+@|(?P<login>\w+://[^/@:\s]*:)[^/@\s]+@")
"""What stands before the host of an address, and can be a credential."""
_QUERY = re.compile(r"(\w+://[^?#\s]*[?#])\S+")
"""An address up to its query or fragment, and that, which can be a credential, too."""
_COLOUR = re.compile(r"\x1b\[[\d;]*m")

_GAP = re.compile(r" *[^ ]+(?: [^ ]+)* {2,}")
"""A name and the spaces up to what is said of it."""


def escape(text: str) -> str:
    """Escape text from outside: one line in which control characters are spelled out, a line end as `\\u000a`."""
    return show_hidden(text)


def hide_credentials(address: str) -> str:
    """Return an address with `***` in place of what can be a credential: before its host, in its query or fragment."""
    shown = _LOGIN.sub(lambda found: f"{found['scheme'] or found['login']}***@", address)
    return _QUERY.sub(r"\1***", shown)


def format_json(value: Any, *, indent: int | None = 2) -> str:
    """Format a JSON value so that no control character reaches a terminal, and a program reads the same value."""
    import json  # here, as few commands print it

    return show_hidden_in_json(json.dumps(value, ensure_ascii=False, indent=indent, default=str))


def format_time(text: str) -> str:
    """Format a time of ISO 8601 in UTC for people; any other text stays as it is."""
    return f"{text[:19].replace('T', ' ')} UTC" if text.endswith(("Z", "+00:00")) else text


def style_text(text: str, colour: int, stream: TextIO) -> str:
    """Colour a text where the stream is a terminal that shows colour; `colour` is a number of ANSI SGR."""
    return f"\x1b[{colour}m{text}\x1b[0m" if is_coloured(stream) else text


def is_coloured(stream: TextIO) -> bool:
    """Return whether a stream is to get colour, by NO_COLOR, CLICOLOR_FORCE, TERM and whether it is a terminal."""
    environ = os.environ
    has_colour = bool(environ.get("CLICOLOR_FORCE")) or (stream.isatty() and environ.get("TERM") != "dumb")
    return has_colour and not environ.get("NO_COLOR")


def print_text(text: str, stream: TextIO | None = None) -> None:
    """Print lines of text; on a terminal, lines that are too long are broken between words."""
    stream = stream or sys.stdout
    if (width := find_width(stream)) is not None:
        text = "\n".join(part for line in text.split("\n") for part in wrap_line(line, width))
    print(text, file=stream)


def find_width(stream: TextIO) -> int | None:
    """Return how many columns the terminal of a stream has; None where it is no terminal."""
    return shutil.get_terminal_size().columns if stream.isatty() else None


def log_text(text: str, priority: int) -> None:
    """Print lines of text on stderr and flush; where stderr is the journal, with their priority."""
    from syncd.daemon.systemd import is_journal, mark_priority  # here, as most commands have nothing to log

    try:
        descriptor = sys.stderr.fileno()
    except OSError:  # a stream of another program that has none
        descriptor = -1
    if is_journal(descriptor, os.environ):
        print(mark_priority(text, priority), file=sys.stderr, flush=True)
    else:
        print_text(text, sys.stderr)
        sys.stderr.flush()


def wrap_line(line: str, width: int, *, extra_indent: int = 4) -> list[str]:
    """Break a line, perhaps coloured, into parts of at most `width` columns, the later ones indented further.

    Units: columns.
    Shape: a word is never broken, so that an address or a path can be copied; spaces within a part stay as they are.
    Behind a name and a gap, such as `  run    ok`, later parts stand below what follows the gap, unless they are to be
    indented no further. A word that no line has room for stays beside a short sign in front of it; alone, it is
    indented less where that lets it fit.
    """
    if _count_columns(line) <= width:
        return [line]
    if extra_indent and " " not in (word := line.lstrip(" ")):
        room = width - _count_columns(word)
        return [f"{' ' * room}{word}" if room >= 0 else line]
    words = re.findall(r" *[^ ]+", line)
    hanging = _find_gap_end(line, width) if extra_indent else 0
    indent = " " * min(hanging or _count_indent(line) + extra_indent, width // 2)
    parts = [words[0]]
    for word in words[1:]:
        is_alone = len(parts) == 1 and _count_columns(parts[0]) <= len(indent)
        is_too_long = _count_columns(indent + word.lstrip(" ")) > width
        if _count_columns(parts[-1] + word) <= width or (is_alone and is_too_long):
            parts[-1] += word
        else:
            parts.append(indent + word.lstrip(" "))
    return parts


def _count_indent(line: str) -> int:
    plain = _COLOUR.sub("", line)
    return len(plain) - len(plain.lstrip(" "))


def _find_gap_end(line: str, width: int) -> int:
    """Return the column behind the first gap of a line; 0 where there is none in its first half."""
    gap = _GAP.match(_COLOUR.sub("", line))
    return gap.end() if gap is not None and gap.end() <= width // 2 else 0


def _count_columns(text: str) -> int:
    """How many columns a text takes on a terminal: colours take none, wide characters two, combining ones none."""
    plain = _COLOUR.sub("", text)
    if plain.isascii():
        return len(plain)
    return sum(2 if east_asian_width(one) in "WF" else 0 if combining(one) else 1 for one in plain)


def print_error(what: str, hint: str, code: int, *, as_json: bool) -> None:
    """Print an error on stderr with its hint; with `as_json` as one line of JSON."""
    if as_json:
        document = {"format_version": FORMAT_VERSION, "error": what, "hint": hint, "exit_code": code}
        print(format_json(document, indent=None), file=sys.stderr)
        return
    from syncd.daemon.systemd import ERROR

    log_text(f"{style_text('error:', 31, sys.stderr)} {escape(what)}", ERROR)
    for line in filter(None, hint.split("\n")):
        log_text(f"  {style_text('hint:', 36, sys.stderr)} {escape(line)}", ERROR)


def name_config(command: str, config: os.PathLike[str] | str | None) -> str:
    """Return a command of syncd that uses the configuration that the command line named; "" or None for none."""
    return f"{command} --config {quote(str(config))}" if config else command


def name_config_in_hint(hint: str, config: os.PathLike[str] | str | None) -> str:
    """Return a hint whose commands that a person types next name the configuration, too."""
    return _COMMAND.sub(lambda found: name_config(found[0], config), hint)
