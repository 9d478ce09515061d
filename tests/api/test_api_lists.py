"""Lists: all of it, or an error."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from syncd.api.client import Client
from syncd.errors import AnswerTooLarge, NotThePlatform, Unreachable

Build = Callable[..., Client]


def pages(*answers: dict[str, Any]) -> tuple[list[httpx.URL], Callable[[httpx.Request], httpx.Response]]:
    seen: list[httpx.URL] = []

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(request.url)
        return httpx.Response(200, json=answers[min(len(seen), len(answers)) - 1])

    return seen, handle


def page(*ids: str, after: str | None = None, count: int | None = None) -> dict[str, Any]:
    listing: dict[str, Any] = {"items": [{"object": "organization", "id": one, "title": "T"} for one in ids]}
    return listing | ({"next": {"page": after}} if after else {}) | ({"count": count} if count is not None else {})


def test_a_list_is_read_page_by_page_to_its_end(client_on: Build) -> None:
    seen, handle = pages(page("a", "b", after="n 2", count=3), page("c", count=3))
    assert [one.id for one in client_on(handle).organizations.list()] == ["a", "b", "c"]
    assert [dict(url.params) for url in seen] == [{"limit": "1000"}, {"limit": "1000", "page": "n 2"}]


def test_pages_are_read_only_as_they_are_needed(client_on: Build) -> None:
    seen, handle = pages(page("a", after="2"), page("b"))
    items = client_on(handle).organizations.list()
    assert seen == []
    assert next(items).id == "a"
    assert len(seen) == 1


@pytest.mark.parametrize("cursor", ["https://elsewhere.example/v1/orgs", "//elsewhere.example", "x&limit=1#f"])
def test_a_cursor_is_a_parameter_and_never_an_address(client_on: Build, cursor: str) -> None:
    seen, handle = pages(page("a", after=cursor), page("b"))
    list(client_on(handle).organizations.list())
    assert seen[1].host == "api.example.com"
    assert seen[1].params["page"] == cursor
    assert seen[1].params["limit"] == "1000"


@pytest.mark.parametrize("cursors", [("1", "1"), ("1", "2", "1")])
def test_a_cursor_that_comes_back_is_an_error(client_on: Build, cursors: tuple[str, ...]) -> None:
    _, handle = pages(*[page(one, after=one) for one in cursors])
    with pytest.raises(NotThePlatform, match="do not come to an end"):
        list(client_on(handle).organizations.list())


def test_a_cursor_that_no_address_could_hold_is_an_error(client_on: Build) -> None:
    seen, handle = pages(page("a", after="x" * 5000))
    with pytest.raises(NotThePlatform, match="5000 characters"):
        list(client_on(handle).organizations.list())
    assert len(seen) == 1


def test_a_list_that_grows_beyond_all_that_people_have_is_an_error(client_on: Build) -> None:
    seen, handle = pages(*[{"items": [{"id": "a"}] * 1000, "next": {"page": str(at)}} for at in range(200)])
    with pytest.raises(AnswerTooLarge, match="more than 100000 items"):
        sum(1 for _ in client_on(handle).raw.list_items("/orgs"))
    assert len(seen) == 101


def test_endless_empty_pages_are_an_error(client_on: Build) -> None:
    number = iter(range(10**6))
    with pytest.raises(NotThePlatform):
        list(client_on(lambda _: httpx.Response(200, json=page(after=str(next(number))))).organizations.list())
    assert next(number) == 100


def test_a_few_empty_pages_are_not(client_on: Build) -> None:
    _, handle = pages(page(after="1"), page(after="2"), page("a"))
    assert len(list(client_on(handle).organizations.list())) == 1


def test_fewer_items_than_counted_are_an_error(client_on: Build) -> None:
    _, handle = pages(page("a", after="1", count=3), page("b", count=3))
    with pytest.raises(Unreachable, match="2 items came, the platform counts 3"):
        list(client_on(handle).organizations.list())


def test_the_last_count_decides(client_on: Build) -> None:
    _, handle = pages(page("a", after="1", count=9), page("b", count=2))
    assert len(list(client_on(handle).organizations.list())) == 2


def test_an_empty_list_is_a_list(client_on: Build) -> None:
    assert list(client_on(pages(page())[1]).organizations.list()) == []


@pytest.mark.parametrize("body", [{}, {"items": None}, {"items": {}}, {"items": [None]}, {"items": [], "next": "2"}])
def test_what_is_no_list_is_never_an_empty_one(client_on: Build, body: dict[str, Any]) -> None:
    with pytest.raises(NotThePlatform):
        list(client_on(pages(body)[1]).organizations.list())
