"""Site customization."""

from typing import Any

from tests.contract.probe import Ask, probe
from tests.contract.world import World


def _made(world: World) -> tuple[dict[str, str], dict[str, str]]:
    path = {"siteId": world.site(world.space()["id"])["id"]}
    return path, path | {"siteSpaceId": world.made("listSiteSpaces", path)["items"][0]["id"]}


@probe("getSiteCustomizationById")
def probe_get_site_customization_by_id(world: World) -> Ask:
    return Ask(_made(world)[0])


@probe("updateSiteCustomizationById")
def probe_update_site_customization_by_id(world: World) -> Ask:
    path, _ = _made(world)
    settings = world.made("getSiteCustomizationById", path)
    footer = {
        "groups": [{"title": "More", "links": [{"title": "Home", "to": {"kind": "url", "url": "https://a.example"}}]}]
    }
    required = settings.keys() - {"internationalization"}
    body = settings | {"title": "Docs", "footer": footer | {"copyright": "Example"}}

    def other(**members: Any) -> dict[str, Any]:
        return {**body, **members}

    styling = body["styling"]
    link: dict[str, Any] = {"title": "Home", "to": None, "links": []}
    message: dict[str, Any] = {"enabled": True, "message": "News", "style": "info"}
    wrong: list[dict[str, Any]] = [
        *({name: value for name, value in body.items() if name != missing} for missing in required),
        *(other(**{name: None}) for name in body),
        *(other(title=title) for title in ("x", "x" * 129, 7)),
        other(styling=styling | {"primaryColor": {"light": "#fff", "dark": "white"}}),
        other(styling=styling | {"primaryColor": {"light": "#fff"}}),
        other(styling=styling | {"font": "Comic"}),
        other(favicon={"icon": {"light": "javascript:alert(1)", "dark": "https://a.example/i.png"}}),
        other(header={"links": [link | {"condition": "visitor.beta"}]}),
        other(header={"links": [link | {"title": "x" * 65}]}),
        other(header={"links": [link | {"to": {"kind": "page"}}]}),
        other(header={"links": [link | {"to": {"kind": "url", "url": "javascript:alert(1)"}}]}),
        other(header={"links": [link | {"to": {"kind": "space", "space": "a", "page": "b"}}]}),
        other(footer=footer | {"copyright": "x" * 301}),
        other(announcement=message | {"message": "x"}),
        other(announcement=message | {"style": "loud"}),
        other(pdf={"enabled": "yes"}),
        other(privacyPolicy={"url": "ftp://a.example"}),
    ]

    def check(answer: Any) -> None:
        assert answer == body
        assert world.made("getSiteCustomizationById", path) == body

    return Ask(path, body=body, invalid=tuple(wrong), check=check)


@probe("getSiteSpaceCustomizationById")
def probe_get_site_space_customization_by_id(world: World) -> Ask:
    return Ask(_made(world)[1])


@probe("overrideSiteSpaceCustomizationById")
def probe_override_site_space_customization_by_id(world: World) -> Ask:
    site, path = _made(world)
    settings = world.made("getSiteCustomizationById", site)
    colors = {"light": "#000", "dark": "#ABCDEF"}
    body = {"title": "Version 2", "header": {"backgroundColor": colors}, "styling": {"theme": "bold"}, "favicon": None}
    wrong: list[dict[str, Any]] = [
        {"title": "x"},
        {"styling": {"font": "Inter"}},
        {"styling": {"monospaceFont": "FiraCode"}},
        *({name: settings[name]} for name in ("ai", "advancedCustomization", "pageActions", "insights")),
        {"header": {"backgroundColor": {"light": "#000"}}},
        {"themes": {"default": "dim"}},
        {"announcement": {"enabled": True}},
    ]

    def check(answer: Any) -> None:
        assert answer == settings | {
            "title": "Version 2",
            "header": settings["header"] | {"backgroundColor": colors},
            "styling": settings["styling"] | {"theme": "bold"},
        }

    return Ask(path, body=body, invalid=tuple(wrong), check=check)


@probe("deleteSiteSpaceCustomizationById")
def probe_delete_site_space_customization_by_id(world: World) -> Ask:
    _, path = _made(world)
    world.made("overrideSiteSpaceCustomizationById", path, body={"styling": {"theme": "bold"}})
    return Ask(path, status=204)
