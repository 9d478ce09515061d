"""Visitors of a site: published addresses, and how those are let in whom a site's owner knows."""

from typing import Any

from tests.contract.probe import Ask, probe
from tests.contract.world import World


def _publish(world: World) -> dict[str, Any]:
    site = world.site(world.space()["id"])
    return dict(world.made("publishSite", {"siteId": site["id"]}))


@probe("getPublishedContentByUrl")
def probe_get_published_content_by_url(world: World) -> Ask:
    site = _publish(world)

    def check(answer: Any) -> None:
        assert (answer["site"], answer["pathname"], answer["complete"]) == (site["id"], "/", True)

    query = {"url": site["urls"]["published"]}
    wrong = ({"url": ""}, {"url": "x" * 4097}, query | {"visitorAuthToken": "x" * 8193})
    return Ask(query=query, invalid_query=wrong, outsider=None, is_open=True, check=check)


@probe("resolvePublishedContentByUrl")
def probe_resolve_published_content_by_url(world: World) -> Ask:
    site = _publish(world)
    body = {"url": site["urls"]["published"], "visitor": {"type": "human", "unsignedClaims": {}}}
    wrong: tuple[dict[str, Any], ...] = (
        {"url": ""},
        {"url": "x" * 4097},
        {"visitor": {"type": "dog"}},
        {"visitor": {"jwtToken": "x" * 8193}},
    )

    def check(answer: Any) -> None:
        assert (answer["site"], answer["pathname"], answer["complete"]) == (site["id"], "/", True)

    # What a visitor gets belongs to no organization: anybody may ask for it.
    return Ask(body=body, invalid=tuple(body | one for one in wrong), outsider=None, is_open=True, check=check)


@probe("getSitePublishingAuthById")
def probe_get_site_publishing_auth_by_id(world: World) -> Ask:
    return Ask({"siteId": _publish(world)["id"]})


@probe("updateSitePublishingAuthById")
def probe_update_site_publishing_auth_by_id(world: World) -> Ask:
    body = {"fallbackURL": "https://example.com/login"}
    wrong: tuple[Any, ...] = ({"fallbackURL": "javascript:alert(1)"}, {"fallbackURL": 1})

    def check(answer: Any) -> None:
        assert answer["fallbackURL"] == body["fallbackURL"]

    return Ask({"siteId": _publish(world)["id"]}, body=body, invalid=wrong, check=check)


@probe("regenerateSitePublishingAuthById")
def probe_regenerate_site_publishing_auth_by_id(world: World) -> Ask:
    path = {"siteId": _publish(world)["id"]}
    former = world.made("getSitePublishingAuthById", path)["privateKey"]

    def check(answer: Any) -> None:
        assert answer["privateKey"] != former

    return Ask(path, check=check)


def _count(world: World, path: dict[str, str], *types: str) -> None:
    world.made("trackEventsInSiteById", path, body={"events": [{"type": one} for one in types]})


@probe("trackEventsInSiteById")
def probe_track_events_in_site_by_id(world: World) -> Ask:
    body = {"events": [{"type": "page_view", "location": {"page": None}}, {"type": "search_open"}]}
    wrong: tuple[Any, ...] = ({}, {"events": None}, {"events": [{}]}, {"events": [{"type": "x" * 51}]}, {"events": [7]})
    unknown = ("organizationId", "siteId")
    return Ask({"siteId": _publish(world)["id"]}, body=body, status=204, invalid=wrong, unknown=unknown, is_open=True)


@probe("listSiteEventCounts")
def probe_list_site_event_counts(world: World) -> Ask:
    path = {"siteId": _publish(world)["id"]}
    _count(world, path, "page_view", "page_view", "search_open", "ask_view")

    def check(answer: Any) -> None:
        assert {one["type"]: one["count"] for one in answer["items"]} == {
            "page_view": 2,
            "search_open": 1,
            "ask_view": 1,
        }

    return Ask(path, items=3, check=check)


@probe("getEmbedByUrlInSpace")
def probe_get_embed_by_url_in_space(world: World) -> Ask:
    wrong = tuple({"url": one} for one in ("", "javascript:alert(1)", "/x", "https://", "http://[", "x" * 4097))

    def check(answer: Any) -> None:
        assert answer == {"type": "link", "title": "A talk", "site": "example.com"}

    query = {"url": "https://www.example.com/talks/A%20talk/?x=1"}
    return Ask({"spaceId": world.space()["id"]}, query=query, invalid_query=wrong, check=check)
