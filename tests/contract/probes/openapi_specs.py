"""OpenAPI specifications."""

import json
from typing import Any

from tests.contract.probe import Ask, probe
from tests.contract.world import World

DESCRIPTION = json.dumps({"openapi": "3.1.0", "info": {"title": "Pets", "version": "1"}, "paths": {}})
SOURCE = {"text": DESCRIPTION}
_WRONG_SLUGS = ("", "-a", "a-", "a--b", "a_b", "ä", "a b", "a\n", "a" * 101, 7, None)
_WRONG_SOURCES: tuple[Any, ...] = (
    *(None, {}, "https://api.example/openapi.json", {"text": ""}, {"text": 7}, {"url": "", "text": "x"}),
    *({"url": url} for url in ("", "ftp://api.example/", "http://u:p@api.example/", "http://0x7f.1/", "x" * 2049, 7)),
)


def _made(world: World, slug: str = "pets", *, processed: bool = False) -> dict[str, str]:
    world.made("createOpenAPISpec", body={"slug": slug, "source": SOURCE})
    if processed:
        world.run_jobs()
    return {"specSlug": slug}


@probe("listOpenAPISpecs")
def probe_list_open_api_specs(world: World) -> Ask:
    for number in range(3):
        _made(world, f"pets-{number}")
    return Ask(items=3)


@probe("createOpenAPISpec")
def probe_create_open_api_spec(world: World) -> Ask:
    body = {"slug": "Pets-v2", "source": SOURCE}
    slugs = [{**body, "slug": slug} for slug in _WRONG_SLUGS]
    sources = [{**body, "source": source} for source in _WRONG_SOURCES]

    def check(answer: Any) -> None:
        assert (answer["slug"], answer["processingState"], answer["visibility"]) == ("Pets-v2", "pending", "private")
        assert not {"sourceURL", "lastVersion", "lastProcessedAt", "lastProcessErrorCode"} & set(answer)
        assert world.call("createOpenAPISpec", body=body).status_code == 409

    return Ask(body=body, status=201, invalid=(*slugs, *sources, {"slug": "a"}, {"source": SOURCE}), check=check)


@probe("getOpenAPISpecBySlug")
def probe_get_open_api_spec_by_slug(world: World) -> Ask:
    def check(answer: Any) -> None:
        assert (answer["processingState"], answer["lastProcessedErrors"]) == ("complete", [])
        assert answer["lastVersion"]
        assert "published" not in answer["urls"]

    return Ask(_made(world, processed=True), check=check)


@probe("createOrUpdateOpenAPISpecBySlug")
def probe_create_or_update_open_api_spec_by_slug(world: World) -> Ask:
    path = _made(world, processed=True)
    other = {"source": {"url": "https://api.example/openapi.yaml"}}
    assert world.call("createOrUpdateOpenAPISpecBySlug", {"specSlug": "new"}, body=other).status_code == 201

    def check(answer: Any) -> None:
        assert answer["sourceURL"] == other["source"]["url"]
        assert answer["processingState"] == "pending"
        assert answer["lastVersion"]

    invalid: tuple[Any, ...] = (*({"source": source} for source in _WRONG_SOURCES), {})
    return Ask(path, body=other, invalid=invalid, unknown=("organizationId",), check=check)


@probe("updateOpenAPISpecBySlug")
def probe_update_open_api_spec_by_slug(world: World) -> Ask:
    def check(answer: Any) -> None:
        assert answer["visibility"] == "public"
        address = answer["urls"]["published"]
        content = world.target.client.get(address.partition("/v1/")[1] + address.partition("/v1/")[2])
        assert content.text == DESCRIPTION
        assert content.headers["content-type"] == "application/json"

    invalid: tuple[Any, ...] = ({"visibility": "hidden"}, {"visibility": None}, {})
    return Ask(_made(world, processed=True), body={"visibility": "public"}, invalid=invalid, check=check)


@probe("deleteOpenAPISpecBySlug")
def probe_delete_open_api_spec_by_slug(world: World) -> Ask:
    return Ask(_made(world, processed=True), status=204)


@probe("listOpenAPISpecVersionsBySlug")
def probe_list_open_api_spec_versions_by_slug(world: World) -> Ask:
    path = _made(world, processed=True)
    for number in range(2):
        source = {"text": DESCRIPTION.replace("Pets", f"Pets {number}")}
        world.made("createOrUpdateOpenAPISpecBySlug", path, body={"source": source})
        world.run_jobs()
    return Ask(path, items=3)


@probe("getOpenAPISpecVersionById")
def probe_get_open_api_spec_version_by_id(world: World) -> Ask:
    path = _made(world, processed=True)
    return Ask({**path, "versionId": world.made("getOpenAPISpecBySlug", path)["lastVersion"]})


TEXT = "openapi: 3.1.0\ninfo: {title: Pets, version: v1}\npaths: {}\n"


def _made_of_yaml(world: World) -> dict[str, str]:
    world.made("createOpenAPISpec", body={"slug": "pets", "source": {"text": TEXT}})
    world.run_jobs()
    return {"specSlug": "pets", "versionId": "latest"}


@probe("getComputedDocument")
def probe_get_computed_document(world: World) -> Ask:
    _made_of_yaml(world)
    spec = {"spec": {"ref": {"kind": "openapi", "spec": "pets"}}}
    source = {"type": "builtin:openapi", "props": {"doc": "info", "page": "Pets"}, "dependencies": spec}
    body = {"source": source, "seed": "1"}
    wrong = (
        {"source": source},
        {"source": {**source, "type": "integration:a:b"}, "seed": "1"},
        {"source": {**source, "props": {"doc": "operation", "page": "/pets", "method": "cut"}}, "seed": "1"},
        {"source": {**source, "dependencies": {}}, "seed": "1"},
    )
    return Ask({"spaceId": world.space()["id"]}, body=body, invalid=wrong)


@probe("getOpenAPISpecVersionContentById")
def content(world: World) -> Ask:
    path = _made_of_yaml(world)

    def check(answer: Any) -> None:
        only = answer["filesystem"][0]
        assert (only["filename"], only["isEntrypoint"]) == ("openapi.yaml", True)
        assert only["specification"]["info"] == {"title": "Pets", "version": "v1"}
        assert answer["urls"]["public"] is None
        assert answer["url"] == answer["urls"]["source"]

    return Ask(path, check=check)


@probe("getOpenAPISpecVersionContentRawById")
def probe_get_open_api_spec_version_content_raw_by_id(world: World) -> Ask:
    path = _made_of_yaml(world)

    def check(answer: Any) -> None:
        assert answer == {"text": TEXT, "format": "yaml"}

    return Ask(path, check=check)
