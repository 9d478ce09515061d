"""OpenAPI specifications: what is fetched and read, what is wrong with it, and which versions come of it."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from syncd.platform.services.specs.processing import HANDLERS
from syncd.platform.settings import PlatformSettings
from syncd.platform.specs.checker import PROBLEMS_MAX, find_problems
from syncd.platform.specs.parser import JSON, YAML, parse_spec
from syncd.platform.storage import jobs
from syncd.platform.storage.storage import Storage
from tests.due_jobs import run_due_jobs
from tests.peers import answer_with, serve_peer
from tests.platform.clock import Clock
from tests.storages import new_storage

INFO: dict[str, Any] = {"title": "Pets", "version": "1"}
OPENAPI: dict[str, Any] = {"openapi": "3.0.3", "info": INFO, "paths": {}}


def operation(**members: Any) -> dict[str, Any]:
    return {**OPENAPI, "paths": {"/pets": {"get": {"responses": {"200": {"description": "Fine"}}, **members}}}}


def schema(value: Any, version: str = "3.0.3") -> dict[str, Any]:
    return {**OPENAPI, "openapi": version, "components": {"schemas": {"Pet": value}}}


@pytest.mark.parametrize(
    "document",
    [
        OPENAPI,
        {"swagger": 2.0, "info": INFO, "paths": {"/p": {"get": {"responses": {"default": {"description": ""}}}}}},
        {"openapi": "3.1.0", "info": INFO, "webhooks": {}},
        {**OPENAPI, "x-anything": 7, "paths": {"x-more": [], "/a": {"$ref": "#/paths/~1b"}, "/b": {}}},
        operation(parameters=[{"name": "id", "in": "query", "schema": {"type": "string"}}], tags=["pets"]),
        operation(requestBody={"content": {"application/json": {"schema": {"type": "array", "items": {}}}}}),
        schema({"type": "object", "properties": {"next": {"$ref": "#/components/schemas/Pet"}}}),
        schema({"type": "object", "example": {"$ref": "http://a.example/"}, "additionalProperties": False}),
        schema(
            {"type": ["string", "null"], "properties": {"any": True}, "$defs": {"a": {"exclusiveMinimum": 1}}}, "3.1.1"
        ),
    ],
)
def test_a_description_that_can_be_used_has_no_problems(document: Any) -> None:
    assert find_problems(document) == []


@pytest.mark.parametrize(
    ("document", "place", "what"),
    [
        ([], "", "not an object"),
        ({"openapi": "4.0.0", "info": INFO, "paths": {}}, "", "is not OpenAPI"),
        ({"swagger": "3.0", "info": INFO, "paths": {}}, "", "is not OpenAPI"),
        ({"openapi": "3.0.0", "paths": {}}, "info", "must be there"),
        ({"openapi": "3.0.0", "info": INFO}, "paths", "must be there"),
        ({"openapi": "3.1.0", "info": INFO}, "", "needs paths"),
        ({**OPENAPI, "info": {"title": 7, "version": "1"}}, "info.title", "must be text"),
        ({**OPENAPI, "paths": {"pets": {}}}, "paths.pets", "begin with /"),
        ({**OPENAPI, "paths": {"/a": []}}, "paths./a", "must be an object"),
        (operation(responses={"ok": {"description": ""}}), "paths./pets.get.responses.ok", "status code"),
        (operation(responses={"200": {}}), "paths./pets.get.responses.200.description", "must be there"),
        (operation(tags="pets"), "paths./pets.get.tags", "must be an array"),
        (
            operation(parameters=[{"name": "a", "in": "body", "schema": {}}]),
            "paths./pets.get.parameters.0.in",
            "one of",
        ),
        (operation(parameters=[{"name": "a", "in": "query"}]), "paths./pets.get.parameters.0", "needs schema"),
        (schema({"type": "text"}), "components.schemas.Pet.type", "one of"),
        (schema({"type": "integer", "minimum": True}), "components.schemas.Pet.minimum", "number"),
        (schema({"$ref": "#/components/schemas/Cat"}), "components.schemas.Pet", "not there"),
        (schema({"$ref": "file:///etc/passwd"}), "components.schemas.Pet", "outside"),
        (schema({"allOf": [{"$ref": "http://169.254.169.254/"}]}), "components.schemas.Pet.allOf.0", "outside"),
        (
            {**OPENAPI, "components": {"securitySchemes": {"a": {"type": "http"}}}},
            "components.securitySchemes.a.scheme",
            "",
        ),
    ],
)
def test_a_problem_says_where_it_is(document: Any, place: str, what: str) -> None:
    found = find_problems(document)
    assert [problem.place for problem in found] == [place]
    assert what in found[0].what


def test_one_name_for_two_operations_and_what_is_too_deep_or_too_much_is_told() -> None:
    get = {"operationId": "a", "responses": {"200": {"description": ""}}}
    assert len(find_problems({**OPENAPI, "paths": {"/a": {"get": get, "put": get}}})) == 1
    deep: dict[str, Any] = {}
    for _ in range(150):
        deep = {"items": deep}
    assert "nested deeper" in find_problems(schema(deep))[0].what
    assert len(find_problems({**OPENAPI, "paths": {str(number): {} for number in range(100)}})) == PROBLEMS_MAX


@pytest.mark.parametrize(
    ("content", "media_type", "problem"),
    [
        (json.dumps(OPENAPI).encode(), JSON, None),
        (b"\xef\xbb\xbf" + json.dumps(OPENAPI).encode(), JSON, None),
        (b"openapi: 3.1.0\ninfo: {title: Pets, version: 1.0}\npaths: {}\n", YAML, None),
        (b"swagger: 2.0\ninfo: {title: Pets, version: [1]}\npaths: {}\n", YAML, "info.version: must be text"),
        (b"{openapi: 3.0.1, info: {title: a, version: v1}, paths: {}}", YAML, None),
        (b"\xff\xfe", JSON, "is not UTF-8"),
        (b'{"openapi": NaN}', YAML, "is not OpenAPI"),
        (b"[" * 100_000, YAML, "nests deeper"),
        (b'{"a":' * 100_000, JSON, "is not JSON"),
        (b"a: &a [x, x]\nb: *a\n", YAML, "alias"),
        (b"a: !!python/object/apply:os.system [ls]\n", YAML, "tag"),
        (b"{" + b" " * (8 << 20), JSON, "larger than"),
        (b"a: " + b"x" * (2 << 20), YAML, "larger than"),
    ],
)
def test_content_is_read_as_what_it_is(content: bytes, media_type: str, problem: str | None) -> None:
    found = parse_spec(content)
    assert found.media_type == media_type
    told = [str(one) for one in found.problems]
    assert len(told) == (problem is not None), told
    assert all(problem in one for one in told if problem), told


@pytest.fixture
def clock() -> Clock:
    return Clock(hour=8)


@pytest.fixture
def storage(tmp_path: Path, clock: Clock) -> Iterator[Storage]:
    """A platform that lives by the test's clock."""
    with new_storage(tmp_path / "platform", clock=clock) as opened:
        yield opened


