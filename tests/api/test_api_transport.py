"""The request loop: headers, addresses, the retry table, and what becomes of each answer."""

import inspect
import json
import logging
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from syncd import __version__
from syncd.api.client import Client
from syncd.api.options import ClientOptions
from syncd.api.transport.addresses import parse_base_url
from syncd.api.transport.outcomes import Failure, classify_failure
from syncd.errors import (
    AnswerLost,
    ConfigInvalid,
    NotFound,
    NotThePlatform,
    PlatformError,
    RateLimited,
    Rejected,
    Stopped,
    Unauthorized,
    Unreachable,
)
from syncd.model.change_request import ChangeRequestCreate, ChangeRequestUpdate

TOKEN = "gb_api_secret-token-value"
SPACE = {"object": "space", "id": "s1", "revision": "r1"}
CHANGE_REQUEST = {"object": "change-request", "id": "c1", "number": 1, "status": "draft"}
Build = Callable[..., Client]


def answering(*answers: httpx.Response | Exception) -> tuple[list[httpx.Request], Callable[[httpx.Request], Any]]:
    """A handler that gives these answers in turn, and the requests that it has seen."""
    seen: list[httpx.Request] = []
    waiting = list(answers)

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        answer = waiting.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return seen, handle


def space() -> httpx.Response:
    return httpx.Response(200, json=SPACE)


def error(status: int, message: str = "why", **headers: str) -> httpx.Response:
    return httpx.Response(status, json={"error": {"code": status, "message": message}}, headers=headers)


def create(client: Client) -> object:
    return client.change_requests.create("s1", ChangeRequestCreate(subject="Words"))


def update(client: Client) -> object:
    return client.change_requests.update("s1", "c1", ChangeRequestUpdate(subject="Words"))


def get(client: Client) -> object:
    return client.spaces.get("s1")


def delete(client: Client) -> object:
    client.redirects.delete("o", "site", "r")
    return None


# A token that is replaced


def test_a_refused_token_is_replaced_once_and_a_write_is_sent_again(client_on: Build) -> None:
    refused: list[str] = []

    def renew(token: str) -> str:
        refused.append(token)
        return "gb_second"

    seen, handle = answering(error(401), httpx.Response(200, json=CHANGE_REQUEST), space())
    client = client_on(handle, renew=renew)
    create(client)
    get(client)
    assert refused == [TOKEN]
    assert [one.headers["authorization"] for one in seen] == [f"Bearer {TOKEN}", "Bearer gb_second", "Bearer gb_second"]
    assert [one.headers["content-type"] for one in seen[:2]] == ["application/json"] * 2
    assert seen[0].content == seen[1].content


def test_a_second_refusal_and_the_same_token_again_are_the_end(client_on: Build) -> None:
    seen, handle = answering(error(401), error(401, "gb_second is unknown"), error(401))
    client = client_on(handle, renew=lambda refused: "gb_second")
    with pytest.raises(Unauthorized) as caught:
        get(client)
    assert "gb_second" not in caught.value.what
    with pytest.raises(Unauthorized):
        get(client)
    assert len(seen) == 3


@pytest.mark.parametrize("status", [403, 404])
def test_no_other_refusal_asks_for_another_token(client_on: Build, status: int) -> None:
    def renew(token: str) -> str:
        raise AssertionError("nobody refused the token")

    _, handle = answering(error(status))
    with pytest.raises(PlatformError):
        get(client_on(handle, renew=renew))


def test_a_command_that_fails_is_the_error(client_on: Build) -> None:
    def renew(token: str) -> str:
        raise ConfigInvalid("token_command: op ended with exit code 1")

    _, handle = answering(error(401))
    with pytest.raises(ConfigInvalid, match="exit code 1"):
        get(client_on(handle, renew=renew))


# Requests


def test_a_request_carries_the_token_the_version_and_what_it_accepts(client_on: Build) -> None:
    seen, handle = answering(space())
    client_on(handle).spaces.get("s1")
    assert str(seen[0].url) == "https://api.example.com/v1/spaces/s1"
    assert seen[0].headers["Authorization"] == f"Bearer {TOKEN}"
    assert seen[0].headers["User-Agent"] == f"syncd/{__version__}"
    assert seen[0].headers["Accept"] == "application/json"
    assert seen[0].headers["Accept-Encoding"] == "gzip"


