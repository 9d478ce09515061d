"""Spaces, from creation to deletion, and moving them."""

from typing import Any

from tests.contract.probe import Ask, probe
from tests.contract.probes.collections import collection
from tests.contract.world import World

_TITLES: tuple[Any, ...] = ("", "x" * 51, 7)


def _space(world: World, **more: Any) -> dict[str, str]:
    return {"spaceId": world.made("createSpace", body={"title": "Guides", **more})["id"]}


@probe("listSpacesInOrganizationById")
def probe_list_spaces_in_organization_by_id(world: World) -> Ask:
    for _ in range(3):
        _space(world)
    world.made("deleteSpaceById", _space(world))
    return Ask(items=3)


@probe("createSpace")
def probe_create_space(world: World) -> Ask:
    parent = collection(world)["collectionId"]
    body = {"title": "New", "emoji": "1f3e0", "language": "pt-br", "editMode": "locked", "parent": parent}
    wrong = (
        *({"title": title} for title in _TITLES),
        *({"emoji": emoji} for emoji in ("", "x" * 65, "a b")),
        {"language": "klingon"},
        {"editMode": "open"},
        {"empty": "maybe"},
    )
    assert world.call("createSpace", body={"parent": "nothing"}).status_code == 404

    def check(answer: Any) -> None:
        assert {name: answer[name] for name in body} == body
        assert answer["visibility"] == "in-collection"

    return Ask(body=body, status=201, invalid=wrong, check=check)


@probe("getSpaceById")
def probe_get_space_by_id(world: World) -> Ask:
    return Ask(_space(world), query={"shareKey": "a-key"}, invalid_query=({"shareKey": "x" * 257},))


@probe("updateSpaceById")
def probe_update_space_by_id(world: World) -> Ask:
    body = {
        "editMode": "locked",
        "title": "Manual",
        "defaultLevel": "comment",
        "language": "fr",
        "mergeRules": {"type": "rules", "rules": [{"rule": "require_at_least_one_review"}]},
        "emoji": "1f4d6",
    }
    rules: tuple[Any, ...] = (None, {"type": "rules"}, {"type": "other"}, [])
    wrong: tuple[Any, ...] = (
        *({"title": title} for title in (*_TITLES, None)),
        *({"editMode": mode} for mode in ("open", None)),
        {"defaultLevel": "owner"},
        *({"language": language} for language in ("klingon", None)),
        *({"mergeRules": one} for one in rules),
        {"icon": "javascript:alert(1)"},
        {"icon": "https://example.com/i.png", "emoji": "1f4d6"},
    )

    def check(answer: Any) -> None:
        assert {name: answer[name] for name in body} == body

    return Ask(_space(world), body=body, invalid=wrong, check=check)


@probe("deleteSpaceById")
def probe_delete_space_by_id(world: World) -> Ask:
    return Ask(_space(world), status=204, outsider=204)


@probe("duplicateSpace")
def probe_duplicate_space(world: World) -> Ask:
    space = world.space("A title as long as a title of a space may be, fifty"[:50])

    def check(answer: Any) -> None:
        assert answer["id"] != space["id"]
        assert answer["title"].endswith(" (copy)")
        pages = [world.made("getCurrentRevision", {"spaceId": id})["pages"] for id in (space["id"], answer["id"])]
        assert [page["id"] for page in pages[0]] == [page["id"] for page in pages[1]]

    return Ask({"spaceId": space["id"]}, status=201, check=check)


@probe("restoreSpace")
def probe_restore_space(world: World) -> Ask:
    path = _space(world)
    world.made("deleteSpaceById", path)

    def check(answer: Any) -> None:
        assert "deletedAt" not in answer

    return Ask(path, check=check)


@probe("moveSpace")
def probe_move_space(world: World) -> Ask:
    path, parent = _space(world), collection(world)["collectionId"]
    beside = _space(world, parent=parent)["spaceId"]
    wrong: tuple[Any, ...] = (
        {"position": {"after": {"type": "space", "space": beside}}},
        {"parent": parent, "position": {"after": {"type": "space", "space": path["spaceId"]}}},
        {"parent": parent, "position": {"after": {"type": "space", "space": beside, "collection": parent}}},
        {"parent": parent, "position": {"after": {"type": "page", "space": beside}}},
        {"parent": parent, "position": None},
        {"parent": 7},
    )
    refused: tuple[tuple[Any, int], ...] = (({}, 409), ({"parent": None}, 409), ({"parent": "nothing"}, 404))
    for change, status in refused:
        assert world.call("moveSpace", path, body=change).status_code == status

    def check(answer: Any) -> None:
        assert answer["parent"] == parent

    body = {"parent": parent, "position": {"after": {"type": "space", "space": beside}}}
    return Ask(path, body=body, invalid=wrong, check=check)


@probe("transferSpace")
def probe_transfer_space(world: World) -> Ask:
    target = world.made("createOrganization", body={"title": "Target"})["id"]
    path = _space(world)
    for organization, status in ((world.organization, 409), ("nothing", 404)):
        assert world.call("transferSpace", path, body={"organization": organization}).status_code == status
    published = world.space()["id"]
    world.site(published)
    assert world.call("transferSpace", {"spaceId": published}, body={"organization": target}).status_code == 412

    def check(answer: Any) -> None:
        assert answer["organization"] == target

    body = {"organization": target}
    return Ask(path, body=body, invalid=({}, {"organization": None}, {"organization": 7}), check=check)
