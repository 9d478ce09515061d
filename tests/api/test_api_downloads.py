"""Downloads: where they may go, what they carry, and when they are believed."""

import socket
from collections.abc import Callable
from io import BytesIO
from typing import Any

import httpx
import pytest

from syncd.api.client import Client
from syncd.api.transport.breaker import Breaker
from syncd.api.transport.connections import ADDRESSES
from syncd.api.transport.limits import FILE
from syncd.errors import AnswerTooLarge, NotFound, Rejected, Unreachable
from syncd.model.file import File

Build = Callable[..., Client]
PUBLIC = "93.184.215.14"
BYTES = b"\x89PNG"
SPACE = {"object": "space", "id": "s1", "revision": "r1"}


def file(url: str | None, size: int | None = None) -> File:
    return File(id="f1", name="a.png", download_url=url, size=size)


def download(client: Client, file: File) -> bytes:
    into = BytesIO(b"what was there")
    size = client.content.download(file, into)
    assert size == len(into.getvalue())
    return into.getvalue()


def recording(*answers: httpx.Response) -> tuple[list[httpx.Request], Callable[[httpx.Request], httpx.Response]]:
    seen: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return answers[min(len(seen), len(answers)) - 1]

    return seen, handle


def found(content: bytes = BYTES) -> httpx.Response:
    return httpx.Response(200, content=content)


def moved(to: str) -> httpx.Response:
    return httpx.Response(302, headers={"Location": to})


def knows(**names: str) -> Callable[[str, int], list[str]]:
    return lambda host, port: names.get(host.replace(".", "_"), PUBLIC).split()


@pytest.mark.parametrize(
    "url", ["https://api.example.com/files/f1?sig=1", "/files/f1?sig=1", "https://api.example.com:443/files/f1?sig=1"]
)
def test_the_platforms_own_files_need_no_token(client_on: Build, url: str) -> None:
    seen, handle = recording(found())
    assert download(client_on(handle), file(url, 4)) == BYTES
    assert str(seen[0].url) == "https://api.example.com/files/f1?sig=1"
    assert "Authorization" not in seen[0].headers


def test_a_file_is_asked_for_as_it_is_and_in_no_other_encoding(client_on: Build) -> None:
    seen, handle = recording(found())
    assert download(client_on(handle), file("https://api.example.com/files/a")) == BYTES
    assert seen[0].headers.get_list("Accept-Encoding") == ["identity"]


def test_a_file_elsewhere_is_fetched_from_the_address_that_was_checked(client_on: Build) -> None:
    seen, handle = recording(found())
    assert download(client_on(handle, resolve=knows()), file("https://cdn.example:8443/f1?sig=1")) == BYTES
    request = seen[0]
    assert (str(request.url), request.extensions[ADDRESSES]) == ("https://cdn.example:8443/f1?sig=1", [PUBLIC])
    assert request.headers["Host"] == "cdn.example:8443"
    assert "Authorization" not in request.headers


def test_the_platforms_own_address_may_be_private(client_on: Build) -> None:
    seen, handle = recording(found())
    assert download(client_on(handle, resolve=lambda *_: ["127.0.0.1"]), file("/files/f1")) == BYTES
    assert ADDRESSES not in seen[0].extensions


@pytest.mark.parametrize(
    "url",
    [
        "http://cdn.example/a",
        "ftp://cdn.example/a",
        "file:///etc/passwd",
        "//127.0.0.1/a",
        "http://api.example.com/a",
        "https://user:word@cdn.example/a",
        "https://user@api.example.com/a",
        "javascript:alert(1)",
        "https://[::1",
        "https://h:99999/",
        "",
        None,
    ],
)
def test_an_address_that_is_not_public_https_is_not_followed(client_on: Build, url: str | None) -> None:
    seen, handle = recording(found())
    with pytest.raises(Rejected) as caught:
        download(client_on(handle, resolve=lambda host, _: [host]), file(url))
    assert seen == []
    assert "user:word" not in str(caught.value)


def test_three_redirects_are_followed_and_each_is_checked(client_on: Build) -> None:
    seen, handle = recording(moved("/b"), moved("https://cdn.example/c"), moved("https://other.example/d"), found())
    assert download(client_on(handle, resolve=knows()), file("/a")) == BYTES
    assert [request.headers["Host"] for request in seen] == ["api.example.com"] * 2 + ["cdn.example", "other.example"]
    assert not any("Authorization" in request.headers for request in seen)


