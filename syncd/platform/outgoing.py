"""Requests that the platform sends out: to public addresses only, within limits of time and size.

Addresses come from callers, so each is an attempt to reach what only this machine can reach. A name is resolved once,
every address it has is checked, and the connection goes to an address that was checked; a redirect is a new address.
No proxy, cookie, cache or credential of the machine takes part.
"""

import http.client
import io
import re
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from time import monotonic
from typing import Any
from urllib.parse import urljoin

from syncd.platform.hosts import Failed, OutgoingError, Parts, Refused, TimedOut, is_address, is_allowed, parts_of

__all__ = ["Failed", "Network", "OutgoingError", "Refused", "Reply", "Stream", "TimedOut", "send", "stream"]

TIMEOUT_S = 10.0
LIMIT = 8 * 1024 * 1024
REDIRECTS_MAX = 5
HEADERS_MAX = 64 * 1024
"""Bytes of an answer before its body, provisional answers included."""
LINE_MAX = 1024 * 1024
"""Bytes of one line of a streamed body."""
ADDRESSES_MAX = 8
"""Addresses of one name that are tried."""
_PIECE = 64 * 1024
_OVERHEAD = 8
"""Times the body that its transfer may take: every chunk has a line of its own."""

Resolve = Callable[[str, int], list[str]]

_METHOD = re.compile(r"[A-Z]{1,16}")
_MOVED = (301, 302, 303, 307, 308)
_OURS = ("host", "connection", "content-length", "transfer-encoding", "accept-encoding")
_SECRET = ("authorization", "proxy-authorization", "cookie")


