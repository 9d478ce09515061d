"""Which requests a server of pages refuses, and the headers that every answer has."""

import pytest

from syncd.net.connection import translate_failures
from syncd.net.page_values import (
    PageRequest,
    PageResponse,
    RefusedRequest,
    apply_condition,
    build_headers,
    list_host_names,
    parse_host,
    read_request,
)

OWN = list_host_names("127.0.0.1")
HERE = {"host": "127.0.0.1:9471"}


def refuse(method: str, target: str, headers: dict[str, str]) -> int:
    with pytest.raises(RefusedRequest) as refused:
        read_request(method, target, headers, OWN)
    return refused.value.status


def test_a_refusal_passes_through_a_context_manager() -> None:
    with pytest.raises(RefusedRequest, match="not here") as refused, translate_failures():
        raise RefusedRequest(404, "not here")
    assert refused.value.status == 404


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:1", "[::1]:9471", "LOCALHOST"])
def test_the_machines_own_names_are_answered(host: str) -> None:
    assert read_request("GET", "/", {"host": host}, OWN).path == "/"


@pytest.mark.parametrize("host", ["", "docs.example.org", "127.0.0.1.evil.org:9471", "localhost:1@evil.org", "[::2]"])
def test_a_foreign_name_is_refused(host: str) -> None:
    assert refuse("GET", "/", {"host": host}) == 421
    assert read_request("GET", "/", {"host": host}, None).path == "/"


def test_a_host_is_its_name_without_the_port() -> None:
    assert [parse_host(host) for host in ("a:1", "[::1]:80", "[::1]", "::1", "a:b")] == [
        "a",
        "[::1]",
        "[::1]",
        "::1",
        "a:b",
    ]
    assert list_host_names("10.0.0.7") == {"10.0.0.7"}
    assert "[fe80::1]" in list_host_names("fe80::1")


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "null"},
        {"origin": "http://evil.org"},
        {"origin": "http://127.0.0.1:1"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site", "origin": "http://127.0.0.1:9471"},
        {"sec-fetch-site": "none"},
        {"sec-fetch-site": "same-origin", "origin": "http://evil.org"},
    ],
)
def test_nothing_is_changed_from_a_page_of_another_site(headers: dict[str, str]) -> None:
    assert refuse("POST", "/", HERE | headers) == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://127.0.0.1:9471"},
        {"sec-fetch-site": "same-origin"},
        {"sec-fetch-site": "same-origin", "origin": "null"},
    ],
)
def test_its_own_pages_may_change_something(headers: dict[str, str]) -> None:
    assert read_request("POST", "/", HERE | headers, OWN).method == "POST"


@pytest.mark.parametrize(
    "target", ["*", "http://127.0.0.1:9471/", "/a/../b", "/a/%2e%2e/b", "/a%5cb", "/%00", "/%ff", "/a%0ab", "a"]
)
def test_an_address_that_makes_no_sense_is_refused(target: str) -> None:
    assert refuse("GET", target, HERE) == 400


def test_methods_and_lengths_are_bounded() -> None:
    assert refuse("PUT", "/", HERE) == 405
    assert refuse("GET", "/" + "a" * 5000, HERE) == 414
    assert refuse("GET", "/?" + "a=1&" * 200, HERE) == 400


def test_a_query_a_form_and_a_cookie_are_read() -> None:
    request = read_request("GET", "/caf%C3%A9?a=1&b=%C3%A9&a=2", HERE | {"cookie": "one=1; two=2"}, OWN)
    assert (request.path, dict(request.query)) == ("/café", {"a": "2", "b": "é"})
    assert (request.read_cookie("two"), request.read_cookie("three")) == ("2", "")
    form = {"content-type": "application/x-www-form-urlencoded; charset=utf-8"}
    assert PageRequest("POST", "/", headers=form, body=b"a=b+c").read_form() == {"a": "b c"}
    assert PageRequest("POST", "/", headers={"content-type": "text/plain"}, body=b"a=b").read_form() == {}


def test_every_answer_has_the_strict_headers() -> None:
    headers = dict(build_headers(PageResponse(b"x")))
    assert headers["Content-Security-Policy"].startswith("default-src 'none';")
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert (headers["X-Content-Type-Options"], headers["Referrer-Policy"]) == ("nosniff", "no-referrer")
    assert headers["Cache-Control"] == "private, no-cache"


def test_an_answer_that_the_browser_has_is_not_sent_again() -> None:
    first = apply_condition(PageRequest("GET", "/"), PageResponse(b"x"))
    tag = dict(first.headers)["ETag"]
    for known in (tag, f'"other", W/{tag}'):
        again = apply_condition(PageRequest("GET", "/", headers={"if-none-match": known}), PageResponse(b"x"))
        assert (again.status, again.body, dict(again.headers)["ETag"]) == (304, b"", tag)
    other = apply_condition(PageRequest("GET", "/", headers={"if-none-match": tag}), PageResponse(b"y"))
    assert other.status == 200
    assert apply_condition(PageRequest("POST", "/"), PageResponse(b"x")).headers == ()
