"""A static site has what everybody may read: nothing behind a condition, and what is hidden is in no list."""

import json
import re
from contextlib import ExitStack
from pathlib import Path

import pytest

from syncd.cli.preview.gather import SourceReader, find_source
from syncd.errors import ConfigInvalid
from syncd.sync.publish.build import BuildOptions, build_site
from syncd.sync.publish.output import BuildSummary
from tests.sync.publish.test_publish_build import find_dead_links, read_tree, write_source

SITE = """version: 1
site: { org: ORG, id: SITE }
settings: { title: Docs, visibility: public }
spaces: { guides: SPACE-1, api: SPACE-2, next: SPACE-3, fr: SPACE-4 }
structure:
  items:
    - section: partners
      title: SECRET-SECTION
      path: secret-partners
      condition: visitor.claims.partner
      default: true
      variants: [{ variant: en, space: api, path: en, default: true }]
    - section: guides
      title: Guides
      path: guides
      variants:
        - { variant: en, space: guides, path: en, default: true }
        - { variant: next, space: next, path: coming, hidden: true }
        - { variant: fr, space: fr, path: secret-fr, condition: visitor.claims.unsigned.beta == true }
customization:
  site:
    header:
      links:
      - { title: For all, to: { url: "https://open.example" } }
      - { title: SECRET-LINK, to: { url: "https://closed.example" }, condition: visitor.claims.partner }
redirects:
  - { from: /old, to: { section: partners } }
"""
IF = "---\nif: {}\n---\n"
FILES = {
    "site.yaml": SITE,
    "guides/SUMMARY.md": (
        "# Table of contents\n\n* [Start](README.md)\n* [SECRET-TITLE](gone.md)\n  * [SECRET-BELOW](below.md)\n"
        "* [Hidden](hidden.md)\n  * [Under](under.md)\n* [Unsearched](unsearched.md)\n* [Unlisted](unlisted.md)\n"
        "* [SECRET-UNDECIDED](undecided.md)\n* [Open](open.md)\n"
    ),
    "guides/README.md": (
        "# Start\n\n[one](gone.md), [two](hidden.md)\n\n{% if visitor.claims.beta %}\n## SECRET-PART\n\n"
        "[file](secret-file.pdf)\n{% endif %}\n\n{% if visitor.claims.beta !== true %}\nFor everybody.\n{% endif %}\n\n"
        '{% include ".gitbook/includes/part.md" %}\n'
    ),
    "guides/.gitbook/includes/part.md": "{% if visitor.claims.beta %}\nSECRET-INCLUDE\n{% endif %}\n\nIncluded.\n",
    "guides/gone.md": IF.format("visitor.claims.partner == true") + "# SECRET-TITLE\n\nSECRET-BODY\n",
    "guides/below.md": "# SECRET-BELOW\n\nSECRET-BODY\n",
    "guides/undecided.md": IF.format("'visitor.is === very.odd('") + "# SECRET-UNDECIDED\n",
    "guides/open.md": IF.format("visitor.claims.partner !== true") + "# Open\n\nOpen words.\n",
    "guides/hidden.md": "---\nhidden: true\n---\n# Hidden\n\nHidden words.\n",
    "guides/under.md": "# Under\n\nUnder words.\n",
    "guides/unsearched.md": "---\nnoIndex: true\n---\n# Unsearched\n\nUnsearched words.\n",
    "guides/unlisted.md": "---\nnoRobotsIndex: true\n---\n# Unlisted\n\nUnlisted words.\n",
    "guides/secret-file.pdf": "SECRET-FILE",
    "api/README.md": "# SECRET-API\n",
    "api/SUMMARY.md": "# Table of contents\n\n* [SECRET-API](README.md)\n",
    "next/README.md": "# Coming\n\nComing words.\n",
    "next/SUMMARY.md": "# Table of contents\n\n* [Coming](README.md)\n",
    "fr/README.md": "# SECRET-FR\n",
    "fr/SUMMARY.md": "# Table of contents\n\n* [SECRET-FR](README.md)\n",
}


def build(source: Path, top: Path, *, is_public: bool = False) -> BuildSummary:
    with ExitStack() as stack:
        site = SourceReader(find_source(source), stack).gather()
        assert site.problem is None, site.problem
        return build_site(site, top, BuildOptions("https://docs.example", is_public=is_public))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_source(tmp_path / "source", FILES)


