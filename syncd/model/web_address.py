"""Addresses on the web, as people write them into settings and redirects."""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

ADDRESS_MAX = 2048
"""Source: `URL`, @gitbook/api 0.146.0."""


def is_web_address(url: str) -> bool:
    """Return whether a text of any length is an http or https address."""
    try:
        parts = urlsplit(url)
        is_whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a broken host, or a port that there is not
        return False
    return is_whole and url.isprintable() and " " not in url


def _check_address(url: str) -> str:
    if not is_web_address(url):
        raise ValueError("must be an http or https address")
    return url


WebAddress = Annotated[str, Field(max_length=ADDRESS_MAX), AfterValidator(_check_address)]
"""An http or https address that a browser may be sent to; what else a scheme could do (`javascript:`) is refused."""
