"""`syncd redirects …` and the site commands that need no platform, on files and refs of a work tree."""

import io
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from syncd.cli.app import run

SITE = """\
version: 1
site: { org: o, id: s, hosts: [docs.example] }   # who
spaces: { one: s1, two: s2 }

structure:
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
        - { variant: en, space: two, path: en, default: true }

redirects:
  # old things
  - { from: [/old, /older], to: { section: api } }   # both
  - { from: /status, to: { url: "https://status.example" } }
redirect_files: [moved.csv, more.yaml]
"""
MOVED = "source,destination,note\n/m1,section:home,first\n/m2,page:guide/setup@home/en,\n"
MORE = "- { from: /y1, to: { section: home } }\n- { from: /y2, to: { section: api } }\n"
CONFIG = """\
[platform]
url = "https://api.example"

[[repository]]
[[repository.space]]
id = "s1"
directory = "docs"
[repository.site]
"""
PAGES = {
    "docs/README.md": "# Home\n",
    "docs/SUMMARY.md": "# Table of contents\n\n* [Home](README.md)\n* [Guide](guide/README.md)\n"
    "  * [Setup](guide/setup.md)\n",
    "docs/guide/README.md": "# Guide\n\nStart here, with enough words to be known again.\n",
    "docs/guide/setup.md": "# Setup\n\nOne, two, three, with enough words to be known again.\n",
}


@dataclass
class Desk:
    """A work tree, and what the last command said."""

    root: Path
    capture: pytest.CaptureFixture[str]
    out: str = ""
    err: str = ""

    def syncd(self, *words: str) -> int:
        code = run(list(words))
        self.out, self.err = self.capture.readouterr()
        return code

    def text(self, path: str = "site.yaml") -> str:
        return (self.root / path).read_text()

    def write(self, files: dict[str, str]) -> None:
        for path, text in files.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text(text)

    def git(self, *words: str) -> None:
        subprocess.run(["git", *words], cwd=self.root, check=True, capture_output=True)

    def commit(self) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "All")


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Desk:
    desk = Desk(tmp_path / "repo", capsys)
    desk.root.mkdir()
    desk.git("init", "--quiet", "--initial-branch", "main")
    desk.write({"site.yaml": SITE, "moved.csv": MOVED, "more.yaml": MORE, **PAGES})
    desk.write({".git/syncd.toml": CONFIG})
    monkeypatch.chdir(desk.root)
    return desk


def test_an_added_redirect_changes_one_line_and_no_comment(desk: Desk) -> None:
    assert desk.syncd("redirects", "add", "/new", "page:guide@home/en", "--note", "it moved, twice") == 0
    line = '  - { from: /new, to: { page: guide, in: home/en }, note: "it moved, twice" }\n'
    assert desk.text() == SITE.replace("redirect_files", f"{line}redirect_files")
    assert desk.out == "+ /new -> page guide in home/en   site.yaml:23:13\nNext: syncd site plan\n"


def test_a_path_leads_below_the_sites_own_address(desk: Desk) -> None:
    assert desk.syncd("redirects", "add", "/new", "/guide/setup") == 0
    assert 'to: { url: "https://docs.example/guide/setup" }' in desk.text()


@pytest.mark.parametrize(
    ("source", "destination", "code", "said"),
    [
        ("/new/", "section:home", 65, 'SY301 "/new/" ends with a slash'),
        ("/new", "section:hme", 65, 'no section "hme" is declared; did you mean "home"?'),
        ("/Older", "section:home", 65, "site.yaml:21:20: /Older is redirected already, as /older"),
        ("/M1", "section:home", 65, "moved.csv:2:1: /M1 is redirected already, as /m1"),
        ("/new", "https://docs.example/new", 65, "SY305"),
        ("/new", "home", 64, "home is no destination; write section:KEY"),
    ],
)
def test_what_would_not_be_valid_is_not_written(
    desk: Desk, source: str, destination: str, code: int, said: str
) -> None:
    assert desk.syncd("redirects", "add", source, destination) == code
    assert said in desk.err
    assert (desk.text(), desk.text("moved.csv")) == (SITE, MOVED)


def test_what_is_refused_says_what_is_wrong_with_it_and_no_line_that_nobody_can_look_at(desk: Desk) -> None:
    assert desk.syncd("redirects", "add", "/new", "section:hme") == 65
    assert desk.err == (
        'error: site.yaml: SY110 no section "hme" is declared; did you mean "home"? (nothing was written)\n'
        "  hint: what a code means: syncd explain SY110\n"
    )


