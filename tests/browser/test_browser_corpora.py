"""Real documentation in Chromium, page after page: the manual, and what lies in `../shared/corpora` where it is."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from syncd.api.client import Client
from syncd.model.site import SiteCreate
from syncd.platform.server import BackgroundServer
from syncd.platform.services.directory.read import import_directory
from syncd.platform.storage.storage import Storage
from tests.browser.conftest import Visit, serve_files
from tests.browser.crawl import visit_every_page
from tests.cli.preview.test_preview_story import preview
from tests.sites.evolve import REAL, evolve, put_site
from tests.storages import new_storage
from tests.sync.publish.test_publish_build import build

pytestmark = pytest.mark.browser

MANUAL = Path(__file__).parents[2] / "syncd" / "manual"
CORPORA = REAL.parent
SOURCES = [MANUAL, *sorted(path.parent for path in CORPORA.rglob("SUMMARY.md"))]


def name_source(source: Path) -> str:
    return source.relative_to(CORPORA).as_posix() if source.is_relative_to(CORPORA) else source.name


def count_pages(source: Path) -> int:
    """Return how many pages a table of contents lists."""
    return (source / "SUMMARY.md").read_text(encoding="utf-8").count(".md)")


def find_pages(site: Path) -> Iterator[Path]:
    """The pages of a built site, without those that lead on at once."""
    for file in site.rglob("index.html"):
        if 'http-equiv="refresh"' not in file.read_text(encoding="utf-8"):
            yield file


def lead_to_space(value: dict[str, Any]) -> dict[str, Any]:
    """Return a link to the space of a page instead of one to the page; all else as it is."""
    return {"kind": "space", "space": value["space"]} if value.get("kind") == "page" else value


@pytest.mark.parametrize("source", SOURCES, ids=name_source)
def test_a_built_site_has_no_dead_link_and_nothing_serious(
    tmp_path: Path, visit: Visit, list_violations: Callable[[Page], list[str]], source: Path
) -> None:
    build(source, tmp_path / "docs")
    page = visit()
    found: dict[str, list[str]] = {}

    def look(address: str) -> None:
        if violations := list_violations(page):
            found[address] = violations

    with serve_files(tmp_path) as address:
        built = [file.parent.relative_to(tmp_path) for file in find_pages(tmp_path / "docs")]
        others = [f"{address}{directory}/" for directory in built]
        visited = visit_every_page(page, f"{address}docs/", look, has_anchors=source == MANUAL, others=others)
    assert len(visited) >= count_pages(source)
    assert found == {}


@pytest.mark.parametrize("source", SOURCES, ids=name_source)
def test_a_preview_has_no_dead_link(visit: Visit, source: Path) -> None:
    with preview(source) as shown:
        assert len(visit_every_page(visit(), f"http://{shown.host}/", has_anchors=source == MANUAL)) >= count_pages(
            source
        )


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Storage, str]]:
    with new_storage(tmp_path_factory.mktemp("corpora")) as storage:
        storage.bootstrap()
        with BackgroundServer(storage, works=False) as url:
            yield storage, url


@pytest.mark.parametrize("source", [one for one in SOURCES if not one.is_relative_to(REAL)], ids=name_source)
def test_a_published_space_has_no_dead_link(platform: tuple[Storage, str], visit: Visit, source: Path) -> None:
    storage, url = platform
    space = import_directory(storage, source).space
    with Client(url, storage.token_file.read_text().strip()) as client:
        organization = next(client.organizations.list()).id
        site = client.sites.create(organization, SiteCreate(title=source.name, spaces=(space,)))
        address = client.sites.publish(organization, site.id).urls.published
    assert address is not None
    assert len(visit_every_page(visit(), address, has_anchors=source == MANUAL)) >= count_pages(source)


@pytest.mark.timeout(300)
def test_a_published_site_of_many_sections_has_no_dead_link(platform: tuple[Storage, str], visit: Visit) -> None:
    """Ten sections with sixty site-spaces, the settings of the real site, and its ten spaces where they are."""
    storage, url = platform
    with Client(url, storage.token_file.read_text().strip()) as client:
        organization = next(client.organizations.list()).id
        shown = evolve()
        # The pages that the settings lead to have other ids here.
        settings = json.loads(json.dumps(shown.customization), object_hook=lead_to_space)
        site = put_site(storage, organization, replace(shown, customization=settings))
        sections = {one.id: one.path for one in client.sections.list(organization, site)}
        parts = [part for part in client.site_spaces.list(organization, site) if part.default]
        address = client.sites.get(organization, site).urls.published
    assert address is not None
    pages = 0
    for part in parts:
        for source in SOURCES:
            if part.section and part.space and sections[part.section] in source.relative_to(source.parents[1]).parts:
                import_directory(storage, source, space=part.space.id)
                pages += count_pages(source)
    assert len(visit_every_page(visit(), address, has_anchors=False)) >= max(pages, len(parts))
