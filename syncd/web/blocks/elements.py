"""Elements of HTML: every value is escaped, every address checked, nothing else becomes markup."""

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from markupsafe import Markup, escape

_IGNORED = re.compile(r"[\t\n\r]+")
_EDGES = "".join(map(chr, range(0x21)))
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_SCHEMES = frozenset({"http:", "https:", "mailto:", "tel:"})
_PICTURE_SCHEMES = frozenset({"http:", "https:"})
_BEFORE_PATH = re.compile(r"[^/?#]*:")
_ABSOLUTE = re.compile(r"https?:|[\\/]{2}", re.IGNORECASE)
_LETTERS = re.compile("<[^>]*>|&#?[0-9A-Za-z]+;|(?P<rtl>[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc])|(?P<ltr>[^\\W\\d_])")
ADDRESS_MAX = 8192
"""Characters of an address; a longer one is no link."""

EMPTY = Markup()


def find_direction(content: Markup) -> str | None:
    """Return the attribute `dir` for a content that begins in a script from right to left, or from left to right.

    Shape: "rtl", else "auto"; None, for the direction around it, where there is no letter: a browser takes numbers for
    English. It also looks for no letter in elements that have a direction of their own, such as the paragraphs of a
    quote, and so cannot find out by itself.
    """
    found = next((found for found in _LETTERS.finditer(content) if found.lastgroup), None)
    return None if found is None else "rtl" if found.lastgroup == "rtl" else "auto"


def find_box_direction(content: Markup) -> str | None:
    """Return the attribute `dir` for a box whose parts stand beside each other: "rtl" where its words begin in a script
    from right to left; None, for the direction around it, elsewhere.
    """
    return "rtl" if find_direction(content) == "rtl" else None


def write_element(name: str, content: str = EMPTY, **attributes: str | bool | None) -> Markup:
    """Return an element; text in it that is no `Markup` is escaped, as attributes always are.

    Shape: the name of an attribute may end in an underline, and has others for hyphens. An attribute that is None or
    False is left out, and one that is True has no value.
    """
    return Markup(f"{write_opening(name, **attributes)}{escape(content)}</{name}>")  # noqa: S704


def write_opening(name: str, **attributes: str | bool | None) -> Markup:
    """Return the opening tag of an element, with attributes as `write_element` has them."""
    pieces = [f"<{name}"]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        label = key.rstrip("_").replace("_", "-")
        pieces.append(f" {label}" if value is True else f' {label}="{escape(str(value))}"')
    return Markup("".join(pieces) + ">")  # noqa: S704


def join_markup(pieces: Iterable[Markup]) -> Markup:
    """Return pieces of HTML one behind the other."""
    return Markup("".join(pieces))  # noqa: S704


def check_link(address: str) -> str | None:
    """Return an address that may become a link: http, https, mailto, tel or relative; else None.

    Shape: white space that a browser would not see either is removed, so that no scheme hides in it.
    """
    return _check_address(address, _SCHEMES)


def check_picture(address: str) -> str | None:
    """Return an address that may become the source of an image: http, https or relative; else None."""
    return _check_address(address, _PICTURE_SCHEMES)


def is_foreign(address: str) -> bool:
    """Return whether an address leads to a host of its own."""
    return _ABSOLUTE.match(address) is not None


def find_host(address: str) -> str:
    """Return the host that an address names; "" where it names none."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:  # a broken host
        return ""


def _check_address(address: str, schemes: frozenset[str]) -> str | None:
    text = _IGNORED.sub("", address).strip(_EDGES)
    if not text or len(text) > ADDRESS_MAX or not text.isprintable():
        return None
    if scheme := _SCHEME.match(text):
        return text if scheme[0].lower() in schemes else None
    # What has a colon before its path is no scheme that we know, but may be one to somebody else.
    return None if _BEFORE_PATH.match(text) else text
