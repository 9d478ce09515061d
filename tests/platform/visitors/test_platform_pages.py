"""Published pages: where they are read, what stands on them, and what is remembered of them."""

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import httpx
import pytest

from tests.platform.visitors.published_site import PublishedSiteMaker, open_published_site, page

PAGE_BYTES_MAX = 60 * 1024
LOADED_BYTES_MAX = 43_200
"""Of looks and scripts beside the page itself."""
PACKED_FROM = 4_000


@pytest.fixture
def made(tmp_path: Path) -> Iterator[PublishedSiteMaker]:
    with open_published_site(tmp_path / "platform") as made:
        yield made


def get(made: PublishedSiteMaker, path: str, **headers: str) -> httpx.Response:
    return made.world.target.client.get(made.base + path, headers=headers)


def test_the_published_address_of_a_site_leads_to_its_first_page(made: PublishedSiteMaker) -> None:
    answer = made.world.target.client.get(made.site["urls"]["published"])
    assert answer.status_code == 200
    assert "<h1>Welcome</h1>" in answer.text
    root = made.world.target.client.get(made.base)
    assert (root.status_code, root.headers["location"]) == (308, f"{made.base}/")


def test_every_published_address_of_the_structure_is_read(made: PublishedSiteMaker) -> None:
    structure = made.world.made("getSiteStructure", made.path)["structure"]
    read = [one for section in structure for one in section["siteSpaces"] if section["title"] == "Guides"]
    assert len(read) == 2
    for one in read:
        assert made.world.target.client.get(one["urls"]["published"]).status_code == 200


def test_a_page_has_its_place_around_it(made: PublishedSiteMaker) -> None:
    text = get(made, "/setup").text
    assert re.search(rf'aria-current="page"[^>]*>Setup|href="{made.base}/setup" aria-current="page"', text)
    assert f'href="{made.base}/"' in text
    assert f'rel="prev" href="{made.base}/"' in text
    assert f'<a href="{made.base}/v1"' in text
    assert f'<link rel="canonical" href="http://platform{made.base}/setup">' in text
    assert 'type="text/markdown"' in text


def test_links_between_pages_and_variants_lead_to_published_addresses(made: PublishedSiteMaker) -> None:
    other = f"See [old](https://app.gitbook.com/s/{made.old}/welcome) and [hidden](https://app.gitbook.com/s/{made.internal}/)."
    made.world.write(made.guides, [page("Links", other)])
    text = get(made, "/links").text
    assert f'href="{made.base}/v1' in text
    assert made.internal not in text
    assert f'<a href="{made.base}/"' in get(made, "/setup").text


def test_addresses_of_the_app_lead_to_published_addresses(made: PublishedSiteMaker) -> None:
    organization = made.world.organization
    apps = (
        f"/app/o/{organization}/s/",
        f"{made.origin}/app/o/{organization}/s/",
        f"https://app.gitbook.com/o/{organization}/s/",
        "https://app.gitbook.com/s/",
    )
    setup = made.world.made("getPageByPath", {"spaceId": made.guides, "pagePath": "setup"})
    assert setup["urls"]["app"].startswith(apps[1])
    links = [
        f"[{n}]({app}{to})"
        for n, app in enumerate(apps)
        for to in (f"{made.old}/welcome#x", f"{made.guides}/setup", made.old)
    ]
    links += [f"[by id]({apps[0]}{made.guides}/{setup['id']})", f"[hidden]({apps[1]}{made.internal}/secrets)"]
    made.world.write(made.guides, [page("Links", " ".join(links))])
    text = get(made, "/links").text
    for n in range(len(apps)):
        found = re.findall(rf'<a href="([^"]*)">{n}</a>', text)
        assert found == [f"{made.base}/v1#x", f"{made.base}/setup", f"{made.base}/v1"], apps[n]
    assert f'<a href="{made.base}/setup">by id</a>' in text
    assert ("/app/" in text, "app.gitbook.com" in text, made.internal in text) == (False, False, False)
    assert re.search(r'class="b-broken"[^>]*>hidden<', text)
    settings = made.world.made("getSiteCustomizationById", made.path)
    to = {"Old one": f"{apps[1]}{made.old}/welcome", "Closed": f"{apps[1]}{made.internal}/secrets"}
    settings["header"]["links"] = [
        {"title": title, "to": {"kind": "url", "url": url}, "links": []} for title, url in to.items()
    ]
    made.world.made("updateSiteCustomizationById", made.path, body=settings)
    text = get(made, "/setup").text
    assert re.search(rf'href="{made.base}/v1/welcome"[^>]*>Old one<', text)
    assert ("Closed" in text, made.internal in text) == (False, False)
    markdown = get(made, "/links.md").text
    assert f"[0]({made.base}/v1#x) [0]({made.base}/setup) [0]({made.base}/v1)" in markdown
    assert "[hidden](#)" in markdown


