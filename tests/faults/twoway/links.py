"""Sentences that lead to a page, such as "See [k0ab](p1/p2.md)": the label is the mark of the page, with a k."""

import re
from collections.abc import Iterator, Mapping
from posixpath import dirname, join, normpath, relpath
from urllib.parse import unquote

from tests.faults.twoway.pages import LINK, WORD, Page, View, format_address, sentence

_PARAGRAPH_END = re.compile(r"\r?\n\r?\n")


def link_sentence(word: str, about: int, path: str, mark: str, target: str) -> str:
    """Given a new word, return a sentence of the page at a path that leads to another page, by its mark and path."""
    return f"{sentence(word, about)} See [k{mark[1:]}]({_build_address(path, target)})."


def find_wrong_links(view: View) -> dict[str, str]:
    """Return the words of the links of a side that do not lead to their page, each with the page that has it.

    Shape: the places of the side are paths; a link to a page that is gone, or that is there twice, is not wrong.
    """
    places = _index_places(view)
    return {
        word: page.place
        for page in view.values()
        for word, target, address in _list_links(page)
        if target in places and _resolve(page, address) != places[target]
    }


def mend_links(former: View, view: View) -> Iterator[tuple[str, str]]:
    """Return the place and text of each page with links that led to their page before it moved, with their new address.

    Shape: `former` is the side before pages moved, `view` after.
    """
    was_wrong = find_wrong_links(former)
    places = _index_places(view)
    for page in view.values():
        text = page.text
        for word, target, address in _list_links(page):
            if word not in was_wrong and target in places:
                new = _build_address(page.place, places[target])
                label = f"[k{target[1:]}]"
                text = text.replace(f"{label}({address})", f"{label}({new})").replace(
                    f"{label}(<{address}>)", f"{label}({new})"
                )
        if text != page.text:
            yield page.place, text


def _index_places(view: View) -> Mapping[str, str]:
    """Where each page is, by its mark, but for those that are there twice."""
    places: dict[str, str] = {}
    doubled: set[str] = set()
    for page in view.values():
        if page.mark and not page.is_group:
            doubled.update({page.mark} & places.keys())
            places[page.mark] = page.place
    return {mark: place for mark, place in places.items() if mark not in doubled}


def _list_links(page: Page) -> Iterator[tuple[str, str, str]]:
    """The word of each sentence with a link, the mark of the page that it leads to, and the address."""
    for paragraph in _PARAGRAPH_END.split(page.text):
        word = WORD.search(paragraph)
        for link in LINK.finditer(paragraph) if word else ():
            assert word is not None
            yield word[0], f"m{link[1]}", link[2] or link[3]


def _build_address(path: str, target: str) -> str:
    return format_address(relpath(f"/{target}", f"/{dirname(path)}"))


def _resolve(page: Page, address: str) -> str:
    return normpath(join(dirname(page.place), unquote(address)))
