"""Text from outside inside of XML, Markdown and lists of addresses: every value stays one value."""

import re
from urllib.parse import quote

from markupsafe import escape

from syncd.model.text import join_lines, replace_half_characters

_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MARKDOWN = re.compile(r"([\\`*_\[\]<>&|~])")
_BLOCK_START = re.compile(r"^([#+=:-]|\d+(?=[.)]))")
ADDRESS_CHARACTERS = "/:?#@!$&'*+,;=%~-._[]"
"""What stays as it is in an address; round brackets end a link of Markdown, and all else ends a word or a line."""


def spell_xml(text: str) -> str:
    """Return text as it stands in an element or attribute of XML; what XML cannot say is left out."""
    return str(escape(_NOT_XML.sub("", text)))


def spell_markdown(text: str) -> str:
    """Return text as one line of Markdown that reads as the text and does nothing."""
    line = _MARKDOWN.sub(r"\\\1", join_lines(replace_half_characters(text)).strip())
    return _BLOCK_START.sub(lambda found: found[1] + "\\" if found[1].isdigit() else "\\" + found[1], line)


def spell_address(address: str) -> str:
    """Return an address in ASCII without blanks, quotes and brackets; what is encoded already stays so."""
    # Line ends and control characters are left out, as a browser would.
    plain = re.sub(r"[\x00-\x1f\x7f]+", "", replace_half_characters(address)).strip()
    return quote(re.sub(r"%(?![0-9A-Fa-f]{2})", "%25", plain), safe=ADDRESS_CHARACTERS)
