"""Site sections."""

from typing import Any

from tests.contract.probe import Ask, probe
from tests.contract.world import World

CONDITIONS = ("", "true", "visitor.beta", "visitor.claims.", "visitor.claims.a =", "(" * 30, "x" * 1025)
PATHS = ("", ".", "..", "a/b", "a b", "x" * 101, 7)


def _made(world: World) -> tuple[dict[str, str], list[str]]:
    path = {"siteId": world.site()["id"]}
    spaces = [world.space(title)["id"] for title in ("Guides", "API", "Blog")]
    sections = [world.made("addSectionToSite", path, body={"spaceId": space})["id"] for space in spaces]
    return path, sections


@probe("listSiteSections")
def probe_list_site_sections(world: World) -> Ask:
    path, _ = _made(world)
    return Ask(path, items=3, invalid_query=({"shareKey": ""}, {"shareKey": "x" * 129}))


@probe("addSectionToSite")
def probe_add_section_to_site(world: World) -> Ask:
    path = {"siteId": world.site()["id"]}
    body = {"spaceId": world.space()["id"], "title": "Guides", "icon": None}
    wrong: list[dict[str, Any]] = [
        {"spaceId": None},
        {"title": "x"},
        {"title": "x" * 129},
        {"icon": "x" * 51},
        {"siteSectionGroupId": None},
    ]

    def check(answer: Any) -> None:
        assert (answer["title"], answer["path"], answer["default"]) == ("Guides", "guides", True)
        assert len(answer["siteSpaces"]) == 1

    invalid = tuple(body | one for one in wrong)
    return Ask(path, body=body, status=201, invalid=(*invalid, {"title": "No space"}), check=check)


@probe("updateSiteSectionById")
def probe_update_site_section_by_id(world: World) -> Ask:
    path, sections = _made(world)
    variants = {row["section"]: row["id"] for row in world.made("listSiteSpaces", path)["items"]}
    body = {
        "title": "Journal",
        "path": "journal",
        "defaultSiteSpace": variants[sections[2]],
        "condition": 'visitor.claims.unsigned.plan === "pro"',
        "icon": "rss",
        "description": "What is new",
    }
    wrong: list[dict[str, Any]] = [
        {"title": "x"},
        {"title": None},
        *({"path": one} for one in (*PATHS, None)),
        *({"condition": one} for one in CONDITIONS),
        {"defaultSiteSpace": variants[sections[0]]},
        {"defaultSiteSpace": None},
        {"icon": "x" * 51},
        {"description": "x" * 257},
        {"siteSectionGroupId": 7},
    ]

    def check(answer: Any) -> None:
        assert {name: answer[name] for name in body if name != "defaultSiteSpace"} == {
            name: value for name, value in body.items() if name != "defaultSiteSpace"
        }

    return Ask(path | {"siteSectionId": sections[2]}, body=body, invalid=tuple(wrong), check=check)


@probe("deleteSiteSectionById")
def probe_delete_site_section_by_id(world: World) -> Ask:
    path, sections = _made(world)
    return Ask(path | {"siteSectionId": sections[0]}, status=204)


@probe("moveSiteSection")
def probe_move_site_section(world: World) -> Ask:
    path, sections = _made(world)
    first, second, third = ({"type": "site-section", "siteSection": id} for id in sections)
    wrong: list[dict[str, Any]] = [
        {"position": None},
        {"position": {"before": None}},
        *(
            {"position": {"before": one}}
            for one in (third, first | {"siteSection": "nothing"}, first | {"type": "page"})
        ),
        {"position": {"before": first, "after": second}},
    ]

    def check(answer: Any) -> None:
        assert answer["id"] == sections[2]
        order = [row["id"] for row in world.made("listSiteSections", path)["items"]]
        assert order == [sections[0], sections[2], sections[1]]

    body = {"position": {"before": second, "after": first}}
    return Ask(path | {"siteSectionId": sections[2]}, body=body, invalid=tuple(wrong), check=check)
