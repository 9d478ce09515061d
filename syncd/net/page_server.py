"""A small HTTP/1.1 server for pages that people look at on their own machine: loopback, or a Unix socket.

One thread for each connection, and few of them. It answers only under names of the machine itself, lets no page of
another site change anything, and gives nobody more time, bytes or connections than pages take. Nothing runs while
nobody asks. Messages are read and written by h11.
"""

import socket
import stat
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from email.utils import formatdate
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from socketserver import BaseRequestHandler, TCPServer, ThreadingMixIn, UnixStreamServer
from threading import BoundedSemaphore, Event, Lock, Thread
from time import monotonic
from typing import Any

import h11

from syncd.net.listening import UNIX, describe_refusal, parse_listen_address
from syncd.net.page_values import (
    Acceptance,
    EventStream,
    Handler,
    PageRequest,
    PageResponse,
    RefusedRequest,
    apply_condition,
    build_headers,
    list_host_names,
    read_request,
    render_line,
)

HEAD_BYTES_MAX = 1 << 14
CONNECTIONS_MAX, STREAMS_MAX = 64, 16
REQUEST_SECONDS, ANSWER_SECONDS, IDLE_SECONDS = 10.0, 30.0, 15.0
"""How long a client may take to send a request and to take the answer, and how long its connection may rest."""
HEARTBEAT_SECONDS = 15.0
_FROM_HERE = Acceptance()
_TURN_SECONDS = 0.5
_END_SECONDS = 2.0
_REST_SECONDS = 0.1
_PIECE = 1 << 16


@dataclass(frozen=True)
class PageServer:
    """A server that runs. Shape: `url` is "" for a Unix socket, and has no slash at its end."""

    address: str
    url: str
    count_streams: Callable[[], int]


@contextmanager
def serve_pages(
    address: str,
    handle: Handler,
    notice: Callable[[str], None],
    *,
    name: str,
    accepts: Acceptance = _FROM_HERE,
    note_refusal: Callable[[RefusedRequest], object] = lambda refused: None,
) -> Iterator[PageServer]:
    """Answer requests at `ADDRESS:PORT` or `unix:PATH` within the block; port 0 is any free one.

    Shape: `handle` runs in many threads; `notice` gets the traceback of its defects. `name` is that of the threads.
    `accepts` says which requests it gets, and `note_refusal` gets those that it does not get.
    Raises: ConfigInvalid when the address is wrong or taken.
    """
    server = _bind(address)
    hosts = None if accepts.is_any_host else list_host_names(server.host)
    server.shared = _Shared(handle, accepts, hosts, notice, note_refusal)
    stop_sender, stop_receiver = socket.socketpair()
    thread = Thread(target=server.accept_until, args=(stop_receiver,), name=name, daemon=True)
    thread.start()
    try:
        yield PageServer(server.spelled, server.url, server.shared.count_streams)
    finally:
        server.shared.stopping.set()
        stop_sender.close()
        thread.join()
        stop_receiver.close()
        if address.startswith(UNIX):
            # While it is still taken: afterwards, the file may be that of another server.
            Path(address.removeprefix(UNIX)).unlink(missing_ok=True)
        server.server_close()
        server.shared.close_connections()


class _Shared:
    """What all connections of a server share."""

    def __init__(
        self,
        handle: Handler,
        accepts: Acceptance,
        hosts: frozenset[str] | None,
        notice: Callable[[str], None],
        note_refusal: Callable[[RefusedRequest], object],
    ) -> None:
        self.handle, self.accepts, self.hosts = handle, accepts, hosts
        self.notice, self.note_refusal = notice, note_refusal
        self.stopping = Event()
        self.slots = BoundedSemaphore(CONNECTIONS_MAX)
        self._lock = Lock()
        self._open: dict[socket.socket, Thread] = {}
        self._streams = 0

    def count_streams(self) -> int:
        """Return how many event streams are open."""
        return self._streams

    def begin_stream(self) -> bool:
        """Return whether another event stream may begin, and count it."""
        with self._lock:
            may_begin = self._streams < STREAMS_MAX
            self._streams += may_begin
        return may_begin

    def end_stream(self) -> None:
        """Count an event stream that ended."""
        with self._lock:
            self._streams -= 1

    def add(self, connection: socket.socket, thread: Thread) -> None:
        """Note a connection, so that the end of the server is its end."""
        with self._lock:
            self._open[connection] = thread

    def remove(self, connection: socket.socket) -> None:
        """Forget a connection that is closed."""
        with self._lock:
            self._open.pop(connection, None)

    def close_connections(self) -> None:
        """End all connections, and wait a little for their threads."""
        with self._lock:
            rest = list(self._open.items())
        for connection, _ in rest:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        deadline = monotonic() + _END_SECONDS
        for _, thread in rest:
            thread.join(max(deadline - monotonic(), 0.01))


