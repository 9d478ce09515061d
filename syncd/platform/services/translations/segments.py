"""The words of a page, apart from its syntax: taken out, and put back in another language without touching the rest.

A segment is what stands together on a page: a sentence or more of a paragraph, a heading, a cell. Syntax within it
(emphasis, code, links, expressions) is a marker `⟦0⟧`, `⟦1⟧`, … in its text; a translation has the same markers in the
same order, so every piece between two markers goes back to where it came from. What it says there cannot become
syntax: signs that Markdown would read are escaped. Linear in the length of a page.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from syncd.layout.markdown.blocks import find_prose
from syncd.layout.markdown.inline import parse_destination
from syncd.layout.page.frontmatter import split_frontmatter

TAG_MAX = 4096
"""Characters of a tag or expression; a longer one is text that hardly anybody wants translated."""

_MARKER = re.compile(r"⟦([0-9]{1,6})⟧")
_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_PREFIX = re.compile(
    r"(?:[ \t]*+>)*+[ \t]*+(?:(?:[*+-]|[0-9]{1,9}[.)])(?:[ \t]++|(?=\r?\n|$))(?:\[[ xX]\][ \t]++)?)*+"
    r"(?:\#{1,6}(?:[ \t]++|(?=\r?\n|$)))?"
)
_SPACED = re.compile(r"[ \t>]*+")
_WHOLE_LINE = re.compile(r"(?: {0,3}\[(?!\^)[^\]\n]*+\]:[^\n]*+|[ \t]*+=++[ \t]*+|[ \t|:]*+-[ \t|:-]*+)(?=\r?\n|$)")
"""Definitions, underlines of headings, and the line below the head of a table."""
_TOKEN = re.compile(
    r"\\[!-/:-@\[-`{-~]|\\?\r?\n|[ ]{2,}(?=\r?\n)|`++|\{%|\{\{|\$\$|<|!?\[|\]|[*_~|{⟦⟧]++|\\"
    r"|&(?:[A-Za-z][A-Za-z0-9]{1,31}|\#[0-9]{1,7}|\#[xX][0-9A-Fa-f]{1,6});|&"
    r"|:[a-z0-9_+-]{1,50}:|(?:https?://|www\.)[^\s<>()\[\]*`|]++"
    r"|[A-Za-z0-9][\w.+-]{0,63}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})++"
)
_TAG = re.compile(
    r"""</?([A-Za-z][A-Za-z0-9-]*+)(?:[^<>"']|"[^"<]*+"|'[^'<]*+')*+>|<[A-Za-z][A-Za-z0-9+.-]*+:[^\s<>]*+>"""
)
_LIQUID = re.compile(r"\{%[ \t]*+([a-z-]*+)(?:[^%{]|%(?!\})|\{(?!%))*+%\}")
_EXPRESSION = re.compile(r"\{\{(?:[^{}]|\}(?!\})|\{(?!\{))*+\}\}")
_MATH = re.compile(r"\$\$(?:[^$]|\$(?!\$))*+\$\$")
_REFERENCE = re.compile(r"\[[^\[\]\n]*+\]")
_DEFINED = re.compile(r"^ {0,3}\[(?!\^)([^\[\]\n]++)\]:", re.MULTILINE)
_FOOTNOTE = re.compile(r"\[\^[^\[\]\s]{1,100}\]:?")
_INLINE_TAGS = frozenset(
    {"a", "abbr", "b", "cite", "code", "del", "em", "i", "ins", "kbd", "mark", "q", "s", "small"}
    | {"span", "strong", "sub", "sup", "u", "var"}
)
_SILENT_TAGS = frozenset({"pre", "code", "script", "style", "kbd", "var"})
_SILENT_BLOCKS = frozenset(
    {"content-ref", "openapi", "openapi-operation", "openapi-schemas", "openapi-webhook", "swagger", "raw"}
)
_SYNTAX = re.compile(r"[\\`*_\[\]<{|~&]|\$(?=\$)")
_START = re.compile(r"(?:[-+]|#{1,6}|[0-9]{1,9}[.)])(?=\s|$)|=+$|>")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True)
class _SyntaxToken:
    """A part of a page. Shape: syntax that `is_hard` ends a segment, other syntax is a marker in it."""

    start: int
    end: int
    is_plain: bool = False
    is_hard: bool = False


@dataclass(frozen=True)
class Segment:
    """Something to translate: `text` has markers where syntax is; `pieces` are the spans of the page between them."""

    text: str
    pieces: tuple[tuple[int, int], ...]

    @property
    def word_count(self) -> int:
        """How many words it has."""
        return count_words(_MARKER.sub(" ", self.text))


def count_words(text: str) -> int:
    """Return the number of words in a text."""
    return sum(1 for _ in _WORD.finditer(text))


