"""Attacks on the whole platform: by those who may something but not this, and by what no client of good will sends."""

import contextlib
import json
import select
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from syncd.platform.app import create_app
from syncd.platform.http.limits import BODIES_BYTES_MAX, BODY_BYTES_MAX, VALUES_MAX
from syncd.platform.people.tokens import TokenHolder, issue_token
from syncd.platform.schema import accounts
from syncd.platform.server import BackgroundServer
from syncd.platform.storage.storage import Bootstrap, Storage
from tests.contract.probes.integrations import installed
from tests.contract.probes.translations import made as translated
from tests.contract.world import Target, World

Fresh = Callable[[], str]


@pytest.fixture(params=["sqlite", "postgresql"])
def either(request: pytest.FixtureRequest, tmp_path: Path, postgres_url: Fresh) -> Iterator[World]:
    """A world on each kind of database, on a real server."""
    database = postgres_url() if request.param == "postgresql" else None
    with Storage(tmp_path / "platform", database=database) as storage:
        storage.bootstrap()
        limits = httpx.Limits(max_connections=50)
        with (
            BackgroundServer(storage, works=False) as url,
            httpx.Client(base_url=url, trust_env=False, timeout=30, limits=limits) as client,
        ):
            yield Target(storage, create_app(storage), client).world()


def content(world: World, space: str) -> str:
    page = world.made("listPages", {"spaceId": space})["pages"][0]["id"]
    at = {"spaceId": space, "pageId": page}
    return str(world.made("getPageById", at, query={"format": "markdown"})["markdown"])


def test_a_space_that_was_transferred_is_no_longer_translated_where_it_was(world: World) -> None:
    path = translated(world)
    translation = world.made("getTranslation", path)
    source, result = translation["source"]["space"], translation["result"]["space"]
    world.run_jobs()
    elsewhere = world.made("createOrganization", body={"title": "Elsewhere"})["id"]
    former = content(world, result)
    world.made("transferSpace", {"spaceId": source}, body={"organization": elsewhere})
    page = world.made("listPages", {"spaceId": source})["pages"][0]["id"]
    secret = {"operation": "update_page", "page": page, "document": {"markdown": "# Home\n\nWords of others.\n"}}
    world.write(source, [secret])
    world.made("runTranslation", path)
    world.run_jobs()
    assert content(world, result) == former
    assert world.made("getTranslation", path)["status"] == "completed"


def test_nothing_is_translated_into_a_space_that_was_transferred(world: World) -> None:
    path = translated(world)
    result = world.made("getTranslation", path)["result"]["space"]
    elsewhere = world.made("createOrganization", body={"title": "Elsewhere"})["id"]
    former = content(world, result)
    world.made("transferSpace", {"spaceId": result}, body={"organization": elsewhere})
    world.run_jobs()
    assert content(world, result) == former


def test_who_administrates_only_a_space_cannot_take_it_out_of_its_organization(world: World) -> None:
    user, token = world.person("read")
    space, collection = world.space()["id"], world.made("createCollection", body={"title": "Held"})["id"]
    mine = world.made("createOrganization", body={"title": "Mine"}, by=token)["id"]
    for what, id in (("Space", space), ("Collection", collection)):
        path = {f"{what.lower()}Id": id}
        world.made(f"updateUserPermissionIn{what}", {**path, "userId": user}, body={"role": "admin"})
        answer = world.call(f"transfer{what}", path, body={"organization": mine}, by=token)
        assert answer.status_code == 403, answer.text
        assert world.made(f"get{what}ById", path)["organization"] == world.organization


