"""Ids of spaces as people give them: the id itself, or the address of the space in their browser."""

import re
from collections.abc import Sequence
from itertools import combinations

import typer

from syncd.config.names import clean_directory, lie_in_each_other

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

    Raises: BadParameter; also for an address with a query or an anchor, in which `=` would be ambiguous, and for a
    directory outside of the repository.
    """
    space, equals, directory = word.partition("=")
    if equals and (mark := re.search(r"[?#]", space)):
        raise typer.BadParameter(
            f"{word}: leave out what follows {mark[0]} in the address: {space[: mark.start()]}=DIR"
        )
    id = read_space_id(space)
    try:
        return id, clean_directory(directory)
    except ValueError as why:
        raise typer.BadParameter(f"{word}: the directory {directory} {why}") from why


def read_space_words(words: Sequence[str]) -> Sequence[tuple[str, str]]:
    """Return the spaces of `SPACE[=DIR]` words, with their directories, which lie beside each other.

    Raises: BadParameter.
    """
    spaces = [read_space_word(word) for word in words]
    if len(spaces) > 1 and not all(directory for _, directory in spaces):
        raise typer.BadParameter("with several spaces each needs its directory: SPACE=DIR")
    for (space, directory), (other, place) in combinations(spaces, 2):
        if space == other:
            raise typer.BadParameter(f"{space}: this space is named twice")
        if lie_in_each_other(directory, place):
            raise typer.BadParameter(f"{directory}, {place}: directories of two spaces must not lie in each other")
    return spaces
