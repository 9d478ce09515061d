"""Spaces: created, listed, changed, put away and brought back as the document says."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from syncd.platform.app import create_app
from syncd.platform.schema.content import spaces
from syncd.platform.storage.storage import Storage
from tests.contract.in_process import InProcess
from tests.contract.world import Target, World
from tests.storages import new_storage


def _created(http: httpx.Client, organization: str, **members: Any) -> dict[str, Any]:
    answer = http.post(f"/v1/orgs/{organization}/spaces", json=members)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    assert http.get(answer.headers["location"]).json() == made
    return made


def test_a_new_space_has_a_home_page_unless_it_shall_be_empty(http: httpx.Client, organization: str) -> None:
    space = _created(http, organization, title="Guides & more", emoji="1f3e0", language="en")
    assert {key: space[key] for key in ("object", "title", "emoji", "language", "editMode", "organization")} == {
        "object": "space",
        "title": "Guides & more",
        "emoji": "1f3e0",
        "language": "en",
        "editMode": "live",
        "organization": organization,
    }
    assert space["createdAt"].endswith("Z")
    assert len(space["createdAt"]) == len("2026-01-31T08:15:00.250Z")
    home = http.get(f"/v1/spaces/{space['id']}/content").json()["pages"]
    assert [(page["title"], page["path"], page["git"]["path"]) for page in home] == [("Guides & more", "", "README.md")]
    text = http.get(f"/v1/spaces/{space['id']}/content/page/{home[0]['id']}?format=markdown").json()["markdown"]
    assert text == "# Guides & more\n"
    empty = _created(http, organization, title="Empty", empty=True)
    assert http.get(f"/v1/spaces/{empty['id']}/content").json()["pages"] == []


@pytest.mark.parametrize("body", [{"title": ""}, {"title": "x" * 51}, {"editMode": "open"}, {"unheard": 1}])
def test_a_space_outside_the_limits_is_refused(http: httpx.Client, organization: str, body: dict[str, Any]) -> None:
    space = _created(http, organization, title="S")
    assert http.post(f"/v1/orgs/{organization}/spaces", json=body).status_code == 400
    assert http.patch(f"/v1/spaces/{space['id']}", json=body).status_code == 400
    assert http.get(f"/v1/spaces/{space['id']}").json() == space


def test_an_update_changes_what_it_names(http: httpx.Client, organization: str) -> None:
    space = _created(http, organization, title="S", emoji="1f3e0")
    path = f"/v1/spaces/{space['id']}"
    changed = http.patch(path, json={"title": "T", "editMode": "locked", "defaultLevel": "edit"}).json()
    wanted = space | {"title": "T", "editMode": "locked", "defaultLevel": "edit", "updatedAt": changed["updatedAt"]}
    assert changed == wanted == http.get(path).json()
    assert http.patch(path, json={}).json() == changed
    assert http.patch(path, json={"emoji": None}).json()["emoji"] == ""
    assert http.patch(path, json={"mergeRules": None}).status_code == 400


def test_the_list_is_complete_page_by_page(http: httpx.Client, organization: str) -> None:
    made = [_created(http, organization, title=f"S{number}")["id"] for number in range(5)]
    found: list[str] = []
    query: dict[str, Any] = {"limit": 2}
    while True:
        envelope = http.get(f"/v1/orgs/{organization}/spaces", params=query).json()
        found += [item["id"] for item in envelope["items"]]
        if "next" not in envelope:
            break
        query["page"] = envelope["next"]["page"]
    assert sorted(found) == sorted(made)
    assert envelope["count"] == 5


def test_a_deleted_space_can_be_restored(http: httpx.Client, organization: str) -> None:
    space = _created(http, organization, title="S")
    path = f"/v1/spaces/{space['id']}"
    assert [http.delete(path).status_code for _ in range(2)] == [204, 204]
    assert "deletedAt" in http.get(path).json()
    assert http.get(f"/v1/orgs/{organization}/spaces").json()["items"] == []
    for below in ("/content", "/change-requests"):
        assert http.get(f"{path}{below}").status_code == 404
    assert http.post(f"{path}/restore").json() == space == http.get(path).json()
    assert http.delete("/v1/spaces/nothing").status_code == 204


async def _asked(storage: Storage, token: str, method: str, path: str) -> httpx.Response:
    transport = httpx.ASGITransport(create_app(storage))
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://platform", headers=headers) as client:
        return await client.request(method, path, json={} if method == "POST" else None)


def test_after_seven_days_a_deleted_space_is_gone(tmp_path: Path) -> None:
    moment = [datetime(2026, 1, 1, tzinfo=UTC)]
    with new_storage(tmp_path / "platform", clock=lambda: moment[0]) as storage:
        founded = storage.bootstrap()
        assert founded
        made = asyncio.run(_asked(storage, founded.token, "POST", f"/v1/orgs/{founded.organization}/spaces")).json()
        path = f"/v1/spaces/{made['id']}"
        asyncio.run(_asked(storage, founded.token, "DELETE", path))
        moment[0] += timedelta(days=6, hours=23)
        assert asyncio.run(_asked(storage, founded.token, "GET", path)).status_code == 200
        moment[0] += timedelta(hours=2)
        assert asyncio.run(_asked(storage, founded.token, "GET", path)).status_code == 404
        assert asyncio.run(_asked(storage, founded.token, "POST", f"{path}/restore")).status_code == 404
        assert asyncio.run(_asked(storage, founded.token, "DELETE", path)).status_code == 204


def test_a_deleted_space_is_removed_by_a_job_unless_it_was_restored(tmp_path: Path) -> None:
    moment = [datetime(2026, 1, 1, tzinfo=UTC)]
    with new_storage(tmp_path / "platform", clock=lambda: moment[0]) as storage:
        app = create_app(storage)
        with httpx.Client(base_url="http://platform", transport=InProcess(app)) as client:
            world = Target(storage, app, client).world()
            kept, gone = ({"spaceId": world.space(title)["id"]} for title in ("Kept", "Gone"))
            for path in (kept, gone):
                world.made("deleteSpaceById", path)
            world.made("restoreSpace", kept)
            moment[0] += timedelta(days=3)
            world.made("deleteSpaceById", kept)
            moment[0] += timedelta(days=4, minutes=1)
            world.run_jobs()
            assert _left(storage) == {"Kept"}
            assert world.call("restoreSpace", gone).status_code == 404
            moment[0] += timedelta(days=3)
            world.run_jobs()
            assert _left(storage) == set()
            assert world.call("deleteSpaceById", gone).status_code == 204


def _left(storage: Storage) -> set[str]:
    with storage.read() as connection:
        return set(connection.scalars(sa.select(spaces.c.title)))


def test_a_duplicate_begins_with_the_same_content_and_goes_its_own_way(world: World) -> None:
    original = world.space()
    copy = world.made("duplicateSpace", {"spaceId": original["id"]})
    assert copy["title"] == "Guides (copy)"
    at = [{"spaceId": id} for id in (original["id"], copy["id"])]
    before = [world.made("getCurrentRevision", path)["pages"] for path in at]
    assert [page["git"]["oid"] for page in before[0]] == [page["git"]["oid"] for page in before[1]]
    change = {"operation": "update_page", "page": before[0][0]["id"], "document": {"markdown": "# Home\n\nAnother.\n"}}
    world.write(copy["id"], [change])
    after = [world.made("getCurrentRevision", path)["pages"] for path in at]
    assert after[0] == before[0]
    assert after[1][0]["git"]["oid"] != before[1][0]["git"]["oid"]


def test_a_space_has_an_emoji_or_an_icon(world: World) -> None:
    path = {"spaceId": world.space()["id"]}
    icon = "https://example.com/icon.png"
    assert world.made("updateSpaceById", path, body={"emoji": "1f4d6"})["emoji"] == "1f4d6"
    with_icon = world.made("updateSpaceById", path, body={"icon": icon})
    assert with_icon["urls"]["icon"] == icon
    assert with_icon["emoji"] == ""
    bare = world.made("updateSpaceById", path, body={"icon": None})
    assert "icon" not in bare["urls"]
    assert bare["emoji"] == ""


def test_a_space_is_as_visible_as_the_site_that_publishes_it(world: World) -> None:
    space = world.space()
    path, site = {"spaceId": space["id"]}, world.site(space["id"], visibility="unlisted")
    assert world.made("getSpaceById", path)["visibility"] == "private"
    world.made("publishSite", {"siteId": site["id"]})
    shown = world.made("getSpaceById", path)
    assert shown["visibility"] == "unlisted"
    assert "published" in shown["urls"]
    assert "public" not in shown["urls"]
    world.made("updateSiteById", {"siteId": site["id"]}, body={"visibility": "public"})
    public = world.made("getSpaceById", path)
    assert (public["visibility"], public["urls"]["public"]) == ("public", public["urls"]["published"])
    world.made("unpublishSite", {"siteId": site["id"]})
    assert world.made("getSpaceById", path) == space | {"updatedAt": public["updatedAt"]}


def test_a_space_is_read_from_the_database_once_for_each_caller_and_address(world: World) -> None:
    path, reader = {"spaceId": world.space()["id"]}, world.person("read")[1]
    shown, statements = world.made("getSpaceById", path), []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        statements.append(statement)

    sa.event.listen(sa.Engine, "before_cursor_execute", note)
    try:
        assert world.made("getSpaceById", path) == shown
        assert statements == []
        assert world.made("getSpaceById", path, by=reader)["permissions"]["edit"] is False
        assert world.call("getSpaceById", path, by=world.outsider).status_code == 404
        headers = {"Host": "localhost:1", "Authorization": f"Bearer {world.http}"}
        elsewhere = world.target.client.get(f"/v1/spaces/{path['spaceId']}", headers=headers).json()
        assert elsewhere["urls"] != shown["urls"]
        assert elsewhere | {"urls": shown["urls"]} == shown
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", note)
    world.made("updateSpaceById", path, body={"title": "Handbook"})
    assert world.made("getSpaceById", path)["title"] == "Handbook"


def test_open_comments_on_the_space_are_counted(world: World) -> None:
    path = {"spaceId": world.space()["id"]}
    made = [world.made("postCommentInSpace", path, body={"body": {"markdown": "Why?"}}) for _ in range(2)]
    assert world.made("getSpaceById", path)["comments"] == 2
    world.made("updateCommentInSpace", {**path, "commentId": made[0]["id"]}, body={"resolved": True})
    assert world.made("getSpaceById", path)["comments"] == 1
