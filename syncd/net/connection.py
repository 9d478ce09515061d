"""One connection whose every step ends at a deadline, and which goes only to addresses that were checked.

A connection belongs to one borrower at a time: a pool that threads share costs more the more threads use it.
"""

import select
import socket
import ssl
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import httpcore

from syncd.net.failures import BrokenOff, CertificateInvalid, ConnectTimedOut, NotConnected, Refused, TimedOut, TooLarge
from syncd.net.limits import HEADS_MAX, compute_remaining, compute_wire_limit
from syncd.net.resolving import Resolve, look_up_addresses, resolve_host
from syncd.net.targets import Target

STEPS = {"connect": 10.0, "read": 30.0, "write": 30.0, "pool": 10.0}
"""Seconds for one step of an exchange; the deadline bounds the whole."""
KEEP_ALIVE = 4.0
"""Seconds: below what servers keep, so that a write seldom meets a connection that is just being closed."""
_SLICE = 1 << 16
_TOO_LONG = 431
"""The status that the parser of HTTP hints at when a head, or the frame of a chunk, does not come to an end."""
_TOO_SLOW = "The exchange took longer than it may."

Headers = Sequence[tuple[bytes, bytes]]
_OTHER_FAILURES = (httpcore.ProtocolError, httpcore.NetworkError, httpcore.ProxyError, httpcore.ConnectionNotAvailable)


class OpenAnswer:
    """An answer whose status and headers have arrived, and whose body has not."""

    def __init__(self, answer: httpcore.Response, network: "_DeadlineBackend") -> None:
        self.status = answer.status
        self.headers: Headers = answer.headers
        self._answer, self._network = answer, network

    def read_pieces(self, limit: int) -> Iterator[bytes]:
        """Yield the body piece by piece, not yet unpacked.

        Shape: `limit` bounds the bytes that are received; `limits.read_bounded` counts the unpacked ones.
        Raises: NetworkError.
        """
        self._network.allowance += compute_wire_limit(limit)
        with translate_failures():
            yield from self._answer.iter_stream()

    def close(self) -> None:
        """Close the answer, and its connection when the answer was not read to its end."""
        self._answer.close()


class Connection:
    """One HTTP/1.1 connection, opened when needed and kept for a while; `trust` is needed for https."""

    def __init__(self, trust: ssl.SSLContext | None, *, resolve: Resolve = look_up_addresses) -> None:
        self._network = _DeadlineBackend(resolve)
        self._pool = httpcore.ConnectionPool(
            ssl_context=trust, max_connections=1, keepalive_expiry=KEEP_ALIVE, network_backend=self._network
        )

    def open(
        self,
        method: str,
        target: Target,
        headers: Headers,
        content: Iterable[bytes] = (),
        *,
        deadline: float,
        addresses: Sequence[str] = (),
    ) -> OpenAnswer:
        """Send a request and return the answer, whose body is still to be read.

        Units: `deadline` in monotonic seconds, for the body too. Shape: `addresses` are the IP addresses to connect
        to, in order; without them the name is resolved. A certificate must be that of the name in any case.
        Raises: NetworkError.
        """
        self._network.begin(deadline, addresses)
        scheme = b"https" if target.is_secure else b"http"
        url = httpcore.URL(scheme=scheme, host=target.host.encode(), port=target.port, target=target.path.encode())
        with translate_failures():
            request = httpcore.Request(method, url, headers=headers, content=content, extensions={"timeout": STEPS})
            return OpenAnswer(self._pool.handle_request(request), self._network)

    def close(self) -> None:
        """Close the connection."""
        self._pool.close()


