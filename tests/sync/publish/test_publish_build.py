"""A static site: the same bytes for the same input, only what differs is written, and nothing of others is touched."""

import json
import os
import re
import shutil
from collections import Counter
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from posixpath import join, normpath
from urllib.parse import quote, unquote, urlsplit

import pytest

from syncd.cli.preview.gather import SourceReader, find_source
from syncd.errors import AnotherRuns, ConfigInvalid
from syncd.layout.lint.anchors import AnchorReader
from syncd.layout.lint.check import check_space
from syncd.layout.lint.space import Space, SpaceFile
from syncd.layout.tree.built_sites import MANIFEST
from syncd.sync.publish.atomic import build_atomically
from syncd.sync.publish.build import BuildOptions, build_site
from syncd.sync.publish.output import TEMPORARY, BuildSummary, open_output

SITE = """version: 1
site: { org: ORG, id: SITE }
settings: { title: The <Docs> & more }
spaces: { guides: SPACE-1, api: SPACE-2 }
structure:
  items:
    - section: guides
      title: Guides
      path: guides
      default: true
      variants: [{ variant: en, space: guides, path: en, default: true }]
    - section: api
      title: API
      path: api
      variants: [{ variant: en, space: api, path: en, default: true }]
redirects:
  - { from: /old, to: { section: api } }
  - { from: /gone, to: { url: "https://elsewhere.example/x" } }
"""
FILES = {
    "site.yaml": SITE,
    "guides/README.md": "# Start\n\nRead [more](more/deep.md#second) or [the file](files/plan.pdf).\n",
    "guides/SUMMARY.md": (
        "# Table of contents\n\n* [Start](README.md)\n* [More](more/README.md)\n  * [Deep](more/deep.md)\n"
    ),
    "guides/more/README.md": "---\ndescription: About <more>\n---\n# More\n\n![One](../.gitbook/assets/one.png)\n",
    "guides/more/deep.md": '# Deep "one"\n\n## First\n\n[Up](README.md)\n\n## Second\n\n[Nowhere](none.md)\n',
    "guides/files/plan.pdf": "%PDF-1.4\n",
    "guides/files/unused.bin": "nobody links to it",
    "guides/.gitbook/assets/one.png": "png",
    "api/README.md": (
        '# API\n\n{% updates %}\n{% update date="2026-01-02" %}\n## New\n\nWords.\n{% endupdate %}\n{% endupdates %}\n'
    ),
    "api/SUMMARY.md": "# Table of contents\n\n* [API](README.md)\n",
}


def write_source(top: Path, files: dict[str, str] = FILES) -> Path:
    for path, text in files.items():
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_text(text)
    return top


def build(source: Path, top: Path, base_url: str = "", jobs: int = 1, *, atomic: bool = False) -> BuildSummary:
    with ExitStack() as stack:
        site = SourceReader(find_source(source), stack).gather()
        assert site.problem is None
        build_into = partial(build_site, site, options=BuildOptions(base_url, jobs))
        return build_atomically(top, build_into) if atomic else build_into(top)


def read_tree(top: Path) -> dict[str, bytes]:
    return {path.relative_to(top).as_posix(): path.read_bytes() for path in sorted(top.rglob("*")) if path.is_file()}


