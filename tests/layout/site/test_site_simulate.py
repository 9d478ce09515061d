"""What becomes of an address, and what becomes of an old one when the site changes."""

from collections.abc import Mapping

import pytest

from syncd.layout.site.addresses.addresses import SiteMap, list_page_addresses
from syncd.layout.site.addresses.follow import follow_address
from syncd.layout.site.addresses.simulate import simulate_addresses
from syncd.layout.site.read.file import read_site_file
from syncd.layout.site.read.redirect_files import read_redirect_file
from syncd.layout.site.write.exports import format_destination, list_redirects, render_csv, render_redirects
from syncd.layout.site.write.imports import import_file
from syncd.layout.tree.draft import read_draft

HEAD = "version: 1\nsite: { org: o, id: s, hosts: [docs.example/base] }\nspaces: { one: s1, two: s2, three: s3 }\n"
STRUCTURE = """structure:
  items:
    - section: home
      title: Home
      path: home
      default: true
      variants:
        - { variant: en, space: one, path: en, default: true }
    - section: api
      title: API
      path: api
      variants:
        - { variant: v2, space: two, path: v2, default: true }
        - { variant: v1, space: three, path: v1 }
"""
PAGES = {"s1": {"": "README.md", "a": "a.md", "b/c": "b/c.md"}, "s2": {"": "README.md", "intro": "intro.md"}}


def site(redirects: Mapping[str, str], *, structure: str = STRUCTURE, pages: object = None) -> SiteMap:
    lines = "".join(f"  - {{ from: {source}, to: {to} }}\n" for source, to in redirects.items())
    text = f"{HEAD}{structure}redirects:\n{lines}" if lines else f"{HEAD}{structure}"
    file, findings = read_site_file(text, path="site.yaml", others={})
    assert not findings, findings
    assert file is not None
    return SiteMap(file, PAGES if pages is None else pages)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("url", "end", "at"),
    [
        ("/", "page", "s1:README.md"),
        ("/A/", "page", "s1:a.md"),
        ("/b%2Fc", "nothing", "/b%2Fc"),
        ("/home/a", "page", "s1:a.md"),
        ("/nothing", "nothing", "/nothing"),
        ("/api", "page", "s2:README.md"),
        ("/api/intro?x=1#y", "page", "s2:intro.md"),
        ("/api/v1", "page", "s3:"),
        ("/api/v1/unseen", "page", "s3:unseen"),
        ("https://docs.example/base/a", "page", "s1:a.md"),
        ("https://docs.example:443/base", "page", "s1:README.md"),
        ("https://docs.example/basement", "elsewhere", "https://docs.example/basement"),
        ("https://[broken", "elsewhere", "https://[broken"),
    ],
)
def test_an_address_leads_to_the_content_that_visitors_read_there(url: str, end: str, at: str) -> None:
    fate = follow_address(site({}), url)
    assert (fate.end, fate.at) == (end, at)


def test_content_comes_before_redirects_and_what_nobody_can_look_for_after_them() -> None:
    here = site({"/a": "{ section: api }", "/api/v1/unseen": "{ section: home }"})
    assert follow_address(here, "/a").hops == ()
    assert [hop.to for hop in follow_address(here, "/api/v1/unseen").hops] == ["section home"]


def test_hops_through_the_own_address_are_followed_and_circles_end() -> None:
    here = site(
        {
            "/x": '{ url: "https://docs.example/base/y" }',
            "/y": "{ page: intro, in: api/v2 }",
            "/r": '{ url: "https://docs.example/base/s" }',
            "/s": '{ url: "https://docs.example/base/r/" }',
        }
    )
    fate = follow_address(here, "/x")
    assert (fate.end, fate.at, [hop.source for hop in fate.hops]) == ("page", "s2:intro.md", ["/x", "/y"])
    assert fate.hops[0].where.startswith("site.yaml:")
    assert follow_address(here, "/r").end == "loop"


