"""A server of pages over real sockets: what it answers, whom it drops, and how it ends."""

import errno
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from socketserver import TCPServer

import httpx
import pytest

from syncd.errors import ConfigInvalid
from syncd.net import page_server
from syncd.net.page_server import PageServer, serve_pages
from syncd.net.page_values import EventStream, PageRequest, PageResponse

pytestmark = pytest.mark.story


class Versions:
    """A source of changes that a test moves."""

    def __init__(self) -> None:
        self.version = "1"
        self._moved = threading.Condition()

    def wait_for_change(self, seen: str, seconds: float) -> str:
        with self._moved:
            self._moved.wait_for(lambda: self.version != seen, seconds)
            return self.version

    def move(self, version: str) -> None:
        with self._moved:
            self.version = version
            self._moved.notify_all()


VERSIONS = Versions()


def handle(request: PageRequest) -> PageResponse | EventStream:
    match request.path:
        case "/defect":
            raise ZeroDivisionError
        case "/events":
            return EventStream(VERSIONS, request.query["seen"])
        case _:
            return PageResponse(f"{request.method} {request.path} {request.body.decode()}".encode())


@pytest.fixture
def notices() -> list[str]:
    return []


@pytest.fixture
def server(notices: list[str]) -> Iterator[PageServer]:
    with serve_pages("127.0.0.1:0", handle, notices.append, name="test") as running:
        yield running


def speak(server: PageServer, data: bytes) -> bytes:
    """Send bytes and return all that comes until the server closes the connection."""
    host, _, port = server.address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(data)
        answer = b""
        while piece := connection.recv(4096):
            answer += piece
    return answer


def test_pages_are_answered_on_one_connection(server: PageServer) -> None:
    with httpx.Client(base_url=server.url) as client:
        first = client.get("/a")
        assert first.text == "GET /a "
        assert first.headers["content-security-policy"].startswith("default-src 'none'")
        assert client.get("/a", headers={"if-none-match": first.headers["etag"]}).status_code == 304
        head = client.head("/a")
        assert (head.text, head.headers["content-length"]) == ("", str(len("HEAD /a ")))
        own = {"origin": server.url}
        assert client.post("/b", content=b"body", headers=own).text == "POST /b body"
        assert client.post("/b", content=iter([b"bo", b"dy"]), headers=own).text == "POST /b body"


def test_a_stranger_is_refused(server: PageServer) -> None:
    assert httpx.get(server.url, headers={"host": "evil.org"}).status_code == 421
    assert httpx.post(server.url, headers={"origin": "http://evil.org"}).status_code == 403
    assert httpx.put(server.url).status_code == 405


