"""Sites: made, found, changed and deleted as the document says; sections and site-spaces keep order and defaults."""

from typing import Any

import httpx
import pytest

from tests.contract.world import World


@pytest.fixture
def sites(organization: str) -> str:
    """The path of the organization's sites."""
    return f"/v1/orgs/{organization}/sites"


def _space(http: httpx.Client, organization: str, title: str) -> str:
    answer = http.post(f"/v1/orgs/{organization}/spaces", json={"title": title})
    assert answer.status_code == 201
    return str(answer.json()["id"])


def _created(http: httpx.Client, path: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = http.post(path, json=body)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    assert answer.headers["location"].endswith(f"{path}/{made['id']}")
    return made


def test_a_site_is_created_unpublished_with_its_spaces(http: httpx.Client, organization: str, sites: str) -> None:
    spaces = [_space(http, organization, title) for title in ("Guides", "Reference")]
    site = _created(http, sites, {"title": "Docs", "spaces": spaces})

    assert {name: site[name] for name in ("object", "type", "title", "visibility", "published", "siteSpaces")} == {
        "object": "site",
        "type": "basic",
        "title": "Docs",
        "visibility": "public",
        "published": False,
        "siteSpaces": 2,
    }
    assert "published" not in site["urls"]
    assert http.get(site["urls"]["location"]).json() == site
    listed = http.get(f"{sites}/{site['id']}/site-spaces").json()["items"]
    assert [row["space"]["id"] for row in listed] == spaces
    assert [row["title"] for row in listed] == ["Guides", "Reference"]


def test_a_site_with_a_space_that_is_not_there_is_not_created(http: httpx.Client, sites: str) -> None:
    assert http.post(sites, json={"title": "Docs", "spaces": ["nothing"]}).status_code == 404
    assert http.get(sites).json() == {"items": [], "count": 0}


@pytest.mark.parametrize(
    "body", [{"title": "x"}, {"title": "x" * 129}, {"type": "gold"}, {"visibility": "secret"}, {"unheard": "of"}]
)
def test_a_site_outside_the_limits_is_refused(http: httpx.Client, sites: str, body: dict[str, Any]) -> None:
    assert http.post(sites, json=body).status_code == 400


def test_sites_are_found_by_space_title_and_state(http: httpx.Client, organization: str, sites: str) -> None:
    space = _space(http, organization, "Guides")
    first = _created(http, sites, {"title": "Product Docs", "spaces": [space]})
    second = _created(http, sites, {"title": "100% internal", "type": "premium"})
    http.post(f"{sites}/{second['id']}/publish")

    def found(**filters: Any) -> list[str]:
        return [site["id"] for site in http.get(sites, params=filters).json()["items"]]

    assert found() == [first["id"], second["id"]]
    assert found(space=space) == [first["id"]]
    assert found(title="product") == [first["id"]]
    assert found(title="%") == [second["id"]], "a percent sign is only itself"
    assert found(published=True) == [second["id"]]
    assert found(published=False) == [first["id"]]
    assert found(type=["premium", "basic"]) == [first["id"], second["id"]]
    assert found(space=space, published=True) == []


def test_sites_come_in_pages_that_inserts_and_deletes_do_not_derail(http: httpx.Client, sites: str) -> None:
    made = [_created(http, sites, {"title": f"Site {number}"})["id"] for number in range(5)]
    page = http.get(sites, params={"limit": 2}).json()
    assert [site["id"] for site in page["items"]] == made[:2]
    assert page["count"] == 5

    http.delete(f"{sites}/{made[1]}")
    http.delete(f"{sites}/{made[2]}")
    made.append(_created(http, sites, {"title": "Site 5"})["id"])
    rest = http.get(sites, params={"limit": 10, "page": page["next"]["page"]}).json()
    assert [site["id"] for site in rest["items"]] == made[3:]
    assert "next" not in rest


def test_a_site_is_changed_where_the_request_says_so_and_nowhere_else(http: httpx.Client, sites: str) -> None:
    site = _created(http, sites, {"title": "Docs"})
    path = f"{sites}/{site['id']}"
    change = {
        "title": "Better docs",
        "basename": "better",
        "adaptiveContent": {"enabled": True},
        "proxy": "x.example/docs",
    }
    changed = http.patch(path, json=change).json()
    assert changed["title"] == "Better docs"
    assert changed["adaptiveContent"] == {"enabled": True}
    assert changed["proxy"]["origin"] == "x.example/docs"
    assert changed["visibility"] == "public"

    assert http.patch(path, json={}).json() == changed
    assert [feature["id"] for feature in changed["features"]] == ["sites-adaptive-content", "sites-custom-subdirectory"]
    unset = http.patch(path, json={"proxy": None}).json()
    del changed["proxy"], changed["features"][1]
    assert unset == changed
    assert http.get(path).json() == unset


@pytest.mark.parametrize(
    "body",
    [
        {"title": None},
        {"basename": "No Spaces"},
        {"basename": "x\n"},
        {"proxy": "no-path.example"},
        {"proxy": "x.example/docs\n"},
        {"visibility": "in-collection"},
        {"defaultSiteSection": "nothing"},
        {"defaultSiteSpace": "nothing"},
    ],
)
def test_a_change_that_cannot_be_is_refused(http: httpx.Client, sites: str, body: dict[str, Any]) -> None:
    site = _created(http, sites, {"title": "Docs"})
    assert http.patch(f"{sites}/{site['id']}", json=body).status_code == 400
    assert http.get(f"{sites}/{site['id']}").json() == site


def test_two_sites_never_share_a_basename(http: httpx.Client, sites: str) -> None:
    first, second = (_created(http, sites, {"title": "Docs"}) for _ in range(2))
    assert first["basename"] != second["basename"]
    refused = http.patch(f"{sites}/{second['id']}", json={"basename": first["basename"]})
    assert refused.status_code == 409


def test_a_published_site_has_an_address_until_it_is_unpublished(http: httpx.Client, sites: str) -> None:
    site = _created(http, sites, {"title": "Docs"})
    published = http.post(f"{sites}/{site['id']}/publish").json()
    assert published["published"] is True
    assert published["urls"]["published"].endswith("/sites/docs/")
    unpublished = http.post(f"{sites}/{site['id']}/unpublish").json()
    assert unpublished == site


def test_a_delete_is_answered_the_same_whether_or_not_there_was_something(http: httpx.Client, sites: str) -> None:
    site = _created(http, sites, {"title": "Docs"})
    for _ in range(2):
        answer = http.delete(f"{sites}/{site['id']}")
        assert (answer.status_code, answer.content) == (204, b"")
    assert http.get(f"{sites}/{site['id']}").status_code == 404


class TestStructure:
    """Sections and site-spaces of one site."""

    @pytest.fixture
    def spaces(self, http: httpx.Client, organization: str) -> list[str]:
        """Three spaces."""
        return [_space(http, organization, title) for title in ("Guides", "API", "Blog")]

    @pytest.fixture
    def site(self, http: httpx.Client, sites: str, spaces: list[str]) -> str:
        """The path of a published site with the first two spaces at its root."""
        made = _created(http, sites, {"title": "Docs", "spaces": spaces[:2]})
        http.post(f"{sites}/{made['id']}/publish")
        return f"{sites}/{made['id']}"

    def test_the_first_site_space_is_the_default_and_is_read_at_the_root(self, http: httpx.Client, site: str) -> None:
        first, second = http.get(f"{site}/site-spaces").json()["items"]
        assert (first["default"], second["default"]) == (True, False)
        assert first["urls"]["published"].endswith("/sites/docs/")
        assert second["urls"]["published"].endswith("/sites/docs/api")
        assert http.get(f"{site}/site-spaces", params={"default": True}).json()["items"] == [first]
        assert http.get(f"{site}/site-spaces", params={"default": False}).json()["items"] == [second]
        assert http.get(f"{site}/structure").json() == {"type": "siteSpaces", "structure": [first, second]}

    def test_another_default_can_be_chosen_and_its_deletion_falls_back(self, http: httpx.Client, site: str) -> None:
        first, second = http.get(f"{site}/site-spaces").json()["items"]
        http.patch(site, json={"defaultSiteSpace": second["id"]})
        rows = http.get(f"{site}/site-spaces").json()["items"]
        assert [row["default"] for row in rows] == [False, True]
        assert http.delete(f"{site}/site-spaces/{second['id']}").status_code == 204
        assert http.get(f"{site}/site-spaces").json()["items"] == [first]

    def test_a_site_space_is_changed_and_a_null_condition_removed(
        self, http: httpx.Client, site: str, spaces: list[str]
    ) -> None:
        row = http.get(f"{site}/site-spaces").json()["items"][1]
        path = f"{site}/site-spaces/{row['id']}"
        body = {"path": "v2", "condition": "visitor.claims.beta", "hidden": True, "spaceId": spaces[2]}
        changed = http.patch(path, json=body).json()
        assert (changed["path"], changed["condition"], changed["hidden"]) == ("v2", "visitor.claims.beta", True)
        assert (changed["title"], changed["space"]["id"]) == ("Blog", spaces[2])
        assert "condition" not in http.patch(path, json={"condition": None}).json()
        assert http.patch(path, json={"spaceId": "nothing"}).status_code == 404
        assert http.patch(path, json={"path": "guides"}).status_code == 409

    @pytest.mark.parametrize("path", ["", "a/b", "..", ".", "a b", "x" * 101, "a\n", "é", "a?b", "%2e"])
    def test_a_path_that_is_no_plain_segment_is_refused(self, http: httpx.Client, site: str, path: str) -> None:
        row = http.get(f"{site}/site-spaces").json()["items"][0]
        assert http.patch(f"{site}/site-spaces/{row['id']}", json={"path": path}).status_code == 400

    def test_the_first_section_takes_the_root_in_and_nothing_published_moves(
        self, http: httpx.Client, site: str, spaces: list[str]
    ) -> None:
        before = http.get(f"{site}/site-spaces").json()["items"]
        blog = _created(http, f"{site}/sections", {"spaceId": spaces[2], "title": "News", "icon": "rss"})
        first, second = http.get(f"{site}/sections").json()["items"]

        assert second == blog
        assert (first["title"], first["default"], second["default"]) == ("Guides", True, False)
        assert (second["path"], second["icon"]) == ("news", "rss")
        assert [row["urls"] for row in first["siteSpaces"]] == [row["urls"] for row in before]
        assert [row["id"] for row in first["siteSpaces"]] == [row["id"] for row in before]
        assert all(row["section"] == first["id"] for row in first["siteSpaces"])
        assert [row["default"] for row in blog["siteSpaces"]] == [True]
        assert blog["urls"]["published"].endswith("/sites/docs/news")
        assert http.get(f"{site}/structure").json() == {"type": "sections", "structure": [first, second]}

    def test_a_space_joins_the_default_section_unless_another_is_named(
        self, http: httpx.Client, site: str, spaces: list[str]
    ) -> None:
        blog = _created(http, f"{site}/sections", {"spaceId": spaces[2]})
        default = http.get(f"{site}/sections").json()["items"][0]
        assert _created(http, f"{site}/site-spaces", {"spaceId": spaces[2]})["section"] == default["id"]
        named = _created(http, f"{site}/site-spaces", {"spaceId": spaces[2], "sectionId": blog["id"]})
        assert named["section"] == blog["id"]
        assert named["path"] == "blog-2"
        assert named["urls"]["published"].endswith("/sites/docs/blog/blog-2")
        refused = http.post(f"{site}/site-spaces", json={"spaceId": spaces[2], "sectionId": "nothing"})
        assert refused.status_code == 404

    def test_a_section_is_changed_and_null_removes_what_may_be_absent(
        self, http: httpx.Client, site: str, spaces: list[str]
    ) -> None:
        made = _created(http, f"{site}/sections", {"spaceId": spaces[2]})
        extra = _created(http, f"{site}/site-spaces", {"spaceId": spaces[0], "sectionId": made["id"]})
        path = f"{site}/sections/{made['id']}"
        body = {
            "title": "Journal",
            "path": "journal",
            "description": "What is new",
            "condition": "visitor.claims.beta",
            "icon": "rss",
            "defaultSiteSpace": extra["id"],
        }
        changed = http.patch(path, json=body).json()
        assert {name: changed[name] for name in body if name in changed} == {
            name: value for name, value in body.items() if name != "defaultSiteSpace"
        }
        assert [row["default"] for row in changed["siteSpaces"]] == [False, True]
        nulls = http.patch(path, json={"description": None, "condition": None, "icon": None}).json()
        assert not {"description", "condition", "icon"} & set(nulls)

    @pytest.mark.parametrize(
        ("body", "status"),
        [
            ({"title": "x"}, 400),
            ({"title": None}, 400),
            ({"description": "x" * 257}, 400),
            ({"condition": "x" * 1025}, 400),
            ({"icon": "x" * 51}, 400),
            ({"defaultSiteSpace": "nothing"}, 400),
            ({"path": "guides"}, 409),
        ],
    )
    def test_a_section_outside_the_limits_is_refused(
        self, http: httpx.Client, site: str, spaces: list[str], body: dict[str, Any], status: int
    ) -> None:
        made = _created(http, f"{site}/sections", {"spaceId": spaces[2]})
        path = f"{site}/sections/{made['id']}"
        assert http.patch(path, json=body).status_code == status
        assert http.get(f"{site}/sections").json()["items"][1] == made

    def test_deleting_the_default_section_makes_the_next_one_default(
        self, http: httpx.Client, site: str, spaces: list[str]
    ) -> None:
        made = _created(http, f"{site}/sections", {"spaceId": spaces[2]})
        default = http.get(f"{site}/sections").json()["items"][0]
        for _ in range(2):
            assert http.delete(f"{site}/sections/{default['id']}").status_code == 204
        left = http.get(f"{site}/sections").json()["items"]
        assert [(row["id"], row["default"]) for row in left] == [(made["id"], True)]
        assert http.get(site).json()["siteSpaces"] == 1

    def test_the_default_section_and_its_default_are_chosen_through_the_site(
        self, http: httpx.Client, site: str, spaces: list[str]
    ) -> None:
        made = _created(http, f"{site}/sections", {"spaceId": spaces[2]})
        extra = _created(http, f"{site}/site-spaces", {"spaceId": spaces[0], "sectionId": made["id"]})
        assert http.patch(site, json={"defaultSiteSpace": extra["id"]}).status_code == 400, "not in the default section"
        http.patch(site, json={"defaultSiteSection": made["id"], "defaultSiteSpace": extra["id"]})
        first, second = http.get(f"{site}/sections").json()["items"]
        assert (first["default"], second["default"]) == (False, True)
        assert second["siteSpaces"][1]["urls"]["published"].endswith("/sites/docs/")
        assert first["urls"]["published"].endswith("/sites/docs/guides")

    def test_nothing_is_reached_through_another_organization_or_site(
        self, http: httpx.Client, organization: str, site: str, sites: str
    ) -> None:
        row = http.get(f"{site}/site-spaces").json()["items"][0]
        other = _created(http, sites, {"title": "Other"})
        assert http.get(site.replace(organization, "another")).status_code == 404
        assert http.patch(f"{sites}/{other['id']}/site-spaces/{row['id']}", json={"path": "x"}).status_code == 404
        assert http.delete(f"{sites}/{other['id']}/site-spaces/{row['id']}").status_code == 204
        assert http.get(f"{site}/site-spaces").json()["items"][0] == row, "a delete elsewhere deletes nothing here"
        assert http.delete(f"{sites}/nothing/site-spaces/{row['id']}").status_code == 404

    def test_a_link_outlives_the_deletion_of_its_space(self, http: httpx.Client, site: str, spaces: list[str]) -> None:
        assert http.delete(f"/v1/spaces/{spaces[0]}").status_code == 204
        first = http.get(f"{site}/site-spaces").json()["items"][0]
        assert first["space"]["id"] == spaces[0]
        assert first["space"]["deletedAt"]
        assert http.post(f"{site}/site-spaces", json={"spaceId": spaces[0]}).status_code == 404, "but none is made"


def test_who_has_no_say_in_a_space_cannot_put_it_on_a_site(world: World) -> None:
    space, site = world.space()["id"], world.site()["id"]
    creator = world.person("create")[1]
    world.made("updateSpaceById", {"spaceId": space}, body={"defaultLevel": "read"})
    for operation in ("addSpaceToSite", "addSectionToSite"):
        assert world.call(operation, {"siteId": site}, body={"spaceId": space}, by=creator).status_code == 403
    world.made("updateSpaceById", {"spaceId": space}, body={"defaultLevel": "create"})
    world.made("addSpaceToSite", {"siteId": site}, body={"spaceId": space}, by=creator)
