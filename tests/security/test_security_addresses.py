"""Addresses in answers lead to this platform: no header of a request decides where a signed address goes."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from syncd.errors import ConfigInvalid
from syncd.platform.http.addresses import parse_public_origin
from syncd.platform.server import BackgroundServer
from syncd.platform.settings import PlatformSettings
from tests.storages import new_storage

FORGED = {
    "Host": "evil.example",
    "X-Forwarded-Host": "evil.example",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-For": "203.0.113.9",
    "X-Forwarded-Prefix": "/evil",
    "X-Original-Host": "evil.example",
    "Forwarded": "host=evil.example;proto=https",
}
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
Ask = Callable[..., httpx.Response]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Ask]]:
    """Makes a way to ask a new server; all are stopped in the end."""
    opened: list[Any] = []

    def started(**settings: Any) -> Ask:
        storage = new_storage(tmp_path / "platform")
        storage.bootstrap()
        server = BackgroundServer(storage, PlatformSettings(**settings), works=False)
        client = httpx.Client(base_url=server.start(), trust_env=False, timeout=30)
        client.headers["Authorization"] = f"Bearer {storage.token_file.read_text().strip()}"
        opened.extend([client.close, server.stop, storage.close])
        return client.request

    yield started
    for close in opened:
        close()


def filled(ask: Ask) -> dict[str, str]:
    """A published site with a space that has a page and a picture, and what paths are needed to read them."""
    organization = ask("GET", "/v1/orgs").json()["items"][0]["id"]
    space = ask("POST", f"/v1/orgs/{organization}/spaces", json={"title": "Guides", "empty": True}).json()["id"]
    request = ask("POST", f"/v1/spaces/{space}/change-requests", json={"subject": "Words"}).json()["id"]
    page = {"operation": "insert_page", "title": "Xylophone", "document": {"markdown": "# Xylophone\n\nIt sounds.\n"}}
    picture = {"name": "a.png", "contentType": "image/png", "base64": PICTURE}
    changes = {"changes": [page, {"operation": "insert_files", "files": [picture]}]}
    path = f"/v1/spaces/{space}/change-requests/{request}"
    assert ask("POST", f"{path}/content", json=changes).is_success
    assert ask("POST", f"{path}/merge").is_success
    site = ask("POST", f"/v1/orgs/{organization}/sites", json={"title": "Docs", "spaces": [space]}).json()["id"]
    assert ask("POST", f"/v1/orgs/{organization}/sites/{site}/publish").is_success
    return {"space": f"/v1/spaces/{space}", "site": f"/v1/orgs/{organization}/sites/{site}", "request": path}


def addresses_in(text: str) -> set[str]:
    """The scheme, host and port of every address in an answer."""
    return set(re.findall(r"[a-z]+://[^/\"?#]*", text))


def everything(ask: Ask, paths: dict[str, str], headers: dict[str, str]) -> Iterator[str]:
    """Answers of every kind that have addresses in them."""
    for path in ("", "/content", "/content/files", "/content/pages", "/pdf", "/search?query=Xylophone", "/links"):
        yield ask("GET", paths["space"] + path, headers=headers).text
    for path in ("", "/structure", "/site-spaces"):
        yield ask("GET", paths["site"] + path, headers=headers).text
    question = {"question": "What is a Xylophone?", "scope": {"mode": "default"}, "context": {}}
    yield ask("POST", f"{paths['site']}/ask", headers=headers, json=question, params={"format": "markdown"}).text
    yield ask("GET", paths["request"], headers=headers).text
    made = ask("POST", f"{paths['space']}/change-requests", json={"subject": "More"}, headers=headers)
    yield made.text
    yield made.headers["location"]


def test_no_header_of_a_request_decides_where_addresses_lead(serve: Callable[..., Ask]) -> None:
    ask = serve()
    paths = filled(ask)
    own = next(iter(addresses_in(ask("GET", "/v1/user").text)))
    assert own.startswith("http://127.0.0.1:")
    for answer in everything(ask, paths, FORGED):
        assert "evil" not in answer
        assert addresses_in(answer) <= {own}, answer


def test_the_operators_public_address_goes_before_all(serve: Callable[..., Ask]) -> None:
    ask = serve(public_url=parse_public_origin("https://docs.example.com/"))
    paths = filled(ask)
    for headers in ({}, FORGED, {"Host": "localhost"}):
        answers = list(everything(ask, paths, headers))
        assert set().union(*map(addresses_in, answers)) == {"https://docs.example.com"}


@pytest.mark.parametrize(
    ("host", "is_taken"),
    [
        ("localhost:9999", True),
        ("LOCALHOST", True),
        ("127.0.0.1:1", True),
        ("[::1]:8470", True),
        ("evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("localhost.evil.example", False),
        ("127.0.0.1@evil.example", False),
        ("evil.example#localhost", False),
        ("10.0.0.1", False),
        ("", False),
        ("[::ffff:203.0.113.9]", False),
    ],
)
def test_only_names_of_this_machine_are_taken_from_the_request(
    serve: Callable[..., Ask], host: str, is_taken: bool
) -> None:
    ask = serve()
    own = next(iter(addresses_in(ask("GET", "/v1/user").text)))
    found = addresses_in(ask("GET", "/v1/user", headers={"Host": host}).text)
    assert found == ({f"http://{host}"} if is_taken else {own})


def test_a_client_cannot_claim_another_address_to_go_beyond_its_limit(serve: Callable[..., Ask]) -> None:
    ask = serve(requests_per_minute=3)
    claims = [{"Authorization": "", "X-Forwarded-For": f"203.0.113.{number}"} for number in range(5)]
    statuses = [ask("GET", "/v1/user", headers=claim).status_code for claim in claims]
    assert statuses == [401, 401, 401, 429, 429]


@pytest.mark.parametrize(
    "url", ["docs.example.com", "https://docs.example.com/v1", "ftp://a.example", "https://u:p@a.b"]
)
def test_a_public_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ConfigInvalid, match="--public-url"):
        parse_public_origin(url)
