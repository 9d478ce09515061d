"""Addresses by which the platform's app opens a space or a page: people copy them from their browser into a text."""

import re
from dataclasses import dataclass
from urllib.parse import unquote

_ADDRESS = re.compile(
    r"(?:https://app\.gitbook\.com/(?:o/[^/?#]+/)?|(?:https?://[^/?#]+)?/app/o/[^/?#]+/)s/(?P<space>[^/?#]+)"
    r"(?:/(?P<path>[^?#]*))?(?:\?[^#]*)?(?P<anchor>#.*)?"
)
_OF_APP = "~/"
"""What paths begin with at which the app shows something else than a page, such as a change request."""


@dataclass(frozen=True)
class AppAddress:
    """A space by its id, the path of a page in it, "" for the space itself, and an anchor with its sign, or ""."""

    space: str
    path: str
    anchor: str


def read_app_address(address: str) -> AppAddress | None:
    """Return what an address opens in the app; None for any other address.

    Shape: the app is the product's, or that of any host that serves it below `/app`; who knows the id of the space
    knows whether it is meant.
    """
    found = _ADDRESS.fullmatch(address)
    path = unquote(found["path"] or "").strip("/") if found is not None else ""
    if found is None or f"{path}/".startswith(_OF_APP):
        return None
    return AppAddress(found["space"], path, found["anchor"] or "")
