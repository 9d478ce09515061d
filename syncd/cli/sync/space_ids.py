"""Ids of spaces as people give them: the id itself, or the address of the space in their browser."""

import re

import typer

_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
_ADDRESS = re.compile(
    r"(?P<origin>https?://[^/?#\s]+)(?:/app)?(?:/o/[^/?#\s]+)?/s/(?P<id>[A-Za-z0-9_-]{1,128})(?:[/?#](?P<rest>.*))?",
    re.DOTALL,
)
"""Where a person reads and edits a space. Source: `urls.app` of a space; the embedded platform has /app before it."""


def read_space_id(text: str) -> str:
    """Return the id of a space, given as the id or as the address of anything in the space. Raises: BadParameter."""
    if address := _ADDRESS.fullmatch(text):
        return address["id"]
    if "://" in text:
        raise typer.BadParameter(f"{text}: no space is in this address; it has the form https://HOST/o/ORG/s/SPACE/…")
    if not _ID.fullmatch(text):
        raise typer.BadParameter(f"{text}: this is no id of a space, which has letters, digits, - and _")
    return text


def is_space_word(word: str) -> bool:
    """Return whether a word of the form `SPACE[=DIR]` begins with an id or an address of a space."""
    return _find_address(word) is not None or _ID.fullmatch(word.partition("=")[0]) is not None


def find_origin(word: str) -> str:
    """Return scheme, host and port of the address in `SPACE[=DIR]`; "" for an id."""
    address = _find_address(word)
    return address["origin"] if address is not None else ""


def _find_address(word: str) -> re.Match[str] | None:
    return _ADDRESS.fullmatch(word) or _ADDRESS.fullmatch(word.partition("=")[0])


def read_space_word(word: str) -> tuple[str, str]:
    """Return the space's id and the directory, or "", of `SPACE[=DIR]`.

    Raises: BadParameter; also for an address with a query or an anchor, in which `=` would be ambiguous.
    """
    space, equals, directory = word.partition("=")
    if equals and (mark := re.search(r"[?#]", space)):
        raise typer.BadParameter(
            f"{word}: leave out what follows {mark[0]} in the address: {space[: mark.start()]}=DIR"
        )
    return read_space_id(space), directory
