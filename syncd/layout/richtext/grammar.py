"""The grammar of a page: CommonMark with tables, strike-through and tasks, and what the platform adds to it."""

import re
from collections.abc import Iterator
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.common.utils import mdTrim
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block.html_block import HTML_SEQUENCES, html_block
from markdown_it.rules_block.reference import reference
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from syncd.layout.richtext.nodes import BLOCK_DEPTH_MAX
from syncd.layout.richtext.plain_page import COLUMNS_MAX, NODES_MAX, TooLarge
from syncd.layout.richtext.tag_lines import count_tag_lines, find_unknown_ends, is_known, parse_tag_name

EMOJI = re.compile(r":([+-]?[a-z0-9]++(?:[_+-][a-z0-9]++)*+):")
"""An emoji by its name; what stands before it may not be part of a word."""
MATH = re.compile(r"\$\$([^$\n]{1,2000})\$\$(?!\$)")
"""A formula in a line of text."""
BRACKETS_MAX = 10_000
"""Brackets of a page that may start a link; each costs a search for its end, and whoever has more means none."""

SPACE = "&#x20;"
"""The space before a paragraph, or a heading that is underlined, whose first tag would else make it HTML."""
_SPACES = re.compile(rf"\A(?:{SPACE})++")

_INTERRUPTS = ["paragraph", "reference", "blockquote", "list"]

_CLOSED = HTML_SEQUENCES[:5]
"""Kinds of HTML block that end where a sign says so; the others end at a blank line."""

_LEVELS_ABOVE = 5
_SIGNS = tuple("\n*_[]`<&!~$:\\")
"""What stands at the beginning of a token in a line."""
_CODE = ("fence", "code_block", "html_block", "math_block")
"""Tokens that hold lines as they are."""
_RULE = re.compile(r"[-:| \t>]++")
"""The line below the header of a table, perhaps in a quote."""


@cache
def build_parser() -> MarkdownIt:
    """Return the parser of pages. It keeps no state between pages."""
    options = {"maxNesting": BLOCK_DEPTH_MAX + _LEVELS_ABOVE, "tasklists": True, "inline_definitions": True}
    made = _Grammar("commonmark", options).enable(["table", "strikethrough"]).disable("text_join")
    block, inline = made.block.ruler, made.inline.ruler
    block.before("table", "bound", _check_limits, {"alt": _INTERRUPTS})
    block.before("table", "deep", _flatten_deep_blocks)
    block.before("table", "tag", _parse_tag, {"alt": _INTERRUPTS})
    block.before("table", "math_block", _parse_math_block)
    block.at("html_block", _parse_html_block, {"alt": ["paragraph", "reference", "blockquote"]})
    block.at("reference", _parse_reference)
    made.core.ruler.at("inline", _parse_inlines)
    inline.before("escape", "math", _parse_math)
    inline.before("escape", "emoji", _parse_emoji)
    return made


@cache
def _build_plain_parser() -> MarkdownIt:
    """The parser of lines that hold too many brackets: escapes and entities, and nothing else."""
    return MarkdownIt("zero").enable(["newline", "escape", "entity"])


def parse_markdown(markdown: str) -> list[Token]:
    """Return the tokens of a page. Raises: TooLarge when they exceed the bounds of a page."""
    return build_parser().parse(markdown)


def classify_html(html: str, *, interrupting: bool = False) -> str | None:
    """Return `closed` for an HTML block that ends at its own sign, `open` at a blank line, None when it is none.

    Shape: with `interrupting` only blocks count that may stand directly behind text.
    """
    first = html.lstrip(" \t").partition("\n")[0]
    for opening, closing, interrupts in HTML_SEQUENCES:
        if opening.search(first) and (interrupts or not interrupting):
            return "closed" if closing.search("") is None else "open"
    return None


def needs_space(text: str) -> bool:
    """Return whether the Markdown of a paragraph begins with HTML, behind nothing or spaces such as `SPACE`.

    Shape: a paragraph whose words begin with spaces has one more than they are, so that reading can take one away.
    """
    return classify_html(_SPACES.sub("", text)) is not None


def has_early_end(html: str) -> bool:
    """Return whether the closing sign of an HTML block comes before its last line."""
    lines = html.lstrip(" \t").split("\n")
    closing = next((closing for opening, closing, _ in _CLOSED if opening.search(lines[0])), None)
    return closing is not None and any(closing.search(line) for line in lines[:-1])


class _Grammar(MarkdownIt):
    """Addresses stay as written; which of them may be a link is decided as ever."""

    def normalizeLink(self, url: str) -> str:
        return url

    def validateLink(self, url: str) -> bool:
        # Only a scheme makes an address none, and most addresses of a page have none.
        return ":" not in url or super().validateLink(super().normalizeLink(url))


def _read_line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].rstrip(" \t")


