"""Rules about the head of a page: its frontmatter, its title, and whether anything follows."""

import re
from collections.abc import Iterator
from html import unescape

from syncd.errors import FileInvalid
from syncd.layout.lint.finding import Finding, make_finding
from syncd.layout.lint.space import UNREADABLE, Page, Space
from syncd.layout.page.frontmatter import read_fields, read_heading, read_metadata, split_frontmatter
from syncd.layout.page.unread_frontmatter import find_unread
from syncd.model.text import quote_name

DESCRIPTION_MAX = 200
"""Characters that the platform keeps of a description. Source: syncd/manual/reference/layout.md, "Frontmatter"."""

_CUT = re.compile(r"""^(?:title|description|if):[ \t]+(?!['"|>\[{&*!#])[^\n#]*?[ \t](#)""", re.MULTILINE)
_MARKUP = re.compile(r"<[^<>]{0,500}>|[*_`~\\]|:[a-z0-9_+-]{1,40}:")
_FIRST = re.compile(r"^ {0,3}#[ \t]+\S", re.MULTILINE)
_TABLE = re.compile(r"[^\w\s]+")


def check_heads(space: Space) -> Iterator[Finding]:
    """Yield the findings about the frontmatter and the titles of pages."""
    includes = frozenset(space.draft.includes)
    for page in space.read_published_pages():
        if page.problem is not None:
            yield make_finding(
                UNREADABLE[page.problem.reason],
                page.path,
                (page.problem.line, page.problem.column),
                page.problem.reason,
            )
        if unread := find_unread(page.text):
            yield make_finding("frontmatter-invalid", page.path, (1, 1), *unread)
            continue
        yield from _check_frontmatter(page)
        if page.path not in includes:
            yield from _check_title(space, page)


def _check_frontmatter(page: Page) -> Iterator[Finding]:
    try:
        values = read_fields(page.text, at=page.path)
    except FileInvalid as error:
        yield make_finding(
            "frontmatter-invalid", page.path, (error.line, error.column), error.reason, _suggest_mend(error.reason)
        )
        return
    try:
        read_metadata(page.text, at=page.path)
    except FileInvalid as error:
        yield make_finding("frontmatter-type", page.path, (error.line, error.column), error.reason)
    for cut in _CUT.finditer(page.text, 0, page.body):
        message = "what follows # is a comment, not part of the value"
        yield make_finding(
            "frontmatter-comment", page.path, page.locate(cut.start(1)), message, "quote the whole value"
        )
    description = values.get("description")
    if isinstance(description, str) and len(description) > DESCRIPTION_MAX:
        place = page.locate(page.text.index("description"))
        message = f"the description has {len(description)} characters; the platform keeps {DESCRIPTION_MAX}"
        yield make_finding("description-long", page.path, place, message)


def _suggest_mend(reason: str) -> str:
    if "\\t" in reason or "tab" in reason:
        return "indent with spaces, not with a tab"
    if "mapping values" in reason:
        return "quote the value: it holds a colon"
    if "repeats" in reason:
        return "keep the key once"
    return "quote values that hold : or #"


def _check_title(space: Space, page: Page) -> Iterator[Finding]:
    body = split_frontmatter(page.text)[1].strip("\ufeff \t\r\n")
    entry = space.entries.get(page.path)
    if not body or (entry is not None and not entry.children and _is_title_only(page, body)):
        yield make_finding("page-empty", page.path, (1, 1), "the page has no text")
        return
    title, place = read_heading(page.text), page.locate(_find_text_start(page))
    if title is None:
        late = _FIRST.search(page.blanked_text, page.body)
        if late is not None:
            message = "the first-level heading is not the first thing on the page"
            place = page.locate(late.start())
        else:
            message = "the page does not start with a first-level heading"
        yield make_finding("title-missing", page.path, place, message)
    elif space.has_summary and entry is not None and _normalise_title(title) != _normalise_title(entry.title):
        shown, heading = quote_name(entry.title), quote_name(title)
        message = f"readers see {shown}, the title in {space.summary}, not the heading {heading}"
        yield make_finding("title-differs", page.path, place, message)


def _is_title_only(page: Page, body: str) -> bool:
    return "\n" not in body and read_heading(page.text) is not None and not page.body


def _find_text_start(page: Page) -> int:
    rest = page.text[page.body :]
    return page.body + len(rest) - len(rest.lstrip("\ufeff \t\r\n"))


def _normalise_title(title: str) -> str:
    """Return the words of a title: without marks, tags, emoji and signs."""
    return " ".join(_TABLE.sub(" ", _MARKUP.sub(" ", unescape(title))).casefold().split())
