"""A link leads to the same page after that page has another path: in a change request, and once it is merged."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from syncd.platform.services.directory.read import import_directory
from syncd.platform.storage.storage import Storage
from tests.platform.content.test_platform_content_write import Request

FILES = {
    "SUMMARY.md": (
        "# Table of contents\n\n* [Home](README.md)\n* [Links](links.md)\n* [Alpha](alpha.md)\n* [Beta](beta.md)\n"
        "* [Guide](guide/README.md)\n  * [Part](guide/part.md)\n"
    ),
    "README.md": "# Home\n",
    "links.md": "# Links\n\nRead [alpha](alpha.md#one), [beta](./beta.md), [part](guide/part.md) and [all](guide/).\n",
    "alpha.md": "# Alpha\n\nSee [beta](beta.md) and ![it](.gitbook/assets/a.png).\n",
    "beta.md": "# Beta\n\nBack to [alpha](alpha.md).\n",
    "guide/README.md": "# Guide\n",
    "guide/part.md": (
        "# Part\n\nUp to [home](../README.md), on to [alpha](../alpha.md).\n\n"
        '{% include "../.gitbook/includes/x.md" %}\n'
    ),
    ".gitbook/assets/a.png": "x",
    ".gitbook/includes/x.md": "---\ntitle: X\n---\n\nOf [alpha](../../alpha.md).\n",
}


@pytest.fixture
def space(storage: Storage, tmp_path: Path) -> str:
    for name, text in FILES.items():
        file = tmp_path / "docs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return import_directory(storage, tmp_path / "docs").space


@pytest.fixture
def request_(http: httpx.Client, space: str) -> Request:
    return Request(http, space)


def text_of(request: Request, path: str) -> str:
    return str(request.page(request.at(path))["markdown"])


def read_main(http: httpx.Client, space: str, path: str) -> str:
    return str(http.get(f"/v1/spaces/{space}/content/path/{path}?format=markdown").json()["markdown"])


def merge(request: Request) -> str:
    return str(request.http.post(f"{request.path}/merge").json()["result"])


def test_a_renamed_page_is_followed_by_every_link_to_it(request_: Request) -> None:
    request_.update(request_.at("alpha"), slug="first")
    assert "[alpha](first.md#one), [beta](./beta.md)" in text_of(request_, "links")
    assert "[alpha](first.md)" in text_of(request_, "beta")
    assert "[alpha](../first.md)" in text_of(request_, "guide/part")


def test_a_page_that_moves_keeps_its_own_links(request_: Request) -> None:
    request_.update(request_.at("alpha"), into=request_.at("guide"))
    assert "[beta](../beta.md) and ![it](../.gitbook/assets/a.png)" in text_of(request_, "guide/alpha")
    assert "[alpha](guide/alpha.md#one)" in text_of(request_, "links")


def test_what_lies_below_a_renamed_page_is_followed_too(request_: Request) -> None:
    request_.update(request_.at("guide"), slug="manual")
    assert "[part](manual/part.md) and [all](manual/README.md)" in text_of(request_, "links")
    assert "[home](../README.md), on to [alpha](../alpha.md)" in text_of(request_, "manual/part")


def test_pages_that_exchange_their_names_keep_their_links(request_: Request) -> None:
    one, two = request_.at("alpha"), request_.at("beta")
    changes = [(one, "between"), (two, "alpha"), (one, "beta")]
    request_.write(*({"operation": "update_page", "page": page, "slug": slug} for page, slug in changes))
    assert "[alpha](beta.md#one), [beta](alpha.md)" in text_of(request_, "links")
    assert text_of(request_, "beta").startswith("# Alpha\n\nSee [beta](alpha.md)")


def test_a_text_that_is_written_with_a_rename_stays_as_sent(request_: Request) -> None:
    sent = "# Beta\n\nBack to [alpha](first.md) or [nowhere](alpha.md).\n"
    write = {"operation": "update_page", "page": request_.at("beta"), "document": {"markdown": sent}}
    request_.write({"operation": "update_page", "page": request_.at("alpha"), "slug": "first"}, write)
    assert text_of(request_, "beta") == sent


def test_a_page_that_gets_another_title_with_a_rename_elsewhere_keeps_its_links(request_: Request) -> None:
    retitle = {"operation": "update_page", "page": request_.at("beta"), "title": "Second"}
    request_.write({"operation": "update_page", "page": request_.at("alpha"), "slug": "first"}, retitle)
    assert text_of(request_, "beta") == "# Second\n\nBack to [alpha](first.md).\n"


def test_a_document_that_is_written_with_a_rename_leads_to_the_page(request_: Request) -> None:
    page = request_.at("beta")
    document = request_.http.get(f"{request_.path}/content/page/{page}?format=document").json()["document"]
    write = {"operation": "update_page", "page": page, "document": {"document": document}}
    request_.write({"operation": "update_page", "page": request_.at("alpha"), "slug": "first"}, write)
    assert text_of(request_, "beta") == FILES["beta.md"].replace("alpha.md", "first.md")


def test_nothing_is_touched_that_leads_to_no_moved_page(request_: Request) -> None:
    before = {path: text_of(request_, path) for path in ("links", "beta", "guide", "guide/part")}
    request_.update(request_.at("guide/part"), title="Another title")
    request_.insert("# New\n")
    assert {path: text_of(request_, path) for path in before if path != "guide/part"}.items() <= before.items()


def test_edits_of_main_content_follow_when_a_rename_is_merged(http: httpx.Client, space: str) -> None:
    rename, edit = Request(http, space), Request(http, space)
    edited = "# Beta\n\nBack to [alpha](alpha.md), at last.\n\nAnd to [home](README.md).\n"
    edit.update(edit.at("beta"), document={"markdown": edited})
    edit.insert("# New\n\nOf [alpha](alpha.md).\n", slug="new")
    rename.update(rename.at("alpha"), slug="first")
    assert merge(edit) == "merge"
    assert merge(rename) == "merge"
    assert read_main(http, space, "beta") == edited.replace("alpha.md", "first.md")
    assert "[alpha](first.md)" in read_main(http, space, "new")
    assert "[alpha](first.md#one)" in read_main(http, space, "links")


def test_edits_of_a_change_request_follow_what_main_content_renamed(http: httpx.Client, space: str) -> None:
    rename, edit = Request(http, space), Request(http, space)
    edited = "# Beta\n\nBack to [alpha](alpha.md), at last.\n"
    edit.update(edit.at("beta"), document={"markdown": edited})
    edit.insert("# New\n\nOf [alpha](alpha.md).\n", slug="new")
    rename.update(rename.at("alpha"), slug="first")
    assert merge(rename) == "merge"
    assert http.post(f"{edit.path}/update").json()["result"] == "update"
    assert text_of(edit, "beta") == edited.replace("alpha.md", "first.md")
    assert "[alpha](first.md)" in text_of(edit, "new")
    assert merge(edit) == "merge"
    assert read_main(http, space, "beta") == edited.replace("alpha.md", "first.md")


def test_a_page_that_moves_while_main_content_edits_it_keeps_its_cover(http: httpx.Client, space: str) -> None:
    covered = "---\ncover: .gitbook/assets/a.png\n---\n\n# Alpha\n\nSee [beta](beta.md).\n\nWords.\n"
    first = Request(http, space)
    first.update(first.at("alpha"), document={"markdown": covered})
    assert merge(first) == "merge"
    move, edit = Request(http, space), Request(http, space)
    edit.update(edit.at("alpha"), document={"markdown": covered.replace("Words.", "Other words.")})
    page = move.at("alpha")
    cover = move.page(page)["cover"]
    move.update(page, document={"markdown": move.page(page)["markdown"].replace("See ", "Do see ")})
    move.update(page, into=move.at("guide"))
    assert merge(edit) == "merge"
    assert merge(move) == "merge"
    merged = http.get(f"/v1/spaces/{space}/content/page/{page}?format=markdown").json()
    assert merged["cover"] == cover
    assert "cover: ../.gitbook/assets/a.png" in merged["markdown"]
    assert "Do see [beta](../beta.md).\n\nOther words." in merged["markdown"]


def test_a_link_that_follows_keeps_no_page_that_the_other_side_deletes(http: httpx.Client, space: str) -> None:
    rename, delete = Request(http, space), Request(http, space)
    rename.update(rename.at("alpha"), slug="first")
    delete.write({"operation": "delete_page", "page": delete.at("beta")})
    assert merge(delete) == "merge"
    assert merge(rename) == "merge"
    pages: list[Any] = http.get(f"/v1/spaces/{space}/content/pages").json()["pages"]
    assert [page["title"] for page in pages] == ["Home", "Links", "Alpha", "Guide"]
