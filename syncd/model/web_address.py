"""Addresses on the web, as people write them into settings and redirects."""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

ADDRESS_MAX = 2048
"""Source: not-shown.md (c) 22; the public description's `URL`."""


def _checked(url: str) -> str:
    # Python's own reading of a broken host raises ValueError, which is what a validator has to do anyway.
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or not url.isprintable() or " " in url:
        raise ValueError("must be an http or https address")
    return url


WebAddress = Annotated[str, Field(max_length=ADDRESS_MAX), AfterValidator(_checked)]
"""An http or https address that a browser may be sent to; what else a scheme could do (`javascript:`) is refused."""
