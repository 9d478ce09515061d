"""Addresses of links: from the path of a file to what a page says, and back."""

import re
from posixpath import dirname, join, relpath
from urllib.parse import unquote

_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|[/\\#?]|$")
_ROOTED = re.compile(r"/(?![/\\])")
_SUFFIX = re.compile("[#?]")
_ENCODED = re.compile(r"[#?\\<>\x00-\x1f\x7f]|%(?=[0-9A-Fa-f]{2})")


def resolve_address(address: str, *, at: str, root: str | None = None) -> tuple[str, str] | None:
    """Return the path that an address means, seen from the file `at`, and its `#anchor` or "".

    Shape: the path is below the root, percent-decoded, "" for the root itself; a `?query` stays with the anchor.
    None for absolute URLs, bare anchors and paths that leave the root. With `root`, a directory or "", an address that
    starts with one slash is taken from there; without it, it is absolute too.
    """
    if root is not None and _ROOTED.match(address):
        address, at = address[1:], f"{root.rstrip('/')}/" if root else ""
    if _ABSOLUTE.match(address):
        return None
    pathname = _SUFFIX.split(address, maxsplit=1)[0]
    path: list[str] = dirname(at).split("/") if "/" in at else []
    for segment in unquote(pathname).split("/"):
        if segment == "..":
            if not path:
                return None
            path.pop()
        elif segment not in ("", "."):
            path.append(segment)
    return "/".join(path), address[len(pathname) :]


def make_relative(path: str, *, at: str) -> str:
    """Return the address of a path as seen from a file; `resolve_address` is the way back."""
    here = dirname(at)
    seen = relpath(join("/", path), join("/", here)) if here else path
    seen = _ENCODED.sub(lambda sign: f"%{ord(sign[0]):02X}", seen)
    return f"./{seen}" if _ABSOLUTE.match(seen) else seen
