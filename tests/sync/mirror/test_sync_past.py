"""Revisions that passed between two looks: however many and however large, their trees are not held together."""

from collections.abc import Mapping, Sequence

import httpx

from syncd.api.client import Client
from syncd.api.options import ClientOptions
from syncd.sync.mirror.history import PassedRevisions, find_passed
from syncd.sync.mirror.source import PastContent


def test_of_trees_that_passed_only_the_last_one_read_is_kept() -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        id = request.url.path.rpartition("/")[2]
        asked.append(id)
        return httpx.Response(200, json={"id": id, "parents": [f"r{int(id[1:]) - 1}"]})

    client = Client("https://api.example.com", "token", ClientOptions(transport=httpx.MockTransport(answer)))
    current = client.revisions.get("s1", "r5")
    between = find_passed(client, "s1", current, "r1").between
    assert [past.revision() for past in between] == ["r2", "r3", "r4"]
    assert asked == ["r5", "r4", "r3", "r2"]
    assert [past.content().id for past in between] == ["r2", "r3", "r4"]
    assert asked[4:] == ["r3", "r4"]


def test_a_tree_that_is_too_large_hides_those_that_passed_and_not_the_current_one() -> None:
    pages = [{"id": f"p{number}"} for number in range(20_001)]
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json={"id": "r4", "pages": pages}))
    client = Client("https://api.example.com", "token", ClientOptions(transport=transport))
    small = httpx.MockTransport(lambda _: httpx.Response(200, json={"id": "r5", "parents": ["r4"]}))
    current = Client("https://api.example.com", "token", ClientOptions(transport=small)).revisions.get("s1", "r5")
    assert find_passed(client, "s1", current, "r1") == PassedRevisions()


def serve_history(parents: Mapping[str, Sequence[str]]) -> Client:
    """Return a client of a server that shows these revisions and no other."""

    def answer(request: httpx.Request) -> httpx.Response:
        id = request.url.path.rpartition("/")[2]
        if id not in parents:
            return httpx.Response(404, json={"error": {"code": 404, "message": "No such revision."}})
        return httpx.Response(200, json={"id": id, "parents": list(parents[id])})

    return Client("https://api.example.com", "token", ClientOptions(transport=httpx.MockTransport(answer)))


def pass_revisions(parents: Mapping[str, Sequence[str]], current: str, *, git: Sequence[str]) -> tuple[list[str], str]:
    """Return the ids that passed since the last of those in Git, and the one that the space went back to."""
    client = serve_history(parents)
    found = find_passed(client, "s1", client.revisions.get("s1", current), git[-1], lambda id: id in git[:-1])
    return [past.revision() for past in found.between], found.restored


def test_a_space_that_went_back_to_a_revision_in_git_says_to_which() -> None:
    assert pass_revisions({"r1": ()}, "r1", git=["r1", "r2", "r3"]) == ([], "r1")
    forked = {"r5": ("r4",), "r4": ("r1",), "r1": ()}
    assert pass_revisions(forked, "r5", git=["r1", "r2", "r3"]) == (["r4"], "r1")


def test_a_revision_whose_first_parent_is_a_change_request_has_not_gone_back() -> None:
    merged = {"r5": ("r4",), "r4": ("r1", "c2"), "c2": ("c1",), "c1": ("r3",), "r1": ()}
    assert pass_revisions(merged, "r5", git=["r1", "r2", "r3"]) == ([], "")
    hidden = {"r5": ("r4",), "r4": ("r1", "c2"), "r1": ()}
    assert pass_revisions(hidden, "r5", git=["r1", "r2", "r3"]) == ([], "")
    twice = {"r5": ("r4", "c1"), "r4": ("r1", "c1"), "c1": ("r1",), "r1": ()}
    assert pass_revisions(twice, "r5", git=["r1", "r2", "r3"]) == (["r4"], "r1")


def test_revisions_that_are_not_shown_or_too_many_passed_in_one_step() -> None:
    assert pass_revisions({"r5": ("r4",)}, "r5", git=["r1"]) == ([], "")
    long = {f"r{number}": (f"r{number - 1}",) for number in range(2, 100)}
    assert pass_revisions(long, "r99", git=["r1"]) == ([], "")
    crowd = {"r9": ("r8",), "r8": ("r0", "c99"), **{f"c{number}": (f"c{number - 1}",) for number in range(1, 100)}}
    assert pass_revisions(crowd, "r9", git=["r0", "r1"]) == ([], "")


def test_the_content_of_a_past_revision_is_read_from_it() -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path)
        return httpx.Response(200, json={"id": request.url.path.rpartition("/")[2], "title": "T", "name": "n"})

    client = Client("https://api.example.com", "token", ClientOptions(transport=httpx.MockTransport(answer)))
    past = PastContent(client, "s1", "r1")
    assert (past.page("p1").id, past.file("f1").id, past.include("c1").id) == ("p1", "f1", "c1")
    assert all("/revisions/r1/" in path for path in asked)
