"""Redirects: one for each source, whatever its case or encoding, and each leads somewhere that the site has."""

from typing import Any

import httpx
import pytest

_ELSEWHERE = {"kind": "external", "url": "https://elsewhere.example/docs"}


@pytest.fixture
def space(http: httpx.Client, organization: str) -> str:
    """A space with main content."""
    return str(http.post(f"/v1/orgs/{organization}/spaces", json={"title": "Guides"}).json()["id"])


@pytest.fixture
def site(http: httpx.Client, organization: str, space: str) -> str:
    """The path of a site with that space."""
    sites = f"/v1/orgs/{organization}/sites"
    return f"{sites}/{http.post(sites, json={'title': 'Docs', 'spaces': [space]}).json()['id']}"


def _create(http: httpx.Client, site: str, source: str, destination: dict[str, Any] = _ELSEWHERE) -> httpx.Response:
    return http.post(f"{site}/redirects", json={"source": source, "destination": destination})


def test_a_redirect_is_created_shown_found_and_followed(http: httpx.Client, site: str) -> None:
    answer = _create(http, site, "/Old/Path")
    redirect = answer.json()
    assert answer.status_code == 201
    assert redirect == {
        "object": "site-redirect",
        "id": redirect["id"],
        "source": "/Old/Path",
        "destination": _ELSEWHERE,
        "draft": False,
        "captureWildcard": False,
        "permanent": False,
        "createdAt": redirect["createdAt"],
    }
    assert http.get(f"{site}/redirects").json() == {"items": [redirect], "count": 1}
    followed = http.get(f"{site}/redirect", params={"source": "/old/path"})
    assert followed.json() == {"redirect": redirect, "target": _ELSEWHERE["url"]}


_REFUSED = "", "/", "old", "/old/", "//old", "/old//path", "/old path", "/old?x", "/old#x", "/%zz", "/%4", "/old*"


@pytest.mark.parametrize("source", [*_REFUSED, "/\u00e9", "/old\n", "/" + "x" * 512])
def test_a_source_outside_the_pattern_is_refused(http: httpx.Client, site: str, source: str) -> None:
    assert _create(http, site, source).status_code == 400
    assert http.get(f"{site}/redirect", params={"source": source}).status_code == 400


@pytest.mark.parametrize("source", ["/a", "/" + "x" * 511, "/a.b-c_d~e/%C3%A9/0", "/..", "/a/b/c"])
def test_a_source_within_the_pattern_is_taken(http: httpx.Client, site: str, source: str) -> None:
    assert _create(http, site, source).status_code == 201
    assert http.get(f"{site}/redirect", params={"source": source}).status_code == 200


@pytest.mark.parametrize("twin", ["/Caf%C3%A9/old", "/CAF%c3%a9/OLD", "/caf%C3%89/%6fld", "/%63af%C3%A9/old"])
def test_a_source_that_is_the_same_to_a_visitor_is_taken_once(http: httpx.Client, site: str, twin: str) -> None:
    first = _create(http, site, "/caf%C3%A9/old").json()
    assert _create(http, site, twin).status_code == 409
    other = _create(http, site, "/other").json()
    assert http.patch(f"{site}/redirects/{other['id']}", json={"source": twin}).status_code == 409
    # Its own source, written otherwise, is free for a redirect.
    assert http.patch(f"{site}/redirects/{first['id']}", json={"source": twin}).json()["source"] == twin


@pytest.mark.parametrize(
    "destination",
    [
        None,
        {},
        {"kind": "elsewhere"},
        {"kind": "site-section", "siteSectionId": "nothing"},
        {"kind": "site-space", "siteSpaceId": "nothing"},
        {"kind": "site-page", "siteSpaceId": "nothing", "pageId": "nothing"},
        {"kind": "site-section"},
        {"kind": "external", "url": "javascript:alert(1)"},
        {"kind": "external", "url": "//elsewhere.example"},
        {"kind": "external", "url": "https://elsewhere.example/\nSet-Cookie: x"},
        {"kind": "external", "url": "https://[broken"},
        {"kind": "external", "url": "https://x.example/" + "x" * 2048},
    ],
)
def test_a_destination_that_leads_nowhere_is_refused(http: httpx.Client, site: str, destination: Any) -> None:
    assert _create(http, site, "/old", destination).status_code == 400
    assert http.get(f"{site}/redirects").json()["count"] == 0
    made = _create(http, site, "/old").json()
    assert http.patch(f"{site}/redirects/{made['id']}", json={"destination": destination}).status_code == 400
    assert http.get(f"{site}/redirects").json()["items"] == [made]


def test_destinations_of_the_site_resolve_to_published_addresses(http: httpx.Client, site: str, space: str) -> None:
    section = http.post(f"{site}/sections", json={"spaceId": space, "title": "More"}).json()
    variant = section["siteSpaces"][0]
    page = _page(http, space)
    destinations = {
        "/to-section": ({"kind": "site-section", "siteSectionId": section["id"]}, "/sites/docs/more"),
        "/to-space": ({"kind": "site-space", "siteSpaceId": variant["id"]}, "/sites/docs/more"),
        "/to-page": (
            {"kind": "site-page", "siteSpaceId": variant["id"], "pageId": page["id"]},
            f"/sites/docs/more/{page['path']}",
        ),
    }
    for source, (destination, target) in destinations.items():
        assert _create(http, site, source, destination).status_code == 201
        assert http.get(f"{site}/redirect", params={"source": source}).json()["target"].endswith(target)

    missing = {"kind": "site-page", "siteSpaceId": variant["id"], "pageId": "nothing"}
    assert _create(http, site, "/to-nothing", missing).status_code == 400
    # A redirect outlives what it leads to, and says so.
    http.delete(f"{site}/sections/{section['id']}")
    assert http.get(f"{site}/redirect", params={"source": "/to-section"}).status_code == 404
    assert http.get(f"{site}/redirects").json()["count"] == 3


