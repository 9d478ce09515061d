"""Clients without a token who send too much, too many, too slowly, or never the end: nobody else notices."""

import contextlib
import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from syncd.platform.http.connections import PIPELINED_MAX
from syncd.platform.server import BackgroundServer
from syncd.platform.settings import ConnectionBounds, PlatformSettings
from syncd.platform.storage.storage import Storage
from tests.storages import new_storage

MIB = 2**20
PATIENCE_S = 60
"""How long a test waits for what must happen."""
USER = b"GET /v1/user HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Platform:
    """A server with some bounds, and sockets to it."""

    def __init__(self, storage: Storage, stack: ExitStack, **bounds: Any) -> None:
        self._stack = stack
        self.storage = storage
        self.url = stack.enter_context(
            BackgroundServer(storage, PlatformSettings(connections=ConnectionBounds(**bounds)), works=False)
        )

    def connect(self, *, buffer: int | None = None) -> socket.socket:
        """A new connection that says nothing yet."""
        host, port = self.url.removeprefix("http://").split(":")
        connection = socket.socket()
        if buffer is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        connection.settimeout(PATIENCE_S)
        connection.connect((host, int(port)))
        return self._stack.enter_context(connection)

    @property
    def head(self) -> bytes:
        """The beginning of a request of the owner that has a body."""
        token = self.storage.token_file.read_text().strip()
        lines = ("Host: a", "Connection: close", "Content-Type: application/json", f"Authorization: Bearer {token}")
        return "\r\n".join(("POST /v1/orgs HTTP/1.1", *lines, "")).encode()

    def user(self) -> httpx.Response:
        """The answer to who the owner is."""
        headers = {"Authorization": f"Bearer {self.storage.token_file.read_text().strip()}"}
        return httpx.get(f"{self.url}/v1/user", headers=headers, trust_env=False, timeout=PATIENCE_S)


Serve = Callable[..., Platform]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Starts a server with the usual bounds but for those that are given."""
    with new_storage(tmp_path / "platform") as storage, ExitStack() as stack:
        storage.bootstrap()
        yield lambda **bounds: Platform(storage, stack, **bounds)


def answer(connection: socket.socket) -> tuple[int, str]:
    """All that the server still says, as status and message; status 0 when it closed without a word."""
    pieces = []
    with contextlib.suppress(ConnectionError):
        while piece := connection.recv(65536):
            pieces.append(piece)
    head, _, body = b"".join(pieces).partition(b"\r\n\r\n")
    return (int(head.split(b" ")[1]), json.loads(body)["error"]["message"]) if body else (0, "")


def send(connection: socket.socket, piece: bytes, times: int) -> int:
    """Send a piece again and again while the server takes it, and return how many bytes that were."""
    sent = 0
    with contextlib.suppress(ConnectionError):
        for _ in range(times):
            connection.sendall(piece)
            sent += len(piece)
    return sent


def is_open(connection: socket.socket) -> bool:
    """Whether the server has neither closed this connection nor said anything on it."""
    connection.setblocking(False)
    try:
        connection.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return True
    except ConnectionError:
        return False
    return False


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until something is so."""
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("begin", "piece", "times"),
    [
        (b"GET / HTTP/1.1\r\nX: ", b"a" * MIB, 38),
        (b"GET / HTTP/1.1\r\n", b"".join(b"X-%d: a\r\n" % number for number in range(1000)), 390),
        (b"GET / HTTP/1.1\r\n", b"a: \r\n" * 20, 19_500),
        (b"GET /?", b"a" * MIB, 38),
        (b"GET / HTTP/1.1\r\n", b"X" * MIB, 38),
    ],
)
def test_a_head_without_end_is_refused_before_it_is_held(serve: Serve, begin: bytes, piece: bytes, times: int) -> None:
    platform = serve()
    connection = platform.connect()
    connection.sendall(begin)
    sent = send(connection, piece, times)
    assert sent < 16 * MIB or len(piece) * times < 16 * MIB
    status, message = answer(connection)
    assert status in (431, 0)
    assert platform.user().status_code == 200
    assert "head" in message or not status


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (b"X: a\r\n" * 102, "A request may have at most 100 headers."),
        (b"X: " + b"a" * 66_000 + b"\r\n", "The head of the request is too large."),
        (
            b"X: " + b"a" * 1000 + b"\r\n" + (b"Y: " + b"b" * 1000 + b"\r\n") * 66,
            "The head of the request is too large.",
        ),
    ],
)
def test_who_sends_too_large_a_head_is_told_so(serve: Serve, head: bytes, message: str) -> None:
    connection = serve().connect()
    connection.sendall(b"GET / HTTP/1.1\r\n" + head)
    assert answer(connection) == (431, message)


def test_a_head_within_the_bounds_is_read_however_it_is_cut(serve: Serve) -> None:
    platform = serve()
    whole = (
        b"GET /v1/user HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" + (b"X: " + b"a" * 640 + b"\r\n") * 95 + b"\r\n"
    )
    for size in (1000, 7, len(whole)):
        connection = platform.connect()
        for start in range(0, len(whole), size):
            connection.sendall(whole[start : start + size])
        assert answer(connection)[0] == 401