@pytest.fixture
def site(source: Path, tmp_path: Path) -> Path:
    build(source, tmp_path / "site")
    return tmp_path / "site"


def test_nothing_of_what_a_condition_hides_is_anywhere(source: Path, site: Path) -> None:
    for path, data in read_tree(site).items():
        assert "secret" not in path
        assert b"secret" not in data.lower(), path
    start = (site / "guides/index.html").read_text()
    assert all(word in start for word in ("For everybody.", "Included.", "For all"))
    markdown = (site / "guides.md").read_text()
    assert "For everybody." in markdown
    assert "[one](#), [two](guides/hidden.md)" in markdown
    assert "Open words." in (site / "guides/open.md").read_text()
    assert find_dead_links(site) == []


def test_addresses_of_the_app_lead_to_what_is_published_and_say_nothing_of_the_rest(
    source: Path, tmp_path: Path
) -> None:
    apps = ("/app/o/ORG/s/", "https://docs.example:8443/app/o/ORG/s/", "https://app.gitbook.com/o/ORG/s/")
    hidden = ("SPACE-1/below", "SPACE-1/gone", "SPACE-2/secret-page", "SPACE-4")
    links = [f"[{n}]({app}SPACE-1/open#x) [{n}]({app}SPACE-1)" for n, app in enumerate(apps)]
    links += [f"[not this]({app}{to})" for app in apps for to in hidden]
    links += ["[theirs](https://app.gitbook.com/s/ELSEWHERE/x)", "[request](/app/o/ORG/s/SPACE-1/~/changes/1)"]
    page = source / "guides/open.md"
    page.write_text(page.read_text() + "\n" + "\n".join(links) + "\n")
    contents = source / "guides/SUMMARY.md"
    entries = f"* [Elsewhere]({apps[2]}SPACE-3)\n* [SECRET-ENTRY]({apps[2]}SPACE-2/secret-page)\n"
    contents.write_text(contents.read_text() + entries)
    declared = (source / "site.yaml").read_text()
    there = f'{{ title: Start here, to: {{ url: "{apps[2]}SPACE-1" }} }}'
    gone = f'{{ title: SECRET-HEADER, to: {{ url: "{apps[2]}SPACE-1/gone" }} }}'
    (source / "site.yaml").write_text(
        declared.replace("      links:\n", f"      links:\n      - {there}\n      - {gone}\n")
    )
    build(source, tmp_path / "site")
    for path, data in read_tree(tmp_path / "site").items():
        assert b"secret" not in data.lower(), path
    text = (tmp_path / "site/guides/open/index.html").read_text()
    for n in range(len(apps)):
        assert re.findall(rf'<a href="([^"]*)">{n}</a>', text) == ["../../guides/open/#x", "../../guides/"]
    assert len(re.findall(r'class="b-broken"[^>]*>not this<', text)) == len(apps) * len(hidden)
    assert 'href="https://app.gitbook.com/s/ELSEWHERE/x"' in text
    assert re.search(r'class="b-broken"[^>]*>request<', text)
    assert re.search(r'href="\.\./\.\./guides/coming/"[^>]*>Elsewhere<', text)
    assert re.search(r'href="\.\./\.\./guides/"[^>]*>Start here<', text)
    assert "[not this](#)" in (tmp_path / "site/guides/open.md").read_text()


UNREAD = {
    "unclosed": "---\nhidden: true\n\n# Unclosed\n\nSECRET\n",
    "late": "\n---\nif: visitor.claims.partner\n---\n\n# Late\n\nSECRET\n",
    "twice": "---\nif: visitor.claims.partner\nif: 'true'\n---\n\n# Twice\n\nSECRET\n",
}


@pytest.mark.parametrize("text", UNREAD.values(), ids=UNREAD)
def test_frontmatter_that_says_who_may_read_and_is_not_read_closes_the_page(
    source: Path, tmp_path: Path, text: str
) -> None:
    (source / "guides/open.md").write_text(text)
    summary = build(source, tmp_path / "site")
    assert summary.left_out["guides/open.md"].startswith("it cannot be read: open.md:")
    assert b"SECRET" not in b"".join(read_tree(tmp_path / "site").values())


