"""Real sockets: cut, slow, huge and packed answers, and connections that are kept."""

import gzip
import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Literal

import httpx
import pytest

from syncd.api.client import Client
from syncd.api.options import ClientOptions
from syncd.api.parallel import run_parallel
from syncd.api.transport.connections import Connections
from syncd.errors import AnswerLost, AnswerTooLarge, ConfigInvalid, NotThePlatform, Stopped, Unreachable
from syncd.model.change_request import ChangeRequestCreate
from syncd.net.failures import Refused
from tests.peers import answer_with, make_certificate, serve_peer

BODY = json.dumps({"object": "space", "id": "s1"}).encode()
Build = Callable[..., Client]
TLS = """
import gc, ssl
from syncd.api.client import Client
from syncd.api.options import ClientOptions
from syncd.api.parallel import run_parallel
from syncd.errors import Unreachable
for url in ("https://127.0.0.1:1", "http://127.0.0.1:1"):
    client = Client(url, "t", ClientOptions(sleep=lambda _: None))
    print(sum(isinstance(one, ssl.SSLContext) for one in gc.get_objects()))
    try:
        client.spaces.get("s1")
    except Unreachable:
        print(sum(isinstance(one, ssl.SSLContext) for one in gc.get_objects()))
    client.close()
    del client
    gc.collect()
"""


def request_of(connection: socket.socket) -> bytes:
    """Read one request whole."""
    data = b""
    while b"\r\n\r\n" not in data:
        if not (more := connection.recv(65536)):
            raise OSError("closed")
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    lengths = [line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")]
    while lengths and len(body) < int(lengths[0]):
        body += connection.recv(65536)
    return data


def answer(body: bytes, *, declared: int | None = None, head: str = "") -> bytes:
    length = len(body) if declared is None else declared
    return f"HTTP/1.1 200 OK\r\n{head}Content-Length: {length}\r\n\r\n".encode() + body


def test_a_connection_is_kept_for_the_next_request(served: Build) -> None:
    connections = []

    def serve(connection: socket.socket) -> None:
        connections.append(connection)
        while request_of(connection):
            connection.sendall(answer(BODY))

    client = served(serve)
    for _ in range(3):
        assert client.spaces.get("s1").id == "s1"
    client.close()
    assert len(connections) == 1


def test_a_kept_connection_that_the_server_closed_is_opened_anew(served: Build) -> None:
    def serve(connection: socket.socket) -> None:
        request_of(connection)
        connection.sendall(answer(BODY))

    client = served(serve)
    client.spaces.get("s1")
    time.sleep(0.05)
    assert client.spaces.get("s1").id == "s1"
    assert client.requests_sent == {"GET": 2}


def test_threads_have_a_connection_each_and_keep_it() -> None:
    connections = set()

    class Answering(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            connections.add(self.client_address)
            self.wfile.write(answer(json.dumps({"object": "space", "id": self.path[-3:]}).encode()))

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        ids = [f"{one:03}" for one in range(200)]
        with Client(f"http://127.0.0.1:{server.server_port}", "t") as client:
            for _ in range(2):
                answers = {one: space.id for one, space in run_parallel(client.spaces.get, ids, workers=4)}
                assert answers == dict(zip(ids, ids, strict=True))
        server.shutdown()
        thread.join()
    assert len(connections) <= 4


def test_a_cut_body_is_read_again(served: Build) -> None:
    answers = [answer(BODY[:9], declared=len(BODY)), answer(BODY)]

    def serve(connection: socket.socket) -> None:
        request_of(connection)
        connection.sendall(answers.pop(0))

    client = served(serve)
    assert client.spaces.get("s1").id == "s1"
    assert client.requests_sent == {"GET": 2}


def test_a_body_cut_without_a_declared_length_is_not_taken_for_whole(served: Build) -> None:
    def serve(connection: socket.socket) -> None:
        request_of(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + BODY[:-5])

    with pytest.raises(Unreachable, match="breaks off"):
        served(serve).spaces.get("s1")


def test_a_write_whose_connection_breaks_is_sent_once(served: Build) -> None:
    requests = []

    def serve(connection: socket.socket) -> None:
        requests.append(request_of(connection))

    with pytest.raises(AnswerLost):
        served(serve).change_requests.create("s1", ChangeRequestCreate(subject="Words"))
    assert len(requests) == 1


def test_a_refused_connection_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with (
        Client(f"http://127.0.0.1:{port}", "t", ClientOptions(sleep=lambda _: None)) as client,
        pytest.raises(Unreachable),
    ):
        client.change_requests.create("s1", ChangeRequestCreate(subject="Words"))
    assert client.requests_sent == {"POST": 5}


@pytest.mark.parametrize(
    "head", [b"", b"HTTP/1.1 200 OK\r\nX-Slow: ", answer(b"", declared=10_000)], ids=["mute", "headers", "body"]
)
def test_an_answer_that_drips_ends_at_the_deadline(served: Build, head: bytes) -> None:
    def serve(connection: socket.socket) -> None:
        request_of(connection)
        connection.sendall(head)
        for _ in range(20):
            time.sleep(0.05)
            if head:
                connection.sendall(b"x")

    start = time.monotonic()
    with pytest.raises(AnswerLost, match=r"longer than it may|in time"):
        served(serve, deadline=0.3).change_requests.create("s1", ChangeRequestCreate(subject="Words"))
    assert time.monotonic() - start < 1


def test_a_read_that_drips_is_unavailable_after_two_deadlines(served: Build) -> None:
    over = Event()

    def serve(connection: socket.socket) -> None:
        request_of(connection)
        connection.sendall(answer(b"", declared=10_000))
        while not over.wait(0.05):
            connection.sendall(b" ")

    client = served(serve, deadline=0.3)
    with pytest.raises(Unreachable, match=r"no answer after \d tries.*longer than it may") as caught:
        client.content.get("s1")
    over.set()
    assert caught.value.exit_code == 69
    assert client.requests_sent["GET"] == 2


def test_all_tries_together_end_after_two_deadlines(served: Build) -> None:
    client = served(lambda connection: time.sleep(0.5), deadline=0.2)
    with pytest.raises(Unreachable, match=r"longer than it may|in time"):
        client.spaces.get("s1")
    assert client.requests_sent["GET"] <= 2


def test_a_stop_is_heeded_while_an_answer_drips(served: Build) -> None:
    begun = Event()

    def serve(connection: socket.socket) -> None:
        request_of(connection)
        connection.sendall(answer(b"", declared=10_000))
        while True:
            connection.sendall(b"x")
            begun.set()
            time.sleep(0.05)

    with pytest.raises(Stopped):
        served(serve, cancelled=begun.is_set).spaces.get("s1")


def test_a_packed_answer_is_unpacked(served: Build) -> None:
    packed = gzip.compress(json.dumps({"object": "space", "id": "s1", "title": "word " * 100_000}).encode())

    def serve(connection: socket.socket) -> None:
        request_of(connection)
        connection.sendall(answer(packed, head="Content-Encoding: gzip\r\n"))

    assert len(served(serve).spaces.get("s1").title) == 500_000


@pytest.mark.parametrize("unit", [b" ", b"["])
def test_a_packed_bomb_is_refused_while_it_is_small(served: Build, unit: bytes) -> None:
    bomb = gzip.compress(unit * (80 << 20))

    def serve(connection: socket.socket) -> None:
        request_of(connection)
        connection.sendall(answer(bomb, head="Content-Encoding: gzip\r\n"))

    start = time.monotonic()
    with pytest.raises(AnswerTooLarge, match=r"hundred times|too many values"):
        served(serve).spaces.get("s1")
    assert time.monotonic() - start < 2


@pytest.mark.parametrize("packed", [b"not gzip", gzip.compress(BODY)[:-9]], ids=["none", "cut"])
def test_a_packed_answer_that_is_broken_is_refused(served: Build, packed: bytes) -> None:
    def serve(connection: socket.socket) -> None:
        request_of(connection)
        connection.sendall(answer(packed, head="Content-Encoding: gzip\r\n"))

    with pytest.raises((NotThePlatform, Unreachable)):
        served(serve).spaces.get("s1")


def test_an_answer_beyond_the_cap_is_refused() -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=b"x" * 1001))
    request = httpx.Request("GET", "https://api.example.com")
    with Connections(transport).open_stream(request, origin="", cap=1001, seconds=9) as answer:
        assert len(b"".join(answer.pieces)) == 1001
    with (
        pytest.raises(Refused, match="larger than 1000 bytes"),
        Connections(transport).open_stream(request, origin="", cap=1000, seconds=9) as answer,
    ):
        list(answer.pieces)


