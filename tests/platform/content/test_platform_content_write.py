"""Content writes: each operation does what the API says, a batch is all or nothing, and texts stay as sent."""

import base64
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncd.layout.page.frontmatter import split_after_title
from syncd.layout.richtext.reading import to_document
from syncd.model.blob_id import compute_blob_id
from syncd.model.content_write import TEXT_MAX
from syncd.platform.app import create_app
from syncd.platform.change_requests.operations import DEPTH_MAX
from syncd.platform.change_requests.revert import revert_blocks
from syncd.platform.content.content_write import TEXTS_MAX
from syncd.platform.services.directory.read import import_directory
from syncd.platform.settings import PlatformSettings
from syncd.platform.storage.storage import Storage
from tests.contract.in_process import InProcess

FILES = {
    "SUMMARY.md": "# Table of contents\n\n* [Home](README.md)\n* [Alpha](alpha.md)\n\n## Guides\n\n"
    "* [Setup](guides/setup/README.md)\n  * [Linux](guides/setup/linux.md)\n* [Usage](guides/usage.md)\n",
    "README.md": "# Home\n",
    "alpha.md": "---\nx-team: 'docs'  # kept\ndescription: About alpha\n---\n\n# Alpha\n\nText.\n",
    "guides/setup/README.md": "# Setup\n",
    "guides/setup/linux.md": "# Linux\n",
    "guides/usage.md": "# Usage\n",
}


class Request:
    """A change request of a small space, and short words for writing to it and reading it."""

    def __init__(self, http: httpx.Client, space: str) -> None:
        made = http.post(f"/v1/spaces/{space}/change-requests", json={"subject": "Edit"}).json()
        self.http, self.path = http, f"/v1/spaces/{space}/change-requests/{made['id']}"

    def send(self, *changes: dict[str, Any]) -> httpx.Response:
        return self.http.post(f"{self.path}/content", params={"compat": False}, json={"changes": changes})

    def write(self, *changes: dict[str, Any]) -> dict[str, Any]:
        answer = self.send(*changes)
        assert answer.status_code == 200, answer.text
        written: dict[str, Any] = answer.json()
        return written

    def insert(self, text: str, **members: Any) -> dict[str, Any]:
        written = self.write({"operation": "insert_page", "document": {"markdown": text}, **members})
        return self.page(written["changes"][0]["page"]["id"])

    def update(self, id: str, **members: Any) -> dict[str, Any]:
        self.write({"operation": "update_page", "page": id, **members})
        return self.page(id)

    def refused(self, *changes: dict[str, Any]) -> str:
        before = self.revision
        answer = self.send(*changes)
        assert answer.status_code == 400, answer.text
        assert self.revision == before
        return str(answer.json()["error"]["message"])

    def page(self, id: str) -> dict[str, Any]:
        found: dict[str, Any] = self.http.get(f"{self.path}/content/page/{id}?format=markdown").json()
        return found

    def tree(self) -> list[Any]:
        def shape(page: dict[str, Any]) -> Any:
            return [page["title"], page["git"]["path"] if "git" in page else None, *map(shape, page["pages"])]

        return [shape(page) for page in self.http.get(f"{self.path}/content/pages").json()["pages"]]

    def at(self, path: str) -> str:
        return str(self.http.get(f"{self.path}/content/path/{path}").json()["id"])

    @property
    def revision(self) -> str:
        return str(self.http.get(self.path).json()["revision"])


@pytest.fixture
def request_(http: httpx.Client, storage: Storage, tmp_path: Path) -> Request:
    for name, text in FILES.items():
        file = tmp_path / "docs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return Request(http, import_directory(storage, tmp_path / "docs").space)


def insert(text: str = "# New\n", **members: Any) -> dict[str, Any]:
    return {"operation": "insert_page", "document": {"markdown": text}, **members}


