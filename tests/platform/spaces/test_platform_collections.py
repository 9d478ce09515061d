"""Collections: what they hold, in which order, and the access that they give."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncd.model.collection import Position, Sibling
from syncd.platform.schema.content import spaces
from syncd.platform.spaces.order_keys import KEY_MAX, Container, compute_key_at, compute_key_between
from tests.contract.world import World


def collection(world: World, title: str = "Guides", parent: str | None = None) -> str:
    """Return the id of a new collection."""
    return str(world.made("createCollection", body={"title": title, "parent": parent})["id"])


def space(world: World, title: str = "Space", parent: str | None = None) -> str:
    """Return the id of a new space."""
    return str(world.made("createSpace", body={"title": title, "parent": parent})["id"])


def everybody(world: World, level: str | None, *, collection_id: str = "", space_id: str = "") -> None:
    """Set what everybody may do with a collection or a space."""
    if collection_id:
        world.made("updateCollectionById", {"collectionId": collection_id}, body={"defaultLevel": level})
    else:
        world.made("updateSpaceById", {"spaceId": space_id}, body={"defaultLevel": level})


def strength(world: World, space_id: str, token: str) -> str | None:
    """Return the strongest role that a person's permissions in a space show, None for no access."""
    answer = world.call("getSpaceById", {"spaceId": space_id}, by=token)
    if answer.status_code == 403:
        return None
    may = answer.json()["permissions"]
    names = {"view": "read", "comment": "comment", "edit": "edit", "merge": "review", "admin": "admin"}
    return [role for permission, role in names.items() if may[permission]][-1]


def titles(world: World, token: str) -> set[str]:
    """Return the titles of all spaces that a person's lists have."""
    return {item["title"] for item in world.made("listSpacesInOrganizationById", by=token)["items"]}


def test_the_nearest_place_that_says_something_decides(world: World) -> None:
    outer = collection(world)
    inner = collection(world, "Within", outer)
    here = space(world, "Here", inner)
    editor, admin = world.person("edit")[1], world.person("admin")[1]
    seen: list[tuple[str | None, bool]] = []
    for place, level in (
        ({}, None),
        ({"collection_id": outer}, "comment"),
        ({"collection_id": inner}, "review"),
        ({"space_id": here}, "read"),
        ({"space_id": here}, None),
        ({"space_id": here}, "inherit"),
        ({"collection_id": inner}, None),
    ):
        if place:
            everybody(world, level, **place)
        seen.append((strength(world, here, editor), "Here" in titles(world, editor)))
        assert strength(world, here, admin) == "admin"
    assert seen == [
        ("edit", True),
        ("comment", True),
        ("review", True),
        ("read", True),
        (None, False),
        ("review", True),
        (None, False),
    ]


def test_a_person_goes_before_teams_and_teams_before_everybody(world: World) -> None:
    outer = collection(world)
    here = {"spaceId": space(world, "Here", outer)}
    user, token = world.person("edit")
    teams = [
        {"teamId": world.made("createOrganizationTeam", body={"title": title, "members": [user]})["id"]}
        for title in ("One", "Two")
    ]
    everybody(world, "read", collection_id=outer)
    seen = [strength(world, here["spaceId"], token)]
    for team, role in zip(teams, ("comment", "review"), strict=True):
        world.made("updateTeamPermissionInCollection", {"collectionId": outer, **team}, body={"role": role})
        seen.append(strength(world, here["spaceId"], token))
    world.made("updateUserPermissionInCollection", {"collectionId": outer, "userId": user}, body={"role": "edit"})
    seen.append(strength(world, here["spaceId"], token))
    world.made("updateTeamPermissionInSpace", {**here, **teams[0]}, body={"role": "read"})
    seen.append(strength(world, here["spaceId"], token))
    world.made("removeTeamFromSpace", {**here, **teams[0]})
    world.made("removeUserFromCollection", {"collectionId": outer, "userId": user})
    seen.append(strength(world, here["spaceId"], token))
    assert seen == ["read", "comment", "review", "edit", "read", "review"]


