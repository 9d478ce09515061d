"""The index of a site that has no server to search it."""

import pytest

from syncd.web.pages.search_index import (
    read_page_with_words,
    read_searchable_page,
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
        ("```sh\nrm --all\n```\n\nBehind it.", "Behind it."),
        ("Words. " * 100 + "\n\n[Cut](" + "x" * 2_000, ("Words. " * 100)[:600]),
    ],
)
def test_an_excerpt_has_the_words_that_readers_see(markdown: str, words: str) -> None:
    assert read_searchable_page(f"# Page\n\n{markdown}\n").body == words


def test_headings_have_the_words_that_readers_see() -> None:
    page = read_searchable_page("# Page\n\n## A ~~new~~ `one` ##\n\nWords.\n\n## 1. Plain\n\n## A new one\n")
    assert page.headings == (("a-new-one", "A new one"), ("id-1.-plain", "1. Plain"), ("a-new-one-1", "A new one"))
