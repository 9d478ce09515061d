"""Site redirects."""

from typing import Any

from tests.contract.probe import Ask, probe
from tests.contract.world import World

_WRONG_SOURCES = ("", "/", "old", "/old/", "//", "/a b", "/" + "x" * 512, 7, None)


def _made(world: World, source: str = "/old") -> tuple[dict[str, str], dict[str, Any]]:
    site = world.site(world.space()["id"])
    path = {"siteId": site["id"]}
    variant = world.made("listSiteSpaces", path)["items"][0]
    body = {"source": source, "destination": {"kind": "site-space", "siteSpaceId": variant["id"]}}
    return path, body


@probe("listSiteRedirects")
def probe_list_site_redirects(world: World) -> Ask:
    path, body = _made(world)
    for number in range(3):
        world.made("createSiteRedirect", path, body=body | {"source": f"/old/{number}"})
    return Ask(path, items=3, invalid_query=({"search": "x" * 513},))


@probe("createSiteRedirect")
def probe_create_site_redirect(world: World) -> Ask:
    path, body = _made(world)
    world.made("createSiteRedirect", path, body=body | {"source": "/taken"})
    wrong: list[dict[str, Any]] = [body | {"source": source} for source in _WRONG_SOURCES]
    nowhere = body | {"destination": {"kind": "site-space", "siteSpaceId": "nothing"}}
    strange = body | {"destination": {"kind": "elsewhere"}}
    return Ask(path, body=body, status=201, invalid=(*wrong, nowhere, strange, {"source": "/old"}))


@probe("updateSiteRedirectById")
def probe_update_site_redirect_by_id(world: World) -> Ask:
    path, body = _made(world)
    redirect = world.made("createSiteRedirect", path, body=body)
    path["siteRedirectId"] = redirect["id"]
    changed = {"source": "/new"}

    def check(answer: Any) -> None:
        assert answer["source"] == "/new"
        assert answer["destination"] == body["destination"]

    return Ask(path, body=changed, invalid=({"source": None}, {"source": "new"}, {"destination": None}), check=check)


@probe("deleteSiteRedirectById")
def probe_delete_site_redirect_by_id(world: World) -> Ask:
    path, body = _made(world)
    path["siteRedirectId"] = world.made("createSiteRedirect", path, body=body)["id"]
    return Ask(path, status=204)


@probe("getSiteRedirectBySource")
def probe_get_site_redirect_by_source(world: World) -> Ask:
    path, body = _made(world)
    world.made("createSiteRedirect", path, body=body)
    wrong: tuple[dict[str, Any], ...] = ({"source": "old"}, {"source": ""}, {"shareKey": ""}, {"shareKey": "x" * 129})
    return Ask(path, query={"source": "/old"}, invalid_query=wrong)


@probe("bulkUpsertSiteRedirects")
def probe_bulk_upsert_site_redirects(world: World) -> Ask:
    path, body = _made(world)
    items = [body, {"source": "/gone", "destination": None}, {"source": "nowhere", "destination": None}]

    def check(answer: Any) -> None:
        assert [result["status"] for result in answer["results"]] == ["created", "deleted", "error"]

    return Ask(path, body={"redirects": items}, invalid=({}, {"redirects": []}, {"redirects": [7]}), check=check)
