"""The application: one shape of error whatever fails, limits on what a request may cost, names from the document."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from syncd.platform.app import create_app
from syncd.platform.http.limits import BODY_BYTES_MAX
from syncd.platform.settings import PlatformSettings
from syncd.platform.storage.storage import Storage
from tests.storages import new_storage

_JSON = {"content-type": "application/json"}


def _is_error(answer: httpx.Response, status: int) -> bool:
    error = answer.json()["error"]
    return (
        answer.status_code == status
        and set(answer.json()) == {"error"}
        and error["code"] == status
        and isinstance(error["message"], str)
        and bool(error["message"])
        and answer.headers["content-type"] == "application/json"
        and "x-ratelimit-reset" in answer.headers
    )


@pytest.mark.parametrize(
    ("method", "path", "extra", "status"),
    [
        ("GET", "/", {}, 404),
        ("GET", "/v1x", {}, 404),
        ("GET", "/v1/no-such-thing", {}, 404),
        ("GET", "/v1/user/", {}, 404),
        ("GET", "/v1/orgs/none", {}, 404),
        ("DELETE", "/v1/user", {}, 405),
        ("GET", "/v1/orgs?limit=many", {}, 400),
        ("GET", "/v1/orgs?limit=1001", {}, 400),
        ("GET", "/v1/orgs?limit=-1", {}, 400),
        ("GET", "/v1/orgs?page=invented", {}, 400),
        ("POST", "/v1/orgs/{organization}/sites", {"content": b"{", "headers": _JSON}, 400),
        ("POST", "/v1/orgs/{organization}/saml", {"content": b"", "headers": _JSON}, 400),
        ("POST", "/v1/orgs/{organization}/sites", {"content": b"[" * 100_000, "headers": _JSON}, 400),
        ("POST", "/v1/orgs/{organization}/sites", {"content": b"\xff\xfe", "headers": _JSON}, 400),
        ("POST", "/v1/orgs/{organization}/sites", {"json": ["no", "object"]}, 400),
        ("POST", "/v1/orgs/{organization}/sites", {"json": {"title": "x"}}, 400),
        ("POST", "/v1/orgs/{organization}/sites", {"json": {"tittle": "A mistake"}}, 400),
        ("POST", "/v1/orgs/{organization}/sites", {"content": b"title=x"}, 415),
        ("POST", "/v1/orgs/{organization}/sites", {"data": {"title": "A form"}}, 415),
        ("POST", "/v1/orgs/{organization}/sites", {"content": b"{}", "headers": {"content-type": "text/json"}}, 415),
    ],
)
def test_every_refusal_has_the_error_body(
    http: httpx.Client, organization: str, method: str, path: str, extra: dict[str, Any], status: int
) -> None:
    assert _is_error(http.request(method, path.format(organization=organization), **extra), status)


def test_a_message_names_the_member_and_never_its_value(http: httpx.Client, organization: str) -> None:
    body = {"title": "s3cret" * 100, "visibility": "s3cret"}
    message = http.post(f"/v1/orgs/{organization}/sites", json=body).json()["error"]["message"]
    assert "title: " in message
    assert "visibility: " in message
    assert "s3cret" not in message


def test_a_body_of_announced_length_beyond_the_limit_is_not_read(server: tuple[str, str]) -> None:
    host, port = server[0].removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        head = f"POST /v1/user HTTP/1.1\r\nHost: {host}\r\nContent-Length: {BODY_BYTES_MAX + 1}\r\n\r\n"
        connection.sendall(head.encode())
        assert connection.recv(4096).startswith(b"HTTP/1.1 413 ")


def test_a_body_of_unknown_length_is_read_up_to_the_limit(http: httpx.Client, organization: str) -> None:
    def endless() -> Iterator[bytes]:
        for _ in range(BODY_BYTES_MAX // 2**20 + 1):
            yield b" " * 2**20

    path = f"/v1/orgs/{organization}/sites"
    assert _is_error(http.post(path, content=endless(), headers=_JSON), 413)
    assert http.post(path, content=iter([b'{"title": ', b'"Two parts"}']), headers=_JSON).status_code == 201


def test_a_failure_inside_has_the_error_body_too(storage: Storage) -> None:
    app = create_app(storage)

    @app.get("/v1/broken")
    def broken() -> None:
        raise LookupError("the text of an inner failure")

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://platform") as client:
            return await client.get("/v1/broken")

    answer = asyncio.run(ask())
    assert _is_error(answer, 500)
    assert "inner failure" not in answer.text


def test_a_database_that_stays_locked_answers_try_later(tmp_path: Path) -> None:
    with Storage(tmp_path, patience=0.05) as storage, Storage(tmp_path) as other:
        made = storage.bootstrap()
        assert made is not None
        app = create_app(storage)

        async def ask() -> httpx.Response:
            headers = {"Authorization": f"Bearer {made.token}"}
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url="http://platform", headers=headers) as client:
                return await client.post(f"/v1/orgs/{made.organization}/sites", json={"title": "Docs"})

        with other.write():
            assert _is_error(asyncio.run(ask()), 503)
        assert asyncio.run(ask()).status_code == 201


def test_rate_headers_are_on_every_answer_and_generous_without_a_limit(http: httpx.Client) -> None:
    for path in ("/v1/user", "/v1/nothing", "/openapi.json"):
        answer = http.get(path)
        assert int(answer.headers["x-ratelimit-remaining"]) > 100_000
        assert int(answer.headers["x-ratelimit-limit"]) >= int(answer.headers["x-ratelimit-remaining"])


def test_beyond_the_limit_requests_are_refused_until_the_time_named(tmp_path: Path) -> None:
    moment = [datetime(2026, 1, 1, 12, 0, 50, tzinfo=UTC)]
    with new_storage(tmp_path, clock=lambda: moment[0]) as storage:
        app = create_app(storage, PlatformSettings(requests_per_minute=3))

        async def answers() -> AsyncIterator[httpx.Response]:
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url="http://platform") as client:
                for token in ("a", "a", "a", "a", "b"):
                    yield await client.get("/v1/user", headers={"Authorization": f"Bearer {token}"})
                moment[0] = datetime(2026, 1, 1, 12, 1, 0, tzinfo=UTC)
                yield await client.get("/v1/user", headers={"Authorization": "Bearer a"})

        async def collect() -> list[httpx.Response]:
            return [answer async for answer in answers()]

        seen = asyncio.run(collect())

    assert [answer.status_code for answer in seen] == [401, 401, 401, 429, 401, 401]
    assert [answer.headers["x-ratelimit-remaining"] for answer in seen] == ["2", "1", "0", "0", "2", "2"]
    assert _is_error(seen[3], 429)
    reset = datetime.fromtimestamp(int(seen[3].headers["x-ratelimit-reset"]), UTC)
    assert reset == datetime(2026, 1, 1, 12, 1, 0, tzinfo=UTC)


def test_operations_are_named_as_in_the_document(http: httpx.Client) -> None:
    document = http.get("/openapi.json").json()
    names = {operation["operationId"] for item in document["paths"].values() for operation in item.values()}
    assert {
        "listOrganizationsForAuthenticatedUser",
        "listSites",
        "updateSiteById",
        "addSectionToSite",
        "addSpaceToSite",
        "getSiteRedirectBySource",
    } <= names


def test_a_forged_host_never_reaches_an_address(server: tuple[str, str]) -> None:
    url, token = server
    headers = {"Authorization": f"Bearer {token}", "Host": 'evil"><script>'}
    with httpx.Client(headers=headers, trust_env=False, timeout=30) as client:
        location = client.get(f"{url}/v1/user").json()["urls"]["location"]
    assert location.startswith(f"{url}/v1/users/")
