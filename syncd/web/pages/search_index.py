"""The index in which the script of a page searches: for each page its title, address, headings and first words."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

from syncd.layout.page.frontmatter import split_after_title
from syncd.layout.richtext.anchors import Anchors

BODY_MAX = 600
"""Characters of a page's own words that are searched."""
LARGE = 1_000
"""Pages from which on less of each is in the index, since a browser reads all of it."""
_LARGE_HEADINGS, _LARGE_BODY = 6, 100
_SCANNED = 20_000
_FENCED = re.compile(r"^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+([^\n]*)$", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\n]*\)")
_MARKUP = re.compile(r"<[^<>]{1,400}>|\{%[^{}]{0,400}%\}|^#+|[*_`|>]+|\\", re.MULTILINE)


@dataclass(frozen=True)
class SearchablePage:
    """A page as it is found: its headings, each with its anchor, and its first words."""

    headings: tuple[tuple[str, str], ...] = ()
    body: str = ""


def read_searchable_page(text: str) -> SearchablePage:
    """Return what is searched of a page's file: a quick look, not a parse, since all pages are looked at."""
    body = _FENCED.sub("", split_after_title(text)[1][:_SCANNED])
    anchors = Anchors()
    headings = [_clean(_drop_closing(found[1])) for found in _HEADING.finditer(body)]
    words = _clean(_HEADING.sub("", body)[: BODY_MAX * 3])[:BODY_MAX]
    return SearchablePage(tuple((anchors.allocate(title), title) for title in headings), words)


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