def test_a_condition_that_is_no_block_hides_what_follows(source: Path, tmp_path: Path) -> None:
    (source / "guides/open.md").write_text("# Open\n\nSeen {% if visitor.claims.partner %}SECRET{% endif %} words.\n")
    summary = build(source, tmp_path / "site")
    assert summary.conditional["guides/open.md"] == "a part of it is for readers for whom `visitor.claims.partner`"
    built = b"".join(read_tree(tmp_path / "site").values())
    assert b"SECRET" not in built
    assert b"Seen  words." in built


def test_what_was_built_before_is_taken_away(source: Path, site: Path) -> None:
    page = source / "guides/open.md"
    page.write_text(page.read_text().replace("!== true", "=== true"))
    summary = build(source, site)
    assert "Open words." not in b"".join(read_tree(site).values()).decode()
    assert summary.conditional["guides/open.md"] == "it is for readers for whom `visitor.claims.partner === true`"


def test_what_is_left_out_is_named_and_is_no_fault(source: Path, tmp_path: Path) -> None:
    summary = build(source, tmp_path / "site")
    assert summary.left_out == {}
    assert summary.conditional == {
        "site.yaml:10:18": "the section partners is for readers for whom `visitor.claims.partner`",
        "site.yaml:19:65": "the variant guides/fr is for readers for whom `visitor.claims.unsigned.beta == true`",
        "site.yaml:25:81": "a link is for readers for whom `visitor.claims.partner`",
        "guides/gone.md": "it is for readers for whom `visitor.claims.partner == true`",
        "guides/undecided.md": "it is for readers for whom `visitor.is === very.odd(`",
        "guides/below.md": "it stands below a page that is left out",
        "guides/README.md": "a part of it is for readers for whom `visitor.claims.beta`",
        "guides/.gitbook/includes/part.md": "a part of it is for readers for whom `visitor.claims.beta`",
    }


def test_hidden_pages_and_variants_are_in_no_list(site: Path) -> None:
    hidden = ("Hidden words.", "Under words.", "Coming words.")
    assert all(word in b"".join(read_tree(site).values()).decode() for word in hidden)
    full = (site / "llms-full.txt").read_text()
    assert not [word for word in hidden if word in full]
    assert "Unsearched words." in full
    lists = (site / "llms.txt").read_text() + (site / "sitemap.xml").read_text()
    assert not [name for name in ("hidden", "under", "Coming") if name in lists]
    [own] = [path for path in site.glob("~syncd/spaces/*/contents.json") if "Start" in path.read_text()]
    titles = [row[1] for row in json.loads(own.read_text())]
    assert titles == ["Start", "Unsearched", "Unlisted", "Open"]
    found = json.loads((own.parent / "search.json").read_text())
    assert [row[0] for row in found] == ["Start", "Unlisted", "Open"]


def test_all_words_that_everybody_reads_are_found_and_no_others(source: Path, tmp_path: Path) -> None:
    head = "---\nvars:\n  edition: Gooseberry\n---\n# Values\n\n"
    value = '<code class="expression">page.vars.edition</code>\n\n'
    code = "```python\nmulberry = 1\n```\n\n"
    tabs = '{% tabs %}\n{% tab title="Cloudberry" %}\nx\n{% endtab %}\n{% endtabs %}\n\n'
    far = ("Many words. " * 50 + "\n\n") * 500 + "A \uff30\uff4f\uff4d\uff45L\u00d3: \u8a2d\u8a08.\n"
    (source / "guides/values.md").write_text(head + value + code + tabs + far)
    contents = source / "guides/SUMMARY.md"
    contents.write_text(contents.read_text() + "* [Values](values.md)\n")
    build(source, tmp_path / "site")
    [own] = [path.parent for path in tmp_path.glob("site/~syncd/spaces/*/contents.json") if "Start" in path.read_text()]
    titles = [row[0] for row in json.loads((own / "search.json").read_text())]
    firsts = json.loads((own / "words.json").read_text())

    def find(word: str) -> list[str]:
        place = max(number for number, first in enumerate(firsts) if first <= word)
        return [titles[number] for number in json.loads((own / f"words-{place}.json").read_text()).get(word, [])]

    for word in ("gooseberry", "mulberry", "cloudberry", "pomelo", "計"):
        assert find(word) == ["Values"], word
    assert (find("everybody"), find("included"), find("open")) == (["Start"], ["Start"], ["Open"])
    assert not any(find(word) for word in ("hidden", "under", "unsearched", "coming", "edition", "secret"))