def find_segments(page: str) -> tuple[Segment, ...]:
    """Return the translatable segments of a page's text, in order; frontmatter and code have none."""
    return tuple(
        _build_segment(page, run) for run in _split_runs(_Scanner(page).list_tokens()) if _has_words(page, run)
    )


def replace_segments(page: str, translated: Mapping[Segment, str]) -> str:
    """Return a page with its segments replaced by their translations; a segment without one stays.

    A translation is used only when it has the markers of its segment in the same order, since they stand for syntax.
    """
    spans: list[tuple[int, int, str]] = []
    for segment, text in translated.items():
        pieces = _split_translation(page, segment, text)
        if pieces is not None:
            spans += [(*span, piece) for span, piece in zip(segment.pieces, pieces, strict=True)]
    done, result = 0, []
    for start, end, piece in sorted(spans):
        result += [page[done:start], piece]
        done = end
    return "".join([*result, page[done:]])


def strip_markers(text: str) -> str:
    """Return the translation of a text without syntax, such as a title, as one line without markers."""
    return _SPACE.sub(" ", _MARKER.sub("", text).replace("⟦", "").replace("⟧", "")).strip()


def _split_runs(tokens: Iterator[_SyntaxToken]) -> Iterator[list[_SyntaxToken]]:
    """Yield the tokens between hard ones, without syntax at either end."""
    run: list[_SyntaxToken] = []
    for token in tokens:
        if token.is_hard:
            yield run
            run = []
        elif run or token.is_plain:
            run.append(token)
    yield run


def _has_words(page: str, run: list[_SyntaxToken]) -> bool:
    return any(token.is_plain and _LETTER.search(page, token.start, token.end) for token in run)


def _build_segment(page: str, run: list[_SyntaxToken]) -> Segment:
    while not run[-1].is_plain:
        run.pop()
    pieces: list[tuple[int, int]] = []
    texts: list[str] = []
    at = run[0].start
    for token in run:
        if not token.is_plain:
            pieces.append((at, token.start))
            texts.append(page[at : token.start])
            at = token.end
    last = (at, run[-1].end)
    texts.append(page[slice(*last)])
    text = "".join(f"{piece}⟦{number}⟧" for number, piece in enumerate(texts[:-1])) + texts[-1]
    return Segment(text.strip(), (*pieces, last))


def _split_translation(page: str, segment: Segment, translated: str) -> list[str] | None:
    """The pieces of a page as a translation has them, or None when it has other markers, or words where none were."""
    parts = _MARKER.split(translated)
    texts, numbers = parts[::2], parts[1::2]
    if numbers != [str(number) for number in range(len(segment.pieces) - 1)]:
        return None
    pieces: list[str] = []
    for (start, end), text in zip(segment.pieces, texts, strict=True):
        former = page[start:end]
        bare = former.strip()
        words = _SPACE.sub(" ", text.replace("⟦", "").replace("⟧", "")).strip()
        if bool(words) != bool(bare):
            return None
        same = words == _SPACE.sub(" ", bare)
        pieces.append(former if same else former.replace(bare, _escape_words(page, start, end, words), 1))
    return pieces


def _escape_words(page: str, start: int, end: int, words: str) -> str:
    """Words that stand for a span of a page, such that they are words there."""
    former, escaped = page[start:end].strip(), _SYNTAX.sub(r"\\\g<0>", words)
    # What began or ended the same way before is known to be words there.
    if (begins := _START.match(escaped)) and not _START.match(former):
        sign = begins.end() - 1
        escaped = f"{escaped[:sign]}\\{escaped[sign:]}"
    if page[start - 1 : start] == "]" and escaped[0] in "(:" and former[0] != escaped[0]:
        escaped = f"\\{escaped}"
    if page[end : end + 1] == "[" and escaped[-1] == "!" and former[-1] != "!":
        escaped = f"{escaped[:-1]}\\!"
    return escaped


