"""Site spaces."""

from typing import Any

from tests.contract.probe import Ask, probe
from tests.contract.probes.sections import CONDITIONS, PATHS
from tests.contract.world import World


def _made(world: World) -> tuple[dict[str, str], list[str]]:
    path = {"siteId": world.site(*(world.space(title)["id"] for title in ("Guides", "API", "Blog")))["id"]}
    return path, [row["id"] for row in world.made("listSiteSpaces", path)["items"]]


@probe("listSiteSpaces")
def probe_list_site_spaces(world: World) -> Ask:
    path, _ = _made(world)
    return Ask(path, items=3, invalid_query=({"default": "perhaps"}, {"shareKey": ""}))


@probe("addSpaceToSite")
def probe_add_space_to_site(world: World) -> Ask:
    path, _ = _made(world)
    body = {"spaceId": world.space("More")["id"]}
    wrong: tuple[dict[str, Any], ...] = ({}, {"spaceId": None}, body | {"sectionId": None}, body | {"sectionId": 7})

    def check(answer: Any) -> None:
        assert (answer["title"], answer["path"], answer["default"]) == ("More", "more", False)

    return Ask(path, body=body, status=201, invalid=wrong, check=check)


@probe("updateSiteSpaceById")
def probe_update_site_space_by_id(world: World) -> Ask:
    path, variants = _made(world)
    space = world.space("Version 2")
    body = {"path": "v2", "condition": "visitor.claims.isBetaUser == true", "spaceId": space["id"], "hidden": True}
    wrong: list[dict[str, Any]] = [
        *({"path": one} for one in (*PATHS, None)),
        *({"condition": one} for one in CONDITIONS),
        {"spaceId": None},
        {"hidden": None},
        {"hidden": "perhaps"},
    ]

    def check(answer: Any) -> None:
        assert (answer["path"], answer["condition"], answer["hidden"]) == ("v2", body["condition"], True)
        assert (answer["title"], answer["space"]["id"]) == ("Version 2", space["id"])

    return Ask(path | {"siteSpaceId": variants[1]}, body=body, invalid=tuple(wrong), check=check)


@probe("deleteSiteSpaceById")
def probe_delete_site_space_by_id(world: World) -> Ask:
    path, variants = _made(world)
    return Ask(path | {"siteSpaceId": variants[1]}, status=204)


@probe("moveSiteSpace")
def probe_move_site_space(world: World) -> Ask:
    path, variants = _made(world)
    first, _, third = ({"type": "site-space", "siteSpace": id} for id in variants)
    wrong: list[dict[str, Any]] = [
        {"position": 7},
        {"position": {"after": None}},
        *({"position": {"after": one}} for one in (third, first | {"siteSpace": "nothing"}, {"type": "site-space"})),
    ]

    def check(answer: Any) -> None:
        assert answer["id"] == variants[2]
        order = [row["id"] for row in world.made("listSiteSpaces", path)["items"]]
        assert order == [variants[0], variants[2], variants[1]]

    return Ask(
        path | {"siteSpaceId": variants[2]}, body={"position": {"after": first}}, invalid=tuple(wrong), check=check
    )