def upload(name: str, data: bytes, **members: Any) -> dict[str, Any]:
    file = {"name": name, "base64": base64.b64encode(data).decode(), "contentType": "image/png", **members}
    return {"operation": "insert_files", "files": [file]}


@pytest.mark.parametrize(
    ("text", "argument", "title"),
    [
        ("---\ntitle: Front\n---\n\n# Heading\n", "Argument", "Front"),
        ("# Heading\n\nText.\n", "Argument", "Heading"),
        ("Text.\n\n# Later\n", "Argument", "Argument"),
        ("Text.\n", None, "Untitled"),
        ("", None, "Untitled"),
    ],
)
def test_a_new_page_takes_its_title_from_its_text_first(
    request_: Request, text: str, argument: str | None, title: str
) -> None:
    page = request_.insert(text, **({"title": argument} if argument else {}))
    assert page["title"] == title
    assert page["markdown"] == text
    assert page["git"]["oid"] == compute_blob_id(text.encode()) == page["documentId"]


def test_a_new_page_lies_where_its_place_in_the_tree_says(request_: Request) -> None:
    alpha, guides, setup = (request_.at(path) for path in ("alpha", "guides", "guides/setup"))
    assert request_.insert("# First\n", into=alpha)["git"]["path"] == "alpha/first.md"
    assert request_.page(alpha)["git"]["path"] == "alpha/README.md"
    assert request_.insert("# Mac OS\n", into=setup, at=0)["path"] == "guides/setup/mac-os"
    assert request_.insert("# Tips\n", into=guides, slug="hints")["git"]["path"] == "guides/hints.md"
    assert request_.insert("# Top\n", at=1)["path"] == "top"
    assert request_.tree() == [
        ["Home", "README.md"],
        ["Top", "top.md"],
        ["Alpha", "alpha/README.md", ["First", "alpha/first.md"]],
        [
            *("Guides", None),
            [
                "Setup",
                "guides/setup/README.md",
                ["Mac OS", "guides/setup/mac-os.md"],
                ["Linux", "guides/setup/linux.md"],
            ],
            ["Usage", "guides/usage.md"],
            ["Tips", "guides/hints.md"],
        ],
    ]


def test_the_first_page_of_an_empty_space_is_its_readme(http: httpx.Client, organization: str) -> None:
    space = http.post(f"/v1/orgs/{organization}/spaces", json={"title": "S", "empty": True}).json()["id"]
    request = Request(http, space)
    assert request.insert("# Welcome\n", slug="")["git"]["path"] == "README.md"
    assert request.insert("# Other\n")["git"]["path"] == "other.md"
    assert request.insert("# Readme\n")["git"]["path"] == "readme-1.md"
    assert request.insert("# Summary\n")["git"]["path"] == "summary-1.md"
    assert request.at("") == request.at("/")


def test_a_slug_that_a_sibling_has_is_refused_and_one_that_nobody_asked_for_is_numbered(request_: Request) -> None:
    alpha = request_.at("alpha")
    assert "slug" in request_.refused(insert(slug="alpha"))
    assert "slug" in request_.refused(insert(slug="ALPHA"))
    assert "slug" in request_.refused(
        {"operation": "update_page", "page": request_.at("guides/usage"), "slug": "setup"}
    )
    assert request_.insert("# Alpha\n")["slug"] == "alpha-1"
    assert request_.insert("# Below\n", slug="alpha", into=alpha)["path"] == "alpha/alpha"
    usage = request_.insert("# Usage\n", into=alpha)["id"]
    assert "slug" in request_.refused({"operation": "update_page", "page": usage, "into": request_.at("guides")})


@pytest.mark.parametrize("slug", ["a/b", "..", " ", "a\\b", "a?b", "a#b", "a\x01b", "x" * 101])
def test_a_slug_that_is_no_segment_of_a_path_is_refused(request_: Request, slug: str) -> None:
    assert "slug" in request_.refused(insert(slug=slug))


