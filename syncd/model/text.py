"""Text from outside that is to stand in one line: what ends a line, turns it around or is unseen is taken out or shown.

Source: research, reliability, section 5.6; Unicode, bidirectional controls (UAX 9, section 2) and format characters.
"""

import re
from re import Match

# Controls, bidirectional and zero-width characters, line separators, tags, and halves of characters, which no encoding
# can write.
_HIDDEN = (
    "\x00-\x1f\x7f-\x9f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f\ud800-\udfff"
)
_EACH = re.compile(f"[{_HIDDEN}]")
_RUN = re.compile(f"[{_HIDDEN}]+")
_EACH_BUT_LINE_ENDS = re.compile(f"(?!\n)[{_HIDDEN}]")


def one_line(text: str) -> str:
    """Given text, return it as one line: each run of spaces, and of what cannot be seen, is one space."""
    return " ".join(_RUN.sub(" ", text).split())


def show_hidden(text: str) -> str:
    r"""Given text, return it as one line in which what cannot be seen, line ends too, is spelled `\u202e`."""
    return _EACH.sub(_spelled, text)


def show_hidden_in_json(document: str) -> str:
    """Given JSON, return the same value as JSON in which every character can be seen; its own line ends stay."""
    return _EACH_BUT_LINE_ENDS.sub(_spelled_in_json, document)


def _spelled(found: Match[str]) -> str:
    code = ord(found[0])
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _spelled_in_json(found: Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
