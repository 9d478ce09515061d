"""Addresses of the platform: what the operator wrote, checked, and what a path and a query look like in a URL."""

import ipaddress
import re
from collections.abc import Mapping, Sequence
from urllib.parse import quote, urlencode

import httpx

from syncd.errors import ConfigInvalid, NotFound
from syncd.model.text import quote_name
from syncd.net.listening import PORT_MAX

Value = str | int | bool
Params = Mapping[str, Value | Sequence[Value] | None]
"""Query parameters; None is left out, a sequence is repeated."""


def parse_base_url(url: str, *, insecure: bool = False) -> str:
    """Return the address below which paths lie, from the platform's address with or without a trailing slash or `/v1`.

    Raises: ConfigInvalid (no http(s) address, credentials in it, or plain http beyond this machine).
    """
    # What stands before an @, in a query or in a fragment may be a secret.
    named = "the platform's address" if set("@?#") & set(url) else quote_name(url)
    try:
        parsed = httpx.URL(url)
        parsed.host.encode("idna")
    except (httpx.InvalidURL, UnicodeError) as error:
        raise ConfigInvalid(f"{named} is not an address", hint="Write it like https://api.example.com") from error
    if parsed.scheme not in ("http", "https") or not parsed.host or not _has_port(parsed):
        raise ConfigInvalid(f"{named} is not an address", hint="Write it like https://api.example.com")
    if parsed.userinfo or parsed.query or parsed.fragment:
        raise ConfigInvalid(f"{named} has credentials, a query or a fragment", hint="Leave only the address.")
    if parsed.scheme == "http" and not (insecure or _is_loopback(parsed.host)):
        raise ConfigInvalid(
            f"{named} would send the token unencrypted",
            hint="Use https, or say that you want this: --insecure, or insecure = true in [platform].",
        )
    return format_origin(parsed) + parsed.raw_path.decode("ascii").rstrip("/").removesuffix("/v1") + "/v1"


def format_origin(url: httpx.URL) -> str:
    """Return the scheme, host and port of an address, the scheme's own port left out."""
    return f"{url.scheme}://{url.netloc.decode('ascii')}"


def build_url(base: str, method: str, path: tuple[str, ...], params: Params | None) -> tuple[str, str]:
    """Return the label of an operation for messages, and its URL. Raises: NotFound for an id that cannot exist."""
    route = "/".join(_encode_segment(part, method, path) for part in path)
    query = {name: _format_values(value) for name, value in (params or {}).items() if value is not None}
    return f"{method} /{route}", f"{base}/{route}" + (f"?{urlencode(query, doseq=True)}" if query else "")


def _has_port(url: httpx.URL) -> bool:
    """Whether an address names a port that there is, or none; the library takes any number."""
    return url.port is None or 1 <= url.port <= PORT_MAX


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def check_token(token: str) -> str:
    """Return a token when it can be one. Raises: ConfigInvalid when it is empty or has characters that no token has."""
    if not token:
        raise ConfigInvalid("there is no token", hint="Create one in the platform's developer settings.")
    if not re.fullmatch(r"[\x21-\x7e]+", token):
        raise ConfigInvalid("the token has characters that no token has", hint="Is there a line break in it?")
    return token


def _encode_segment(part: str, method: str, path: tuple[str, ...]) -> str:
    # No encoding keeps these from changing the route: servers and proxies resolve `%2E%2E` too.
    if part in ("", ".", ".."):
        raise NotFound(f"{method} /{path[0]}: nothing can have the id {part!r}")
    return quote(part, safe="")


def _format_values(value: Value | Sequence[Value]) -> list[str]:
    each = [value] if isinstance(value, str | int) else value
    return [str(one).lower() if isinstance(one, bool) else str(one) for one in each]