def test_a_title_alone_leaves_the_slug_and_a_slug_alone_leaves_the_title(request_: Request) -> None:
    alpha = request_.at("alpha")
    page = request_.update(alpha, title="Beta")
    assert (page["title"], page["slug"], page["git"]["path"]) == ("Beta", "alpha", "alpha.md")
    assert page["markdown"] == FILES["alpha.md"].replace("# Alpha", "# Beta")
    page = request_.update(alpha, slug="gamma")
    assert (page["title"], page["path"], page["git"]["path"]) == ("Beta", "gamma", "gamma.md")


def test_a_new_title_replaces_the_heading_only_where_the_former_title_stood(request_: Request) -> None:
    alpha = request_.at("alpha")
    text = "# Something else\n\n# Alpha\n"
    request_.update(alpha, document={"markdown": text})
    page = request_.update(alpha, title="Beta")
    assert (page["title"], page["markdown"]) == ("Beta", text)


def test_members_alone_change_the_frontmatter_and_nothing_else_of_the_text(request_: Request) -> None:
    alpha = request_.at("alpha")
    page = request_.update(alpha, description="New", icon="gear", hidden=True, condition="visitor.a", emoji="1f44b")
    assert {key: page[key] for key in ("description", "icon", "hidden", "condition", "emoji")} == {
        "description": "New",
        "icon": "gear",
        "hidden": True,
        "condition": "visitor.a",
        "emoji": "1f44b",
    }
    assert page["markdown"].startswith("---\nx-team: 'docs'  # kept\n")
    assert page["markdown"].endswith("---\n\n# Alpha\n\nText.\n")
    page = request_.update(alpha, description="About alpha", icon="", hidden=False, condition="", emoji="")
    assert page["markdown"] == FILES["alpha.md"]
    assert not {"icon", "hidden", "condition", "emoji"} & set(page)


def test_frontmatter_wins_over_members_sent_with_it_and_the_rest_is_added_to_it(request_: Request) -> None:
    page = request_.insert("---\ndescription: From the text\n---\n\n# T\n", description="Sent", icon="book")
    assert (page["description"], page["icon"]) == ("From the text", "book")
    assert page["markdown"] == "---\ndescription: From the text\nicon: book\n---\n\n# T\n"


def test_a_document_replaces_the_text_and_what_its_frontmatter_said(request_: Request) -> None:
    alpha = request_.at("alpha")
    text = "﻿---\r\nicon: x\r\n---\r\n\r\n# Alpha\r\n\r\n\tkept  \r\n\r\n"
    page = request_.update(alpha, document={"markdown": text})
    assert (page["markdown"], page["icon"], page["title"]) == (text, "x", "Alpha")
    assert "description" not in page
    assert page["updatedAt"] >= page["createdAt"]


def test_frontmatter_that_is_no_yaml_is_kept_and_says_nothing(request_: Request) -> None:
    text = "---\na: [\n---\n\n# Broken\n"
    page = request_.insert(text)
    assert (page["title"], page["markdown"]) == ("Broken", text)
    assert "frontmatter" in request_.refused(insert(text, icon="book"))


def test_a_moved_page_takes_all_that_it_holds_along(request_: Request) -> None:
    setup, alpha = request_.at("guides/setup"), request_.at("alpha")
    page = request_.update(setup, into=alpha)
    assert (page["path"], page["git"]["path"]) == ("alpha/setup", "alpha/setup/README.md")
    assert request_.page(request_.at("alpha/setup/linux"))["git"]["path"] == "alpha/setup/linux.md"
    assert request_.page(alpha)["git"]["path"] == "alpha/README.md"
    page = request_.update(setup, into=None, at=0)
    assert (page["path"], page["git"]["path"]) == ("setup", "setup/README.md")
    assert request_.page(alpha)["git"]["path"] == "alpha.md"
    assert [page[0] for page in request_.tree()] == ["Setup", "Home", "Alpha", "Guides"]
    assert request_.update(setup, at=99)["path"] == "setup"
    assert [page[0] for page in request_.tree()] == ["Home", "Alpha", "Guides", "Setup"]


