"""SUMMARY.md: the table of contents as text and as entries."""

import html
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal, TypeVar

from syncd.errors import FileInvalid
from syncd.layout.markdown.blocks import BREAK
from syncd.layout.markdown.inline import (
    Destination,
    escape_backslashes,
    escape_closing,
    format_address,
    parse_destination,
    parse_heading,
    unescape,
)
from syncd.layout.tree.skipped import SkippedPart
from syncd.model.text import clean_title, quote_name

Node = TypeVar("Node")

TITLE = "# Table of contents"
PARSED_MAX = 4
"""Tables of contents that are remembered with their entries."""

_BULLET = re.compile(r"([ \t]*+)[*+-](?:[ \t]++|$)")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]|$)")
_PAGE = re.compile(r"\[([^\[\]\\]+)\]\(([A-Za-z0-9_-](?:[A-Za-z0-9_/-]|\.(?!\.))*\.md)\)")
"""What nearly all entries are: a link to a page below, in which nothing is escaped."""
_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*+(.*)")
_BACKTICKS = re.compile(r"`{3,}")
_BRACKET = re.compile(r"\\.|[\[\]]")
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|[/#]")
_MARKDOWN = re.compile(r".*\.(?:md|markdown)", re.IGNORECASE | re.DOTALL)
_ROOTED_PAGE = re.compile(r"/(?![/.]).*\.(?:md|markdown)", re.IGNORECASE | re.DOTALL)
_ESCAPE = re.compile(r"\\.")


@dataclass(frozen=True)
class Entry:
    """One line of the table of contents and the entries below it; `path` and `target` are as written, escapes
    resolved."""

    kind: Literal["document", "group", "link", "computed"]
    title: str
    path: str | None = None
    anchor: str | None = None
    slug: str | None = None
    link_title: str | None = None
    target: str | None = None
    computed: str | None = None
    children: tuple["Entry", ...] = ()
    line: int = field(default=0, compare=False)


def parse_summary(text: str, *, at: str = "SUMMARY.md", skipped: list[SkippedPart] | None = None) -> tuple[Entry, ...]:
    """Return the entries of SUMMARY.md.

    Shape: a heading below the title is a group with the entries up to the next heading or thematic break; a bullet
    without a link is a group inside a list, which keeps trees that headings cannot express. A page from the root,
    `/x.md`, is one in the folder of SUMMARY.md. An entry that leads out of the space is left out and added to
    `skipped`; the entries below it take its place. Raises: FileInvalid at the first line that cannot be kept. Source:
    syncd/manual/reference/layout.md, "SUMMARY.md".
    """
    entries, found = _parse_cached(text, at)
    if skipped is not None:
        skipped += found
    return entries


@lru_cache(maxsize=PARSED_MAX)
def _parse_cached(text: str, at: str) -> tuple[tuple[Entry, ...], tuple[SkippedPart, ...]]:
    """Parse with a small cache: one run reads the same few tables of contents many times, and a large one takes
    long."""
    reader = _SummaryReader(text, at)
    return reader.read(), tuple(reader.skipped)


def render_summary(entries: Iterable[Entry]) -> str:
    """Return SUMMARY.md in canonical form: `*` bullets, two spaces a level, LF, one newline at the end."""
    lines = [TITLE]
    grouped, listed = False, False
    for entry in entries:
        if entry.kind == "group":
            lines += ["", f"## {_render_group(entry)}".rstrip(" ")]
            grouped, listed = True, False
            pending = [(child, 0) for child in reversed(entry.children)]
        else:
            if grouped:
                lines += ["", "***"]
            listed = listed and not grouped
            grouped, pending = False, [(entry, 0)]
        if pending and not listed:
            lines.append("")
            listed = True
        lines += _render_bullets(pending)
    return "\n".join(lines) + "\n"


def is_safe_target(address: str, *, at: str) -> bool:
    """Return whether SUMMARY.md at a path can name the address of a link page without it being read as a page."""
    path = address.partition("#")[0]
    if _ROOTED_PAGE.fullmatch(path):
        return False
    return bool(_ABSOLUTE.match(address)) or not (_leads_out(at, path) or _MARKDOWN.fullmatch(path))


def walk_entries(entries: Iterable[Entry]) -> Iterator[tuple[Entry, Entry | None]]:
    """Yield each entry with its parent, parents first, in reading order; any depth."""
    pending: list[tuple[Entry, Entry | None]] = [(entry, None) for entry in reversed(tuple(entries))]
    while pending:
        entry, parent = pending.pop()
        yield entry, parent
        pending.extend((child, entry) for child in reversed(entry.children))


def transform_entries(entries: Iterable[Entry], change: Callable[[Entry], Entry]) -> tuple[Entry, ...]:
    """Return the tree with each entry changed by a function; any depth.

    Shape: children first; the function sees an entry with its new children.
    """
    return assemble_entries(
        tuple(entries), lambda entry: entry.children, lambda entry, below: change(_add_children(entry, below))
    )


def assemble_entries(
    tops: Sequence[Node], below: Callable[[Node], Sequence[Node]], build: Callable[[Node, tuple[Entry, ...]], Entry]
) -> tuple[Entry, ...]:
    """Return the entries that `build` makes of each node of any tree and of the entries below it; without recursion."""
    order: list[tuple[Node, int]] = []
    pending = list(tops)
    while pending:
        node = pending.pop()
        children = below(node)
        order.append((node, len(children)))
        pending += children
    # Read backwards, a node comes right after what is below it, so its children lie on top of the stack.
    done: list[Entry] = []
    for node, count in reversed(order):
        entries: tuple[Entry, ...] = ()
        if count:
            entries = tuple(done[-count:])
            del done[-count:]
        done.append(build(node, entries))
    return tuple(done)


def select_entries(entries: Iterable[Entry], is_kept: Callable[[Entry], bool]) -> tuple[Entry, ...]:
    """Return the tree without the entries that are not kept, and without all below them; any depth."""
    kept = [entry for entry in entries if is_kept(entry)]
    return assemble_entries(
        kept,
        lambda entry: [child for child in entry.children if is_kept(child)],
        lambda entry, below: replace(entry, children=below),
    )


@dataclass
class _OpenEntry:
    """An entry that can still get children."""

    entry: Entry
    indent: int
    children: list["_OpenEntry"] = field(default_factory=list)


class _SummaryReader:
    """One pass over the lines; `open` are the entries that the next bullet may be a child of, outermost first."""

    def __init__(self, text: str, at: str) -> None:
        self.lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self.at = at
        self.skipped: list[SkippedPart] = []
        self.number = 0
        self.titled = False
        self.top: list[_OpenEntry] = []
        self.group: _OpenEntry | None = None
        self.open: list[_OpenEntry] = []

    def read(self) -> tuple[Entry, ...]:
        while self.number < len(self.lines):
            line = self.lines[self.number]
            self.number += 1
            if not line or line.isspace():
                continue
            if BREAK.match(line):
                self.group, self.open = None, []
            elif heading := _HEADING.match(line):
                self.heading(line, heading)
            elif bullet := _BULLET.match(line):
                self.bullet(line, bullet)
            else:
                raise self.invalid("is neither a heading nor a list entry", line)
        return assemble_entries(
            self.top, lambda node: node.children, lambda node, below: _add_children(node.entry, below)
        )

    def heading(self, line: str, heading: re.Match[str]) -> None:
        if heading[1] == "#":
            if self.titled or self.top:
                raise self.invalid("is a second title", line)
            self.titled = True
            return
        title, slug = self.words(line, heading.end())
        self.group = _OpenEntry(Entry("group", title, slug=slug, line=self.number), -1)
        self.top.append(self.group)
        self.open = []

    def bullet(self, line: str, bullet: re.Match[str]) -> None:
        indent = len(bullet[1].expandtabs(4))
        while self.open and indent < self.open[-1].indent + 2:
            self.open.pop()
        if not self.open and indent > 3:
            raise self.invalid("is indented, but there is no entry above it", line)
        if self.open and self.open[-1].entry.kind == "computed":
            raise self.invalid("hangs below a computed entry", line)
        entry = self.entry(line, bullet.end())
        if entry is None:
            return
        node = _OpenEntry(entry, indent)
        holder = self.open[-1] if self.open else self.group
        (holder.children if holder else self.top).append(node)
        self.open.append(node)

    def entry(self, line: str, start: int) -> Entry | None:
        if page := _PAGE.fullmatch(line, start):
            return Entry("document", page[1], page[2], line=self.number)
        if fence := _FENCE.match(line, start):
            return self.read_computed(line, fence)
        if line.startswith("[", start):
            return self.link(line, start)
        title, slug = self.words(line, start)
        return Entry("group", title, slug=slug, line=self.number)

    def words(self, line: str, start: int) -> tuple[str, str | None]:
        """Return the title of a group, and the slug when an anchor at the end gives one."""
        text, slug = parse_heading(line[start:])
        if "](" in _ESCAPE.sub("", text):
            raise self.invalid("holds a link and something else", line, start)
        return unescape(text), slug

    def link(self, line: str, start: int) -> Entry | None:
        depth, end = 0, -1
        for bracket in _BRACKET.finditer(line, start):
            depth += (bracket[0] == "[") - (bracket[0] == "]")
            if not depth and bracket[0] == "]":
                end = bracket.start()
                break
        found = parse_destination(line, end + 2, len(line)) if end > 0 and line.startswith("(", end + 1) else None
        if found is None:
            raise self.invalid(_explain_link(line, start, end), line, start)
        if rest := line[found.link_end :].strip(" \t"):
            raise self.invalid("holds more than one link", line, line.index(rest, found.link_end))
        title = unescape(line[start + 1 : end])
        return self.read_address(title, found)

    def read_address(self, title: str, found: Destination) -> Entry | None:
        address, link_title = found.text, found.title
        path, sign, anchor = address.partition("#")
        if not address:
            raise self.invalid("has no address", "", found.start)
        if _ROOTED_PAGE.fullmatch(path):
            path = path.lstrip("/")
            address = path + sign + anchor
        absolute = _ABSOLUTE.match(address)
        if not absolute and _leads_out(self.at, path):
            reason = f"the entry {quote_name(address)} leads out of the space's directory"
            self.skipped.append(SkippedPart(self.at, self.number, found.start + 1, reason))
            return None
        if absolute or not _MARKDOWN.fullmatch(path):
            return Entry("link", title, target=address, link_title=link_title, line=self.number)
        return Entry("document", title, path, anchor if sign else None, link_title=link_title, line=self.number)

    def read_computed(self, line: str, fence: re.Match[str]) -> Entry:
        if fence[2].strip().lower() not in ("yaml", "yml"):
            raise self.invalid("is a code block, but not YAML", line, fence.start())
        first, margin = self.number, len(line[: fence.start()].expandtabs(4))
        content_lines: list[str] = []
        while self.number < len(self.lines):
            content = self.lines[self.number]
            self.number += 1
            bare = content.strip(" \t")
            if bare and set(bare) == {fence[1][0]} and len(bare) >= len(fence[1]):
                return Entry("computed", "", computed="\n".join(content_lines), line=first)
            inner = content.expandtabs(4) if "\t" in content[:margin] else content
            if bare and inner[:margin].strip(" "):
                raise self.invalid("is indented less than the block that it belongs to", content)
            content_lines.append(inner[margin:])
        self.number = first
        raise self.invalid("opens a block that nothing closes", line, fence.start())

    def invalid(self, what: str, line: str, column: int | None = None) -> FileInvalid:
        if column is None:
            column = len(line) - len(line.lstrip(" \t"))
        return FileInvalid(what, path=self.at, line=self.number, column=column + 1)


def _add_children(entry: Entry, children: tuple[Entry, ...]) -> Entry:
    return replace(entry, children=children) if children else entry


def _leads_out(at: str, path: str) -> bool:
    depth = at.count("/")
    for segment in path.split("/"):
        depth += -1 if segment == ".." else segment not in ("", ".")
        if depth < 0:
            return True
    return False


def _explain_link(line: str, start: int, end: int) -> str:
    """Say why no link begins at `start`; `end` is where its title ends, or -1."""
    address = line[end + 2 : line.rfind(")")].strip() if end > 0 and line.startswith("(", end + 1) else ""
    if " " in address and not set('<>"').intersection(address):
        return f"has an address with a space, which needs angle brackets: `[{line[start + 1 : end]}](<{address}>)`"
    return "is not of the form `[title](address)`"


def _render_bullets(pending: list[tuple[Entry, int]]) -> Iterator[str]:
    """Yield the lines of entries and of all below them; `pending` is a stack, first entry last."""
    while pending:
        entry, depth = pending.pop()
        indent = "  " * depth
        if entry.kind == "computed":
            yield from _render_computed(entry.computed or "", indent)
        else:
            text = _render_nested_group(entry) if entry.kind == "group" else _render_link(entry)
            yield f"{indent}* {text}".rstrip(" ")
        pending.extend((child, depth + 1) for child in reversed(entry.children))


def _render_computed(text: str, indent: str) -> Iterator[str]:
    fence = "`" * max(3, 1 + max(map(len, _BACKTICKS.findall(text)), default=0))
    yield f"{indent}* {fence}yaml"
    for line in text.split("\n") if text else ():
        yield f"{indent}  {line}" if line.strip() else ""
    yield f"{indent}  {fence}"


def _render_link(entry: Entry) -> str:
    address = entry.target or ""
    if entry.kind == "document":
        address = (entry.path or "") + ("" if entry.anchor is None else f"#{entry.anchor}")
    title = clean_title(entry.link_title) if entry.link_title is not None else None
    quoted = "" if title is None else ' "' + escape_backslashes(title).replace('"', '\\"') + '"'
    return f"[{escape_title(entry.title)}]({format_address(address)}{quoted})"


def _render_group(entry: Entry) -> str:
    text = escape_title(entry.title).replace("<a ", "\\<a ")
    text = escape_closing(text)
    slug = None if entry.slug is None else html.escape(clean_title(entry.slug))
    return text if slug is None else f'{text} <a href="#{slug}" id="{slug}"></a>'.lstrip(" ")


def _render_nested_group(entry: Entry) -> str:
    text = _render_group(entry)
    # At the start of an entry these would be a list, a break or a block.
    return f"\\{text}" if text[:1] in ("*", "-", "+", "_", "`", "~") else text


def escape_title(title: str) -> str:
    """Return a title as it stands between the brackets of a link."""
    return escape_backslashes(clean_title(title)).replace("[", "\\[").replace("]", "\\]")
