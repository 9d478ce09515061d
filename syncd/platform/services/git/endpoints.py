"""Addresses of Git repositories that requests name: credentials are taken out at once, and the host is checked."""

from dataclasses import dataclass, field
from time import monotonic
from urllib.parse import unquote, urlsplit, urlunsplit

from syncd.net.addresses import is_ip_address
from syncd.net.failures import NetworkError, Refused
from syncd.net.resolving import resolve_allowed
from syncd.net.targets import parse_target
from syncd.platform.http.failures import Failure
from syncd.platform.settings import GitEndpoint

RESOLVE_S = 10.0
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True)
class Credentials:
    """A user name and a password of an address; never in a repr."""

    username: str = field(default="", repr=False)
    secret: str = field(default="", repr=False)


def split_credentials(url: str) -> tuple[str, Credentials]:
    """Return an address without credentials, and what it had of them; a name alone is a token.

    Shape: https, and http to this machine only, where nobody listens on the way. Raises: Failure 400, whose message
    never repeats the address.
    """
    try:
        parts = urlsplit(url)
        login, _, host = parts.netloc.rpartition("@")
        plain = urlunsplit((parts.scheme, host, parts.path, "", ""))
        target = parse_target(plain)
    except ValueError:
        raise Failure(400, "url: it is no address.") from None
    except Refused as refused:
        raise Failure(400, f"url: {refused}") from None
    if parts.query or parts.fragment:
        raise Failure(400, "url: the address of a repository has no query and no fragment.")
    if not target.is_secure and target.host not in _LOOPBACK:
        raise Failure(400, "url: it must begin with https://.")
    name, _, secret = login.partition(":")
    name, secret = unquote(name), unquote(secret)
    if not (name + secret).isascii() or not (name + secret).isprintable() or " " in name + secret:
        raise Failure(400, "url: its user name or password holds a character that none has.")
    return plain, Credentials(name, secret) if secret else Credentials("", name)


def open_endpoint(url: str, ref: str, credentials: Credentials, *, private: bool) -> GitEndpoint:
    """Return a repository that may be connected to, with the IP addresses of its host.

    Shape: `private` allows addresses of private networks. Raises: NetworkError.
    """
    target = parse_target(url)
    addresses = resolve_allowed(target.host, target.port, deadline=monotonic() + RESOLVE_S, private=private)
    return GitEndpoint(url, ref, tuple(addresses), credentials.username, credentials.secret)


def check_reachable(url: str, *, private: bool) -> None:
    """Refuse at once what no later look can allow: an IP address that must not be reached. Raises: Failure 400."""
    target = parse_target(url)
    if is_ip_address(target.host):
        try:
            resolve_allowed(target.host, target.port, deadline=monotonic() + RESOLVE_S, private=private)
        except NetworkError as refused:
            raise Failure(400, f"url: {refused}") from None
