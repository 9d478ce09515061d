"""The token of a platform's requests, and another one in its place when the platform refuses it."""

from collections.abc import Callable
from threading import Lock

import httpx

from syncd import __version__
from syncd.api.transport.addresses import check_token

PLAIN_HEADERS = {"User-Agent": f"syncd/{__version__}", "Accept-Encoding": "gzip"}
"""The headers of every request, with the token or without it."""


class Credential:
    """The token that requests carry; threads share it. It is hidden from every repr."""

    def __init__(self, token: str, renew: Callable[[str], str] | None = None) -> None:
        """Begin with a token.

        Shape: `renew` takes a refused token and returns the one to use instead.
        Raises: ConfigInvalid for what can be no token.
        """
        self._renew = renew
        self._token = check_token(token)
        self._lock = Lock()

    def __repr__(self) -> str:
        return "Credential(***)"

    @property
    def token(self) -> str:
        """The token of the next request."""
        return self._token

    def build_headers(self, *, accept: str = "application/json", has_body: bool = False) -> httpx.Headers:
        """Return the headers of a request; httpx.Headers hides the token from its own repr."""
        kind = {"Content-Type": "application/json"} if has_body else {}
        return httpx.Headers({**PLAIN_HEADERS, "Accept": accept, "Authorization": f"Bearer {self._token}", **kind})

    def replace_refused(self, refused: str) -> bool:
        """Return whether there is another token than the one that the platform refused, and use it from now on.

        Raises: ConfigInvalid when it cannot be had.
        """
        with self._lock:
            if self._token == refused and self._renew is not None:
                self._token = check_token(self._renew(refused))
            return self._token != refused