def test_a_group_can_be_renamed_and_its_pages_move_to_its_folder(request_: Request) -> None:
    guides = request_.at("guides")
    request_.update(guides, title="How to", slug="how-to")
    assert request_.tree()[2] == [
        *("How to", None),
        ["Setup", "how-to/setup/README.md", ["Linux", "how-to/setup/linux.md"]],
        ["Usage", "how-to/usage.md"],
    ]
    assert "document" in request_.refused(
        {"operation": "update_page", "page": guides, "document": {"markdown": "# No\n"}}
    )


def test_pages_can_change_places(request_: Request) -> None:
    setup, usage = request_.at("guides/setup"), request_.at("guides/usage")
    request_.write(
        {"operation": "update_page", "page": setup, "slug": "other"},
        {"operation": "update_page", "page": usage, "slug": "setup"},
        {"operation": "update_page", "page": setup, "slug": "usage"},
    )
    assert request_.page(setup)["git"]["path"] == "guides/usage/README.md"
    assert request_.page(usage)["git"]["path"] == "guides/setup.md"


def test_pages_that_exchange_their_slugs_exchange_their_files(request_: Request) -> None:
    one, two = (request_.insert(f"# {title}\n")["id"] for title in ("One", "Two"))
    request_.write(
        {"operation": "update_page", "page": one, "slug": "between"},
        {"operation": "update_page", "page": two, "slug": "one"},
        {"operation": "update_page", "page": one, "slug": "two"},
    )
    assert [request_.page(page)["git"]["path"] for page in (one, two)] == ["two.md", "one.md"]


@pytest.mark.parametrize("where", ["guides/setup", "guides/setup/linux"])
def test_a_page_cannot_be_moved_below_itself(request_: Request, where: str) -> None:
    setup = request_.at("guides/setup")
    assert "below itself" in request_.refused({"operation": "update_page", "page": setup, "into": request_.at(where)})


def test_deleting_a_page_deletes_its_subpages(request_: Request) -> None:
    setup, linux = request_.at("guides/setup"), request_.at("guides/setup/linux")
    written = request_.write({"operation": "delete_page", "page": setup})
    assert written["changes"] == [{"object": "deleted_page", "page": setup}]
    assert request_.http.get(f"{request_.path}/content/page/{linux}").status_code == 404
    assert request_.tree()[2] == ["Guides", None, ["Usage", "guides/usage.md"]]


def test_reverting_a_page_undoes_an_edit_an_insertion_and_a_deletion(request_: Request) -> None:
    alpha, setup = request_.at("alpha"), request_.at("guides/setup")
    before = request_.tree()
    new = request_.insert("# New\n")["id"]
    request_.write(
        {"operation": "update_page", "page": alpha, "title": "Beta", "slug": "beta", "into": request_.at("guides")},
        {"operation": "delete_page", "page": setup},
    )
    assert request_.tree() != before
    request_.write(*({"operation": "revert_page", "page": id} for id in (alpha, new, setup)))
    assert request_.tree() == before
    assert request_.page(alpha)["markdown"] == FILES["alpha.md"]


@pytest.mark.parametrize("is_deleted", [False, True])
def test_a_reverted_page_links_to_what_it_did_where_that_is_now(request_: Request, is_deleted: bool) -> None:
    alpha, usage, setup = (request_.at(path) for path in ("alpha", "guides/usage", "guides/setup"))
    text = "# Alpha\n\n[home](README.md) and [use](guides/usage.md)\n"
    request_.update(alpha, document={"markdown": text})
    then = request_.revision
    request_.update(alpha, into=setup)
    request_.update(usage, slug="use")
    if is_deleted:
        request_.write({"operation": "delete_page", "page": alpha})
    request_.write({"operation": "revert_page", "page": alpha, "revision": then})
    assert request_.page(alpha)["markdown"] == text.replace("guides/usage.md", "guides/use.md")
    assert request_.page(alpha)["git"]["path"] == "alpha.md"


