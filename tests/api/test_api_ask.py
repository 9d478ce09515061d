"""Ask: a streamed answer is read event by event, and one that breaks off is never taken for a whole one."""

import socket
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from syncd.api.client import Client
from syncd.errors import AnswerLost, AnswerTooLarge, NotThePlatform, Rejected, Stopped, Unauthorized, Unreachable
from syncd.model.ask import AskQuestion

Build = Callable[..., Client]
EVENT = '{"type": "answer", "answer": {"answer": {"markdown": "%s"}, "followupQuestions": [], "sources": []}}'
STREAM = {"Content-Type": "text/event-stream; charset=utf-8"}


def ask(client: Client) -> list[str]:
    """Ask, and return the answers so far of all events."""
    events = client.ask.stream("o", "s", AskQuestion(question="How?"))
    return [event.answer.answer.markdown or "" for event in events if event.answer and event.answer.answer]


def said(*lines: str) -> bytes:
    return "".join(f"data: {line}\n\n" for line in lines).encode()


def test_events_come_until_done_and_nothing_behind_it_counts(client_on: Build) -> None:
    requests: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        body = b": hello\r\nevent: x\r\n" + said(EVENT % "a", EVENT % "ab", "done", "nonsense")
        return httpx.Response(200, content=body.replace(b"\n\n", b"\r\n\r\n"), headers=STREAM)

    assert ask(client_on(answer)) == ["a", "ab"]
    assert requests[0].url.raw_path == b"/v1/orgs/o/sites/s/ask?format=markdown"
    assert b'"scope": {"mode": "default"}' in requests[0].content
    assert requests[0].headers["accept"] == "text/event-stream"


@pytest.mark.parametrize(
    ("content", "headers", "error"),
    [
        (said(EVENT % "a"), STREAM, Unreachable),
        (b"", STREAM, Unreachable),
        (said("{", "done"), STREAM, Unreachable),
        (said('{"type": 7}', "done"), STREAM, NotThePlatform),
        (said('{"type": "answer", "answer": {}}', "done"), STREAM, NotThePlatform),
        (said(EVENT % "a", "done"), {"Content-Type": "text/html"}, NotThePlatform),
    ],
)
def test_a_stream_that_is_cut_or_foreign_is_an_error(
    client_on: Build, content: bytes, headers: dict[str, str], error: type[Exception]
) -> None:
    with pytest.raises(error):
        ask(client_on(lambda request: httpx.Response(200, content=content, headers=headers)))


@pytest.mark.parametrize(
    ("status", "error", "tries"),
    [(400, Rejected, 1), (401, Unauthorized, 1), (500, AnswerLost, 1), (503, AnswerLost, 1), (429, None, 2)],
)
def test_a_refusal_is_what_it_is_for_every_operation(
    client_on: Build, status: int, error: type[Exception] | None, tries: int
) -> None:
    answers = [httpx.Response(status, json={"error": {"code": status, "message": "No."}})]
    answers.append(httpx.Response(200, content=said(EVENT % "a", "done"), headers=STREAM))
    client = client_on(lambda request: answers.pop(0))
    if error is None:
        assert ask(client) == ["a"]
    else:
        with pytest.raises(error):
            ask(client)
    assert client.requests_sent == {"POST": tries}


def test_what_is_there_is_given_at_once_and_a_cut_is_noticed(served: Build) -> None:
    def serve(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        event = said(EVENT % "a")
        connection.sendall(b"%x\r\n%b\r\n" % (len(event), event))
        # The rest is never sent: the first event must not wait for it.
        connection.recv(1)

    client = served(serve, deadline=0.3)
    events = client.ask.stream("o", "s", AskQuestion(question="How?"))
    first = next(events)
    assert first.type == "answer"
    with pytest.raises(Unreachable):
        next(events)


def test_an_event_without_an_end_is_too_large(client_on: Build) -> None:
    pieces = (b"x" * (1 << 20) for _ in range(20))
    client = client_on(lambda request: httpx.Response(200, content=pieces, headers=STREAM))
    with pytest.raises(AnswerTooLarge, match="a line of the answer is longer than 16777216 bytes"):
        ask(client)


def test_a_stop_is_heeded_between_two_events(client_on: Build) -> None:
    asked_to_stop: list[Any] = []
    pieces = [said(EVENT % "a"), said(EVENT % "ab", "done")]
    response = httpx.Response(200, content=iter(pieces), headers=STREAM)
    client = client_on(lambda request: response, cancelled=lambda: bool(asked_to_stop))
    events = client.ask.stream("o", "s", AskQuestion(question="How?"))
    next(events)
    asked_to_stop.append(True)
    with pytest.raises(Stopped):
        next(events)
