"""Find the words of a page that another form of it has lost, apart from re-formatting."""

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from syncd.errors import FileInvalid
from syncd.layout.compare.tokens import CHARACTERS_MAX
from syncd.layout.markdown.addresses import resolve_address
from syncd.layout.page.frontmatter import split_frontmatter
from syncd.layout.page.links import find_targets
from syncd.layout.richtext.plain_page import TooLarge
from syncd.layout.yaml import yaml

if TYPE_CHECKING:
    from markdown_it.token import Token

WORDS_SHOWN_MAX = 8
"""Lost words of one line that are named."""

CUT_MAX = 20
"""Cut words that a lossy form may end its lines with."""

_RUN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[^\x00-\x7f]")
_ELEMENT = re.compile(r"""</?([A-Za-z][A-Za-z0-9-]*+)(?:[^<>"']|"[^"]*"|'[^']*')*+>""")
_SYMBOLS = frozenset({"So", "Sm", "Sc"})
_ELEMENTS = """
    a abbr address article aside audio b base bdi bdo big blockquote br button canvas caption center cite code
    col colgroup data dd del details dfn dialog div dl dt em embed fieldset figcaption figure font footer form
    h1 h2 h3 h4 h5 h6 header hr i iframe img input ins kbd label legend li link main map mark math menu meta nav
    object ol option p param picture pre progress q s samp script section select small source span strike strong
    style sub summary sup svg table tbody td template textarea tfoot th thead time title tr track tt u ul var
    video wbr
"""
"""Elements of HTML, which are form; what else stands in angle brackets is a writer's placeholder, a word."""
_HTML = frozenset(_ELEMENTS.split())


class Word(NamedTuple):
    """A word and the line of the file that it is on; `kind` tells words, code, addresses and placeholders apart."""

    text: str
    line: int
    kind: str = "word"


@dataclass(frozen=True)
class LostLine:
    """The words of one line that are lost."""

    line: int
    words: tuple[str, ...]

    def __str__(self) -> str:
        more = len(self.words) - WORDS_SHOWN_MAX
        return " ".join(self.words[:WORDS_SHOWN_MAX]) + (f" … ({more} more)" if more > 0 else "")


def find_lost_words(sent: bytes, kept: bytes, *, at: str) -> tuple[LostLine, ...]:
    """Return the words of a page in Git that are not in another form of it, by line.

    Shape: words of prose, of code and of frontmatter, addresses, and placeholders in angle brackets; how they are
    marked, quoted, wrapped and ordered does not count. () for what is not UTF-8 or too large. Linear time.
    """
    try:
        one, other = sent.decode(), kept.decode()
        if one == other or max(len(one), len(other)) > CHARACTERS_MAX:
            return ()
        return tuple(_group_by_line(_find_missing_words(list(find_words(one, at=at)), list(find_words(other, at=at)))))
    except (UnicodeDecodeError, TooLarge):
        return ()


def is_lossy(sent: bytes, kept: bytes, *, at: str) -> bool:
    """Return whether another form of a page in Git only has fewer words: none beyond the page's own.

    Shape: what is left of a word that was cut off counts as that word.
    """
    beyond = [word for loss in find_lost_words(kept, sent, at=at) for word in loss.words]
    gone = [word for loss in find_lost_words(sent, kept, at=at) for word in loss.words]
    return len(beyond) <= CUT_MAX and all(any(word.startswith(part) for word in gone) for part in beyond)


def count_different_words(one: bytes, other: bytes, *, at: str) -> int:
    """Return how many words only one of two forms of a page has."""
    return sum(len(loss.words) for pair in ((one, other), (other, one)) for loss in find_lost_words(*pair, at=at))


def find_words(text: str, *, at: str) -> Iterator[Word]:
    """Yield the words of the page at `at` in order: frontmatter, addresses, then the body.

    Raises: TooLarge when the page is beyond the bounds of `syncd.layout.richtext.plain_page`.
    """
    # Here, as most runs compare nothing, and the parser takes longer to load than they do.
    from syncd.layout.richtext.grammar import parse_markdown

    head, body = split_frontmatter(text)
    yield from _find_frontmatter_words(head, at)
    line, seen = 1, 0
    for target in find_targets(text):
        line, seen = line + text.count("\n", seen, target.start), target.start
        found = resolve_address(target.text, at=at)
        yield Word(f"{found[0]}{found[1]}" if found else unquote(target.text), line, "address")
    first = head.count("\n") + 1
    for token in parse_markdown(body):
        start = first + (token.map[0] if token.map else 0)
        if token.type == "inline":
            yield from _find_inline_words(token.children or (), start)
        elif token.type in ("fence", "code_block", "math_block"):
            yield from _find_line_words(token.content, start + (token.type != "code_block"), "code")
        elif token.type == "html_block":
            yield from _find_html_words(token.content, start)
        elif token.type == "tag":
            yield from _find_line_words(token.content, start, "word")