def test_a_batch_says_what_became_of_each_page_once_in_first_touched_order(request_: Request) -> None:
    alpha, usage = request_.at("alpha"), request_.at("guides/usage")
    written = request_.write(
        {"operation": "update_page", "page": usage, "title": "Use"},
        insert("# A\n", ref="a"),
        {"operation": "delete_page", "page": alpha},
        {"operation": "update_page", "page": usage, "slug": "use"},
    )
    assert [(change["object"], change.get("ref")) for change in written["changes"]] == [
        ("updated_page", None),
        ("created_page", "a"),
        ("deleted_page", None),
    ]
    page = written["changes"][1]["page"]
    assert request_.http.get(page["urls"]["location"]).json()["id"] == page["id"]
    assert written["changeRequest"]["revision"] == request_.revision


def test_compat_answers_the_change_request_alone(request_: Request) -> None:
    answer = request_.http.post(f"{request_.path}/content", json={"changes": [insert()]})
    assert (answer.status_code, answer.json()["object"]) == (200, "change-request")


def test_links_to_ids_and_to_names_of_the_batch_become_relative_and_all_else_stays(request_: Request) -> None:
    usage = request_.at("guides/usage")
    text = (
        "# Links\n\n[two](./two.md#there) ![pic](./pic) [usage](/pages/{usage}#top) [by path](/pages/guides/setup)\n"
        "[linux](/pages/guides/setup/linux.md) [home](/pages/README.md) [gone](/pages/nothing) [own](../usage.md)\n"
        '[ext](https://example.org/pages/x) `[code](./two.md)` \\[not](./two.md) <a href="/files/nothing">x</a>\n'
    ).replace("{usage}", usage)
    written = request_.write(
        insert(text, into=usage, ref="one"),
        insert("# Two\n\n[one](./one.md)\n", ref="two"),
        upload("A picture.png", b"png", ref="pic"),
    )
    one, two = (request_.page(change["page"]["id"]) for change in written["changes"][:2])
    assert one["git"]["path"] == "guides/usage/links.md"
    assert one["markdown"] == (
        text.replace("./two.md#there", "../../two.md#there", 1)
        .replace("](./pic)", "](<../../.gitbook/assets/A picture.png>)")
        .replace(f"/pages/{usage}#top", "README.md#top")
        .replace("/pages/guides/setup)", "../setup/README.md)")
        .replace("/pages/guides/setup/linux.md", "../setup/linux.md")
        .replace("/pages/README.md", "../../README.md")
    )
    assert two["markdown"] == "# Two\n\n[one](guides/usage/links.md)\n"
    file = written["insertedFiles"][0]
    again = request_.insert(f"![pic](/files/{file['id']})\n", title="Three")
    assert again["markdown"] == "![pic](<.gitbook/assets/A picture.png>)\n"


