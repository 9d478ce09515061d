"""Spaces: created, listed, changed, put away and brought back as the document says."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from syncd.platform.app import create_app
from syncd.platform.storage import Storage


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
    assert "emoji" not in http.patch(path, json={"emoji": None}).json()
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
    with Storage(tmp_path / "platform", clock=lambda: moment[0]) as storage:
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
