"""Publishing: who may see what, by which address, and a real site's structure built through the API."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest


@pytest.fixture
def space(http: httpx.Client, organization: str) -> str:
    """A space."""
    return str(http.post(f"/v1/orgs/{organization}/spaces", json={"title": "Guides"}).json()["id"])


@pytest.fixture
def site(http: httpx.Client, organization: str, space: str) -> str:
    """The path of a site with that space."""
    sites = f"/v1/orgs/{organization}/sites"
    return f"{sites}/{http.post(sites, json={'title': 'Docs', 'spaces': [space]}).json()['id']}"


def test_a_schema_is_absent_until_it_is_written_and_its_conditions_can_be_used(http: httpx.Client, site: str) -> None:
    assert http.get(f"{site}/adaptive-schema").status_code == 404
    assert http.get(f"{site}/adaptive-schema/template-conditions").json() == {"items": []}
    schema: dict[str, Any] = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "plan": {"type": "string", "enum": ["pro", "free"], "description": "What they pay for"},
            "unsigned": {
                "type": "object",
                "properties": {"isBetaUser": {"type": "boolean", "description": "In the beta"}},
                "additionalProperties": False,
            },
        },
        "additionalProperties": False,
    }
    written = http.put(f"{site}/adaptive-schema", json={"jsonSchema": schema}).json()
    unsigned = {"description": "Unsigned claims of the site visitor.", **schema["properties"]["unsigned"]}
    shown = {**schema, "properties": {**schema["properties"], "unsigned": unsigned}}
    assert (written["object"], written["jsonSchema"]) == ("site-adaptive-schema", shown)
    assert http.get(f"{site}/adaptive-schema").json() == written
    variant = http.get(f"{site}/site-spaces").json()["items"][0]["id"]
    conditions = [item["condition"] for item in http.get(f"{site}/adaptive-schema/template-conditions").json()["items"]]
    assert conditions == ['visitor.claims.plan === "pro"', "visitor.claims.unsigned.isBetaUser === true"]
    for condition in conditions:
        changed = http.patch(f"{site}/site-spaces/{variant}", json={"condition": condition}).json()
        assert changed["condition"] == condition
    refused = http.put(f"{site}/adaptive-schema", json={"jsonSchema": schema | {"additionalProperties": True}})
    assert refused.status_code == 400
    assert http.get(f"{site}/adaptive-schema").json() == written


def test_a_published_site_comes_in_one_piece_and_an_unpublished_one_not_at_all(http: httpx.Client, site: str) -> None:
    assert http.get(f"{site}/published").status_code == 404
    assert http.get(f"{site.rpartition('/')[0]}/nothing/published").status_code == 404
    http.post(f"{site}/publish")
    variant = http.get(f"{site}/site-spaces").json()["items"][0]["id"]
    settings = http.get(f"{site}/customization").json()
    whole = http.get(f"{site}/published").json()
    looks = whole.pop("customizations")
    assert whole == {
        "object": "published-content-site",
        "site": http.get(site).json(),
        "structure": http.get(f"{site}/structure").json(),
        "scripts": [],
    }
    own = looks["site"]
    rendered = {"styling": own["styling"], "pageActions": {**settings["pageActions"], "items": ["markdown", "pdf"]}}
    assert own == {**own, **settings, **rendered}
    assert looks["site"]["styling"] == {**looks["site"]["styling"], **settings["styling"]}
    own = http.patch(f"{site}/site-spaces/{variant}/customization", json={"title": "Only here"}).json()
    shown = http.get(f"{site}/published").json()["customizations"]["siteSpaces"]
    assert shown == {variant: {**looks["site"], **own, **rendered}}


@pytest.mark.parametrize(
    "member",
    [
        *("styling", "internationalization", "favicon", "header", "footer", "themes", "feedback", "ai", "insights"),
        *("advancedCustomization", "trademark", "externalLinks", "pagination", "pageActions", "privacyPolicy"),
        *("socialPreview", "socialAccounts"),
    ],
)
def test_a_renderer_finds_every_member_that_it_takes_for_granted(http: httpx.Client, site: str, member: str) -> None:
    http.post(f"{site}/publish")
    variant = http.get(f"{site}/site-spaces").json()["items"][0]["id"]
    looks = http.get(f"{site}/published").json()["customizations"]
    for settings in (looks["site"], looks["siteSpaces"][variant]):
        assert member in settings
        assert set(settings["styling"]["codeTheme"]) == {"default", "openapi"}


def test_a_site_by_share_link_has_addresses_for_those_with_a_key_only(http: httpx.Client, site: str) -> None:
    http.patch(site, json={"visibility": "share-link"})
    made = http.post(f"{site}/share-links", json={"name": "For friends"})
    link = made.json()
    assert made.headers["location"].endswith(f"/share-links/{link['id']}")
    assert link == {**link, "object": "share-link", "name": "For friends", "active": True, "urls": {}}
    assert http.post(f"{site}/publish").json()["urls"].get("published") is None
    address = http.get(f"{site}/share-links").json()["items"][0]["urls"]["published"]
    key = address.rstrip("/").rpartition("/")[2]
    assert len(key) >= 40

    variants = f"{site}/site-spaces"
    assert http.get(variants).json()["items"][0]["urls"] == {}
    opened = {"shareKey": key}
    assert http.get(variants, params=opened).json()["items"][0]["urls"] == {"published": address}
    published = http.get(f"{site}/published", params=opened).json()
    assert published["site"]["urls"]["published"] == address
    redirect: dict[str, Any] = {
        "source": "/old",
        "destination": {"kind": "site-space", "siteSpaceId": _first(http, site)},
    }
    assert http.post(f"{site}/redirects", json=redirect).status_code == 201
    assert http.get(f"{site}/redirect", params={"source": "/old", **opened}).json()["target"] == address
    refused = http.get(variants, params={"shareKey": "no" + key[2:]})
    assert (refused.status_code, key[2:] in refused.text) == (404, False)

    assert http.patch(f"{site}/share-links/{link['id']}", json={"active": False}).json()["urls"] == {}
    for path in (variants, f"{site}/structure", f"{site}/published", f"{site}/sections"):
        assert http.get(path, params=opened).status_code == 404
    http.patch(site, json={"visibility": "public"})
    assert http.get(variants, params=opened).json()["items"][0]["urls"]["published"].endswith("/sites/docs/")


def test_a_redirect_to_a_path_becomes_one_to_the_page_there(http: httpx.Client, site: str, space: str) -> None:
    home = http.get(f"/v1/spaces/{space}/content/pages").json()["pages"][0]
    body: dict[str, Any] = {"source": "/old", "destination": {"kind": "path", "spaceId": space, "path": home["path"]}}
    expected = {"kind": "site-page", "siteSpaceId": _first(http, site), "pageId": home["id"]}
    made = http.post(f"{site}/redirects", json=body).json()
    assert made["destination"] == expected
    bulk = http.put(f"{site}/redirects", json={"redirects": [body | {"source": "/older"}]}).json()["results"]
    assert bulk[0]["status"] == "created"
    for wrong in ({"path": "no/such/page"}, {"spaceId": "nothing"}):
        body["destination"] |= wrong
        assert http.post(f"{site}/redirects", json=body | {"source": "/other"}).status_code == 400


_KEPT = ("object", "title", "path", "icon", "description", "default", "condition", "hidden")


def _trimmed(item: dict[str, Any]) -> dict[str, Any]:
    """Keep two site-spaces of each section, one of them the default: the others differ in nothing but language."""
    children = [_trimmed(child) for child in item.get("children", ())]
    variants = sorted(item.get("siteSpaces", ()), key=lambda row: not row["default"])[:2]
    return {name: value for name, value in item.items() if name not in ("children", "siteSpaces")} | (
        {"children": children} if children else {"siteSpaces": variants}
    )


def test_a_real_sites_structure_is_built_and_read_back(
    http: httpx.Client, organization: str, corpora: Path | None
) -> None:
    if corpora is None:
        return
    read = json.loads((corpora / "evolve-site" / "structure.json").read_text(encoding="utf-8"))
    real = [_trimmed(item) for item in read["structure"]]
    sites = f"/v1/orgs/{organization}/sites"
    site = f"{sites}/{http.post(sites, json={'title': 'Evolve'}).json()['id']}"
    space = http.post(f"/v1/orgs/{organization}/spaces", json={"title": "Evolve"}).json()["id"]
    for item in real:
        sections = [_build(http, site, space, section) for section in item.get("children", [item])]
        if item["object"] == "site-section-group":
            body = {"title": item["title"], "icon": item["icon"], "sections": sections}
            assert http.post(f"{site}/section-groups", json=body).status_code == 201
    assert _plain(http.get(f"{site}/structure").json()["structure"]) == _plain(real)


def _build(http: httpx.Client, site: str, space: str, section: dict[str, Any]) -> str:
    """Add a section with a first site-space, then the others, and set what only a PATCH can."""
    made = http.post(f"{site}/sections", json={"spaceId": space, "title": section["title"]}).json()
    variants = [made["siteSpaces"][0]["id"]]
    for _ in section["siteSpaces"][1:]:
        body = {"spaceId": space, "sectionId": made["id"]}
        variants.append(http.post(f"{site}/site-spaces", json=body).json()["id"])
    for id, variant in zip(variants, section["siteSpaces"], strict=True):
        assert http.patch(f"{site}/site-spaces/{id}", json={"path": variant["path"]}).status_code == 200
        titled = http.patch(f"{site}/site-spaces/{id}/customization", json={"title": variant["title"]})
        assert titled.status_code == 200
        if variant["default"]:
            http.patch(f"{site}/sections/{made['id']}", json={"defaultSiteSpace": id})
    change = {name: section[name] for name in ("path", "icon", "description") if name in section}
    assert http.patch(f"{site}/sections/{made['id']}", json=change).status_code == 200
    return str(made["id"])


def _plain(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {name: item[name] for name in _KEPT if name in item}
        | {name: _plain(item[name]) for name in ("children", "siteSpaces") if name in item}
        for item in items
    ]


def _first(http: httpx.Client, site: str) -> str:
    return str(http.get(f"{site}/site-spaces").json()["items"][0]["id"])
