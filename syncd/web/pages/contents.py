"""The table of contents beside a page: the branch that leads to the page, and a window of it where it is long."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from markupsafe import Markup

from syncd.layout.tree.summary import Entry
from syncd.web.blocks.inline.icons import find_emoji, find_icon, write_sign

WHOLE_MAX = 120
"""Entries up to which the whole table of contents is in every page."""
SIBLINGS_MAX = 30
"""Entries of one level that a page shows of a longer table of contents."""
DEPTH_MAX = 20
"""Levels that a page shows; nobody nests deeper who wants to be read."""


@dataclass(frozen=True)
class ContentsEntry:
    """An entry of a table of contents; `parent` and `children` are numbers of entries, -1 for no parent.

    `address` is "" for a group, and `path` the file of a page. `emoji` and `icon` are those of its page, "" for none.
    """

    number: int
    kind: Literal["page", "group", "link"]
    title: str
    address: str
    path: str = ""
    parent: int = -1
    children: Sequence[int] = ()
    emoji: str = ""
    icon: str = ""

    @cached_property
    def sign(self) -> Markup:
        """What stands before its title."""
        return write_sign(self.emoji, self.icon)


@dataclass(frozen=True)
class Contents:
    """A table of contents in reading order; `tops` are the numbers of the entries at its top.

    Shape: `find_signs` returns the emoji and the icon of a page by its file. It is asked when the page is shown, since
    it may have to read it.
    """

    entries: tuple[ContentsEntry, ...]
    tops: tuple[int, ...]
    find_signs: Callable[[str], tuple[str, str]] | None = None
    _signed: dict[int, ContentsEntry] = field(default_factory=dict)

    @cached_property
    def page_numbers(self) -> tuple[int, ...]:
        """The entries that are pages, in reading order."""
        return tuple(entry.number for entry in self.entries if entry.kind == "page")

    @cached_property
    def numbers_by_path(self) -> Mapping[str, int]:
        """The entry of each page by its file."""
        return {self.entries[number].path: number for number in reversed(self.page_numbers)}

    @cached_property
    def _positions(self) -> Mapping[int, int]:
        return {number: position for position, number in enumerate(self.page_numbers)}

    def find_signed(self, number: int) -> ContentsEntry:
        """Return an entry with the emoji and the icon of its page."""
        entry = self.entries[number]
        if self.find_signs is None or entry.kind != "page":
            return entry
        if number not in self._signed:
            emoji, icon = self.find_signs(entry.path)
            self._signed[number] = replace(entry, emoji=emoji, icon=icon)
        return self._signed[number]

    def find_ancestors(self, number: int) -> tuple[ContentsEntry, ...]:
        """Return the entries above an entry, outermost first."""
        found = []
        while (number := self.entries[number].parent) >= 0:
            found.append(self.entries[number])
        return tuple(reversed(found))

    def find_neighbours(self, number: int) -> tuple[ContentsEntry | None, ContentsEntry | None]:
        """Return the pages before and after a page."""
        at, pages = self._positions[number], self.page_numbers
        before = self.entries[pages[at - 1]] if at else None
        return before, self.entries[pages[at + 1]] if at + 1 < len(pages) else None


@dataclass(frozen=True)
class ContentsLine:
    """An entry as a page shows it: whether it is the page itself, open, and how many entries beside it are left out.

    `has_more` says that there are entries below it that the page does not have.
    """

    entry: ContentsEntry
    is_current: bool = False
    is_open: bool = False
    has_more: bool = False
    children: tuple["ContentsLine", ...] = ()
    left_out: int = 0
    """Entries below this one that are left out of the window."""


@dataclass
class _EntryList:
    """Entries while they are collected; the children of each grow as they are found."""

    entries: list[ContentsEntry] = field(default_factory=list)
    children: list[list[int]] = field(default_factory=list)

    def add(self, entry: Entry, address: str, parent: int) -> int:
        number, below = len(self.entries), list[int]()
        kind: Literal["page", "group", "link"] = "page" if entry.path and entry.anchor is None else "link"
        kind = "group" if entry.kind == "group" else kind
        path = (entry.path or "") if kind == "page" else ""
        title = entry.link_title or entry.title or (address if kind == "link" else "")
        self.entries.append(ContentsEntry(number, kind, title, address, path, parent, below))
        self.children.append(below)
        if parent >= 0:
            self.children[parent].append(number)
        return number


def build_contents(
    entries: Iterable[Entry],
    find_address: Callable[[Entry], str | None],
    find_signs: Callable[[str], tuple[str, str]] | None = None,
) -> Contents:
    """Return the table of contents of a space; `find_address` says where an entry leads, None to leave it out.

    Shape: an entry that is left out hands what is below it to the one above.
    """
    found, tops = _EntryList(), []
    pending = [(entry, -1) for entry in reversed(tuple(entries))]
    while pending:
        entry, parent = pending.pop()
        address = "" if entry.kind == "group" else find_address(entry)
        if address is None:
            pending += [(child, parent) for child in reversed(entry.children)]
            continue
        number = found.add(entry, address, parent)
        if parent < 0:
            tops.append(number)
        pending += [(child, number) for child in reversed(entry.children)]
    return Contents(tuple(found.entries), tuple(tops), find_signs)


def select_lines(contents: Contents, current: int = -1) -> ContentsLine:
    """Return what a page shows of a table of contents, below an entry that stands for the whole.

    Shape: all of a short one; of a longer one the branch that leads to the page, each level a window around it.
    """
    above = contents.find_ancestors(current) if current >= 0 else ()
    selection = _Selection(contents, current, frozenset(entry.number for entry in above))
    lines, left_out = selection.select_level(contents.tops)
    return ContentsLine(ContentsEntry(-1, "group", "", ""), is_open=True, children=lines, left_out=left_out)


@dataclass(frozen=True)
class _Selection:
    contents: Contents
    current: int
    above: frozenset[int]

    @cached_property
    def is_whole(self) -> bool:
        return len(self.contents.entries) <= WHOLE_MAX

    def select_level(self, numbers: Sequence[int], depth: int = 0) -> tuple[tuple[ContentsLine, ...], int]:
        """The lines of one level, and how many entries are left out of it."""
        chosen = numbers if self.is_whole else self.select_window(numbers)
        return tuple(self.make_line(number, depth) for number in chosen), len(numbers) - len(chosen)

    def select_window(self, numbers: Sequence[int]) -> Sequence[int]:
        here = next((at for at, number in enumerate(numbers) if number == self.current or number in self.above), 0)
        start = max(0, min(here - SIBLINGS_MAX // 2, len(numbers) - SIBLINGS_MAX))
        return numbers[start : start + SIBLINGS_MAX]

    def make_line(self, number: int, depth: int) -> ContentsLine:
        entry, is_current = self.contents.find_signed(number), number == self.current
        is_open = is_current or number in self.above
        if not (entry.children and (is_open or self.is_whole)) or depth == DEPTH_MAX:
            return ContentsLine(entry, is_current, has_more=bool(entry.children))
        lines, left_out = self.select_level(entry.children, depth + 1)
        return ContentsLine(entry, is_current, is_open, children=lines, left_out=left_out)


def format_contents_json(contents: Contents) -> str:
    """Return a table of contents for the script of a page: for each entry its kind, title, address and parent.

    Shape: behind these stands the emoji of an entry that has one, or the width and the path of its icon.
    """
    signed = (contents.find_signed(entry.number) for entry in contents.entries)
    rows = [[entry.kind[0], entry.title, entry.address, entry.parent, *_list_sign(entry)] for entry in signed]
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":"))


def _list_sign(entry: ContentsEntry) -> Sequence[object]:
    if entry.emoji:
        return (find_emoji(entry.emoji) or entry.emoji,)
    found = find_icon(entry.icon)
    return () if found is None else (found,)


def walk_depths(contents: Contents) -> Iterator[tuple[ContentsEntry, int]]:
    """Yield each entry in reading order with how deep it lies; 0 is the top."""
    depths: list[int] = []
    for entry in contents.entries:
        depths.append(depths[entry.parent] + 1 if entry.parent >= 0 else 0)
        yield entry, depths[-1]
