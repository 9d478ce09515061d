"""Integrations, their installations and events."""

import base64
from typing import Any

from tests.contract.probe import Ask, probe
from tests.contract.world import World

PIXEL = base64.b64encode(
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\0IEND\xaeB`\x82"
).decode()
TEXT = {"type": "string", "title": "Where"}
CONFIGURATIONS = {
    "account": {"properties": {"place": TEXT | {"enum": ["here", "there"]}, "many": {"type": "number"}}},
    "space": {"properties": {"place": TEXT}, "required": ["place"]},
    "site": {"componentId": "settings"},
}


def new_name(world: World) -> str:
    """Return a name that nobody has published under."""
    return f"notes-{world.storage.new_id().lower()}"


def manifest(world: World, **members: Any) -> dict[str, Any]:
    body = {
        "title": "Notes",
        "description": "Notes beside pages.",
        "organization": world.organization,
        "scopes": ["space:content:read"],
        "script": "export default {}",
        "configurations": CONFIGURATIONS,
    }
    return body | members


def published(world: World, **members: Any) -> dict[str, str]:
    path = {"integrationName": new_name(world)}
    world.made("publishIntegration", path, body=manifest(world, **members))
    return path


def installed(world: World, **members: Any) -> dict[str, str]:
    path = published(world, **members)
    made = world.made("installIntegration", path, body={"organization": world.organization})
    return path | {"installationId": made["id"]}


@probe("publishIntegration")
def probe_publish_integration(world: World) -> Ask:
    body = manifest(
        world,
        runtime="v2",
        icon=PIXEL,
        summary="# Notes",
        previewImages=[PIXEL, PIXEL],
        visibility="private",
        target="space",
        categories=["content"],
        blocks=[
            {
                "id": "note",
                "title": "Note",
                "urlUnfurl": ["https://notes.example.com/**"],
                "markdown": {"codeblock": "note", "body": "text"},
            }
        ],
        contentSources=[{"id": "notes", "title": "Notes", "configuration": {"componentId": "pick"}}],
        externalLinks=[{"url": "https://example.com", "label": "Home"}],
        secrets={"KEY": "surely-secret"},
        contentSecurityPolicy={"default-src": "'none'", "img-src": "https://example.com"},
    )
    wrong: list[dict[str, Any]] = [
        {"title": "N"},
        {"title": "N" * 31},
        {"title": None},
        {"description": "d" * 101},
        {"summary": "s" * 2049},
        {"previewImages": [PIXEL] * 4},
        {"icon": "not base64"},
        {"icon": base64.b64encode(b"<svg xmlns='http://www.w3.org/2000/svg'/>").decode()},
        {"externalLinks": [{"url": "https://example.com", "label": "Home"}] * 6},
        {"externalLinks": [{"url": "javascript:alert(1)", "label": "Home"}]},
        {"scopes": ["everything"]},
        {"categories": ["fun", "content"]},
        {"visibility": "secret"},
        {"target": "page"},
        {"runtime": "v3"},
        {"blocks": [{"id": "note", "title": "N"}]},
        {"blocks": [{"id": "note", "title": "Note"}] * 2},
        {"configurations": {"account": {"properties": {"a": {"type": "number", "default": "many"}}}}},
        {"configurations": {"account": {"properties": {}, "required": ["a"]}}},
        {"configurations": {"page": {"properties": {}}}},
        {"secrets": {"KEY": 7}},
        {"contentSecurityPolicy": "default-src 'none'\r\nX-Own: 1"},
    ]

    def check(answer: Any) -> None:
        assert answer["version"] == 1
        assert answer["contentSecurityPolicy"] == "default-src 'none'; img-src https://example.com"
        assert "surely-secret" not in str(answer)
        assert world.target.client.get(answer["urls"]["icon"]).content == base64.b64decode(PIXEL)

    path = {"integrationName": new_name(world)}
    return Ask(path, body=body, invalid=tuple(body | one for one in wrong), unknown=(), check=check)


@probe("listIntegrations")
def probe_list_integrations(world: World) -> Ask:
    for number in range(3):
        body = manifest(world, visibility="public", title=f"Notes {number}")
        world.made("publishIntegration", {"integrationName": new_name(world)}, body=body)
    wrong = ({"category": "fun"}, {"scope": "all"}, {"target": "page"}, {"blocks": "some"}, {"blockDomain": "a b"})
    return Ask(query={"owner": world.organization}, items=3, outsider=None, invalid_query=wrong)


@probe("getIntegrationByName")
def probe_get_integration_by_name(world: World) -> Ask:
    return Ask(published(world))


@probe("unpublishIntegration")
def probe_unpublish_integration(world: World) -> Ask:
    return Ask(published(world), status=204, outsider=204)


@probe("listIntegrationInstallations")
def probe_list_integration_installations(world: World) -> Ask:
    path = published(world, visibility="public")
    for _ in range(3):
        organization = world._organization()
        _, admin = world.person("admin", organization=organization)
        world.made("installIntegration", path, body={"organization": organization}, by=admin)
    return Ask(path, items=3, outsider=403)


@probe("installIntegration")
def probe_install_integration(world: World) -> Ask:
    return Ask(published(world), body={"organization": world.organization}, status=201, invalid=({"organization": 7},))


@probe("listIntegrationEvents")
def probe_list_integration_events(world: World) -> Ask:
    path = installed(world)
    for place in ("here", "there"):
        world.made("updateIntegrationInstallation", path, body={"configuration": {"place": place}})
    return Ask({"integrationName": path["integrationName"]}, items=3)


@probe("getIntegrationEvent")
def probe_get_integration_event(world: World) -> Ask:
    path = {"integrationName": installed(world)["integrationName"]}
    path["eventId"] = world.made("listIntegrationEvents", path)["items"][0]["id"]

    def check(answer: Any) -> None:
        assert answer["event"]["payload"]["type"] == "installation_setup"
        assert answer["event"]["status"] == "success"
        assert answer["trace"]["logs"]

    return Ask(path, check=check)


@probe("listIntegrationSpaceInstallations")
def probe_list_integration_space_installations(world: World) -> Ask:
    path = installed(world)
    world.made("updateIntegrationInstallation", path, body={"space_selection": "all"})
    for _ in range(3):
        world.space(changes=())

    def check(answer: Any) -> None:
        assert all(item["space"]["object"] == "space" for item in answer["items"])

    path = {"integrationName": path["integrationName"]}
    return Ask(path, query={"extended": "true"}, items=3, invalid_query=({"extended": "maybe"},), check=check)


@probe("listIntegrationSiteInstallations")
def probe_list_integration_site_installations(world: World) -> Ask:
    path = installed(world)
    for number in range(3):
        site = world.site(world.space()["id"], title=f"Docs {number}")
        world.made("installIntegrationOnSite", path, body={"siteId": site["id"]})
    return Ask({"integrationName": path["integrationName"]}, items=3)


@probe("listOrganizationInstallations")
def probe_list_organization_installations(world: World) -> Ask:
    for _ in range(3):
        path = {"integrationName": new_name(world)}
        world.made("publishIntegration", path, body=manifest(world))
        world.made("installIntegration", path, body={"organization": world.organization})
    return Ask(items=3)


@probe("getIntegrationInstallationById")
def probe_get_integration_installation_by_id(world: World) -> Ask:
    return Ask(installed(world))


@probe("updateIntegrationInstallation")
def probe_update_integration_installation(world: World) -> Ask:
    body = {"configuration": {"place": "here", "many": 3}, "externalIds": ["a", "b"], "space_selection": "all"}
    wrong = (
        {"configuration": {"place": "nowhere"}},
        {"configuration": {"many": "three"}},
        {"configuration": {"strange": 1}},
        {"configuration": None},
        {"externalIds": ["x"] * 6},
        {"space_selection": "some"},
        {"status": "pending"},
    )

    def check(answer: Any) -> None:
        assert answer["configuration"] == body["configuration"]
        assert answer["externalIds"] == ["a", "b"]

    return Ask(installed(world), body=body, invalid=wrong, check=check)


@probe("uninstallIntegration")
def probe_uninstall_integration(world: World) -> Ask:
    return Ask(installed(world), status=204, outsider=204)


@probe("listIntegrationInstallationSpaces")
def probe_list_integration_installation_spaces(world: World) -> Ask:
    path = installed(world)
    for _ in range(3):
        body = {"space": world.space(changes=())["id"], "configuration": {"place": "here"}}
        world.made("installIntegrationOnSpace", path, body=body)
    return Ask(path, items=3)


@probe("installIntegrationOnSpace")
def probe_install_integration_on_space(world: World) -> Ask:
    body = {"space": world.space(changes=())["id"], "configuration": {"place": "here"}, "externalIds": ["a"]}
    wrong: tuple[Any, ...] = ({}, body | {"configuration": {"place": 7}})
    return Ask(installed(world), body=body, status=201, invalid=wrong)


@probe("getIntegrationSpaceInstallation")
def probe_get_integration_space_installation(world: World) -> Ask:
    return Ask(_in_space(world))


@probe("updateIntegrationSpaceInstallation")
def probe_update_integration_space_installation(world: World) -> Ask:
    def check(answer: Any) -> None:
        assert answer["status"] == "active"
        assert answer["configuration"] == {"place": "there"}

    body = {"configuration": {"place": "there"}}
    return Ask(_in_space(world), body=body, invalid=({"configuration": 7}, {"space": "x"}), check=check)


@probe("uninstallIntegrationFromSpace")
def probe_uninstall_integration_from_space(world: World) -> Ask:
    return Ask(_in_space(world), status=204)


@probe("listIntegrationInstallationSites")
def probe_list_integration_installation_sites(world: World) -> Ask:
    path = installed(world)
    for number in range(3):
        site = world.site(world.space()["id"], title=f"Docs {number}")
        world.made("installIntegrationOnSite", path, body={"siteId": site["id"]})
    return Ask(path, items=3)


@probe("installIntegrationOnSite")
def probe_install_integration_on_site(world: World) -> Ask:
    body = {"siteId": world.site(world.space()["id"])["id"], "configuration": {"deep": [{"as": "it likes"}]}}
    deep: Any = 1
    for _ in range(20):
        deep = [deep]
    return Ask(installed(world), body=body, status=201, invalid=({}, body | {"configuration": {"deep": deep}}))


@probe("getIntegrationSiteInstallation")
def probe_get_integration_site_installation(world: World) -> Ask:
    return Ask(_in_site(world))


@probe("updateIntegrationSiteInstallation")
def probe_update_integration_site_installation(world: World) -> Ask:
    body = {"configuration": {"free": True}, "externalIds": ["a"]}
    return Ask(_in_site(world), body=body, invalid=({"externalIds": "a"},))


@probe("uninstallIntegrationFromSite")
def probe_uninstall_integration_from_site(world: World) -> Ask:
    return Ask(_in_site(world), status=204)


def _in_space(world: World) -> dict[str, str]:
    path, space = installed(world), world.space(changes=())["id"]
    world.made("installIntegrationOnSpace", path, body={"space": space})
    return path | {"spaceId": space}


def _in_site(world: World) -> dict[str, str]:
    path, site = installed(world), world.site(world.space()["id"])["id"]
    world.made("installIntegrationOnSite", path, body={"siteId": site})
    return path | {"siteId": site}


@probe("renderIntegrationUiWithPost")
def probe_render_integration_ui_with_post(world: World) -> Ask:
    body = {"componentId": "card", "props": {"url": "https://x.test/a"}, "context": {"type": "document"}}

    def check(answer: Any) -> None:
        assert answer["element"]["children"][0]["onPress"] == {"action": "@ui.url.open", "url": "https://x.test/a"}

    wrong: tuple[dict[str, Any], ...] = ({"props": None}, {"componentId": ""}, {"context": 7})
    return Ask(published(world), body=body, invalid=tuple(body | one for one in wrong), open_body=True, check=check)
