"""A published site shows the pages of a specification as any other page: in HTML, Markdown, lists, search and PDF."""

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

import pytest

from syncd.platform.visitors import routes
from tests.platform.services.test_platform_pdf import texts
from tests.platform.visitors.published_site import CLAIM, PublishedSiteMaker, open_published_site
from tests.platform.visitors.test_platform_access import Reader
from tests.platform.visitors.test_platform_computed_pages import (
    FINE,
    SPEC,
    complete_site,
    import_space,
    open_renderer,
    put_spec,
    walk,
    write_source,
)
from tests.platform.visitors.test_platform_offers import find_address


@pytest.fixture
def made(tmp_path: Path) -> Iterator[PublishedSiteMaker]:
    with open_published_site(tmp_path / "platform", complete_site) as made:
        yield made


def test_every_way_to_read_has_the_pages_of_a_specification(made: PublishedSiteMaker, tmp_path: Path) -> None:
    import_space(made, tmp_path, write_source(models=True), README="# Home\n\nWords.\n")
    reader = Reader(made)
    home = reader.get("/").text
    assert "Care &amp; feeding" in home
    pages = list(walk(open_renderer(made).read_answer("listPages")["pages"]))
    [path] = [one["path"] for one in pages if "Care" in one["title"]]
    page = reader.get(f"/{path}").text
    for words in ("How to <strong>care</strong>.", "/pets", ">List<"):
        assert words in page
    markdown = reader.get(f"/{path}.md").text
    assert markdown.startswith("# Care \\& feeding\n")
    assert 'spec="pets"' in markdown
    assert "List" in markdown
    assert f"/{path}.md" in reader.get("/llms.txt").text
    assert "How to **care**." in reader.get("/llms-full.txt").text
    assert f"/{path}</loc>" in reader.get("/sitemap.xml").text
    for searched in ("feeding", "list"):
        assert reader.get(f"/~syncd/search.json?q={searched}").json()[0][0] == "Care & feeding"
    pdf = made.world.target.client.get(made.base + find_address(made, page, "pdf"))
    assert "Care & feeding" in texts(pdf.content)
    assert "secret" not in home + reader.get("/llms-full.txt").text


def test_pages_follow_the_specification(made: PublishedSiteMaker, tmp_path: Path) -> None:
    import_space(made, tmp_path, write_source())
    reader = Reader(made)
    assert "Care &amp; feeding" in reader.get("/").text
    changed = deepcopy(SPEC)
    changed["tags"][0]["x-displayName"] = "Cuddling"
    put_spec(made, changed)
    home = reader.get("/").text
    assert "Cuddling" in home
    assert "Care &amp; feeding" not in home
    assert reader.get("/cuddling").status_code == 200
    assert reader.get("/~syncd/search.json?q=cuddling").json()[0][0] == "Cuddling"


def test_pages_below_a_condition_are_for_its_visitors(made: PublishedSiteMaker, tmp_path: Path) -> None:
    below = "".join(f"  {line}\n" for line in write_source().splitlines())
    import_space(made, tmp_path, f"* [Staff](staff.md)\n{below}", staff=f"---\nif: {CLAIM}\n---\n\n# Staff\n")
    stranger, staff = Reader(made), Reader(made, made.sign(isStaff=True))
    for way in ("/", "/llms.txt", "/llms-full.txt", "/~syncd/search?q=feeding", "/sitemap.xml"):
        assert "staff/" not in stranger.get(way).text, way
    assert "staff/" in staff.get("/llms.txt").text
    path = staff.get("/llms.txt").text.partition("/staff/")[2].partition(".md")[0]
    for end in ("", ".md"):
        assert stranger.get(f"/staff/{path}{end}").status_code == 404
        assert staff.get(f"/staff/{path}{end}").status_code == 200


def test_a_source_that_cannot_be_computed_has_no_page(made: PublishedSiteMaker, tmp_path: Path) -> None:
    import_space(made, tmp_path, write_source("none"))
    assert Reader(made).get("/").status_code == 200
    assert "computed" not in Reader(made).get("/llms.txt").text


def test_the_first_visitor_waits_for_the_texts_of_many_pages(
    made: PublishedSiteMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = "Words of *it*, and [more](https://example.org).\n\n* one\n* two\n\n" * 5
    tags = [{"name": f"t{number}", "description": about} for number in range(300)]
    paths = {f"/p{number}": {"get": {"tags": [f"t{number}"], **FINE}} for number in range(300)}
    put_spec(made, {**SPEC, "tags": tags, "paths": paths})
    assert Reader(made).get("/").status_code == 200
    import_space(made, tmp_path, write_source())
    monkeypatch.setattr(routes, "USUAL_S", 0.4)
    assert Reader(made).get("/").status_code == 200
    assert Reader(made).get("/llms.txt").text.count("/t") > 250