def test_who_publishes_an_integration_does_not_decide_how_far_it_reaches(world: World) -> None:
    path = installed(world, visibility="public")
    customer = world.target.world()
    space = customer.space()["id"]
    theirs = path | {
        "installationId": customer.made("installIntegration", path, body={"organization": customer.organization})["id"]
    }
    for wider in ({"space_selection": "all"}, {"site_selection": "all"}):
        assert world.call("updateIntegrationInstallation", theirs, body=wider).status_code == 403
    assert world.call("installIntegrationOnSpace", theirs, body={"space": space}).status_code == 403
    assert world.made("updateIntegrationInstallation", theirs, body={"externalIds": ["known-as"]})
    assert customer.made("installIntegrationOnSpace", theirs, body={"space": space})
    assert customer.made("updateIntegrationInstallation", theirs, body={"space_selection": "all"})


def test_what_is_closed_to_somebody_is_named_nowhere(world: World) -> None:
    page = {"operation": "insert_page", "title": "Xylophone", "document": {"markdown": "# Xylophone\n\nXylophone.\n"}}
    space = world.space("Surely secret", changes=[page])["id"]
    world.change_request(space, "Surely secret subject")
    path = {"siteId": world.site(world.space("Open")["id"], space, title="Site")["id"]}
    world.made("updateSpaceById", {"spaceId": space}, body={"defaultLevel": None})
    token = world.person("create")[1]
    reads: dict[str, tuple[dict[str, str], dict[str, str]]] = {
        "listSpacesInOrganizationById": ({}, {}),
        "listChangeRequestsForOrganization": ({}, {"status": "draft"}),
        "searchOrganizationContent": ({}, {"query": "Xylophone"}),
        "listSiteSpaces": (path, {}),
        "getSiteStructure": (path, {}),
    }
    for operation, (at, query) in reads.items():
        assert "urely secret" in world.call(operation, at, query=query).text, operation
        assert "urely secret" not in world.call(operation, at, query=query, by=token).text, operation


def test_an_error_of_the_database_names_no_value(either: World) -> None:
    rows = [{"id": "same", "display_name": "Surely secret", "created_at": ""}] * 2
    with either.storage.write() as connection, pytest.raises(sa.exc.IntegrityError) as failure:
        connection.execute(accounts.users.insert(), rows)
    assert "Surely secret" not in str(failure.value)


def test_no_secret_is_shown_where_things_are_named(storage: Storage) -> None:
    storage.bootstrap()
    token = issue_token(storage, TokenHolder(None), label="attack")
    assert token.secret not in repr(token)
    assert "syncd_secret" not in repr(Bootstrap("organization", "user", "syncd_secret"))


def test_a_character_that_no_database_keeps_breaks_no_list(either: World) -> None:
    site = either.site(either.space()["id"])
    path = {"siteId": site["id"]}
    settings = either.made("getSiteCustomizationById", path) | {"title": "a\0b"}
    assert either.call("updateSiteCustomizationById", path, body=settings).status_code == 400
    assert either.made("listSites")["count"] == 1
    assert either.call("createSpace", body={"title": "a\0b"}).status_code == 400
    assert either.call("getSpaceById", {"spaceId": "a%00b"}).status_code in (400, 404)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("PUT", "/v1/orgs", 405),
        ("HEAD", "/v1/nothing", 404),
        ("OPTIONS", "/v1/nothing", 404),
        ("GET", "/v1/nothing/of/that", 404),
        ("GET", "/", 404),
        ("GET", "/v1/orgs/", 404),
        ("GET", "/v1/spaces/%2e%2e/orgs", 404),
        ("GET", "/v1/spaces/..%2f..%2fetc", 404),
        ("TRACE", "/v1/orgs", 405),
    ],
)
def test_what_there_is_no_route_for_is_refused_as_everything_is(
    server: tuple[str, str], method: str, path: str, status: int
) -> None:
    url, token = server
    answer = httpx.request(
        method, f"{url}{path}", headers={"Authorization": f"Bearer {token}"}, trust_env=False, timeout=30
    )
    assert answer.status_code == status
    assert answer.headers["x-ratelimit-limit"]
    if method != "HEAD":
        assert answer.json()["error"]["code"] == status