def test_a_guest_gets_in_by_direct_access_only(world: World) -> None:
    outer = collection(world)
    here = space(world, "Here", outer)
    user, token = world.person(None)
    everybody(world, "admin", collection_id=outer)
    everybody(world, "admin", space_id=here)
    assert strength(world, here, token) is None
    world.made("updateUserPermissionInSpace", {"spaceId": here, "userId": user}, body={"role": "comment"})
    assert strength(world, here, token) == "comment"
    assert world.call("getCollectionById", {"collectionId": outer}, by=token).status_code == 403


def test_content_and_lists_follow_the_level(world: World) -> None:
    outer, shut = collection(world), collection(world, "Shut")
    path = {"spaceId": space(world, "Here", outer)}
    hidden = space(world, "Hidden", shut)
    reader = world.person("edit")[1]
    everybody(world, None, collection_id=shut)
    everybody(world, "read", collection_id=outer)
    listed = world.made("listCollectionsInOrganizationById", by=reader)
    assert [item["title"] for item in listed["items"]] == ["Guides"]
    assert listed["count"] == 1
    assert titles(world, reader) == {"Here"}
    assert world.call("listSpacesInCollectionById", {"collectionId": shut}, by=reader).status_code == 403
    assert world.call("getCurrentRevision", {"spaceId": hidden}, by=reader).status_code == 403
    assert world.call("getCurrentRevision", path, by=reader).status_code == 200
    assert world.call("createChangeRequest", path, body={}, by=reader).status_code == 403
    everybody(world, "create", collection_id=outer)
    assert world.call("createChangeRequest", path, body={}, by=reader).status_code == 201
    assert world.call("createSpace", body={"parent": outer}, by=reader).status_code == 201
    assert world.call("createSpace", body={}, by=reader).status_code == 403
    assert world.call("createCollection", body={"parent": outer}, by=reader).status_code == 201


def test_a_collection_is_deleted_only_when_it_is_empty(world: World) -> None:
    outer = collection(world)
    inner = collection(world, "Within", outer)
    here = {"spaceId": space(world, "Here", inner)}
    editor = world.person("edit")[1]
    for each in (outer, inner):
        assert world.call("deleteCollectionById", {"collectionId": each}).status_code == 409
    world.made("deleteSpaceById", here)
    for each in (inner, outer, outer):
        assert world.call("deleteCollectionById", {"collectionId": each}).status_code == 204
    restored = world.made("restoreSpace", here)
    assert "parent" not in restored
    assert restored["defaultLevel"] is None
    assert strength(world, here["spaceId"], editor) is None


def arranged(world: World, parent: str) -> list[str]:
    """Return the titles of the spaces in a collection, page by page, in their order."""
    query: dict[str, Any] = {"limit": 2}
    found: list[str] = []
    while True:
        page = world.made("listSpacesInCollectionById", {"collectionId": parent}, query=query)
        found += [item["title"] for item in page["items"]]
        if "next" not in page:
            return found
        query["page"] = page["next"]["page"]


def test_spaces_and_collections_are_put_before_after_and_between_their_siblings(world: World) -> None:
    parent = collection(world)
    ids = {title: space(world, title, parent) for title in "ABCD"}
    between_them = collection(world, "X", parent)
    named = {title: {"type": "space", "space": id} for title, id in ids.items()}
    assert arranged(world, parent) == ["A", "B", "C", "D"]

    def put(title: str, **position: Any) -> int:
        return world.call("moveSpace", {"spaceId": ids[title]}, body={"position": position}).status_code

    assert put("D", before=named["A"]) == 200
    assert put("A", after=named["C"]) == 200
    assert arranged(world, parent) == ["D", "B", "C", "A"]
    assert put("A", after=named["B"], before=named["C"]) == 200
    assert arranged(world, parent) == ["D", "B", "A", "C"]
    assert [put("A", after=named["B"]), put("A", before=named["C"])] == [409, 409]
    assert put("D", after=named["B"], before=named["C"]) == 400
    beside = {"type": "collection", "collection": between_them}
    body = {"position": {"before": named["D"]}}
    world.made("moveCollection", {"collectionId": between_them}, body=body)
    assert put("D", after=beside) == 409
    assert put("D", before=beside) == 200
    world.made("moveSpace", {"spaceId": ids["B"]}, body={"parent": None})
    world.made("moveSpace", {"spaceId": ids["B"]}, body={"parent": parent})
    assert arranged(world, parent) == ["D", "A", "C", "B"]