def test_a_reset_without_a_length_does_not_wait_for_the_connection_to_end(served: Build) -> None:
    def serve(connection: socket.socket) -> None:
        request_of(connection)
        connection.sendall(b"HTTP/1.1 205 Reset Content\r\n\r\n")
        connection.recv(1)

    served(serve, deadline=5).redirects.delete("o", "s", "r")


@pytest.mark.parametrize(
    "noise", [b"SSH-2.0-OpenSSH_9.2\r\n", b"\x16\x03\x01\x00\x00", b"HTTP/1.1 200 OK\r\nbad header\r\n\r\n"]
)
def test_another_protocol_is_an_error_of_the_tree(served: Build, noise: bytes) -> None:
    def serve(connection: socket.socket) -> None:
        request_of(connection)
        connection.sendall(noise)

    with pytest.raises(Unreachable):
        served(serve).spaces.get("s1")


def test_no_trust_store_is_read_before_it_is_needed() -> None:
    ran = subprocess.run([sys.executable, "-c", TLS], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["0", "1", "0", "0"]


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_certificate_that_is_not_believed_is_tried_once_and_the_remedy_named(
    tmp_path: Path, method: Literal["GET", "POST"]
) -> None:
    waits: list[float] = []
    with (
        serve_peer(answer_with(b""), trust=make_certificate(tmp_path, "localhost")) as (port, heads),
        Client(f"https://127.0.0.1:{port}/v1", "token", ClientOptions(sleep=waits.append)) as client,
        pytest.raises(Unreachable, match=r"the host's certificate is not valid .self.signed certificate") as caught,
    ):
        client.raw.call(method, "/spaces")
    assert (waits, heads) == ([], [])
    assert "SSL_CERT_FILE" in caught.value.hint


@pytest.mark.parametrize(
    ("content", "why"),
    [(None, "No such file or directory"), ("", "it holds no certificates"), ("x", "it holds no cert")],
)
def test_a_file_of_authorities_that_cannot_be_used_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str | None, why: str
) -> None:
    file = tmp_path / "ca.pem"
    if content is not None:
        file.write_text(content)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    with Client("https://127.0.0.1:1/v1", "token", ClientOptions()) as client, pytest.raises(ConfigInvalid) as refused:
        client.spaces.get("s1")
    assert f"SSL_CERT_FILE names '{file}', which cannot be used: {why}" in refused.value.what
