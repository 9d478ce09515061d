"""Limits of client connections: how many there may be, and how large and how slow requests and answers may be.

A server that waits for data which never arrives runs out of memory or connections without one valid request. Here every
connection has a deadline at each stage: for the head of a request, for its body, and for reading the answer. A check
once a second closes those that missed it.
"""

import asyncio
import json
import resource
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import anyio
import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from syncd.platform.http.failures import build_error_body
from syncd.platform.http.time_limits import CLIENT_KEY
from syncd.platform.settings import ConnectionBounds

PIPELINED_MAX = 16
"""Requests that a client may send before it has the answer to the first one."""
_AT_ONCE_S = 2.0
"""Seconds after which a body that the client sends without delay has begun to arrive."""
_LINGER_S = 2.0
_LINGER_BYTES = 1024 * 1024
"""After a refusal, what the client still sends is read and dropped for a while: a reset would hide the answer."""


_HEAD, _BODY, _ANSWER, _REFUSED = "head", "body", "answer", "refused"
"""Stages of a connection: what it waits for."""
_HEADER_OVERHEAD_BYTES = len(": \r\n")
_HEAD_TOO_LARGE = 431, "The head of the request is too large."


class Connections:
    """The open connections of one server, oldest first, and how many come from each address."""

    def __init__(self, bounds: ConnectionBounds) -> None:
        """Create an empty registry; where few open files are allowed, fewer connections are."""
        self.bounds = bounds
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self._most = min(bounds.connections, files // 2) if files > 0 else bounds.connections
        self._open: dict[Connection, str] = {}
        self._counts: Counter[str] = Counter()

    def protocol(self) -> "type[Connection]":
        """Return the protocol of new connections, as uvicorn wants it."""

        class Counted(Connection):
            registry = self

        return Counted

    def admit(self, new: "Connection", address: str) -> bool:
        """Count a new connection and return whether it is allowed.

        When there are too many, the oldest slow one is closed first, so that slow clients cannot keep others out.
        """
        if self._counts[address] >= self.bounds.connections_per_address:
            self._close_slow(one for one, its in self._open.items() if its == address)
        elif len(self._open) >= self._most:
            self._close_slow(self._open)
        if self._counts[address] >= self.bounds.connections_per_address or len(self._open) >= self._most:
            return False
        self._open[new] = address
        self._counts[address] += 1
        return True

    def remove(self, connection: "Connection") -> None:
        """Stop counting a connection that has ended or is about to."""
        address = self._open.pop(connection, None)
        if address is not None:
            self._counts[address] -= 1
            if not self._counts[address]:
                del self._counts[address]

    def _close_slow(self, among: "Iterable[Connection]") -> None:
        slow = next((one for one in among if one.is_slow(time.monotonic())), None)
        if slow is not None:
            slow.refuse_as_excess()

    def close_overdue(self, now: float | None = None) -> None:
        """Close every connection that missed its deadline. Units: `now` is monotonic seconds."""
        moment = time.monotonic() if now is None else now
        for connection in list(self._open):
            connection.close_if_overdue(moment)


class Connection(HttpToolsProtocol):
    """One connection, with a limit on everything that its client controls."""

    registry: Connections

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self._stage = _HEAD
        self._since = time.monotonic()
        """When this stage began."""
        self._head_bytes = 0
        """Of the parts of a head that the parser has found."""
        self._raw_bytes = 0
        """Of a head; for one behind another request, since the piece of data in which it began."""
        self._body_bytes = 0
        self._refusal: tuple[int, str] | None = None
        self._unsent: tuple[float, int] | None = None
        """Since when the client has not read all that was sent, and the largest number of unread bytes since then."""
        self._request: anyio.CancelScope | None = None
        """What the client asked for, as long as it may have to wait for anything."""
        self._has_left = False

    def connection_made(self, transport: Any) -> None:
        """Count a new connection, or refuse it when there are too many."""
        super().connection_made(transport)
        if not self.registry.admit(self, self.client[0] if self.client else ""):
            self.refuse_as_excess()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop what the client asked for, since nobody waits for it."""
        self.registry.remove(self)
        self.pipeline.clear()
        super().connection_lost(exc)
        self._stop_request()

    def data_received(self, data: bytes) -> None:
        """Read what the client sent as HTTP, within the limits."""
        self._raw_bytes += len(data)
        if self._stage == _REFUSED:
            if self._raw_bytes > _LINGER_BYTES:
                self.transport.pause_reading()
            return
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            # No other protocol is spoken here, and the request is one as any other.
            return
        except httptools.HttpParserError:
            self._refuse(*(self._refusal or (400, "This is not an HTTP request.")))
            return
        if self._stage == _HEAD and self._raw_bytes > self.registry.bounds.head_bytes:
            self._refuse(*_HEAD_TOO_LARGE)

    def on_message_begin(self) -> None:
        """Begin a request."""
        self._unset_keepalive_if_required()
        if len(self.pipeline) >= PIPELINED_MAX:
            self._stop_parser(429, "Too many requests were sent before the first one was answered.")
        self._enter_stage(_HEAD)
        self._head_bytes = 0
        if self.cycle is not None:
            self._raw_bytes = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Take a piece of the request's address, within the limits of a head."""
        self._count_head_bytes(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header, within the limits of a head; one that follows the body, a trailer, is ignored."""
        self._count_head_bytes(len(name) + len(value) + _HEADER_OVERHEAD_BYTES)
        if self._stage == _HEAD:
            if len(self.headers) >= self.registry.bounds.headers:
                self._stop_parser(431, f"A request may have at most {self.registry.bounds.headers} headers.")
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Begin the body of a request, and what answers it."""
        self._enter_stage(_BODY)
        self._head_bytes = self._body_bytes = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a piece of the body, and count it."""
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request."""
        self._enter_stage(_ANSWER)
        super().on_message_complete()

    def close_if_overdue(self, now: float) -> None:
        """Close the connection when it missed its deadline. Units: `now` is monotonic seconds."""
        bounds, spent = self.registry.bounds, now - self._since
        if self._stage == _REFUSED:
            if spent > _LINGER_S:
                self.transport.abort()
        elif self._is_answer_overdue(now):
            self.transport.abort()
        elif self._stage == _HEAD and spent > bounds.head_s:
            self._refuse(408, "The head of the request did not arrive in time.")
        elif self._stage == _BODY and spent > bounds.body_s:
            if self.cycle.response_complete:
                # The request was answered before its body arrived, and nobody reads the rest.
                self.transport.abort()
            elif not self.flow.read_paused and spent > bounds.body_s + self._body_bytes / bounds.rate:
                self._refuse(408, "The body of the request did not arrive in time.")

    def is_slow(self, now: float) -> bool:
        """Return whether the client is still sending its request, and slowly. Units: `now` is monotonic seconds."""
        spent = now - self._since
        trickles = self._stage == _BODY and spent > _AT_ONCE_S and self._body_bytes < spent * self.registry.bounds.rate
        return self._stage == _HEAD or trickles

    def refuse_as_excess(self) -> None:
        """Close the connection, since there are too many."""
        self.registry.remove(self)
        self._refuse(503, "Too many connections are open. Try again later.")
        self.transport.close()

    def _is_answer_overdue(self, now: float) -> bool:
        waiting = self.transport.get_write_buffer_size()
        if not waiting or self._unsent is None:
            self._unsent = (now, waiting) if waiting else None
            return False
        since, most = self._unsent[0], max(self._unsent[1], waiting)
        self._unsent = since, most
        return now - since > self.registry.bounds.answer_s + (most - waiting) / self.registry.bounds.rate

    def _enter_stage(self, stage: str) -> None:
        self._stage, self._since = stage, time.monotonic()

    def _count_head_bytes(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > self.registry.bounds.head_bytes:
            self._stop_parser(*_HEAD_TOO_LARGE)

    def _stop_parser(self, status: int, message: str) -> None:
        """Stop the parser and remember the refusal. Raises: ValueError, which the parser turns into its own error."""
        self._refusal = status, message
        raise ValueError(message)

    def _refuse(self, status: int, message: str) -> None:
        """Answer with an error and close the connection once the client had time to read it."""
        is_own = self._stage == _BODY and not self.pipeline and not self.cycle.response_started
        is_free = is_own or self.cycle is None or self.cycle.response_complete
        self._enter_stage(_REFUSED)
        self._raw_bytes = 0
        self._stop_request()
        if self.cycle is not None:
            self.cycle.disconnected = True
        if self.transport.is_closing():
            return
        if not is_free:
            # The client waits for the answer to an earlier request, and would take this one for it.
            self.transport.abort()
            return
        content = json.dumps(build_error_body(status, message)).encode()
        head = b"content-type: application/json\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % len(content)
        self.transport.write(STATUS_LINE[status] + head + content)
        if self.transport.can_write_eof():
            self.transport.write_eof()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._request = None
        scope: Any = cycle.scope
        scope[CLIENT_KEY] = self._hold_request
        joined: Any = JoinedTransport(self.transport, self.loop)
        cycle.transport = joined
        super()._start_asgi_task(cycle, app)

    def _hold_request(self) -> AbstractContextManager[object]:
        """The context of `stop_with_client` for the request that is being answered."""
        if self._request is not None:
            return nullcontext()
        self._request = anyio.CancelScope()
        if self._has_left:
            self._request.cancel()
        return self._request

    def _stop_request(self) -> None:
        self._has_left = True
        if self._request is not None:
            self._request.cancel()


class JoinedTransport:
    """The transport of one answer, which sends its head together with what follows at once: a send costs much.

    A head that nothing follows in the same turn of the loop, such as that of a stream, goes out alone.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._head: bytes | None = None
        self._is_begun = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send bytes, the first ones with the next ones or at the end of this turn."""
        if not self._is_begun:
            self._is_begun, self._head = True, data
            self._loop.call_soon(self._flush)
        elif self._head is not None:
            head, self._head = self._head, None
            self._transport.writelines((head, data))
        else:
            self._transport.write(data)

    def close(self) -> None:
        """Close the connection behind all that was written."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._head is not None:
            head, self._head = self._head, None
            self._transport.write(head)
