"""Half characters in answers: JSON can spell them, nothing else can hold them, and no name stops the rest."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncd.api.client import Client
from syncd.api.transport.half_characters import replace_halves
from syncd.errors import NotThePlatform, Rejected

Build = Callable[..., Client]
TREE = b"""{"object": "revision", "id": "r1", "pages": [{"id": "p1", "title": "a\\ud800b", "pages": [
  {"id": "p2", "title": "\\ud83d\\ude00 \\\\ud800", "layout": {"width": "\\udc00\\ud800"}}]}]}"""


def answering(client_on: Build, body: bytes, status: int = 200) -> Client:
    head = {"Content-Type": "application/json"}
    return client_on(lambda _: httpx.Response(status, content=body, headers=head))


def test_a_half_character_in_one_name_keeps_nothing_else_from_being_read(client_on: Build) -> None:
    client = answering(client_on, TREE)
    (page,) = client.content.get("s1").pages
    assert page.title == "a\ufffdb"
    assert page.pages[0].title == "\U0001f600 \\ud800"
    assert page.pages[0].layout == {"width": "\ufffd\ufffd"}
    assert client.take_notices() == (
        "GET /spaces/s1/content: title of p1 holds half a character; it is read as U+FFFD",
        "GET /spaces/s1/content: width of p2 holds half a character; it is read as U+FFFD",
    )
    assert client.take_notices() == ()


def test_any_operation_is_read_so(client_on: Build) -> None:
    client = answering(client_on, TREE)
    assert client.raw.call("GET", "/spaces/s1/content")["pages"][0]["title"] == "a\ufffdb"
    assert len(client.take_notices()) == 2


def test_a_refusal_is_read_so(client_on: Build) -> None:
    with pytest.raises(Rejected, match="why \ufffd"):
        answering(client_on, b'{"error": {"message": "why \\ud800"}}', 400).spaces.get("s1")


@pytest.mark.parametrize("body", [b'{"id": "\\ud800"', b'{"id": "\\ud8"}', b'{"id": "\xff\\ud800"}', b"[" * 10**5])
def test_what_is_no_json_is_still_none(client_on: Build, body: bytes) -> None:
    with pytest.raises(NotThePlatform):
        answering(client_on, body).raw.call("GET", "/spaces/s1")


def test_only_the_first_places_are_named(client_on: Build) -> None:
    many = {"items": [{"object": "space", "id": f"s{at}", "title": "\ud800"} for at in range(500)]}
    client = answering(client_on, json.dumps(many).encode())
    assert len(list(client.spaces.list("o"))) == 500
    assert len(client.take_notices()) == 10


_ANY = st.recursive(
    st.text(st.characters(exclude_categories=())) | st.integers() | st.booleans() | st.none(),
    lambda below: st.lists(below) | st.dictionaries(st.text(st.characters(exclude_categories=())), below),
)


@given(_ANY)
def test_whatever_is_in_it_comes_out_whole_and_nothing_else_changes(value: Any) -> None:
    body, places = replace_halves(json.dumps(value).encode())
    body.decode()
    assert places or json.loads(body) == value