def test_what_stands_behind_a_body_is_no_header(serve: Serve) -> None:
    platform = serve()
    token = platform.storage.token_file.read_text().strip().encode()
    connection = platform.connect()
    connection.sendall(
        b"POST /v1/orgs HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nAuthorization: Bearer " + token + b"\r\n\r\n"
    )
    assert answer(connection)[0] == 401


def test_nine_hundred_half_open_connections_keep_nobody_out(serve: Serve) -> None:
    platform = serve()
    opened = []
    for number in range(900):
        opened.append(platform.connect())
        with contextlib.suppress(ConnectionError):
            opened[-1].sendall(USER[: number % len(USER)])
        if number % 100 == 99:
            assert platform.user().status_code == 200
    wait_for(lambda: sum(map(is_open, opened)) <= ConnectionBounds.connections_per_address)
    assert platform.user().status_code == 200


@pytest.mark.parametrize("sent", [b"", b"\r\n", b"GET", USER[:-2], USER[:-2] + b"X: " + b"a" * 1000])
def test_a_head_that_does_not_end_in_time_ends_the_connection(serve: Serve, sent: bytes) -> None:
    connection = serve(head_s=0.5).connect()
    connection.sendall(sent)
    assert answer(connection) == (408, "The head of the request did not arrive in time.")


def test_a_head_that_trickles_gains_no_time(serve: Serve) -> None:
    connection = serve(head_s=0.5).connect()
    began = time.monotonic()
    with contextlib.suppress(ConnectionError):
        while time.monotonic() - began < PATIENCE_S:
            connection.sendall(b"G" if time.monotonic() == began else b"\r\n")
            time.sleep(0.05)
    assert time.monotonic() - began < PATIENCE_S


def test_an_idle_connection_is_not_kept_by_empty_lines(serve: Serve) -> None:
    connection = serve(idle_s=1).connect()
    connection.sendall(USER)
    assert connection.recv(65536).startswith(b"HTTP/1.1 401 ")
    began = time.monotonic()
    with contextlib.suppress(ConnectionError):
        while time.monotonic() - began < PATIENCE_S:
            connection.sendall(b"\r\n")
            time.sleep(0.1)
    assert time.monotonic() - began < PATIENCE_S


@pytest.mark.parametrize(
    ("head", "piece"),
    [
        (b"Content-Length: 1000\r\n\r\n", b" "),
        (b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
        (b"Transfer-Encoding: chunked\r\n\r\n1;", b"extension"),
    ],
)
def test_a_body_that_trickles_ends_the_connection(serve: Serve, head: bytes, piece: bytes) -> None:
    platform = serve(body_s=0.5)
    connection = platform.connect()
    connection.sendall(platform.head + head)
    began = time.monotonic()
    with contextlib.suppress(ConnectionError):
        while is_open(connection) and time.monotonic() - began < PATIENCE_S:
            connection.setblocking(True)
            connection.sendall(piece)
            time.sleep(0.05)
    connection.setblocking(True)
    assert answer(connection)[0] in (408, 0)
    assert time.monotonic() - began < PATIENCE_S


def test_a_body_that_nobody_reads_any_more_ends_the_connection(serve: Serve) -> None:
    connection = serve(body_s=0.5).connect()
    head = b"POST /v1/orgs HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    connection.sendall(head)
    assert send(connection, b"10000\r\n" + b" " * 65536 + b"\r\n", 100_000) < 100_000 * 65536


def test_a_client_that_does_not_take_its_answer_is_not_waited_for(serve: Serve) -> None:
    platform = serve(answer_s=3, rate=100 * MIB, connections_per_address=1)  # long enough to be met on a busy machine
    connection = platform.connect(buffer=4096)
    connection.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n" * PIPELINED_MAX)
    connection.recv(1, socket.MSG_PEEK)  # before it is answered, it would give way to whoever comes next
    wait_for(lambda: platform.user().status_code == 503)
    wait_for(lambda: platform.user().status_code == 200)


def test_requests_are_not_piled_up_on_one_connection(serve: Serve) -> None:
    connection = serve().connect()
    connection.sendall(USER * 5000)
    with contextlib.suppress(ConnectionError):
        while connection.recv(65536):
            pass


def test_beyond_the_number_of_connections_a_new_one_is_refused(serve: Serve) -> None:
    platform = serve(connections_per_address=2)
    with platform.storage.write():
        waiting = [platform.connect() for _ in range(2)]
        for connection in waiting:
            connection.sendall(platform.head + b"Content-Length: 16\r\nExpect: 100-continue\r\n\r\n")
            assert connection.recv(1024) == b"HTTP/1.1 100 Continue\r\n\r\n"
            connection.sendall(b'{"title":"Docs"}')
        assert answer(platform.connect()) == (503, "Too many connections are open. Try again later.")
    assert {connection.recv(16) for connection in waiting} == {b"HTTP/1.1 201 Cre"}
    wait_for(lambda: platform.user().status_code == 200)