def test_a_body_is_json_with_only_what_was_set(client_on: Build) -> None:
    seen, handle = answering(httpx.Response(200, json=CHANGE_REQUEST))
    client_on(handle).change_requests.update("s1", "c1", ChangeRequestUpdate(description=None))
    assert seen[0].headers["Content-Type"] == "application/json"
    assert json.loads(seen[0].content) == {"description": None}


@pytest.mark.parametrize(
    "url", ["https://h.example/v1", "https://h.example/", "https://h.example", "https://h.example/v1/"]
)
def test_the_address_may_end_with_or_without_slash_and_version(url: str) -> None:
    assert parse_base_url(url) == "https://h.example/v1"


def test_the_address_keeps_its_port_and_path() -> None:
    assert parse_base_url("https://h.example:8443/docs/") == "https://h.example:8443/docs/v1"


@pytest.mark.parametrize("url", ["http://127.0.0.1:8080", "http://localhost", "http://[::1]:9"])
def test_plain_http_is_allowed_on_this_machine(url: str) -> None:
    assert parse_base_url(url) == f"{url}/v1"


@pytest.mark.parametrize(
    "url",
    [
        "http://api.example.com",
        "http://10.0.0.1",
        "http://localhost.example.com",
        "http://127.0.0.1.example.com",
        "ftp://api.example.com",
        "api.example.com",
        "",
        "https://",
        "https://user:word@api.example.com",
        "https://api.example.com?x=1",
        "https://api.example.com#x",
        "https://api.example.com:port",
        "https://api.example.com:0",
        "https://api.example.com:65536",
        "https://api.example.com:-1",
        f"https://{'a' * 64}.example",
    ],
)
def test_an_address_that_could_leak_the_token_or_is_none_is_refused(url: str) -> None:
    with pytest.raises(ConfigInvalid) as caught:
        Client(url, TOKEN)
    assert "word" not in str(caught.value)


def test_plain_http_beyond_this_machine_needs_a_word() -> None:
    with Client("http://docs.internal", TOKEN, ClientOptions(insecure=True)) as client:
        assert repr(client) == "Client('http://docs.internal/v1')"


@pytest.mark.parametrize("part", ["a/b", "a?b", "a#b", "a b", "é", "a%2Fb", "..%2f..", "../../user", "\r\n"])
def test_an_id_cannot_change_the_route(client_on: Build, part: str) -> None:
    seen, handle = answering(space())
    client_on(handle).spaces.get(part)
    segments = seen[0].url.raw_path.decode().split("/")
    assert segments[:3] == ["", "v1", "spaces"]
    assert len(segments) == 4
    assert not {"?", "#", "\n"} & set(segments[3])


@pytest.mark.parametrize("part", ["", ".", ".."])
def test_an_id_that_no_encoding_makes_safe_is_not_sent(client_on: Build, part: str) -> None:
    seen, handle = answering()
    with pytest.raises(NotFound):
        client_on(handle).content.get(part)
    assert seen == []


