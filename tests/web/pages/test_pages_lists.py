"""Pages that list: where to go on from an address that leads nowhere."""

import pytest

from syncd.web.pages.lists import SEARCHED_MAX, render_missing
from syncd.web.pages.wording import WORDS, find_words


@pytest.mark.parametrize(
    ("path", "query", "words"),
    [
        ("/guides/getting-started", "getting%20started", "getting started"),
        ("getting_started.html/", "getting%20started", "getting started"),
        ("/v1.2/größe", "gr%C3%B6%C3%9Fe", "größe"),
        ('/<b>"&', "b", "b"),
    ],
)
def test_a_search_for_the_words_of_an_address_is_offered(path: str, query: str, words: str) -> None:
    html = render_missing(find_words("en"), "/site/", search="/site/search", path=path)
    assert f'<a href="/site/search?q={query}" rel="nofollow">Search for “{words}”</a>' in html
    assert '<a href="/site/">Start page</a>' in html


@pytest.mark.parametrize("path", ["", "/", "/---", "/.md"])
def test_an_address_without_words_offers_no_search(path: str) -> None:
    assert "Search" not in render_missing(find_words("en"), "/", listing="/all", search="/search", path=path)


def test_a_long_address_offers_its_beginning() -> None:
    html = render_missing(find_words("en"), "/", search="/search", path="x" * 5000)
    assert f"“{'x' * SEARCHED_MAX}”" in html


@pytest.mark.parametrize("language", WORDS)
def test_every_language_says_it(language: str) -> None:
    words = WORDS[language]
    html = render_missing(words, "/", listing="/all", search="/search", path="/einrichten")
    assert words.search_for.format(words="einrichten") in html
    assert words.all_pages in html