class Addresses(HTMLParser):
    """The addresses that a page loads or links to, and the ids that it has."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.ids: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src", "action") and value is not None:
                self.found.append(value)
            if name == "id" and value:
                self.ids.add(value)


def find_dead_links(top: Path, below: str = "") -> list[str]:
    """The addresses of built pages that lead to no file, for a server that has the site below a path."""
    files = read_tree(top)
    pages = {path: Addresses(data.decode()) for path, data in files.items() if path.endswith(".html")}
    dead = []
    for path, page in pages.items():
        if path == "404.html":
            continue
        for address in page.found:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            here = quote(join("/", below, path))
            target = unquote(normpath(join(here.rpartition("/")[0] or "/", parts.path or here)))
            inner = target.removeprefix(f"/{below}" if below else "/").strip("/")
            inner = join(inner, "index.html") if parts.path.endswith("/") else inner
            is_there = inner in files and (not parts.fragment or unquote(parts.fragment) in pages[inner].ids)
            if not is_there:
                dead.append(f"{path}: {address}")
    return dead


def test_every_page_stands_for_itself(tmp_path: Path) -> None:
    summary = build(write_source(tmp_path / "source"), tmp_path / "site")
    files = read_tree(tmp_path / "site")
    assert summary.pages == 4
    assert summary.files == len(files) - 1  # the manifest is no file of the site
    assert {"index.html", "index.md", "more/index.html", "more.md", "more/deep/index.html", "api/index.html"} <= {
        *files
    }
    assert {"llms.txt", "llms-full.txt", "robots.txt", "404.html", "_redirects", "api/rss.xml", "old/index.html"} <= {
        *files
    }
    assert "sitemap.xml" not in files
    assert not find_dead_links(tmp_path / "site")
    assert not find_dead_links(tmp_path / "site", "docs/of/ours")
    html = files["more/deep/index.html"].decode()
    assert "Content-Security-Policy" in html
    assert "<title>Deep | The &lt;Docs&gt; &amp; more" in html
    assert "None of" not in html
    assert "(more/deep.md#second)" in files["index.md"].decode()
    assert "[Up](../more.md)" in files["more/deep.md"].decode()
    everything = files["llms-full.txt"].decode()
    assert all(link in everything for link in ("(more/deep.md#second)", "[Up](more.md)", "[Nowhere](none.md)"))


@pytest.mark.parametrize("base", ["", "https://docs.example.com"])
def test_a_page_that_is_named_index_has_markdown_of_its_own(tmp_path: Path, base: str) -> None:
    texts = {
        "README.md": "# Home\n\nSee the [index](index.md).\n",
        "index.md": "# Index of words\n\nBack [home](README.md).\n",
        "more/README.md": "# More\n",
        "more/index.md": "# Index of more\n\n[Up](README.md)\n",
    }
    build(write_source(tmp_path / "source", texts), tmp_path / "site", base)
    files = {
        path: data.decode() for path, data in read_tree(tmp_path / "site").items() if path.endswith((".md", "l", "t"))
    }
    assert not find_dead_links(tmp_path / "site")
    assert "See the [index](index.md)." in files["index.html.md"]
    assert "Back [home](index.html.md)." in files["index.md"]
    assert files["more.md"].startswith("# More")
    assert "[Up](../more.md)" in files["more/index.md"]
    for path, page in (("index.html.md", ""), ("index.md", "index/"), ("more/index.md", "more/index/")):
        assert f"({base}/{path})" in files["llms.txt"]
        relative = "../" * page.count("/")
        assert f'type="text/markdown" href="{relative}{path}"' in files[f"{page}index.html"]


def test_lists_have_the_sections_in_the_order_of_the_site(tmp_path: Path) -> None:
    build(write_source(tmp_path / "source"), tmp_path / "site")
    titles = re.findall("^## (.*)$", (tmp_path / "site/llms.txt").read_text(), re.MULTILINE)
    assert titles == ["Guides / en", "API / en"]
    assert '<a href="/" aria-current="true">Guides</a>' in (tmp_path / "site/404.html").read_text()


def test_navigation_leads_to_nothing_that_the_repository_lacks(tmp_path: Path) -> None:
    guides, api = (f"[{{ variant: en, space: {name}, path: en, default: true }}" for name in ("guides", "api"))
    site = SITE.replace("api: SPACE-2 }", "api: SPACE-2, old: SPACE-3, fr: SPACE-4, home: SPACE-5 }")
    site = site.replace(guides, f"{guides}, {{ variant: fr, space: fr, path: fr }}")
    site = site.replace(api, f"{api.replace('space: api', 'space: old')}, {{ variant: v2, space: api, path: v2 }}")
    home = "    - section: home\n      title: Home\n      path: home\n      variants: " + guides.replace(
        "guides", "home"
    )
    site = site.replace("  items:\n", f"  items:\n{home}]\n")
    build(write_source(tmp_path / "source", FILES | {"site.yaml": site}), tmp_path / "site")
    page = (tmp_path / "site/index.html").read_text()
    assert 'href=""' not in page
    assert "variants" not in page
    sections = re.findall(r'<a href="([^"]*)"[^>]*>(Home|Guides|API)</a>', page)
    assert [title for _, title in sections] == ["Guides", "API"]
    assert find_dead_links(tmp_path / "site") == []
    index = json.loads((tmp_path / "site/~syncd/search/index.json").read_text())
    assert [title for _, _, title in index[0]] == ["Guides", "API"]


def test_blocks_speak_the_language_of_the_customization(tmp_path: Path) -> None:
    rules = f"{SITE}customization:\n  site:\n    internationalization: {{ locale: fr }}\n"
    hint = '# API\n\n{% hint style="info" %}\nWords.\n{% endhint %}\n'
    build(write_source(tmp_path / "source", {**FILES, "site.yaml": rules, "api/README.md": hint}), tmp_path / "site")
    assert 'aria-label="Remarque"' in (tmp_path / "site/api/index.html").read_text()


def test_a_redirect_replaces_no_page(tmp_path: Path) -> None:
    rules = f"{SITE}  - {{ from: /api, to: {{ section: guides }} }}\n"
    settings = "redirects:\n  more: more/deep.md\n  less: more/deep.md#second\n"
    files = {**FILES, "site.yaml": rules, "guides/.gitbook.yaml": settings}
    build(write_source(tmp_path / "source", files), tmp_path / "site")
    built = read_tree(tmp_path / "site")
    assert b"Words." in built["api/index.html"]
    assert b"About" in built["more/index.html"]
    sources = [line.split()[0] for line in built["_redirects"].decode().splitlines() if line.strip()]
    assert sorted(sources) == ["/gone", "/less", "/old"]
    assert "/less /more/deep/#second 301" in built["_redirects"].decode().splitlines()
    assert b'href="../more/deep/#second"' in built["less/index.html"]


def test_only_files_that_are_linked_to_are_published(tmp_path: Path) -> None:
    build(write_source(tmp_path / "source"), tmp_path / "site")
    names = [path for path in read_tree(tmp_path / "site") if path.startswith("~syncd/files/")]
    assert [name.rpartition("/")[2].partition(".")[0] for name in names] == ["one", "plan"]
    assert b"nobody links to it" not in b"".join(read_tree(tmp_path / "site").values())


def test_with_its_address_a_site_has_canonical_links(tmp_path: Path) -> None:
    build(write_source(tmp_path / "source"), tmp_path / "site", "https://docs.example/base/")
    files = read_tree(tmp_path / "site")
    assert b"<loc>https://docs.example/base/more/deep/</loc>" in files["sitemap.xml"]
    assert b'<link rel="canonical" href="https://docs.example/base/more/deep/">' in files["more/deep/index.html"]
    assert b"Sitemap: https://docs.example/base/sitemap.xml" in files["robots.txt"]
    assert b'<a href="/base/">Start page</a>' in files["404.html"]
    assert b'/contents.html">All pages</a>' in files["404.html"]
    assert b"(https://docs.example/base/more/deep.md)" in files["llms.txt"]
    assert not find_dead_links(tmp_path / "site", "base")
    assert "/base/old /base/api/ 301" in files["_redirects"].decode().splitlines()
    assert b'"/base/old" "/base/api/";' in files["~syncd/redirects.map"]
    assert b"[Up](https://docs.example/base/more.md)" in files["llms-full.txt"]


@pytest.mark.parametrize(
    "address", ["docs.example", "ftp://x/", "https://", "https://a b/", "https://x/?q", "http://[x"]
)
def test_what_is_no_address_of_a_site_is_refused(tmp_path: Path, address: str) -> None:
    with pytest.raises(ConfigInvalid, match="is no address of a site"):
        build(write_source(tmp_path / "source"), tmp_path / "site", address)


def test_a_build_depends_on_nothing_but_its_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(write_source(tmp_path / "one" / "docs"), tmp_path / "first")
    other = write_source(tmp_path / "other place" / "docs", dict(reversed(FILES.items())))
    for path in other.rglob("*"):
        os.utime(path, (1, 1))
    monkeypatch.setenv("LC_ALL", "tr_TR.UTF-8")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    former = os.umask(0o077)
    try:
        build(other, tmp_path / "second", jobs=2)
    finally:
        os.umask(former)
    assert read_tree(tmp_path / "first") == read_tree(tmp_path / "second")


def test_a_page_is_rendered_from_one_reading(tmp_path: Path) -> None:
    counts: Counter[str] = Counter()

    def count(path: str, item: SpaceFile) -> bytes:
        counts[path] += 1
        return item.read()

    with ExitStack() as stack:
        site = SourceReader(find_source(write_source(tmp_path / "source")), stack).gather()
        for space in site.spaces.values():
            items = {path: replace(item, read=partial(count, path, item)) for path, item in space.files.items.items()}
            object.__setattr__(space.files, "items", items)
        build_site(site, tmp_path / "site", BuildOptions("https://docs.example.com"))
    # For the members that hide it, for its conditions, for its digest, and to be rendered.
    assert counts["more/deep.md"] == counts["more/README.md"] == 4


def test_a_second_build_writes_nothing(tmp_path: Path) -> None:
    source, top = write_source(tmp_path / "source"), tmp_path / "site"
    first = build(source, top)
    times = {path: path.stat().st_mtime_ns for path in top.rglob("*")}
    second = build(source, top)
    assert (second.written, second.removed, second.rendered) == (0, 0, 0)
    assert second.unchanged == first.written
    assert {path: path.stat().st_mtime_ns for path in top.rglob("*") if path.is_file()} == {
        path: time for path, time in times.items() if path.is_file()
    }


def test_only_a_page_that_changed_is_rendered(tmp_path: Path) -> None:
    source, top = write_source(tmp_path / "source"), tmp_path / "site"
    build(source, top)
    (source / "guides/more/deep.md").write_text('# Deep "one"\n\n## Second\n\nOther words.\n')
    summary = build(source, top)
    assert summary.rendered == 1
    assert b"Other words." in (top / "more/deep/index.html").read_bytes()
    build(source, tmp_path / "fresh")
    assert read_tree(top) == read_tree(tmp_path / "fresh")


def test_a_file_that_a_page_takes_in_counts_for_the_page(tmp_path: Path) -> None:
    source, top = write_source(tmp_path / "source"), tmp_path / "site"
    (source / "api/README.md").write_text('# API\n\n{% include "part.md" %}\n')
    (source / "api/part.md").write_text("First words.\n")
    build(source, top)
    assert b"First words." in (top / "api/index.html").read_bytes()
    (source / "api/part.md").write_text("Second words.\n")
    (source / "guides/.gitbook/assets/one.png").write_text("another picture")
    assert build(source, top).rendered == 2
    assert b"Second words." in (top / "api/index.html").read_bytes()
    build(source, tmp_path / "fresh")
    assert read_tree(top) == read_tree(tmp_path / "fresh")


def test_what_is_no_longer_made_is_removed_if_syncd_made_it(tmp_path: Path) -> None:
    source, top = write_source(tmp_path / "source"), tmp_path / "site"
    build(source, top)
    (top / "CNAME").write_text("docs.example\n")
    (top / "more/notes.txt").write_text("somebody's own\n")
    (source / "guides/SUMMARY.md").write_text("# Table of contents\n\n* [Start](README.md)\n")
    for path in ("guides/more/deep.md", "guides/more/README.md"):
        (source / path).unlink()
    assert build(source, top).removed >= 4
    assert not (top / "more/deep").exists()
    assert (top / "CNAME").read_text() == "docs.example\n"
    assert (top / "more/notes.txt").read_text() == "somebody's own\n"


def test_what_others_put_there_is_not_overwritten(tmp_path: Path) -> None:
    source, top = write_source(tmp_path / "source"), tmp_path / "site"
    top.mkdir()
    (top / "photo.jpg").write_text("mine")
    with pytest.raises(ConfigInvalid, match=r"photo\.jpg is there, and syncd did not make it"):
        build(source, top)
    (top / "photo.jpg").unlink()
    build(source, top)
    (source / "api/new.md").write_text("# New\n")
    (source / "api/SUMMARY.md").write_text("# Table of contents\n\n* [API](README.md)\n* [New](new.md)\n")
    (top / "api/new").mkdir()
    (top / "api/new/index.html").write_text("mine")
    with pytest.raises(ConfigInvalid, match="syncd did not make it"):
        build(source, top)
    assert (top / "api/new/index.html").read_text() == "mine"


def test_a_link_in_the_directory_is_not_followed(tmp_path: Path) -> None:
    source, top = write_source(tmp_path / "source"), tmp_path / "site"
    build(source, top)
    outside = tmp_path / "outside"
    outside.mkdir()
    shutil.rmtree(top / "more")
    (top / "more").symlink_to(outside)
    (top / "api/index.html").unlink()
    (top / "api/index.html").symlink_to(outside / "victim")
    with pytest.raises(ConfigInvalid, match="syncd did not make it"):
        build(source, top)
    assert list(outside.iterdir()) == []


def test_what_somebody_changed_or_took_away_is_made_again(tmp_path: Path) -> None:
    source, top = write_source(tmp_path / "source"), tmp_path / "site"
    build(source, top)
    whole = read_tree(top)
    (top / "more/index.html").write_text("broken")
    (top / "llms.txt").unlink()
    build(source, top)
    assert read_tree(top) == whole


def test_a_build_that_was_stopped_is_mended_by_the_next(tmp_path: Path) -> None:
    source, top = write_source(tmp_path / "source"), tmp_path / "site"
    build(source, top)
    whole = read_tree(top)
    (source / "api/extra.md").write_text("# Extra\n")
    (source / "api/SUMMARY.md").write_text("# Table of contents\n\n* [API](README.md)\n* [Extra](extra.md)\n")
    build(source, top)
    # As a kill leaves it: files of the build that was under way, a manifest without a structure, and a temporary file.
    manifest = json.loads((top / MANIFEST).read_text())
    (top / MANIFEST).write_text(json.dumps(manifest | {"structure": "", "pages": {}}))
    (top / "more/index.html").unlink()
    (top / TEMPORARY).mkdir()
    (top / TEMPORARY / "12").write_text("half")
    (source / "api/extra.md").unlink()
    (source / "api/SUMMARY.md").write_text(FILES["api/SUMMARY.md"])
    build(source, top)
    assert read_tree(top) == whole


@pytest.mark.parametrize(
    "manifest", ["", "[]", '{"format": 1}', '{"format": 1, "files": {"../x": ""}, "pages": {}, "structure": ""}']
)
def test_a_manifest_that_says_nonsense_removes_nothing(tmp_path: Path, manifest: str) -> None:
    source, top = write_source(tmp_path / "source"), tmp_path / "site"
    top.mkdir()
    (tmp_path / "x").write_text("mine")
    (top / MANIFEST).write_text(manifest)
    build(source, top)
    assert (tmp_path / "x").read_text() == "mine"
    assert (top / "index.html").is_file()


def test_two_builds_into_one_directory_exclude_each_other(tmp_path: Path) -> None:
    source, top = write_source(tmp_path / "source"), tmp_path / "site"
    with open_output(top), pytest.raises(AnotherRuns):
        build(source, top)


def test_a_published_directory_is_exchanged_at_once(tmp_path: Path) -> None:
    source, top = write_source(tmp_path / "source"), tmp_path / "site"
    build(source, top)  # as it was before: a plain directory
    before = read_tree(top)
    assert not build(source, top, atomic=True).has_changed
    assert top.is_symlink()
    first = top.resolve()
    (source / "guides/README.md").write_text("# Start\n\nOther words.\n")
    summary = build(source, top, atomic=True)
    assert summary.rendered == 1
    assert top.resolve() != first
    assert read_tree(first) == before  # whoever still reads the former site reads a whole one
    build(source, tmp_path / "fresh")
    assert read_tree(top) == read_tree(tmp_path / "fresh")
    assert not build(source, top, atomic=True).has_changed


def test_an_exchange_leaves_alone_what_is_not_its_own(tmp_path: Path) -> None:
    source, top = write_source(tmp_path / "source"), tmp_path / "site"
    (tmp_path / "other").mkdir()
    top.symlink_to(tmp_path / "other")
    with pytest.raises(ConfigInvalid, match="did not build"):
        build(source, top, atomic=True)
    top.unlink()
    top.mkdir()
    (top / "mine").write_text("x")
    with pytest.raises(ConfigInvalid, match="did not make it"):
        build(source, top, atomic=True)
    assert (top / "mine").read_text() == "x"


def test_pages_for_machines_have_what_is_included_and_values(tmp_path: Path) -> None:
    files = {
        "README.md": "# Home\n",
        "a/b.md": '# B\n\n{% include "../.gitbook/includes/part.md" %}\n\n{% include "../none.md" %}\n',
        ".gitbook/includes/part.md": '# Part\n\n[Home](../../README.md) {{ space.vars.name }}\n{% include "part.md" %}',
        ".gitbook/vars.yaml": "name: Apollo\n",
    }
    source, top = write_source(tmp_path / "source", files), tmp_path / "site"
    build(source, top)
    page, markdown = (top / "a/b/index.html").read_text(), (top / "a/b.md").read_text()
    assert 'id="part"' in page
    assert "Apollo" in page
    for text in (markdown, (top / "llms-full.txt").read_text()):
        assert "# Part" in text
        assert "Apollo" in text
    assert "[Home](../index.md)" in markdown
    (source / ".gitbook/includes/part.md").write_text("Other.\n")
    build(source, top)
    assert "Other." in (top / "a/b.md").read_text()
    build(source, tmp_path / "fresh")
    assert read_tree(top) == read_tree(tmp_path / "fresh")


def test_pages_have_the_addresses_that_the_platform_gives_them(tmp_path: Path) -> None:
    names = ("Install.md", "a/README.md", "a.md", "Upper.md", "upper.md")
    listed = "".join(f"* [{name}]({name})\n" for name in names)
    files = {name: f"# {name}\n\n[I](/install#x)\n" for name in names} | {
        "README.md": "# Home\n",
        "SUMMARY.md": f"# Table of contents\n\n* [Home](README.md)\n{listed}",
    }
    source, top = write_source(tmp_path / "source", files), tmp_path / "site"
    assert not build(source, top).left_out
    for name, path in zip(names, ("Install", "a", "a-1", "Upper", "upper-1"), strict=True):
        assert f"<h1>{name}" in (top / path / "index.html").read_text()
        assert 'href="../Install/#x"' in (top / path / "index.html").read_text()


def test_a_page_in_the_way_of_a_file_is_left_out_and_named(tmp_path: Path) -> None:
    names = ("robots.txt", "llms.txt", "sitemap.xml", "404.html", "index.html", "open.md")
    pages = {f"{name}.md": f"# {name}\n" for name in names}
    source, top = (
        write_source(tmp_path / "source", {"README.md": "# Home\n", "open.md": "# Open\n", **pages}),
        tmp_path / "site",
    )
    for _ in range(2):
        assert build(source, top).left_out == {
            f"{name}.md": f"its address /{name} is that of the file {name}" for name in names
        }
    assert not find_dead_links(top)
    assert (top / "robots.txt").read_text().startswith("User-agent")


def test_what_a_former_build_made_is_in_no_way(tmp_path: Path) -> None:
    source, top = (
        write_source(tmp_path / "source", {"README.md": "# Home\n", "open.md.md": "# Long\n"}),
        tmp_path / "site",
    )
    assert not build(source, top).left_out
    (source / "open.md").write_text("# Open\n")
    assert list(build(source, top).left_out) == ["open.md.md"]
    (source / "open.md").unlink()
    assert not build(source, top).left_out
    build(source, tmp_path / "fresh")
    assert read_tree(top) == read_tree(tmp_path / "fresh")


def test_a_name_that_can_be_no_slug_is_in_the_address_as_the_platform_has_it(tmp_path: Path) -> None:
    source = write_source(tmp_path / "source", {"README.md": "# Home\n", "per%cent.md": "# Per cent\n"})
    assert not build(source, tmp_path / "site").left_out
    assert (tmp_path / "site/per-cent/index.html").is_file()
    assert not find_dead_links(tmp_path / "site")


@pytest.mark.long
def test_many_pages_are_rendered_by_several_processes(tmp_path: Path) -> None:
    pages = {f"p{number}.md": f"# Page {number}\n\n[Next](p{(number + 1) % 450}.md)\n" for number in range(450)}
    source = write_source(tmp_path / "source", {"README.md": "# Home\n", **pages})
    assert build(source, tmp_path / "site", jobs=3).rendered == 451
    build(source, tmp_path / "alone", jobs=1)
    assert read_tree(tmp_path / "site") == read_tree(tmp_path / "alone")
    assert not find_dead_links(tmp_path / "site")


def test_the_title_of_a_page_is_that_in_its_table_of_contents(tmp_path: Path) -> None:
    summary = "* [Home](README.md)\n* [Checklist](list.md)\n* [Wolf](wolf.md)\n* [Den](den.md)\n"
    pages = {
        "list": "# \u2705 Checklist\n",
        "wolf": "# \U0001f43a Fox & hound\n",
        "den": "---\nhidden: true\n---\n\n# Lair\n",
    }
    files = {"README.md": "# Home\n", "SUMMARY.md": summary, **{f"{name}.md": text for name, text in pages.items()}}
    build(write_source(tmp_path / "docs", files), tmp_path / "out")
    read = {name: (tmp_path / f"out/{name}/index.html").read_text() for name in pages}
    headings = {name: re.sub(r"<[^>]+>", "", re.findall(r"<h1>(.*?)</h1>", html)[0]) for name, html in read.items()}
    assert headings == {"list": "\u2705 Checklist", "wolf": "Wolf", "den": "Den"}
    assert "<title>Checklist | " in read["list"]
    assert (tmp_path / "out/wolf.md").read_text().startswith("# Wolf\n")


def test_the_table_of_contents_has_the_emoji_and_the_icon_of_each_page(tmp_path: Path) -> None:
    summary = "* [Home](README.md)\n* [Plan](plan.md)\n* [Wolf](wolf.md)\n* [Bad](bad.md)\n"
    files = {
        "README.md": "---\nicon: gear\n---\n\n# Home\n",
        "SUMMARY.md": summary,
        "plan.md": "---\nicon: book\n---\n\n# \u2705 Plan\n",
        "wolf.md": "# \U0001f43a Fox\n",
        "bad.md": "---\nicon: [\n---\n\n# Bad\n",
    }
    build(write_source(tmp_path / "docs", files), tmp_path / "out")

    def read_signs() -> list[str]:
        html = (tmp_path / "out/wolf/index.html").read_text()
        nav = html[html.index('<nav class="contents') :]
        lines = re.findall(r"<a href=[^>]*>(.*?)</a>", nav[: nav.index("</nav>")])
        return [re.sub(r"<svg.*?</svg>", "(icon)", re.sub(r"</?span[^>]*>", "", line)) for line in lines]

    assert read_signs() == ["(icon)Home", "\u2705Plan", "Wolf", "Bad"]
    [listed] = [json.loads(one.read_text()) for one in (tmp_path / "out").rglob("contents.json")]
    assert [(row[1], row[4:]) for row in listed][1:] == [("Plan", ["\u2705"]), ("Wolf", []), ("Bad", [])]
    assert listed[0][4][0] == "512"
    # Each page has all signs, so that each is made again.
    (tmp_path / "docs/wolf.md").write_text("# \U0001f43a Wolf\n")
    assert build(tmp_path / "docs", tmp_path / "out").rendered == 4
    assert read_signs() == ["(icon)Home", "\u2705Plan", "\U0001f43aWolf", "Bad"]


ANCHORS = """# Title <a href="#begin" id="begin"></a>