def test_cookies_proxies_and_netrc_have_no_say(
    client_on: Build, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    netrc = tmp_path_factory.mktemp("netrc") / "netrc"
    netrc.write_text("machine api.example.com login a password b\n")
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    seen, handle = answering(httpx.Response(200, json=SPACE, headers={"Set-Cookie": "a=b"}), space())
    client = client_on(handle)
    client.spaces.get("s1")
    client.spaces.get("s1")
    assert seen[1].headers["Authorization"] == f"Bearer {TOKEN}"
    assert "Cookie" not in seen[1].headers


# The token


def test_a_missing_token_is_not_sent() -> None:
    with pytest.raises(ConfigInvalid):
        Client("https://api.example.com", "")


@pytest.mark.parametrize("token", ["secret\n", "sec ret", "sécret", "secret\x00"])
def test_a_token_that_no_header_can_carry_is_refused_without_repeating_it(token: str) -> None:
    with pytest.raises(ConfigInvalid) as caught:
        Client("https://api.example.com", token)
    assert "ret" not in repr(caught.value)


def test_the_token_is_in_no_text_of_the_client(client_on: Build) -> None:
    client = client_on(answering()[1])
    loop = client._loop
    texts = [
        repr(client),
        str(client),
        repr(loop),
        repr(client.spaces),
        repr(loop.credential),
        repr(loop.credential.build_headers()),
    ]
    assert TOKEN not in "".join(texts)


@pytest.mark.parametrize("status", [200, 302, 400, 401, 404, 500])
def test_an_echoed_token_reaches_neither_error_nor_log(
    client_on: Build, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    caplog.set_level(logging.DEBUG)
    body = {"error": {"code": status, "message": f"bad token Bearer {TOKEN}"}}
    headers = {"Location": f"https://elsewhere.example/{TOKEN}?t={TOKEN}"}
    answers = [httpx.Response(status, json=body, headers=headers) for _ in range(5)]
    with pytest.raises(PlatformError) as caught:
        client_on(answering(*answers)[1]).spaces.get("s1")
    assert TOKEN not in repr(caught.value) + str(caught.value.__cause__) + caught.value.hint + caplog.text


# The retry table


@pytest.mark.parametrize("kind", [httpx.ReadError, httpx.ReadTimeout, httpx.RemoteProtocolError, httpx.ConnectError])
def test_a_read_or_deletion_is_tried_again_after_a_broken_connection(client_on: Build, kind: type[Exception]) -> None:
    for ask, end in ((get, space()), (delete, httpx.Response(204))):
        seen, handle = answering(kind("cut"), kind("cut"), end)
        ask(client_on(handle))
        assert len(seen) == 3


@pytest.mark.parametrize("status", [408, 502, 503, 504])
def test_a_read_or_deletion_is_tried_again_while_the_platform_is_away(client_on: Build, status: int) -> None:
    for ask, end in ((get, space()), (delete, httpx.Response(205))):
        seen, handle = answering(*[httpx.Response(status, text="<html>") for _ in range(4)], end)
        ask(client_on(handle))
        assert len(seen) == 5


def test_tries_end_after_five_with_doubling_waits(client_on: Build, clock: Any) -> None:
    seen, handle = answering(*[error(503) for _ in range(5)])
    with pytest.raises(Unreachable, match="why") as caught:
        get(client_on(handle))
    assert len(seen) == 5
    assert clock.waited == pytest.approx(1 + 2 + 4 + 8)
    assert caught.value.status == 503


def test_a_platform_that_is_away_is_asked_again_when_it_says(client_on: Build, clock: Any) -> None:
    get(client_on(answering(error(503, **{"Retry-After": "30"}), error(503), space())[1]))
    assert clock.waited == pytest.approx(30 + 2)


def test_a_platform_that_is_away_for_long_is_left_for_the_next_run(client_on: Build, clock: Any) -> None:
    seen, handle = answering(error(503, "closed for repair", **{"Retry-After": "3600"}))
    with pytest.raises(Unreachable, match=r"closed for repair.*, 1 time; it asks to wait 3600 s"):
        get(client_on(handle))
    assert (len(seen), clock.waited) == (1, 0)


def test_connection_failures_end_after_five_tries(client_on: Build) -> None:
    seen, handle = answering(*[httpx.ConnectError("refused") for _ in range(5)])
    with pytest.raises(Unreachable, match=r"no answer after 5 tries \(.*ConnectError: refused"):
        get(client_on(handle))
    assert len(seen) == 5
    with pytest.raises(Unreachable, match=r"no answer after 1 try \("):
        get(client_on(answering(httpx.ConnectError("refused"))[1], tries=1))


def test_waits_are_jittered_over_their_full_length(client_on: Build, clock: Any) -> None:
    get(client_on(answering(error(503), space())[1], random=lambda: 0.25))
    assert clock.waited == pytest.approx(0.25)


@pytest.mark.parametrize("ask", [create, update])
@pytest.mark.parametrize("kind", [httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout])
def test_a_write_is_tried_again_when_no_connection_could_be_made(
    client_on: Build, ask: Callable[[Client], object], kind: type[Exception]
) -> None:
    seen, handle = answering(kind("no"), kind("no"), httpx.Response(201, json=CHANGE_REQUEST))
    ask(client_on(handle))
    assert len(seen) == 3


@pytest.mark.parametrize("ask", [create, update])
@pytest.mark.parametrize(
    "answer",
    [
        httpx.ReadError("x"),
        httpx.ReadTimeout("x"),
        httpx.WriteError("x"),
        httpx.RemoteProtocolError("x"),
        408,
        500,
        502,
        503,
        504,
        520,
    ],
    ids=str,
)
def test_a_write_that_may_have_arrived_is_never_repeated(
    client_on: Build, ask: Callable[[Client], object], answer: Any
) -> None:
    seen, handle = answering(error(answer) if isinstance(answer, int) else answer)
    with pytest.raises(AnswerLost):
        ask(client_on(handle))
    assert len(seen) == 1


def test_a_write_whose_good_answer_breaks_off_may_have_happened(client_on: Build) -> None:
    with pytest.raises(AnswerLost):
        create(client_on(answering(httpx.Response(201, content=b'{"object": "change-req'))[1]))


def test_a_failing_read_is_tried_again_but_a_failing_deletion_is_not(client_on: Build) -> None:
    seen, handle = answering(error(500), space())
    get(client_on(handle))
    assert len(seen) == 2
    with pytest.raises(Unreachable):
        delete(client_on(answering(error(500))[1]))


@pytest.mark.parametrize("ask", [get, create, delete])
def test_what_the_platform_does_not_implement_is_not_tried_again(
    client_on: Build, ask: Callable[[Client], object]
) -> None:
    with pytest.raises(Unreachable) as caught:
        ask(client_on(answering(error(501))[1]))
    assert caught.value.status == 501


def test_every_exception_class_of_httpx_has_a_place_in_the_table() -> None:
    kinds = [
        kind
        for _, kind in inspect.getmembers(httpx, inspect.isclass)
        if issubclass(kind, Exception) and kind.__module__.startswith("httpx")
    ]
    verdicts = {kind: classify_failure(kind) for kind in kinds}
    assert len(kinds) > 20
    unsent = {kind for kind, verdict in verdicts.items() if verdict is Failure.UNSENT}
    assert unsent == {httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout}
    foreign = {kind for kind, verdict in verdicts.items() if verdict is Failure.FOREIGN}
    assert not foreign & {httpx.ReadError, httpx.ReadTimeout, httpx.WriteError, httpx.RemoteProtocolError}


@pytest.mark.parametrize(
    "kind",
    [kind for _, kind in inspect.getmembers(httpx, inspect.isclass) if issubclass(kind, Exception)],
)
def test_no_exception_of_httpx_leaves_the_adapter(client_on: Build, kind: type[Exception]) -> None:
    def handle(request: httpx.Request) -> httpx.Response:
        if kind is httpx.HTTPStatusError:
            raise httpx.HTTPStatusError("x", request=request, response=httpx.Response(500))
        takes_a_message = "message" in inspect.signature(kind).parameters
        raise kind("x") if takes_a_message else kind()

    with pytest.raises(PlatformError):
        get(client_on(handle))


# The rate limit


@pytest.mark.parametrize("ask", [get, create, update, delete])
def test_a_limited_request_waits_as_long_as_the_platform_says(
    client_on: Build, clock: Any, ask: Callable[[Client], object]
) -> None:
    end = space() if ask is get else httpx.Response(200, json=CHANGE_REQUEST)
    seen, handle = answering(error(429, **{"Retry-After": "7"}), end)
    ask(client_on(handle))
    assert len(seen) == 2
    assert clock.waited == pytest.approx(7)


def test_a_limited_request_waits_until_the_reset(client_on: Build, clock: Any) -> None:
    limits = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(clock.now + 30), "X-RateLimit-Limit": "60"}
    get(client_on(answering(error(429, **limits), space())[1]))
    assert clock.waited == pytest.approx(30)


def test_a_limited_request_without_a_time_backs_off(client_on: Build, clock: Any) -> None:
    get(client_on(answering(error(429), error(429), space())[1]))
    assert clock.waited == pytest.approx(1 + 2)


@pytest.mark.parametrize(("after", "seconds"), [("121", 121), ("1000000000", 86400), ("1e308", 86400)])
def test_a_wait_that_is_too_long_for_a_run_is_left_to_the_next(
    client_on: Build, clock: Any, after: str, seconds: int
) -> None:
    with pytest.raises(RateLimited, match=rf"used up for {seconds} s, until \d{{4}}-.* UTC$") as caught:
        get(client_on(answering(error(429, **{"Retry-After": after}))[1]))
    assert caught.value.until == pytest.approx(clock.now + seconds), "after a day, it is asked again"
    assert clock.waited == 0


def test_a_limit_that_does_not_end_is_left_to_the_next_run(client_on: Build) -> None:
    seen, handle = answering(*[error(429, **{"Retry-After": "1"}) for _ in range(5)])
    with pytest.raises(RateLimited):
        get(client_on(handle))
    assert len(seen) == 5


def test_a_used_up_limit_is_waited_for_before_it_is_hit(client_on: Build, clock: Any) -> None:
    limits = {"X-RateLimit-Limit": "60", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(clock.now + 50)}
    client = client_on(answering(httpx.Response(200, json=SPACE, headers=limits), space())[1])
    get(client)
    assert clock.waited == 0
    get(client)
    assert clock.waited == pytest.approx(50)


def test_a_used_up_limit_that_ends_too_late_is_not_even_asked(client_on: Build, clock: Any) -> None:
    limits = {"X-RateLimit-Limit": "60", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(clock.now + 3000)}
    seen, handle = answering(httpx.Response(200, json=SPACE, headers=limits))
    client = client_on(handle)
    get(client)
    with pytest.raises(RateLimited) as caught:
        get(client)
    assert len(seen) == 1
    assert caught.value.until == pytest.approx(clock.now + 3000)


def test_every_wait_is_announced_with_its_reason_before_it_begins(client_on: Build, clock: Any) -> None:
    announced: list[tuple[str, float, float]] = []
    limits = {"X-RateLimit-Limit": "60", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(clock.now + 50)}
    answers = [error(503), error(429, **{"Retry-After": "7"}), httpx.Response(200, json=SPACE, headers=limits), space()]
    client = client_on(
        answering(*answers)[1],
        announce_wait=lambda reason, seconds: announced.append((reason, seconds, clock.waited)),
    )
    get(client)
    get(client)
    label = "GET /spaces/s1"
    assert announced == [
        (f"another try of {label}: it answered 503", 1.0, 0),
        (f"the platform's rate limit ({label})", 7.0, pytest.approx(1)),
        (f"the platform's rate limit ({label})", pytest.approx(42), pytest.approx(8)),
    ]


# Stopping


def test_a_stop_is_heeded_before_the_first_try(client_on: Build) -> None:
    seen, handle = answering()
    with pytest.raises(Stopped):
        get(client_on(handle, cancelled=lambda: True))
    assert seen == []


def test_a_stop_is_heeded_within_a_fifth_of_a_second_of_any_wait(client_on: Build, clock: Any) -> None:
    start = clock.now
    client = client_on(answering(error(429, **{"Retry-After": "100"}))[1], cancelled=lambda: clock.now >= start + 3)
    with pytest.raises(Stopped):
        get(client)
    assert max(clock.slept) <= 0.2
    assert clock.waited == pytest.approx(3, abs=0.21)


# Answers


@pytest.mark.parametrize(
    ("status", "leaf", "code"),
    [
        (400, Rejected, 1),
        (401, Unauthorized, 77),
        (403, Unauthorized, 77),
        (404, NotFound, 78),
        (409, Rejected, 1),
        (412, Rejected, 1),
        (422, Rejected, 1),
    ],
)
def test_a_refusal_becomes_the_error_that_names_it(
    client_on: Build, status: int, leaf: type[PlatformError], code: int
) -> None:
    with pytest.raises(leaf, match=r"GET /spaces/s1: .*why") as caught:
        get(client_on(answering(error(status))[1]))
    assert caught.value.status == status
    assert caught.value.exit_code == code


def test_a_message_is_cut_and_loses_its_control_characters(client_on: Build) -> None:
    hostile = "\x1b[2Jred\x07\u202e\u200b\x9b\r\nnext " + "x" * 1000
    with pytest.raises(Rejected) as caught:
        get(client_on(answering(error(400, hostile))[1]))
    said = caught.value.what.partition("(400): ")[2]
    assert said.startswith("[2Jred next xxx")
    assert len(said) == 300
    assert said.isprintable()


@pytest.mark.parametrize("body", [{"error": "plain"}, {"error": {"message": 5}}, {"error": None}, {"detail": "x"}, {}])
def test_an_error_of_another_shape_is_still_an_error(client_on: Build, body: Any) -> None:
    with pytest.raises(NotFound):
        get(client_on(answering(httpx.Response(404, json=body))[1]))


@pytest.mark.parametrize("status", [200, 201, 400, 401, 403, 404, 410])
def test_a_web_page_is_not_the_platform(client_on: Build, status: int) -> None:
    with pytest.raises(NotThePlatform) as caught:
        get(client_on(answering(httpx.Response(status, html="<!doctype html><h1>Hello</h1>"))[1]))
    assert caught.value.hint.startswith("Check the platform's address")
    assert "Hello" not in str(caught.value)


@pytest.mark.parametrize("status", [301, 302, 303, 304, 307, 308])
def test_a_redirect_is_never_followed(client_on: Build, status: int) -> None:
    seen, handle = answering(httpx.Response(status, headers={"Location": "https://elsewhere.example/x?token=1"}))
    with pytest.raises(NotThePlatform, match=r"https://elsewhere\.example/x$"):
        get(client_on(handle))
    assert len(seen) == 1


def test_json_of_another_shape_names_the_operation_and_the_field(client_on: Build) -> None:
    body = {"object": "space", "id": "s1", "changeRequests": "private words"}
    with pytest.raises(NotThePlatform, match=r"GET /spaces/s1: changeRequests: ") as caught:
        get(client_on(answering(httpx.Response(200, json=body))[1]))
    assert "private words" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b"12", b"{]", b'{"id": "\xff"}', b"\xef\xbb\xbf{}"])
