"""Addresses in Markdown: where they stand, what file they mean, and how they change when a file moves."""

import html
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from posixpath import dirname, join, relpath
from urllib.parse import unquote

from syncd.errors import FileInvalid
from syncd.layout.markdown.blocks import prose
from syncd.layout.markdown.inline import Destination, bare_or_angled, destination, spell
from syncd.layout.page.frontmatter import split
from syncd.layout.yaml import yaml

TAG_CHARACTERS = 4096
"""A tag longer than this holds no address that we look for; the bound keeps hostile text linear."""

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
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|[/\\#?]|$")
_ROOTED = re.compile(r"/(?![/\\])")
_SUFFIX = re.compile("[#?]")
_ENCODED = re.compile(r"[#?\\<>\x00-\x1f\x7f]|%(?=[0-9A-Fa-f]{2})")


@dataclass(frozen=True)
class Target:
    """An address and its span in the text; `text` has escapes and entities resolved."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class _Place:
    """A target with how to write another in its place: `start:end` must go, brackets and quotes included."""

    target: Target
    start: int
    end: int
    write: Callable[[str], str]


def targets(text: str) -> Iterator[Target]:
    """Given a page, return every address in it, in order: links, images, definitions, HTML, blocks and the cover.

    Code, in fences, by indentation, in backticks or in HTML, is skipped. Linear time for any text.
    """
    return (place.target for place in _places(text))


def rewrite(text: str, replace: Callable[[str], str | None]) -> str:
    """Given a page and a function from an address to a new one or None, return the page; all else byte for byte."""
    pieces: list[str] = []
    done = 0
    for place in _places(text):
        address = replace(place.target.text)
        if address is not None and address != place.target.text:
            pieces += [text[done : place.start], place.write(address)]
            done = place.end
    return "".join([*pieces, text[done:]]) if pieces else text


def resolve(address: str, *, at: str, root: str | None = None) -> tuple[str, str] | None:
    """Given an address as seen from a file, return the path that it means and its `#anchor` or "".

    Shapes: the path is below the root, percent-decoded, "" for the root itself; a `?query` stays with the anchor.
    None for absolute URLs, bare anchors and paths that leave the root. With `root`, a directory or "", an address that
    starts with one slash is taken from there; without it, it is absolute too.
    """
    if root is not None and _ROOTED.match(address):
        address, at = address[1:], f"{root.rstrip('/')}/" if root else ""
    if _ABSOLUTE.match(address):
        return None
    pathname = _SUFFIX.split(address, maxsplit=1)[0]
    path: list[str] = dirname(at).split("/") if "/" in at else []
    for segment in unquote(pathname).split("/"):
        if segment == "..":
            if not path:
                return None
            path.pop()
        elif segment not in ("", "."):
            path.append(segment)
    return "/".join(path), address[len(pathname) :]


def relative(path: str, *, at: str) -> str:
    """Given a path below the root, return its address as seen from a file; `resolve` is the way back."""
    here = dirname(at)
    seen = relpath(join("/", path), join("/", here)) if here else path
    seen = _ENCODED.sub(lambda sign: f"%{ord(sign[0]):02X}", seen)
    return f"./{seen}" if _ABSOLUTE.match(seen) else seen


def follow(text: str, moves: Mapping[str, str], *, at: str, to: str) -> str:
    """Given a page that goes from one path to another, and where other files went, return it with the same links.

    Shapes: a relative address leads to the same file as before, wherever that is now; a file may also be named without
    `.md` or by its folder. All else stays byte for byte.
    """

    def followed(address: str) -> str | None:
        found = resolve(address, at=at)
        if found is None:
            return None
        path, suffix = found
        names = (name for name in (path, f"{path}.md", f"{path}/README.md") if name in moves)
        target = moves.get(next(names, path), path)
        if resolve(address, at=to) == (target, suffix):
            return None
        return (relative(target, at=to) if target or "/" in to else "./") + suffix

    return rewrite(text, followed) if moves or at != to else text


def _places(text: str) -> Iterator[_Place]:
    block = split(text)[0]
    if block and (found := _COVER.search(block)):
        yield from _cover(found)
    yield from _Scanner(text).places(len(block))


def _cover(found: re.Match[str]) -> Iterator[_Place]:
    """The cover's address, where it is one scalar on one line or folded below its key."""
    raw = found["folded"] or found["line"]
    start = found.start("line")
    end = found.end("folded") if found["folded"] else start + len(_without_comment(raw))
    try:
        address = yaml.load(found.string[start:end], at="cover")
    except FileInvalid:
        return
    if isinstance(address, str) and address:
        yield _Place(Target(start, end, address), start, end, yaml.scalar)


def _without_comment(raw: str) -> str:
    if raw[:1] in ("'", '"'):
        return raw[: raw.rfind(raw[0]) + 1]
    return raw.partition(" #")[0].rstrip(" \t\r")


class _Scanner:
    """Inline Markdown, one block at a time; `resume` is where text that a tag or comment swallowed ends."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.resume = 0
        self.absent: set[str] = set()

    def places(self, body: int) -> Iterator[_Place]:
        for start, end in prose(self.text, body):
            if self.resume < end:
                yield from self.block(max(start, self.resume), end)

    def block(self, position: int, end: int) -> Iterator[_Place]:
        text, depth = self.text, 0
        runs = _Runs(text, position, end)
        if definition := _DEFINITION.match(text, position, end):
            found = bare_or_angled(text, definition.end(), end)
            if found and found.text:
                yield _markdown(found)
                position = found.end
        while token := _TOKEN.search(text, position, end):
            sign, position = token[0], token.end()
            if sign[0] == "`":
                position = runs.after(token.start(), position)
            elif sign == "[":
                depth += 1
            elif sign == "]" and depth:
                depth -= 1
                if text.startswith("(", position) and (found := destination(text, position + 1, end)):
                    position = found.close
                    if found.text:
                        yield _markdown(found)
            elif sign in ("<", "{%"):
                yield from self.tag(token.start(), end)
                position = max(position, self.resume)

    def tag(self, start: int, end: int) -> Iterator[_Place]:
        """The addresses of an HTML tag or a block of the platform; `resume` is set behind it."""
        text, bound = self.text, min(end, start + TAG_CHARACTERS)
        if text.startswith("<!--", start):
            self.skip("-->", start + 4)
        elif html_tag := _TAG.match(text, start, bound):
            self.resume = html_tag.end()
            for found in _ATTRIBUTE.finditer(text, start, html_tag.end()):
                yield from _attribute(found, html.unescape, _as_attribute)
            if html_tag[1].lower() in _CODE_TAGS:
                self.skip(f"</{html_tag[1]}", html_tag.end())
        elif liquid := _LIQUID.match(text, start, bound):
            self.resume = liquid.end()
            if liquid[1] in _LIQUID_TAGS:
                for found in _LIQUID_ADDRESS.finditer(text, start, liquid.end()):
                    yield from _attribute(found, str, _as_liquid)

    def skip(self, closing: str, start: int) -> None:
        """Resume behind a closing sign; one that was not found once is never searched again."""
        at = -1 if closing in self.absent else self.text.find(closing, start)
        if at < 0:
            self.absent.add(closing)
        else:
            self.resume = at + len(closing)


class _Runs:
    """Runs of backticks in a block: which one closes the code span that another opens. Linear over the whole block."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self.span = (text, start, end)
        self.starts: dict[int, deque[int]] | None = None

    def after(self, start: int, end: int) -> int:
        """Where the code span that this run opens ends; the end of the run itself when nothing closes it."""
        if self.starts is None:
            self.starts = {}
            for run in _RUN.finditer(*self.span):
                self.starts.setdefault(len(run[0]), deque()).append(run.start())
        length = end - start
        closers = self.starts.get(length, deque())
        while closers and closers[0] < end:
            closers.popleft()
        return closers.popleft() + length if closers else end


def _markdown(found: Destination) -> _Place:
    inset = 1 if found.angled else 0
    return _Place(Target(found.start + inset, found.end - inset, found.text), found.start, found.end, spell)


def _attribute(found: re.Match[str], read: Callable[[str], str], write: Callable[[str], str]) -> Iterator[_Place]:
    group = 1 if found[1] is not None else 2
    start, end = found.span(group)
    # A `srcset` may list several images with their sizes; one alone is an address.
    if found[group] and not (" " in found[group] and "srcset" in found[0][:8].lower()):
        yield _Place(Target(start, end, read(found[group])), start, end, write)


def _as_attribute(address: str) -> str:
    return html.escape(address, quote=True)


def _as_liquid(address: str) -> str:
    return address.replace('"', "%22").replace("%}", "%25}").replace("\n", "%0A")