Words <a name="named"></a>, <a id=bare></a>, `<a id="in-code"></a>` and <iframe id="dropped"></iframe>.

<h2 id="html">HTML</h2>

## Set up <a href="#custom" id="custom"></a>

### Twice

### Twice

```html
<a id="in-block"></a>
```

| Name | Place |
| --- | --- |
| one | <a id="in-cell"></a>two |

{% tabs %}
{% tab title="Linux & Mac" %}
#### In the tab
{% endtab %}
{% tab title="Twice" %}
Words.
{% endtab %}
{% tab %}
Words.
{% endtab %}
{% endtabs %}

## Tabs

<details>
<summary>What is <strong>this</strong>?</summary>

## In what opens

</details>

<!-- <a id="comment"></a> -->

{% include ".gitbook/includes/outer.md" %}

{% openapi src="api.yaml" path="/pets" method="get" %}
{% endopenapi %}

{% openapi src="api.yaml" path="/pets" method="delete" %}
{% endopenapi %}

{% openapi src="api.yaml" path="/none" method="get" %}
{% endopenapi %}
"""
ANCHORS_FILES = {
    "README.md": "# Home\n",
    "page.md": ANCHORS,
    "api.yaml": (
        "openapi: 3.1.0\npaths:\n  /pets:\n    get: { summary: List the pets, responses: {} }\n"
        "    delete: { responses: {} }\n"
    ),
    ".gitbook/includes/outer.md": (
        "# Outer\n\n### Twice\n\n[Set up](#custom) [Nothing](#none)\n\n"
        '{% include "deep/inner.md" %}\n\n{% include "outer.md" %}\n'
    ),
    ".gitbook/includes/deep/inner.md": '---\ntitle: Inner\n---\n\n## Inner\n\n{% include "gone.md" %}\n',
}


def test_check_accepts_the_anchors_that_a_page_has_and_no_others(tmp_path: Path) -> None:
    build(write_source(tmp_path / "docs", ANCHORS_FILES), tmp_path / "out")
    html = (tmp_path / "out/page/index.html").read_text()
    body = html[html.index('<div class="blocks') : html.index("</main>")]
    there = set(re.findall(r' id="([^"]+)"', body)) | set(re.findall(r'<a [^>]*name="([^"]+)"', body))
    data = {path: text.encode() for path, text in ANCHORS_FILES.items()}
    items = {path: SpaceFile(len(one), partial(bytes, one)) for path, one in data.items()}
    space = Space(items)
    checked = AnchorReader(space).find_anchors(space.read_page("page.md"))
    assert checked == {
        *("named", "bare", "html", "custom", "twice", "twice-1", "twice-2", "twice-3", "in-cell", "linux-and-mac"),
        *("in-the-tab", "tab-3", "tabs", "what-is-this", "in-what-opens", "outer", "inner"),
        *("list-the-pets", "delete-pets"),
    }
    assert checked == there
    # A link in reusable content leads to an anchor of the page around it.
    findings = [finding for finding in check_space(items) if finding.code == "link-anchor"]
    assert [(finding.path, finding.line, finding.message) for finding in findings] == [
        (".gitbook/includes/outer.md", 5, "this page has no heading #none"),
        ("page.md", 1, "the title of this page has no anchor"),
    ]


def make_png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + width.to_bytes(4) + height.to_bytes(4) + b"\x08\x06\x00\x00\x00"


def test_images_keep_their_room_while_a_page_loads(tmp_path: Path) -> None:
    page = '# Home\n\n![One](one.png)\n\n<img src="one.png" alt="Half" width="15">\n\n![Two](broken.png)\n'
    source = write_source(tmp_path / "docs", {"README.md": page, "other.md": "# Other\n\n![One](one.png)\n"})
    (source / "one.png").write_bytes(make_png(30, 20))
    (source / "broken.png").write_bytes(b"no image")

    def read_sizes() -> list[tuple[str, str | None, str | None]]:
        html = (tmp_path / "out/index.html").read_text()
        found = re.findall(r'<img [^>]*alt="(One|Half|Two)"([^>]*)>', html)
        sizes = [[re.search(f' {name}="([0-9]+)"', tag) for name in ("width", "height")] for _, tag in found]
        return [(alt, *(one and one[1] for one in both)) for (alt, _), both in zip(found, sizes, strict=True)]

    build(source, tmp_path / "out")
    assert read_sizes() == [("One", "30", "20"), ("Half", "15", "10"), ("Two", None, None)]
    # An image that changed has its new size, and pages that do not show it are kept.
    (source / "one.png").write_bytes(make_png(60, 60))
    (source / "other.md").write_text("# Other\n")
    assert build(source, tmp_path / "out").rendered == 2
    assert read_sizes() == [("One", "60", "60"), ("Half", "15", "15"), ("Two", None, None)]
    (source / "one.png").write_bytes(make_png(9, 9))
    assert build(source, tmp_path / "out").rendered == 1
