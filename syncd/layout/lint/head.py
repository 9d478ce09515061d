"""Rules about the head of a page: its frontmatter, its title, and whether anything follows."""

import re
from collections.abc import Iterator
from html import unescape

from syncd.errors import FileInvalid
from syncd.layout.lint.finding import Finding, finding
from syncd.layout.lint.space import UNREADABLE, Page, Space
from syncd.layout.page.frontmatter import fields, heading, metadata, split
from syncd.layout.tree.paths import shown

DESCRIPTION_MAX = 200
"""Characters that the platform keeps of a description. Source: gitsync §1.6."""

_UNCLOSED = re.compile("\ufeff?---[ \\t]*\\r?\\n(?:[ \\t]*\\r?\\n)*[A-Za-z][\\w-]*:(?:[ \\t]|\\r?\\n)")
_CUT = re.compile(r"""^(?:title|description|if):[ \t]+(?!['"|>\[{&*!#])[^\n#]*?[ \t](#)""", re.MULTILINE)
_MARKUP = re.compile(r"<[^<>]{0,500}>|[*_`~\\]|:[a-z0-9_+-]{1,40}:")
_FIRST = re.compile(r"^ {0,3}#[ \t]+\S", re.MULTILINE)
_TABLE = re.compile(r"[^\w\s]+")


def check_heads(space: Space) -> Iterator[Finding]:
    """Given a space, return what is wrong with the frontmatter and the titles of its pages."""
    includes = frozenset(space.draft.includes)
    for page in space.published():
        if page.problem is not None:
            yield finding(
                UNREADABLE[page.problem.reason],
                page.path,
                (page.problem.line, page.problem.column),
                page.problem.reason,
            )
        if not page.body and _UNCLOSED.match(page.text):
            hint = "write --- on a line of its own below the last key"
            yield finding("frontmatter-invalid", page.path, (1, 1), "the frontmatter is not closed", hint)
            continue
        yield from _frontmatter(page)
        if page.path not in includes:
            yield from _title(space, page)


def _frontmatter(page: Page) -> Iterator[Finding]:
    try:
        values = fields(page.text, at=page.path)
    except FileInvalid as error:
        yield finding("frontmatter-invalid", page.path, (error.line, error.column), error.reason, _advice(error.reason))
        return
    try:
        metadata(page.text, at=page.path)
    except FileInvalid as error:
        yield finding("frontmatter-type", page.path, (error.line, error.column), error.reason)
    for cut in _CUT.finditer(page.text, 0, page.body):
        message = "what follows # is a comment, not part of the value"
        yield finding("frontmatter-comment", page.path, page.place(cut.start(1)), message, "quote the whole value")
    description = values.get("description")
    if isinstance(description, str) and len(description) > DESCRIPTION_MAX:
        place = page.place(page.text.index("description"))
        message = f"the description has {len(description)} characters; the platform keeps {DESCRIPTION_MAX}"
        yield finding("description-long", page.path, place, message)


def _advice(reason: str) -> str:
    if "\\t" in reason or "tab" in reason:
        return "indent with spaces, not with a tab"
    if "mapping values" in reason:
        return "quote the value: it holds a colon"
    if "repeats" in reason:
        return "keep the key once"
    return "quote values that hold : or #"


def _title(space: Space, page: Page) -> Iterator[Finding]:
    body = split(page.text)[1].strip("\ufeff \t\r\n")
    entry = space.entries.get(page.path)
    if not body or (entry is not None and not entry.children and _is_title_only(page, body)):
        yield finding("page-empty", page.path, (1, 1), "the page has no text")
        return
    title, place = heading(page.text), page.place(_after_blank(page))
    if title is None:
        late = _FIRST.search(page.words, page.body)
        if late is not None:
            message = "the first-level heading is not the first thing on the page"
            place = page.place(late.start())
        else:
            message = "the page does not start with a first-level heading"
        yield finding("title-missing", page.path, place, message)
    elif space.decided and entry is not None and _plain(title) != _plain(entry.title):
        message = f"the heading is {shown(title)}, the title in {space.summary} {shown(entry.title)}"
        yield finding("title-differs", page.path, place, message)


def _is_title_only(page: Page, body: str) -> bool:
    return "\n" not in body and heading(page.text) is not None and not page.body


def _after_blank(page: Page) -> int:
    rest = page.text[page.body :]
    return page.body + len(rest) - len(rest.lstrip("\ufeff \t\r\n"))


def _plain(title: str) -> str:
    """The words of a title: without marks, tags, emoji and signs."""
    return " ".join(_TABLE.sub(" ", _MARKUP.sub(" ", unescape(title))).casefold().split())
