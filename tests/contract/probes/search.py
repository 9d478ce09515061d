"""Searching a space, and an organization."""

from typing import Any

from tests.contract.probe import Ask, probe
from tests.contract.probes._linked import main
from tests.contract.world import World

WRONG_QUERIES = ({"query": ""}, {"query": "x" * 513})
HARBOURS = [{"operation": "insert_page", "title": "Port", "document": {"markdown": "# Port\n\nA harbour.\n"}}]


@probe("searchSpaceContent")
def probe_search_space_content(world: World) -> Ask:
    path, _ = main(world)

    def check(shown: Any) -> None:
        assert {item["title"] for item in shown["items"]} == {"Note 0", "Note 1", "Note 2"}

    return Ask(path, query={"query": "note"}, items=3, invalid_query=WRONG_QUERIES, check=check)


@probe("searchOrganizationContent")
def probe_search_organization_content(world: World) -> Ask:
    for number in range(3):
        world.space(f"Harbours {number}", changes=HARBOURS)
    return Ask(query={"query": "a harb"}, items=3, invalid_query=WRONG_QUERIES)


@probe("searchSiteContent")
def probe_search_site_content(world: World) -> Ask:
    ids = [world.space(f"Harbours {number}", changes=HARBOURS)["id"] for number in range(3)]
    site = world.site(ids[0])
    path = {"siteId": site["id"]}
    for id in ids[1:]:
        world.made("addSpaceToSite", path, body={"spaceId": id})
    world.made("publishSite", path)
    body = {"query": "a harb", "scope": {"mode": "all"}}
    scopes: tuple[Any, ...] = ({"mode": "some"}, {"mode": "specific", "siteSpaceIds": []}, {}, 7)
    wrong = (*({"query": query, "scope": body["scope"]} for query in ("", "x" * 513, 7)), {"scope": body["scope"]})

    def check(shown: Any) -> None:
        assert {one["type"] for one in shown["items"]} == {"space"}
        assert [one["pages"][0]["rank"] for one in shown["items"]] == [1, 2, 3]

    return Ask(
        path, body=body, items=3, invalid=(*wrong, *({"query": "a", "scope": one} for one in scopes)), check=check
    )