def test_a_name_of_a_member_is_not_sent_back_at_length(world: World) -> None:
    answer = world.call("createSpace", body={"x" * 100_000: 1})
    assert answer.status_code == 400
    assert len(answer.content) < 1000


@pytest.mark.parametrize("said", ["Content-Length: 1000000", "Transfer-Encoding: chunked"])
@pytest.mark.parametrize("token", ["", "Authorization: Bearer nobody\r\n", "Authorization: Basic YQ==\r\n"])
def test_a_large_body_is_not_waited_for_when_a_stranger_sends_it(
    server: tuple[str, str], token: str, said: str
) -> None:
    host, port = server[0].removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        head = f"POST /v1/orgs HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n{token}{said}\r\n\r\n"
        connection.sendall(head.encode())
        assert connection.recv(4096).startswith(b"HTTP/1.1 401 ")


@pytest.mark.parametrize(
    "body",
    [
        b"[" * (VALUES_MAX + 1),
        b"[" + b"1," * (VALUES_MAX + 1),
        b"{" + b'"k":1,' * (VALUES_MAX + 1),
        b'{"text":"\\"\\\\","a":[' + b'"b",' * (VALUES_MAX + 1),
        b'{"text":"' + rb"\\" * 65_533 + b'","a":[' + b'"",' * (VALUES_MAX + 1),
        b'""' * (4 * VALUES_MAX + 4),
    ],
)
def test_a_body_of_countless_values_is_not_made_into_them(http: httpx.Client, body: bytes) -> None:
    answer = http.post("/v1/orgs", content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, 413)


