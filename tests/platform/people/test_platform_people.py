"""People: how they become members, what they may do then, their teams, and how they leave."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from syncd.platform.app import create_app
from syncd.platform.http.failures import Failure
from syncd.platform.people.certificates import read_certificate
from syncd.platform.schema import accounts
from tests.contract.in_process import InProcess
from tests.contract.probes.sso import bare, certificate
from tests.contract.world import Target, World
from tests.storages import new_storage

NOW = datetime.now(UTC)


def stranger(world: World, email: str, *, verified: bool) -> str:
    """Return the token of somebody who is in no organization of the world's."""
    user, token = world.person("read", organization=world.made("createOrganization", body={"title": "Home"})["id"])
    with world.storage.write() as connection:
        values = {"email": email, "email_verified": verified}
        connection.execute(accounts.users.update().where(accounts.users.c.id == user).values(values))
    return token


def role_of(world: World, token: str) -> str | None:
    """Return the role of somebody in the world's organization, as its administrator sees it."""
    user = world.made("getAuthenticatedUser", by=token)["id"]
    return str(world.made("getMemberInOrganizationById", {"userId": user})["role"])


def test_a_change_of_role_holds_with_the_next_request(world: World) -> None:
    user, token = world.person("read")
    body = {"title": "Mine"}
    assert world.call("createSpace", body=body, by=token).status_code == 403
    world.made("updateMemberInOrganizationById", {"userId": user}, body={"role": "create"})
    space = world.made("createSpace", body=body, by=token)
    world.made("updateMemberInOrganizationById", {"userId": user}, body={"role": None})
    assert world.call("getSpaceById", {"spaceId": space["id"]}, by=token).status_code == 403
    world.made("removeMemberFromOrganizationById", {"userId": user})
    assert world.call("getSpaceById", {"spaceId": space["id"]}, by=token).status_code == 404


def test_an_organization_keeps_an_administrator(world: World) -> None:
    me = {"userId": world.user}
    for body in ({"role": "create"}, {"role": None}):
        assert world.call("updateMemberInOrganizationById", me, body=body).status_code == 409
    assert world.call("removeMemberFromOrganizationById", me).status_code == 409
    world.person("admin")
    assert world.made("updateMemberInOrganizationById", me, body={"role": "read"})["role"] == "read"


def test_whoever_leaves_takes_no_access_along_and_brings_none_back(world: World) -> None:
    user, token = world.person("read")
    space = {"spaceId": world.space()["id"]}
    team = world.made("createOrganizationTeam", body={"title": "Writers", "members": [user]})
    world.made("updateUserPermissionInSpace", {**space, "userId": user}, body={"role": "admin"})
    member = world.made("getMemberInOrganizationById", {"userId": user})
    assert (member["spaces"], member["teams"], member["disabled"]) == (1, 1, False)
    world.made("removeMemberFromOrganizationById", {"userId": user}, by=token)
    email = world.made("getAuthenticatedUser", by=token)["email"]
    assert world.made("inviteUsersToOrganization", body={"emails": [email.upper()], "role": "read"})["users"] == [user]
    member = world.made("getMemberInOrganizationById", {"userId": user})
    assert (member["role"], member["spaces"], member["teams"]) == ("read", 0, 0)
    assert world.made("getTeamInOrganizationById", {"teamId": team["id"]})["members"] == 0
    assert world.made("getSpaceById", space, by=token)["permissions"]["comment"] is False


def test_a_verified_domain_lets_people_join_with_the_default_role(world: World) -> None:
    doubtful = stranger(world, "a@Example.com", verified=False)
    known = stranger(world, "b@Example.com", verified=True)
    other = stranger(world, "c@sub.example.com", verified=True)
    assert world.call("joinOrganization", by=known).status_code == 404
    assert world.call("joinOrganization", {"organizationId": "nothing"}, by=known).status_code == 404
    world.made("updateOrganizationById", body={"emailDomains": ["EXAMPLE.com"], "defaultRole": "comment"})
    assert world.call("joinOrganization", by=doubtful).status_code == 400
    assert world.call("joinOrganization", by=other).status_code == 404
    domain = {"emailDomain": "example.com"}
    assert [one["id"] for one in world.made("listOrganizationsByEmailDomain", domain, by=known)["items"]] == [
        world.organization
    ]
    assert world.call("listOrganizationsByEmailDomain", domain, by=other).status_code == 403
    assert [world.call("joinOrganization", by=known).status_code for _ in range(2)] == [204, 204]
    assert role_of(world, known) == "comment"


def test_an_invite_link_works_until_it_is_ended_or_links_are_turned_off(world: World) -> None:
    assert world.call("createOrganizationInviteLink", body={"role": "edit"}).status_code == 409
    world.made("updateOrganizationById", body={"inviteLinks": True})
    path = {"inviteId": world.made("createOrganizationInviteLink", body={"role": "edit"})["id"]}
    first, second, third = (stranger(world, f"{name}@example.com", verified=False) for name in "abc")
    assert world.call("joinOrganizationWithInvite", path, by=first).status_code == 204
    assert role_of(world, first) == "edit"
    world.made("updateOrganizationInviteLink", path, body={"role": "admin"})
    assert world.call("joinOrganizationWithInvite", path, by=first).status_code == 204
    assert role_of(world, first) == "edit"
    world.made("updateOrganizationById", body={"inviteLinks": False})
    assert world.call("joinOrganizationWithInvite", path, by=second).status_code == 404
    world.made("updateOrganizationById", body={"inviteLinks": True})
    assert world.call("deleteOrganizationInviteById", path).status_code == 204
    assert world.call("joinOrganizationWithInvite", path, by=third).status_code == 404
    assert world.call("deleteOrganizationInviteById", path).status_code == 204


