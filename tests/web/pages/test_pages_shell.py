"""The frame around a document: what a page always has, what a customization changes, and what never gets through."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files
from typing import Any

import pytest

from syncd.layout.lint.finding import make_finding
from syncd.layout.richtext.reading import to_document
from syncd.layout.tree.summary import Entry
from syncd.model.customization import SiteCustomizationSettings
from syncd.web.blocks import BlockContext, OutlineEntry, render_document
from syncd.web.pages.contents import build_contents, select_lines
from syncd.web.pages.customization import is_safe_address, read_settings
from syncd.web.pages.icon import render_icon
from syncd.web.pages.preview import PreviewStrip, mark_findings, place_findings, render_findings, render_strip
from syncd.web.pages.search_index import read_searchable_page
from syncd.web.pages.shell import MORE_BLOCKS, PageLayout, PageView, SiteFrame, SiteLink, render_page
from syncd.web.pages.style_sheet import render_style_sheet
from syncd.web.pages.wording import WORDS, find_words
from syncd.web.rendering import Html
from tests.growing import assert_linear

EVIL = '"><script>alert(1)</script>'


class Reader(HTMLParser):
    """The elements of a page, each with its attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def find(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.elements if tag == name]


def make_settings(**leaves: Any) -> SiteCustomizationSettings:
    named = {name.replace("__", "."): value for name, value in leaves.items()}
    return read_settings(named, lambda to: str(to.get("url", "")))


def make_page(view: PageView | None = None, **leaves: Any) -> str:
    sections = (SiteLink("Guides", "/guides", is_current=True), SiteLink("API", "/api"))
    return render_page(SiteFrame("Docs", make_settings(**leaves), sections=sections), view or make_view())


def make_view(**members: Any) -> PageView:
    contents = build_contents([Entry("document", "Start", "start.md")], lambda entry: f"/{entry.path}")
    entry = contents.entries[0]
    outline = (OutlineEntry("one", "One", 2), OutlineEntry("two", "Two", 3))
    given: dict[str, Any] = {"outline": outline, "contents": select_lines(contents, 0), "after": entry}
    given["breadcrumbs"] = (entry,)
    return PageView("Start", Html("<p>Words.</p>"), **(given | members))


def test_a_page_can_be_read_without_a_script_and_by_its_landmarks() -> None:
    page = Reader(make_page())
    assert len(page.find("h1")) == 1
    assert page.find("html")[0]["lang"] == "en"
    assert page.find("a")[0] == {"class": "skip", "href": "#_content"}
    assert [one["id"] for one in page.find("main")] == ["_content"]
    assert len(page.find("header")) == 1
    assert all(one.get("aria-label") or one.get("aria-labelledby") for one in page.find("nav"))
    assert not [one for _, one in page.elements if "style" in one or any(name.startswith("on") for name in one)]
    assert [one for one in page.find("script") if "src" not in one] == []
    assert {one["aria-current"] for one in page.find("a") if "aria-current" in one} == {"page", "true"}


def test_only_a_page_with_rarer_blocks_loads_their_looks() -> None:
    static = files("syncd.web").joinpath("static")
    usual, rarer = (
        set(re.findall(r"\.(b-[a-z-]+)", static.joinpath(name).read_text()))
        for name in ("blocks.css", "more_blocks.css")
    )
    assert len(rarer - usual) > 50
    assert [name for name in sorted(rarer - usual) if not MORE_BLOCKS.search(f'<div class="{name}">')] == []
    assert "more_blocks.css" not in make_page(replace(make_view(), body=Html('<p class="b-hint b-code">Words</p>')))
    for body in ('<ul class="b-cards"></ul>', "<figure></figure>"):
        assert "more_blocks.css" in make_page(replace(make_view(), body=Html(body)))
    assert "more_blocks.css" in render_page(SiteFrame("Docs", make_settings(), version="1"), make_view())


