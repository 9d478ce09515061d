"""Section groups: they nest, hold sections in an order of their own, and take nothing with them when they go."""

from typing import Any

import httpx
import pytest

TITLES = ("Guides", "API", "Blog", "News")


@pytest.fixture
def site(http: httpx.Client, organization: str) -> str:
    """The path of a published site with four sections."""
    sites = f"/v1/orgs/{organization}/sites"
    path = f"{sites}/{http.post(sites, json={'title': 'Docs'}).json()['id']}"
    for title in TITLES:
        space = http.post(f"/v1/orgs/{organization}/spaces", json={"title": title}).json()["id"]
        assert http.post(f"{path}/sections", json={"spaceId": space}).status_code == 201
    http.post(f"{path}/publish")
    return path


def _sections(http: httpx.Client, site: str) -> dict[str, dict[str, Any]]:
    return {row["title"]: row for row in http.get(f"{site}/sections").json()["items"]}


def _group(http: httpx.Client, site: str, title: str, **more: Any) -> str:
    answer = http.post(f"{site}/section-groups", json={"title": title, **more})
    assert answer.status_code == 201, answer.text
    assert answer.headers["location"].endswith(f"{site}/section-groups/{answer.json()['id']}")
    return str(answer.json()["id"])


def _outline(http: httpx.Client, site: str) -> list[Any]:
    def shape(item: dict[str, Any]) -> Any:
        if item["object"] == "site-section-group":
            return {item["title"]: [shape(child) for child in item["children"]]}
        return item["title"]

    return [shape(item) for item in http.get(f"{site}/structure").json()["structure"]]


def test_a_group_holds_the_sections_it_is_made_with_and_those_added_later(http: httpx.Client, site: str) -> None:
    ids = {title: row["id"] for title, row in _sections(http, site).items()}
    before = {title: row["urls"] for title, row in _sections(http, site).items()}
    more = _group(http, site, "More", sections=[ids["News"], ids["API"]], icon="gear")
    within = _group(http, site, "Within", parent=more)
    assert _outline(http, site) == ["Guides", "Blog", {"More": ["News", "API", {"Within": []}]}]

    added = http.post(f"{site}/section-groups/{within}/sections", json={"sectionId": ids["Blog"]})
    assert (added.status_code, added.json()["sectionGroup"]) == (201, more)
    assert http.post(f"{site}/section-groups/{within}/sections", json={"sectionId": ids["Blog"]}).status_code == 201
    assert _outline(http, site) == ["Guides", {"More": ["News", "API", {"Within": ["Blog"]}]}]
    assert [row["title"] for row in http.get(f"{site}/section-groups").json()["items"]] == ["More", "Within"]
    # Lists follow the site's order, in pages too, and grouping moves no address.
    listed = _sections(http, site)
    assert list(listed) == ["Guides", "News", "API", "Blog"]
    assert {title: row["urls"] for title, row in listed.items()} == before
    page = http.get(f"{site}/sections", params={"limit": 3}).json()
    rest = http.get(f"{site}/sections", params={"page": page["next"]["page"]}).json()
    assert [row["title"] for row in page["items"] + rest["items"]] == list(listed)
    assert [row["space"]["title"] for row in http.get(f"{site}/site-spaces").json()["items"]] == list(listed)


def test_what_a_deleted_group_held_takes_its_place(http: httpx.Client, site: str) -> None:
    ids = {title: row["id"] for title, row in _sections(http, site).items()}
    more = _group(http, site, "More", sections=[ids["API"]])
    _group(http, site, "Within", parent=more, sections=[ids["Blog"]])
    http.post(f"{site}/section-groups/{more}/move", json={"position": {"after": _at("site-section", ids["Guides"])}})
    assert _outline(http, site) == ["Guides", {"More": ["API", {"Within": ["Blog"]}]}, "News"]

    assert http.delete(f"{site}/section-groups/{more}").status_code == 204
    assert _outline(http, site) == ["Guides", "API", {"Within": ["Blog"]}, "News"]
    assert "sectionGroup" not in _sections(http, site)["API"]
    assert http.delete(f"{site}/section-groups/{more}").status_code == 204


