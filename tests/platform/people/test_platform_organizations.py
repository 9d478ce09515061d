"""Organizations: what they show to whom, and what an administrator may set."""

from tests.contract.probes.sso import certificate
from tests.contract.world import World


def test_a_new_organization_is_cautious(world: World) -> None:
    made = world.made("createOrganization", body={"title": "New"})
    assert {name: made[name] for name in ("emailDomains", "inviteLinks", "sso", "ai", "defaultRole")} == {
        "emailDomains": [],
        "inviteLinks": False,
        "sso": False,
        "ai": False,
        "defaultRole": "read",
    }
    assert made["mergeRules"] == {"type": "inherit"}
    assert made["trial"] == {"status": "notapplicable", "count": 0}
    assert "hostname" not in made
    assert "logo" not in made["urls"]


def test_null_takes_content_and_logo_away_and_makes_new_members_guests(world: World) -> None:
    content = {"type": "site", "site": world.site()["id"]}
    body = {"defaultContent": content, "logo": "https://example.com/logo.svg", "defaultRole": "edit"}
    full = world.made("updateOrganizationById", body=body)
    assert (full["defaultContent"], full["urls"]["logo"]) == (content, body["logo"])
    bare = world.made("updateOrganizationById", body=dict.fromkeys(body))
    assert "defaultContent" not in bare
    assert "logo" not in bare["urls"]
    assert bare["defaultRole"] is None
    assert world.made("updateOrganizationById", body={}) == bare == world.made("getOrganizationById")


def test_a_hostname_belongs_to_one_organization_and_moves_on_when_it_is_given_up(world: World) -> None:
    other = {"organizationId": world.made("createOrganization", body={"title": "Other"})["id"]}
    world.made("updateOrganizationById", body={"hostname": "example-docs"})
    assert world.call("updateOrganizationById", other, body={"hostname": "example-docs"}).status_code == 409
    world.made("updateOrganizationById", body={"hostname": "elsewhere"})
    world.made("updateOrganizationById", other, body={"hostname": "example-docs"})
    target = world.made("getSubdomain", {"subdomain": "example-docs"})["target"]
    assert target == {"type": "organization", "organization": other["organizationId"]}


def test_each_role_is_shown_what_it_may_do(world: World) -> None:
    shown = {role: world.made("getOrganizationById", by=world.person(role)[1]) for role in ("read", "create", "admin")}
    assert {role: "billing" in one for role, one in shown.items()} == {"read": False, "create": False, "admin": True}
    allowed = {role: {name for name, may in one["permissions"].items() if may} for role, one in shown.items()}
    assert allowed["read"] == {"view", "access", "listMembers", "listTeams", "listIntegrations", "listInstallations"}
    assert allowed["create"] - allowed["read"] == {"createContent", "createOpenAPISpec", "ingestConversations"}
    assert allowed["admin"] - allowed["create"] == {"admin", "ownTeam", "viewBilling", "installIntegration"}
    guest = world.person(None)[1]
    assert not any(world.made("listOrganizationsForAuthenticatedUser", by=guest)["items"][0]["permissions"].values())
    assert world.call("getOrganizationById", by=guest).status_code == 403


def test_sso_is_enforced_only_while_somebody_can_sign_in(world: World) -> None:
    whole = {"ssoURL": "https://id.example.com/sso", "entityID": "id", "certificate": certificate()}
    made = world.made("createOrganizationSAMLProvider", body={"label": "Sign in"})
    path = {"samlProviderId": made["id"]}
    assert world.call("updateOrganizationById", body={"sso": True}).status_code == 400
    world.made("updateOrganizationSAMLProvider", path, body=whole)
    assert world.made("updateOrganizationById", body={"sso": True})["sso"] is True
    assert world.call("deleteOrganizationSAMLProvider", path).status_code == 409
    spare = world.made("createOrganizationSAMLProvider", body={"label": "Spare", **whole})
    assert world.call("deleteOrganizationSAMLProvider", path).status_code == 204
    assert [login["id"] for login in world.made("listSSOProviderLoginsInOrganization")["items"]] == [spare["id"]]


def test_agent_instructions_are_read_by_everybody_and_written_by_administrators(world: World) -> None:
    document = {"object": "document", "data": {"schemaVersion": 1}, "nodes": [], "meta": {"token": "t"}}
    written = world.made("updateOrganizationAgentInstructions", body={"instructions": document})
    assert written["instructions"] == document
    reader = world.person("read")[1]
    assert world.made("getOrganizationAgentInstructions", by=reader) == written
    refused = world.call("updateOrganizationAgentInstructions", by=reader, body={"instructions": document})
    assert refused.status_code == 403
