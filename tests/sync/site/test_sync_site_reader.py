"""What a site shows is read from servers that offer less than the document, or answer what cannot be."""

from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from syncd.api.client import Client
from syncd.api.options import ClientOptions
from syncd.errors import NotThePlatform
from syncd.model.ref import ROOT
from syncd.sync.site.read.parts import SiteReader

SITE = "/v1/orgs/o/sites/s"


def read_site(answers: Mapping[str, Any]) -> SiteReader:
    """Return a reader of a server that answers these paths: a list as its items, a number as that status."""

    def answer(request: httpx.Request) -> httpx.Response:
        found = answers.get(request.url.path, 404)
        if isinstance(found, int):
            return httpx.Response(found, json={"error": {"code": found, "message": "No."}})
        return httpx.Response(200, json={"items": found} if isinstance(found, list) else found)

    return SiteReader(
        Client("https://api.example.com", "token", ClientOptions(transport=httpx.MockTransport(answer))), "o", "s"
    )


def make_part(kind: str, id: str, **more: Any) -> dict[str, Any]:
    return {"object": kind, "id": id, "title": id.title(), "path": id, **more}


SECTIONS = [
    make_part("site-section", "guides"),
    make_part("site-section", "api", sectionGroup="more"),
    make_part("site-section", "sdk", sectionGroup="inner"),
]
GROUPS = [
    make_part("site-section-group", "more", children=[SECTIONS[1], make_part("site-section-group", "inner")]),
    make_part("site-section-group", "inner", sections=[SECTIONS[2]]),
]
SPACES = [
    make_part("site-space", "v1", section="guides", space={"id": "sp_1"}),
    make_part("site-space", "v2", space={"id": "sp_2"}),
]


@pytest.mark.parametrize("sorts", [True, False])
def test_a_structure_is_put_together_from_lists_where_there_is_no_whole(sorts: bool) -> None:
    lists = {f"{SITE}/sections": SECTIONS, f"{SITE}/section-groups": GROUPS, f"{SITE}/site-spaces": SPACES}
    found = read_site({f"{SITE}/structure": 404, **lists}).structure(sorts=sorts)
    assert found.freeze_orders() == {
        ROOT: ("guides", "more", "v2"),
        "more": ("api", "inner"),
        "inner": ("sdk",),
        "guides": ("v1",),
    }
    assert {id: item.kind for id, item in found.items.items()}["inner"] == "group"
    assert set(found.spaces) == {"sp_1", "sp_2"}


def test_a_refusal_that_is_no_missing_operation_is_an_error() -> None:
    with pytest.raises(Exception, match="structure") as raised:
        read_site({f"{SITE}/structure": 400}).structure()
    assert getattr(raised.value, "status", None) == 400


def test_groups_that_stand_in_each_other_without_end_are_refused() -> None:
    depth = 60
    nested = make_part("site-section-group", f"g{depth}")
    for number in reversed(range(depth)):
        nested = make_part("site-section-group", f"g{number}", children=[nested])
    with pytest.raises(NotThePlatform, match="without end"):
        read_site({f"{SITE}/sections": [], f"{SITE}/section-groups": [nested], f"{SITE}/site-spaces": []}).structure(
            sorts=False
        )


@pytest.mark.parametrize("status", [403, 404])
def test_pages_of_a_space_that_may_not_be_read_are_not_known(status: int) -> None:
    reader = read_site({"/v1/spaces/sp_1/content/pages": status})
    assert reader.pages("sp_1") is None
    assert reader.page_files("sp_1") is None


def test_pages_are_known_by_their_paths_and_files() -> None:
    pages = {
        "pages": [
            {"id": "p1", "path": "setup", "git": {"path": "setup.md", "oid": "0" * 40}},
            {"id": "p2", "path": "use"},
        ]
    }
    reader = read_site({"/v1/spaces/sp_1/content/pages": pages})
    assert reader.pages("sp_1") == {"setup": "p1", "use": "p2"}
    assert reader.page_files("sp_1") == {"setup.md": "setup"}


@pytest.mark.parametrize("listed", [403, [{"id": "sp_1"}]])
def test_each_space_that_a_site_cannot_show_has_a_reason(listed: Any) -> None:
    spaces = {"/v1/spaces/sp_1": {"id": "sp_1"}, "/v1/spaces/sp_2": 404, "/v1/spaces/sp_3": 403}
    reader = read_site({"/v1/orgs/o/spaces": listed, **spaces})
    assert dict(reader.spaces(["sp_3", "sp_1", "sp_2"])) == {
        "sp_1": "",
        "sp_2": "is not there, or this token may not see it",
        "sp_3": "may not be read with this token",
    }
