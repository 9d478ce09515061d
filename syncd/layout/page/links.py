"""Find, resolve and rewrite addresses in Markdown."""

import html
import re
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from syncd.errors import FileInvalid
from syncd.layout.markdown.addresses import make_relative, resolve_address
from syncd.layout.markdown.blocks import find_prose
from syncd.layout.markdown.inline import Destination, format_address, parse_address, parse_destination
from syncd.layout.page.frontmatter import split_frontmatter
from syncd.layout.yaml import yaml

TAG_CHARACTERS = 4096
"""A tag longer than this holds no address that we look for; the bound keeps hostile text linear."""

_NAMES_MAX = 32
"""Names that are looked for in a text before its links are taken apart; with more, every text is."""

_LETTERS = re.compile("[A-Za-z0-9]+")
_TOKEN = re.compile(r"\\[!-/:-@\[-`{-~]|`++|[\[\]<]|\{%")
_RUN = re.compile(r"`++")
_DEFINITION = re.compile(r" {0,3}\[(?!\^)(?:[^\[\]\\\n]|\\.){1,999}\]:[ \t]*+(?=[^\n\r])")
_TAG = re.compile(r"""<([A-Za-z][A-Za-z0-9-]*+)(?:[^<>"']|"[^"]*"|'[^']*')*+>""")
_LIQUID = re.compile(r"""\{%[ \t]*+([a-z-]++)(?:[^%"\n{]|\{(?!%)|"(?:[^"\n{]|\{(?!%))*+"|%(?!\}))*+%\}""")
_ATTRIBUTE = re.compile(r"""\s(?:src|href|srcset)\s*+=\s*+(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)
_LIQUID_ADDRESS = re.compile(r'(?:[ \t](?:src|url)=|include[ \t]++)"([^"\n]*)"')
_LIQUID_TAGS = frozenset({"file", "embed", "content-ref", "include", "openapi", "swagger"})
_CODE_TAGS = frozenset({"pre", "code", "script", "style"})
_COVER = re.compile(r"^cover:[ \t]++(?P<line>[^\r\n]++)(?P<folded>(?<=[>|-])(?:\r?\n  [^\r\n]++)+)?", re.MULTILINE)


@dataclass(frozen=True)
class Target:
    """An address and its span in the text; `text` has escapes and entities resolved."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class _Occurrence:
    """An address in a text with how to write another one there.

    Shape: `start:end` is the span to replace, brackets and quotes included.
    """

    target: Target
    start: int
    end: int
    write: Callable[[str], str]


def find_targets(text: str) -> Iterator[Target]:
    """Yield every address of a page, in order: links, images, definitions, HTML, blocks and the cover.

    Code, in fences, by indentation, in backticks or in HTML, is skipped. Linear time for any text.
    """
    return (occurrence.target for occurrence in _find_occurrences(text))


def rewrite_addresses(text: str, replace: Callable[[str], str | None]) -> str:
    """Return the page with each address for which a function returns a new one replaced; all else byte for byte."""
    pieces: list[str] = []
    done = 0
    for occurrence in _find_occurrences(text):
        address = replace(occurrence.target.text)
        if address is not None and address != occurrence.target.text:
            pieces += [text[done : occurrence.start], occurrence.write(address)]
            done = occurrence.end
    return "".join([*pieces, text[done:]]) if pieces else text


def follow_moves(text: str, moves: Mapping[str, str], *, at: str, to: str) -> str:
    """Return a page that moves from one path to another with links that still lead to the same files.

    Shape: `moves` are the new paths of other files. A relative address leads to the same file as before, wherever that
    is now; a file may also be named without `.md` or by its folder. All else stays byte for byte.
    """

    def follow(address: str) -> str | None:
        found = resolve_address(address, at=at)
        if found is None:
            return None
        path, suffix = found
        names = (name for name in (path, f"{path}.md", f"{path}/README.md") if name in moves)
        target = moves.get(next(names, path), path)
        if resolve_address(address, at=to) == (target, suffix):
            return None
        return (make_relative(target, at=to) if target or "/" in to else "./") + suffix

    return rewrite_addresses(text, follow) if moves or at != to else text


def find_page_name(path: str) -> str:
    """Return what all spellings of a page's path end with: `x`, `x.md`, `x/` and `x/README.md` are one page."""
    return path.rstrip("/").removesuffix("/README.md").rpartition("/")[2].removesuffix(".md")


def build_target_filter(paths: Collection[str]) -> Callable[[bytes], bool]:
    """Return a function that says of a page whether it may have a link to one of some files; it never misses one.

    Shape: a word of each file's name is looked for, which is much faster than to find every address.
    """
    if len(paths) > _NAMES_MAX:
        return lambda body: True
    # Other signs may be written in several ways.
    words = [max(_LETTERS.findall(find_page_name(path)), key=len, default="").encode() for path in paths]
    return lambda body: any(word in body for word in words)


def _find_occurrences(text: str) -> Iterator[_Occurrence]:
    block = split_frontmatter(text)[0]
    if block and (found := _COVER.search(block)):
        yield from _find_cover(found)
    yield from _LinkScanner(text).find_all(len(block))


def _find_cover(found: re.Match[str]) -> Iterator[_Occurrence]:
    """Yield the cover's address, where it is one scalar on one line or folded below its key."""
    raw = found["folded"] or found["line"]
    start = found.start("line")
    end = found.end("folded") if found["folded"] else start + len(_strip_comment(raw))
    try:
        address = yaml.load(found.string[start:end], at="cover")
    except FileInvalid:
        return
    if isinstance(address, str) and address:
        yield _Occurrence(Target(start, end, address), start, end, yaml.dump_scalar)


def _strip_comment(raw: str) -> str:
    if raw[:1] in ("'", '"'):
        return raw[: raw.rfind(raw[0]) + 1]
    return raw.partition(" #")[0].rstrip(" \t\r")


class _LinkScanner:
    """Scans inline Markdown one block at a time; `resume` is where the text inside a tag or comment ends."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.resume = 0
        self.absent: set[str] = set()

    def find_all(self, body: int) -> Iterator[_Occurrence]:
        for start, end in find_prose(self.text, body):
            if self.resume < end:
                yield from self.scan_block(max(start, self.resume), end)

    def scan_block(self, position: int, end: int) -> Iterator[_Occurrence]:
        text, depth = self.text, 0
        runs = _BacktickRuns(text, position, end)
        if definition := _DEFINITION.match(text, position, end):
            found = parse_address(text, definition.end(), end)
            if found and found.text:
                yield _locate_destination(found)
                position = found.end
        while token := _TOKEN.search(text, position, end):
            sign, position = token[0], token.end()
            if sign[0] == "`":
                position = runs.find_end(token.start(), position)
            elif sign == "[":
                depth += 1
            elif sign == "]" and depth:
                depth -= 1
                if text.startswith("(", position) and (found := parse_destination(text, position + 1, end)):
                    position = found.link_end
                    if found.text:
                        yield _locate_destination(found)
            elif sign in ("<", "{%"):
                yield from self.scan_tag(token.start(), end)
                position = max(position, self.resume)

    def scan_tag(self, start: int, end: int) -> Iterator[_Occurrence]:
        """Yield the addresses of an HTML tag or a block of the platform, and set `resume` behind it."""
        text, bound = self.text, min(end, start + TAG_CHARACTERS)
        if text.startswith("<!--", start):
            self.skip_past("-->", start + 4)
        elif html_tag := _TAG.match(text, start, bound):
            self.resume = html_tag.end()
            for found in _ATTRIBUTE.finditer(text, start, html_tag.end()):
                yield from _locate_attribute(found, html.unescape, _escape_html_attribute)
            if html_tag[1].lower() in _CODE_TAGS:
                self.skip_past(f"</{html_tag[1]}", html_tag.end())
        elif liquid := _LIQUID.match(text, start, bound):
            self.resume = liquid.end()
            if liquid[1] in _LIQUID_TAGS:
                for found in _LIQUID_ADDRESS.finditer(text, start, liquid.end()):
                    yield from _locate_attribute(found, str, _escape_liquid)

    def skip_past(self, closing: str, start: int) -> None:
        """Resume behind a closing sign; one that was not found once is never searched again."""
        at = -1 if closing in self.absent else self.text.find(closing, start)
        if at < 0:
            self.absent.add(closing)
        else:
            self.resume = at + len(closing)


class _BacktickRuns:
    """Finds for a run of backticks in a block the run that closes its code span. Linear over the whole block."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self.span = (text, start, end)
        self.starts: dict[int, deque[int]] | None = None

    def find_end(self, start: int, end: int) -> int:
        """Return where the code span that a run opens ends; the end of the run itself when nothing closes it."""
        if self.starts is None:
            self.starts = {}
            for run in _RUN.finditer(*self.span):
                self.starts.setdefault(len(run[0]), deque()).append(run.start())
        length = end - start
        closers = self.starts.get(length, deque())
        while closers and closers[0] < end:
            closers.popleft()
        return closers.popleft() + length if closers else end


def _locate_destination(found: Destination) -> _Occurrence:
    inset = 1 if found.is_angled else 0
    return _Occurrence(
        Target(found.start + inset, found.end - inset, found.text), found.start, found.end, format_address
    )


def _locate_attribute(
    found: re.Match[str], read: Callable[[str], str], write: Callable[[str], str]
) -> Iterator[_Occurrence]:
    group = 1 if found[1] is not None else 2
    start, end = found.span(group)
    # A `srcset` may list several images with their sizes; one alone is an address.
    if found[group] and not (" " in found[group] and "srcset" in found[0][:8].lower()):
        yield _Occurrence(Target(start, end, read(found[group])), start, end, write)


def _escape_html_attribute(address: str) -> str:
    return html.escape(address, quote=True)


def _escape_liquid(address: str) -> str:
    return address.replace('"', "%22").replace("%}", "%25}").replace("\n", "%0A")
