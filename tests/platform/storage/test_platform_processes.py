"""Several servers on one PostgreSQL are one platform: numbers, cursors, addresses, and what was just written."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

from tests.serving import Serving, Zygote

pytestmark = pytest.mark.long

Clients = tuple[httpx.Client, httpx.Client]


@pytest.fixture(scope="module")
def clients(tmp_path_factory: pytest.TempPathFactory, postgres_url: Callable[[], str]) -> Iterator[Clients]:
    """A client of each of two servers, which share a database and a directory of files."""
    root = tmp_path_factory.mktemp("processes")
    words = ("--database", postgres_url(), "--files", str(root / "files"), "--requests-per-minute", "12345")
    with ExitStack() as stack:
        zygote = stack.enter_context(Zygote())
        servers = [Serving(zygote, root / name, *words) for name in ("one", "two")]
        for server in servers:
            server.start()
        one, two = (
            stack.enter_context(
                httpx.Client(base_url=server.url, headers=_as(server.token), trust_env=False, timeout=30)
            )
            for server in servers
        )
        yield one, two


def _as(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def _made(client: httpx.Client, path: str, body: Any) -> Any:
    answer = client.post(path, json=body)
    assert answer.is_success, answer.text
    return answer.json()


@pytest.fixture
def space(clients: Clients) -> str:
    """A new space."""
    organization = clients[0].get("/orgs").json()["items"][0]["id"]
    return str(_made(clients[0], f"/orgs/{organization}/spaces", {"title": "Guides"})["id"])


def test_change_requests_made_at_once_get_each_number_once(clients: Clients, space: str) -> None:
    def make(number: int) -> int:
        return int(_made(clients[number % 2], f"/spaces/{space}/change-requests", {"subject": str(number)})["number"])

    with ThreadPoolExecutor(6) as pool:
        numbers = list(pool.map(make, range(24)))
    assert sorted(numbers) == list(range(1, 25))


def test_a_cursor_of_one_server_goes_on_at_the_other(clients: Clients, space: str) -> None:
    for number in range(7):
        _made(clients[number % 2], f"/spaces/{space}/change-requests", {"subject": str(number)})
    seen: list[int] = []
    query: dict[str, Any] = {"limit": 2, "status": "draft"}
    for turn in range(4):
        page = clients[turn % 2].get(f"/spaces/{space}/change-requests", params=query).json()
        seen += [item["number"] for item in page["items"]]
        assert page["count"] == 7
        query["page"] = page.get("next", {}).get("page")
    assert seen == list(range(1, 8))


def test_what_one_server_has_acknowledged_the_other_shows_at_once(clients: Clients, space: str) -> None:
    one, two = clients
    for turn in range(10):
        here, there = (one, two) if turn % 2 else (two, one)
        request = _made(here, f"/spaces/{space}/change-requests", {"subject": f"Turn {turn}"})["id"]
        page = {"operation": "insert_page", "title": f"Page {turn}", "document": {"markdown": f"# Page {turn}\n"}}
        _made(there, f"/spaces/{space}/change-requests/{request}/content", {"changes": [page]})
        merged = _made(here, f"/spaces/{space}/change-requests/{request}/merge", {})
        shown = there.get(f"/spaces/{space}").json()
        assert shown["revision"] == merged["revision"]
        pages = there.get(f"/spaces/{space}/content/pages").json()["pages"]
        assert f"Page {turn}" in [each["title"] for each in pages]


def test_an_address_that_one_server_signed_the_other_serves(clients: Clients, space: str) -> None:
    one, two = clients
    request = _made(one, f"/spaces/{space}/change-requests", {})["id"]
    file = {"name": "a.txt", "contentType": "text/plain", "base64": "aGVsbG8="}
    operation = {"operation": "insert_files", "files": [file]}
    _made(one, f"/spaces/{space}/change-requests/{request}/content", {"changes": [operation]})
    (shown,) = one.get(f"/spaces/{space}/change-requests/{request}/content/files").json()["items"]
    address = httpx.URL(shown["downloadURL"]).copy_with(port=two.base_url.port)
    assert httpx.get(address, trust_env=False, timeout=30).content == b"hello"


def test_the_owners_token_of_each_server_is_good_at_the_other(clients: Clients) -> None:
    tokens = [client.headers["Authorization"] for client in clients]
    assert tokens[0] != tokens[1]
    for client in clients:
        answers = [client.get("/user", headers={"Authorization": token}) for token in tokens]
        assert [answer.status_code for answer in answers] == [200, 200], [answer.text for answer in answers]
        users = {answer.json()["id"] for answer in answers}
        assert len(users) == 1


def test_the_limit_of_requests_is_the_one_that_was_asked_for(clients: Clients) -> None:
    assert clients[0].get("/user").headers["x-ratelimit-limit"] == "12345"