@dataclass
class _Scanner:
    """The tokens of a page, block by block; `resume` is where what a tag or comment swallowed ends."""

    text: str
    resume: int = 0
    absent: set[str] = field(default_factory=set)
    unclosed: set[str] = field(default_factory=set)
    """Runs of backticks that nothing closes in the block at hand."""
    quotes: int = 0
    """How deep the line at hand is quoted."""

    def __post_init__(self) -> None:
        self.defined = {found[1].casefold() for found in _DEFINED.finditer(self.text)}

    def list_tokens(self) -> Iterator[_SyntaxToken]:
        """Yield every token of the page's prose, with a hard one between blocks."""
        for start, end in find_prose(self.text, len(split_frontmatter(self.text)[0])):
            if self.resume < end:
                yield from self.scan_block(max(start, self.resume), end)
                yield _SyntaxToken(end, end, is_hard=True)

    def scan_block(self, position: int, end: int) -> Iterator[_SyntaxToken]:
        self.unclosed = set()
        position = self.scan_line(position, end)
        while token := _TOKEN.search(self.text, position, end):
            if token.start() > position:
                yield _SyntaxToken(position, token.start(), is_plain=True)
            found = self.scan_syntax(token, end)
            yield found
            position = found.end
        if position < end:
            yield _SyntaxToken(position, end, is_plain=True)

    def scan_line(self, position: int, end: int) -> int:
        """Where the words of a line begin."""
        begins = _PREFIX.match(self.text, position, end)
        self.quotes = begins[0].count(">") if begins else 0
        whole = _WHOLE_LINE.match(self.text, position, end)
        if whole and whole.end() > position:
            return whole.end()
        return begins.end() if begins else position

    def scan_syntax(self, token: re.Match[str], end: int) -> _SyntaxToken:
        """The whole of the syntax that a sign begins."""
        start, after, sign = token.start(), token.end(), token[0]
        if sign.endswith("\n"):
            return self.scan_line_end(start, after, end)
        if sign[0] == "`":
            return _SyntaxToken(start, self.find_code_end(sign, after, end))
        if sign == "<":
            return self.scan_tag(start, end)
        if sign == "{%":
            return self.scan_liquid(start, end)
        if sign in ("{{", "$$"):
            found = (_EXPRESSION if sign == "{{" else _MATH).match(self.text, start, min(end, start + TAG_MAX))
            return _SyntaxToken(start, found.end() if found else after)
        if sign in ("[", "!["):
            return _SyntaxToken(start, self.find_reference_end(start, after, end))
        if sign == "]":
            return _SyntaxToken(start, self.find_link_end(after, end))
        return _SyntaxToken(start, after, is_hard="|" in sign)

    def find_code_end(self, sign: str, position: int, end: int) -> int:
        """Where a code span ends that a run of backticks opens; just behind the run when nothing closes it."""
        at = -1 if sign in self.unclosed else self.text.find(sign, position, end)
        while at >= 0:
            close = _find_run_end(self.text, at, end)
            if close - at == len(sign):
                return close
            at = self.text.find(sign, close, end)
        self.unclosed.add(sign)
        return position

    def scan_line_end(self, start: int, after: int, end: int) -> _SyntaxToken:
        """The end of a line, with what begins the next one; soft within a paragraph, also of a quote."""
        quotes, words = self.quotes, self.scan_line(after, end)
        spaced = _SPACED.match(self.text, after, end)
        begins = words if spaced is not None and spaced.end() == words and self.quotes == quotes else end
        soft = begins < end and self.text[words] not in "|\r\n"
        return _SyntaxToken(start, words, is_hard=not soft)

    def find_reference_end(self, start: int, after: int, end: int) -> int:
        """Where a footnote's sign ends, or a reference whose words are its name; just behind a bracket of any other."""
        if note := _FOOTNOTE.match(self.text, start, end):
            return note.end()
        named = _REFERENCE.match(self.text, after - 1, end) if self.defined else None
        if named is None or named[0][1:-1].casefold() not in self.defined:
            return after
        follows = self.text[named.end() : min(named.end() + 2, end)]
        return after if follows[:1] == "(" or (follows[:1] == "[" and follows != "[]") else named.end()

    def find_link_end(self, position: int, end: int) -> int:
        """Where a link ends whose text ended just before."""
        if self.text.startswith("(", position) and (found := parse_destination(self.text, position + 1, end)):
            return found.link_end
        reference = _REFERENCE.match(self.text, position, end)
        return reference.end() if reference else position

    def scan_tag(self, start: int, end: int) -> _SyntaxToken:
        text, bound = self.text, min(end, start + TAG_MAX)
        if text.startswith("<!--", start):
            return _SyntaxToken(start, min(self.skip_to("-->", start + 4), end), is_hard=True)
        found = _TAG.match(text, start, bound)
        if found is None:
            return _SyntaxToken(start, start + 1)
        name = (found[1] or "").lower()
        close = found.end()
        if name in _SILENT_TAGS and text[start + 1] != "/":
            close = self.skip_to(f"</{found[1]}>", close)
        return _SyntaxToken(start, min(close, end), is_hard=bool(name) and name not in _INLINE_TAGS)

    def scan_liquid(self, start: int, end: int) -> _SyntaxToken:
        found = _LIQUID.match(self.text, start, min(end, start + TAG_MAX))
        if found is None:
            return _SyntaxToken(start, start + 2)
        close = found.end()
        if found[1] in _SILENT_BLOCKS:
            close = self.skip_to(f"{{% end{found[1]} %}}", close)
        return _SyntaxToken(start, min(close, end), is_hard=True)

    def skip_to(self, closing: str, start: int) -> int:
        """Where something ends that is no prose, also beyond its block; one that does not end is not skipped."""
        at = -1 if closing in self.absent else self.text.find(closing, start)
        if at < 0:
            self.absent.add(closing)
            return start
        self.resume = at + len(closing)
        return self.resume


def _find_run_end(text: str, start: int, end: int) -> int:
    while start < end and text[start] == "`":
        start += 1
    return start
