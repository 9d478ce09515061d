"""The index of a site that has no server to search it."""

import json

import pytest

from syncd.web.pages.search_index import (
    SearchablePage,
    SearchableSpace,
    WordPlace,
    format_site_search,
    read_page_with_words,
    read_searchable_page,
)

CARD = '<tr><td>A <strong>card</strong></td><td><a href="a.md">hidden.md</a></td></tr>'
TABLE = (
    '<table data-view="cards"><thead><tr><th></th><th data-hidden data-card-target data-type="content-ref"></th></tr>'
    f"</thead><tbody>{CARD * 81}</tbody></table>"
)


def test_titles_of_blocks_are_words_of_a_page_and_empty_ones_are_none() -> None:
    tabs = '{% tab title="First" %}\n{% tab title="" %}\n'
    images = "<img src='x.png' alt='Second'> <img alt=\"\"> <img alt=''>\n"
    assert read_page_with_words(f"# Page\n\n{tabs}{images}").words == {"page", "first", "second"}


@pytest.mark.parametrize(
    ("markdown", "words"),
    [
        ("A ~~struck~~ **bold** `word`, [linked](x.md) &amp; noted[^1].", "A struck bold word, linked & noted."),
        ("So $$e^{i\\pi}+1=0$$ holds.\n\n$$\nx^2\n$$\n", "So eiπ+1=0 holds. x2"),
        ("$$\\href{x}{y}$$", "\\href{x}{y}"),
        ("* [ ] One\n* Two\n\n1. Three\n", "One Two Three"),
        ("| A | B |\n|---|---|\n| *x* | y |\n", "A B x y"),
        (
            '{% hint style="info" %}\n{% if visitor.claims.a %}\nFor a.\n{% endif %}\n\nNot closed.',
            "For a. Not closed.",
        ),
        (TABLE, "A card " * 80 + "A card"),
        ("```sh\nrm --all\n```\n\nBehind it.", "Behind it."),
        ("Words. " * 100 + "\n\n[Cut](" + "x" * 2_000, ("Words. " * 100)[:600]),
    ],
)
def test_an_excerpt_has_the_words_that_readers_see(markdown: str, words: str) -> None:
    assert read_searchable_page(f"# Page\n\n{markdown}\n").body == words


def test_headings_have_the_words_that_readers_see() -> None:
    page = read_searchable_page("# Page\n\n## A ~~new~~ `one` ##\n\nWords.\n\n## 1. Plain\n\n## A new one\n")
    assert page.headings == (("a-new-one", "A new one"), ("id-1.-plain", "1. Plain"), ("a-new-one-1", "A new one"))


def test_the_index_of_a_site_has_all_pages_in_files_of_a_few() -> None:
    first = [(f"Page {number}", f"/a/{number}", "", SearchablePage()) for number in range(12)]
    found = SearchablePage((("setting-up", "Setting up"),), "Words of it.", frozenset({"words", "deep", "setting"}))
    second = [("Words", "/b/words", "Above", found)]
    spaces = (SearchableSpace(3, "Guides", first), SearchableSpace(0, "API / v2", second))
    files = {name: json.loads(text) for name, text in format_site_search(spaces)}
    assert list(files) == ["words-0.json", "pages-0.json", "pages-1.json", "index.json"]
    assert files["index.json"] == [[[3, 12, "Guides"], [0, 1, "API / v2"]], ["0"]]
    assert (len(files["pages-0.json"]), len(files["pages-1.json"])) == (10, 3)
    assert files["pages-1.json"][2] == ["Words", "/b/words", "Above", [["setting-up", "Setting up"]], "Words of it."]
    words = files["words-0.json"]
    assert words["11"] == [11 * 3 + WordPlace.TITLE]
    places = {"words": WordPlace.TITLE, "setting": WordPlace.HEADING, "deep": WordPlace.BODY}
    assert {word: words[word] for word in places} == {word: [12 * 3 + place] for word, place in places.items()}


def test_pages_without_all_words_are_found_by_their_first() -> None:
    page = SearchablePage(body="A pomelo.")
    files = dict(format_site_search([SearchableSpace(0, "Guides", [("Page", "/", "", page)])]))
    assert json.loads(files["words-0.json"]) == {"a": [2], "page": [0], "pomelo": [2]}
