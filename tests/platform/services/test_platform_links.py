"""Links and backlinks: each kind of reference, its status, and that a text is read for them only once."""

import shutil
from pathlib import Path
from typing import Any

import httpx
import pytest

from syncd.platform.services.directory.read import import_directory
from syncd.platform.services.links import graph
from syncd.platform.storage import text_addresses as addresses
from syncd.platform.storage.storage import Storage

PAGES = {
    "README.md": (
        "---\ncover: .gitbook/assets/logo.png\n---\n\n# Home\n\n[a](guide/) [b](guide/steps.md#two) [c](guide/steps)\n"
    ),
    "guide/README.md": "# Guide\n\n[up](../README.md) [gone](nowhere.md) [out](../../else.md) [far](https://example.org)\n",
    "guide/steps.md": (
        '# Steps\n\n{% include "../.gitbook/includes/note.md" %}\n\n'
        "![](../.gitbook/assets/logo.png) [me](#two) [mail](mailto:a@example.org) [old](/pages/nothing)\n\n"
        "```\n[no](link.md)\n```\n"
    ),
    ".gitbook/includes/note.md": "See [home](../../README.md).\n",
    ".gitbook/assets/logo.png": "not really an image",
}


@pytest.fixture
def space(storage: Storage, server: tuple[str, str], tmp_path: Path) -> str:
    for name, text in PAGES.items():
        file = tmp_path / "docs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return import_directory(storage, tmp_path / "docs", title="Docs").space


def get(http: httpx.Client, path: str, **query: Any) -> dict[str, Any]:
    answer = http.get(path, params=query)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def page(http: httpx.Client, space: str, path: str) -> str:
    return str(get(http, f"/v1/spaces/{space}/content/path/{path}")["id"])


def links(http: httpx.Client, path: str, **query: Any) -> set[tuple[str, str, str]]:
    items = get(http, path, **query)["items"]
    targets = [(item["targetReference"], item["status"]) for item in items]
    return {(kind_of(target), target.get("url", ""), status) for target, status in targets}


def kind_of(target: dict[str, Any]) -> str:
    return "anchor" if "internalLocation" in target else str(target["kind"])


def test_each_kind_of_reference_has_its_target_and_status(http: httpx.Client, space: str) -> None:
    home = get(http, f"/v1/spaces/{space}/content")["pages"][0]["id"]
    shown = get(http, f"/v1/spaces/{space}/content/page/{home}/links")
    targets = {kind_of(item["targetReference"]): item["targetReference"] for item in shown["items"]}
    steps = page(http, space, "guide/steps")
    assert targets["anchor"]["internalLocation"] == {"type": "anchor", "anchor": "two"}
    assert (targets["anchor"]["page"]["id"], targets["anchor"]["space"]["id"]) == (steps, space)
    assert targets["file"]["file"] == get(http, f"/v1/spaces/{space}/content/files")["items"][0]
    assert sorted(kind_of(item["targetReference"]) for item in shown["items"]) == ["anchor", "file", "page", "page"]
    assert shown["stats"] == {"total": 4, "broken": {"total": 0}}
    assert links(http, f"/v1/spaces/{space}/content/page/{page(http, space, 'guide')}/links") == {
        ("page", "", "ok"),
        ("url", "nowhere.md", "broken"),
        ("url", "../../else.md", "broken"),
        ("url", "https://example.org", "ok"),
    }
    assert links(http, f"/v1/spaces/{space}/content/page/{steps}/links") == {
        ("reusable-content", "", "ok"),
        ("file", "", "ok"),
        ("anchor", "", "ok"),
        ("url", "mailto:a@example.org", "ok"),
        ("url", "/pages/nothing", "broken"),
    }


def test_a_space_lists_each_target_once_with_all_its_places(http: httpx.Client, space: str) -> None:
    logo = get(http, f"/v1/spaces/{space}/content/files")["items"][0]["id"]
    shown = get(http, f"/v1/spaces/{space}/links", limit=1000)
    at = next(item for item in shown["items"] if item["targetReference"].get("file", {}).get("id") == logo)
    assert {place["kind"] for place in at["locationReferences"]} == {"page"}
    assert len(at["locationReferences"]) == 2
    assert {item["relation"] for item in shown["items"]} == {"reference", "dependsOn"}
    broken = links(http, f"/v1/spaces/{space}/links", status="broken")
    assert {address for _, address, _ in broken} == {"nowhere.md", "../../else.md", "/pages/nothing"}


def test_an_address_of_the_app_is_told_apart(http: httpx.Client, space: str) -> None:
    app = get(http, f"/v1/spaces/{space}")["urls"]["app"]
    home = get(http, f"/v1/spaces/{space}/content")["pages"][0]["id"]
    http.post(f"/v1/spaces/{space}/change-requests", json={}).raise_for_status()
    change = {"operation": "update_page", "page": home, "document": {"markdown": f"# Home\n\n[app]({app})\n"}}
    request = f"/v1/spaces/{space}/change-requests/1"
    http.post(f"{request}/content", json={"changes": [change]}).raise_for_status()
    assert links(http, f"{request}/content/page/{home}/links", status="in-app") == {("url", app, "in-app")}


def test_backlinks_name_pages_and_reusable_contents(http: httpx.Client, space: str) -> None:
    main = get(http, f"/v1/spaces/{space}/content")
    home, note = main["pages"][0]["id"], main["reusableContents"][0]["id"]
    items = get(http, f"/v1/spaces/{space}/content/page/{home}/backlinks")["items"]
    assert {item["kind"]: (item.get("page") or item["reusableContent"])["id"] for item in items} == {
        "page": page(http, space, "guide"),
        "reusable-content": note,
    }
    context = items[0]["versionContext"]
    assert (context["type"], context["revision"]["id"]) == ("revision", main["id"])
    assert (items[0]["space"]["id"], items[0]["organization"]["object"]) == (space, "organization")
    steps = page(http, space, "guide/steps")
    found = get(http, f"/v1/spaces/{space}/content/page/{steps}/backlinks")["items"]
    assert [item["page"]["id"] for item in found] == [home]


def test_a_text_is_read_for_its_addresses_once_for_all_time(
    http: httpx.Client, storage: Storage, tmp_path: Path
) -> None:
    # A text of this test alone: what others have read is remembered.
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "README.md").write_text(f"# Home\n\n[gone]({storage.new_id()}.md)\n")
    space = import_directory(storage, tmp_path / "docs", title="Docs").space
    first = get(http, f"/v1/spaces/{space}/links")
    shutil.rmtree(storage.data / "blobs")
    addresses._cache = type(addresses._cache)(1)
    graph._graphs = type(graph._graphs)(1)
    assert get(http, f"/v1/spaces/{space}/links") == first