def test_where_sso_is_enforced_nobody_joins_in_another_way(world: World) -> None:
    whole = {"ssoURL": "https://id.example.com/sso", "entityID": "id", "certificate": certificate()}
    world.made("createOrganizationSAMLProvider", body={"label": "Sign in", **whole})
    world.made("updateOrganizationById", body={"inviteLinks": True, "emailDomains": ["example.com"], "sso": True})
    path = {"inviteId": world.made("createOrganizationInviteLink", body={"role": "edit"})["id"]}
    somebody = stranger(world, "a@example.com", verified=True)
    assert world.call("joinOrganization", by=somebody).status_code == 400
    assert world.call("joinOrganizationWithInvite", path, by=somebody).status_code == 400


def test_the_owner_of_a_team_changes_that_team_and_no_other(world: World) -> None:
    (owner, by), (other, _) = world.person("read"), world.person("read")
    mine, theirs = (
        {"teamId": world.made("createOrganizationTeam", body={"title": title, "members": [owner]})["id"]}
        for title in ("Mine", "Theirs")
    )
    world.made("addMemberToOrganizationTeamById", {**mine, "userId": owner}, body={"role": "owner"})
    shown = world.made("listTeamsInOrganizationById", by=by)["items"]
    assert {team["title"]: team["permissions"]["admin"] for team in shown} == {"Mine": True, "Theirs": False}
    managed = world.made("listTeamsInOrganizationById", query={"owner": owner}, by=by)["items"]
    assert [team["title"] for team in managed] == ["Mine"]
    assert len(world.made("listTeamsInOrganizationById", query={"owner": world.user})["items"]) == 2
    world.made("addMemberToOrganizationTeamById", {**mine, "userId": other}, by=by)
    renamed = world.made("updateTeamInOrganizationById", mine, body={"title": "Ours"}, by=by)
    assert (renamed["title"], renamed["members"]) == ("Ours", 2)
    for operation, body in (
        ("updateTeamInOrganizationById", {"title": "Ours"}),
        ("removeTeamFromOrganizationById", None),
    ):
        assert world.call(operation, theirs, body=body, by=by).status_code == 403
    assert world.call("removeTeamFromOrganizationById", mine, by=by).status_code == 204
    assert world.call("getTeamInOrganizationById", mine).status_code == 404


def test_a_team_that_is_gone_gives_no_access(world: World) -> None:
    user, token = world.person(None)
    space = {"spaceId": world.space()["id"]}
    team = {"teamId": world.made("createOrganizationTeam", body={"title": "Guests", "members": [user]})["id"]}
    world.made("updateTeamPermissionInSpace", {**space, **team}, body={"role": "read"})
    assert world.made("getTeamInOrganizationById", team)["spaces"] == 1
    assert world.call("getSpaceById", space, by=token).status_code == 200
    world.made("removeTeamFromOrganizationById", team)
    assert world.call("getSpaceById", space, by=token).status_code == 403
    assert world.made("listPermissionsForTeamsInSpace", space)["items"] == []


def test_people_change_themselves_and_are_seen_by_those_who_share_an_organization(world: World) -> None:
    user, token = world.person("read")
    named = world.made("updateUserById", {"userId": user}, body={"displayName": "Ada", "photoURL": None}, by=token)
    assert named["displayName"] == "Ada"
    assert world.made("getUserById", {"userId": user}) == named
    assert world.call("updateUserById", {"userId": user}, body={"displayName": "Eve"}).status_code == 403
    for operation, body in (("getUserById", None), ("updateUserById", {"displayName": "Eve"})):
        assert world.call(operation, {"userId": user}, body=body, by=world.outsider).status_code == 404


@pytest.fixture
def later(tmp_path: Path) -> Iterator[tuple[World, list[datetime]]]:
    """A world whose clock a test sets."""
    moment = [NOW]
    with new_storage(tmp_path / "later", clock=lambda: moment[0]) as storage:
        app = create_app(storage)
        with httpx.Client(base_url="http://platform", transport=InProcess(app)) as client:
            yield Target(storage, app, client).world(), moment


def test_a_provider_whose_certificate_expires_is_shown_and_not_offered(later: tuple[World, list[datetime]]) -> None:
    world, moment = later
    whole = {"ssoURL": "https://id.example.com/sso", "entityID": "id", "certificate": certificate(days=2)}
    path = {"samlProviderId": world.made("createOrganizationSAMLProvider", body={"label": "S", **whole})["id"]}
    assert world.made("getOrganizationSAMLProviderById", path)["status"] == "active"
    moment[0] += timedelta(days=3)
    assert world.made("getOrganizationSAMLProviderById", path)["status"] == "pending"
    assert world.made("listSSOProviderLoginsInOrganization")["items"] == []


def test_a_certificate_is_kept_as_pem_however_it_was_written() -> None:
    pem = certificate()
    spellings = (pem, bare(pem), f"\n{pem}\n", pem.replace("\n", "\r\n"))
    assert {read_certificate(text, NOW).pem for text in spellings} == {pem}
    with pytest.raises(Failure, match="expired"):
        read_certificate(certificate(days=-1), NOW)
    with pytest.raises(Failure, match="not valid before"):
        read_certificate(pem, NOW - timedelta(days=5000))