def test_the_index_of_the_whole_site_has_what_everybody_finds(source: Path, tmp_path: Path) -> None:
    declared = (source / "site.yaml").read_text()
    added = "    - section: open\n      title: Open door\n      path: open\n      variants:\n"
    added += "        - { variant: en, space: open, path: en, default: true }\n"
    added += "        - { variant: v2, space: v2, path: v2 }\n"
    declared = declared.replace("fr: SPACE-4", "fr: SPACE-4, open: SPACE-5, v2: SPACE-6")
    (source / "site.yaml").write_text(declared.replace("customization:", f"{added}customization:"))
    listed = {f"{space}/SUMMARY.md": f"# Contents\n\n* [{space}](README.md)\n" for space in ("open", "v2")}
    write_source(source, listed | {"open/README.md": "# Door\n\nA pomelo.\n", "v2/README.md": "# Gate\n"})
    build(source, tmp_path / "site")
    files = {path.name: json.loads(path.read_text()) for path in tmp_path.glob("site/~syncd/search/*.json")}
    titles = [(title, pages) for _, pages, title in files["index.json"][0]]
    assert titles == [("Guides", 3), ("Open door / en", 1), ("Open door / v2", 1)]
    assert [row[0] for row in files["pages-0.json"]] == ["Start", "Unlisted", "Open", "open", "v2"]
    assert [row[1] for row in files["pages-0.json"]][3:] == ["open/", "open/v2/"]
    words = files["words-0.json"]
    assert (words["pomelo"], words["door"]) == ([3 * 3 + 2], [3 * 3 + 2])
    assert not {"hidden", "under", "unsearched", "coming", "secret"} & words.keys()
    assert build(source, tmp_path / "site").written == 0
    (source / "open/README.md").write_text("# Door\n\nA feijoa.\n")
    build(source, tmp_path / "site")
    assert '"feijoa"' in (tmp_path / "site/~syncd/search/words-0.json").read_text()


def test_search_engines_are_asked_to_stay_away_from_some_pages(site: Path) -> None:
    closed = ("hidden", "hidden/under", "unsearched", "unlisted", "open")
    assert all('content="noindex' in (site / f"guides/{path}/index.html").read_text() for path in closed)
    assert 'content="noindex' not in (site / "guides/index.html").read_text()
    assert (site / "sitemap.xml").read_text().count("<loc>") == 1


def test_a_page_of_which_nobody_can_tell_is_left_out(source: Path, tmp_path: Path) -> None:
    (source / "guides/gone.md").write_text("---\nif: visitor.claims.a: b\n---\n# SECRET-TITLE\n")
    summary = build(source, tmp_path / "site")
    assert summary.left_out["guides/gone.md"].startswith("it cannot be read: ")
    assert "SECRET" not in (tmp_path / "site/llms-full.txt").read_text()


@pytest.mark.parametrize("visibility", ["visitor-auth", "share-link"])
def test_a_site_that_is_not_for_everybody_is_refused(source: Path, tmp_path: Path, visibility: str) -> None:
    (source / "site.yaml").write_text(SITE.replace("public", visibility))
    with pytest.raises(ConfigInvalid, match=f"visibility: {visibility}") as caught:
        build(source, tmp_path / "site")
    assert "--public" in (caught.value.hint or "")
    assert not (tmp_path / "site").exists()
    build(source, tmp_path / "site", is_public=True)
    assert 'content="noindex' in (tmp_path / "site/guides/index.html").read_text()
    assert not (tmp_path / "site/sitemap.xml").exists()


def test_a_site_of_which_nothing_is_for_everybody_is_refused(tmp_path: Path) -> None:
    source = write_source(tmp_path / "source", {"README.md": IF.format("visitor.claims.a") + "# A\n"})
    with pytest.raises(ConfigInvalid, match="is for everybody"):
        build(source, tmp_path / "site")