@pytest.mark.parametrize("size", [1, 1000, 65_536])
def test_signs_in_a_text_are_no_values(http: httpx.Client, size: int) -> None:
    text = json.dumps({"title": "x", "x": '[{",\\"' * (VALUES_MAX if size > 1 else 1000)}).encode()
    pieces = (text[start : start + size] for start in range(0, len(text), size))
    answer = http.post("/v1/orgs", content=pieces, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400, answer.text
    assert "title: String should have at least 2" in answer.json()["error"]["message"]


@pytest.mark.long
def test_large_bodies_are_received_only_so_many_at_once(server: tuple[str, str]) -> None:
    url, token = server
    host, port = url.removeprefix("http://").split(":")
    head = f"POST /v1/orgs HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
    with contextlib.ExitStack() as stack:
        connections: list[socket.socket] = []
        with contextlib.suppress(ConnectionError):
            for _ in range(BODIES_BYTES_MAX // BODY_BYTES_MAX + 1):
                connection = stack.enter_context(socket.create_connection((host, int(port)), timeout=60))
                connections.append(connection)
                connection.sendall(f"{head}Content-Length: {BODY_BYTES_MAX}\r\n\r\n".encode())
                for _ in range(BODY_BYTES_MAX // 2**20 - 1):
                    connection.sendall(b" " * 2**20)
        # The server reads them side by side: it may be any of them whose next bytes are too many.
        refused, _, _ = select.select(connections, [], [], 60)
        assert refused
        assert all(one.recv(4096).startswith(b"HTTP/1.1 503 ") for one in refused)
    assert httpx.get(f"{url}/v1/user", headers={"Authorization": f"Bearer {token}"}, trust_env=False).is_success


def at_once(*asked: Callable[[], httpx.Response]) -> list[httpx.Response]:
    with ThreadPoolExecutor(len(asked)) as pool:
        return [each.result() for each in [pool.submit(one) for one in asked]]


def statuses(answers: list[httpx.Response]) -> list[int]:
    return sorted(answer.status_code for answer in answers)


def test_of_two_merges_at_once_one_happens(either: World) -> None:
    space = either.space()["id"]
    page = {"operation": "insert_page", "title": "New", "document": {"markdown": "# New\n"}}
    path = {"spaceId": space, "changeRequestId": either.change_request(space, changes=[page])["id"]}
    answers = at_once(*[lambda: either.call("mergeChangeRequest", path)] * 4)
    assert statuses(answers) == [200, 409, 409, 409]
    titles = [page["title"] for page in either.made("listPages", {"spaceId": space})["pages"]]
    assert titles == ["Home", "New"]


def test_content_that_many_write_at_once_is_all_there(either: World) -> None:
    space = either.space()["id"]
    path = {"spaceId": space, "changeRequestId": either.change_request(space)["id"]}

    def write(number: int) -> Callable[[], httpx.Response]:
        page = {"operation": "insert_page", "title": f"Page {number}", "document": {"markdown": f"# Page {number}\n"}}
        return lambda: either.call("updateChangeRequestContent", path, body={"changes": [page]})

    answers = at_once(*map(write, range(8)))
    assert statuses(answers) == [200] * 8
    pages = either.made("listPagesInChangeRequest", path)["pages"]
    assert sorted(page["title"] for page in pages) == ["Home", *(f"Page {number}" for number in range(8))]
    assert len({page["path"] for page in pages}) == 9


def test_what_may_be_there_once_is_there_once(either: World) -> None:
    user = either.person("read")[0]
    space = either.space()["id"]
    site = {"siteId": either.site(space)["id"]}
    variant = either.made("listSiteSpaces", site)["items"][0]["id"]
    to = {"source": "/same", "destination": {"kind": "site-space", "siteSpaceId": variant}}
    team = {"teamId": either.made("createOrganizationTeam", body={"title": "Writers"})["id"], "userId": user}
    comment = {"spaceId": space}
    comment["commentId"] = either.made("postCommentInSpace", comment, body={"body": {"markdown": "Hm."}})["id"]
    spec = {"slug": "same", "source": {"text": "{}"}}
    made = {
        "createSiteRedirect": (site, to, [201, 409, 409, 409]),
        "addSpaceToSite": (site, {"spaceId": space}, [201] * 4),
        "addMemberToOrganizationTeamById": (team, {}, [200] * 4),
        "updateCommentInSpace": (comment, {"addedReactions": ["tada"]}, [200] * 4),
        "createOpenAPISpec": ({}, spec, [201, 409, 409, 409]),
        "updateSiteById": (site, {"basename": "the-same"}, [200] * 4),
    }
    for operation, (path, body, expected) in made.items():
        ask = partial(either.call, operation, path, body=body)
        answers = at_once(*[ask] * 4)
        assert statuses(answers) == expected, (operation, [answer.text for answer in answers])
    paths = [item["path"] for item in either.made("listSiteSpaces", site)["items"]]
    assert len(set(paths)) == len(paths) == 5
    assert len(either.made("getCommentInSpace", comment)["reactions"][0]["users"]) == 1
    assert either.made("listTeamMembersInOrganizationById", team)["count"] == 1


def test_a_list_that_is_deleted_from_while_it_is_read_loses_nothing_else(either: World) -> None:
    ids = [either.made("createCollection", body={"title": f"C{number}"})["id"] for number in range(9)]
    met: list[str] = []
    query: dict[str, Any] = {"limit": 2}
    while True:
        answer = either.made("listCollectionsInOrganizationById", query=query)
        met += [item["id"] for item in answer["items"]]
        either.made("deleteCollectionById", {"collectionId": met[-1]})
        if "next" not in answer:
            break
        query["page"] = answer["next"]["page"]
    assert met == ids


def test_a_space_is_purged_or_restored_and_never_half(either: World) -> None:
    space = either.space()["id"]
    path = {"spaceId": space}
    asked = (lambda: either.call("deleteSpaceById", path), lambda: either.call("restoreSpace", path))
    answers = at_once(*asked * 3)
    assert set(statuses(answers)) <= {200, 204, 404}
    assert either.call("getSpaceById", path).status_code == 200
