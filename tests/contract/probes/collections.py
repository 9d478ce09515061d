"""Collections, and moving them."""

from typing import Any

from tests.contract.probe import Ask, probe
from tests.contract.world import World


def collection(world: World, title: str = "Guides", **more: Any) -> dict[str, str]:
    """Return the path parameters of a new collection."""
    return {"collectionId": world.made("createCollection", body={"title": title, **more})["id"]}


@probe("listCollectionsInOrganizationById")
def probe_list_collections_in_organization_by_id(world: World) -> Ask:
    top = collection(world)["collectionId"]
    for number in range(2):
        collection(world, f"Top {number}")
    inner = collection(world, "Within", parent=top)["collectionId"]
    assert inner in {item["id"] for item in world.made("listCollectionsInOrganizationById")["items"]}
    return Ask(query={"nested": "false"}, items=3, invalid_query=({"nested": "maybe"},))


@probe("createCollection")
def probe_create_collection(world: World) -> Ask:
    parent = collection(world)["collectionId"]
    wrong = ({"title": ""}, {"title": "x" * 51}, {"title": None}, {"title": 7}, {"parent": ""}, {"parent": 7})
    assert world.call("createCollection", body={"parent": "nothing"}).status_code == 404

    def check(answer: Any) -> None:
        assert answer["parent"] == parent

    return Ask(body={"title": "Within", "parent": parent}, status=201, invalid=wrong, check=check)


@probe("getCollectionById")
def probe_get_collection_by_id(world: World) -> Ask:
    return Ask(collection(world))


@probe("updateCollectionById")
def probe_update_collection_by_id(world: World) -> Ask:
    body = {"title": "Manuals", "description": "All of them", "defaultLevel": None}
    wrong = (
        *({"title": title} for title in ("", "x" * 51, None)),
        *({"description": text} for text in ("x" * 101, None, 7)),
        {"defaultLevel": "owner"},
    )

    def check(answer: Any) -> None:
        assert {name: answer[name] for name in body} == body

    return Ask(collection(world), body=body, invalid=wrong, check=check)


@probe("deleteCollectionById")
def probe_delete_collection_by_id(world: World) -> Ask:
    return Ask(collection(world), status=204, outsider=204)


@probe("listSpacesInCollectionById")
def probe_list_spaces_in_collection_by_id(world: World) -> Ask:
    path = collection(world)
    for number in range(3):
        world.made("createSpace", body={"title": f"Space {number}", "parent": path["collectionId"]})
    return Ask(path, items=3)


@probe("moveCollection")
def probe_move_collection(world: World) -> Ask:
    path, target = collection(world), collection(world, "Target")["collectionId"]
    inner = collection(world, "Within", parent=path["collectionId"])["collectionId"]
    first = collection(world, "First", parent=target)["collectionId"]
    here = {"type": "collection", "collection": first}
    wrong: tuple[Any, ...] = (
        {"parent": path["collectionId"]},
        {"parent": inner},
        {"parent": target, "position": {"before": {"type": "collection", "collection": "nothing"}}},
        {"parent": target, "position": {"before": {"type": "space", "space": first}}},
        {"parent": target, "position": {"before": {"type": "collection"}}},
        {"parent": target, "position": {"before": here, "after": here}},
        {"parent": 7},
    )
    for body, status in (({}, 409), ({"parent": None}, 409), ({"parent": "nothing"}, 404)):
        assert world.call("moveCollection", path, body=body).status_code == status

    def check(answer: Any) -> None:
        assert answer["parent"] == target

    return Ask(path, body={"parent": target, "position": {"before": here}}, invalid=wrong, check=check)


@probe("transferCollection")
def probe_transfer_collection(world: World) -> Ask:
    target = world.made("createOrganization", body={"title": "Target"})["id"]
    path = collection(world)
    for organization, status in ((world.organization, 409), ("nothing", 404)):
        assert world.call("transferCollection", path, body={"organization": organization}).status_code == status

    def check(answer: Any) -> None:
        assert answer["organization"] == target

    body = {"organization": target}
    return Ask(path, body=body, invalid=({}, {"organization": None}, {"organization": 7}), check=check)
