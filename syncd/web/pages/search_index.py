"""The index in which the script of a page searches.

`search.json` of a space has for each page its title, address, headings and first words. Of a static site, all other
words are in files beside it, each with a part of the words in their order, so that a search loads the few that its
words are in. A site of several spaces has one more such index, of all of them, whose pages are in files of a few.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from syncd.layout.page.frontmatter import read_heading, split_after_title
from syncd.layout.richtext.anchors import Anchors
from syncd.layout.richtext.nodes import Node
from syncd.layout.richtext.outline import split_nodes
from syncd.layout.richtext.reading import to_document
from syncd.layout.richtext.tag_lines import ELSE_TAGS
from syncd.model.words import split_words
from syncd.web.blocks.inline.formulas import read_formula_words

BODY_MAX = 600
"""Characters of a page's own words that are in `search.json`."""
LARGE = 1_000
"""Pages from which on less of each is in the index, since a browser reads all of it."""
_LARGE_HEADINGS, _LARGE_BODY = 6, 100
SHARED_BODY, _SHARED_HEADINGS, _SHARED_PAGES = 300, 40, 10
"""Characters and headings of a page in the index of the whole site, and pages of each of its files."""
WORDS_FILE_MAX = 48_000
"""Characters of a file of words, unless one word alone has more."""
_SCANNED = 20_000
_MARKUP_PER_WORDS = 2
"""How much Markdown is read for so many characters that are shown; reading all of it would take most of the time."""
_FENCED = re.compile(r"^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+([^\n]*)$", re.MULTILINE)
_FORMULAS = ("math", "inline-math")
_FOOTNOTE = re.compile(r"\[\^[^\[\]\n]{1,100}\]:?")
_MARKED = re.compile(r"[*_`~$\\<>\[\]&{}:^|]")
"""What a heading has that is more than its words."""
_CONDITION = re.compile(rf"\{{%-? *(?:if|{ELSE_TAGS}|endif)\b[^{{}}]{{0,400}}%\}}")
_TABLE_END = "</table>"
_TAG = re.compile(r"\{%[^{}]{0,400}(?:%\}|$)")
"""A tag whose other end was cut off."""
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


SearchRow = tuple[str, str, str, SearchablePage]
"""A page as the index lists it: its title, its address, where it lies in words, and what is searched of it."""


@dataclass(frozen=True)
class SearchableSpace:
    """The pages of a space for a search of the whole site; `number` is that in its scope, and `title` names it."""

    number: int
    title: str
    rows: Sequence[SearchRow]


class WordPlace(IntEnum):
    """Where a page has a word: the best place counts."""

    TITLE = 0
    HEADING = 1
    BODY = 2


def find_body_length(pages: int) -> int:
    """Return how many characters of a page are in any index, in a space of so many pages."""
    return BODY_MAX if pages < LARGE else SHARED_BODY


def read_searchable_page(text: str, most: int = BODY_MAX) -> SearchablePage:
    """Return what is searched of a page's file, and `most` characters of its words as readers see them.

    Shape: a quick look that parses no more than it shows, since all pages are looked at.
    """
    body = _FENCED.sub("", split_after_title(text)[1][:_SCANNED])
    anchors = Anchors()
    headings = [_read_line(_drop_closing(found[1])) for found in _HEADING.finditer(body)]
    words = _read_words(_cut_lines(_HEADING.sub("", body).lstrip(), most * _MARKUP_PER_WORDS))[:most]
    return SearchablePage(tuple((anchors.allocate(title), title) for title in headings), words)


def read_page_with_words(text: str, most: int = BODY_MAX) -> SearchablePage:
    """Return what is searched of a page's file with all of its words, code and the titles of blocks included."""
    body = split_after_title(text)[1]
    named = (found[1] or found[2] or "" for found in _NAMED.finditer(body))
    words = frozenset(split_words(" ".join((read_heading(text) or "", _clean(body), *named))))
    return replace(read_searchable_page(text, most), words=words)


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
    yield from _format_words(numbers, firsts)
    yield "words.json", _dump(firsts)