@pytest.mark.long
def test_keys_stay_short_however_often_things_are_moved_to_the_same_place(world: World) -> None:
    parent = collection(world)
    ids = [space(world, title, parent) for title in ("first", "last")]
    place = Container(world.organization, parent)
    with world.storage.write() as connection:
        for _ in range(500):
            first, last = ids
            key = compute_key_at(connection, place, last, Position(before=Sibling(type="space", space=first)))
            assert key is not None
            assert len(key) < KEY_MAX
            connection.execute(spaces.update().where(spaces.c.id == last).values(position=key))
            ids.reverse()
    listed = world.made("listSpacesInCollectionById", {"collectionId": parent})["items"]
    assert [item["id"] for item in listed] == ids


def test_collections_are_neither_moved_into_themselves_nor_too_deep(world: World) -> None:
    top = collection(world)
    chain = [top]
    for _ in range(9):
        chain.append(collection(world, "Deeper", chain[-1]))
    assert world.call("createCollection", body={"parent": chain[-1]}).status_code == 400
    other = collection(world, "Other")
    inner = collection(world, "Inner", other)
    assert world.call("moveCollection", {"collectionId": other}, body={"parent": chain[8]}).status_code == 400
    assert world.call("moveCollection", {"collectionId": inner}, body={"parent": chain[8]}).status_code == 200
    assert world.call("moveCollection", {"collectionId": top}, body={"parent": chain[5]}).status_code == 400


def test_a_collection_is_transferred_with_all_that_is_in_it(world: World) -> None:
    outer = collection(world)
    inner = collection(world, "Within", outer)
    here = space(world, "Here", inner)
    gone = space(world, "Gone", inner)
    world.made("deleteSpaceById", {"spaceId": gone})
    user = world.person("read")[0]
    world.made("updateUserPermissionInSpace", {"spaceId": here, "userId": user}, body={"role": "edit"})
    target = world.made("createOrganization", body={"title": "Target"})["id"]
    site = world.site(here)
    path, body = {"collectionId": outer}, {"organization": target}
    assert world.call("transferCollection", path, body=body).status_code == 412
    world.made("deleteSiteById", {"siteId": site["id"]})
    assert world.made("transferCollection", path, body=body)["organization"] == target
    assert world.made("getCollectionById", {"collectionId": inner})["organization"] == target
    assert world.made("restoreSpace", {"spaceId": gone})["organization"] == target
    assert world.made("getSpaceById", {"spaceId": here})["parent"] == inner
    assert world.made("listPermissionsForUsersInSpace", {"spaceId": here})["items"] == []
    assert world.made("listCollectionsInOrganizationById")["items"] == []


def test_what_one_may_not_create_in_cannot_be_the_target(world: World) -> None:
    user, token = world.person("edit")
    path = {"spaceId": space(world)}
    world.made("updateUserPermissionInSpace", {**path, "userId": user}, body={"role": "admin"})
    elsewhere = world.made("createOrganization", body={"title": "Elsewhere"})["id"]
    body = {"organization": elsewhere}
    assert world.call("transferSpace", path, body=body, by=token).status_code == 404
    world.made(
        "inviteUsersToOrganization",
        {"organizationId": elsewhere},
        body={"emails": [f"{user.lower()}@example.com"], "role": "edit"},
    )
    assert world.call("transferSpace", path, body=body, by=token).status_code == 412
    assert world.call("moveSpace", path, body={"parent": collection(world)}, by=token).status_code == 403


@settings(max_examples=50)
@given(st.lists(st.floats(0, 1), max_size=60))
def test_there_is_a_key_between_any_two(places: list[float]) -> None:
    keys = ["0000000000001V", "1769000000000V"]
    for place in places:
        at = round(place * len(keys))
        low, high = keys[at - 1] if at else "", keys[at] if at < len(keys) else None
        key = compute_key_between(low, high)
        assert low < key
        assert high is None or key < high
        keys.insert(at, key)
