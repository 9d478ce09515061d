"""One page of a site, from files alone: its frame, where its references lead, and its place among the others."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from syncd.cli.preview.gather import SourceReader, find_source
from syncd.layout.lint.finding import make_finding
from syncd.sync.publish.content import SiteContent
from syncd.sync.publish.frames import build_frame, find_spot_address, read_space_settings
from syncd.sync.publish.links import INCLUDE_BYTES_MAX, PageLinks, read_page_metadata
from syncd.sync.publish.render import PageRenderer
from syncd.web.rendering import Html

SITE = """version: 1
site: { org: ORG, id: SITE }
settings: { title: Docs }
spaces: { home: SPACE-1, guides: SPACE-2, guides-fr: SPACE-3 }
structure:
  items:
    - section: home
      title: Home
      path: home
      default: true
      variants: [{ variant: en, space: home, path: en, default: true }]
    - group: learn
      title: Learn
      icon: book
      items:
        - section: guides
          title: Guides
          icon: gear
          path: guides
          variants:
            - { variant: en, space: guides, path: en, default: true }
            - { variant: fr, space: guides-fr, path: fr }
    - group: empty
      title: Empty
      items: []
customization:
  site:
    header:
      links:
        - { title: Section, to: { section: guides } }
        - { title: Variant, to: { variant: guides/fr } }
        - { title: Page, to: { page: setup, in: guides/en } }
        - { title: Space, to: { raw: { kind: space, space: SPACE-3 } } }
        - { title: Unknown space, to: { raw: { kind: space, space: NONE } } }
        - { title: Web, to: { raw: { kind: url, url: "https://web.example" } } }
        - { title: Written, to: { url: "https://written.example" } }
        - { title: Ids only, to: { raw: { kind: page, page: P, space: S } } }
    announcement: { enabled: true, style: info, message: Hello }
  overrides:
    guides/fr:
      announcement: { enabled: true, style: info, message: Bonjour }
"""
SET_UP = """---
description: How to begin
layout:
  width: wide
  outline:
    visible: false
---
# Set up