def test_a_page_loads_nothing_from_another_host() -> None:
    html = make_page(header__logo__light="https://cdn.test/a.png", header__logo__dark="https://cdn.test/b.png")
    loaded = [
        one.get("src") or one.get("href") for name in ("img", "script", "link") for one in Reader(html).find(name)
    ]
    assert loaded
    assert all(address and address.startswith("/~syncd") for address in loaded)


def test_what_people_wrote_is_text() -> None:
    view = make_view(description=EVIL, last_change=EVIL, emoji=EVIL)
    html = make_page(
        PageView(**{**vars(view), "title": EVIL}),
        footer__copyright=EVIL,
        announcement__enabled=True,
        announcement__message=EVIL,
        footer__groups=[{"title": EVIL, "links": [{"title": EVIL, "to": {"url": "https://a.test/"}}]}],
        internationalization__locale=EVIL,
        styling__theme=EVIL,
    )
    assert "<script>alert" not in html
    assert len(Reader(html).find("script")) == 1


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "data:text/html,x", "//evil.test", "/\\evil.test", "vbscript:x", " /a", "/a b"]
)
def test_an_address_that_is_no_place_becomes_no_link(address: str) -> None:
    assert not is_safe_address(address)
    html = make_page(header__links=[{"title": "Go", "to": {"url": address}}, {"title": "Fine", "to": {"url": "/fine"}}])
    assert ">Go<" not in html
    assert ">Fine<" in html


def test_a_group_of_settings_with_a_mistake_is_left_out_alone() -> None:
    settings = make_settings(header__links="none", footer__copyright="Ours")
    assert settings.header is None
    assert settings.footer is not None
    assert settings.footer.copyright == "Ours"


def test_a_language_decides_words_and_direction() -> None:
    arabic = Reader(make_page(internationalization__locale="ar")).find("html")[0]
    assert (arabic["lang"], arabic["dir"]) == ("ar", "rtl")
    german = make_page(internationalization__locale="de")
    assert "Auf dieser Seite" in german
    assert "Zum Inhalt springen" in german


@pytest.mark.parametrize(
    ("locale", "text", "direction"),
    [
        (
            "en",
            '# عنوان\n\n{% hint style="info" %}\nمرحبا بالعالم\n{% endhint %}\n\n```sh\nls --all --long\n```',
            "rtl",
        ),
        ("en", "How to greet: مرحبا", None),
        ("ar", "All of this page is in English.", "ltr"),
        ("ar", "مرحبا بالعالم", None),
        ("ar", "```sh\nls\n```", None),
    ],
)
def test_a_page_is_laid_out_as_most_of_its_words_are_written(locale: str, text: str, direction: str | None) -> None:
    body = render_document(to_document(text), BlockContext()).html
    html = make_page(replace(make_view(), body=body), internationalization__locale=locale)
    assert Reader(html).find("article")[0].get("dir") == direction


@pytest.mark.parametrize("locale", WORDS)
def test_each_language_has_all_words(locale: str) -> None:
    words = vars(find_words(locale))
    assert all(words.values())
    assert locale == "en" or len({word for name, word in words.items() if word == vars(WORDS["en"])[name]}) < 4


def test_settings_choose_among_what_there_is() -> None:
    html = make_page(
        styling__theme="muted",
        styling__sidebar__list="pill",
        themes__default="dark",
        themes__toggeable=False,
        pagination__enabled=False,
        announcement__enabled=True,
        announcement__message="Soon",
        announcement__style="warning",
        socialAccounts=[{"platform": "github", "handle": "syncd"}, {"platform": "unheard", "handle": "x"}],
    )
    root = Reader(html).find("html")[0]
    assert root["class"] == "theme-muted list-pill"
    assert root["data-theme"] == "dark"
    assert 'class="switch"' not in html
    assert 'rel="next"' not in html
    assert "announcement-warning" in html
    assert "https://github.com/syncd" in html
    assert "unheard" not in html


def test_a_layout_hides_parts_of_a_page() -> None:
    layout = PageLayout(title=False, table_of_contents=False, outline=False)
    html = make_page(make_view(layout=layout))
    assert 'class="visually-hidden"' in html
    assert 'class="contents"' not in html
    assert 'class="outline"' not in html