@pytest.mark.parametrize(
    ("path", "target"), [("/guides/setup", "/setup"), ("/guides", "/"), ("/v1/", ""), ("/old-home", "/v1")]
)
def test_other_spellings_and_redirects_lead_to_the_address(made: PublishedSiteMaker, path: str, target: str) -> None:
    destination = {"kind": "site-space", "siteSpaceId": made.variant}
    made.world.made("createSiteRedirect", made.path, body={"source": "/old-home", "destination": destination})
    answer = get(made, path)
    if not target:
        assert answer.status_code == 200
        return
    assert (answer.status_code, answer.headers["location"]) == (302, f"{made.base}{target}")


def test_a_redirect_to_elsewhere_and_content_before_redirects(made: PublishedSiteMaker) -> None:
    elsewhere = {"kind": "external", "url": "https://example.com/x"}
    for source in ("/gone", "/setup"):
        made.world.made("createSiteRedirect", made.path, body={"source": source, "destination": elsewhere})
    assert get(made, "/gone").headers["location"] == "https://example.com/x"
    assert get(made, "/setup").status_code == 200


def test_a_page_as_markdown_has_its_title_and_addresses_of_the_site(made: PublishedSiteMaker) -> None:
    answer = get(made, "/setup.md")
    assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
    assert answer.text.startswith("# Setup\n\n")
    assert f"[this]({made.base}/)" in answer.text
    assert get(made, "/nothing.md").status_code == 404


def test_a_page_that_is_named_index_has_markdown_of_its_own(made: PublishedSiteMaker) -> None:
    made.world.write(made.guides, [page("Index", "All words.")])
    assert get(made, "/index").text.count("<h1>Index</h1>") == 1
    assert get(made, "/index.md").text.startswith("# Index\n")
    assert get(made, "/welcome.md").text.startswith("# Welcome\n")
    assert get(made, "/index.html.md").text == get(made, "/welcome.md").text
    listed = get(made, "/llms.txt").text
    assert all(
        f"[{title}]({made.origin}{made.base}/{path}.md)" in listed
        for title, path in (("Welcome", "welcome"), ("Index", "index"))
    )
    # Where no page is named so, it is that of the page above.
    assert get(made, "/v1/index.md").text.startswith("# Welcome\n\nOlder words.")
    assert get(made, "/setup/index.md").text.startswith("# Setup\n")


def test_readme_names_the_first_page_where_no_page_is_named_so(made: PublishedSiteMaker) -> None:
    for path in ("/readme.md", "/README.md"):
        assert get(made, path).text == get(made, "/welcome.md").text
    assert get(made, "/v1/README.md").text.startswith("# Welcome\n\nOlder words.")
    assert get(made, "/setup/readme.md").status_code == 404
    made.world.write(made.guides, [page("Readme", "Of its own.")])
    assert get(made, "/readme.md").text.startswith("# Readme\n")


def test_markdown_keeps_links_that_lead_nowhere_and_all_words_have_working_ones(made: PublishedSiteMaker) -> None:
    include = '{% include ".gitbook/includes/gone.md" %}'
    hidden = f"[hidden](https://app.gitbook.com/s/{made.internal}/secrets)"
    text = f"[there](setup.md#end) [missing](../gone.md#x)\n\n{include}\n\n{hidden}"
    made.world.write(made.guides, [page("Broken", text)])
    for path in ("/broken.md", "/llms-full.txt"):
        read = get(made, path).text
        assert f"[there]({made.base}/setup#end) [missing](../gone.md#x)\n\n{include}\n\n[hidden](#)" in read, path
    assert f"[this]({made.base}/)" in read


def test_what_is_not_there_is_said_within_the_site(made: PublishedSiteMaker) -> None:
    answer = get(made, "/nothing/set-up.html")
    assert answer.status_code == 404
    assert "<h1>Page not found</h1>" in answer.text
    assert f'<a href="{made.base}/">Start page</a>' in answer.text
    assert f'href="{made.base}/~syncd/search?q=set%20up" rel="nofollow">Search for “set up”</a>' in answer.text
    listing = re.search(rf'<a href="({made.base}/~syncd/v/[^"]*/contents)">All pages</a>', answer.text)
    assert listing is not None
    assert made.world.target.client.get(listing[1]).status_code == 200
    dead = get(made, f"{listing[1].removeprefix(made.base).removesuffix('contents').replace('/v/', '/pages/')}gone")
    assert (dead.status_code, "<h1>Page not found</h1>" in dead.text) == (404, True)
    assert "Search for" not in dead.text
    for path in ("/sites/nothing/", "/sites/nothing", f"{made.base}/~syncd/nothing.css", f"{made.base}/~syncd/v/x/y"):
        assert made.world.target.client.get(path).status_code in (404, 308)


