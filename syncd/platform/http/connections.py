"""Connections of clients: how many there may be, and how large and how slow a request and its answer may be on them.

An HTTP server that waits for what never comes runs out of memory or of connections without one valid request. Here
every connection has, at each moment, a time by which it must have got on: with the head of a request, with its body,
or with taking the answer. One look a second closes those that have not.
"""

import json
import resource
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import anyio
import httptools
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from syncd.platform.http.failures import build_error_body
from syncd.platform.settings import ConnectionBounds

PIPELINED_MAX = 16
"""Requests that a client may send before it has the answer to the first one."""
_AT_ONCE_S = 2.0
"""How long it takes at most until a body flows that is sent at once."""
_LINGER_S = 2.0
_LINGER_BYTES = 1024 * 1024
"""What a client still sends is thrown away for a while after a refusal, which it might not see otherwise."""


_HEAD, _BODY, _ANSWER, _REFUSED = "head", "body", "answer", "refused"
"""Stages of a connection: what it is about."""
_HEADER_OVERHEAD_BYTES = len(": \r\n")
_HEAD_TOO_LARGE = 431, "The head of the request is too large."


class Connections:
    """The open connections of one server, oldest first, and how many come from each address."""

    def __init__(self, bounds: ConnectionBounds) -> None:
        """Given bounds, begin with none; where the operating system allows few open files, there may be fewer."""
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
        """Given a new connection, count it, and return whether there is room for it.

        One that takes its time to say what it wants makes way for it, so that such cannot keep others out.
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
        """Given a connection that ended or is about to, count it no more."""
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
        """Close each connection that has not got on by the time by which it must. Units: `now` is monotonic seconds."""
        moment = time.monotonic() if now is None else now
        for connection in list(self._open):
            connection.close_if_overdue(moment)


class Connection(HttpToolsProtocol):
    """One connection, with a bound to everything that its client decides."""

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
        """Since when there is something that the client has not taken yet, and how many bytes of it at most."""
        self._request = anyio.CancelScope()

    def connection_made(self, transport: Any) -> None:
        """Given a transport, count it, or refuse it."""
        super().connection_made(transport)
        if not self.registry.admit(self, self.client[0] if self.client else ""):
            self.refuse_as_excess()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop what the client asked for, since nobody waits for it."""
        self.registry.remove(self)
        self.pipeline.clear()
        super().connection_lost(exc)
        self._request.cancel()

    def data_received(self, data: bytes) -> None:
        """Given what the client sent, read it as HTTP within the bounds."""
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
        """Given a piece of the address, take it within the bounds of a head."""
        self._count_head_bytes(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Given a header, take it within the bounds of a head; what stands behind a body is no header."""
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
        """Given a piece of the body, take it."""
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request."""
        self._enter_stage(_ANSWER)
        super().on_message_complete()

    def close_if_overdue(self, now: float) -> None:
        """Given the present in monotonic seconds, close the connection when it has not got on."""
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
                # It was refused without its body, and nobody reads what still comes.
                self.transport.abort()
            elif not self.flow.read_paused and spent > bounds.body_s + self._body_bytes / bounds.rate:
                self._refuse(408, "The body of the request did not arrive in time.")

    def is_slow(self, now: float) -> bool:
        """Given the present in monotonic seconds, return whether its client has yet to say what it wants."""
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
        """Have the parser stop and the request refused. Raises: ValueError, of which the parser makes its own error."""
        self._refusal = status, message
        raise ValueError(message)

    def _refuse(self, status: int, message: str) -> None:
        """Answer what is no request that can be answered; the connection is closed once the client could read that."""
        is_own = self._stage == _BODY and not self.pipeline and not self.cycle.response_started
        is_free = is_own or self.cycle is None or self.cycle.response_complete
        self._enter_stage(_REFUSED)
        self._raw_bytes = 0
        self._request.cancel()
        if self.cycle is not None:
            self.cycle.disconnected = True
        if self.transport.is_closing():
            return
        if not is_free:
            # The client waits for another answer, and would take this one for it.
            self.transport.abort()
            return
        content = json.dumps(build_error_body(status, message)).encode()
        head = b"content-type: application/json\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % len(content)
        self.transport.write(STATUS_LINE[status] + head + content)
        if self.transport.can_write_eof():
            self.transport.write_eof()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._request = anyio.CancelScope()
        cancelled: Any = _CancellableApp(app, self._request)
        super()._start_asgi_task(cycle, cancelled)


@dataclass(frozen=True)
class _CancellableApp:
    """An application that stops, at the next point where it can, when its scope is cancelled."""

    app: ASGIApp
    scope: anyio.CancelScope

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self.scope:
            await self.app(scope, receive, send)