def test_every_command_that_edits_speaks_to_machines(desk: Desk) -> None:
    def document(*words: str) -> dict[str, Any]:
        assert desk.syncd(*words, "--json") == 0, desk.err
        return json.loads(desk.out)  # type: ignore[no-any-return]

    added = document("redirects", "add", "/new", "http://a.example/", "--note", "why")
    assert (added["from"], added["to"], added["note"]) == ("/new", {"url": "http://a.example/"}, "why")
    assert added["source"] == {"file": "site.yaml", "line": 23, "column": 13}
    assert [one["code"] for one in added["warnings"]] == ["SY309"]
    removed = document("redirects", "rm", "/NEW")
    assert (removed["action"], removed["from"], removed["note"]) == ("remove", "/new", "why")
    assert desk.text() == SITE
    assert document("site", "migrate")["changes"] == []
    desk.write({"more.yaml": MORE + "\n\n"})
    assert desk.syncd("site", "fmt", "--check", "--json") == 1
    assert json.loads(desk.out)["changed"] == ["more.yaml"]
    assert document("site", "fmt")["written"] is True
    assert document("site", "fmt") == {
        "format_version": "1.0",
        "files": ["site.yaml", "more.yaml"],
        "changed": [],
        "written": False,
        "exit_code": 0,
    }
    assert document("site", "validate")["valid"] is True
    (rule,) = document("explain", "sy306")["rules"]
    assert rule["ignore"] == "# syncd: ignore SY306"
    assert desk.syncd("redirects", "rm", "/NEW", "--json") == 64
    assert json.loads(desk.err)["exit_code"] == 64


def test_a_redirect_is_taken_out_of_the_file_that_has_it(desk: Desk) -> None:
    for source in ("/OLD", "/m1", "/y2"):
        assert desk.syncd("redirects", "rm", source) == 0, desk.err
    assert desk.text() == SITE.replace("[/old, /older]", "[/older]")
    assert desk.text("moved.csv") == MOVED.replace("/m1,section:home,first\n", "")
    assert desk.text("more.yaml") == MORE.splitlines(keepends=True)[0]
    assert desk.syncd("redirects", "rm", "/olde") == 64
    assert "did you mean /older?" in desk.err


def test_a_site_without_redirects_of_its_own_gets_them_in_its_csv_file(desk: Desk) -> None:
    start, end = SITE.index("redirects:"), SITE.index("redirect_files:")
    desk.write({"site.yaml": SITE[:start] + SITE[end:]})
    assert desk.syncd("redirects", "add", "/n", "section:api", "--note", 'a "b"') == 0
    assert desk.text("moved.csv") == MOVED + '/n,section:api,"a ""b"""\n'


def test_an_address_is_tested_hop_by_hop(desk: Desk) -> None:
    assert desk.syncd("redirects", "test", "/m2", "https://docs.example/guide/setup", "/api/what") == 0
    assert desk.out == (
        "/m2\n"
        "  1. redirect   /m2 -> page guide/setup in home/en   moved.csv:3:1\n"
        "  2. content    guide/setup of variant home/en (guide/setup.md)\n"
        "result: 1 hop, and visitors arrive\n\n"
        "https://docs.example/guide/setup\n"
        "  1. content    guide/setup of variant home/en (guide/setup.md)\n"
        "result: no redirect, and visitors arrive\n\n"
        "/api/what\n"
        "  1. content    what of variant api/en\n"
        "result: no redirect, to content that is not mirrored here: whether the page exists is not known\n"
    )
    assert desk.syncd("redirects", "test", "/nope", "/status") == 1
    assert desk.out == (
        "/nope\n"
        "  1. nothing    no page and no redirect has this address\n"
        "result: nothing matches: visitors get a page that says so\n\n"
        "/status\n"
        "  1. redirect   /status -> https://status.example   site.yaml:22:13\n"
        "  2. elsewhere  https://status.example\n"
        "result: 1 hop, to an address of another site\n"
    )
    assert desk.syncd("redirects", "test", "/older", "--json") == 0
    (result,) = json.loads(desk.out)["results"]
    assert result["end"] == "page"
    assert result["hops"][0]["where"] == "site.yaml:21:20"