def test_icons_and_emoji_stand_before_titles(made: PublishedSiteMaker) -> None:
    icon = '<svg viewBox="[^"]*" class="b-icon" aria-hidden="true"><path d="[^"]*"></path></svg>'
    wave = '<span class="emoji" aria-hidden="true">👋</span>'
    made.world.write(made.guides, [page("Gear", icon="gear"), page("Hello", emoji="1f44b")])
    section = made.path | {"siteSectionId": made.sections[0]}
    made.world.made("updateSiteSectionById", section, body={"icon": "book"})
    made.world.made("updateSiteSectionById", made.path | {"siteSectionId": made.sections[1]}, body={"condition": None})
    text = get(made, "/gear").text
    assert re.search(f"<h1>{icon} Gear</h1>", text)
    assert re.search(f'href="{made.base}/gear" aria-current="page">{icon}Gear</a>', text)
    assert re.search(f'aria-current="true">{icon}Guides</a>', text)
    assert f">{wave}Hello</a>" in text
    assert f"<h1>{wave} Hello</h1>" in get(made, "/hello").text


def test_a_page_is_not_sent_again_while_it_is_the_same(made: PublishedSiteMaker) -> None:
    first = get(made, "/setup")
    tag = first.headers["etag"]
    assert get(made, "/setup", **{"If-None-Match": tag}).status_code == 304
    made.world.space("Another")
    assert get(made, "/setup").headers["etag"] == tag
    settings = made.world.made("getSiteCustomizationById", made.path)
    settings["footer"]["copyright"] = "Someone"
    made.world.made("updateSiteCustomizationById", made.path, body=settings)
    changed = get(made, "/setup", **{"If-None-Match": tag})
    assert changed.status_code == 200
    assert "Someone" in changed.text
    made.world.write(made.guides, [page("Newer")])
    assert "Newer" in get(made, "/setup").text


def test_a_page_of_a_large_space_stays_small(made: PublishedSiteMaker) -> None:
    for part in range(6):
        made.world.write(made.guides, [page(f"Chapter {part} {number}") for number in range(50)])
    answer = get(made, "/chapter-3-7")
    assert answer.status_code == 200
    assert len(answer.content) <= PAGE_BYTES_MAX


def test_the_files_of_a_page_are_there(made: PublishedSiteMaker) -> None:
    text = get(made, "/setup").text
    loaded = re.findall(r'(?:href|src)="([^"]+~syncd/[^"]+)"', text)
    assert len(loaded) >= 5
    for path in set(loaded):
        assert made.world.target.client.get(path).status_code == 200, path


def test_what_a_page_of_text_loads_is_small_and_compressed(made: PublishedSiteMaker) -> None:
    client = made.world.target.client
    text = get(made, "/setup").text
    loaded = set(re.findall(r'(?:stylesheet" href|script src|icon" href)="([^"]+~syncd/[^"]+)"', text))
    plain = [client.get(path, headers={"Accept-Encoding": "identity"}) for path in loaded]
    assert sum(len(one.content) for one in plain) <= LOADED_BYTES_MAX
    for path in loaded:
        answer = client.get(path, headers={"Accept-Encoding": "gzip"})
        if len(answer.content) > PACKED_FROM and "~syncd/v/" not in path:
            assert answer.headers["content-encoding"] == "gzip", path
            assert int(answer.headers["content-length"]) < len(answer.content) / 2


def test_head_answers_as_get_and_methods_are_refused(made: PublishedSiteMaker) -> None:
    assert made.world.target.client.head(f"{made.base}/setup").status_code == 200
    assert made.world.target.client.post(f"{made.base}/setup", json={}).status_code == 405


def test_the_search_finds_what_the_site_shows(made: PublishedSiteMaker) -> None:
    long = "\n\n".join(["Before.", "## The harbour", "Boats <b>come</b> & go at the quay.", "## Other", "Nothing."])
    hidden = page("Hidden", "The quay by night.", hidden=True)
    made.world.write(made.guides, [page("Boats", long), hidden])
    answer = get(made, "/~syncd/search?q=quay")
    assert answer.status_code == 200
    assert "noindex" in answer.text
    assert f'<a href="{made.base}/boats#the-harbour">Boats</a>' in answer.text
    assert "<mark>quay</mark>" in answer.text
    assert "Hidden" not in answer.text
    rows = get(made, "/~syncd/search.json?q=qua").json()
    assert [(row[0], row[1], row[4]) for row in rows] == [("Boats", f"{made.base}/boats#the-harbour", "qua")]
    assert "Nothing found" in get(made, "/~syncd/search?q=zebra").text
    script = get(made, "/~syncd/search?q=%3Cscript%3Ealert(1)%3C/script%3E%00%22").text
    assert "<script>alert" not in script
    assert f'action="{made.base}/~syncd/search"' in get(made, "/setup").text
    assert get(made, f"/~syncd/search?q={'x' * 5000}").status_code == 200


