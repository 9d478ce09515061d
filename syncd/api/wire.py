"""Bytes to the platform and back: connections whose every read ends at a deadline, and answers of bounded size.

No `httpx.Client` stands in between, and so there are no cookies, proxies, netrc files, redirects, hooks or logged
addresses to switch off. Each borrower has a connection to itself: a pool that threads share costs more the more threads
use it. One transport per borrower does half as many requests again per second as one client per thread, and up to two
thirds more than one client for all.
"""

import ssl
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from time import monotonic
from typing import Any

import httpcore
import httpx

TIMEOUTS = {"connect": 10.0, "read": 30.0, "write": 30.0, "pool": 10.0}
"""Seconds for one step of an exchange; the deadline bounds the whole."""
KEEP_ALIVE = 4.0
"""Seconds: below what servers keep, so that a write seldom meets a connection that is just being closed."""
SLICE = 1 << 16
RATIO_FLOOR = 1 << 24
RATIO_MAX = 100
"""An answer above 16 MiB that was packed better than 100 to 1 is a bomb."""
_EXCEPTIONS: dict[type[Exception], type[httpx.TransportError]] = {
    httpcore.ConnectError: httpx.ConnectError,
    httpcore.ConnectTimeout: httpx.ConnectTimeout,
    httpcore.PoolTimeout: httpx.PoolTimeout,
    httpcore.ReadError: httpx.ReadError,
    httpcore.ReadTimeout: httpx.ReadTimeout,
    httpcore.WriteError: httpx.WriteError,
    httpcore.WriteTimeout: httpx.WriteTimeout,
    httpcore.RemoteProtocolError: httpx.RemoteProtocolError,
    httpcore.LocalProtocolError: httpx.LocalProtocolError,
    httpcore.UnsupportedProtocol: httpx.UnsupportedProtocol,
}
_TRANSLATED = tuple(_EXCEPTIONS)


@dataclass(frozen=True)
class Answer:
    """A whole answer, unpacked."""

    status: int
    headers: httpx.Headers
    body: bytes


@dataclass(frozen=True)
class Streamed(Answer):
    """An answer whose body is still to come, unpacked, in `pieces`."""

    pieces: Iterator[bytes]


class Wires:
    """Connections by origin, lent to one borrower at a time; a given transport is lent to all and closed at the end."""

    def __init__(self, given: httpx.BaseTransport | None = None) -> None:
        self._given = given
        self._idle: dict[str, list[Wire]] = defaultdict(list)
        self._lock = Lock()
        self._context: ssl.SSLContext | None = None
        self._closed = False

    @contextmanager
    def streamed(self, request: httpx.Request, *, origin: str, cap: int, seconds: float) -> Iterator[Streamed]:
        """Given a request, open its answer, whose body can be read in the block.

        Units: `cap` in unpacked bytes, `seconds` from the first byte sent to the last one read.
        Raises: the exceptions of httpx.
        """
        deadline = monotonic() + seconds
        request.extensions |= {"timeout": TIMEOUTS, "deadline": deadline}
        with self._borrowed(origin) as wire:
            response = wire.handle_request(request)
            try:
                yield Streamed(response.status_code, response.headers, b"", _pieces(response, cap, deadline))
            finally:
                response.close()

    def close(self) -> None:
        """Close every connection; those still lent are closed when they come back."""
        with self._lock:
            self._closed = True
            idle = [wire for wires in self._idle.values() for wire in wires]
            self._idle.clear()
        for wire in idle:
            wire.close()
        if self._given is not None:
            self._given.close()

    @contextmanager
    def _borrowed(self, origin: str) -> Iterator[httpx.BaseTransport]:
        if self._given is not None:
            yield self._given
            return
        with self._lock:
            idle = self._idle[origin]
            wire = idle.pop() if idle else Wire(self._trust() if origin.startswith("https:") else None)
        try:
            yield wire
        finally:
            with self._lock:
                if not self._closed:
                    self._idle[origin].append(wire)
            if self._closed:
                wire.close()

    def _trust(self) -> ssl.SSLContext:
        # A context takes 100 ms to build: only for https, and once. SSL_CERT_FILE names a company's own authority.
        if self._context is None:
            self._context = httpx.create_ssl_context()
        return self._context