def test_old_addresses_are_replayed_through_what_changed(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.commit()
    assert desk.syncd("redirects", "simulate", "--before", "HEAD") == 0
    desk.git("mv", "docs/guide/setup.md", "docs/guide/install.md")
    desk.write(
        {
            "site.yaml": SITE.replace("to: { section: api } }   # both", "to: { section: home } }"),
            "moved.csv": MOVED.replace("guide/setup", "guide/install"),
            "docs/SUMMARY.md": PAGES["docs/SUMMARY.md"].replace("setup", "install"),
        }
    )
    desk.git("commit", "--quiet", "--all", "--message", "Moved")
    assert desk.syncd("redirects", "simulate", "--before", "HEAD~1") == 3
    assert desk.out.splitlines() == [
        "regression    /guide/setup  home/en guide/setup -> nothing",
        "moved         /old  api/en start page, redirected -> home/en start page, redirected",
        "moved         /older  api/en start page, redirected -> home/en start page, redirected",
        "11 addresses: 1 regression, 2 moved, 8 ok; visitors are worse off at 1 of them (exit 3).",
        "The pages of 1 of 2 spaces are not known here, as nothing mirrors them: every page of theirs counts.",
    ]
    assert desk.syncd("redirects", "add", "/guide/setup", "page:guide/install@home/en") == 0
    monkeypatch.setattr("sys.stdin", io.StringIO("# a log\n/guide/setup\nold\n\n"))
    assert desk.syncd("redirects", "simulate", "--before", "HEAD~1", "--urls", "-", "--json") == 0
    document = json.loads(desk.out)
    assert {one["url"]: one["verdict"] for one in document["replays"]} == {"/guide/setup": "moved", "/old": "moved"}
    locations = "".join(f"<url><loc>https://docs.example/{path}</loc></url>" for path in ("old?a&amp;b", "status"))
    desk.write({"sitemap.xml": f"<?xml version='1.0'?>\n<urlset>{locations}</urlset>\n"})
    assert desk.syncd("redirects", "simulate", "--before", "HEAD~1", "--urls", "sitemap.xml", "--all") == 0
    assert [line.split()[:2] for line in desk.out.splitlines()[:2]] == [
        ["moved", "https://docs.example/old?a&b"],
        ["ok", "https://docs.example/status"],
    ]
    assert desk.syncd("redirects", "simulate", "--before", "nowhere") == 78


def test_all_redirects_are_exported_in_three_forms(desk: Desk) -> None:
    assert desk.syncd("redirects", "export") == 0
    first, *others = desk.out.splitlines()
    assert (first, len(others)) == ("source,destination,note", 7)
    assert others[:3] == ["/old,section:api,", "/older,section:api,", "/status,https://status.example,"]
    assert "/m1,section:home,first" in others
    assert desk.syncd("redirects", "export", "--format", "_redirects") == 0
    assert "# first\n/m1 / 301\n/m2 /guide/setup 301\n" in desk.out
    desk.write({"more.yaml": "- { from: /r, to: { raw: { kind: site-page, siteSpaceId: a, pageId: b } } }\n"})
    assert desk.syncd("redirects", "export", "--format", "csv") == 4
    assert "left out, as they have ids only: /r" in desk.err
    assert desk.syncd("redirects", "export", "--format", "json") == 0
    assert json.loads(desk.out)["redirects"][0] == {"from": "/old", "to": {"section": "api"}}
    assert desk.syncd("redirects", "export", "--format", "xml") == 64


def test_files_are_put_into_one_spelling_or_only_looked_at(desk: Desk) -> None:
    desk.write({"site.yaml": SITE.replace("{ from: /status,", "{from: /status ,"), "more.yaml": MORE + "\n\n"})
    before = desk.text()
    assert desk.syncd("site", "fmt", "--check") == 1
    assert "-  - {from: /status ," in desk.out
    assert "+  - { from: /status," in desk.out
    assert desk.text() == before
    assert desk.syncd("site", "fmt") == 0
    assert desk.out == "formatted site.yaml\nformatted more.yaml\n"
    assert (desk.text(), desk.text("more.yaml")) == (SITE, MORE)
    assert desk.syncd("site", "fmt", "--check") == 0
    assert desk.out == "2 files are in one spelling already\n"


def test_a_file_of_an_earlier_syncd_is_brought_up_to_date(desk: Desk) -> None:
    desk.write({"site.yaml": SITE.replace("\nstructure:", "policy:\n  prune: never   # careful\n\nstructure:", 1)})
    assert desk.syncd("redirects", "test", "/old") == 65
    assert desk.syncd("site", "migrate") == 0
    assert "prune: { redirects: never }   # careful" in desk.text()
    assert desk.syncd("redirects", "test", "/old") == 0
    assert desk.syncd("site", "migrate") == 0
    assert "already" in desk.out


def explain(desk: Desk, url: str, *, code: int = 0) -> dict[str, tuple[str, str, str]]:
    """Return name, why and place of each reason by its kind."""
    assert desk.syncd("site", "explain", url, "--json") == code, desk.err
    return {one["kind"]: (one["name"], one["why"], one["where"]) for one in json.loads(desk.out)["reasons"]}


def find_line(desk: Desk, place: str) -> str:
    file, line, column = place.split(":")
    return desk.text(file).splitlines()[int(line) - 1][int(column) - 1 :]


def test_a_page_is_explained_with_every_line_that_decides_its_address(desk: Desk) -> None:
    desk.commit()
    found = explain(desk, "/guide/setup")
    assert list(found) == ["section", "variant", "space", "page"]
    assert found["section"][:2] == ("home", "no other is named, and it is the default")
    assert find_line(desk, found["section"][2]).startswith("true")
    assert find_line(desk, found["space"][2]).startswith("s1, two: s2")
    assert found["page"] == ("docs/guide/setup.md", 'listed as "Setup"', "docs/SUMMARY.md:5:1")
    named = explain(desk, "https://docs.example/home/en/guide")
    assert named["section"][1] == "the address names its path, home"
    assert find_line(desk, named["variant"][2]).startswith("en, default: true }")
    assert desk.syncd("site", "explain", "/guide/setup") == 0
    assert desk.out.startswith("/guide/setup\n  section  home: no other is named")
    assert desk.out.endswith("result: no redirect, and visitors arrive\n")


def test_a_redirect_is_explained_to_its_end(desk: Desk) -> None:
    desk.commit()
    found = explain(desk, "/m2")
    assert found["redirect"] == ("/m2", "leads to page guide/setup in home/en", "moved.csv:3:1")
    assert found["variant"][1] == "the redirect leads there"
    assert found["page"][0] == "docs/guide/setup.md"
    found = explain(desk, "/older")
    assert find_line(desk, found["redirect"][2]).startswith("/older")
    assert found["section"][1] == "the redirect leads there"
    assert found["variant"][1] == "no other is named, and it is the default"
    assert found["page"][1] == "the first page of a space that is not mirrored here"
    assert list(explain(desk, "/status")) == ["redirect"]


def test_a_redirect_that_content_hides_is_named(desk: Desk) -> None:
    desk.write({"moved.csv": MOVED + "/guide,section:api,\n"})
    desk.commit()
    found = explain(desk, "/guide")
    assert found["page"][0] == "docs/guide/README.md"
    assert found["hidden"][0] == "/guide"
    assert "never answers" in found["hidden"][1]
    assert found["hidden"][2] == "moved.csv:4:1"


def test_where_nothing_is_addresses_like_it_are_named(desk: Desk) -> None:
    desk.commit()
    assert desk.syncd("site", "explain", "gide/setup") == 1
    assert desk.out == (
        "gide/setup\nresult: nothing matches: visitors get a page that says so\nlike it: /guide/setup\n"
    )
    desk.write({"moved.csv": MOVED + "/start,page:gone@home/en,\n"})
    desk.commit()
    assert desk.syncd("site", "explain", "/start") == 1
    assert "to something that is not there" in desk.out
    assert "like it: /start" not in desk.out, "which is what was asked for"
    assert desk.syncd("site", "explain", "/\x1b[31m\n") == 1
    assert "\x1b" not in desk.out


def test_a_page_without_a_table_of_contents_and_a_condition_are_explained(desk: Desk) -> None:
    condition = "      condition: visitor.claims.staff\n      title: Home"
    desk.write({"site.yaml": SITE.replace("      title: Home", condition, 1)})
    (desk.root / "docs/SUMMARY.md").unlink()
    desk.commit()
    found = explain(desk, "/guide/setup")
    assert "only for visitors with visitor.claims.staff (site.yaml:8:18)" in found["section"][1]
    assert found["page"] == (
        "docs/guide/setup.md",
        "no table of contents lists it: its folder and name decide",
        "docs/guide/setup.md:1:1",
    )
