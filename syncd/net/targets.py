"""Addresses of requests: what their spelling allows; each host has one spelling that is accepted."""

import re
from dataclasses import dataclass
from urllib.parse import quote, urljoin, urlsplit

from syncd.net.addresses import is_ip_address
from syncd.net.failures import Refused

URL_MAX = 4096

_PRINTABLE = re.compile(r"[!-\[\]-~\u00a1-\U0010ffff]+")
_NAME = re.compile(r"(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,62})(?:\.[a-z0-9_][a-z0-9_-]{0,62})*")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_SAFE = "/%:@!$&'()*+,;=~-._"


@dataclass(frozen=True)
class Target:
    """The parts of an address on the web. Shape: `path` begins with a slash and includes the query."""

    is_secure: bool
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """The host, and the port where it is not the scheme's own, as a `Host` header has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.is_secure else 80) else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """The scheme, the host and the port where it is not the scheme's own."""
        return f"{'https' if self.is_secure else 'http'}://{self.authority}"

    @property
    def url(self) -> str:
        """The complete address."""
        return self.origin + self.path


def parse_target(url: str, *, base: Target | None = None) -> Target:
    """Return the parts of an address from outside; with a base, the address may be relative to it.

    Raises: Refused, whose message does not repeat the address.
    """
    if len(url) > URL_MAX or not _PRINTABLE.fullmatch(url):
        raise Refused("The address is too long or holds a character that no address has.")
    try:
        split = urlsplit(url if base is None else urljoin(base.url, url))
        host, port = (split.hostname or "").removesuffix("."), split.port
        host = host if ":" in host else host.encode("idna").decode("ascii").lower()
    except (ValueError, UnicodeError):
        raise Refused("The address is not a URL.") from None
    if split.scheme not in ("http", "https"):
        raise Refused("The address must begin with http:// or https://.")
    if "@" in split.netloc:
        raise Refused("The address must not hold a user name or password.")
    if not _is_host(host) or port == 0:
        raise Refused("The address names no host that can be asked.")
    path = quote(split.path or "/", safe=_SAFE) + ("?" if split.query else "") + quote(split.query, safe=_SAFE + "?[]")
    secure = split.scheme == "https"
    return Target(secure, host, port or (443 if secure else 80), path)


def parse_redirect(target: Target, location: str) -> Target:
    """Return the address that a redirect leads to. Raises: Refused, also for a step from https to http."""
    following = parse_target(location, base=target)
    if target.is_secure and not following.is_secure:
        raise Refused("The address redirects from https to http.")
    return following


def _is_host(host: str) -> bool:
    # Resolvers read `2130706433`, `0x7f.1` and `0177.0.0.1` as IPv4; only the one usual spelling is let through.
    if ":" in host or _NUMBER.fullmatch(host.rpartition(".")[2]):
        return is_ip_address(host) and "%" not in host
    return _NAME.fullmatch(host) is not None