def _check_limits(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """No block at all: it stops at a page that has too many, or a table that has too many columns."""
    if len(state.tokens) > NODES_MAX:
        raise TooLarge
    if not silent and start + 1 < end:
        begins, ends = state.bMarks[start + 1], state.eMarks[start + 1]
        if state.src.count("|", begins, ends) > COLUMNS_MAX + 1 and _RULE.fullmatch(state.src, begins, ends):
            raise TooLarge
    return False


def _flatten_deep_blocks(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """What is nested too deep: all that is left of its container is plain paragraphs."""
    if silent or state.level < BLOCK_DEPTH_MAX:
        return False
    line = start
    while line < end and not state.isEmpty(line) and (line == start or state.sCount[line] >= state.blkIndent):
        line += 1
    state.push("paragraph_open", "p", 1).map = [start, line]
    text = _push_token(state, "inline", start, line)
    text.content, text.children = mdTrim(text.content), []
    state.push("paragraph_close", "p", -1)
    return True


def _parse_tag(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A line that is a tag, `{% … %}`; a tag over several lines; an unknown tag with all up to its end."""
    place = state.bMarks[start] + state.tShift[start]
    if not state.src.startswith("{%", place) or state.is_code_block(start):
        return False
    lines = count_tag_lines(_read_lines(state, start, end))
    if not lines or silent:
        return lines > 0
    name = parse_tag_name(_read_line(state, start))
    until = -1 if is_known(name) else _find_unknown_end(state, start, end)
    token = _push_token(state, "tag", start, max(start + lines, until + 1))
    token.content = token.content.strip(" \t")
    token.meta = {"name": "" if until >= 0 else name}
    return True


def _read_lines(state: StateBlock, start: int, end: int) -> Iterator[str]:
    """The lines of this container, from one on; a line before its indentation is asked for a container around it."""
    indent = min(state.blkIndent, state.sCount[start])
    for line in range(start, end):
        if line > start and state.sCount[line] < indent and not state.isEmpty(line):
            return
        yield _read_line(state, line)


def _find_unknown_end(state: StateBlock, start: int, end: int) -> int:
    """The line that ends the unknown block whose tag stands here, in the same container; else -1."""
    if "syncd_ends" not in state.env:
        state.env["syncd_ends"] = find_unknown_ends(state.src)
    last: int = state.env["syncd_ends"].get(start, -1)
    if not start < last < end or not _read_line(state, last).startswith("{%"):
        return -1
    inside = (state.isEmpty(line) or state.sCount[line] >= state.blkIndent for line in range(start, last + 1))
    return last if all(inside) else -1


def _parse_math_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A formula between two lines `$$`; a blank line ends nothing but the attempt."""
    if silent or _read_line(state, start) != "$$" or state.is_code_block(start):
        return False
    for line in range(start + 1, end):
        text = _read_line(state, line)
        if not text or state.sCount[line] < state.blkIndent:
            return False
        if text == "$$" and not state.is_code_block(line):
            token = _push_token(state, "math_block", start, line + 1)
            token.content = state.getLines(start + 1, line, state.blkIndent, False)
            return True
    return False


def _parse_html_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """An HTML block as ever, but a tag on a line of its own ends one that else only a blank line would end."""
    if not state.src.startswith("<", state.bMarks[start] + state.tShift[start]):
        return False
    if not silent and classify_html(_read_line(state, start)) == "open":
        for line in range(start + 1, end):
            if state.isEmpty(line) or state.sCount[line] < state.blkIndent:
                break
            if _parse_tag(state, line, end, True):
                end = line
                break
    return html_block(state, start, end, silent)


def _parse_reference(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A definition as ever, but `[^1]:` is a note of the platform and stays text."""
    if state.src.startswith("[^", state.bMarks[start] + state.tShift[start]):
        return False
    return reference(state, start, end, silent)


def _parse_inlines(state: StateCore) -> None:
    """Parse what stands in each line; behind too many brackets lines are plain text."""
    left, nodes = BRACKETS_MAX, len(state.tokens)
    for token in state.tokens:
        if token.type in _CODE:
            nodes += token.content.count("\n")
        if token.type == "html_block":
            nodes += token.content.count("<")
        if token.type == "inline" and token.children is not None:
            # Before it is parsed: a paragraph may be all there is on a page.
            room = NODES_MAX - nodes
            if len(token.content) > room and sum(map(token.content.count, _SIGNS)) > room:
                raise TooLarge
            left -= token.content.count("[") - token.content.count("\\[")
            parser = state.md if left >= 0 else _build_plain_parser()
            parser.inline.parse(token.content, parser, state.env, token.children)
            nodes += len(token.children)
    if nodes > NODES_MAX:
        raise TooLarge


def _push_token(state: StateBlock, type: str, start: int, end: int) -> Token:
    token = state.push(type, "", 0)
    token.map = [start, end]
    token.content = state.getLines(start, end, state.blkIndent, False)
    state.line = end
    return token


def _parse_math(state: StateInline, silent: bool) -> bool:
    return _parse_pattern(state, silent, "math", MATH)


def _parse_emoji(state: StateInline, silent: bool) -> bool:
    before = state.src[state.pos - 1] if state.pos else " "
    return not before.isalnum() and _parse_pattern(state, silent, "emoji", EMOJI)


def _parse_pattern(state: StateInline, silent: bool, type: str, pattern: re.Pattern[str]) -> bool:
    found = pattern.match(state.src, state.pos, state.posMax) if state.src[state.pos] in "$:" else None
    if found is None:
        return False
    if not silent:
        state.push(type, "", 0).content = found[1]
    state.pos = found.end()
    return True