def test_every_found_page_is_read_at_its_address(made: PublishedSiteMaker) -> None:
    rows = get(made, "/~syncd/search.json?q=words").json()
    assert {(row[0], row[2]) for row in rows} >= {("Welcome", "Guides / Guides"), ("Welcome", "Guides / Guides 1")}
    for row in rows:
        answer = made.world.target.client.get(row[1], follow_redirects=True)
        assert f"<h1>{row[0]}</h1>" in answer.text


def test_a_permanent_redirect_is_permanent_where_everybody_reads(made: PublishedSiteMaker) -> None:
    elsewhere = {"kind": "external", "url": "https://example.com/x"}
    body = {"source": "/gone", "destination": elsewhere, "permanent": True}
    redirect = made.world.made("createSiteRedirect", made.path, body=body)
    assert (redirect["permanent"], redirect["draft"], redirect["captureWildcard"]) == (True, False, False)
    answer = get(made, "/gone")
    assert (answer.status_code, answer.headers["cache-control"]) == (301, "public, max-age=3600")
    made.world.made("updateSiteById", made.path, body={"visibility": "share-link"})
    assert get(made, f"/{made.add_share_link()}/gone").status_code == 302
    made.world.made("updateSiteById", made.path, body={"visibility": "public"})
    changed = made.path | {"siteRedirectId": redirect["id"]}
    assert made.world.made("updateSiteRedirectById", changed, body={"permanent": False})["permanent"] is False
    answer = get(made, "/gone")
    assert (answer.status_code, answer.headers["cache-control"]) == (302, "no-store")
    bulk = {"redirects": [{"source": "/gone", "destination": elsewhere, "permanent": True}]}
    assert made.world.made("bulkUpsertSiteRedirects", made.path, body=bulk)["results"][0]["status"] == "updated"
    assert get(made, "/gone").status_code == 301


def test_a_page_with_updates_has_a_feed(made: PublishedSiteMaker) -> None:
    one = (
        '{{% update date="2026-01-{day:02}" %}}\n\n## Version {day}\n\nIt has <b>sails</b> & oars\n\n{{% endupdate %}}'
    )
    body = "\n\n".join(("{% updates %}", one.format(day=2), one.format(day=1), "{% endupdates %}"))
    made.world.write(made.guides, [page("News", body)])
    answer = get(made, "/news/rss.xml")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/rss+xml; charset=utf-8")
    root = ElementTree.fromstring(answer.text)
    assert [item.findtext("title") for item in root.iter("item")] == ["Version 2", "Version 1"]
    links = [item.findtext("link") or "" for item in root.iter("item")]
    assert links[0] == f"http://platform{made.base}/news#version-2"
    text = get(made, "/news").text
    assert f'type="application/rss+xml" title="News" href="http://platform{made.base}/news/rss.xml"' in text
    assert 'id="version-2"' in text
    assert get(made, "/setup/rss.xml").status_code == 404
    assert "rss" not in get(made, "/setup").text


ASK = '<button type="button" class="button primary" data-action="ask" data-query="What now?">Ask</button>'
FIND = '<button type="button" class="button secondary" data-action="search" data-query="sail">Find</button>'


def test_a_button_that_asks_leads_to_the_answer(made: PublishedSiteMaker) -> None:
    made.world.write(made.guides, [page("Buttons", f"{ASK} {FIND}")])
    text = get(made, "/buttons").text
    assert 'href="?ask=What+now%3F"' in text
    assert 'href="?q=sail"' in text
    assert "b-broken" not in text
    leads = {"?ask=What+now%3F": "search?q=What+now%3F", "?q=sail": "search?q=sail", "?ask=": "search?q="}
    for query, target in leads.items():
        answer = get(made, f"/buttons{query}")
        assert (answer.status_code, answer.headers["location"]) == (302, f"{made.base}/~syncd/{target}")
    assert "<h1>Search</h1>" in get(made, "/~syncd/search?q=").text
    body = made.world.made("getSiteCustomizationById", made.path) | {"ai": {"mode": "search"}}
    made.world.made("updateSiteCustomizationById", made.path, body=body)
    assert get(made, "/?ask=What+now%3F").headers["location"] == f"{made.base}/~syncd/ask?q=What+now%3F"
    # What machines read, and what lies beside the pages, has no such meaning.
    assert get(made, "/buttons.md?ask=x").status_code == 200
    assert get(made, "/~syncd/search?q=x&ask=x").status_code == 200
