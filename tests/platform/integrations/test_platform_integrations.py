"""Integrations beyond the contract's probes: versions, who sees what, installations, and events."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from syncd.platform.app import create_app
from syncd.platform.integrations import delivery, events
from syncd.platform.schema import accounts
from syncd.platform.schema import integrations as tables
from syncd.platform.settings import PlatformSettings
from syncd.platform.storage import jobs
from tests.contract.in_process import InProcess
from tests.contract.probes.integrations import manifest, new_name
from tests.contract.world import Target, World
from tests.due_jobs import run_due_jobs
from tests.storages import new_storage


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with new_storage(tmp_path_factory.mktemp("integrations")) as storage:
        app = create_app(storage)
        with httpx.Client(base_url="http://platform", transport=InProcess(app)) as client:
            yield Target(storage, app, client)


@pytest.fixture
def world(target: Target) -> World:
    return target.world()


def publish(world: World, **members: Any) -> dict[str, str]:
    path = {"integrationName": new_name(world)}
    world.made("publishIntegration", path, body=manifest(world, **members))
    return path


def install(world: World, path: dict[str, str], **members: Any) -> dict[str, str]:
    made = world.made("installIntegration", path, body={"organization": world.organization})
    path = path | {"installationId": made["id"]}
    if members:
        world.made("updateIntegrationInstallation", path, body=members)
    return path


def happened(world: World, path: dict[str, str]) -> list[dict[str, Any]]:
    listed = world.made("listIntegrationEvents", {"integrationName": path["integrationName"]})["items"]
    return [event["payload"] for event in listed]


def names(answer: Any) -> list[str]:
    return [item["name"] for item in answer["items"]]


def test_each_publication_is_a_version_with_all_of_its_members_new(world: World) -> None:
    path = publish(world, summary="First", categories=["content"])
    again = world.made("publishIntegration", path, body=manifest(world, title="Notes again"))
    assert again["version"] == 2
    assert again["title"] == "Notes again"
    assert "summary" not in again
    assert again["categories"] == []
    assert world.made("getIntegrationByName", path) == again


def test_a_name_belongs_to_who_took_it_first(world: World, target: Target) -> None:
    path, other = publish(world), target.world()
    refused = other.call("publishIntegration", path, body=manifest(other))
    assert refused.status_code == 409
    assert other.call("publishIntegration", path, body=manifest(world)).status_code == 404


def test_an_organization_is_known_by_its_hostname_too(world: World) -> None:
    hostname = f"h{world.organization.lower()}"
    world.made("updateOrganizationById", body={"hostname": hostname})
    made = world.made(
        "publishIntegration", {"integrationName": new_name(world)}, body=manifest(world, organization=hostname)
    )
    assert made["owner"]["id"] == world.organization


def test_what_is_private_public_or_unlisted_is_seen_by_whom_it_is_for(world: World) -> None:
    name = new_name(world)
    for visibility in ("private", "public", "unlisted"):
        path = {"integrationName": f"{name}-{visibility}"}
        world.made("publishIntegration", path, body=manifest(world, visibility=visibility, title="Find me"))
    private, public, unlisted = (f"{name}-{each}" for each in ("private", "public", "unlisted"))
    query = {"search": "find ME", "owner": world.organization}
    assert names(world.made("listIntegrations", query=query)) == [private, public, unlisted]
    assert names(world.made("listIntegrations", query=query, by=world.outsider)) == [public]
    everywhere = {"search": name}
    assert names(world.made("listIntegrations", query=everywhere)) == [private, public]
    assert names(world.made("listIntegrations", query=everywhere, by=world.outsider)) == [public]

    def status(name: str, by: str) -> int:
        return world.call("getIntegrationByName", {"integrationName": name}, by=by).status_code

    assert [status(name, world.outsider) for name in (private, public, unlisted)] == [404, 200, 200]
    shown = world.made("getIntegrationByName", {"integrationName": public}, by=world.outsider)
    assert shown["permissions"] == {"admin": False}
    assert set(shown["owner"]["permissions"].values()) == {False}
    assert not {"sso", "ai", "defaultRole", "billing"} & shown["owner"].keys()
    assert status(private, world.person(None)[1]) == 403


def test_each_filter_keeps_what_it_names(world: World) -> None:
    block = {"id": "note", "title": "Note", "urlUnfurl": ["https://Notes.example.com/**", "not an address"]}
    source = {"id": "notes", "title": "Notes"}
    publish(world, blocks=[block], contentSources=[source], categories=["content"], target="space")
    hits = (
        {"category": "content"},
        {"blockDomain": "notes.EXAMPLE.com"},
        {"blocks": "true"},
        {"contentSources": "true"},
        {"scope": "space:content:read"},
        {"target": "space"},
        {"search": "beside PAGES"},
    )
    misses = (
        {"category": "marketing"},
        {"blockDomain": "example.com"},
        {"blocks": "false"},
        {"contentSources": "false"},
        {"scope": "openapi:read"},
        {"target": "site"},
        {"search": "%"},
    )
    owner = {"owner": world.organization}
    assert all(world.made("listIntegrations", query=owner | hit)["items"] for hit in hits)
    assert not any(world.made("listIntegrations", query=owner | miss)["items"] for miss in misses)


def test_a_script_and_its_secrets_are_kept_and_never_shown(world: World) -> None:
    path = publish(world, script="surely-a-script", secrets={"KEY": "surely-secret"})
    install(world, path)
    for operation in ("getIntegrationByName", "listIntegrationInstallations", "listIntegrationEvents"):
        assert "surely" not in world.call(operation, path).text
    with world.storage.read() as connection:
        row = connection.execute(
            sa.select(tables.integrations).where(tables.integrations.c.name == path["integrationName"])
        ).one()
    assert world.storage.blobs.get(row.script) == b"surely-a-script"
    assert row.secrets == {"KEY": "surely-secret"}


def test_unpublishing_takes_the_installations_along_and_strangers_nothing(world: World) -> None:
    path = publish(world, visibility="public")
    installation = install(world, path)
    assert world.call("unpublishIntegration", path, by=world.outsider).status_code == 403
    assert world.call("unpublishIntegration", path, by=world.person("create")[1]).status_code == 403
    assert world.call("unpublishIntegration", path).status_code == 204
    assert world.call("getIntegrationInstallationById", installation).status_code == 404
    assert world.call("unpublishIntegration", path).status_code == 204


def test_an_installation_waits_for_what_its_integration_requires(world: World) -> None:
    key, many = {"type": "string"}, {"type": "number", "default": 3}
    account = {"properties": {"key": key, "many": many}, "required": ["key"]}
    path = publish(world, configurations={"account": account})
    made = world.call("installIntegration", path, body={"organization": world.organization})
    assert made.headers["Location"] == made.json()["urls"]["location"]
    assert (made.json()["status"], made.json()["configuration"]) == ("pending", {"many": 3})
    path |= {"installationId": made.json()["id"]}
    again = world.call("installIntegration", path, body={"organization": world.organization})
    assert again.status_code == 409
    assert made.json()["id"] in again.json()["error"]["message"]

    def changed(**body: Any) -> str:
        return str(world.made("updateIntegrationInstallation", path, body=body)["status"])

    assert changed(status="active") == "pending"
    assert changed(configuration={"key": "x"}) == "active"
    assert changed(status="paused") == "paused"
    assert changed(externalIds=["a"]) == "paused"
    assert changed(configuration={"key": "y"}, status="active") == "active"
    before = [event.get("previous", {}).get("status") for event in happened(world, path)]
    assert before == ["paused", "active", "pending", None]


def test_a_private_integration_is_installed_by_its_owner_only(world: World, target: Target) -> None:
    path, other = publish(world), target.world()
    user, both = world.person("admin")
    with world.storage.write() as connection:
        row = {"organization": other.organization, "user": user, "role": "admin", "joined_at": "2026"}
        connection.execute(accounts.members.insert().values(row))
    body = {"organization": other.organization}
    assert world.call("installIntegration", path, body=body, by=both).status_code == 403


def test_installations_are_found_by_their_external_ids(world: World) -> None:
    path = install(world, publish(world), externalIds=["one", "two", "one"])
    space = world.space(changes=())["id"]
    body = {"space": space, "configuration": {"place": "here"}, "externalIds": ["three"]}
    world.made("installIntegrationOnSpace", path, body=body)

    def count(operation: str, id: str) -> int:
        return len(world.made(operation, path, query={"externalId": id})["items"])

    assert [count("listIntegrationInstallations", id) for id in ("one", "two", "three")] == [1, 1, 0]
    assert [count("listIntegrationSpaceInstallations", id) for id in ("one", "three")] == [0, 1]
    world.made("updateIntegrationInstallation", path, body={"externalIds": ["two"]})
    assert [count("listIntegrationInstallations", id) for id in ("one", "two")] == [0, 1]


def test_who_selects_all_spaces_is_in_each_of_them_and_may_configure_one(world: World) -> None:
    one, other = (world.space(title, changes=())["id"] for title in ("One", "Other"))
    path = install(world, publish(world), space_selection="all")
    assert world.made("getIntegrationInstallationById", path)["spaces"] == 2
    at = path | {"spaceId": one}
    assert world.made("getIntegrationSpaceInstallation", at)["configuration"] == {}
    world.made("updateIntegrationSpaceInstallation", at, body={"configuration": {"place": "x"}})
    world.made("updateIntegrationInstallation", path, body={"space_selection": "selected"})
    assert [item["space"] for item in world.made("listIntegrationInstallationSpaces", path)["items"]] == [one]
    assert world.made("getIntegrationInstallationById", path)["spaces"] == 1
    assert world.call("getIntegrationSpaceInstallation", path | {"spaceId": other}).status_code == 404
    elsewhere = world.target.world().space(changes=())["id"]
    assert world.call("installIntegrationOnSpace", path, body={"space": elsewhere}).status_code == 404
    assert world.call("installIntegrationOnSpace", path, body={"space": one}).status_code == 409


def test_main_content_that_moves_is_told_to_the_installations_that_reach_it(world: World) -> None:
    path = install(world, publish(world))
    here, there = (world.space(title)["id"] for title in ("Here", "There"))
    world.made("installIntegrationOnSpace", path, body={"space": here, "configuration": {"place": "x"}})
    before = len(happened(world, path))
    for space in (here, there):
        page = world.made("listPages", {"spaceId": space})["pages"][0]["id"]
        text = {"markdown": f"# Home\n\nNew in {space}.\n"}
        world.write(space, [{"operation": "update_page", "page": page, "document": text}])
    newest, *rest = happened(world, path)
    assert len(rest) == before
    assert (newest["type"], newest["spaceId"]) == ("space_content_updated", here)
    assert newest["revisionId"] == world.made("getSpaceById", {"spaceId": here})["revision"]
    world.made("updateIntegrationInstallation", path, body={"status": "paused"})
    told = len(happened(world, path))
    world.write(here, [{"operation": "insert_page", "title": "More", "document": {"markdown": "# More\n"}}])
    assert len(happened(world, path)) == told


def test_without_the_scope_nothing_is_told(world: World) -> None:
    path = install(world, publish(world, scopes=["space:metadata:read"]), space_selection="all")
    told = len(happened(world, path))
    world.space()
    assert len(happened(world, path)) == told


def test_leaving_a_space_is_an_event_and_so_is_leaving_the_organization(world: World) -> None:
    path = install(world, publish(world))
    space = world.space(changes=())["id"]
    world.made("installIntegrationOnSpace", path, body={"space": space})
    world.made("uninstallIntegrationFromSpace", path | {"spaceId": space})
    world.made("uninstallIntegration", path)
    assert [event["type"] for event in happened(world, path)] == [
        "installation_deleted",
        "space_installation_deleted",
        "space_installation_setup",
        "installation_setup",
    ]


def test_events_are_kept_for_a_while_and_not_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = datetime(2026, 1, 31, tzinfo=UTC)
    monkeypatch.setattr(delivery, "KEPT_MAX", 5)
    with new_storage(tmp_path, clock=lambda: now) as storage:
        with storage.write() as connection:
            made = {"created_at": "2026", "title": "Notes"}
            connection.execute(accounts.organizations.insert().values(id="o", **made))
            row = {"name": "n", "owner": "o", "version": 1, "description": "", "visibility": "private", "target": "all"}
            row |= {"has_blocks": False, "has_content_sources": False, "script": "", "updated_at": "2026", **made}
            connection.execute(tables.integrations.insert().values(details={}, images={}, secrets={}, **row))
            for _ in range(9):
                events.insert_event(connection, storage, events.EventTarget("n", "i", {}), "installation_setup", {})

        def pruned() -> tuple[int, int]:
            done = run_due_jobs(jobs.JobContext(storage, PlatformSettings()), delivery.HANDLERS)
            with storage.read() as connection:
                return done, connection.scalar(sa.select(sa.func.count()).select_from(tables.events)) or 0

        assert pruned() == (0, 9)
        now += timedelta(hours=2)
        assert pruned() == (1, 5)
        now += delivery.KEPT_FOR
        assert pruned() == (1, 0)
        now += timedelta(days=2)
        assert pruned() == (0, 0)