def test_a_style_sheet_holds_what_can_be_read_and_no_text_of_others() -> None:
    settings = make_settings(
        styling__primaryColor={"light": "#ffff00", "dark": "#ffff00"},
        styling__corners="straight",
        styling__font="x;}*{background:url(https://evil.test)}",
        styling__tint={"color": {"light": "red;}", "dark": "#112233"}},
    )
    css = render_style_sheet(settings)
    assert "evil" not in css
    assert "red" not in css
    assert "--primary:#ffff00;--on-primary:#000000;" in css
    assert "--corner:0;" in css
    assert "--link:#ffff00" not in css.split("@media")[0], "yellow on white cannot be read"


def test_an_icon_is_an_emoji_or_a_letter() -> None:
    assert "🏠" in render_icon("Docs", make_settings(favicon={"emoji": "1f3e0"}))
    assert ">D<" in render_icon("Docs", make_settings(favicon={"emoji": "zz"}))
    assert "<script" not in render_icon("<script>", make_settings())


def test_no_heading_takes_an_id_of_the_frame() -> None:
    titles = ("Page content", "Page contents", "Page outline", "Page results", "_content", "Content", "Outline")
    body = render_document(to_document("".join(f"## {title}\n\nWords.\n\n" for title in titles)), BlockContext())
    html = make_page(replace(make_view(outline=body.outline, feedback="feedback"), body=body.html))
    ids = re.findall(r' id="([^"]*)"', html)
    assert sorted(ids) == sorted(set(ids))
    assert {"page-content", "_content", "_outline", "_results", "_feedback"} <= set(ids)


def test_findings_stand_below_their_blocks() -> None:
    text = "# Title\n\nFirst words.\n\nSecond words.\n"
    document = to_document("First words.\n\nSecond words.\n")
    finding = make_finding("link-broken", "a.md", (3, 1), "there is no file at 'x.md'", "did you mean <y.md>?")
    marked, places = mark_findings(document, (3, 5), [finding], "mark-")
    html = place_findings(render_document(marked, BlockContext()).html, places, "mark-")
    assert text.index("First") < text.index("Second")
    assert html.index("First words.") < html.index("there is no file") < html.index("Second words.")
    assert "mark-" not in html
    assert "&lt;y.md&gt;" in html
    assert render_findings([]) == ""
    # A page may have many of these boxes: landmarks would be nothing to go by.
    assert "<aside" not in html


def test_a_strip_says_problems_first() -> None:
    strip = render_strip(PreviewStrip("work tree", {"error": 1, "warning": 2}, "platform/main", 3, "changed", EVIL))
    plain = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", strip))
    assert plain.index("alert(1)") < plain.index("Preview of work tree") < plain.index("1 error, 2 warnings")
    assert "This page differs from the platform · 3 files differ from platform/main" in plain
    assert "<script>" not in strip
    assert "Nothing to mend" in render_strip(PreviewStrip("work tree", {}))
    assert "Checking…" in render_strip(PreviewStrip("work tree"))


def test_what_is_searched_is_words_and_headings_without_code() -> None:
    page = read_searchable_page(
        "---\ndescription: x\n---\n\n# Title\n\nSome *good* [words](a.md).\n\n## Set up\n\n"
        "```sh\n# no heading\n```\n\n## Set up\n"
    )
    assert page.headings == (("set-up", "Set up"), ("set-up-1", "Set up"))
    assert page.body == "Some good words."


@pytest.mark.parametrize(
    ("line", "heading"), [("## C#", "C#"), ("## Closed ##  ", "Closed"), ("## ##", ""), ("## a # b", "a # b")]
)
def test_a_heading_is_searched_without_what_closes_it(line: str, heading: str) -> None:
    [(_, title)] = read_searchable_page(f"# Title\n\nText.\n\n{line}\n").headings
    assert title == heading


def test_a_heading_of_spaces_is_read_in_linear_time() -> None:
    assert_linear(lambda size: read_searchable_page("# Title\n\n# a" + " " * size + "b\n"), 1_000)