def format_site_search(spaces: Sequence[SearchableSpace]) -> Iterator[tuple[str, str]]:
    """Yield the files in which all spaces of a site are searched, each with its name.

    Shape: `index.json` has the number of each space, how many pages it has, and its title; then the first word of each
    file of words. In these, a number is that of a page, in the order of spaces and their rows, by three, and the place
    of the word in it. `pages-0.json` and its like have the pages, ten in each.
    """
    rows = [row for space in spaces for row in space.rows]
    numbers: dict[str, list[int]] = {}
    for number, (title, _, _, page) in enumerate(rows):
        for word, place in _find_places(title, page).items():
            numbers.setdefault(word, []).append(number * len(WordPlace) + place)
    firsts: list[str] = []
    yield from _format_words(numbers, firsts)
    for file in range(0, len(rows), _SHARED_PAGES):
        listed = [_list_row(row, _SHARED_HEADINGS, SHARED_BODY) for row in rows[file : file + _SHARED_PAGES]]
        yield f"pages-{file // _SHARED_PAGES}.json", _dump(listed)
    yield "index.json", _dump([[[space.number, len(space.rows), space.title] for space in spaces], firsts])


def _find_places(title: str, page: SearchablePage) -> dict[str, WordPlace]:
    """The words of a page, each with the best place that it has."""
    found = dict.fromkeys(page.words or split_words(page.body), WordPlace.BODY)
    found |= dict.fromkeys(split_words(" ".join(text for _, text in page.headings)), WordPlace.HEADING)
    return found | dict.fromkeys(split_words(title), WordPlace.TITLE)


def _format_words(numbers: Mapping[str, Sequence[int]], firsts: list[str]) -> Iterator[tuple[str, str]]:
    """The files of words with their numbers; the first word of each is added to `firsts`."""
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


def format_search_index(rows: Iterable[SearchRow]) -> str:
    """Return the index of a space as JSON."""
    found = list(rows)
    headings, body = (None, None) if len(found) < LARGE else (_LARGE_HEADINGS, _LARGE_BODY)
    return _dump([_list_row(row, headings, body) for row in found])


def _list_row(row: SearchRow, headings: int | None, body: int | None) -> list[object]:
    title, address, path, page = row
    return [title, address, path, page.headings[:headings], page.body[:body]]


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _drop_closing(heading: str) -> str:
    """A heading without the number signs that may close it, which follow a space. A pattern would try every space."""
    words = heading.rstrip(" \t")
    bare = words.rstrip("#")
    return bare if not bare or bare[-1] in " \t" else words


def _cut_lines(text: str, length: int) -> str:
    """The beginning of a text, up to the end of a line where that is near, or of the table that it cuts.

    Shape: what is hidden in a table is known by all of the table.
    """
    end = text.rfind("\n", length // 2, length) if len(text) > length else len(text)
    end = end if end >= 0 else length
    table = text.rfind("<table", 0, end)
    return text[: max(end, text.find(_TABLE_END, table) + len(_TABLE_END))] if table >= 0 else text[:end]


def _read_line(heading: str) -> str:
    """A heading as readers see it. Most have nothing but words, and need no parser."""
    return _read_words(f"# {heading}") if _MARKED.search(heading) else " ".join(heading.split())


def _read_words(markdown: str) -> str:
    """The words of Markdown as readers see them, where it was cut off as well."""
    nodes = to_document(_FOOTNOTE.sub("", _CONDITION.sub("", markdown))).nodes
    _replace_formulas(nodes)
    words = " ".join(f"{part.title} {part.body}" for part in split_nodes(nodes))
    return " ".join(_TAG.sub(" ", words).split())


def _replace_formulas(nodes: Sequence[Node]) -> None:
    """Let formulas have the signs that are drawn of them."""
    pending: list[object] = [*nodes]
    while pending:
        here = pending.pop()
        if isinstance(here, list | tuple):
            pending.extend(here)
        elif isinstance(here, dict):
            if here.get("type") in _FORMULAS and isinstance(here.get("data"), dict):
                here["data"]["formula"] = read_formula_words(str(here["data"].get("formula", "")))
            pending.extend(here[name] for name in ("nodes", "fragments") if name in here)


def _clean(text: str) -> str:
    return " ".join(_MARKUP.sub(" ", _LINK.sub(r"\1", text)).split())
