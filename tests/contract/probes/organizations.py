"""Organizations, their members and invitations, and people."""

from typing import Any

from syncd.platform.schema import accounts
from tests.contract.probe import Ask, probe
from tests.contract.world import World

_DOCUMENT = {"object": "document", "data": {}, "nodes": []}


def _verify(world: World, domain: str) -> None:
    """Have the caller's e-mail address be in a domain, and known to be the caller's."""
    values = {"email": f"{world.user.lower()}@{domain}", "email_verified": True}
    with world.storage.write() as connection:
        connection.execute(accounts.users.update().where(accounts.users.c.id == world.user).values(values))


def _elsewhere(world: World, *domains: str) -> str:
    """Return the id of an organization that the caller is no member of, and that welcomes these domains."""
    made = world.made("createOrganization", body={"title": "Elsewhere", "emailDomains": domains}, by=world.outsider)
    return str(made["id"])


def _invited(world: World) -> dict[str, str]:
    world.made("updateOrganizationById", body={"inviteLinks": True})
    return {"inviteId": world.made("createOrganizationInviteLink", body={"role": "edit"})["id"]}


@probe("listOrganizationsForAuthenticatedUser")
def probe_list_organizations_for_authenticated_user(world: World) -> Ask:
    for number in range(3):
        world.made("createOrganization", body={"title": f"Another {number}"})
    return Ask(items=4, outsider=None)


@probe("createOrganization")
def probe_create_organization(world: World) -> Ask:
    wrong: tuple[Any, ...] = (
        {},
        {"title": "T"},
        {"title": " padded"},
        {"title": "x" * 256},
        {"title": 7},
        {"title": None},
    )
    domains: Any = ("example", "a b.com", "@example.com", "", 7)
    bad = ({"title": "Two", "emailDomains": [domain]} for domain in domains)
    body = {"title": "Two", "emailDomains": ["Example.com"]}

    def check(answer: Any) -> None:
        assert answer["emailDomains"] == ["example.com"]
        assert answer["permissions"]["admin"] is True

    return Ask(body=body, status=201, invalid=(*wrong, *bad), outsider=None, check=check)


@probe("getOrganizationById")
def probe_get_organization_by_id(world: World) -> Ask:
    return Ask()


@probe("updateOrganizationById")
def probe_update_organization_by_id(world: World) -> Ask:
    site = world.site()
    body = {
        "title": "Renamed",
        "emailDomains": ["example.com", "docs.example.org"],
        "hostname": f"h-{world.organization.lower()}",
        "defaultRole": None,
        "defaultContent": {"type": "site", "site": site["id"]},
        "logo": "https://example.com/logo.svg",
        "sso": False,
        "ai": True,
        "inviteLinks": True,
        "mergeRules": {"type": "rules", "rules": [{"rule": "require_specific_reviewers", "users": [world.user]}]},
    }
    wrong: tuple[Any, ...] = (
        {"title": "T"},
        {"title": None},
        {"emailDomains": None},
        {"emailDomains": ["nothing"]},
        {"emailDomains": [f"d{number}.example.com" for number in range(101)]},
        *({"hostname": name} for name in ("ab", "x" * 33, "-abc", "abc-", "a_c", "ABC", "", None, "abc\n")),
        {"defaultRole": "owner"},
        {"defaultContent": {"type": "site", "site": "nothing"}},
        {"defaultContent": {"type": "space", "site": site["id"]}},
        *({"logo": logo} for logo in ("javascript:alert(1)", "logo.svg", "https://example.com/" + "x" * 2048, "")),
        {"sso": True},
        {"sso": None},
        {"ai": "yes"},
        {"inviteLinks": 1},
        *({"mergeRules": rules} for rules in (None, {}, {"type": "all"}, {"type": "rules"})),
        {"mergeRules": {"type": "rules", "rules": [{"rule": "require_everything"}]}},
    )

    def check(answer: Any) -> None:
        shown = {name: answer[name] for name in body if name not in ("logo", "emailDomains")}
        assert shown == {name: body[name] for name in shown}
        assert answer["emailDomains"] == ["docs.example.org", "example.com"]
        assert answer["urls"]["logo"] == body["logo"]

    return Ask(body=body, invalid=wrong, check=check)


@probe("joinOrganization")
def probe_join_organization(world: World) -> Ask:
    _verify(world, "welcome.example.com")
    return Ask({"organizationId": _elsewhere(world, "welcome.example.com")}, status=204, outsider=None)


@probe("listOrganizationsByEmailDomain")
def probe_list_organizations_by_email_domain(world: World) -> Ask:
    domain = f"{world.user.lower()}.example.com"
    _verify(world, domain)
    for _ in range(3):
        _elsewhere(world, domain)
    return Ask({"emailDomain": domain}, items=3, unknown=(), outsider=None)


@probe("getSubdomain")
def probe_get_subdomain(world: World) -> Ask:
    name = f"h-{world.organization.lower()}"
    world.made("updateOrganizationById", body={"hostname": name})

    def check(answer: Any) -> None:
        assert answer["target"] == {"type": "organization", "organization": world.organization}

    return Ask({"subdomain": name}, check=check)