def test_sections_and_groups_change_their_level_and_only_siblings_their_order(http: httpx.Client, site: str) -> None:
    ids = {title: row["id"] for title, row in _sections(http, site).items()}
    more = _group(http, site, "More", sections=[ids["API"]])
    patched = http.patch(f"{site}/sections/{ids['News']}", json={"siteSectionGroupId": more}).json()
    assert patched["sectionGroup"] == more
    sort = {"item": _at("site-section", ids["News"]), "position": {"before": _at("site-section", ids["API"])}}
    assert http.patch(f"{site}/structure/sort", json=sort).json() == patched
    assert _outline(http, site) == ["Guides", "Blog", {"More": ["News", "API"]}]

    elsewhere = {"item": sort["item"], "position": {"before": _at("site-section", ids["Guides"])}}
    assert http.patch(f"{site}/structure/sort", json=elsewhere).status_code == 400
    unknown = {"item": _at("site-section-group", ids["News"]), "position": {}}
    assert http.patch(f"{site}/structure/sort", json=unknown).status_code == 404
    nowhere = {"item": _at("site-section", ids["Guides"]), "position": {}}
    assert http.patch(f"{site}/structure/sort", json=nowhere).status_code == 200
    root = http.patch(f"{site}/sections/{ids['News']}", json={"siteSectionGroupId": None}).json()
    assert "sectionGroup" not in root
    assert http.delete(f"{site}/section-groups/{more}/sections/{ids['API']}").status_code == 204
    assert _outline(http, site) == ["Blog", {"More": []}, "Guides", "News", "API"]
    assert http.patch(f"{site}/sections/{ids['News']}", json={"siteSectionGroupId": "nothing"}).status_code == 404


def test_groups_nest_without_circles_and_not_too_deep(http: httpx.Client, site: str) -> None:
    chain = [_group(http, site, "Level 1")]
    for level in range(2, 6):
        chain.append(_group(http, site, f"Level {level}", parent=chain[-1]))
    refused = http.post(f"{site}/section-groups", json={"title": "Level 6", "parent": chain[-1]})
    assert refused.status_code == 400
    for below in chain:
        path = f"{site}/section-groups/{chain[0]}"
        assert http.patch(path, json={"parentSectionGroupId": below}).status_code == 400
    other = _group(http, site, "Other")
    deep = http.patch(f"{site}/section-groups/{chain[0]}", json={"parentSectionGroupId": other})
    assert deep.status_code == 400, "five levels below another one"
    moved = http.patch(f"{site}/section-groups/{chain[1]}", json={"parentSectionGroupId": other, "icon": "star"}).json()
    assert (moved["sectionGroup"], moved["icon"]) == (other, "star")
    rooted = http.patch(f"{site}/section-groups/{chain[1]}", json={"parentSectionGroupId": None, "icon": None}).json()
    assert not {"sectionGroup", "icon"} & set(rooted)
    assert http.post(f"{site}/section-groups", json={"title": "X", "parent": "nothing"}).status_code == 404
    assert http.post(f"{site}/section-groups", json={"title": "X", "sections": ["nothing"]}).status_code == 404
    assert len(http.get(f"{site}/section-groups").json()["items"]) == 6, "a refused group leaves nothing behind"


def test_an_empty_group_does_not_hide_the_site_spaces_of_a_site_without_sections(
    http: httpx.Client, organization: str
) -> None:
    sites = f"/v1/orgs/{organization}/sites"
    space = http.post(f"/v1/orgs/{organization}/spaces", json={"title": "Guides"}).json()["id"]
    site = f"{sites}/{http.post(sites, json={'title': 'Docs', 'spaces': [space]}).json()['id']}"
    _group(http, site, "More")
    assert http.get(f"{site}/structure").json()["type"] == "siteSpaces"


def _at(type: str, id: str) -> dict[str, str]:
    return {"type": type, "id": id}
