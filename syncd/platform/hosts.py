"""Where an outgoing request may go: the one spelling of an address that is let through, and what IP addresses are."""

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

URL_MAX = 4096

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_PRINTABLE = re.compile(r"[!-\[\]-~\u00a1-\U0010ffff]+")
_NAME = re.compile(r"(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,62})(?:\.[a-z0-9_][a-z0-9_-]{0,62})*")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_GLOBAL6 = ipaddress.IPv6Network("2000::/3")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_SPECIAL = tuple(map(ipaddress.ip_network, ("192.0.0.0/24", "192.88.99.0/24", "2001::/23", "2002::/16", "3fff::/20")))
"""For protocols, relays and books; not every Python counts all of them as not global."""
_NEVER = frozenset(map(ipaddress.ip_address, ("168.63.129.16", "100.100.100.200", "fd00:ec2::254")))
"""Where clouds tell a machine its secrets, apart from the link-local address that most of them use."""
_INSIDE = tuple(
    map(
        ipaddress.ip_network,
        ("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "::1/128", "fc00::/7"),
    )
)


class OutgoingError(Exception):
    """A request did not get its answer; the message names neither the path nor anything of the content."""


class Refused(OutgoingError):
    """The address must not be asked, or what it answers goes beyond a limit."""


class TimedOut(OutgoingError):
    """The whole exchange took longer than it may."""


class Failed(OutgoingError):
    """There was no connection, or no whole answer."""


@dataclass(frozen=True)
class Parts:
    """A URL that may be asked, as far as its spelling can say."""

    secure: bool
    host: str
    port: int
    target: str

    @property
    def authority(self) -> str:
        """The host, and the port where it is not the scheme's own, as a `Host` header has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.secure else 80) else f"{host}:{self.port}"


def is_allowed(address: str, *, private: bool = False) -> bool:
    """Given an IP address, return whether a request may go there.

    Shapes: public unicast only; `private` adds this machine and private networks, but never link-local, multicast,
    unspecified or reserved addresses, nor those where clouds keep secrets. An IPv4 address inside an IPv6 one counts.
    """
    try:
        ip = _within(ipaddress.ip_address(address))
    except ValueError:
        return False
    if ip in _NEVER:
        return False
    if private and any(ip in network for network in _INSIDE):
        return True
    if any(ip in network for network in _SPECIAL) or (isinstance(ip, ipaddress.IPv6Address) and ip not in _GLOBAL6):
        return False
    return ip.is_global and not ip.is_multicast and not ip.is_reserved


def parts_of(url: str) -> Parts:
    """Given a URL from outside, return its parts. Raises: Refused, whose message does not repeat the URL."""
    if len(url) > URL_MAX or not _PRINTABLE.fullmatch(url):
        raise Refused("The address is too long or holds a character that no address has.")
    try:
        split = urlsplit(url)
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
    target = quote(split.path or "/", safe="/%:@!$&'()*+,;=~-._") + ("?" if split.query else "")
    target += quote(split.query, safe="/?%:@!$&'()*+,;=~-._[]")
    secure = split.scheme == "https"
    return Parts(secure, host, port or (443 if secure else 80), target)


def is_address(host: str) -> bool:
    """Given a host, return whether it is an IP address itself, in the usual spelling."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _is_host(host: str) -> bool:
    # Resolvers read `2130706433`, `0x7f.1` and `0177.0.0.1` as IPv4; only the one usual spelling is let through.
    if ":" in host or _NUMBER.fullmatch(host.rpartition(".")[2]):
        return is_address(host) and "%" not in host
    return _NAME.fullmatch(host) is not None


def _within(ip: Address) -> Address:
    if isinstance(ip, ipaddress.IPv4Address):
        return ip
    if ip in _NAT64:
        return ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.ipv4_mapped or ip