def _page(http: httpx.Client, space: str) -> dict[str, Any]:
    request = http.post(f"/v1/spaces/{space}/change-requests", json={"subject": "A page"}).json()
    path = f"/v1/spaces/{space}/change-requests/{request['id']}"
    change = {"operation": "insert_page", "title": "Set up", "slug": "set-up", "document": {"markdown": "# Set up\n"}}
    written = http.post(f"{path}/content?compat=false", json={"changes": [change]})
    assert written.status_code == 200, written.text
    assert http.post(f"{path}/merge").status_code == 200
    id = written.json()["changes"][0]["page"]["id"]
    page: dict[str, Any] = http.get(f"/v1/spaces/{space}/content/page/{id}").json()
    return page


def test_a_redirect_is_changed_where_the_request_says_so(http: httpx.Client, site: str) -> None:
    made = _create(http, site, "/old").json()
    path = f"{site}/redirects/{made['id']}"
    assert http.patch(path, json={}).json() == made
    moved = http.patch(path, json={"source": "/older"}).json()
    assert moved == made | {"source": "/older"}
    other = {"kind": "external", "url": "https://another.example"}
    assert http.patch(path, json={"destination": other}).json() == moved | {"destination": other}
    assert http.get(f"{site}/redirect", params={"source": "/old"}).status_code == 404
    assert http.patch(f"{site}/redirects/nothing", json={"source": "/x"}).status_code == 404


def test_a_delete_is_answered_the_same_whether_or_not_there_was_something(http: httpx.Client, site: str) -> None:
    made = _create(http, site, "/old").json()
    for _ in range(2):
        assert http.delete(f"{site}/redirects/{made['id']}").status_code == 204
    assert http.get(f"{site}/redirects").json() == {"items": [], "count": 0}


def test_redirects_are_searched_by_path_and_come_in_pages(http: httpx.Client, site: str) -> None:
    sources = [f"/guide/{number}" for number in range(5)] + ["/a_b", "/axb"]
    for source in sources:
        _create(http, site, source)

    def found(**query: Any) -> list[str]:
        return [row["source"] for row in http.get(f"{site}/redirects", params=query).json()["items"]]

    assert found() == sources
    assert found(search="GUIDE/3") == ["/guide/3"]
    assert found(search="a_b") == ["/a_b"], "an underscore is only itself"
    page = http.get(f"{site}/redirects", params={"search": "guide", "limit": 3}).json()
    assert page["count"] == 5
    assert found(search="guide", limit=3, page=page["next"]["page"]) == ["/guide/3", "/guide/4"]


def test_many_redirects_are_written_each_on_its_own(http: httpx.Client, site: str) -> None:
    kept, gone = _create(http, site, "/kept").json(), _create(http, site, "/gone").json()
    other = {"kind": "external", "url": "https://another.example"}
    items: list[dict[str, Any]] = [
        {"source": "/new", "destination": _ELSEWHERE},
        {"source": "/KEPT", "destination": other},
        {"source": "/gone", "destination": None},
        {"source": "no path", "destination": _ELSEWHERE},
        {"source": "/x", "destination": {"kind": "site-space", "siteSpaceId": "nothing"}},
        {"source": "/y", "destination": _ELSEWHERE, "intent": "draft"},
        {"source": "/z"},
    ]
    answer = http.put(f"{site}/redirects", json={"redirects": items})
    results = answer.json()["results"]
    assert answer.status_code == 200
    assert [row["status"] for row in results] == ["created", "updated", "deleted", "error", "error", "error", "error"]
    assert [row["source"] for row in results] == [item["source"] for item in items]
    assert all(row["error"] for row in results[3:])
    left = {row["id"]: row for row in http.get(f"{site}/redirects").json()["items"]}
    assert gone["id"] not in left
    assert left[kept["id"]] == kept | {"destination": other}
    assert left[results[0]["id"]]["source"] == "/new"


def test_the_same_source_may_come_more_than_once_in_one_bulk(http: httpx.Client, site: str) -> None:
    old = _create(http, site, "/old").json()
    others = [{"kind": "external", "url": f"https://another.example/{number}"} for number in range(3)]
    items: list[dict[str, Any]] = [
        {"source": "/old", "destination": None},
        {"source": "/OLD", "destination": others[0]},
        {"source": "/a", "destination": others[0]},
        {"source": "/A", "destination": others[1]},
        {"source": "/b", "destination": others[1]},
        {"source": "/b", "destination": None},
        {"source": "/b", "destination": None},
    ]
    results = http.put(f"{site}/redirects", json={"redirects": items}).json()["results"]
    assert [row["status"] for row in results] == ["deleted", *["created"] * 2, "updated", "created", *["deleted"] * 2]
    left = {row["source"]: row for row in http.get(f"{site}/redirects").json()["items"]}
    assert left.keys() == {"/OLD", "/a"}
    assert left["/OLD"]["id"] == results[1]["id"] != old["id"]
    assert left["/a"]["destination"] == others[1]
    assert results[2]["id"] == results[3]["id"] == left["/a"]["id"]


@pytest.mark.parametrize("count", [0, 501])
def test_a_bulk_outside_the_limits_is_refused(http: httpx.Client, site: str, count: int) -> None:
    items = [{"source": f"/{number}", "destination": _ELSEWHERE} for number in range(count)]
    assert http.put(f"{site}/redirects", json={"redirects": items}).status_code == 400
