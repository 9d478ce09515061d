"""Reading content: by id, by path, of a revision of long ago; and files, which need no token but only for a while."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from syncd.model.blob_id import compute_blob_id
from syncd.model.revision import Revision
from syncd.platform.app import create_app
from syncd.platform.schema import accounts
from syncd.platform.services.directory.read import import_directory
from syncd.platform.storage.storage import Storage, hash_token
from tests.storages import new_storage

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + (3).to_bytes(4) + (2).to_bytes(4) + b"\x08\x06\x00\x00\x00"
HOME = "---\ncover: .gitbook/assets/logo.png\ncoverY: 0\nlayout:\n  width: wide\n---\n\n# Home\n"
FILES: dict[str, bytes] = {
    "SUMMARY.md": (
        b'# Table of contents\n\n* [Home](README.md)\n* [Start](start/README.md "Go")\n'
        b"  * [Deep \xc3\xa9](start/deep.md)\n\n## Links\n\n* [Out](https://example.org)\n"
        b"* [There](start/deep.md#part)\n* [Paper](.gitbook/assets/paper.html)\n"
    ),
    "README.md": HOME.encode(),
    "start/README.md": b"\xef\xbb\xbf# Start\r\n\r\n* one\r\n",
    "start/deep.md": "# Deep é\n\nText without a last newline".encode(),
    ".gitbook/assets/logo.png": PNG,
    ".gitbook/assets/paper.html": b"<script>alert(1)</script>",
    ".gitbook/includes/note.md": b"---\ntitle: A note\n---\n\nMind the gap.\n",
    ".gitbook/vars.yaml": b"version: '1.0'\n",
}


@pytest.fixture
def space(storage: Storage, server: tuple[str, str], tmp_path: Path) -> str:
    for name, data in FILES.items():
        file = tmp_path / "docs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    return import_directory(storage, tmp_path / "docs", title="Docs").space


def get(http: httpx.Client, path: str, **query: Any) -> dict[str, Any]:
    answer = http.get(path, params=query)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_a_revision_shows_the_whole_space(http: httpx.Client, space: str) -> None:
    shown = get(http, f"/v1/spaces/{space}/content")
    assert Revision.model_validate(shown).wire() == shown
    home, start, links = shown["pages"]
    assert (home["path"], start["path"], start["linkTitle"], links["type"]) == ("", "start", "Go", "group")
    assert [page["path"] for page in start["pages"]] == ["start/deep"]
    logo = next(file for file in shown["files"] if file["name"] == "logo.png")
    assert home["cover"] == {"ref": {"kind": "file", "file": logo["id"]}, "yPos": 0}
    assert (logo["contentType"], logo["size"], logo["dimensions"]) == ("image/png", len(PNG), {"width": 3, "height": 2})
    assert [page["target"]["kind"] for page in links["pages"]] == ["url", "page", "file"]
    assert links["pages"][1]["target"] == {"kind": "page", "page": start["pages"][0]["id"], "anchor": "part"}
    assert [(content["title"], content["git"]["path"]) for content in shown["reusableContents"]] == [
        ("A note", ".gitbook/includes/note.md")
    ]
    assert shown["variables"] == {"version": "1.0"}
    assert (shown["type"], shown["parents"]) == ("edits", [])
    assert shown["id"] == get(http, f"/v1/spaces/{space}")["revision"]


def test_a_page_answers_exactly_the_bytes_that_were_written(http: httpx.Client, space: str) -> None:
    for path, file in (("", "README.md"), ("start", "start/README.md"), ("start/deep", "start/deep.md")):
        page = get(http, f"/v1/spaces/{space}/content/path/{path}", format="markdown")
        assert page["markdown"].encode() == FILES[file]
        assert page["git"] == {"oid": compute_blob_id(FILES[file]), "path": file}
        assert page == get(http, f"/v1/spaces/{space}/content/page/{page['id']}", format="markdown")
        assert "markdown" not in get(http, f"/v1/spaces/{space}/content/page/{page['id']}")


def test_a_path_may_come_with_its_slashes_encoded_and_in_any_case(http: httpx.Client, space: str) -> None:
    wanted = get(http, f"/v1/spaces/{space}/content/path/start/deep")
    for path in ("start%2Fdeep", "Start/Deep", "/start/deep/"):
        assert get(http, f"/v1/spaces/{space}/content/path/{path}") == wanted
    for path in ("start/nothing", "start/readme", "README.txt"):
        assert http.get(f"/v1/spaces/{space}/content/path/{path}").status_code == 404


def test_readme_names_the_first_page_which_has_no_path(
    http: httpx.Client, storage: Storage, tmp_path: Path, space: str
) -> None:
    home = get(http, f"/v1/spaces/{space}/content/path/")
    assert (home["path"], home["slug"]) == ("", "")
    for path in ("readme", "README", "readme.md", "README.md"):
        assert get(http, f"/v1/spaces/{space}/content/path/{path}") == home
    (tmp_path / "docs" / "readme").mkdir()
    (tmp_path / "docs" / "readme" / "README.md").write_text("# Of its own\n")
    summary = tmp_path / "docs" / "SUMMARY.md"
    summary.write_text(summary.read_text().replace("* [Start]", "* [Of its own](readme/README.md)\n* [Start]"))
    import_directory(storage, tmp_path / "docs", space=space)
    assert get(http, f"/v1/spaces/{space}/content/path/readme")["title"] == "Of its own"


def test_a_former_path_of_the_settings_file_leads_to_its_page(
    http: httpx.Client, storage: Storage, tmp_path: Path, space: str
) -> None:
    redirects = (
        "  Old/Deep: start/deep.md\n  start: start/deep.md\n  old/gone: gone.md\n  logo: .gitbook/assets/logo.png\n"
    )
    (tmp_path / "docs" / ".gitbook.yaml").write_text(f"redirects:\n{redirects}")
    import_directory(storage, tmp_path / "docs", space=space)
    found = get(http, f"/v1/spaces/{space}/content/path/old/deep", format="markdown")
    assert (found["path"], found["markdown"].startswith("# Deep")) == ("start/deep", True)
    assert get(http, f"/v1/spaces/{space}/content/path/start")["title"] == "Start"
    for path in ("old/gone", "logo", "old"):
        assert http.get(f"/v1/spaces/{space}/content/path/{path}").status_code == 404
    (tmp_path / "docs" / "start" / "deep.md").unlink()
    summary = tmp_path / "docs" / "SUMMARY.md"
    summary.write_text("\n".join(line for line in summary.read_text().split("\n") if "deep" not in line))
    import_directory(storage, tmp_path / "docs", space=space)
    assert http.get(f"/v1/spaces/{space}/content/path/old/deep").status_code == 404


def test_git_ids_can_be_left_out(http: httpx.Client, space: str) -> None:
    shown = get(http, f"/v1/spaces/{space}/content", metadata=False, computed=False)
    assert '"git"' not in str(shown).replace("'", '"')
    assert shown["pages"][0]["documentId"] == compute_blob_id(HOME.encode())


def test_all_three_views_of_content_have_the_same_reads(http: httpx.Client, space: str) -> None:
    main = get(http, f"/v1/spaces/{space}/content")
    request = http.post(f"/v1/spaces/{space}/change-requests", json={}).json()
    page, file, include = main["pages"][0]["id"], main["files"][0]["id"], main["reusableContents"][0]["id"]
    reads = ("", "/pages", "/files", f"/files/{file}", f"/page/{page}", "/path/start", f"/reusable-contents/{include}")
    for read in reads:
        wanted = get(http, f"/v1/spaces/{space}/content{read}")
        assert get(http, f"/v1/spaces/{space}/change-requests/{request['number']}/content{read}") == wanted
        assert get(http, f"/v1/spaces/{space}/revisions/{main['id']}{read}") == wanted
    text = get(http, f"/v1/spaces/{space}/content/reusable-contents/{include}")["markdown"]
    assert text.encode() == FILES[".gitbook/includes/note.md"]


def test_a_revision_of_long_ago_stays_as_it_was(http: httpx.Client, space: str) -> None:
    before = get(http, f"/v1/spaces/{space}/content")
    page = before["pages"][0]["id"]
    request = http.post(f"/v1/spaces/{space}/change-requests", json={}).json()
    change = {"operation": "update_page", "page": page, "document": {"markdown": "# Other\n"}}
    http.post(f"/v1/spaces/{space}/change-requests/1/content", json={"changes": [change]})
    http.post(f"/v1/spaces/{space}/change-requests/{request['id']}/merge")
    assert get(http, f"/v1/spaces/{space}/content/page/{page}", format="markdown")["markdown"] == "# Other\n"
    past = f"/v1/spaces/{space}/revisions/{before['id']}"
    assert get(http, past)["pages"] == before["pages"]
    assert get(http, f"{past}/page/{page}", format="markdown")["markdown"] == HOME


def test_what_is_not_there_is_not_found(http: httpx.Client, space: str, organization: str) -> None:
    other = http.post(f"/v1/orgs/{organization}/spaces", json={}).json()
    main = get(http, f"/v1/spaces/{space}/content")
    file, page = main["files"][0]["id"], main["pages"][0]["id"]
    for path in (
        f"{space}/content/page/{file}",
        f"{space}/content/files/{page}",
        f"{space}/content/page/%2Fpages",
        f"{space}/content/reusable-contents/{page}",
        f"{space}/revisions/{other['revision']}",
        f"{other['id']}/content/page/{page}",
        "nothing/content",
    ):
        assert http.get(f"/v1/spaces/{path}").status_code == 404, path
    assert http.get(f"/v1/spaces/{space}/content/page/{page}?format=html").status_code == 400
    assert httpx.get(str(http.base_url) + f"/v1/spaces/{space}/content", trust_env=False, timeout=30).status_code == 401


def test_files_are_listed_page_by_page(http: httpx.Client, space: str) -> None:
    first = get(http, f"/v1/spaces/{space}/content/files", limit=1)
    rest = get(http, f"/v1/spaces/{space}/content/files", limit=1, page=first["next"]["page"])
    assert sorted(file["name"] for file in (*first["items"], *rest["items"])) == ["logo.png", "paper.html"]
    assert "next" not in rest


def test_a_download_needs_no_token_and_runs_nothing(http: httpx.Client, space: str) -> None:
    files = {file["name"]: file for file in get(http, f"/v1/spaces/{space}/content/files")["items"]}
    for name, disposition in (("logo.png", "inline"), ("paper.html", "attachment")):
        answer = httpx.get(files[name]["downloadURL"], trust_env=False, timeout=30)
        assert answer.content == FILES[f".gitbook/assets/{name}"]
        assert answer.headers["content-type"].split(";")[0] == files[name]["contentType"]
        assert answer.headers["content-disposition"] == f'{disposition}; filename="{name}"'
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "sandbox" in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    ("part", "value"),
    [("type", "text/html"), ("expires", "99999999999"), ("signature", "0" * 64), ("signature", "é"), ("path", "other")],
)
def test_a_download_address_that_was_changed_is_refused(http: httpx.Client, space: str, part: str, value: str) -> None:
    files = {file["name"]: file for file in get(http, f"/v1/spaces/{space}/content/files")["items"]}
    address = urlsplit(files["logo.png"]["downloadURL"])
    query = {name: values[0] for name, values in parse_qs(address.query).items()}
    path = address.path
    if part == "path":
        path = f"{path}{value}"
    else:
        query[part] = value
    answer = httpx.get(f"{address.scheme}://{address.netloc}{path}", params=query, trust_env=False, timeout=30)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, 403)


def test_a_download_address_works_for_an_hour_and_not_for_long(tmp_path: Path) -> None:
    moment = [datetime(2026, 1, 1, 12, 29, 59, tzinfo=UTC)]
    (tmp_path / "docs" / ".gitbook" / "assets").mkdir(parents=True)
    (tmp_path / "docs" / ".gitbook" / "assets" / "a.txt").write_bytes(b"text")

    async def ask(storage: Storage, token: str) -> list[int]:
        space = import_directory(storage, tmp_path / "docs").space
        transport = httpx.ASGITransport(create_app(storage))
        async with httpx.AsyncClient(transport=transport, base_url="http://platform") as client:
            listed = await client.get(f"/v1/spaces/{space}/content/files", headers={"Authorization": f"Bearer {token}"})
            address = listed.json()["items"][0]["downloadURL"]
            statuses = []
            for minutes in (0, 60, 31):
                moment[0] += timedelta(minutes=minutes)
                statuses.append((await client.get(address)).status_code)
            return statuses

    with new_storage(tmp_path / "platform", clock=lambda: moment[0]) as storage:
        founded = storage.bootstrap()
        assert founded
        assert asyncio.run(ask(storage, founded.token)) == [200, 200, 403]


TOLD = (
    "---\nvars:\n  name: a*b\n---\n\n# Told\n\n"
    'Of <code class="expression">space.vars.version</code> and {{ page.vars.name }}, '
    'not of <code class="expression">visitor.claims.x</code> or {{ page.vars.other }}.\n\n'
    '```\n<code class="expression">space.vars.version</code>\n{% include "../.gitbook/includes/note.md" %}\n```\n\n'
    '{% include "../.gitbook/includes/note.md" %}\n\n[Home](../README.md#top)\n'
)


@pytest.fixture
def told(http: httpx.Client, space: str) -> str:
    """The path of a page that has variables, an include and a link."""
    start = get(http, f"/v1/spaces/{space}/content/path/start")["id"]
    http.post(f"/v1/spaces/{space}/change-requests", json={})
    change = {"operation": "insert_page", "into": start, "slug": "told", "document": {"markdown": TOLD}}
    answer = http.post(f"/v1/spaces/{space}/change-requests/1/content", json={"changes": [change]})
    assert answer.status_code == 200, answer.text
    return f"/v1/spaces/{space}/change-requests/1/content/path/start/told"


def test_variables_are_filled_in_on_request_and_everything_else_stays(http: httpx.Client, told: str) -> None:
    assert get(http, told, format="markdown")["markdown"] == TOLD
    for wanted in ("true", "deterministic-only"):
        text = get(http, told, format="markdown", evaluated=wanted)["markdown"]
        assert "Of 1.0 and a\\*b, not of <code" in text
        assert "visitor.claims.x</code> or {{ page.vars.other }}." in text
        assert '```\n<code class="expression">space.vars.version' in text


def test_what_is_included_is_put_in_on_request(http: httpx.Client, told: str, space: str) -> None:
    reusable = get(http, told, format="markdown", dereferenced="reusable-contents")["markdown"]
    assert "```\n\nMind the gap.\n\n[Home](../README.md#top)\n" in reusable
    assert '{% include "../.gitbook/includes/note.md" %}\n```' in reusable
    app = get(http, f"/v1/spaces/{space}")["urls"]["app"]
    assert f"[Home]({app}#top)" in get(http, told, format="markdown", dereferenced="true")["markdown"]


def test_stable_references_name_ids_and_are_what_a_write_takes(http: httpx.Client, told: str, space: str) -> None:
    refs = {"format": "markdown", "format.markdown.refs": "stable"}
    page, prefix = get(http, told, format="markdown"), told.partition("/path/")[0]
    home = get(http, f"{prefix}/path/")["id"]
    stable = get(http, told, **refs)["markdown"]
    assert f"[Home](/pages/{home}#top)" in stable
    assert '\n{% include "/includes/' in stable
    assert '{% include "../.gitbook/includes/note.md" %}\n```' in stable
    request = prefix.removesuffix("/content")
    moved = {"operation": "update_page", "page": page["id"], "into": None, "document": {"markdown": stable}}
    answer = http.post(f"{request}/content", json={"changes": [moved]})
    assert answer.status_code == 200, answer.text
    assert get(http, f"{prefix}/page/{page['id']}", **refs)["markdown"] == stable
    for relative in ({}, {"format.markdown.refs": "relative"}):
        text = get(http, f"{prefix}/page/{page['id']}", format="markdown", **relative)["markdown"]
        assert text == TOLD.replace("](../", "](").replace('```\n\n{% include "../', '```\n\n{% include "')
    assert http.get(f"{prefix}/page/{page['id']}", params={**refs, "format.markdown.refs": "other"}).status_code == 400


@pytest.mark.parametrize(("names", "status"), [("aba", 200), ("abcdef", 413)])
def test_includes_that_include_each_other_come_to_an_end(
    http: httpx.Client, storage: Storage, tmp_path: Path, names: str, status: int
) -> None:
    docs = tmp_path / "loop" / ".gitbook" / "includes"
    docs.mkdir(parents=True)
    for name, other in pairwise(names):
        (docs / f"{name}.md").write_text(f'{{% include "{other}.md" %}}\n' * 12)
    (docs / f"{names[-1]}.md").touch()
    (tmp_path / "loop" / "README.md").write_text('# Home\n\n{% include ".gitbook/includes/a.md" %}\n')
    path = f"/v1/spaces/{import_directory(storage, tmp_path / 'loop').space}/content/path/"
    assert http.get(path, params={"format": "markdown", "dereferenced": "true"}).status_code == status
    assert http.get(path, params={"format": "markdown"}).status_code == 200


def test_a_page_can_be_read_as_rich_text(http: httpx.Client, told: str, space: str) -> None:
    shown = get(http, told, format="document")
    assert (shown["document"]["object"], "markdown" in shown) == ("document", False)
    assert [node["type"] for node in shown["document"]["nodes"]] == [
        *("paragraph", "code", "reusable-content", "paragraph")
    ]
    note = get(http, f"/v1/spaces/{space}/content")["reusableContents"][0]["id"]
    assert "document" in get(http, f"/v1/spaces/{space}/content/reusable-contents/{note}", format="document")


def test_without_metadata_nothing_is_told_of_git(http: httpx.Client, space: str) -> None:
    for path in ("content", "content/pages", "content/files", "content/path/start"):
        with_git, without = (get(http, f"/v1/spaces/{space}/{path}", metadata=said) for said in (True, False))
        assert ('"git"' in json.dumps(with_git), '"git"' in json.dumps(without)) == (True, False)


def test_what_a_path_meant_is_forgotten_with_the_first_change(
    http: httpx.Client, server: tuple[str, str], storage: Storage, space: str
) -> None:
    user, token = storage.new_id(), f"syncd_{storage.new_id()}{storage.new_id()}"
    rows = {"display_name": "Ann", "created_at": "2026-01-01T00:00:00.000Z"}
    with storage.write() as connection:
        organization = connection.scalar(accounts.organizations.select())
        connection.execute(accounts.users.insert().values(id=user, **rows))
        member = {"organization": organization, "user": user, "role": "read", "joined_at": rows["created_at"]}
        connection.execute(accounts.members.insert().values(member))
        known = {"hash": hash_token(token), "user": user, "label": "", "created_at": rows["created_at"]}
        connection.execute(accounts.tokens.insert().values(known))
    with httpx.Client(
        base_url=server[0], headers={"Authorization": f"Bearer {token}"}, trust_env=False, timeout=30
    ) as reader:
        path = f"/v1/spaces/{space}/content/path/start"
        assert [reader.get(path).status_code for _ in range(2)] == [200, 200]
        http.patch(f"/v1/spaces/{space}", json={"defaultLevel": None}).raise_for_status()
        assert reader.get(path).status_code in (403, 404)
    assert http.get(path).status_code == 200
    http.delete(f"/v1/spaces/{space}").raise_for_status()
    assert http.get(path).status_code == 404