def test_a_broken_answer_is_refused_cleanly(client_on: Build, body: bytes) -> None:
    with pytest.raises(NotThePlatform):
        get(client_on(answering(httpx.Response(200, content=body))[1]))


@pytest.mark.parametrize("body", [b'{"id":"s","x":' + b"[" * 10**5, b'{"x":' * 10**5])
def test_an_answer_nested_too_deep_is_refused_cleanly(client_on: Build, body: bytes) -> None:
    with pytest.raises(NotThePlatform, match="nested too deep"):
        get(client_on(answering(httpx.Response(200, content=body))[1]))


def test_a_refusal_nested_too_deep_is_refused_cleanly(client_on: Build) -> None:
    with pytest.raises(PlatformError):
        get(client_on(answering(httpx.Response(400, content=b'{"error":' * 10**5))[1]))


@pytest.mark.parametrize("answer", [httpx.Response(204), httpx.Response(205), error(404), httpx.Response(404)])
def test_deleting_what_is_not_there_is_success(client_on: Build, answer: httpx.Response) -> None:
    client = client_on(answering(answer)[1])
    delete(client)
    assert client.requests_sent == {"DELETE": 1}


@pytest.mark.parametrize("answer", [httpx.Response(200), httpx.Response(200, json={"object": "site-redirect"})])
def test_deleting_may_answer_with_what_was_there(client_on: Build, answer: httpx.Response) -> None:
    client = client_on(answering(answer)[1])
    delete(client)
    assert client.requests_sent == {"DELETE": 1}


@pytest.mark.parametrize(
    "answer", [httpx.Response(200, html="<p>hi"), httpx.Response(404, html="<p>no"), httpx.Response(302)]
)
def test_a_web_page_does_not_delete_anything(client_on: Build, answer: httpx.Response) -> None:
    with pytest.raises(NotThePlatform):
        delete(client_on(answering(answer)[1]))


def test_every_try_is_counted_by_method(client_on: Build) -> None:
    client = client_on(answering(error(503), space(), httpx.Response(201, json=CHANGE_REQUEST))[1])
    get(client)
    create(client)
    assert client.requests_sent == {"GET": 2, "POST": 1}
