"""Templates: a space's content, or a built-in one, copied with ids, places and links of its own."""

import base64
from pathlib import Path
from typing import Any

import httpx
import pytest

from syncd.platform.services.directory.read import import_directory
from syncd.platform.storage.storage import Storage

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + (3).to_bytes(4) + (2).to_bytes(4) + b"\x08\x06\x00\x00\x00"
FILES: dict[str, bytes] = {
    "SUMMARY.md": b"# Contents\n\n* [Start](README.md)\n* [Guide](guide/README.md)\n  * [Steps](guide/steps.md)\n",
    "README.md": (
        b"---\ncover: .gitbook/assets/logo.png\n---\n\n# Start\n\n[Steps](guide/steps.md#one) [API](/refs/api)\n"
    ),
    "guide/README.md": b"# Guide\n\n[Start](../README.md)\n",
    "guide/steps.md": b'# Steps\n\n{% include "../.gitbook/includes/note.md" %}\n\n![](../.gitbook/assets/logo.png)\n',
    ".gitbook/assets/logo.png": PNG,
    ".gitbook/includes/note.md": b"---\ntitle: Note\n---\n\nMind the gap.\n",
    ".gitbook/vars.yaml": b"version: '1.0'\n",
}


@pytest.fixture
def template(storage: Storage, server: tuple[str, str], tmp_path: Path) -> str:
    for name, data in FILES.items():
        file = tmp_path / "docs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    return import_directory(storage, tmp_path / "docs", title="Template").space


def content(http: httpx.Client, space: str) -> dict[str, Any]:
    answer = http.get(f"/v1/spaces/{space}/content")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def text(http: httpx.Client, space: str, path: str) -> str:
    answer = http.get(f"/v1/spaces/{space}/content/path/{path}", params={"format": "markdown"})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["markdown"])


def apply(http: httpx.Client, space: str, status: int = 201, **body: Any) -> None:
    answer = http.post(f"/v1/spaces/{space}/content/template", json=body)
    assert answer.status_code == status, answer.text
    assert status != 201 or answer.content == b""


def test_an_empty_space_gets_what_the_template_has(http: httpx.Client, organization: str, template: str) -> None:
    space = http.post(f"/v1/orgs/{organization}/spaces", json={"empty": True}).json()["id"]
    apply(http, space, id=template, params={"contentRefs": {"api": {"kind": "url", "url": "https://example.org/api"}}})
    source, copy = content(http, template), content(http, space)
    assert [page["path"] for page in copy["pages"]] == [page["path"] for page in source["pages"]]
    assert [page["git"]["path"] for page in copy["pages"]] == ["README.md", "guide/README.md"]
    assert text(http, space, "guide/steps") == FILES["guide/steps.md"].decode()
    assert "[Steps](guide/steps.md#one) [API](https://example.org/api)" in text(http, space, "")
    assert copy["pages"][0]["cover"]["ref"]["file"] == copy["files"][0]["id"] != source["files"][0]["id"]
    assert copy["variables"] == {"version": "1.0"}
    assert {page["id"] for page in copy["pages"]}.isdisjoint(page["id"] for page in source["pages"])
    assert http.get(f"/v1/spaces/{space}/links", params={"status": "broken"}).json()["items"] == []


def test_what_is_there_already_keeps_its_place_and_the_copy_gets_another(http: httpx.Client, template: str) -> None:
    before = content(http, template)
    apply(http, template, id=template)
    after = content(http, template)
    assert after["pages"][:2] == before["pages"]
    assert [page["path"] for page in after["pages"][2:]] == ["start", "guide-1"]
    assert after["parents"] == [before["id"]]
    assert text(http, template, "guide-1") == "# Guide\n\n[Start](../start.md)\n"
    assert text(http, template, "guide-1/steps") == (
        '# Steps\n\n{% include "../.gitbook/includes/note-1.md" %}\n\n![](<../.gitbook/assets/logo (1).png>)\n'
    )


def test_a_change_request_gets_it_and_main_content_does_not(http: httpx.Client, organization: str) -> None:
    space = http.post(f"/v1/orgs/{organization}/spaces", json={}).json()["id"]
    request = http.post(f"/v1/spaces/{space}/change-requests", json={}).json()["id"]
    before = content(http, space)
    file = {"name": "a.txt", "base64": base64.b64encode(b"a").decode(), "contentType": "text/plain"}
    write = {"changes": [{"operation": "insert_files", "files": [file]}]}
    http.post(f"/v1/spaces/{space}/change-requests/{request}/content", json=write).raise_for_status()
    http.patch(f"/v1/spaces/{space}", json={"editMode": "locked"}).raise_for_status()
    apply(http, space, id="product-docs", changeRequestId="1")
    pages = http.get(f"/v1/spaces/{space}/change-requests/1/content/pages").json()["pages"]
    assert [page["title"] for page in pages[1:]] == ["Welcome", "Quickstart", "Concepts", "Guides", "Reference"]
    assert content(http, space) == before
    apply(http, space, 409, id="product-docs")


def test_nothing_comes_of_nothing(http: httpx.Client, organization: str) -> None:
    space = http.post(f"/v1/orgs/{organization}/spaces", json={}).json()["id"]
    before = content(http, space)["id"]
    apply(http, space, id="blank")
    assert content(http, space)["id"] == before
    apply(http, space, 404, id="nothing-of-that-name")
    page = {"kind": "page", "page": "nothing"}
    apply(http, space, 400, id="product-docs", params={"contentRefs": {"a": page}})
    apply(http, space, 400, id="product-docs", params={"contentRefs": {"a": {"kind": "url"}}})
