"""Every operation: its method, path, parameters and body, and the shape of its answer."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from syncd.api.client import Client
from syncd.errors import NotFound, PlatformError, Rejected, Unauthorized
from syncd.model.change_request import ChangeRequestCreate, ChangeRequestUpdate
from syncd.model.content_write import ContentWrite, DeletePage, InsertPage, Markdown, UpdatePage
from syncd.model.document import Document
from syncd.model.redirect import SiteRedirectWrite
from syncd.model.site import SiteCreate, SiteSectionCreate, SiteSpaceCreate
from syncd.model.space import SpaceCreate, SpaceUpdate

Build = Callable[..., Client]
Call = Callable[[Client], Any]

USER = {"object": "user", "id": "u"}
ORGANIZATION = {"object": "organization", "id": "o", "title": "T"}
SPACE = {"object": "space", "id": "s"}
REVISION = {"object": "revision", "id": "r"}
PAGE = {"id": "p", "title": "T"}
FILE = {"id": "f", "name": "a.png"}
BLOCK = {"id": "b", "title": "T"}
CHANGE = {"object": "change-request", "id": "c", "number": 7, "status": "open"}
MERGED = {"revision": "r2", "result": "merge"}
SITE = {"object": "site", "id": "x", "title": "T"}
SECTION = {"object": "site-section", "id": "n", "title": "T", "path": "t"}
SITE_SPACE = {"object": "site-space", "id": "v", "path": "t"}
REDIRECT = {"object": "site-redirect", "id": "d", "source": "/a", "destination": {"kind": "site-space"}}
TARGET = {"redirect": REDIRECT, "target": "https://docs.example/b"}
CR = "spaces/s/change-requests"
WRITE = SiteRedirectWrite(source="/a", destination={"kind": "site-space", "siteSpaceId": "v"})

READS: list[tuple[Call, str, dict[str, str], dict[str, Any]]] = [
    (lambda c: c.users.get_current(), "user", {}, USER),
    (lambda c: c.organizations.get("o"), "orgs/o", {}, ORGANIZATION),
    (lambda c: c.spaces.get("s"), "spaces/s", {}, SPACE),
    (lambda c: c.content.get("s"), "spaces/s/content", {}, REVISION),
    (lambda c: c.content.get_page("s", "p"), "spaces/s/content/page/p", {"format": "markdown"}, PAGE),
    (lambda c: c.content.get_file("s", "f"), "spaces/s/content/files/f", {}, FILE),
    (
        lambda c: c.content.get_reusable_content("s", "b"),
        "spaces/s/content/reusable-contents/b",
        {"format": "markdown"},
        BLOCK,
    ),
    (lambda c: c.change_requests.get("s", "7"), f"{CR}/7", {}, CHANGE),
    (lambda c: c.change_request_content.get("s", "7"), f"{CR}/7/content", {}, REVISION),
    (
        lambda c: c.change_request_content.get_page("s", "7", "p"),
        f"{CR}/7/content/page/p",
        {"format": "markdown"},
        PAGE,
    ),
    (lambda c: c.change_request_content.get_file("s", "7", "f"), f"{CR}/7/content/files/f", {}, FILE),
    (lambda c: c.sites.get("o", "x"), "orgs/o/sites/x", {}, SITE),
    (lambda c: c.redirects.get_by_source("o", "x", "/a?b"), "orgs/o/sites/x/redirect", {"source": "/a?b"}, TARGET),
]
LISTS: list[tuple[Call, str, dict[str, str], dict[str, Any]]] = [
    (lambda c: c.organizations.list(), "orgs", {}, ORGANIZATION),
    (lambda c: c.spaces.list("o"), "orgs/o/spaces", {}, SPACE),
    (lambda c: c.content.list_files("s"), "spaces/s/content/files", {}, FILE),
    (lambda c: c.change_requests.list("s"), CR, {"status": "open"}, CHANGE),
    (lambda c: c.change_requests.list("s", status="draft"), CR, {"status": "draft"}, CHANGE),
    (lambda c: c.change_requests.list("s", status=None), CR, {}, CHANGE),
    (lambda c: c.sites.list("o"), "orgs/o/sites", {}, SITE),
    (
        lambda c: c.sites.list("o", space="s", title="T", published=False),
        "orgs/o/sites",
        {"space": "s", "title": "T", "published": "false"},
        SITE,
    ),
    (lambda c: c.sections.list("o", "x"), "orgs/o/sites/x/sections", {}, SECTION),
    (lambda c: c.site_spaces.list("o", "x"), "orgs/o/sites/x/site-spaces", {}, SITE_SPACE),
    (lambda c: c.redirects.list("o", "x"), "orgs/o/sites/x/redirects", {}, REDIRECT),
]
WRITES: list[tuple[Call, str, dict[str, Any] | None, dict[str, Any]]] = [
    (
        lambda c: c.spaces.create("o", SpaceCreate(title="T", empty=True)),
        "POST orgs/o/spaces",
        {"title": "T", "empty": True},
        SPACE,
    ),
    (lambda c: c.spaces.update("s", SpaceUpdate(emoji=None)), "PATCH spaces/s", {"emoji": None}, SPACE),
    (lambda c: c.change_requests.create("s", ChangeRequestCreate(subject="S")), f"POST {CR}", {"subject": "S"}, CHANGE),
    (
        lambda c: c.change_requests.update("s", "7", ChangeRequestUpdate(status="open", description=Document())),
        f"PATCH {CR}/7",
        {"status": "open", "description": {}},
        CHANGE,
    ),
    (lambda c: c.change_requests.merge("s", "7"), f"POST {CR}/7/merge", None, MERGED),
    (lambda c: c.change_requests.refresh("s", "7"), f"POST {CR}/7/update", None, MERGED),
    (
        lambda c: c.sites.create("o", SiteCreate(title="Tt", spaces=("s",))),
        "POST orgs/o/sites",
        {"title": "Tt", "spaces": ["s"]},
        SITE,
    ),
    (
        lambda c: c.sections.create("o", "x", SiteSectionCreate(space_id="s")),
        "POST orgs/o/sites/x/sections",
        {"spaceId": "s"},
        SECTION,
    ),
    (
        lambda c: c.site_spaces.create("o", "x", SiteSpaceCreate(space_id="s", section_id="n")),
        "POST orgs/o/sites/x/site-spaces",
        {"spaceId": "s", "sectionId": "n"},
        SITE_SPACE,
    ),
    (lambda c: c.redirects.create("o", "x", WRITE), "POST orgs/o/sites/x/redirects", WRITE.wire(), REDIRECT),
    (lambda c: c.redirects.update("o", "x", "d", WRITE), "PATCH orgs/o/sites/x/redirects/d", WRITE.wire(), REDIRECT),
]


def recording(answer: httpx.Response) -> tuple[list[httpx.Request], Callable[[httpx.Request], httpx.Response]]:
    seen: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return answer

    return seen, handle


@pytest.mark.parametrize(("call", "path", "params", "body"), READS, ids=[read[1] for read in READS])
def test_a_read_asks_for_its_route(
    client_on: Build, call: Call, path: str, params: dict[str, str], body: dict[str, Any]
) -> None:
    seen, handle = recording(httpx.Response(200, json=body))
    assert call(client_on(handle)).wire() == body
    assert (seen[0].method, seen[0].url.path, dict(seen[0].url.params)) == ("GET", f"/v1/{path}", params)


@pytest.mark.parametrize(("call", "path", "params", "body"), LISTS, ids=[one[1] for one in LISTS])
def test_a_list_asks_for_its_route(
    client_on: Build, call: Call, path: str, params: dict[str, str], body: dict[str, Any]
) -> None:
    seen, handle = recording(httpx.Response(200, json={"items": [body]}))
    assert [item.wire() for item in call(client_on(handle))] == [body]
    assert (seen[0].url.path, dict(seen[0].url.params)) == (f"/v1/{path}", {**params, "limit": "1000"})


@pytest.mark.parametrize(("call", "route", "sent", "body"), WRITES, ids=[write[1] for write in WRITES])
def test_a_write_sends_its_body(
    client_on: Build, call: Call, route: str, sent: dict[str, Any] | None, body: dict[str, Any]
) -> None:
    seen, handle = recording(httpx.Response(201, json=body))
    assert call(client_on(handle)).wire() == body
    assert f"{seen[0].method} {seen[0].url.path.removeprefix('/v1/')}" == route
    assert (json.loads(seen[0].content) if seen[0].content else None) == sent


def test_the_page_tree_is_not_a_list_envelope(client_on: Build) -> None:
    seen, handle = recording(httpx.Response(200, json={"pages": [PAGE]}))
    assert [page.id for page in client_on(handle).content.list_pages("s")] == ["p"]
    assert seen[0].url.path == "/v1/spaces/s/content/pages"


def test_a_redirect_is_deleted_by_id(client_on: Build) -> None:
    seen, handle = recording(httpx.Response(204))
    client_on(handle).redirects.delete("o", "x", "d")
    assert (seen[0].method, seen[0].url.path) == ("DELETE", "/v1/orgs/o/sites/x/redirects/d")


def written(answers: dict[str, httpx.Response]) -> Callable[[httpx.Request], httpx.Response]:
    return lambda request: answers[request.method]


def write(client: Client) -> Any:
    operations = (
        InsertPage(document=Markdown(markdown="# New"), ref="r1"),
        UpdatePage(page="p", into=None),
        DeletePage(page="q"),
    )
    return client.change_requests.write_content("s", "7", ContentWrite(changes=operations))


def test_content_is_written_with_each_operation_named(client_on: Build) -> None:
    answer = {"changeRequest": {"object": "change-request", "revision": "r9"}, "changes": []}
    seen, handle = recording(httpx.Response(200, json=answer))
    assert write(client_on(handle)).change_request["revision"] == "r9"
    assert (seen[0].url.path, dict(seen[0].url.params)) == (f"/v1/{CR}/7/content", {"compat": "false"})
    assert json.loads(seen[0].content) == {
        "changes": [
            {"operation": "insert_page", "document": {"markdown": "# New"}, "ref": "r1"},
            {"operation": "update_page", "page": "p", "into": None},
            {"operation": "delete_page", "page": "q"},
        ]
    }


NO_ROUTE = [
    httpx.Response(404, json={"error": {"code": 404, "message": "Not Found"}}),
    httpx.Response(404, html="<h1>no"),
    httpx.Response(405, json={"detail": "Method Not Allowed"}),
    httpx.Response(405),
    httpx.Response(501, json={"error": {"code": 501, "message": "no"}}),
]


@pytest.mark.parametrize("answer", NO_ROUTE, ids=["404", "404-html", "405", "405-empty", "501"])
def test_a_platform_that_cannot_write_content_says_so(client_on: Build, answer: httpx.Response) -> None:
    with pytest.raises(Rejected) as caught:
        write(client_on(written({"POST": answer, "GET": httpx.Response(200, json=CHANGE)})))
    assert caught.value.status == 404


@pytest.mark.parametrize("answer", NO_ROUTE[:1])
def test_a_change_request_that_does_not_exist_cannot_be_written(client_on: Build, answer: httpx.Response) -> None:
    missing = httpx.Response(404, json={"error": {"code": 404, "message": "No such change request"}})
    with pytest.raises(NotFound):
        write(client_on(written({"POST": answer, "GET": missing})))


@pytest.mark.parametrize(("status", "leaf"), [(400, Rejected), (403, Unauthorized)])
def test_a_refused_write_is_not_a_missing_capability(client_on: Build, status: int, leaf: type[PlatformError]) -> None:
    refused = httpx.Response(status, json={"error": {"code": status, "message": "no"}})
    with pytest.raises(leaf) as caught:
        write(client_on(written({"POST": refused})))
    assert caught.value.status == status
