"""Connections to the platform that end at a deadline, and answers of bounded size.

No `httpx.Client` stands in between, and so there are no cookies, proxies, netrc files, redirects, hooks or logged
addresses to switch off. Each borrower has a connection to itself: a pool that threads share costs more the more threads
use it. One connection per borrower does half as many requests again per second as one client per thread, and up to two
thirds more than one client for all.
"""

import os
import ssl
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Lock
from time import monotonic

import httpx

from syncd.api.transport.outcomes import StreamedAnswer
from syncd.errors import ConfigInvalid
from syncd.net.connection import Connection
from syncd.net.limits import read_bounded
from syncd.net.targets import Target

ADDRESSES = "addresses"
"""The extension of a request that names the IP addresses to connect to; without it the host is resolved."""


class Connections:
    """Connections by origin, each used by one thread at a time; a given transport is shared by all and closed at the
    end."""

    def __init__(self, given: httpx.BaseTransport | None = None) -> None:
        self._given = given
        self._idle: dict[str, list[Connection]] = defaultdict(list)
        self._lock = Lock()
        self._context: ssl.SSLContext | None = None
        self._closed = False

    @contextmanager
    def open_stream(self, request: httpx.Request, *, origin: str, cap: int, seconds: float) -> Iterator[StreamedAnswer]:
        """Send a request and open its answer, whose body can be read inside of the block.

        Units: `cap` in unpacked bytes, `seconds` from the first byte sent to the last one read. Raises: NetworkError,
        ConfigInvalid for an SSL_CERT_FILE that cannot be read, and what a given transport raises.
        """
        deadline = monotonic() + seconds
        if self._given is not None:
            response = self._given.handle_request(request)
            assert isinstance(response.stream, httpx.SyncByteStream)
            try:
                yield _make_streamed_answer(response.status_code, response.headers, response.stream, cap, deadline)
            finally:
                response.close()
            return
        with self._borrow(origin) as connection:
            assert isinstance(request.stream, httpx.SyncByteStream)
            opened = connection.open(
                request.method,
                parse_target_url(request.url),
                request.headers.raw,
                request.stream,
                deadline=deadline,
                addresses=request.extensions.get(ADDRESSES, ()),
            )
            try:
                yield _make_streamed_answer(
                    opened.status, httpx.Headers(opened.headers), opened.read_pieces(cap), cap, deadline
                )
            finally:
                opened.close()

    def close(self) -> None:
        """Close every connection; those still lent are closed when they come back."""
        with self._lock:
            self._closed = True
            idle = [connection for connections in self._idle.values() for connection in connections]
            self._idle.clear()
        for connection in idle:
            connection.close()
        if self._given is not None:
            self._given.close()

    @contextmanager
    def _borrow(self, origin: str) -> Iterator[Connection]:
        with self._lock:
            idle = self._idle[origin]
            connection = idle.pop() if idle else Connection(self._trust() if origin.startswith("https:") else None)
        try:
            yield connection
        finally:
            with self._lock:
                if not self._closed:
                    self._idle[origin].append(connection)
            if self._closed:
                connection.close()

    def _trust(self) -> ssl.SSLContext:
        # A context takes 100 ms to build: only for https, and once.
        if self._context is None:
            self._context = _load_trust()
        return self._context


def _load_trust() -> ssl.SSLContext:
    """Return whose certificates are believed: SSL_CERT_FILE names a company's own authority. Raises: ConfigInvalid."""
    try:
        return httpx.create_ssl_context()
    except OSError as error:  # which ssl.SSLError is, too
        file = os.environ.get("SSL_CERT_FILE")
        if not file:
            raise
        why = "it holds no certificates" if isinstance(error, ssl.SSLError) else error.strerror or str(error)
        raise ConfigInvalid(
            f"SSL_CERT_FILE names {file!r}, which cannot be used: {why}",
            hint="name a file with certificates in the form PEM, or unset the variable",
        ) from error


def parse_target_url(url: httpx.URL) -> Target:
    """Return the parts of an address that the operator configured, or that was checked."""
    secure = url.scheme == "https"
    host, path = url.raw_host.decode("ascii"), url.raw_path.decode("ascii")
    return Target(secure, host, url.port or (443 if secure else 80), path)


def _make_streamed_answer(
    status: int, headers: httpx.Headers, pieces: Iterable[bytes], cap: int, deadline: float
) -> StreamedAnswer:
    if status == 205 and "Content-Length" not in headers and "Transfer-Encoding" not in headers:
        pieces = ()  # RFC 9110 allows no content here, and without a length the connection would have to end first
    encoding = headers.get("Content-Encoding", "")
    return StreamedAnswer(status, headers, b"", read_bounded(pieces, encoding, limit=cap, deadline=deadline))
