"""The platform's OpenAPI document: making it keeps nobody waiting, and it is sent once to a client that keeps it."""

import asyncio
import threading

import httpx
from starlette.requests import Request

from syncd.platform.app import OPERATIONS
from syncd.platform.description import OpenApiDescription

_ASKED = {"type": "http", "method": "GET", "path": "/openapi.json", "query_string": b"", "headers": []}


async def count_turns(description: OpenApiDescription) -> int:
    """Ask for the document often at once, and count how often the event loop comes to others meanwhile."""
    asked = asyncio.gather(*(description.answer(Request(_ASKED)) for _ in range(50)))
    turns = 0
    while not asked.done():
        turns += 1
        await asyncio.sleep(0.001)
    assert {answer.status_code for answer in await asked} == {200}
    return turns


def test_the_event_loop_goes_on_while_the_document_is_made() -> None:
    before = threading.active_count()
    assert asyncio.run(count_turns(OpenApiDescription(OPERATIONS.values()))) > 10
    assert threading.active_count() <= before


def test_a_document_that_was_prepared_is_there_at_once() -> None:
    description = OpenApiDescription(OPERATIONS.values())
    description.prepare()
    for thread in threading.enumerate():
        if thread.name == "syncd-description":
            thread.join()
    assert asyncio.run(count_turns(description)) < 10


def test_who_leaves_takes_the_document_away_from_nobody() -> None:
    description = OpenApiDescription(OPERATIONS.values())

    async def answered() -> int:
        first, second = (asyncio.ensure_future(description.answer(Request(_ASKED))) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        return (await second).status_code

    assert asyncio.run(answered()) == 200


def test_a_client_that_has_the_document_is_not_sent_it_again(http: httpx.Client) -> None:
    first = http.get("/openapi.json")
    assert first.json()["openapi"].startswith("3.")
    assert http.head("/openapi.json").headers["etag"] == first.headers["etag"]
    again = http.get("/openapi.json", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
