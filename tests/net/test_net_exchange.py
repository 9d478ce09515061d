"""Outgoing requests: what may be asked, and how long and how large the answer may be; servers are real sockets."""

import socket
import ssl
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from syncd.net.exchange import Network, open_stream
from syncd.net.failures import BrokenOff, NetworkError, NotConnected, Refused, TimedOut
from tests.peers import OK, Talk, answer_with, make_certificate, serve_peer


class Reply(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes


def send(method: str, url: str, **options: Any) -> Reply:
    with open_stream(method, url, **options) as answer:
        return Reply(answer.status, answer.headers, answer.read_body())


def named(*answers: str) -> tuple[Network, list[str]]:
    """A world in which every name has these addresses, one a question, the last one for ever."""
    asked: list[str] = []

    def resolve(host: str, port: int) -> list[str]:
        asked.append(host)
        return [answers[min(len(asked), len(answers)) - 1]]

    return Network(resolve=resolve), asked


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "localhost", "[::ffff:127.0.0.1]", "169.254.169.254"])
def test_the_own_machine_is_refused_before_any_connection(host: str) -> None:
    with serve_peer(answer_with(OK)) as (port, heads), pytest.raises(Refused):
        send("GET", f"http://{host}:{port}/")
    assert heads == []


def test_an_answer_comes_whole_and_the_request_carries_what_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    world, asked = named("127.0.0.1")
    answer = b"HTTP/1.1 418 No\r\nX-A: 1\r\nx-a: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n1\r\n!\r\n0\r\n\r\n"
    with serve_peer(answer_with(answer)) as (port, heads):
        headers = {"X-Key": "k", "Host": "evil", "Content-Length": "9"}
        reply = send("POST", f"http://a.example:{port}/x?y", headers=headers, body=b"abc", private=True, network=world)
    assert (reply.status, reply.headers["x-a"], reply.body) == (418, "1, 2", b"hi!")
    lines = heads[0].split(b"\r\n")
    assert lines[0] == b"POST /x?y HTTP/1.1"
    assert {f"Host: a.example:{port}".encode(), b"Content-Length: 3", b"x-key: k"} <= set(lines)
    assert b"evil" not in heads[0]
    assert asked == ["a.example"]


def test_a_name_that_changes_its_address_is_reached_only_where_it_was_checked() -> None:
    world, asked = named("93.184.216.34", "127.0.0.1")
    # The suite's guard names the address that a connection wants to go to.
    with serve_peer(answer_with(OK)) as (port, heads), pytest.raises(AssertionError, match=r"93\.184\.216\.34"):
        send("GET", f"http://rebinds.example:{port}/", network=world)
    assert (heads, asked) == ([], ["rebinds.example"])


def test_one_private_address_among_public_ones_refuses_the_name() -> None:
    world = Network(resolve=lambda host, port: ["93.184.216.34", "10.0.0.1"])
    with pytest.raises(Refused):
        send("GET", "http://mixed.example/", network=world)


def test_a_name_without_an_address_and_a_closed_port_are_failures() -> None:
    def unknown(host: str, port: int) -> list[str]:
        raise socket.gaierror("no such host")

    with pytest.raises(NotConnected):
        send("GET", "http://nowhere.example/", network=Network(resolve=unknown))
    with serve_peer(answer_with(OK)) as (port, _):
        pass
    with pytest.raises(NotConnected):
        send("GET", f"http://127.0.0.1:{port}/", private=True)


def test_the_next_address_of_a_name_is_tried_when_one_gives_no_connection() -> None:
    world = Network(resolve=lambda host, port: ["::1", "127.0.0.1"])
    with serve_peer(answer_with(OK)) as (port, _):
        assert send("GET", f"http://a.example:{port}/", private=True, network=world).body == b"hi"


def moved(place: str, status: int = 302) -> bytes:
    return f"HTTP/1.1 {status} Moved\r\nLocation: {place}\r\nContent-Length: 0\r\n\r\n".encode()


def test_a_redirect_to_a_private_address_is_refused() -> None:
    world = Network(resolve=lambda host, port: ["127.0.0.1"])
    for place in ("http://169.254.169.254/latest/", "http://0x7f.1/", "file:///etc/passwd", "//u:p@a.example/"):
        with serve_peer(answer_with(moved(place))) as (port, _), pytest.raises(Refused):
            send("GET", f"http://a.example:{port}/", private=True, network=world)


