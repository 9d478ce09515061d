"""The index in which the script of a page searches.

`search.json` has for each page its title, address, headings and first words. Of a static site, all other words are in
files beside it, each with a part of the words in their order, so that a search loads the few that its words are in.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from syncd.layout.page.frontmatter import split_after_title
from syncd.layout.richtext.anchors import Anchors
from syncd.model.words import split_words

BODY_MAX = 600
"""Characters of a page's own words that are in `search.json`."""
LARGE = 1_000
"""Pages from which on less of each is in the index, since a browser reads all of it."""
_LARGE_HEADINGS, _LARGE_BODY = 6, 100
WORDS_FILE_MAX = 48_000
"""Characters of a file of words, unless one word alone has more."""
_SCANNED = 20_000
_FENCED = re.compile(r"^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+([^\n]*)$", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\n]*\)")
_NAMED = re.compile(r"""\b(?:title|alt|caption)=(?:"([^"\n]*)"|'([^'\n]*)')""")
"""What a reader sees of the attributes of a tag."""
_MARKUP = re.compile(r"<[^<>]{1,400}>|\{%[^{}]{0,400}%\}|^#+|[*_`|>]+|\\", re.MULTILINE)


@dataclass(frozen=True)
class SearchablePage:
    """A page as it is found: its headings, each with its anchor, its first words, and all of them in one spelling."""

    headings: tuple[tuple[str, str], ...] = ()
    body: str = ""
    words: frozenset[str] = frozenset()


def read_searchable_page(text: str) -> SearchablePage:
    """Return what is searched of a page's file: a quick look, not a parse, since all pages are looked at."""
    body = _FENCED.sub("", split_after_title(text)[1][:_SCANNED])
    anchors = Anchors()
    headings = [_clean(_drop_closing(found[1])) for found in _HEADING.finditer(body)]
    words = _clean(_HEADING.sub("", body)[: BODY_MAX * 3])[:BODY_MAX]
    return SearchablePage(tuple((anchors.allocate(title), title) for title in headings), words)


def read_page_with_words(text: str) -> SearchablePage:
    """Return what is searched of a page's file with all of its words, code and the titles of blocks included."""
    body = split_after_title(text)[1]
    named = (found[1] or found[2] or "" for found in _NAMED.finditer(body))
    words = frozenset(split_words(" ".join((_clean(body), *named))))
    return replace(read_searchable_page(text), words=words)


def format_word_files(pages: Sequence[SearchablePage]) -> Iterator[tuple[str, str]]:
    """Yield the files of all words of pages, each with its name: `words.json` has the first word of each of the others.

    Shape: another one, such as `words-0.json`, has for each of its words the numbers of the pages that have it, in the
    order of `search.json`; words are ordered as a browser compares them.
    """
    numbers: dict[str, list[int]] = {}
    for number, page in enumerate(pages):
        for word in page.words:
            numbers.setdefault(word, []).append(number)
    firsts: list[str] = []
    rows: list[str] = []
    size = 0
    for word in sorted(numbers, key=lambda one: one.encode("utf-16-be", "replace")):
        row = f"{json.dumps(word, ensure_ascii=False)}:[{','.join(map(str, numbers[word]))}]"
        if rows and size + len(row) > WORDS_FILE_MAX:
            yield f"words-{len(firsts) - 1}.json", f"{{{','.join(rows)}}}"
            rows, size = [], 0
        if not rows:
            firsts.append(word)
        rows.append(row)
        size += len(row) + 1
    if rows:
        yield f"words-{len(firsts) - 1}.json", f"{{{','.join(rows)}}}"
    yield "words.json", json.dumps(firsts, ensure_ascii=False, separators=(",", ":"))


def format_search_index(rows: Iterable[tuple[str, str, str, SearchablePage]]) -> str:
    """Return the index as JSON; each row has a title, an address, where the page lies in words, and the page."""
    found = list(rows)
    headings, body = (None, None) if len(found) < LARGE else (_LARGE_HEADINGS, _LARGE_BODY)
    listed = [
        [title, address, path, page.headings[:headings], page.body[:body]] for title, address, path, page in found
    ]
    return json.dumps(listed, ensure_ascii=False, separators=(",", ":"))


def _drop_closing(heading: str) -> str:
    """A heading without the number signs that may close it, which follow a space. A pattern would try every space."""
    words = heading.rstrip(" \t")
    bare = words.rstrip("#")
    return bare if not bare or bare[-1] in " \t" else words


def _clean(text: str) -> str:
    return " ".join(_MARKUP.sub(" ", _LINK.sub(r"\1", text)).split())