@dataclass(frozen=True)
class Reply:
    """A whole answer, whatever its status. Shapes: `headers` have lower-case names."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def addresses_of(host: str, port: int) -> list[str]:
    """Given a host and a port, return the addresses that the system's resolver knows. Raises: OSError, UnicodeError."""
    return [str(found[4][0]) for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


@cache
def _system_trust() -> ssl.SSLContext:
    return ssl.create_default_context()


@dataclass(frozen=True)
class Network:
    """What stands between the platform and the world: names to addresses, and whose certificates are believed."""

    resolve: Resolve = addresses_of
    trust: Callable[[], ssl.SSLContext] = _system_trust


_WORLD = Network()


def send(
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
) -> Reply:
    """Given a request, return its whole answer.

    Units: `timeout` in seconds from the name's resolution to the last byte, redirects included; `limit` in bytes of
    the body. Shapes: `private` allows addresses of private networks; `redirects` is how many are followed, and with 0
    the redirect itself is the answer. Raises: Refused, TimedOut, Failed.
    """
    with stream(
        method,
        url,
        headers=headers,
        body=body,
        timeout=timeout,
        limit=limit,
        private=private,
        redirects=redirects,
        network=network,
    ) as answer:
        return Reply(answer.status, answer.headers, b"".join(answer.pieces()))


@contextmanager
def stream(
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
    """Given a request, open its answer, whose body is read while it comes: `with stream(…) as answer:`.

    Units, Shapes, Raises: as `send`; the deadline holds for reading too.
    """
    deadline = monotonic() + timeout
    asked = _Ask(method, url, _checked(method, headers or {}), body, private)
    with _exchanged(asked, deadline, redirects, network) as opened:
        yield Stream(opened, limit)


class Stream:
    """An answer whose body is still coming."""

    def __init__(self, opened: "_Opened", limit: int) -> None:
        self.status = opened.status
        self.headers = opened.headers
        self._opened = opened
        self._limit = limit

    def pieces(self) -> Iterator[bytes]:
        """Return the body in pieces as they arrive. Raises: Refused, TimedOut, Failed."""
        response, received = self._opened.response, 0
        expected = response.length
        if self.headers.get("content-encoding", "identity").lower() != "identity":
            raise Failed("The answer is packed in a way that was not asked for.")
        if expected is not None and expected > self._limit:
            raise Refused(f"The answer is larger than {self._limit} bytes.")
        self._opened.wire.allowance += _OVERHEAD * self._limit + HEADERS_MAX
        while expected is None or received < expected:
            size = _PIECE if expected is None else min(_PIECE, expected - received)
            with _translated():
                piece = response.read1(size)
            if not piece:
                break
            received += len(piece)
            if received > self._limit:
                raise Refused(f"The answer is larger than {self._limit} bytes.")
            yield piece
        if expected is not None and received < expected:
            raise Failed("The answer breaks off.")

    def lines(self) -> Iterator[str]:
        """Return the body line by line, without line ends. Raises: Refused, TimedOut, Failed."""
        rest = bytearray()
        for piece in self.pieces():
            head, *tail = piece.split(b"\n")
            rest += head
            for following in tail:
                yield _line(rest)
                rest = bytearray(following)
            if len(rest) > LINE_MAX:
                raise Refused(f"A line of the answer is longer than {LINE_MAX} bytes.")
        if rest:
            yield _line(rest)


@dataclass(frozen=True)
class _Ask:
    """One hop's request; the URL is still as somebody wrote it."""

    method: str
    url: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    private: bool

    def moved(self, status: int, place: str) -> "_Ask":
        before, url = parts_of(self.url), urljoin(self.url, place)
        after = parts_of(url)
        if before.secure and not after.secure:
            raise Refused("The address redirects from https to http.")
        kept = self
        if status == 303 or (status in (301, 302) and self.method == "POST"):
            plain = {name: value for name, value in self.headers.items() if name != "content-type"}
            kept = replace(self, method="HEAD" if self.method == "HEAD" else "GET", body=b"", headers=plain)
        if (before.secure, before.host, before.port) != (after.secure, after.host, after.port):
            kept = replace(kept, headers={name: one for name, one in kept.headers.items() if name not in _SECRET})
        return replace(kept, url=url)


@dataclass(frozen=True)
class _Opened:
    """An answer up to its body."""

    status: int
    headers: Mapping[str, str]
    response: http.client.HTTPResponse
    wire: "_Wire"


class _Wire(io.RawIOBase):
    """A socket whose every step ends at one deadline; it is all that `http.client` sees of the network."""

    def __init__(self, inner: socket.socket, deadline: float) -> None:
        self.allowance = HEADERS_MAX
        self._inner = inner
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._inner.settimeout(_left(self._deadline))
        size = self._inner.recv_into(buffer)
        self.allowance -= size
        if self.allowance < 0:
            raise Refused("The answer takes more bytes than its body may have.")
        return size

    def sendall(self, data: bytes) -> None:
        for start in range(0, len(data), _PIECE):
            self._inner.settimeout(_left(self._deadline))
            self._inner.sendall(data[start : start + _PIECE])

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(self)

    def close(self) -> None:
        """Leave the socket open: who opened it closes it, after the body."""


@contextmanager
def _exchanged(asked: _Ask, deadline: float, redirects: int, network: Network) -> Iterator[_Opened]:
    for hop in range(redirects + 1):
        with _opened(asked, deadline, network) as opened:
            place = opened.headers.get("location", "")
            if opened.status not in _MOVED or not place or not redirects:
                yield opened
                return
        if hop < redirects:
            asked = asked.moved(opened.status, place)
    raise Refused(f"The address redirects more than {redirects} times.")


@contextmanager
def _opened(asked: _Ask, deadline: float, network: Network) -> Iterator[_Opened]:
    parts = parts_of(asked.url)
    with _translated():
        inner = _connected(parts, deadline, network, private=asked.private)
    try:
        with _translated():
            if parts.secure:
                inner.settimeout(_left(deadline))
                inner = network.trust().wrap_socket(inner, server_hostname=parts.host)
            wire = _Wire(inner, deadline)
            response = _asked(asked, parts, wire)
        yield _Opened(response.status, _joined(response), response, wire)
    finally:
        inner.close()


def _asked(asked: _Ask, parts: Parts, wire: _Wire) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection(parts.host, parts.port)
    connection.sock = wire
    own = {"Host": parts.authority, "Accept-Encoding": "identity", "Connection": "close"}
    if asked.body or asked.method in ("POST", "PUT", "PATCH"):
        own["Content-Length"] = str(len(asked.body))
    connection.putrequest(asked.method, parts.target, skip_host=True, skip_accept_encoding=True)
    for name, value in (own | dict(asked.headers)).items():
        connection.putheader(name, value)
    connection.endheaders(asked.body or None)
    return connection.getresponse()


def _connected(parts: Parts, deadline: float, network: Network, *, private: bool) -> socket.socket:
    addresses = _resolved(parts, deadline, network.resolve)
    if not all(is_allowed(address, private=private) for address in addresses):
        raise Refused("The address is not a public one.")
    failure: OSError = OSError()
    for address in addresses[:ADDRESSES_MAX]:
        inner = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
        try:
            inner.settimeout(_left(deadline))
            inner.connect((address, parts.port))
            return inner
        except OSError as error:
            inner.close()
            failure = error
        except BaseException:
            inner.close()
            raise
    raise failure


def _resolved(parts: Parts, deadline: float, resolve: Resolve) -> list[str]:
    if is_address(parts.host):
        return [parts.host]
    # The resolver has no limit of its own that could be given: it is waited for from outside.
    found: list[list[str] | Exception] = []

    def look() -> None:
        try:
            found.append(resolve(parts.host, parts.port))
        except (OSError, UnicodeError) as error:
            found.append(error)

    thread = threading.Thread(target=look, name="syncd-resolve", daemon=True)
    thread.start()
    thread.join(_left(deadline))
    if not found:
        raise TimedOut("The host's name was not resolved in time.")
    if isinstance(found[0], Exception) or not found[0]:
        raise Failed("The host has no address.")
    return found[0]


def _checked(method: str, headers: Mapping[str, str]) -> dict[str, str]:
    if not _METHOD.fullmatch(method):
        raise Refused("The method is not one of HTTP's.")
    kept = {name.lower(): value for name, value in headers.items()}
    return {name: value for name, value in kept.items() if name not in _OURS}


def _joined(response: http.client.HTTPResponse) -> dict[str, str]:
    joined: dict[str, str] = {}
    for name, value in response.getheaders():
        key = name.lower()
        joined[key] = f"{joined[key]}, {value}" if key in joined else value
    return joined


def _line(raw: bytearray) -> str:
    return raw.removesuffix(b"\r").decode(errors="replace")


def _left(deadline: float) -> float:
    left = deadline - monotonic()
    if left <= 0:
        raise TimedOut("The exchange took longer than it may.")
    return left


@contextmanager
def _translated() -> Iterator[None]:
    # The causes are left out: their texts name addresses, and some of them content.
    try:
        yield
    except TimeoutError:
        raise TimedOut("The exchange took longer than it may.") from None
    except ssl.SSLCertVerificationError:
        raise Failed("The host's certificate is not valid.") from None
    except (OSError, http.client.HTTPException):
        raise Failed("There was no connection, or it broke off.") from None
    except (ValueError, UnicodeError):
        raise Refused("The request holds a character that HTTP does not allow.") from None
