"""Docs sites: the sites themselves, their publication, their structure, their visitors, and their share links."""

from typing import Any

from tests.contract.probe import Ask, probe
from tests.contract.world import World

BOOLEAN = {"type": "boolean", "description": "Whether the visitor takes part in the beta"}
SCHEMA = {"type": "object", "properties": {"isBetaUser": BOOLEAN}, "additionalProperties": False}


def _made(world: World, **members: Any) -> dict[str, str]:
    return {"siteId": world.site(world.space()["id"], **members)["id"]}


@probe("listSites")
def probe_list_sites(world: World) -> Ask:
    for number in range(3):
        world.site(title=f"Site {number}")
    return Ask(items=3, invalid_query=({"published": "perhaps"}, {"type": "gold"}, {"title": "x" * 129}))


@probe("createSite")
def probe_create_site(world: World) -> Ask:
    body = {"type": "basic", "title": "Docs", "visibility": "unlisted", "spaces": [world.space()["id"]]}
    wrong: list[dict[str, Any]] = [
        {"title": "x"},
        {"title": "x" * 129},
        {"title": None},
        {"type": "gold"},
        {"visibility": "private"},
        {"spaces": "all"},
        {"spaces": ["x" * 101]},
        {"spaces": ["x"] * 101},
    ]

    def check(answer: Any) -> None:
        assert (answer["visibility"], answer["published"], answer["siteSpaces"]) == ("unlisted", False, 1)

    assert world.made("createSite")["siteSpaces"] == 0
    return Ask(body=body, status=201, invalid=tuple(body | one for one in wrong), check=check)


@probe("getSiteById")
def probe_get_site_by_id(world: World) -> Ask:
    return Ask(_made(world))


@probe("updateSiteById")
def probe_update_site_by_id(world: World) -> Ask:
    path = _made(world)
    variant = world.made("listSiteSpaces", path)["items"][0]["id"]
    body = {
        "title": "Better docs",
        "visibility": "visitor-auth",
        "basename": f"better-{path['siteId'].lower()}",
        "adaptiveContent": {"enabled": True},
        "agentsContext": "included",
        "defaultSiteSpace": variant,
        "proxy": "example.com/docs",
    }
    wrong: list[dict[str, Any]] = [
        *({name: None} for name in body if name != "proxy"),
        {"title": "x"},
        {"basename": "Not lower"},
        {"basename": "x" * 101},
        {"visibility": "secret"},
        {"adaptiveContent": {}},
        {"agentsContext": "maybe"},
        {"defaultSiteSpace": "nothing"},
        {"defaultSiteSection": "nothing"},
        *({"proxy": proxy} for proxy in ("example.com", "example/docs", "a.example/docs\n", "https://a.example/b", "")),
    ]

    def check(answer: Any) -> None:
        assert answer["proxy"]["origin"] == "example.com/docs"
        assert {feature["id"] for feature in answer["features"]} >= {"sites-adaptive-content"}

    return Ask(path, body=body, invalid=tuple(wrong), check=check)


@probe("deleteSiteById")
def probe_delete_site_by_id(world: World) -> Ask:
    return Ask(_made(world), status=204)


@probe("publishSite")
def probe_publish_site(world: World) -> Ask:
    def check(answer: Any) -> None:
        assert answer["published"]
        assert answer["urls"]["published"]

    return Ask(_made(world), check=check)


@probe("unpublishSite")
def probe_unpublish_site(world: World) -> Ask:
    path = _made(world)
    world.made("publishSite", path)
    return Ask(path)


@probe("getPublishedContentSite")
def probe_get_published_content_site(world: World) -> Ask:
    path = _made(world)
    world.made("publishSite", path)
    variant = world.made("listSiteSpaces", path)["items"][0]["id"]
    world.made(
        "overrideSiteSpaceCustomizationById", path | {"siteSpaceId": variant}, body={"styling": {"theme": "bold"}}
    )

    def check(answer: Any) -> None:
        assert answer["structure"]["type"] == "siteSpaces"
        assert answer["customizations"]["siteSpaces"][variant]["styling"]["theme"] == "bold"

    return Ask(path, invalid_query=({"shareKey": ""},), check=check)


