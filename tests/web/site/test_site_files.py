"""The files beside the pages of a site: whole for ordinary values, and one value stays one value for hostile ones."""

import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import pytest

import syncd
from syncd.layout.page.links import find_targets
from syncd.layout.richtext.reading import to_document
from syncd.layout.site.write.exports import render_redirects_file
from syncd.web.blocks import BlockContext, render_document
from syncd.web.site import (
    PageHead,
    SiteChapter,
    SitePage,
    SiteRedirection,
    format_feed_date,
    list_updates,
    render_feed,
    render_head,
    render_llms,
    render_llms_page,
    render_markdown_page,
    render_nginx_map,
    render_redirect_page,
    render_robots,
    render_sitemap,
    render_sitemaps,
    select_safe,
)
from syncd.web.site.crawlers import SITEMAP_PAGES_MAX

HOSTILE = [
    '"><script>alert(1)</script>',
    "]](javascript:alert(1)) [x",
    "line\n# heading\r\nSitemap: https://evil.example/",
    "</title></channel>&amp;<![CDATA[",
    "nul\x00 half\ud800 turned\u202e end",
    "- list\n1. one",
    "`code` *bold* {% if %}",
]
ADDRESSES = [
    "https://docs.example/a b(c)<d>\"e'f",
    "https://docs.example/a\nSitemap: https://evil.example/",
    "https://docs.example/ü/%C3%BC/%zz",
    "https://docs.example/\ud800",
]
SITEMAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
UPDATES = """{% updates format="full" %}
{% update date="2026-03-04" tags="api,ui" %}
## Faster builds

Builds are *faster*.
{% endupdate %}

{% update date="last week" %}
## Faster builds

Again & <b>again</b>.
{% endupdate %}

{% update date="2026-01-02T10:00:00+02:00" %}
No heading.
{% endupdate %}
{% endupdates %}
"""


def write_rules(rules: tuple[SiteRedirection, ...]) -> str:
    return render_redirects_file((one.source, one.target, one.note) for one in rules)


