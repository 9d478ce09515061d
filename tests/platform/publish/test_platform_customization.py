"""Customization: a PUT of what a GET answered changes nothing, and site-spaces differ only where they say so."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest


@pytest.fixture
def site(http: httpx.Client, organization: str) -> str:
    """The path of a site with two spaces."""
    sites = f"/v1/orgs/{organization}/sites"
    spaces = [
        http.post(f"/v1/orgs/{organization}/spaces", json={"title": title}).json()["id"] for title in ("Guides", "API")
    ]
    return f"{sites}/{http.post(sites, json={'title': 'Docs', 'spaces': spaces}).json()['id']}"


def test_what_is_answered_before_any_put_can_be_put_and_changed(http: httpx.Client, site: str) -> None:
    settings = http.get(f"{site}/customization").json()
    answer = http.put(f"{site}/customization", json=settings)
    assert (answer.status_code, answer.json()) == (200, settings)
    assert http.get(f"{site}/customization").json() == settings
    favicon = {"icon": {"light": "https://a.example/l.png", "dark": "https://a.example/d.png"}}
    changed = settings | {"favicon": favicon, "advancedCustomization": {"enabled": True}}
    assert http.put(f"{site}/customization", json=changed).json() == changed
    shown = http.get(site).json()
    assert shown["icon"] == favicon
    assert [feature["id"] for feature in shown["features"]] == ["sites-advanced-customization"]
    http.put(f"{site}/customization", json=settings)
    assert "icon" not in http.get(site).json()


def test_a_refused_put_changes_nothing(http: httpx.Client, site: str) -> None:
    settings = http.get(f"{site}/customization").json()
    refused = http.put(f"{site}/customization", json=settings | {"themes": {"default": "dim", "toggeable": True}})
    assert refused.status_code == 400
    assert "themes.default" in refused.json()["error"]["message"]
    assert http.get(f"{site}/customization").json() == settings


def test_a_real_sites_settings_are_kept_whole(http: httpx.Client, site: str, corpora: Path | None) -> None:
    if corpora is None:
        return
    settings = json.loads((corpora / "evolve-site" / "customization.json").read_text(encoding="utf-8"))
    answer = http.put(f"{site}/customization", json=settings)
    assert (answer.status_code, answer.json()) == (200, settings)
    assert http.get(f"{site}/customization").json() == settings


def test_a_site_space_has_its_sites_settings_but_where_it_has_its_own(http: httpx.Client, site: str) -> None:
    variant, other = (row["id"] for row in http.get(f"{site}/site-spaces").json()["items"])
    path = f"{site}/site-spaces/{variant}/customization"
    settings = http.get(f"{site}/customization").json() | {"title": "The whole site"}
    http.put(f"{site}/customization", json=settings)
    untitled = {name: value for name, value in settings.items() if name != "title"}
    assert http.get(path).json() == untitled, "the site's title is not the site-space's"

    own = http.patch(path, json={"title": "Version 2", "styling": {"theme": "bold"}, "favicon": {"emoji": "1f4c4"}})
    expected = untitled | {
        "title": "Version 2",
        "styling": settings["styling"] | {"theme": "bold"},
        "favicon": {"emoji": "1f4c4"},
    }
    assert own.json() == http.get(path).json() == expected
    assert _title(http, site, variant) == "Version 2"
    assert http.get(f"{site}/site-spaces/{other}/customization").json() == untitled

    # What the site changes is seen wherever the site-space has nothing of its own.
    http.put(f"{site}/customization", json=settings | {"pdf": {"enabled": False}})
    assert http.get(path).json() == expected | {"pdf": {"enabled": False}}
    back = http.patch(path, json={"title": None, "favicon": None, "styling": {"theme": None}}).json()
    assert back == untitled | {"pdf": {"enabled": False}}
    assert _title(http, site, variant) == "Guides"

    http.patch(path, json={"title": "Version 3", "footer": {"copyright": "Example"}})
    for _ in range(2):
        assert http.delete(path).status_code == 204
    assert http.get(path).json() == back
    assert _title(http, site, variant) == "Guides"
    assert http.get(f"{site}/site-spaces/nothing/customization").status_code == 404


def _title(http: httpx.Client, site: str, variant: str) -> Any:
    return {row["id"]: row["title"] for row in http.get(f"{site}/site-spaces").json()["items"]}[variant]