def test_redirects_are_followed_a_few_times_and_secrets_stay_at_their_origin() -> None:
    with serve_peer(answer_with(OK)) as (other, there), ExitStack() as stack:
        hops = iter([moved("/two", 307), moved(f"http://127.0.0.1:{other}/three", 303)])
        port, here = stack.enter_context(serve_peer(lambda peer: peer.sendall(next(hops))))
        headers = {"Authorization": "Bearer s", "Content-Type": "a/b"}
        url = f"http://127.0.0.1:{port}/one"
        assert send("POST", url, headers=headers, body=b"abc", private=True).body == b"hi"
    assert here[1].startswith(b"POST /two")
    assert b"Bearer s" in here[1]
    assert there[0].startswith(b"GET /three")
    assert b"Bearer" not in there[0]
    with serve_peer(answer_with(moved("/again"))) as (port, heads):
        with pytest.raises(Refused):
            send("GET", f"http://127.0.0.1:{port}/", private=True)
        assert len(heads) == 6
        assert send("GET", f"http://127.0.0.1:{port}/", private=True, redirects=0).status == 302


def slowly(peer: socket.socket) -> None:
    for sign in OK:
        peer.sendall(bytes([sign]))
        time.sleep(0.05)


def endless(start: bytes, more: bytes) -> Talk:
    def talk(peer: socket.socket) -> None:
        peer.sendall(start)
        while True:
            peer.sendall(more)

    return talk


@pytest.mark.parametrize(
    ("talk", "error"),
    [
        (slowly, TimedOut),
        (lambda peer: time.sleep(0.5), TimedOut),
        (endless(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 4096), Refused),
        (endless(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"), Refused),
        (endless(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"A: " + b"b" * 99 + b"\r\n"), Refused),
        (endless(b"HTTP/1.1 200 OK\r\n", b"X: " + b"y" * 4096 + b"\r\n"), Refused),
        (endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), Refused),
        (answer_with(b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n"), Refused),
        (answer_with(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi"), BrokenOff),
        (answer_with(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n"), BrokenOff),
        (answer_with(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nhi"), Refused),
        (answer_with(b"SSH-2.0-Server\r\n"), BrokenOff),
        (answer_with(b""), BrokenOff),
    ],
)
def test_an_answer_that_is_slow_endless_or_broken_ends_at_its_limit(talk: Talk, error: type[NetworkError]) -> None:
    with serve_peer(talk) as (port, _):
        began = time.monotonic()
        timeout = 0.4 if error is TimedOut else 60
        with pytest.raises(error):
            send("GET", f"http://127.0.0.1:{port}/secret", private=True, timeout=timeout, limit=10_000)
        assert time.monotonic() - began < 30


def test_a_resolver_that_hangs_is_not_waited_for() -> None:
    def hang(host: str, port: int) -> list[str]:
        time.sleep(0.5)
        return ["93.184.216.34"]

    with pytest.raises(TimedOut):
        send("GET", "http://slow.example/", timeout=0.1, network=Network(resolve=hang))


def test_a_stream_gives_each_line_when_it_comes() -> None:
    go = threading.Event()

    def talk(peer: socket.socket) -> None:
        peer.sendall(b"HTTP/1.1 200 OK\r\n\r\ndata: 1\r\n\nda")
        assert go.wait(5)
        peer.sendall("ta: é".encode())

    with serve_peer(talk) as (port, _), open_stream("GET", f"http://127.0.0.1:{port}/", private=True) as answer:
        lines = answer.read_lines()
        assert [next(lines), next(lines)] == ["data: 1", ""]
        go.set()
        assert list(lines) == ["data: é"]


def test_https_believes_only_a_certificate_of_that_name(tmp_path: Path) -> None:
    server = make_certificate(tmp_path, "good.example")
    trust = ssl.create_default_context(cafile=str(tmp_path / "certificate"))
    world = Network(resolve=lambda host, port: ["127.0.0.1"], trust=lambda: trust)
    with serve_peer(answer_with(OK), trust=server) as (port, heads):
        assert send("GET", f"https://good.example:{port}/", private=True, network=world).body == b"hi"
        with pytest.raises(NotConnected, match="certificate"):
            send("GET", f"https://evil.example:{port}/", private=True, network=world)
        with pytest.raises(NotConnected):
            send("GET", f"https://good.example:{port}/", private=True, network=Network(resolve=world.resolve))
    assert len(heads) == 1
    with serve_peer(answer_with(moved("http://127.0.0.1:1/")), trust=server) as (port, _), pytest.raises(Refused):
        send("GET", f"https://good.example:{port}/", private=True, network=world)