def test_uploaded_files_can_be_read_back_and_never_share_a_path(request_: Request) -> None:
    written = request_.write(upload("a.png", b"one"), upload("a.png", b"two"), upload("../b.png", b"three"))
    files = written["insertedFiles"]
    assert [file["git"]["path"] for file in files[:2]] == [".gitbook/assets/a.png", ".gitbook/assets/a (1).png"]
    assert files[2]["name"] == "../b.png"
    assert files[2]["git"]["path"].count("/") == 2
    assert [httpx.get(file["downloadURL"], trust_env=False, timeout=30).content for file in files] == [
        b"one",
        b"two",
        b"three",
    ]
    assert [file["size"] for file in files] == [3, 3, 5]
    assert request_.http.get(f"{request_.path}/content/files/{files[0]['id']}").json()["name"] == "a.png"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ([], "changes"),
        ([insert()] * 51, "changes"),
        ([{"operation": "rename_page"}], "operation"),
        ([insert(title="")], "title"),
        ([insert(icon="x" * 51)], "icon"),
        ([insert(at=-1)], "at"),
        ([insert(into="nothing")], "no page nothing"),
        ([insert(into="/pages")], "no page"),
        ([insert(ref="x"), insert("# Y\n", ref="x")], "ref"),
        ([insert(ref="alpha")], "ref"),
        ([insert(ref="x"), upload("x.png", b"x", ref="x")], "ref"),
        ([{"operation": "update_page", "page": "nothing", "title": "X"}], "no page nothing"),
        ([{"operation": "delete_page", "page": "nothing"}], "no page nothing"),
        ([{"operation": "insert_page", "document": {"document": {}}}], "document"),
        ([{"operation": "insert_files", "files": []}], "files"),
        ([upload("x.png", b"x")["files"][0]], "operation"),
        ([upload("x.png", b"x", base64="%%%")], "base64"),
        ([upload("x.png", b"x", contentType="text/html\r\nX: y")], "content type"),
        ([upload("x.png", b"x" * 1_000_001)], "1000000"),
        ([{"operation": "insert_files", "files": [{"name": "x", "url": "http://127.0.0.1/"}]}], "public"),
    ],
)
def test_an_invalid_batch_is_refused_with_the_reason(
    request_: Request, changes: list[dict[str, Any]], reason: str
) -> None:
    assert reason in request_.refused(*changes)


def test_one_invalid_operation_undoes_the_whole_batch_and_is_named(request_: Request) -> None:
    before = request_.tree()
    reason = request_.refused(insert("# Fine\n"), upload("f.png", b"f"), insert("# Bad\n", slug="alpha"))
    assert reason.startswith("changes[2]: ")
    assert request_.tree() == before
    assert request_.http.get(f"{request_.path}/content/files").json()["items"] == []