def _find_frontmatter_words(head: str, at: str) -> Iterator[Word]:
    """Yield the words of every text in the frontmatter, each on the line of its key."""
    if not head:
        return
    inner = head[head.index("\n") + 1 : head.rstrip("\r\n").rindex("\n") + 1]
    try:
        located = yaml.load_located(inner, at=at, line=2)
    except FileInvalid:
        yield from _find_line_words(head, 1, "word")
        return
    pending: list[tuple[tuple[str | int, ...], object]] = [((), located.value)]
    while pending:
        path, value = pending.pop()
        if isinstance(value, dict):
            pending += reversed([((*path, key), inner) for key, inner in value.items()])
        elif isinstance(value, list):
            pending += reversed([((*path, key), inner) for key, inner in enumerate(value)])
        elif value is not None and not isinstance(value, bool):
            line = located.positions.get(path, located.positions.get(path[:1], (2, 1)))[0]
            yield from (Word(text, line) for text in _split_into_words(str(value)))


def _find_inline_words(tokens: "Iterable[Token]", line: int) -> Iterator[Word]:
    prose: list[str] = []
    for token in tokens:
        if token.type in ("text", "text_special"):
            prose.append(token.content)
            continue
        if token.type in ("code_inline", "html_inline", "softbreak", "hardbreak", "emoji", "math", "image"):
            yield from (Word(text, line) for text in _split_into_words("".join(prose)))
            prose = []
        if token.type in ("softbreak", "hardbreak"):
            line += 1
        elif token.type in ("code_inline", "math"):
            yield from _find_line_words(token.content, line, "code")
        elif token.type == "html_inline":
            yield from _find_html_words(token.content, line)
        elif token.type in ("image", "emoji"):
            yield from (Word(text, line) for text in _split_into_words(token.content))
    yield from (Word(text, line) for text in _split_into_words("".join(prose)))


def _find_html_words(source: str, line: int) -> Iterator[Word]:
    """Yield the words between tags; a tag of HTML is formatting, any other is a word of the writer's."""
    done = 0
    for found in _ELEMENT.finditer(source):
        between = source[done : found.start()]
        yield from _find_line_words(html.unescape(between), line, "word")
        line += between.count("\n")
        if found[1].lower() not in _HTML:
            yield Word(" ".join(found[0].split()), line, "placeholder")
        line, done = line + found[0].count("\n"), found.end()
    yield from _find_line_words(html.unescape(source[done:]), line, "word")


def _find_line_words(text: str, line: int, kind: str) -> Iterator[Word]:
    for offset, row in enumerate(text.split("\n")):
        # A server may spell a sign of code as an entity; what is shown is the same to a person who knows.
        for word in html.unescape(row).split() if kind == "code" else _split_into_words(row):
            yield Word(word, line + offset, kind)


def _split_into_words(text: str) -> Iterator[str]:
    """Yield runs of letters and digits, and signs that stand for themselves, such as arrows and emoji."""
    for found in _RUN.finditer(text):
        if found[0][0].isalnum() or unicodedata.category(found[0]) in _SYMBOLS:
            yield found[0].replace("’", "'")


def _find_missing_words(sent: Sequence[Word], kept: Sequence[Word]) -> Iterator[Word]:
    """Yield the words that are sent more often than they are kept; among equal words, the first ones."""
    short = Counter((word.kind, word.text) for word in sent)
    short.subtract(Counter((word.kind, word.text) for word in kept))
    there = {word.text for word in kept}
    spare = Counter(short)
    for word in sent:
        key = (word.kind, word.text)
        if spare[key] > 0 and (word.kind == "word" or word.text not in there):
            spare[key] -= 1
            yield word


def _group_by_line(missing: Iterable[Word]) -> Iterator[LostLine]:
    rows: dict[int, list[str]] = {}
    for word in missing:
        rows.setdefault(word.line, []).append(word.text)
    return (LostLine(line, tuple(rows[line])) for line in sorted(rows))
