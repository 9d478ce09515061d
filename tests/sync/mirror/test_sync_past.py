"""Revisions that passed between two looks: however many and however large, their trees are not held together."""

import httpx

from syncd.api.client import Client
from syncd.sync.mirror.history import PassedRevisions, find_passed


def test_of_trees_that_passed_only_the_last_one_read_is_kept() -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        id = request.url.path.rpartition("/")[2]
        asked.append(id)
        return httpx.Response(200, json={"id": id, "parents": [f"r{int(id[1:]) - 1}"]})

    client = Client("https://api.example.com", "token", transport=httpx.MockTransport(answer))
    current = client.revisions.get("s1", "r5")
    between = find_passed(client, "s1", current, "r1").between
    assert [past.revision() for past in between] == ["r2", "r3", "r4"]
    assert asked == ["r5", "r4", "r3", "r2"]
    assert [past.content().id for past in between] == ["r2", "r3", "r4"]
    assert asked[4:] == ["r3", "r4"]


def test_a_tree_that_is_too_large_hides_those_that_passed_and_not_the_current_one() -> None:
    pages = [{"id": f"p{number}"} for number in range(20_001)]
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json={"id": "r4", "pages": pages}))
    client = Client("https://api.example.com", "token", transport=transport)
    small = httpx.MockTransport(lambda _: httpx.Response(200, json={"id": "r5", "parents": ["r4"]}))
    current = Client("https://api.example.com", "token", transport=small).revisions.get("s1", "r5")
    assert find_passed(client, "s1", current, "r1") == PassedRevisions()