@probe("getSiteStructure")
def probe_get_site_structure(world: World) -> Ask:
    path = _made(world)
    section = world.made("addSectionToSite", path, body={"spaceId": world.space("API")["id"]})
    world.made("addSectionGroupToSite", path, body={"title": "Guides", "sections": [section["id"]]})

    def check(answer: Any) -> None:
        assert [item["object"] for item in answer["structure"]] == ["site-section", "site-section-group"]
        assert [child["id"] for child in answer["structure"][1]["children"]] == [section["id"]]

    return Ask(path, invalid_query=({"shareKey": "x" * 129},), check=check)


@probe("sortSiteStructure")
def probe_sort_site_structure(world: World) -> Ask:
    path = {"siteId": world.site(*(world.space(title)["id"] for title in ("One", "Two", "Three")))["id"]}
    first, second, third = (
        {"type": "site-space", "id": row["id"]} for row in world.made("listSiteSpaces", path)["items"]
    )
    body = {"item": third, "position": {"before": first}}
    elsewhere = {"type": "site-space", "id": "nothing"}
    wrong: list[dict[str, Any]] = [
        {"item": third},
        {"position": {}},
        body | {"item": {"type": "page", "id": third["id"]}},
        *(body | {"position": {"before": other}} for other in (third, elsewhere, None)),
        body | {"position": {"before": first, "after": second}},
    ]

    def check(answer: Any) -> None:
        assert answer["id"] == third["id"]
        order = [row["id"] for row in world.made("listSiteSpaces", path)["items"]]
        assert order == [third["id"], first["id"], second["id"]]

    return Ask(path, body=body, invalid=tuple(wrong), check=check)


@probe("getSiteAdaptiveSchema")
def probe_get_site_adaptive_schema(world: World) -> Ask:
    path = _made(world)
    world.made("updateSiteAdaptiveSchema", path, body={"jsonSchema": SCHEMA})
    return Ask(path)


@probe("updateSiteAdaptiveSchema")
def probe_update_site_adaptive_schema(world: World) -> Ask:
    wrong: list[dict[str, Any]] = [
        {},
        {**SCHEMA, "additionalProperties": True},
        {**SCHEMA, "type": "array"},
        {**SCHEMA, "properties": {"a": {"type": "boolean"}}},
        {**SCHEMA, "properties": {"a": {"$ref": "https://example.com/schema"}}},
        {**SCHEMA, "properties": {'a"b': BOOLEAN}},
        {**SCHEMA, "$ref": "#"},
    ]
    invalid = [{}, {"jsonSchema": None}, *({"jsonSchema": one} for one in wrong)]
    return Ask(_made(world), body={"jsonSchema": SCHEMA}, invalid=tuple(invalid))


@probe("listSiteAdaptiveTemplateConditions")
def probe_list_site_adaptive_template_conditions(world: World) -> Ask:
    path = _made(world)
    world.made("updateSiteAdaptiveSchema", path, body={"jsonSchema": SCHEMA})

    def check(answer: Any) -> None:
        assert [item["condition"] for item in answer["items"]] == ["visitor.claims.isBetaUser === true"]

    return Ask(path, check=check)


@probe("listSiteShareLinks")
def probe_list_site_share_links(world: World) -> Ask:
    path = _made(world, visibility="share-link")
    for number in range(3):
        world.made("createSiteShareLink", path, body={"name": f"Link {number}"})
    return Ask(path, items=3)


@probe("createSiteShareLink")
def probe_create_site_share_link(world: World) -> Ask:
    return Ask(_made(world), body={"name": "For friends"}, status=201, invalid=({}, {"name": None}, {"name": "x" * 51}))


@probe("updateSiteShareLinkById")
def probe_update_site_share_link_by_id(world: World) -> Ask:
    path = _made(world)
    path["shareLinkId"] = world.made("createSiteShareLink", path, body={"name": "For friends"})["id"]
    wrong: tuple[dict[str, Any], ...] = ({}, {"active": None}, {"name": None}, {"name": "x" * 51})

    def check(answer: Any) -> None:
        assert (answer["name"], answer["active"]) == ("For friends", False)

    return Ask(path, body={"active": False}, invalid=wrong, check=check)


@probe("deleteSiteShareLinkById")
def probe_delete_site_share_link_by_id(world: World) -> Ask:
    path = _made(world)
    path["shareLinkId"] = world.made("createSiteShareLink", path, body={"name": "For friends"})["id"]
    return Ask(path, status=204)