def test_a_lone_surrogate_is_refused(request_: Request) -> None:
    raw = b'{"changes": [{"operation": "insert_page", "document": {"markdown": "\\ud800"}}]}'
    answer = request_.http.post(f"{request_.path}/content", content=raw, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400


def test_pages_cannot_be_nested_without_end(http: httpx.Client, storage: Storage, tmp_path: Path) -> None:
    lines = ["# Table of contents", "", *(f"{'  ' * depth}* [P{depth}](p{depth}.md)" for depth in range(DEPTH_MAX - 1))]
    files = {"SUMMARY.md": "\n".join(lines), **{f"p{depth}.md": "" for depth in range(DEPTH_MAX - 1)}}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    request = Request(http, import_directory(storage, tmp_path).space)
    deepest = request.at("/".join(f"p{depth}" for depth in range(DEPTH_MAX - 1)))
    page = request.insert("# Last\n", into=deepest)["id"]
    assert "deeper" in request.refused(insert(into=page))
    assert "deeper" in request.refused(
        {"operation": "update_page", "page": request.insert("# X\n")["id"], "into": page}
    )


def test_a_space_with_a_root_gets_its_new_pages_and_files_below_it(
    http: httpx.Client, storage: Storage, tmp_path: Path
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / ".gitbook.yaml").write_text("root: ./docs/\n")
    (tmp_path / "docs" / "README.md").write_text("# Home\n")
    request = Request(http, import_directory(storage, tmp_path).space)
    assert request.insert("# New\n")["git"]["path"] == "docs/new.md"
    file = request.write(upload("a.png", b"a"))["insertedFiles"][0]
    assert file["git"]["path"] == "docs/.gitbook/assets/a.png"


def test_writing_what_is_there_already_is_no_new_revision(request_: Request) -> None:
    alpha, before = request_.at("alpha"), request_.revision
    written = request_.write(
        {"operation": "update_page", "page": alpha, "document": {"markdown": FILES["alpha.md"]}, "title": "Alpha"}
    )
    assert written["changeRequest"]["revision"] == before == request_.revision


@pytest.mark.parametrize("status", ["archived", "merged"])
def test_a_change_request_that_is_done_cannot_be_written(request_: Request, status: str) -> None:
    if status == "merged":
        request_.http.post(f"{request_.path}/merge")
    else:
        request_.http.patch(request_.path, json={"status": "archived"})
    assert request_.send(insert()).status_code == 409


def keys(text: str) -> list[str]:
    return [node["key"] for node in to_document(split_after_title(text)[1]).nodes]


def test_a_document_is_a_page_body_too_and_leaves_its_frontmatter_alone(request_: Request) -> None:
    alpha = request_.at("alpha")
    document = to_document("# Alpha\n\nOther *text*.\n").wire()
    request_.update(alpha, document={"document": document})
    page = request_.page(alpha)
    assert page["markdown"] == FILES["alpha.md"].replace("Text.", "Other _text_.")
    assert page["description"] == "About alpha"
    assert request_.insert("", document={"document": document}, slug="beta")["title"] == "Alpha"


def test_no_body_is_an_empty_new_page_and_an_old_page_as_it_is(request_: Request) -> None:
    assert request_.insert("", document={}, title="New")["markdown"] == ""
    assert request_.update(request_.at("alpha"), document={}, slug="beta")["markdown"] == FILES["alpha.md"]


def test_single_blocks_are_reverted_and_the_others_stay(request_: Request) -> None:
    former = "# Page\n\none\n\ntwo\n\nthree\n"
    id = request_.insert(former)["id"]
    then = request_.revision
    now = "---\nicon: star\n---\n\n# Page\n\nONE\n\nthree\n\nfour\n"
    request_.update(id, document={"markdown": now})

    def revert(*block: str) -> str:
        change = {"operation": "revert_page", "page": id, "revision": then, "block": block}
        written = request_.write(change)
        assert [each["object"] for each in written["changes"]] == ["updated_page"]
        return str(request_.page(id)["markdown"])

    changed, added, deleted = keys("ONE\n")[0], keys("four\n")[0], keys("two\n")[0]
    head = "---\nicon: star\n---\n\n# Page\n\n"
    assert revert(changed) == f"{head}one\n\nthree\n\nfour\n"
    assert revert(added) == f"{head}one\n\nthree\n"
    assert revert(deleted) == f"{head}one\n\ntwo\n\nthree\n"
    assert revert(*keys(former)) == f"{head}one\n\ntwo\n\nthree\n"
    assert request_.page(id)["icon"] == "star"
    refused = {"operation": "revert_page", "page": id, "revision": then}
    assert "no such key" in request_.refused(refused | {"block": ["no such key"]})
    assert "block" in request_.refused(refused | {"block": []})


WORDS = st.lists(st.sampled_from("abcde"), max_size=8)


@given(now=WORDS, then=WORDS, which=st.lists(st.booleans(), min_size=16, max_size=16))
@settings(max_examples=50, deadline=None)
def test_reverting_all_blocks_gives_what_was_and_reverting_none_changes_nothing(
    now: list[str], then: list[str], which: list[bool]
) -> None:
    ours, theirs = ("".join(f"{word}\n\n" for word in words) for words in (now, then))
    every = {*keys(ours), *keys(theirs)}
    assert keys(revert_blocks(ours, theirs, every)) == keys(theirs)
    assert revert_blocks(ours, theirs, set()) == ours
    some = {key for key, wanted in zip(sorted(every), which, strict=False) if wanted}
    # Nothing is there that neither side had.
    assert set(to_document(revert_blocks(ours, theirs, some)).text().split()) <= {*now, *then}


@contextmanager
def elsewhere(body: bytes, content_type: str) -> Iterator[str]:
    """The address of a file on another server."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/a.png" else 404)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/a.png"
        server.shutdown()


@contextmanager
def platform(storage: Storage, settings: PlatformSettings) -> Iterator[httpx.Client]:
    """A platform with settings, reached without a socket."""
    headers = {"Authorization": f"Bearer {storage.token_file.read_text().strip()}"}
    transport = InProcess(create_app(storage, settings))
    with httpx.Client(base_url="http://platform", transport=transport, headers=headers) as client:
        yield client


def test_a_file_is_fetched_from_its_address(request_: Request, storage: Storage) -> None:
    def file(url: str, **members: str) -> dict[str, Any]:
        return {"operation": "insert_files", "files": [{"name": "a.png", "url": url, **members}]}

    with (
        elsewhere(b"a picture", "image/png; q=1") as url,
        platform(storage, PlatformSettings(private_addresses=True)) as http,
    ):
        allowed = Request(http, request_.path.split("/")[3])
        made = [allowed.write(file(url, **more))["insertedFiles"][0] for more in ({}, {"contentType": "image/gif"})]
        assert [(one["contentType"], one["size"]) for one in made] == [("image/png", 9), ("image/gif", 9)]
        assert "404" in allowed.refused(file(f"{url}.gone"))
        many = [file(f"{url}?{number}") for number in range(21)]
        assert "at most 20" in allowed.refused(*many)
        assert "not a public one" in request_.refused(file(url))


def test_a_platform_without_content_write_answers_as_one_that_never_had_it(request_: Request, storage: Storage) -> None:
    with platform(storage, PlatformSettings(content_write=False)) as http:
        answer = http.post(f"{request_.path}/content", json={"changes": [insert()]})
        unknown = http.post(f"{request_.path}/no-such-route", json={})
        assert (answer.status_code, answer.json()) == (404, unknown.json())
        assert http.get(f"{request_.path}/content").status_code == 200
        assert http.get(request_.path).json()["revision"] == request_.revision


def test_writers_of_one_page_at_once_all_land_one_after_the_other(request_: Request) -> None:
    alpha = request_.at("alpha")
    with ThreadPoolExecutor(6) as pool:
        futures = [
            pool.submit(request_.update, alpha, document={"markdown": f"# Alpha\n\n{number}\n"}) for number in range(6)
        ]
        seen = {future.result()["id"] for future in futures}
    assert seen == {alpha}
    space, parents = request_.path.split("/")[3], [request_.revision]
    for _ in range(6):
        found = request_.http.get(f"/v1/spaces/{space}/revisions/{parents[-1]}").json()
        parents.append(found["parents"][0])
    assert len(set(parents)) == 7
    assert request_.http.get(request_.path).json()["revisionInitial"] == parents[-1]


def test_a_change_request_starts_from_a_template(request_: Request) -> None:
    space = request_.path.split("/")[3]
    changes = f"/v1/spaces/{space}/change-requests"
    made = request_.http.post(changes, json={"subject": "Start", "template": {"id": space}}).json()
    assert made["revision"] != made["revisionInitial"]
    titles = [page["title"] for page in request_.http.get(f"{changes}/{made['id']}/content/pages").json()["pages"]]
    assert titles.count("Alpha") == 2
    contributors = request_.http.get(f"{changes}/{made['id']}/contributors").json()["items"]
    assert [person["id"] for person in contributors] == [made["createdBy"]["id"]]
    assert request_.http.post(changes, json={"template": {"id": "nothing"}}).status_code == 404


def test_a_text_and_all_texts_together_have_a_greatest_length(request_: Request) -> None:
    page = {"operation": "insert_page", "title": "Long", "document": {"markdown": "a" * TEXT_MAX}}
    longer = page | {"document": {"markdown": "a" * (TEXT_MAX + 1)}}
    assert request_.send(longer).status_code == 400
    assert request_.send(*[page] * (TEXTS_MAX // TEXT_MAX + 1)).status_code == 413
    assert request_.send(page).status_code == 200
