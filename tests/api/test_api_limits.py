"""How much of an answer is read: small texts that stand for much, large ones in order, one large one at a time."""

import json
from collections.abc import Callable
from threading import Barrier, Lock, Thread
from typing import Any

import httpx
import pytest

from syncd.api.client import Client
from syncd.api.parallel import run_parallel
from syncd.api.transport.large_answers import SMALL_BYTES, LargeAnswerLock
from syncd.api.transport.limits import DOCUMENT, LIST, MIB, OBJECT, PAGE, TREE, AnswerBuffer, Limit
from syncd.errors import AnswerTooLarge, NotThePlatform, Rejected
from syncd.model.ask import AskQuestion
from syncd.model.item_count import ITEMS_MAX
from syncd.net.failures import TimedOut, TooLarge

Build = Callable[..., Client]


def page(number: int, **more: Any) -> dict[str, Any]:
    """A page as platforms answer it: 700 bytes of JSON."""
    path = f"guides/section-{number % 30}/page-{number}"
    return {
        "id": f"page{number:016}",
        "title": f"Page {number} about something",
        "kind": "sheet",
        "type": "document",
        "slug": f"page-{number}",
        "path": path,
        "description": "What is said of it in one sentence, as people write it.",
        "createdAt": "2024-01-01T00:00:00.000Z",
        "updatedAt": "2024-01-01T00:00:00.000Z",
        "git": {"oid": f"{number:040x}", "path": f"{path}.md"},
        "urls": {"app": f"https://app.example.com/o/organization/s/space/{path}"},
        "layout": dict.fromkeys(("cover", "title", "description", "tableOfContents", "outline", "pagination"), True),
        "documentId": f"document{number:012}",
        "pages": [],
        "tags": [],
        **more,
    }


def answering(client_on: Build, body: bytes, status: int = 200) -> Client:
    return client_on(lambda _: httpx.Response(status, content=body))


def revision(pages: list[dict[str, Any]], **more: Any) -> bytes:
    return json.dumps({"object": "revision", "id": "r1", "pages": pages, **more}).encode()


def read(body: bytes, limit: Limit) -> int:
    """Read a text as it would arrive, and return how much of it was read."""
    arriving = AnswerBuffer(limit)
    try:
        for start in range(0, len(body), 1 << 16):
            arriving.add(body[start : start + (1 << 16)])
        assert arriving.read_all() == body
    except TooLarge:
        pass
    return arriving.size


def test_as_many_pages_as_are_allowed_are_read_and_not_one_more(client_on: Build) -> None:
    most = ITEMS_MAX["pages"]
    real = revision([page(number) for number in range(most)])
    assert read(real, TREE) == len(real)
    tiny = [{"id": f"p{number}"} for number in range(most)]
    assert len(answering(client_on, revision(tiny)).content.get("s1").pages) == most
    with pytest.raises(AnswerTooLarge, match=f"more than {most} pages") as caught:
        answering(client_on, revision([page(-1, pages=tiny)])).content.get("s1")
    assert "make several" in caught.value.hint


@pytest.mark.parametrize(("member", "kind"), [("files", "files"), ("reusableContents", "reusable contents")])
def test_the_other_items_of_a_tree_are_counted_too(client_on: Build, member: str, kind: str) -> None:
    items = [{"id": f"f{number}", "name": "a"} for number in range(ITEMS_MAX[kind] + 1)]
    with pytest.raises(AnswerTooLarge, match=f"more than {ITEMS_MAX[kind]} {kind}"):
        answering(client_on, revision([], **{member: items})).content.get("s1")
    assert answering(client_on, revision([], **{member: items[1:]})).content.get("s1").id == "r1"


