r"""Text from outside: which of its characters nobody sees, and what is done about them, here and nowhere else.

| class | what it is |
|---|---|
| `CONTROLS` | what a terminal or an old protocol obeys: C0, DEL and C1, tab and line ends among them |
| `LINE_SEPARATORS` | the two line ends of Unicode, which not every program takes for one |
| `TURNING` | turns the direction of what follows, so that a line reads as another one |
| `ZERO_WIDTH` | has no width and no use in a name: spaces, operators, retired format signs, annotations |
| `TAGS` | shadows of ASCII letters; their one use are the flags of regions |
| `DIRECTION_MARKS` | make punctuation stand right in Hebrew and Arabic |
| `SPELLING` | no width, but part of words: soft hyphen, joiners (Persian, emoji), Mongolian vowel separator |
| `HALVES` | halves of characters (surrogates), which no encoding can write |
| `HIDDEN` | all of these |

What does not get through, and where; the differences are wanted:

| where | what | why not more, or less |
|---|---|---|
| `one_line`: commits, comments, exports | `HIDDEN` | a commit must not depend on the Unicode of a version of Python |
| `show_hidden`: terminal, JSON | `HIDDEN`, spelled | titles may have any space, and any sign of any font |
| `show_unprintable`: plans of sites | what Python does not print, spelled | who approves sees also which space it is |
| `quote_name`: messages about a path | what Python does not print, and all that is not NFC | lookalikes must differ |
| `spell_decomposed` (`layout/tree/spelling.py`): hints about a path | what keeps it from NFC, spelled | likewise |
| `mask_unprintable`: words of servers and of Git | the same, masked | nobody needs these to be exact |
| `clean_title`: SUMMARY.md, headings | `CONTROLS`, `LINE_SEPARATORS` | what languages need stays as it is |
| addresses (`layout/markdown/inline.py`, `layout/richtext`) | the same | likewise |
| texts of a site file (`check_texts.py`) | `HIDDEN` but marks, spelling, tab, line end | a finding must be right |
| keys of `.gitbook.yaml` (`layout/tree/settings.py`) | `HIDDEN`, the no-break space | to say why a key has no meaning |
| files (`layout/tree/paths.py`) | all controls, formats and separators | they reach other people's disks and shells |
| Git (`repo/names.py`) | `CONTROLS`, `LINE_SEPARATORS`, `TURNING`, `HALVES` | people's own names, too |
| YAML (`layout/yaml/`) | what YAML 1.2 does not call printable | the format's own grammar |

Source: CWE-117; Unicode, bidirectional controls (UAX 9, section 2) and format characters.
"""

import re
import unicodedata
from re import Match

CONTROLS = "\x00-\x1f\x7f-\x9f"
LINE_SEPARATORS = "\u2028\u2029"
TURNING = "\u202a-\u202e\u2066-\u2069"
ZERO_WIDTH = "\u200b\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb"
TAGS = "\U000e0000-\U000e007f"
DIRECTION_MARKS = "\u061c\u200e\u200f"
SPELLING = "\u00ad\u180e\u200c\u200d"
HALVES = "\ud800-\udfff"
HIDDEN = f"{CONTROLS}{LINE_SEPARATORS}{TURNING}{ZERO_WIDTH}{TAGS}{DIRECTION_MARKS}{SPELLING}{HALVES}"
"""Characters that nobody sees, as what stands between the brackets of a regular expression; so are its parts."""
REPLACEMENT = "\ufffd"
_QUOTED = 80
"""Characters of a name that a message has room for."""

_EACH = re.compile(f"[{HIDDEN}]")
_RUN = re.compile(f"[{HIDDEN}]+")
_EACH_BUT_LINE_ENDS = re.compile(f"(?!\n)[{HIDDEN}]")
_BREAKS = re.compile(f"[{CONTROLS}{LINE_SEPARATORS}]+")
_HALF = re.compile(f"[{HALVES}]")


def join_lines(text: str) -> str:
    """Return text as one line: each run of spaces and of invisible characters is one space."""
    return " ".join(_RUN.sub(" ", text).split())


def clean_title(text: str) -> str:
    """Return a title from outside without line breaks and control characters, trimmed."""
    return _BREAKS.sub(" ", text).strip(" ")


def show_hidden(text: str) -> str:
    r"""Return text as one line in which invisible characters, line ends too, are spelled `\u202e`."""
    return _EACH.sub(lambda found: spell_sign(found[0]), text)


def show_hidden_in_json(document: str) -> str:
    """Return JSON with the same value in which every character is visible; its own line ends stay."""
    return _EACH_BUT_LINE_ENDS.sub(_spell_in_json, document)


def show_unprintable(text: str) -> str:
    r"""Return text as one line in which all but plain spaces and printable characters is spelled `\u00a0`."""
    return text if text.isprintable() else "".join(sign if sign.isprintable() else spell_sign(sign) for sign in text)


def quote_name(name: str) -> str:
    """Return a name from outside quoted and cut, so that it cannot take over a message; letters of any script stay."""
    shown = name if len(name) <= _QUOTED else f"{name[: _QUOTED - 1]}…"
    return repr(shown) if unicodedata.is_normalized("NFC", shown) else ascii(shown)


def mask_unprintable(text: str, by: str = " ") -> str:
    """Return text as one line with a mark in place of all but plain spaces and printable characters."""
    return text if text.isprintable() else "".join(sign if sign.isprintable() else by for sign in text)


def has_half_character(text: str) -> bool:
    """Return whether text has half a character, so that it cannot be written."""
    return not text.isascii() and _HALF.search(text) is not None


def replace_half_characters(text: str) -> str:
    """Return text with U+FFFD in place of each half character."""
    return text if text.isascii() else _HALF.sub(REPLACEMENT, text)


def spell_sign(sign: str) -> str:
    r"""Return a character spelled by its number: `\u202e`."""
    code = ord(sign)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _spell_in_json(found: Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
