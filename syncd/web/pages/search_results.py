"""What a search of a site found, as a page and as JSON for the script of a page."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from syncd.web.rendering import render_template

_BEFORE, _AFTER = 50, 160
"""Characters of an excerpt around the first word that was looked for."""


@dataclass(frozen=True)
class SearchResult:
    """A page that was found: where it lies, in words, and an excerpt, whose middle part is what was looked for."""

    title: str
    address: str
    path: str = ""
    excerpt: tuple[str, str, str] = ("", "", "")


def cut_excerpt(text: str, searched: str) -> tuple[str, str, str]:
    """Return the part of a text around the first of the searched words that is in it: before, the word, and after."""
    folded = text.casefold()
    places = [(folded.find(word), len(word)) for word in searched.casefold().split()]
    # A letter that folding makes longer moves what is behind it.
    found = [place for place in places if place[0] >= 0] if len(folded) == len(text) else []
    if not found:
        return _cut_end(text, _BEFORE + _AFTER), "", ""
    at, length = found[0]
    begin, end = max(0, at - _BEFORE), at + length
    # A word that is cut, unless it is longer than what is shown of it.
    behind = text.find(" ", begin - 1, at) + 1 if begin else 0
    begin = behind or begin
    return ("… " if begin else "") + text[begin:at], text[at:end], _cut_end(text[end:], _AFTER)


def _cut_end(text: str, length: int) -> str:
    """The beginning of a text, up to the end of a word where that is near."""
    if len(text) <= length:
        return text
    space = text.rfind(" ", length - 30, length + 1)
    return f"{text[: space if space >= 0 else length].rstrip()} …"


def render_results(results: Sequence[SearchResult], nothing: str) -> Markup:
    """Return the list of what was found; `nothing` is said when there is nothing."""
    return render_template("pages/results.html", results=results, nothing=nothing)


def format_results_json(results: Sequence[SearchResult]) -> str:
    """Return what was found as JSON: rows of title, address, where it lies, and the parts of its excerpt."""
    rows = [[one.title, one.address, one.path, *one.excerpt] for one in results]
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
