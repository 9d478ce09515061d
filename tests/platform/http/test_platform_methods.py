"""What HTTP asks besides the operations: HEAD, OPTIONS, the API's root, scripts of web pages, and newer clients."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import syncd
from syncd.platform.app import create_app
from syncd.platform.revisions import revisions
from syncd.platform.services.directory.read import import_directory
from syncd.platform.settings import PlatformSettings
from syncd.platform.storage.storage import Storage
from tests.contract.in_process import InProcess
from tests.contract.world import World

PAGE = "https://tools.example.com"


def test_the_root_says_which_release_it_is(http: httpx.Client) -> None:
    for path in ("/v1", "/v1/"):
        answer = http.get(path, headers={"Authorization": ""})
        assert answer.json() == {"version": syncd.__version__, "build": syncd.RELEASED_AT}


def test_a_head_is_its_get_without_the_body(http: httpx.Client, organization: str) -> None:
    got, head = http.get(f"/v1/orgs/{organization}"), http.head(f"/v1/orgs/{organization}")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == got.headers["content-length"] == str(len(got.content))
    assert http.head("/v1/orgs/nothing").status_code == 404
    assert http.get("/v1/orgs").status_code == 200, "the connection is in step"


def test_options_name_the_methods_of_a_path(http: httpx.Client, organization: str) -> None:
    answer = http.options(f"/v1/orgs/{organization}/sites")
    assert (answer.status_code, answer.headers["allow"]) == (204, "GET, HEAD, OPTIONS, POST")
    assert http.options("/v1/nothing/at/all").status_code == 404


@pytest.fixture
def open_to_pages(storage: Storage) -> Iterator[httpx.Client]:
    app = create_app(storage, PlatformSettings(origins=(PAGE,)))
    with httpx.Client(base_url="http://platform", transport=InProcess(app)) as client:
        yield client


def test_scripts_of_pages_that_are_named_may_read_answers(open_to_pages: httpx.Client) -> None:
    preflight = {"Origin": PAGE, "Access-Control-Request-Method": "PATCH"}
    asked = open_to_pages.options("/v1/orgs", headers={**preflight, "Access-Control-Request-Headers": "authorization"})
    assert (asked.status_code, asked.headers["access-control-allow-origin"]) == (200, PAGE)
    assert open_to_pages.get("/v1/", headers={"Origin": PAGE}).headers["access-control-allow-origin"] == PAGE
    stranger = open_to_pages.get("/v1/", headers={"Origin": "https://evil.example"})
    assert "access-control-allow-origin" not in stranger.headers


def test_without_a_name_no_script_may(http: httpx.Client) -> None:
    assert "access-control-allow-origin" not in http.get("/v1/", headers={"Origin": PAGE}).headers


def test_members_of_newer_releases_are_passed_over(world: World) -> None:
    site = world.site(world.space()["id"])
    path = {"siteId": site["id"]}
    newer: dict[str, Any] = {"draft": False, "captureWildcard": True, "permanent": True}
    to = {"kind": "external", "url": "https://example.org"}
    made = world.made("createSiteRedirect", path, body={"source": "/a", "destination": to, **newer})
    assert made["source"] == "/a"
    assert world.made("addSectionToSite", path, body={"spaceId": world.space()["id"], "localizedTitle": {"fr": "F"}})


@pytest.mark.parametrize("body", [{"titel": "Typo"}, {"mergeRules": {"typo": 1}}])
def test_a_body_of_which_nothing_is_known_is_refused(world: World, body: Any) -> None:
    assert world.call("updateSpaceById", {"spaceId": world.space()["id"]}, body=body).status_code == 400


def test_a_group_below_a_page_moves_its_pages_up(storage: Storage, tmp_path: Path) -> None:
    files = {"SUMMARY.md": "* [Home](README.md)\n  * Group\n    * [Below](below.md)\n", "README.md": "# Home\n"}
    for name, text in {**files, "below.md": "# Below\n"}.items():
        (tmp_path / name).write_text(text)
    storage.bootstrap()
    made = import_directory(storage, tmp_path, title="Docs")
    assert [(part.path, part.line) for part in made.skipped] == [("SUMMARY.md", 2)]
    with storage.read() as connection:
        entries = revisions.open_revision(connection, made.space, made.revision).entries
    types = {
        entry.node.title: entry.node.type for entry in entries.values() if entry.node.type in ("document", "group")
    }
    assert types == {"Home": "document", "Below": "document"}