def test_who_asks_for_the_head_alone_is_refused_without_a_body(server: PageServer, notices: list[str]) -> None:
    for host, target in (("evil.example", "/"), ("127.0.0.1", "/../")):
        answer = speak(server, f"HEAD {target} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        head, _, body = answer.partition(b"\r\n\r\n")
        assert head.startswith((b"HTTP/1.1 421", b"HTTP/1.1 400"))
        assert not body
    assert not notices, "a stranger's request is no defect"


def test_what_is_too_large_or_no_http_is_refused(server: PageServer) -> None:
    host = b"Host: localhost\r\nOrigin: http://localhost\r\n"
    large = b"POST / HTTP/1.1\r\n" + host + b"Content-Length: 70000\r\n\r\n" + b"a" * 70000
    assert speak(server, large).startswith(b"HTTP/1.1 413 ")
    assert b" 431 " in speak(server, b"GET / HTTP/1.1\r\n" + host + b"X: " + b"a" * 40000)
    assert b" 400 " in speak(server, b"GET / HTTP/1.1\r\n\r\n")
    assert b" 400 " in speak(server, b"what is this?\r\n\r\n")


def test_a_slow_client_loses_its_connection(server: PageServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_server, "REQUEST_SECONDS", 0.2)
    assert speak(server, b"GET / HTTP/1.1\r\nHost: local") == b""
    monkeypatch.setattr(page_server, "IDLE_SECONDS", 0.2)
    assert speak(server, b"") == b""


def test_a_defect_is_answered_and_reported(server: PageServer, notices: list[str]) -> None:
    assert httpx.get(f"{server.url}/defect").status_code == 500
    assert "ZeroDivisionError" in notices[0]


def test_a_server_without_file_descriptors_rests_and_answers_later(
    server: PageServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[float] = []

    def refuse(listener: TCPServer) -> object:
        tries.append(time.monotonic())
        raise OSError(errno.EMFILE, "Too many open files")

    with socket.socket() as client, monkeypatch.context() as without:
        client.settimeout(60)
        without.setattr(TCPServer, "get_request", refuse)
        host, _, port = server.address.rpartition(":")
        client.connect((host, int(port)))
        time.sleep(0.5)
        assert 0 < len(tries) < 20
        without.undo()
        client.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        assert client.recv(4096).startswith(b"HTTP/1.1 200")


def test_connections_for_which_there_is_no_thread_take_no_place(notices: list[str]) -> None:
    with serve_pages("127.0.0.1:0", handle, notices.append, name="test") as server:
        usual = threading.stack_size(1 << 62)  # a stack that no system has room for
        try:
            for _ in range(page_server.CONNECTIONS_MAX + 1):
                assert speak(server, b"") == b""
        finally:
            threading.stack_size(usual)
        assert httpx.get(server.url).status_code == 200
    assert not notices, "a system that is short of threads is no defect"


def test_changes_are_sent_and_the_streams_are_few(server: PageServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_server, "STREAMS_MAX", 1)
    monkeypatch.setattr(page_server, "HEARTBEAT_SECONDS", 0.0)
    with httpx.Client(base_url=server.url, timeout=60) as client, client.stream("GET", "/events?seen=1") as events:
        assert events.headers["content-type"] == "text/event-stream"
        lines = events.iter_lines()
        assert next(line for line in lines if line.startswith(":")) == ": still here"
        assert client.get("/events?seen=1").status_code == 503
        VERSIONS.move("2")
        assert next(line for line in lines if line.startswith("data")) == "data: 2"
        assert server.count_streams() == 1


def test_the_end_of_the_server_is_that_of_its_streams() -> None:
    with ExitStack() as stack:
        server = stack.enter_context(serve_pages("127.0.0.1:0", handle, print, name="test"))
        events = stack.enter_context(httpx.stream("GET", f"{server.url}/events?seen={VERSIONS.version}", timeout=60))
        lines = events.iter_lines()
        assert next(lines) == "retry: 2000"
        stack.pop_all().close()
        with pytest.raises(httpx.HTTPError):
            list(lines)
    with pytest.raises(httpx.ConnectError):
        httpx.get(server.url)


def test_a_unix_socket_is_its_owners_and_a_dead_one_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "page.sock"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    with serve_pages(f"unix:{path}", handle, print, name="test") as server:
        assert (server.url, path.stat().st_mode & 0o777) == ("", 0o600)
        with httpx.Client(transport=httpx.HTTPTransport(uds=str(path)), base_url="http://localhost") as client:
            assert client.get("/a").text == "GET /a "
        with pytest.raises(ConfigInvalid), serve_pages(f"unix:{path}", handle, print, name="test"):
            raise AssertionError("two listen")
    assert not path.exists()


def test_an_address_that_is_taken_is_told_apart_from_one_that_is_none() -> None:
    def handle(request: PageRequest) -> PageResponse:
        return PageResponse(b"")

    with serve_pages("127.0.0.1:0", handle, print, name="test") as server:
        taken = server.url.removeprefix("http://").rstrip("/")
        for address, reason, hint in (
            (taken, "Address already in use", "another program listens there, such as another syncd"),
            ("127.0.0.1", "it has no port", "write ADDRESS:PORT"),
            ("unix:/absent/page.sock", "No such file or directory", "make the directory"),
        ):
            with pytest.raises(ConfigInvalid) as refusal, serve_pages(address, handle, print, name="test"):
                raise AssertionError("it listens")
            assert reason in refusal.value.what
            assert "Errno" not in refusal.value.what
            assert refusal.value.hint.startswith(hint)