class Elements(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_llms_lists_pages_by_chapter() -> None:
    page = SitePage("https://d.example/a", "Start", "How to begin.", "https://d.example/a.md")
    chapters = [SiteChapter("Guides", (page, SitePage("/b", "B"))), SiteChapter("Empty", ())]
    assert render_llms("Docs", "About all.", chapters) == (
        "# Docs\n\n> About all.\n\n## Guides\n\n- [Start](https://d.example/a.md): How to begin.\n- [B](/b)\n"
    )
    assert render_llms_page(page, "\nWords.\n\n") == (
        "# Start\n\nSource: https://d.example/a\n\n> How to begin.\n\nWords.\n\n"
    )
    assert render_markdown_page("Start", "", "Words.\n") == "# Start\n\nWords.\n"


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_title_stays_one_line_of_llms(text: str) -> None:
    listed = render_llms(text, text, [SiteChapter(text, (SitePage("/a", text, text),))])
    lines = [line for line in listed.splitlines() if line]
    assert [line[:2] for line in lines] == ["# ", "> ", "##", "- "]
    listed.encode()
    targets = [one.text for one in find_targets(listed)]
    assert targets == ["/a"]
    assert "<script>" not in listed
    assert len(render_llms_page(SitePage("/a", text), "w").splitlines()) == 6


def test_a_title_that_looks_like_a_block_is_no_block() -> None:
    assert render_markdown_page("1. one", "- two", "x") == "# 1\\. one\n\n\\- two\n\nx\n"
    assert render_markdown_page("", "", "x").startswith("# Untitled\n")


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_hostile_address_stays_one_address(address: str) -> None:
    found = ET.fromstring(render_sitemap([SitePage(address, "t")])).findall(f"{SITEMAP}url/{SITEMAP}loc")
    assert len(found) == 1
    assert str(found[0].text).startswith("https://docs.example/")
    assert not set(str(found[0].text)) & set(' \n<>"()')
    assert render_robots(address).count("\n") == 4
    assert render_llms("t", "", [SiteChapter("", (SitePage(address, "t"),))]).count("\n") == 3
    assert write_rules(select_safe([SiteRedirection("/x", address)])).count("\n") == 1


def test_a_sitemap_has_dates_and_languages() -> None:
    page = SitePage("https://d.example/a", "A", changed="2026-02-03", alternates={"de": "https://d.example/de/a"})
    root = ET.fromstring(render_sitemap([page, SitePage("https://d.example/b", "B")]))
    assert [one.text for one in root.iter(f"{SITEMAP}loc")] == ["https://d.example/a", "https://d.example/b"]
    assert [one.text for one in root.iter(f"{SITEMAP}lastmod")] == ["2026-02-03"]
    link = next(root.iter("{http://www.w3.org/1999/xhtml}link"))
    assert link.attrib == {"rel": "alternate", "hreflang": "de", "href": "https://d.example/de/a"}


def test_a_sitemap_that_is_too_long_is_divided() -> None:
    pages = [SitePage(f"https://d.example/{number}", "t") for number in range(SITEMAP_PAGES_MAX + 1)]
    files = render_sitemaps(pages, "https://d.example/")
    assert list(files) == ["sitemap.xml", "sitemap-1.xml", "sitemap-2.xml"]
    listed = [one.text for one in ET.fromstring(files["sitemap.xml"]).iter(f"{SITEMAP}loc")]
    assert listed == ["https://d.example/sitemap-1.xml", "https://d.example/sitemap-2.xml"]
    assert files["sitemap-2.xml"].count("<loc>") == 1
    assert list(render_sitemaps(pages[:3], "https://d.example")) == ["sitemap.xml"]


def test_robots_say_who_may_index() -> None:
    assert render_robots("https://d.example/sitemap.xml") == (
        "User-agent: *\nAllow: /\n\nSitemap: https://d.example/sitemap.xml\n"
    )
    assert render_robots("https://d.example/sitemap.xml", is_indexed=False) == "User-agent: *\nDisallow: /\n"


def test_a_feed_has_an_item_for_each_update() -> None:
    document = to_document(UPDATES)
    items = list_updates(document, render_document(document, BlockContext()).outline)
    assert [(one.title, one.anchor, one.date, one.tags) for one in items] == [
        ("Faster builds", "faster-builds", "2026-03-04", ("api", "ui")),
        ("Faster builds", "faster-builds-1", "last week", ()),
        ("2026-01-02T10:00:00+02:00", "", "2026-01-02T10:00:00+02:00", ()),
    ]
    page = SitePage("https://d.example/news", "News & more")
    root = ET.fromstring(render_feed(page, items, feed="https://d.example/news/rss.xml", language="de"))
    assert root.findtext("channel/title") == "News & more"
    found = root.findall("channel/item")
    assert [one.findtext("pubDate") for one in found] == [
        "Wed, 04 Mar 2026 00:00:00 +0000",
        None,
        "Fri, 02 Jan 2026 08:00:00 +0000",
    ]
    assert found[0].findtext("link") == "https://d.example/news#faster-builds"
    assert [one.text for one in found[0].findall("category")] == ["api", "ui"]
    assert "faster" in str(found[0].findtext("description"))
    assert len({one.findtext("guid") for one in found}) == 3


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_feed_is_xml(text: str) -> None:
    document = to_document(
        f'{{% updates %}}\n{{% update date="2026-03-04" %}}\n## x\n\n{text}\n{{% endupdate %}}\n{{% endupdates %}}\n'
    )
    items = list_updates(document)
    feed = render_feed(SitePage("https://d.example/a", text, text), items, feed="https://d.example/a?<", language=text)
    root = ET.fromstring(feed)
    assert len(root.findall("channel/item")) == 1
    assert len(root.findall("channel/title")) == 1


@pytest.mark.parametrize("written", ["", "soon", "2026-13-01", "0001-01-01T00:00:00+14:00", "９９９９-01-01"])
def test_what_is_no_date_is_none(written: str) -> None:
    assert format_feed_date(written) == ""


def test_a_head_names_the_page_for_others() -> None:
    head = PageHead(
        "Start",
        "Docs",
        "How to begin.",
        canonical="https://d.example/a",
        picture="https://d.example/p.png",
        language="de-AT",
        changed="2026-02-03",
        markdown="a.md",
        feed="a/rss.xml",
        policy="default-src 'none'",
        alternates={"en": "https://d.example/en/a"},
    )
    found = Elements(render_head(head)).found
    links = [(one["rel"], one.get("type"), one["href"]) for tag, one in found if tag == "link"]
    assert links == [
        ("canonical", None, "https://d.example/a"),
        ("alternate", None, "https://d.example/en/a"),
        ("alternate", "text/markdown", "a.md"),
        ("alternate", "application/rss+xml", "a/rss.xml"),
    ]
    named = {
        one.get("property") or one.get("name") or one.get("http-equiv"): one["content"]
        for tag, one in found
        if tag == "meta"
    }
    assert named["og:title"] == "Start"
    assert named["og:locale"] == "de_AT"
    assert named["og:url"] == "https://d.example/a"
    assert named["og:image"] == "https://d.example/p.png"
    assert named["twitter:card"] == "summary_large_image"
    assert named["Content-Security-Policy"] == "default-src 'none'"
    assert "og:image" not in render_head(PageHead("Start"))


@pytest.mark.parametrize("text", [*HOSTILE, "javascript:alert(1)", "data:text/html,x", " java\tscript:alert(1)"])
def test_a_hostile_head_stays_what_it_is(text: str) -> None:
    html = render_head(PageHead(text, text, text, text, text, text, text, text, text, alternates={text: text}))
    found = Elements(html).found
    assert {tag for tag, _ in found} <= {"meta", "link"}
    assert not [one for tag, one in found if tag == "link" and ":" in re.split("[/#?]", str(one["href"]))[0]]
    assert not any(name.startswith("on") for _, one in found for name in one)


def test_redirects_are_written_for_servers() -> None:
    rules = select_safe(
        [
            SiteRedirection("/old", "/new", "moved\nlast year"),
            SiteRedirection("/old", "/second"),
            SiteRedirection("/out", "https://e.example/x?a=$b"),
            SiteRedirection("/same", "/same"),
            SiteRedirection("/evil", "javascript:alert(1)"),
            SiteRedirection("//evil.example", "/x"),
        ]
    )
    assert [one.source for one in rules] == ["/old", "/out"]
    assert write_rules(rules) == ("# moved last year\n/old /new 301\n/out https://e.example/x?a=$b 301\n")
    mapped = render_nginx_map(rules, "/docs/")
    assert '    "/docs/old" "/docs/new";\n' in mapped
    assert '    "/docs/out" "https://e.example/x?a=%24b";\n' in mapped


def test_nginx_gets_decoded_paths_that_differ_without_regard_to_case() -> None:
    sources = ["/über uns", '/a"b', r"/a\b", "/old+", "/Old+", "/%6Fther", "/other"]
    rows = render_nginx_map(select_safe([SiteRedirection(source, "/x") for source in sources])).splitlines()[3:-1]
    keys = [row.strip().removesuffix(' "/x";') for row in rows]
    assert keys == ['"/über uns"', r'"/a\"b"', r'"/a\\b"', r'"~^/old\\+$"', r'"~^/Old\\+$"', '"/other"']


def test_the_configuration_for_nginx_in_the_manual_can_be_started() -> None:
    page = (Path(syncd.__file__).parent / "manual/how-to/static-site.md").read_text()
    lines = page.partition("```nginx\n")[2].partition("```")[0].splitlines()
    # A "{" begins a block, unless it is quoted; the size is taken before the first map.
    assert all(re.fullmatch(r'location ~ "[^"]+" {.*}', line.strip()) for line in lines if "location ~" in line)
    assert [line.split()[0] for line in lines[:2]] == ["map_hash_bucket_size", "include"]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_redirect_is_one_rule(text: str) -> None:
    rules = select_safe([SiteRedirection(f"/{text}", f"https://e.example/{text}{{}};", text)])
    lines = [line for line in write_rules(rules).splitlines() if not line.startswith("#")]
    assert len(lines) == 1
    assert len(lines[0].split(" ")) == 3
    rows = [line for line in render_nginx_map(rules).splitlines() if line.startswith('    "')]
    assert len(rows) == 1
    assert re.fullmatch(r' {4}"(?:[^"\\]|\\.)*" "[^"\\]*";', rows[0])
    elements = Elements(render_redirect_page(rules[0].target, text)).found
    assert [tag for tag, _ in elements].count("script") == 0
    assert [one["href"] for tag, one in elements if tag == "a"] == [rules[0].target]


def test_a_redirect_page_leads_only_where_a_link_may() -> None:
    elements = Elements(render_redirect_page("../new/")).found
    refresh = next(one for tag, one in elements if one.get("http-equiv") == "refresh")
    assert refresh["content"] == "0; url=../new/"
    with pytest.raises(ValueError, match="no address"):
        render_redirect_page("javascript:alert(1)")
