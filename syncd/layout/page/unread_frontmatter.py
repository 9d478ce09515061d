"""Frontmatter that nobody can read, and that says who may read a page: such a page is for nobody."""

import re
from typing import Any

from syncd.errors import FileInvalid
from syncd.layout.page.frontmatter import read_metadata, split_frontmatter

_KEYS = "if|hidden|noIndex|noRobotsIndex"
_DECIDING = re.compile(rf"\b(?:{_KEYS})\b|\\")
"""What a block has in it that says who may read a page, or where it is listed; a backslash may spell any key."""
_DECIDING_LINE = re.compile(rf"^[\"']?(?:{_KEYS})[\"']?[ \t]*:", re.MULTILINE)
_BEGUN = re.compile("\ufeff?\\s{0,1000}?---[ \\t]*\\r?\\n(?:[ \\t]*\\r?\\n)*[A-Za-z][\\w-]*:(?:[ \\t]|\\r?\\n)")
_BLANK = re.compile(r"\n[ \t]*\r?\n")
_NOT_CLOSED = ("the frontmatter is not closed", "write --- on a line of its own below the last key")
_NOT_FIRST = ("the frontmatter does not begin the file", "remove what stands before the first ---")


def find_unread(text: str) -> tuple[str, str] | None:
    """Return why what looks like frontmatter at the top of a page is none, and what to do about it; None where nothing
    does.
    """
    if split_frontmatter(text)[0] or not _BEGUN.match(text):
        return None
    return _NOT_CLOSED if text.removeprefix("\ufeff").startswith("---") else _NOT_FIRST


def is_deciding(text: str) -> bool:
    """Return whether the frontmatter of a page speaks of who may read it or where it is listed, read or not."""
    block = split_frontmatter(text)[0]
    if block:
        return _DECIDING.search(block) is not None
    begun = _BEGUN.match(text)
    if begun is None:
        return False
    end = _BLANK.search(text, begun.end())
    return _DECIDING_LINE.search(text, 0, end.start() if end else len(text)) is not None


def read_deciding(text: str, *, at: str) -> dict[str, Any]:
    """Return what the frontmatter of a page says of it, where it speaks of who may read the page; else {}.

    Raises: FileInvalid when it cannot be read, is not closed, or does not begin the file.
    """
    if not is_deciding(text):
        return {}
    if unread := find_unread(text):
        raise FileInvalid(unread[0], path=at, line=1, column=1, hint=unread[1])
    return read_metadata(text, at=at)