Words.
"""
FILES = {
    "site.yaml": SITE,
    "home/README.md": "# Home\n",
    "home/SUMMARY.md": "* [Home](README.md)\n",
    "guides/README.md": "# Guides\n",
    "guides/SUMMARY.md": "* [Guides](README.md)\n* [Set up](setup.md)\n  * [Deep](more/deep.md)\n* [Last](last.md)\n",
    "guides/setup.md": SET_UP,
    "guides/more/deep.md": "# Deep\n",
    "guides/last.md": "# Last\n",
    "guides/hidden.md": "# Nobody lists it\n",
    "guides/plan.pdf": "%PDF\n",
    "guides/.gitbook/includes/note.md": "# Title\n\nShared *words*: [last](../../last.md#end), [more](more.md).\n",
    "guides/.gitbook/includes/more.md": "More.\n",
    "guides/api.yaml": "openapi: 3.1.0\npaths: {}\n",
    "guides/list.yaml": "- one\n",
    "guides/broken.yaml": "a: [\n",
    "guides-fr/README.md": "# Guides\n",
    "guides-fr/SUMMARY.md": "* [Guides](README.md)\n* [Installer](setup.md)\n",
    "guides-fr/setup.md": "# Installer\n",
}


@pytest.fixture
def top(tmp_path: Path) -> Path:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


@pytest.fixture
def site(top: Path) -> SiteContent:
    with ExitStack() as stack:
        found = SourceReader(find_source(top), stack).gather()
    assert found.problem is None
    return found


def resolve(site: SiteContent, address: Any, file: str = "setup.md") -> tuple[str, str]:
    """The address and the title of what a reference of a page leads to."""
    found = PageLinks(site, "SPACE-2", file).resolve({"kind": "url", "url": address})
    assert found is not None
    return found.address, found.title


def test_a_frame_has_the_sections_and_the_variants_beside_the_one_that_is_shown(site: SiteContent) -> None:
    frame = build_frame(site, "SPACE-3", "7")
    assert [(one.title, one.address, one.is_current) for one in frame.sections] == [
        ("Home", "/", False),
        ("Learn", "", True),
    ]
    assert [(one.title, one.address, one.is_current) for one in frame.sections[1].links] == [
        ("Guides", "/guides", True)
    ]
    assert [one.icon for one in (*frame.sections, *frame.sections[1].links)] == ["", "book", "gear"]
    variants = [(one.title, one.address, one.is_current) for one in frame.variants]
    assert variants == [("en", "/guides", False), ("fr", "/guides/fr", True)]
    assert (frame.title, frame.version, frame.theme) == ("Docs", "7", f"{site.find_scope('SPACE-3')}/theme.css")
    home = build_frame(site, "SPACE-1", "")
    assert [one.is_current for one in home.sections] == [True, False]
    assert [one.title for one in home.variants] == ["en"]


def test_links_of_the_header_lead_where_the_site_file_says(site: SiteContent) -> None:
    header = read_space_settings(site, "SPACE-1").header
    assert header is not None
    assert {link.title: link.to.url if link.to is not None else None for link in header.links} == {
        "Section": "/guides",
        "Variant": "/guides/fr",
        "Page": "/guides/setup",
        "Space": "/guides/fr",
        "Unknown space": None,
        "Web": "https://web.example",
        "Written": "https://written.example",
        "Ids only": None,
    }
    assert find_spot_address(site, None) == ""


def test_a_variant_has_the_looks_of_the_site_but_for_its_own(site: SiteContent) -> None:
    for name, message in (("SPACE-1", "Hello"), ("SPACE-2", "Hello"), ("SPACE-3", "Bonjour")):
        settings = read_space_settings(site, name)
        assert settings.announcement is not None
        assert settings.announcement.message == message
        assert settings.header is not None


def test_references_lead_to_pages_files_and_nowhere(site: SiteContent) -> None:
    assert resolve(site, "more/deep.md#part") == ("/guides/setup/deep#part", "Deep")
    assert resolve(site, "../setup.md", "more/deep.md") == ("/guides/setup", "Set up")
    assert resolve(site, "plan.pdf") == (site.make_file_address("SPACE-2", "plan.pdf"), "plan.pdf")
    assert resolve(site, "hidden.md") == ("", "hidden.md")
    assert resolve(site, "none.md") == ("", "")
    assert resolve(site, "/guides/fr/setup") == ("/guides/fr/setup", "")
    assert resolve(site, "/guides/fr/none") == ("", "")
    assert resolve(site, "https://web.example/x") == ("https://web.example/x", "")
    guides = "https://app.gitbook.com/s/SPACE-2"
    assert resolve(site, f"{guides}/setup/deep#part") == ("/guides/setup/deep#part", "Deep")
    for home in ("https://app.gitbook.com/o/ORG/s/SPACE-1/", "https://app.gitbook.com/s/SPACE-1"):
        assert resolve(site, home) == ("/", "Home")
    assert resolve(site, f"{guides}/more/deep") == ("/guides/setup/deep", "Deep")
    assert resolve(site, f"{guides}/hidden") == (f"{guides}/hidden", "")
    assert resolve(site, f"{guides}/none") == (f"{guides}/none", "")
    assert resolve(site, "https://app.gitbook.com/s/NONE/setup") == ("https://app.gitbook.com/s/NONE/setup", "")
    assert resolve(site, "#part") == ("#part", "")
    assert resolve(site, "../../../etc/passwd") == ("", "")
    assert resolve(site, "\\\\host\\share") == ("", "")
    assert resolve(site, 7) == ("", "")
    assert PageLinks(site, "SPACE-2", "setup.md").resolve({"kind": "page", "page": "P"}).address == ""  # type: ignore[union-attr]


def test_reusable_content_and_descriptions_are_read_within_bounds(top: Path, site: SiteContent) -> None:
    links = PageLinks(site, "SPACE-2", "setup.md")
    nodes = links.read_reusable({"url": ".gitbook/includes/note.md"})
    assert nodes is not None
    assert nodes[0]["type"] == "heading-1"  # a title is in the frontmatter
    assert "Shared " in str(nodes)
    assert links.read_specification({"url": "api.yaml"}) == {"openapi": "3.1.0", "paths": {}}
    for address in ("list.yaml", "broken.yaml", "none.yaml", "https://web.example/a.yaml", None):
        assert links.read_specification({"url": address}) is None
    assert links.read_reusable({}) is None
    (top / "guides/.gitbook/includes/note.md").unlink()
    assert links.read_reusable({"url": ".gitbook/includes/note.md"}) is None
    (top / "guides/large.md").write_text("x" * (INCLUDE_BYTES_MAX + 1))
    with ExitStack() as stack:
        again = SourceReader(find_source(top), stack).gather()
    assert PageLinks(again, "SPACE-2", "setup.md").read_reusable({"url": "large.md"}) is None


def test_links_of_reusable_content_are_its_own_wherever_it_is_shown(site: SiteContent) -> None:
    renderer = PageRenderer()
    for file, include in (("setup.md", ".gitbook/includes/note.md"), ("more/deep.md", "../.gitbook/includes/note.md")):
        text = f'# T\n\n{{% include "{include}" %}}\n'
        view, _ = renderer.build_view(PageLinks(site, "SPACE-2", file), text)
        assert 'href="/guides/last#end"' in view.body
        assert view.body.count("b-broken") == 1  # what nothing lists


def test_variables_have_their_values_for_writers_who_still_see_conditions(top: Path) -> None:
    (top / "guides/.gitbook/vars.yaml").write_text("name: Apollo\n")
    with ExitStack() as stack:
        site = SourceReader(find_source(top), stack).gather()
    text = (
        "---\nvars: { level: 3 }\n---\n# T\n\n{{ space.vars.name }} "
        '<code class="expression">page.vars.level</code>\n\n{% if visitor.claims.beta %}\nBeta\n{% endif %}\n'
    )
    view, _ = PageRenderer().build_view(PageLinks(site, "SPACE-2", "setup.md"), text)
    assert "Apollo 3" in view.body
    assert "visitor.claims.beta" in view.body
    assert "Beta" in view.body


def test_metadata_that_cannot_be_read_is_none() -> None:
    assert read_page_metadata("---\ndescription: D\n---\n# T\n", at="a.md") == {"description": "D"}
    assert read_page_metadata("---\na: [\n---\n# T\n", at="a.md") == {}


def test_a_page_stands_between_its_neighbours_and_below_its_ancestors(site: SiteContent) -> None:
    renderer = PageRenderer()
    view, _ = renderer.build_view(PageLinks(site, "SPACE-2", "more/deep.md"), FILES["guides/more/deep.md"])
    assert view.before is not None
    assert view.after is not None
    assert (view.title, view.before.title, view.after.title) == ("Deep", "Set up", "Last")
    assert [one.title for one in view.breadcrumbs] == ["Set up"]
    set_up, document = renderer.build_view(PageLinks(site, "SPACE-2", "setup.md"), FILES["guides/setup.md"])
    assert (set_up.description, set_up.layout.is_wide, set_up.layout.outline) == ("How to begin", True, False)
    assert set_up.layout.pagination
    assert "Words." in str(set_up.body)
    assert len(document.nodes) == 1
    with_icon, _ = renderer.build_view(PageLinks(site, "SPACE-2", "more/deep.md"), "---\nicon: gear\n---\n# Deep\n")
    assert with_icon.icon == "gear"
    unlisted, _ = renderer.build_view(PageLinks(site, "SPACE-2", "hidden.md"), "No heading.\n")
    assert (unlisted.title, unlisted.before, unlisted.after) == ("hidden.md", None, None)


def test_a_preview_shows_findings_where_they_are_and_is_not_indexed(site: SiteContent) -> None:
    renderer, frame = PageRenderer(), build_frame(site, "SPACE-2", "3")
    finding = make_finding("link-broken", "setup.md", (10, 1), "nothing is at none.md")
    html = renderer.render_file(site, "SPACE-2", "setup.md", [finding], frame=frame, strip=Html("<p>Strip</p>"))
    assert (
        html.index("<p>Strip</p>")
        < html.index("Words.")
        < html.index("nothing is at none.md")
        < html.index("</article>")
    )
    assert '<meta name="robots" content="noindex">' in html
    assert renderer.mark not in html
    plain = renderer.render_file(site, "SPACE-2", "setup.md", (), frame=frame, strip=Html())
    assert "nothing is at none.md" not in plain
    with pytest.raises(KeyError):
        renderer.render_file(site, "SPACE-2", "gone.md", (), frame=frame, strip=Html())
    own = renderer.render_words(site, "SPACE-2", "Not <found>", Html("<p>Gone.</p>"), frame=frame, strip=Html())
    assert "<h1>Not &lt;found&gt;</h1>" in own
    assert "<p>Gone.</p>" in own
    assert 'href="/guides/setup"' in own
