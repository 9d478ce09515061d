"""Visitors of a site: published addresses, and how those are let in whom a site's owner knows."""

from typing import Any

from tests.contract.probe import Ask, probe
from tests.contract.world import World


def _publish(world: World) -> dict[str, Any]:
    site = world.site(world.space()["id"])
    return dict(world.made("publishSite", {"siteId": site["id"]}))


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
    return Ask(body=body, invalid=tuple(body | one for one in wrong), outsider=None, check=check)


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