@pytest.mark.parametrize("to", ["http://cdn.example/", "https://inside.example/", "file:///etc/passwd", ""])
def test_a_redirect_cannot_lead_where_an_address_may_not(client_on: Build, to: str) -> None:
    seen, handle = recording(moved(to), found())
    with pytest.raises(Rejected):
        download(client_on(handle, resolve=knows(inside_example="10.0.0.1")), file("https://cdn.example/a"))
    assert len(seen) == 1


def test_a_fourth_redirect_is_not_followed(client_on: Build) -> None:
    seen, handle = recording(moved("/again"))
    with pytest.raises(Rejected, match="more than 3 redirects"):
        download(client_on(handle), file("/a"))
    assert len(seen) == 4


@pytest.mark.parametrize("size", [3, 5])
def test_a_file_of_another_size_is_not_believed(client_on: Build, size: int) -> None:
    with pytest.raises(Unreachable, match=f"4 of {size} bytes"):
        download(client_on(recording(found())[1]), file("/a", size))


def test_an_empty_file_is_a_file(client_on: Build) -> None:
    assert download(client_on(recording(found(b""))[1]), file("/a", 0)) == b""


def test_a_download_that_breaks_off_starts_over(served: Build) -> None:
    whole, tries = b"0123456789" * 30_000, []

    def serve(connection: socket.socket) -> None:
        if not connection.recv(1 << 16):
            return
        tries.append(1)
        head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(whole)}\r\n\r\n".encode()
        connection.sendall(head + (whole if len(tries) == 3 else whole[: 100_000 * len(tries)]))

    assert download(served(serve), file("/a", len(whole))) == whole
    assert len(tries) == 3


def test_a_file_is_never_in_memory_as_a_whole(client_on: Build) -> None:
    largest = 0

    class Measured(BytesIO):
        def write(self, piece: Any) -> int:
            nonlocal largest
            largest = max(largest, len(piece))
            return super().write(piece)

    pieces = httpx.Response(200, content=(b"x" * 4096 for _ in range(500)))
    size = client_on(recording(pieces)[1]).content.download(file("/a", 4096 * 500), Measured())
    assert (size, largest) == (4096 * 500, 4096)


def test_a_file_that_says_it_is_too_large_is_not_fetched(client_on: Build) -> None:
    seen, handle = recording(found())
    with pytest.raises(AnswerTooLarge):
        download(client_on(handle), file("/a", FILE.size + 1))
    assert seen == []


@pytest.mark.parametrize(
    ("status", "leaf"),
    [(404, NotFound), (410, NotFound), (403, Rejected), (204, Rejected), (206, Rejected), (501, Unreachable)],
)
def test_an_address_that_gives_no_file_says_why(client_on: Build, status: int, leaf: type[Exception]) -> None:
    with pytest.raises(leaf, match=str(status)):
        download(client_on(recording(httpx.Response(status))[1]), file("/a"))


def test_a_refused_download_says_nothing_about_the_token(client_on: Build) -> None:
    """It is sent without one; the address may have expired."""
    renewed: list[str] = []

    def renew(refused: str) -> str:
        renewed.append(refused)
        return "another"

    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json=SPACE) if request.url.path.startswith("/v1/") else httpx.Response(401)

    client = client_on(answer, renew=renew, breaker=Breaker(60.0))
    with pytest.raises(Rejected, match=r"refused \(401\)"):
        download(client, file("/files/a"))
    assert client.spaces.get("s1").id == "s1", "the breaker lets it through"
    assert not renewed
    assert client.requests_sent == {"GET": 2}


def test_a_failing_store_is_asked_again(client_on: Build) -> None:
    client = client_on(recording(httpx.Response(503), httpx.Response(429, headers={"Retry-After": "1"}), found())[1])
    assert download(client, file("/a")) == BYTES
    assert client.requests_sent == {"GET": 3}


def test_an_address_signed_with_a_secret_is_in_no_error(client_on: Build, caplog: Any) -> None:
    caplog.set_level("DEBUG")
    with pytest.raises(Rejected) as caught:
        download(client_on(recording(moved("http://cdn.example/b?sig=hush"))[1]), file("/a?sig=hush"))
    assert "hush" not in str(caught.value) + caplog.text


def test_a_name_without_an_address_is_unreachable(client_on: Build) -> None:
    def resolve(host: str, port: int) -> list[str]:
        raise OSError("Name or service not known")

    with pytest.raises(Unreachable, match="has no address"):
        download(client_on(recording(found())[1], resolve=resolve), file("https://cdn.example/a"))
