"""What a revision or a change request changed, told by page, file, variable and tag."""

import base64
from pathlib import Path
from typing import Any

import httpx
import pytest

from syncd.model.changes import Changes
from syncd.platform.services.directory.read import import_directory
from syncd.platform.storage.storage import Storage

FILES = {
    "SUMMARY.md": (
        "# Table of contents\n\n* [Home](README.md)\n* [Old](old.md)\n  * [Below](old/below.md)\n* [Gone](gone.md)\n"
    ),
    "README.md": "# Home\n",
    "old.md": "# Old\n",
    "old/below.md": "# Below\n",
    "gone.md": "# Gone\n",
    ".gitbook/vars.yaml": "version: '1.0'\nsame: yes\n",
    ".gitbook/includes/note.md": "---\ntitle: Note\n---\n\nOne.\n",
}


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        file = tmp_path / "docs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path / "docs"


def changes(http: httpx.Client, path: str, **query: Any) -> list[dict[str, Any]]:
    answer = http.get(f"{path}/changes", params=query)
    assert answer.status_code == 200, answer.text
    assert Changes.model_validate(answer.json()).wire() == answer.json()
    found: list[dict[str, Any]] = answer.json()["changes"]
    return found


def test_a_change_request_tells_each_change_of_a_page(http: httpx.Client, storage: Storage, docs: Path) -> None:
    space = import_directory(storage, docs, title="Docs").space
    _, old, gone = (page["id"] for page in http.get(f"/v1/spaces/{space}/content").json()["pages"])
    below = http.get(f"/v1/spaces/{space}/content/path/old/below").json()["id"]
    http.post(f"/v1/spaces/{space}/change-requests", json={}).raise_for_status()
    request = f"/v1/spaces/{space}/change-requests/1"
    assert changes(http, request) == []
    text = {"name": "a.txt", "base64": base64.b64encode(b"a").decode(), "contentType": "text/plain"}
    wanted = [
        {"operation": "insert_page", "title": "New", "document": {"markdown": "# New\n"}},
        {"operation": "update_page", "page": old, "title": "Older", "description": "Now with words", "emoji": "1f44b"},
        {"operation": "update_page", "page": below, "into": None},
        {"operation": "delete_page", "page": gone},
        {"operation": "insert_files", "files": [text]},
    ]
    http.post(f"{request}/content", json={"changes": wanted}).raise_for_status()
    found = {}
    for change in changes(http, request):
        title = change["page"]["title"] if "page" in change else change["file"]["name"]
        found[change["type"], title] = change
    assert set(found) == {
        ("page_created", "New"),
        ("page_edited", "Older"),
        ("page_moved", "Below"),
        ("page_deleted", "Gone"),
        ("file_created", "a.txt"),
    }
    edited = found["page_edited", "Older"]["attributes"]
    assert edited["title"] == {"before": "Old", "after": "Older"}
    assert (edited["description"], edited["emoji"]) == ({"after": "Now with words"}, {"after": "1f44b"})
    assert set(edited["document"]) == {"before", "after"}
    for side in edited["document"].values():
        answer = http.get(f"/v1/spaces/{space}/documents/{side}")
        assert (answer.status_code, answer.json()["object"]) == (200, "document")
    assert found["page_moved", "Below"]["parent"]["before"]["id"] == old
    assert "after" not in found["page_moved", "Below"]["parent"]
    assert http.get(f"{request}/changes?limit=2").json()["more"] == 3


def test_an_import_tells_what_no_content_write_can_change(
    http: httpx.Client, storage: Storage, organization: str, docs: Path
) -> None:
    space = import_directory(storage, docs, title="Docs").space
    first = http.get(f"/v1/spaces/{space}").json()["revision"]
    assert len(changes(http, f"/v1/spaces/{space}/revisions/{first}", limit=100)) == 4 + 1 + 1
    (docs / ".gitbook" / "vars.yaml").write_text("version: '2.0'\nsame: yes\n")
    (docs / ".gitbook" / "tags.yaml").write_text("- tag: new\n  label: New\n")
    (docs / ".gitbook" / "includes" / "note.md").write_text("---\ntitle: Note\n---\n\nTwo.\n")
    second = import_directory(storage, docs, space=space).revision
    variables, tag, reusable = sorted(
        changes(http, f"/v1/spaces/{space}/revisions/{second}"), key=lambda change: str(change["type"]), reverse=True
    )
    assert variables == {"type": "variables_edited", "variables": {"version": {"before": "1.0", "after": "2.0"}}}
    assert tag == {"type": "tag_created", "tag": {"slug": "new", "label": "New"}}
    assert (reusable["type"], list(reusable["attributes"])) == ("reusable_content_edited", ["document"])


def test_of_an_edited_tag_its_label_is_told(http: httpx.Client, storage: Storage, docs: Path) -> None:
    file = docs / ".gitbook" / "tags.yaml"
    file.write_text("- tag: a\n  label: A\n- tag: b\n- tag: c\n- label: nothing\n")
    space = import_directory(storage, docs, title="Docs").space
    assert http.get(f"/v1/spaces/{space}/content").json()["tags"] == [
        {"slug": "a", "label": "A", "color": "default"},
        {"slug": "b", "label": "b", "color": "default"},
        {"slug": "c", "label": "c", "color": "default"},
    ]
    file.write_text("- tag: a\n  label: Ah\n- tag: b\n  icon: bolt\n  color: blue\n")
    second = import_directory(storage, docs, space=space).revision
    assert changes(http, f"/v1/spaces/{space}/revisions/{second}") == [
        {
            "type": "tag_edited",
            "tag": {"slug": "a", "label": "Ah"},
            "attributes": {"label": {"before": "A", "after": "Ah"}},
        },
        {"type": "tag_deleted", "tag": {"slug": "c", "label": "c"}},
    ]


def test_a_document_is_found_only_in_its_own_space(http: httpx.Client, storage: Storage, docs: Path) -> None:
    space, other = (import_directory(storage, docs, title=title).space for title in ("One", "Two"))
    (docs / "README.md").write_text("# Only here\n")
    import_directory(storage, docs, space=space)
    id = http.get(f"/v1/spaces/{space}/content").json()["pages"][0]["documentId"]
    assert http.get(f"/v1/spaces/{space}/documents/{id}").status_code == 200
    assert http.get(f"/v1/spaces/{other}/documents/{id}").status_code == 404