@probe("getOrganizationAgentInstructions")
def probe_get_organization_agent_instructions(world: World) -> Ask:
    def check(answer: Any) -> None:
        assert answer["instructions"] == _DOCUMENT
        assert answer["updatedBy"] == ""

    return Ask(check=check)


@probe("updateOrganizationAgentInstructions")
def probe_update_organization_agent_instructions(world: World) -> Ask:
    deep: Any = {"object": "block", "type": "paragraph"}
    for _ in range(300):
        deep = {"object": "block", "type": "paragraph", "nodes": [deep]}
    words = {"object": "text", "leaves": [{"object": "leaf", "text": "Be brief.", "marks": []}]}
    document = {**_DOCUMENT, "nodes": [{"object": "block", "type": "paragraph", "nodes": [words]}]}
    wrong: tuple[Any, ...] = ({}, *({"instructions": bad} for bad in (None, "text", {**_DOCUMENT, "nodes": [deep]})))

    def check(answer: Any) -> None:
        assert answer["instructions"] == document
        assert answer["updatedBy"] == world.user

    return Ask(body={"instructions": document}, invalid=wrong, check=check)


@probe("listMembersInOrganizationById")
def probe_list_members_in_organization_by_id(world: World) -> Ask:
    world.person("edit")
    world.person(None)
    # The generic suite makes one more, of the role that may not list them, before it counts.
    return Ask(items=4)


@probe("getMemberInOrganizationById")
def probe_get_member_in_organization_by_id(world: World) -> Ask:
    def check(answer: Any) -> None:
        assert answer["id"] == answer["user"]["id"] == world.user
        assert answer["role"] == "admin"

    return Ask({"userId": world.user}, check=check)


@probe("updateMemberInOrganizationById")
def probe_update_member_in_organization_by_id(world: World) -> Ask:
    other = world.person("edit")[0]
    return Ask({"userId": other}, body={"role": None}, invalid=({}, {"role": "owner"}, {"role": 7}))


@probe("removeMemberFromOrganizationById")
def probe_remove_member_from_organization_by_id(world: World) -> Ask:
    return Ask({"userId": world.person("edit")[0]}, status=204)


@probe("inviteUsersToOrganization")
def probe_invite_users_to_organization(world: World) -> Ask:
    address = f"new.{world.user.lower()}@example.com"
    wrong: list[Any] = [
        {},
        {"emails": []},
        {"emails": None},
        {"emails": [address] * 51},
        {"emails": [address], "role": "x"},
    ]
    wrong += [
        {"emails": [email]} for email in ("", "nobody", "a@b", "a b@example.com", "<a@example.com>", "a@example.com\n")
    ]

    def check(answer: Any) -> None:
        assert len(answer["users"]) == 1

    return Ask(body={"emails": [address, address.upper()], "role": "read"}, invalid=tuple(wrong), check=check)


@probe("joinOrganizationWithInvite")
def probe_join_organization_with_invite(world: World) -> Ask:
    path = {"organizationId": _elsewhere(world)}
    world.made("updateOrganizationById", path, body={"inviteLinks": True}, by=world.outsider)
    link = world.made("createOrganizationInviteLink", path, body={"role": "edit"}, by=world.outsider)
    return Ask({**path, "inviteId": link["id"]}, status=204, outsider=None)


@probe("listOrganizationInviteLinks")
def probe_list_organization_invite_links(world: World) -> Ask:
    for _ in range(3):
        _invited(world)
    return Ask(items=3)


@probe("createOrganizationInviteLink")
def probe_create_organization_invite_link(world: World) -> Ask:
    world.made("updateOrganizationById", body={"inviteLinks": True})
    return Ask(body={"role": None}, status=201, invalid=({}, {"role": "owner"}))


@probe("getOrganizationInviteLink")
def link(world: World) -> Ask:
    return Ask(_invited(world))


@probe("updateOrganizationInviteLink")
def probe_update_organization_invite_link(world: World) -> Ask:
    def check(answer: Any) -> None:
        assert answer["role"] == "read"

    return Ask(_invited(world), body={"role": "read"}, invalid=({}, {"role": "owner"}), check=check)


@probe("deleteOrganizationInviteById")
def probe_delete_organization_invite_by_id(world: World) -> Ask:
    return Ask(_invited(world), status=204)


@probe("getAuthenticatedUser")
def probe_get_authenticated_user(world: World) -> Ask:
    return Ask(outsider=None)


@probe("getUserById")
def probe_get_user_by_id(world: World) -> Ask:
    # A guest shares the organization, and so knows its people.
    return Ask({"userId": world.user}, outsider=None)


@probe("updateUserById")
def probe_update_user_by_id(world: World) -> Ask:
    wrong = ({"displayName": ""}, {"displayName": "x" * 101}, {"displayName": None}, {"photoURL": "photo.png"})
    body = {"displayName": "Ada", "photoURL": "https://example.com/ada.png"}
    return Ask({"userId": world.user}, body=body, invalid=wrong, outsider=None)