class _DeadlineBackend(httpcore.NetworkBackend):
    def __init__(self, resolve: Resolve) -> None:
        self.allowance = 0
        """Bytes that may still be received."""
        self._deadline = 0.0
        self._addresses: Sequence[str] = ()
        self._resolve = resolve

    def begin(self, deadline: float, addresses: Sequence[str]) -> None:
        self.allowance, self._deadline, self._addresses = HEADS_MAX, deadline, addresses

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, *_: Any, **__: Any) -> "_DeadlineSocket":
        addresses = self._addresses or resolve_host(host, port, deadline=self._deadline, resolve=self._resolve)
        for left, address in zip(reversed(range(len(addresses))), addresses, strict=True):
            try:
                with _translate_connect_errors():
                    return _DeadlineSocket(self._connect(address, port, timeout), self)
            except NotConnected:
                if not left:
                    raise
        raise NotConnected("The host has no address.")

    def _connect(self, address: str, port: int, timeout: float | None) -> socket.socket:
        found = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
        try:
            found.settimeout(self.limit_timeout(timeout))
            found.connect((address, port))
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except BaseException:
            found.close()
            raise
        return found

    def limit_timeout(self, timeout: float | None) -> float:
        """Return what the deadline leaves of a step's own limit, in seconds. Raises: TimedOut."""
        return min(timeout or STEPS["read"], compute_remaining(self._deadline))

    def count(self, data: bytes) -> bytes:
        """Return received bytes, counted against the allowance. Raises: TooLarge."""
        self.allowance -= len(data)
        if self.allowance < 0:
            raise TooLarge("The answer takes more bytes than it may.")
        return data


class _DeadlineSocket(httpcore.NetworkStream):
    def __init__(self, inner: socket.socket, network: _DeadlineBackend) -> None:
        self._inner = inner
        self._network = network

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        self._inner.settimeout(self._network.limit_timeout(timeout))
        try:
            return self._network.count(self._inner.recv(max_bytes))
        except TimeoutError:
            raise TimedOut(_TOO_SLOW) from None
        except OSError as error:
            raise BrokenOff("The connection broke off.", reason=str(error)) from None

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        # In slices, since a step's limit would hold for all that is sent at once, however large it is.
        for start in range(0, len(buffer), _SLICE):
            self._inner.settimeout(self._network.limit_timeout(timeout))
            try:
                self._inner.sendall(buffer[start : start + _SLICE])
            except TimeoutError:
                raise TimedOut(_TOO_SLOW) from None
            except OSError as error:
                raise httpcore.WriteError(error) from None  # what was answered before all was sent is still read

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> "_DeadlineSocket":
        try:
            with _translate_connect_errors():
                self._inner.settimeout(self._network.limit_timeout(timeout))
                return _DeadlineSocket(
                    ssl_context.wrap_socket(self._inner, server_hostname=server_hostname), self._network
                )
        except BaseException:
            self._inner.close()
            raise

    def close(self) -> None:
        self._inner.close()

    def get_extra_info(self, info: str) -> Any:
        if info == "is_readable":
            return _is_readable(self._inner)
        return self._inner if info == "ssl_object" and isinstance(self._inner, ssl.SSLSocket) else None


def _is_readable(inner: socket.socket) -> bool:
    if inner.fileno() < 0:
        return True  # a connection at rest with something to read is over: httpcore opens another
    poll = select.poll()  # select() takes no file descriptor over 1023
    poll.register(inner, select.POLLIN)
    return bool(poll.poll(0))


@contextmanager
def _translate_connect_errors() -> Iterator[None]:
    try:
        yield
    except (TimedOut, TimeoutError):
        raise ConnectTimedOut("There was no connection in time.") from None
    except ssl.SSLCertVerificationError as error:
        raise CertificateInvalid("The host's certificate is not valid.", reason=error.verify_message) from None
    except OSError as error:
        raise NotConnected("There was no connection.", reason=error.strerror or str(error)) from None


@contextmanager
def translate_failures() -> Iterator[None]:
    """Translate every error of httpcore that is raised in the block. Raises: NetworkError."""
    # The causes are left out: their texts name addresses, and some of them content.
    try:
        yield
    except httpcore.RemoteProtocolError as error:
        if getattr(error.__context__, "error_status_hint", 0) == _TOO_LONG:
            raise TooLarge("The answer takes more bytes than it may.") from None
        raise BrokenOff("The answer breaks off, or is no HTTP.", reason=str(error)) from None
    except httpcore.LocalProtocolError as error:
        raise Refused("The request holds a character that HTTP does not allow.", reason=str(error)) from None
    except httpcore.TimeoutException:
        raise TimedOut(_TOO_SLOW) from None
    except httpcore.UnsupportedProtocol as error:
        raise Refused("The address is of a protocol that is not spoken.", reason=str(error)) from None
    except _OTHER_FAILURES as error:
        raise BrokenOff("The connection broke off.", reason=str(error)) from None