VALUES = {
    "lists": b"[],",
    "numbers": b"0,",
    "objects": b'{"a":0},',
    "texts": b'"",',
    "escaped": rb'"\"",',
    "names": b'{"id":"p"},',
}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_more_values_than_memory_are_refused_while_they_arrive(client_on: Build, value: bytes) -> None:
    body = b'{"id":"s1","x":[' + value * (14 * MIB // len(value)) + b"0]}"
    assert read(body, OBJECT) < 6 * MIB
    with pytest.raises(AnswerTooLarge, match="too many values"):
        answering(client_on, body).spaces.get("s1")


def test_names_of_members_that_are_all_different_count_each() -> None:
    def members(name: str) -> bytes:
        return json.dumps([{name % number: 0} for number in range(90_000)]).encode()

    assert read(members("n%d"), OBJECT) < len(members("n%d"))
    assert read(members("%.0sname"), OBJECT) == len(members("%.0sname"))


@pytest.mark.parametrize("sign", ["\U0001f600", "\\ud83d\\ude00"], ids=["itself", "escaped"])
def test_a_text_counts_with_as_many_bytes_as_its_widest_character_makes_of_each(sign: str) -> None:
    letters = b'{"x":"' + b"a" * (12 * MIB)
    assert read(letters + b'"}', OBJECT) == len(letters) + 2
    arriving = AnswerBuffer(OBJECT)
    arriving.add(letters)
    with pytest.raises(TooLarge):
        arriving.add(sign.encode() + b'"}')


def test_signs_within_texts_are_no_values() -> None:
    text = 'a, b, "c", [d], {e}, \\' * 140_000
    body = json.dumps({"id": "p1", "markdown": text}).encode()
    assert 3 * MIB < len(body) < PAGE.size
    assert read(body, PAGE) == len(body)
    listed = json.dumps(list(text)).encode()
    assert read(listed, PAGE) < len(listed)


def test_a_text_that_does_not_end_is_searched_once() -> None:
    # Each of its quotes could begin a text: to search again from each would take years.
    body = b'{"x":[' + b"{}," * 90_000 + b'"' + rb"\"" * (4 * MIB)
    assert read(body, OBJECT) == len(body)


@pytest.mark.parametrize("limit", [OBJECT, LIST, DOCUMENT, TREE, PAGE])
def test_the_largest_text_of_each_kind_fits_what_its_values_may_take(limit: Limit) -> None:
    body = b'{"x":"' + b"," * (limit.size - 8) + b'"}'
    assert read(body, limit) == limit.size


def test_each_event_of_a_stream_has_the_limits_of_an_object(client_on: Build) -> None:
    body = b'data: {"x":[' + b"[]," * 1_000_000 + b"0]}\n\ndata: done\n\n"
    stream = {"Content-Type": "text/event-stream"}
    client = client_on(lambda _: httpx.Response(200, content=body, headers=stream))
    with pytest.raises(AnswerTooLarge, match="too many values"):
        list(client.ask.stream("o", "s", AskQuestion(question="How?")))


def test_the_first_mistake_of_a_list_is_the_only_one_that_is_looked_for(client_on: Build) -> None:
    with pytest.raises(NotThePlatform, match=r"pages\.0\.id"):
        answering(client_on, revision([{}] * 200_000)).content.get("s1")


def test_of_a_refusal_little_is_read(client_on: Build) -> None:
    taken = 0

    def pieces() -> Any:
        nonlocal taken
        yield b'{"error":{"message":"why'
        while True:
            taken += 1
            yield b"y" * 65536

    with pytest.raises((Rejected, NotThePlatform)):
        client_on(lambda _: httpx.Response(400, content=pieces())).spaces.get("s1")
    assert taken < 3


def test_large_answers_are_read_one_at_a_time(client_on: Build) -> None:
    now = most = 0
    lock = Lock()

    def pieces() -> Any:
        nonlocal now, most
        yield b'{"id":"s1","title":"' + b"x" * SMALL_BYTES
        with lock:
            now += 1
            most = max(most, now)
        yield b'x"}'
        with lock:
            now -= 1

    client = client_on(lambda _: httpx.Response(200, content=pieces()))
    assert len(list(run_parallel(client.spaces.get, ["s1"] * 20, workers=8))) == 20
    assert most == 1


def test_a_turn_is_kept_to_the_end_of_the_outermost_block_and_not_waited_for_without_end() -> None:
    turns, taken, over = LargeAnswerLock(), Barrier(2), Barrier(2)

    def keep() -> None:
        with turns.hold_until_end(), turns.hold_until_end():
            turns.acquire(1)
            turns.acquire(1)
            taken.wait()
            over.wait()

    thread = Thread(target=keep)
    thread.start()
    taken.wait()
    with turns.hold_until_end(), pytest.raises(TimedOut):
        turns.acquire(0.01)
    over.wait()
    thread.join()
    with turns.hold_until_end():
        turns.acquire(0)
