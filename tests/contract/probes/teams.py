"""Teams, who is in them, and direct access to spaces and collections."""

from typing import Any

from tests.contract.probe import Ask, Probe, probe
from tests.contract.world import World

_TITLES: tuple[Any, ...] = ("", "x" * 65, " ", None, 7)


def _team(world: World, title: str = "Writers", *members: str) -> dict[str, str]:
    return {"teamId": world.made("createOrganizationTeam", body={"title": title, "members": members})["id"]}


@probe("listTeamsInOrganizationById")
def teams(world: World) -> Ask:
    for title in ("Docs writers", "Other writers", "WRITERS"):
        _team(world, title)
    _team(world, "Developers")
    query = {"title": "writers", "owner": world.user}
    return Ask(query=query, items=3, invalid_query=({"title": "x" * 257}, {"owner": "x" * 257}))


@probe("createOrganizationTeam")
def probe_create_organization_team(world: World) -> Ask:
    member = world.person("read")[0]
    wrong = ({}, *({"title": title} for title in _TITLES), {"title": "T", "members": ["nobody"]})

    def check(answer: Any) -> None:
        assert answer["members"] == 2
        assert answer["permissions"] == {"admin": True, "view": True}

    body = {"title": "Writers", "members": [member, world.user, member]}
    return Ask(body=body, status=201, invalid=(*wrong, {"title": "T", "members": None}), check=check)


@probe("getTeamInOrganizationById")
def team(world: World) -> Ask:
    return Ask(_team(world))


@probe("updateTeamInOrganizationById")
def probe_update_team_in_organization_by_id(world: World) -> Ask:
    return Ask(_team(world), body={"title": "Authors"}, invalid=({}, *({"title": title} for title in _TITLES)))


@probe("removeTeamFromOrganizationById")
def probe_remove_team_from_organization_by_id(world: World) -> Ask:
    return Ask(_team(world), status=204)


@probe("listTeamMembersInOrganizationById")
def members(world: World) -> Ask:
    return Ask(_team(world, "Writers", *(world.person("read")[0] for _ in range(3))), items=3)


@probe("updateMembersInOrganizationTeam")
def probe_update_members_in_organization_team(world: World) -> Ask:
    path = _team(world, "Writers", world.user)
    other = world.person("read")[0]

    def check(answer: Any) -> None:
        assert [member["id"] for member in answer["items"]] == [other]

    wrong = ({"add": ["nobody"]}, {"add": None}, {"remove": [7]}, {"add": [other] * 1001})
    return Ask(path, body={"add": [other], "remove": [world.user]}, invalid=wrong, check=check)


@probe("addMemberToOrganizationTeamById")
def probe_add_member_to_organization_team_by_id(world: World) -> Ask:
    path = _team(world) | {"userId": world.user}

    def check(answer: Any) -> None:
        assert answer["role"] == "owner"

    return Ask(path, body={"role": "owner"}, invalid=({"role": "admin"}, {"role": None}), check=check)


@probe("deleteMemberFromOrganizationTeamById")
def probe_delete_member_from_organization_team_by_id(world: World) -> Ask:
    return Ask(_team(world, "Writers", world.user) | {"userId": world.user}, status=204)


def _content(world: World, place: str) -> dict[str, str]:
    if place == "Space":
        return {"spaceId": world.space()["id"]}
    return {"collectionId": world.made("createCollection", body={"title": "Guides"})["id"]}


def _on(place: str) -> None:
    """Given `Space` or `Collection`, probe the operations on the direct access to one."""

    def to(name: str, function: Probe) -> None:
        probe(name)(function)

    def invite(world: World) -> Ask:
        team = _team(world)["teamId"]
        body = {"users": [{"user": world.user, "role": "edit"}], "teams": [{"team": team, "role": "read"}]}
        wrong: tuple[Any, ...] = (
            {"users": [{"user": "nobody", "role": "edit"}]},
            {"teams": [{"team": "nothing", "role": "edit"}]},
            {"users": [{"user": world.user, "role": None}]},
            {"users": [{"user": world.user}]},
            {"users": None},
        )
        return Ask(_content(world, place), body=body, status=204, invalid=wrong)

    def users(world: World) -> Ask:
        path = _content(world, place)
        given = [{"user": world.person("read")[0], "role": "edit"} for _ in range(3)]
        world.made(f"inviteTo{place}", path, body={"users": given})
        return Ask(path, items=3)

    def teams(world: World) -> Ask:
        path = _content(world, place)
        given = [{"team": _team(world)["teamId"], "role": "edit"} for _ in range(3)]
        world.made(f"inviteTo{place}", path, body={"teams": given})
        return Ask(path, items=3)

    def user(world: World) -> Ask:
        path = _content(world, place) | {"userId": world.person("read")[0]}
        return Ask(path, body={"role": "edit"}, status=204, invalid=({}, {"role": None}, {"role": "owner"}))

    def team(world: World) -> Ask:
        path = _content(world, place) | _team(world)
        return Ask(path, body={"role": "edit"}, status=204, invalid=({}, {"role": None}, {"role": "owner"}))

    def no_user(world: World) -> Ask:
        return Ask(_content(world, place) | {"userId": world.user}, status=204)

    def no_team(world: World) -> Ask:
        return Ask(_content(world, place) | _team(world), status=204)

    to(f"inviteTo{place}", invite)
    to(f"listPermissionsForUsersIn{place}", users)
    to(f"listPermissionsForTeamsIn{place}", teams)
    to(f"updateUserPermissionIn{place}", user)
    to(f"updateTeamPermissionIn{place}", team)
    to(f"removeUserFrom{place}", no_user)
    to(f"removeTeamFrom{place}", no_team)


for _place in ("Space", "Collection"):
    _on(_place)