def test_every_verdict_tells_what_visitors_notice() -> None:
    before = site(
        {
            "/old": "{ section: api }",
            "/turned": "{ page: a, in: home/en }",
            "/dropped": '{ url: "https://elsewhere.example" }',
            "/through": "{ variant: api/v2 }",
        }
    )
    structure = STRUCTURE.replace("path: api\n", "path: developers\n")
    pages = {"s1": {"": "README.md", "b/c": "b/d.md", "x": "a.md"}, "s2": {"": "README.md"}}
    after = site(
        {
            "/old": "{ section: api }",
            "/turned": "{ section: home }",
            "/through": "{ variant: home/en }",
            "/a": "{ section: home }",
            "/new": "{ section: home }",
            "/api": "{ section: api }",
            "/api/intro": "{ section: api }",
            "/circle": '{ url: "https://docs.example/base/circle" }',
        },
        structure=structure,
        pages=pages,
    )
    urls = [*before.addresses(), "/new", "/circle", "/never"]
    found = {one.url: one.verdict for one in simulate_addresses(urls, before, after, {("s1", "b/c.md"): "b/d.md"})}
    assert found == {
        "/old": "ok",
        "/turned": "moved",
        "/dropped": "regression",
        "/through": "moved",
        "/": "ok",
        "/a": "wrong-landing",
        "/b/c": "ok",
        "/api": "moved",
        "/api/intro": "moved",
        "/api/v1": "regression",
        "/new": "fixed",
        "/circle": "new-loop",
        "/never": "ok",
    }


def test_a_site_that_did_not_change_is_well_everywhere() -> None:
    here = site({"/old": "{ section: api }", "/s": '{ url: "https://docs.example/base/s" }'})
    assert {one.verdict for one in simulate_addresses(here.addresses(), here, here, {})} == {"ok"}


def test_a_page_has_the_address_of_what_it_hangs_below() -> None:
    files = {
        "README.md": "# Home\n",
        "SUMMARY.md": "# Table of contents\n\n* [Home](README.md)\n* [A](a/README.md)\n  * [B](a/b.md)\n\n"
        "## More\n\n* [C](c.md)\n",
        "a/README.md": "# A\n",
        "a/b.md": "# B\n",
        "c.md": "# C\n",
    }
    draft = read_draft(list(files), lambda path: files[path].encode())
    assert list_page_addresses(draft) == {"": "README.md", "a": "a/README.md", "a/b": "a/b.md", "more/c": "c.md"}


def test_notes_go_along_with_exported_redirects_and_come_back() -> None:
    entries = (
        "  - { from: /a, to: { url: 'https://e.example/a' }, note: 'moved, \"twice\"' }\n"
        "  - { from: [/b, /c], to: { url: 'https://e.example/b' }, note: \"two\\nlines\\e\" }\n"
        "  - { from: /d, to: { url: 'https://e.example/d' } }\n"
    )
    file, _ = read_site_file(f"{HEAD}redirects:\n{entries}", path="site.yaml", others={})
    assert file is not None
    items = file.of("redirect")
    told = ['moved, "twice"', "two lines", "two lines", ""]
    lines, left = render_redirects(SiteMap(file))
    assert not left
    assert lines.startswith('# moved, "twice"\n/a https://e.example/a 301\n# two lines\n/b ')
    for path, text in (("all.csv", render_csv(list_redirects(items))), ("_redirects", lines)):
        again, findings = read_redirect_file(text, path=path)
        assert not findings
        assert [item.note for item in again] == told
        assert [item.fields for item in again] == [item.fields for item in items]
        imported = import_file(text, path=path).document["redirects"]
        assert [one.get("note", "") for one in imported] == told
        assert render_csv(imported) == render_csv(list_redirects(again))


def test_a_comment_is_the_note_of_the_redirect_that_it_stands_above_or_behind() -> None:
    text = (
        "# nobody's\n\n# old\n/a https://e.example/ 301   # new\n/b https://e.example/\n"
        "# syncd: ignore SY309\n/c http://e.example/ # why # syncd: ignore SY309\n/d#x https://e.example/\n"
    )
    items, _ = read_redirect_file(text, path="_redirects")
    assert [(item.fields["source"], item.note) for item in items] == [
        ("/a", "new"), ("/b", ""), ("/c", "why"), ("/d#x", ""),
    ]  # fmt: skip


def test_exported_redirects_are_read_back_the_same() -> None:
    here = site(
        {
            "/a-b": "{ section: api }",
            "/c": "{ variant: api/v1 }",
            "/d": '{ page: "x/y", in: home/en }',
            "/e": '{ url: "https://e.example/a,b" }',
            "/f": "{ raw: { kind: site-page, siteSpaceId: i, pageId: p } }",
        }
    )
    items = [item for item in here.file.of("redirect") if format_destination(item.fields["to"])]
    again, findings = read_redirect_file(render_csv(list_redirects(items)), path="all.csv")
    assert not findings
    assert [item.fields for item in again] == [item.fields for item in items]
    assert render_redirects(here) == (
        "/a-b /api 301\n/c /api/v1 301\n/d /x/y 301\n/e https://e.example/a,b 301\n",
        ("/f",),
    )
