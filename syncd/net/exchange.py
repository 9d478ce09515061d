"""A request to an address that somebody else chose: to public addresses only, within limits of time and size.

Each such address is an attempt to reach what only this machine can reach. A name is resolved once, every address it has
is checked, and the connection goes to an address that was checked; a redirect is a new address. No proxy, cookie, cache
or credential of the machine takes part.
"""

import re
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from time import monotonic

from syncd.net.connection import Connection, OpenAnswer
from syncd.net.failures import BrokenOff, NetworkError, Refused, TimedOut, TooLarge
from syncd.net.limits import read_bounded, split_lines
from syncd.net.resolving import Resolve, look_up_addresses, resolve_allowed
from syncd.net.targets import Target, parse_redirect, parse_target

__all__ = ["BrokenOff", "Network", "NetworkError", "Refused", "Stream", "TimedOut", "open_stream"]

TIMEOUT_S = 10.0
LIMIT = 8 * 1024 * 1024
REDIRECTS_MAX = 5
LINE_MAX = 1024 * 1024
"""Bytes of one line of a streamed body."""
REDIRECTS = frozenset({301, 302, 303, 307, 308})

_METHOD = re.compile(r"[A-Z]{1,16}")
_OURS = frozenset({"host", "connection", "content-length", "transfer-encoding", "accept-encoding"})
_SECRET = frozenset({"authorization", "proxy-authorization", "cookie"})


@cache
def _system_trust() -> ssl.SSLContext:
    return ssl.create_default_context()


@dataclass(frozen=True)
class Network:
    """What stands between syncd and the world: names to addresses, and whose certificates are believed."""

    resolve: Resolve = look_up_addresses
    trust: Callable[[], ssl.SSLContext] = _system_trust


_WORLD = Network()


@contextmanager
def open_stream(
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
    timeout: float = TIMEOUT_S,
    limit: int = LIMIT,
    private: bool = False,
    redirects: int = REDIRECTS_MAX,
    network: Network = _WORLD,
) -> "Iterator[Stream]":
    """Send a request and open its answer, whose body is still to be read: `with open_stream(…) as answer:`.

    Units: `timeout` in seconds from the name's resolution to the last byte that is read, redirects included; `limit` in
    bytes of the body. Shape: `private` allows addresses of private networks; `redirects` is how many are followed, and
    with 0 the redirect itself is the answer. Raises: NetworkError.
    """
    deadline = monotonic() + timeout
    hop = _Hop(method, parse_target(url), _check_request(method, headers or {}), body, private)
    for left in reversed(range(redirects + 1)):
        with _open_hop(hop, deadline, network) as opened:
            answer = Stream(opened, limit, deadline)
            location = answer.headers.get("location", "")
            if opened.status not in REDIRECTS or not location or not redirects:
                yield answer
                return
        if left:
            hop = hop.follow(opened.status, location)
    raise Refused(f"The address redirects more than {redirects} times.")


class Stream:
    """An answer whose body is still coming. Shape: `headers` have lower-case names."""

    def __init__(self, opened: OpenAnswer, limit: int, deadline: float) -> None:
        self.status = opened.status
        self.headers = _join_headers(opened)
        self._opened, self._limit, self._deadline = opened, limit, deadline

    def read_pieces(self) -> Iterator[bytes]:
        """Yield the body in pieces as they arrive. Raises: NetworkError."""
        length = self.headers.get("content-length", "")
        if length.isdecimal() and int(length) > self._limit:
            raise TooLarge(f"The answer is larger than {self._limit} bytes.")
        if self.headers.get("content-encoding", "identity").lower() != "identity":
            raise Refused("The answer is packed in a way that was not asked for.")
        packed = self._opened.read_pieces(self._limit)
        return read_bounded(packed, "identity", limit=self._limit, deadline=self._deadline)

    def read_body(self) -> bytes:
        """Return the whole body. Raises: NetworkError."""
        return b"".join(self.read_pieces())

    def read_lines(self) -> Iterator[str]:
        """Yield the body line by line, without line ends. Raises: NetworkError."""
        for line in split_lines(self.read_pieces(), LINE_MAX):
            yield line.decode(errors="replace")


@dataclass(frozen=True)
class _Hop:
    """The request at one address: the first, or one that a redirect led to."""

    method: str
    target: Target
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    private: bool

    def follow(self, status: int, location: str) -> "_Hop":
        target = parse_redirect(self.target, location)
        kept = self
        # As browsers do: what the body was for has been done, and the answer is to be fetched.
        if status == 303 or (status in (301, 302) and self.method == "POST"):
            plain = {name: value for name, value in self.headers.items() if name != "content-type"}
            kept = replace(self, method="HEAD" if self.method == "HEAD" else "GET", body=b"", headers=plain)
        if self.target.origin != target.origin:
            kept = replace(kept, headers={name: one for name, one in kept.headers.items() if name not in _SECRET})
        return replace(kept, target=target)

    def lines(self) -> list[tuple[bytes, bytes]]:
        own = {"Host": self.target.authority, "Accept-Encoding": "identity", "Connection": "close"}
        if self.body or self.method in ("POST", "PUT", "PATCH"):
            own["Content-Length"] = str(len(self.body))
        try:
            return [(name.encode("ascii"), value.encode("latin-1")) for name, value in {**own, **self.headers}.items()]
        except UnicodeEncodeError:
            raise Refused("The request holds a character that HTTP does not allow.") from None


@contextmanager
def _open_hop(hop: _Hop, deadline: float, network: Network) -> Iterator[OpenAnswer]:
    target = hop.target
    addresses = resolve_allowed(
        target.host, target.port, deadline=deadline, private=hop.private, resolve=network.resolve
    )
    connection = Connection(network.trust() if target.is_secure else None)
    try:
        content = [hop.body] if hop.body else []
        yield connection.open(hop.method, target, hop.lines(), content, deadline=deadline, addresses=addresses)
    finally:
        connection.close()


def _check_request(method: str, headers: Mapping[str, str]) -> dict[str, str]:
    if not _METHOD.fullmatch(method):
        raise Refused("The method is not one of HTTP's.")
    kept = {name.lower(): value for name, value in headers.items()}
    return {name: value for name, value in kept.items() if name not in _OURS}


def _join_headers(opened: OpenAnswer) -> dict[str, str]:
    joined: dict[str, str] = {}
    for name, value in opened.headers:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        joined[key] = f"{joined[key]}, {text}" if key in joined else text
    return joined
