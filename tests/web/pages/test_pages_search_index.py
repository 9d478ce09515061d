"""The index of a site that has no server to search it."""

from syncd.web.pages.search_index import read_page_with_words


def test_titles_of_blocks_are_words_of_a_page_and_empty_ones_are_none() -> None:
    tabs = '{% tab title="First" %}\n{% tab title="" %}\n'
    images = "<img src='x.png' alt='Second'> <img alt=\"\"> <img alt=''>\n"
    assert read_page_with_words(f"# Page\n\n{tabs}{images}").words == {"first", "second"}