@pytest.fixture
def specs(http: httpx.Client, organization: str) -> httpx.Client:
    """The owner's client, whose paths are below the specifications of the organization."""
    http.base_url = http.base_url.join(f"/v1/orgs/{organization}/openapi")
    return http


def run(storage: Storage, *, private: bool = True) -> int:
    return run_due_jobs(jobs.JobContext(storage, PlatformSettings(private_addresses=private)), HANDLERS)


def served(content: bytes, status: int = 200) -> bytes:
    return b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n%b" % (status, len(content), content)


def test_an_address_is_fetched_and_fetched_again_every_six_hours(
    specs: httpx.Client, storage: Storage, clock: Clock
) -> None:
    pages = iter([json.dumps(OPENAPI).encode()] * 2 + [b"openapi: 3.0.0\ninfo: {title: a, version: b}\npaths: {}\n"])
    with serve_peer(lambda peer: peer.sendall(served(next(pages)))) as (port, heads):
        source = {"source": {"url": f"http://127.0.0.1:{port}/openapi.json"}}
        assert specs.put("/pets", json=source).status_code == 201
        met = []
        for _ in range(3):
            run(storage)
            met.append(specs.get("/pets").json())
            clock.now += timedelta(hours=6, seconds=1)
    assert [one["processingState"] for one in met] == ["complete"] * 3
    assert [one["lastProcessedErrors"] for one in met] == [[]] * 3
    assert met[0]["lastVersion"] == met[1]["lastVersion"] != met[2]["lastVersion"]
    assert met[0]["lastProcessedAt"] < met[1]["lastProcessedAt"]
    versions = specs.get("/pets/versions").json()
    assert [one["id"] for one in versions["items"]] == [met[2]["lastVersion"], met[0]["lastVersion"]]
    latest = specs.get("/pets/versions/latest/content/raw").json()
    assert (latest["format"], latest["text"][:7]) == ("yaml", "openapi")
    assert len(heads) == 3
    specs.delete("/pets")
    assert specs.get("/pets").status_code == 404
    clock.now += timedelta(hours=7)
    run(storage)
    assert len(heads) == 3


