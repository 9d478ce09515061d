"""Files from wherever the platform keeps them: an address from outside, followed only where it cannot do harm.

The token never goes along: a download address carries its own permission. Beyond the platform's own origin only https
to global unicast addresses is followed; a name is resolved once, checked, and the connection goes to the address that
was checked.
"""

import ipaddress
import socket
from collections.abc import Callable, Iterator
from typing import IO

import httpx

from syncd.api.addresses import origin_of
from syncd.api.answers import CHECK_URL
from syncd.api.transport import Ask, Transport
from syncd.api.wire import Answer
from syncd.errors import NotFound, NotThePlatform, Rejected, Unreachable
from syncd.model.file import File

FILE_CAP = 100 << 20
"""Bytes of one file."""
HOPS = 3
PATIENCE = 5
"""A file may take this many deadlines of an ordinary request."""
REDIRECTS = (301, 302, 303, 307, 308)

Resolve = Callable[[str, int], list[str]]


def addresses_of(host: str, port: int) -> list[str]:
    """Given a host and port, return the IP addresses that the system's resolver knows.

    Raises: OSError, UnicodeError.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
    return [str(entry[4][0]) for entry in found]


def is_public(address: str) -> bool:
    """Given an IP address, return whether it is global unicast, the IPv4 address inside an IPv6 one included."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    return all(one.is_global and not one.is_multicast for one in (ip, *_inside(ip)))


class Downloads:
    """Downloads of files of one platform."""

    def __init__(self, transport: Transport, resolve: Resolve = addresses_of) -> None:
        self._transport = transport
        self._resolve = resolve

    def fetch(self, file: File, into: IO[bytes]) -> int:
        """Given a file just read, write its bytes into an open file, in place of all there, and return how many.

        Shape: piece by piece; a download that breaks off starts over. Raises: Rejected (an address that is not
        followed), NotFound, Unreachable (also when the size is not the file's), NotThePlatform (too large),
        RateLimited, Stopped.
        """
        what = f"download of file {file.id}"
        if file.size is not None and file.size > FILE_CAP:
            raise NotThePlatform(f"{what}: {file.size} bytes are more than {FILE_CAP}")
        url = self._joined(self._transport.origin + "/", file.download_url or "", what)
        for _ in range(1 + HOPS):
            answer = self._transport.perform(self._ask(url, what, into))
            if answer.status not in REDIRECTS:
                return _whole(answer, into.tell(), file, what)
            url = self._joined(str(url), answer.headers.get("Location", ""), what)
        raise Rejected(f"{what}: more than {HOPS} redirects")

    def _joined(self, base: str, address: str, what: str) -> httpx.URL:
        if not address:
            raise Rejected(f"{what}: the platform gives no address")
        try:
            return httpx.URL(base).join(address)
        except httpx.InvalidURL as error:
            raise Rejected(f"{what}: the platform gives an address that is none") from error

    def _ask(self, url: httpx.URL, what: str, into: IO[bytes]) -> Ask:
        origin = origin_of(url)
        if origin == self._transport.origin and not url.userinfo:
            build = self._builder(url, {})
        else:
            build = self._pinned(url, what)
        seconds = PATIENCE * self._transport.deadline
        return Ask("GET", what, origin, build, cap=FILE_CAP, seconds=seconds, paced=False, sink=_writing(into))

    def _pinned(self, url: httpx.URL, what: str) -> Callable[[int], httpx.Request]:
        if url.scheme != "https" or not url.host or url.userinfo:
            raise Rejected(f"{what}: {origin_of(url)} is not followed: only https is")
        addresses = self._public_addresses(url, what)
        netloc = url.netloc.decode("ascii")

        def build(attempt: int) -> httpx.Request:
            # Each try takes the next address, so that a host stays reachable while one of its addresses is.
            at = url.copy_with(host=addresses[(attempt - 1) % len(addresses)])
            return self._builder(at, {"Host": netloc}, sni=url.raw_host.decode("ascii"))(attempt)

        return build

    def _public_addresses(self, url: httpx.URL, what: str) -> list[str]:
        try:
            addresses = self._resolve(url.raw_host.decode("ascii"), url.port or 443)
        except (OSError, UnicodeError) as error:
            raise Unreachable(f"{what}: {url.host} has no address") from error
        if not addresses or not all(map(is_public, addresses)):
            raise Rejected(f"{what}: {url.host} is not followed: it is not a public address")
        return addresses

    def _builder(self, url: httpx.URL, headers: dict[str, str], sni: str = "") -> Callable[[int], httpx.Request]:
        own = httpx.Headers(
            {**self._transport.plain_headers, "Accept": "*/*", "Accept-Encoding": "identity", **headers}
        )
        extensions = {"sni_hostname": sni} if sni else {}
        return lambda _: httpx.Request("GET", url, headers=own, extensions=dict(extensions))


def _inside(ip: ipaddress.IPv4Address | ipaddress.IPv6Address) -> list[ipaddress.IPv4Address]:
    if isinstance(ip, ipaddress.IPv4Address):
        return []
    translated = ip in ipaddress.ip_network("64:ff9b::/96")
    nat64 = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF) if translated else None
    teredo = ip.teredo[1] if ip.teredo else None
    return [one for one in (ip.ipv4_mapped, ip.sixtofour, teredo, nat64) if one is not None]


def _writing(into: IO[bytes]) -> Callable[[Iterator[bytes]], None]:
    def write(pieces: Iterator[bytes]) -> None:
        into.seek(0)
        into.truncate()
        for piece in pieces:
            into.write(piece)

    return write


def _whole(answer: Answer, size: int, file: File, what: str) -> int:
    status = answer.status
    if status in (404, 410):
        raise NotFound(f"{what}: nothing is there ({status})", status=status)
    if status >= 500:
        raise Unreachable(f"{what}: failed ({status})", status=status)
    if status != 200:
        hint = CHECK_URL if status < 400 else "Its address may have expired; the next run asks for a new one."
        raise Rejected(f"{what}: refused ({status})", status=status, hint=hint)
    if file.size is not None and size != file.size:
        raise Unreachable(f"{what}: {size} of {file.size} bytes arrived")
    return size