class _Listener(ThreadingMixIn, TCPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = CONNECTIONS_MAX
    timeout = 0
    shared: _Shared
    host = spelled = url = ""

    def accept_until(self, stop_receiver: socket.socket) -> None:
        """Accept connections until the other end of a pair of sockets is closed."""
        with DefaultSelector() as selector:
            selector.register(self.socket, EVENT_READ)
            selector.register(stop_receiver, EVENT_READ)
            while stop_receiver not in [key.fileobj for key, _ in selector.select()]:
                self.handle_request()

    def get_request(self) -> Any:
        """Take a connection; where there is no file descriptor for it, rest, since it waits and shows again at once."""
        try:
            return super().get_request()
        except OSError:
            self.shared.stopping.wait(_REST_SECONDS)
            raise

    def process_request(self, request: Any, client_address: Any) -> None:
        """Give a connection its thread; where there are too many, or the system has no thread left, close it."""
        if not self.shared.slots.acquire(blocking=False):
            self.shutdown_request(request)
            return
        arguments = (request, client_address)
        thread = Thread(target=self._serve_connection, args=arguments, name="syncd-page", daemon=True)
        self.shared.add(request, thread)
        try:
            thread.start()
        except RuntimeError:
            self._free_slot(request)
            self.shutdown_request(request)

    def _serve_connection(self, request: Any, client_address: Any) -> None:
        try:
            self.process_request_thread(request, client_address)
        finally:
            self._free_slot(request)

    def _free_slot(self, request: Any) -> None:
        self.shared.remove(request)
        self.shared.slots.release()

    def handle_error(self, request: object, client_address: object) -> None:
        """Report a defect; one who hangs up is no trouble of ours."""
        self.shared.notice(f"a connection to a page ended in a defect: {traceback.format_exc()}")


class _TcpListener(_Listener):
    allow_reuse_address = True

    def __init__(self, host: str, port: int) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((host, port), _PageConnection)
        self.host = host
        shown = f"[{host}]" if ":" in host else host
        self.spelled = f"{shown}:{self.server_address[1]}"
        self.url = f"http://{self.spelled}"


class _UnixListener(_Listener, UnixStreamServer):
    def __init__(self, path: str) -> None:
        super().__init__(path, _PageConnection)
        Path(path).chmod(0o600)
        self.spelled = f"{UNIX}{path}"


def check_address(address: str) -> None:
    """Listen at an address, and stop at once. Raises: ConfigInvalid when the address is wrong or taken."""
    with _bind(address):
        if address.startswith(UNIX):
            Path(address.removeprefix(UNIX)).unlink(missing_ok=True)


def _bind(address: str) -> _TcpListener | _UnixListener:
    try:
        if address.startswith(UNIX):
            path = address.removeprefix(UNIX)
            _remove_dead_socket(Path(path))
            return _UnixListener(path)
        return _TcpListener(*parse_listen_address(address))
    except (OSError, ValueError) as error:
        raise describe_refusal(address, error) from error


def _remove_dead_socket(path: Path) -> None:
    """Remove the file of a socket at which no process listens any more."""
    try:
        is_socket = stat.S_ISSOCK(path.lstat().st_mode)
    except FileNotFoundError:
        return
    if is_socket:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.settimeout(1)
            try:
                probe.connect(str(path))
            except ConnectionRefusedError:
                path.unlink(missing_ok=True)


class _PageConnection(BaseRequestHandler):
    request: socket.socket
    server: _Listener

    def setup(self) -> None:
        """Prepare to read HTTP."""
        self._shared = self.server.shared
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_BYTES_MAX)
        self._deadline = 0.0
        self._method = ""
        """Of the request that is being read or answered, as far as it is known."""

    def handle(self) -> None:
        """Answer the requests of one connection until somebody ends it."""
        # A client that leaves, breaks HTTP or takes too long has lost its connection, and that is all.
        with suppress(OSError, h11.RemoteProtocolError):
            while not self._shared.stopping.is_set() and self._answer_next():
                self._http.start_next_cycle()

    def _answer_next(self) -> bool:
        """Answer one request, and return whether another may follow."""
        try:
            request = self._read_request()
        except RefusedRequest as refused:
            self._shared.note_refusal(refused)
            self._write(render_line(refused.status, refused.reason))
            return False
        if request is None:
            return False
        answer = self._find_answer(request)
        if isinstance(answer, EventStream):
            if self._shared.begin_stream():
                try:
                    self._stream(answer)
                finally:
                    self._shared.end_stream()
                return False
            answer = render_line(503, "too many pages are open")
        self._write(apply_condition(request, answer))
        return self._http.their_state is h11.DONE and self._http.our_state is h11.DONE

    def _find_answer(self, request: PageRequest) -> PageResponse | EventStream:
        try:
            return self._shared.handle(request)
        except RefusedRequest as refused:
            return render_line(refused.status, refused.reason)
        except Exception:  # noqa: BLE001 - whatever it is, who asks gets an answer, and the log the traceback
            self._shared.notice(f"a page was not answered: {traceback.format_exc()}")
            return render_line(500, "an error inside syncd; its log has the traceback")

    def _read_request(self) -> PageRequest | None:
        """The next request with its body, or None when the client sends no more. Raises: RefusedRequest."""
        self._deadline, self._method = monotonic() + IDLE_SECONDS, ""
        try:
            head = self._read_event()
            if not isinstance(head, h11.Request):
                return None
            headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in head.headers}
            target = head.target.decode("latin-1")
            self._method, accepts = head.method.decode("latin-1"), self._shared.accepts
            request = read_request(
                self._method, target, headers, self._shared.hosts, is_any_origin=accepts.is_any_origin
            )
            body = bytearray()
            while isinstance(event := self._read_event(), h11.Data):
                body += event.data
                if len(body) > accepts.body_max:
                    raise RefusedRequest(413, f"a request has at most {accepts.body_max} bytes")
        except h11.RemoteProtocolError as error:
            raise RefusedRequest(error.error_status_hint, "the request is not HTTP as syncd reads it") from error
        return replace(request, body=bytes(body))

    def _read_event(self) -> object:
        while (event := self._http.next_event()) is h11.NEED_DATA:
            if self._http.they_are_waiting_for_100_continue:
                self._send(h11.InformationalResponse(status_code=100, headers=[]), ANSWER_SECONDS)
            self.request.settimeout(max(self._deadline - monotonic(), 0.001))
            piece = self.request.recv(_PIECE)
            if self._http.their_state is h11.IDLE and self._http.trailing_data[0] == b"":
                # The first byte of a request: from here on it has to come in time.
                self._deadline = monotonic() + REQUEST_SECONDS
            self._http.receive_data(piece)
        return event

    def _write(self, response: PageResponse) -> None:
        headers = [*build_headers(response), ("Date", formatdate(usegmt=True))]
        if response.status not in (204, 304):
            headers.append(("Content-Length", str(len(response.body))))
        if self._http.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            return
        self._send(h11.Response(status_code=response.status, headers=headers), ANSWER_SECONDS)
        if self._method != "HEAD" and response.body:
            self._send(h11.Data(data=response.body), ANSWER_SECONDS)
        self._send(h11.EndOfMessage(), ANSWER_SECONDS)

    def _send(self, event: h11.Event, seconds: float) -> None:
        data = self._http.send(event)
        if data:
            self.request.settimeout(seconds)
            self.request.sendall(data)

    def _stream(self, stream: EventStream) -> None:
        """Send an event for each change, until the client leaves or the server ends."""
        kept = PageResponse(content_type="text/event-stream", cache="no-store")
        headers = [*build_headers(kept), ("Date", formatdate(usegmt=True)), ("Connection", "close")]
        self._send(h11.Response(status_code=200, headers=headers), ANSWER_SECONDS)
        self._send(h11.Data(data=b"retry: 2000\n\n"), ANSWER_SECONDS)
        seen, beat = stream.seen, monotonic()
        while not self._shared.stopping.is_set() and not self._has_left():
            version = stream.source.wait_for_change(seen, _TURN_SECONDS)
            if version != seen:
                seen, beat = version, monotonic()
                self._send(h11.Data(data=f"event: changed\ndata: {version}\n\n".encode()), ANSWER_SECONDS)
            elif monotonic() - beat > HEARTBEAT_SECONDS:
                beat = monotonic()
                self._send(h11.Data(data=b": still here\n\n"), ANSWER_SECONDS)

    def _has_left(self) -> bool:
        """Whether the client of a stream closed the connection, or sends what belongs to no stream."""
        self.request.settimeout(0)
        try:
            self.request.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        return True
