"""Site section groups."""

from typing import Any

from tests.contract.probe import Ask, probe
from tests.contract.world import World

TITLES = ("", "x" * 101, None, 7)


def _made(world: World, groups: int = 1) -> tuple[dict[str, str], list[str], list[str]]:
    path = {"siteId": world.site()["id"]}
    spaces = [world.space(title)["id"] for title in ("Guides", "API")]
    sections = [world.made("addSectionToSite", path, body={"spaceId": space})["id"] for space in spaces]
    made = [world.made("addSectionGroupToSite", path, body={"title": f"Group {at}"})["id"] for at in range(groups)]
    return path, sections, made


@probe("listSiteSectionGroups")
def probe_list_site_section_groups(world: World) -> Ask:
    path, _, groups = _made(world, 2)
    world.made("addSectionGroupToSite", path, body={"title": "Within", "parent": groups[0]})
    return Ask(path, items=3)


@probe("addSectionGroupToSite")
def probe_add_section_group_to_site(world: World) -> Ask:
    path, sections, groups = _made(world)
    body = {"title": "Products", "icon": "gear", "sections": sections[::-1], "parent": groups[0]}
    wrong: list[dict[str, Any]] = [
        *({"title": title} for title in TITLES),
        {"icon": "x" * 51},
        {"sections": None},
        {"sections": "all"},
        {"sections": ["x"] * 101},
        {"parent": None},
    ]

    def check(answer: Any) -> None:
        assert (answer["title"], answer["icon"], answer["sectionGroup"]) == ("Products", "gear", groups[0])
        assert [child["id"] for child in answer["children"]] == sections[::-1]
        assert all(child["sectionGroup"] == answer["id"] for child in answer["children"])

    invalid = tuple(body | one for one in wrong)
    return Ask(path, body=body, status=201, invalid=(*invalid, {"icon": "gear"}), check=check)


@probe("updateSiteSectionGroupById")
def probe_update_site_section_group_by_id(world: World) -> Ask:
    path, _, groups = _made(world)
    wrong: list[dict[str, Any]] = [
        *({"title": title} for title in TITLES),
        {"icon": "x" * 51},
        {"parentSectionGroupId": groups[0]},
    ]

    def check(answer: Any) -> None:
        assert answer["title"] == "Better"
        assert "icon" not in answer

    body = {"title": "Better", "icon": None}
    return Ask(path | {"siteSectionGroupId": groups[0]}, body=body, invalid=tuple(wrong), check=check)


@probe("deleteSiteSectionGroupById")
def probe_delete_site_section_group_by_id(world: World) -> Ask:
    path, _, groups = _made(world)
    return Ask(path | {"siteSectionGroupId": groups[0]}, status=204)


@probe("addSectionToGroup")
def probe_add_section_to_group(world: World) -> Ask:
    path, sections, groups = _made(world)

    def check(answer: Any) -> None:
        assert [child["id"] for child in answer["children"]] == [sections[0]]

    body = {"sectionId": sections[0]}
    wrong: tuple[dict[str, Any], ...] = ({}, {"sectionId": None}, {"sectionId": "x" * 101})
    return Ask(path | {"siteSectionGroupId": groups[0]}, body=body, status=201, invalid=wrong, check=check)


@probe("removeSectionFromGroup")
def probe_remove_section_from_group(world: World) -> Ask:
    path, sections, groups = _made(world)
    path["siteSectionGroupId"] = groups[0]
    world.made("addSectionToGroup", path, body={"sectionId": sections[0]})
    return Ask(path | {"siteSectionId": sections[0]}, status=204)


@probe("moveSiteSectionGroup")
def probe_move_site_section_group(world: World) -> Ask:
    path, sections, groups = _made(world, 2)
    group, section = ({"type": "site-section-group", "id": groups[0]}, {"type": "site-section", "id": sections[0]})
    wrong: list[dict[str, Any]] = [
        {"position": None},
        *({"position": {"before": one}} for one in (None, group | {"id": "nothing"}, group | {"type": "page"})),
        {"position": {"before": {"type": "site-section-group", "id": groups[1]}}},
    ]

    def check(answer: Any) -> None:
        assert answer["id"] == groups[1]
        order = [item["id"] for item in world.made("getSiteStructure", path)["structure"]]
        assert order == [groups[1], *sections, groups[0]]

    body = {"position": {"before": section}}
    return Ask(path | {"siteSectionGroupId": groups[1]}, body=body, invalid=tuple(wrong), check=check)