def test_what_went_wrong_is_told_and_the_good_version_stays(specs: httpx.Client, storage: Storage) -> None:
    good = specs.put("/pets", json={"source": {"text": json.dumps(OPENAPI)}})
    assert good.status_code == 201
    run(storage)
    version = specs.get("/pets").json()["lastVersion"]
    for content, status, code in ((b"<html>", 200, "PARSE_ERROR"), (b"", 404, "FETCH_ERROR")):
        with serve_peer(answer_with(served(content, status))) as (port, _):
            url = f"http://127.0.0.1:{port}/{'s3cret'}"
            assert specs.put("/pets", json={"source": {"url": url}}).json()["processingState"] == "pending"
            run(storage)
        shown = specs.get("/pets").json()
        assert (shown["processingState"], shown["lastProcessErrorCode"], shown["lastVersion"]) == (
            "complete",
            code,
            version,
        )
        assert {problem["code"] for problem in shown["lastProcessedErrors"]} == {code}
        assert "s3cret" not in json.dumps(shown["lastProcessedErrors"])
    specs.put("/pets", json={"source": {"text": json.dumps(OPENAPI)}})
    run(storage)
    shown = specs.get("/pets").json()
    assert "lastProcessErrorCode" not in shown
    assert (shown["lastProcessedErrors"], shown["lastVersion"]) == ([], version)


def test_a_private_address_is_not_fetched(specs: httpx.Client, storage: Storage) -> None:
    with serve_peer(answer_with(served(json.dumps(OPENAPI).encode()))) as (port, heads):
        specs.put("/pets", json={"source": {"url": f"http://127.0.0.1:{port}/"}})
        run(storage, private=False)
    assert specs.get("/pets").json()["lastProcessErrorCode"] == "FETCH_ERROR"
    assert heads == []


def test_a_source_that_was_replaced_meanwhile_comes_to_nothing(specs: httpx.Client, storage: Storage) -> None:
    specs.put("/pets", json={"source": {"text": "one"}})
    specs.put("/pets", json={"source": {"text": json.dumps(OPENAPI)}})
    assert run(storage) == 2
    shown = specs.get("/pets").json()
    assert "lastProcessErrorCode" not in shown
    assert len(specs.get("/pets/versions").json()["items"]) == 1


def test_only_a_public_specification_is_read_without_a_token(specs: httpx.Client, storage: Storage) -> None:
    text = json.dumps(OPENAPI)
    id = specs.put("/pets", json={"source": {"text": text}}).json()["id"]
    run(storage)
    address = str(specs.base_url.join(f"/v1/published/openapi/{id}"))
    assert httpx.get(address, trust_env=False, timeout=30).status_code == 404
    assert specs.patch("/pets", json={"visibility": "public"}).json()["urls"]["published"] == address
    answer = httpx.get(address, trust_env=False, timeout=30)
    assert (answer.text, answer.headers["access-control-allow-origin"]) == (text, "*")
    assert "sandbox" in answer.headers["content-security-policy"]