class Wire(httpx.BaseTransport):
    """One connection, opened when needed; a request's extension `deadline` (monotonic seconds) ends its every step."""

    def __init__(self, context: ssl.SSLContext | None) -> None:
        self._network = _Network()
        self._pool = httpcore.ConnectionPool(
            ssl_context=context, max_connections=1, keepalive_expiry=KEEP_ALIVE, network_backend=self._network
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Given a request, return the response with its body still to be read."""
        assert isinstance(request.stream, httpx.SyncByteStream)
        self._network.deadline = request.extensions["deadline"]
        url = request.url
        raw = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        with _translated():
            answer = self._pool.handle_request(
                httpcore.Request(
                    request.method,
                    raw,
                    headers=request.headers.raw,
                    content=request.stream,
                    extensions=request.extensions,
                )
            )
        return httpx.Response(answer.status, headers=answer.headers, stream=_Stream(answer))

    def close(self) -> None:
        """Close the connection."""
        self._pool.close()


class _Stream(httpx.SyncByteStream):
    def __init__(self, answer: httpcore.Response) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        with _translated():
            yield from self._answer.iter_stream()

    def close(self) -> None:
        self._answer.close()


class _Network(httpcore.NetworkBackend):
    def __init__(self) -> None:
        self.deadline = 0.0
        self._sockets = httpcore.SyncBackend()

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, *_: Any, **__: Any) -> "_Socket":
        return _Socket(self._sockets.connect_tcp(host, port, self.left(timeout), socket_options=()), self)

    def left(self, timeout: float | None) -> float:
        """Given a step's own limit, return what the deadline leaves of it; never 0, which would mean `do not wait`."""
        return max(min(timeout or TIMEOUTS["read"], self.deadline - monotonic()), 0.001)


class _Socket(httpcore.NetworkStream):
    def __init__(self, inner: httpcore.NetworkStream, network: _Network) -> None:
        self._inner = inner
        self._network = network

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, self._network.left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), SLICE):
            self._inner.write(buffer[start : start + SLICE], self._network.left(timeout))

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> "_Socket":
        return _Socket(self._inner.start_tls(ssl_context, server_hostname, self._network.left(timeout)), self._network)

    def close(self) -> None:
        self._inner.close()

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except _TRANSLATED as error:
        raise _EXCEPTIONS[type(error)](str(error)) from error


def _pieces(response: httpx.Response, cap: int, deadline: float) -> Iterator[bytes]:
    headers, size = response.headers, 0
    if response.status_code == 205 and "Content-Length" not in headers and "Transfer-Encoding" not in headers:
        return  # RFC 9110 allows no content here, and without a length the connection would have to end first
    assert isinstance(response.stream, httpx.SyncByteStream)
    for piece in _unpacked(response.stream, headers.get("Content-Encoding", "identity").lower()):
        if monotonic() > deadline:
            raise httpx.ReadTimeout("the answer took too long")
        size += len(piece)
        if size > cap:
            raise httpx.DecodingError(f"the answer is larger than {cap} bytes")
        yield piece


def _unpacked(stream: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    if encoding == "identity":
        yield from stream
        return
    if encoding not in ("gzip", "x-gzip"):
        raise httpx.DecodingError("the answer is packed in a way that was not asked for")
    inflate = zlib.decompressobj(zlib.MAX_WBITS | 16)
    packed = unpacked = 0
    for chunk in stream:
        packed += len(chunk)
        while chunk and not inflate.eof:
            piece = _inflated(inflate, chunk)
            chunk = inflate.unconsumed_tail
            unpacked += len(piece)
            if unpacked > max(RATIO_FLOOR, RATIO_MAX * packed):
                raise httpx.DecodingError("the answer unpacks to more than a hundred times its size")
            yield piece
    yield inflate.flush()
    if packed and not inflate.eof:
        raise httpx.RemoteProtocolError("the answer was cut")


def _inflated(inflate: Any, chunk: bytes) -> bytes:
    try:
        piece: bytes = inflate.decompress(chunk, SLICE)
    except zlib.error as error:
        raise httpx.DecodingError("the answer cannot be unpacked") from error
    return piece
