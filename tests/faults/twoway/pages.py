"""What an actor sees: pages with a mark, a title and sentences of one unique word each, and the table of contents.

A word is `w` and the number of the step that wrote it (`w7a`), a page's mark `m7`, a title's word `t7`; step 0 is what
there was at the beginning. The word of a title stands in the heading too, where nobody looks for it.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from posixpath import dirname, join
from urllib.parse import quote, unquote

from tests.faults.twoway.awkward import choose_block

WORD = re.compile(r"\bw\d+[a-z]{1,2}\b")
MARK = re.compile(r"\bm\d+[a-z]{0,2}\b")
TITLE = re.compile(r"\bt\d+[a-z]{0,2}\b")
PICTURE = re.compile(r"!\[picture\]\(<?[./]*\.gitbook/(.*?\.png)>?\)")
LINK = re.compile(r"\[k(\d+[a-z]{0,2})\]\((?:<([^>]*)>|([^)]*))\)")
"""A link to a page; its address may have the marks of other pages."""
NOTE = ".gitbook/includes/note.md"
"""A reusable content of a space; its lines are drafts, which the platform does not get by the API."""
_DRAFT = re.compile(r"^Draft (d\d+)\.\r?$", re.MULTILINE)
"""What a writer adds to a page that is taken out of the table of contents and kept as a file."""
_FIELDS = re.compile(r"\A---\n.*?\n---\n+", re.DOTALL)
_ENTRY = re.compile(r"^( *)[*-] \[(.*?)(?<!\\)\]\(<?(.*?)>?\)\s*$")


@dataclass(frozen=True)
class Page:
    """A page as one side has it. Shape: `place` is its path or id, `title` None for a file that nothing lists;
    `shown` are the words in the bytes of the pictures that it shows."""

    place: str
    title: str | None
    text: str
    above: str = ""
    shown: frozenset[str] = frozenset()

    @property
    def mark(self) -> str:
        """The mark of the page, or "" for one that was written without."""
        found = MARK.search(self._prose)
        return found[0] if found else ""

    @property
    def is_group(self) -> bool:
        """Whether it is a group of pages, whose mark stands for its text."""
        return bool(self.mark) and self.text == self.mark

    @property
    def titles(self) -> set[str]:
        """The words of the title."""
        return set(TITLE.findall(self.title or ""))

    @property
    def words(self) -> set[str]:
        """The words of the text."""
        return set(WORD.findall(self.text))

    @property
    def tokens(self) -> set[str]:
        """Every word, the mark and the title's word."""
        return self.words | set(MARK.findall(self._prose)) | self.titles | self.shown

    @property
    def _prose(self) -> str:
        """The text without links to pages."""
        return LINK.sub("", self.text)


def picture_bytes(word: str) -> bytes:
    """Given a new word, return a picture of it."""
    return b"\x89PNG\r\n\x1a\n " + word.encode() + b" "


def find_drafts(text: str) -> set[str]:
    """Return the words by which files are known that a writer took out of the table of contents."""
    return set(_DRAFT.findall(text))


def words_shown(text: str, read: Callable[[str], bytes]) -> frozenset[str]:
    """Given a page's text and how to read a file below `.gitbook`, return the words in the pictures that it shows."""
    read_here = (read(unquote(path)).decode(errors="replace") for path in PICTURE.findall(text))
    return frozenset(word for data in read_here for word in WORD.findall(data))


View = Mapping[str, Page]
"""All pages of one side, by place."""


def tokens_of(view: View) -> set[str]:
    """Given a side, return every token on it."""
    return {token for page in view.values() for token in page.tokens}


def drafts_of(view: View) -> set[str]:
    """Given a side, return the words of drafts that are pages on it."""
    return {draft for page in view.values() for draft in find_drafts(page.text)}


def by_mark(view: View) -> dict[str, Page]:
    """Given a side, return its pages by their marks; of two with one mark, the first."""
    found: dict[str, Page] = {}
    for page in view.values():
        if page.mark:
            found.setdefault(page.mark, page)
    return found


def sentence(word: str, about: int = 0) -> str:
    """Given a new word, return a sentence of it."""
    lead = ("Some prose with", "All of it is about", "Nobody knows about", "Then there is")[about % 4]
    return f"{lead} {word} in it."


def new_text(title: str, mark: str, words: Iterable[str]) -> str:
    """Given the words of a new page, return its text."""
    return "\n\n".join([f"# {title}", f"This is page {mark}.", *(sentence(word) for word in words)]) + "\n"


def paragraphs(text: str) -> list[str]:
    """Given a text, return its paragraphs."""
    return text.strip("\n").split("\n\n")


def joined(parts: Iterable[str]) -> str:
    """Given paragraphs, return the text."""
    return "\n\n".join(parts) + "\n"


def edited(text: str, action: str, word: str, n: int) -> str:
    """Given a text, return it with a sentence added, replaced or dropped, at the n-th place that there is, or as its
    description.

    Shape: `action` "contest" replaces a sentence, as "replace" does, and so does "contest-arrived".
    """
    if "\r\n" in text:
        return edited(text.replace("\r\n", "\n"), action, word, n).replace("\n", "\r\n")
    if action == "describe":
        return f"---\ndescription: {sentence(word, n)}\n---\n\n{_FIELDS.sub('', text)}"
    if action == "block":
        return with_paragraph(text, choose_block(word, n), n)
    parts = paragraphs(text)
    places = [at for at, part in enumerate(parts) if WORD.search(part) and not part.startswith("---\n")]
    if action == "edit" or not places or (action == "drop" and len(places) < 2):
        return with_paragraph(text, sentence(word, n), n)
    parts[places[n % len(places)]] = sentence(word, n) if action in ("replace", "contest", "contest-arrived") else ""
    return joined(part for part in parts if part)


def with_paragraph(text: str, new: str, n: int) -> str:
    """Given a text, return it with one more paragraph, in the n-th place that there is."""
    if "\r\n" in text:
        return with_paragraph(text.replace("\r\n", "\n"), new, n).replace("\n", "\r\n")
    parts = paragraphs(text)
    parts.insert(min(len(parts), 2) + n % (max(len(parts) - 1, 1)), new)
    return joined(part for part in parts if part)


@dataclass(frozen=True)
class Entry:
    """A line of SUMMARY.md. Shape: a page when it has a path, else any other line as it stands, in `title`."""

    title: str
    path: str = ""
    depth: int = 0


def list_arrived(marks: Sequence[str]) -> list[int]:
    """Given the marks of a space's pages, that of its home page first, return the places of those that another space
    had at the beginning."""
    return [number for number, mark in enumerate(marks) if mark[2:3].isalpha() and mark[2:3] != marks[0][2:3]]


def read_summary(text: str) -> list[Entry]:
    """Given SUMMARY.md, return its lines."""
    entries = []
    for line in text.splitlines():
        found = _ENTRY.match(line)
        entries.append(Entry(found[2], unquote(found[3]), len(found[1]) // 2) if found else Entry(line))
    return entries


GROUP = re.compile(r"^#{2,6} +(.*?)(?: *<a .*)?$")
BREAK = re.compile(r"^ {0,3}([*_-])( *\1){2,} *$")


def read_group(entry: Entry) -> Page | None:
    """Given a line of SUMMARY.md, return the group of pages that it begins; None for any other line.

    Shape: the mark in its title stands for its text.
    """
    found = None if entry.path else GROUP.match(entry.title)
    mark = MARK.search(found[1]) if found is not None else None
    return Page(f"group {mark[0]}", found[1], mark[0]) if found is not None and mark is not None else None


def write_summary(entries: Iterable[Entry]) -> str:
    """Given the lines, return SUMMARY.md."""
    lines = [
        f"{'  ' * one.depth}* [{one.title}]({format_address(one.path)})" if one.path else one.title for one in entries
    ]
    return "\n".join(lines) + "\n"


def format_address(path: str) -> str:
    """Given a path, return it as people write it in a link: percent-encoded, or in angle brackets."""
    quoted = quote(path)
    return quoted if quoted == path or len(path) % 2 else f"<{path.replace('%', '%25').replace('#', '%23')}>"


def parents(entries: Iterable[Entry]) -> dict[str, str]:
    """Given the lines, return the path of the page above each page, else the place of its group, or ""."""
    above: list[str] = []
    found, group = {}, ""
    for entry in entries:
        if entry.path:
            above[entry.depth :] = [entry.path]
            found[entry.path] = above[entry.depth - 1] if 0 < entry.depth < len(above) else group
        else:
            above = []
            begun = read_group(entry)
            group = begun.place if begun is not None else "" if BREAK.match(entry.title) else group
    return found


def leaves(entries: list[Entry]) -> list[Entry]:
    """Given the lines, return the pages, but for the first, that have none below them."""
    found = []
    for at, entry in enumerate(entries):
        below = entries[at + 1] if at + 1 < len(entries) else Entry("")
        if entry.path and not (below.path and below.depth > entry.depth):
            found.append(entry)
    return found if not (entries and found) else [entry for entry in found if entry.path != first_page(entries)]


def first_page(entries: Iterable[Entry]) -> str:
    """Given the lines, return the path of the home page."""
    return next((entry.path for entry in entries if entry.path), "")


def with_path(entries: Iterable[Entry], old: str, new: str) -> list[Entry]:
    """Given the lines, return them with another path for one page."""
    return [replace(entry, path=new) if entry.path == old else entry for entry in entries]


def repaired(entries: Iterable[Entry], files: Iterable[str]) -> list[Entry]:
    """Given lines that two sides made and the pages' files that there are, list each file once and nothing else."""
    wanted = dict.fromkeys(files)
    kept: list[Entry] = []
    groups: set[str] = set()
    for entry in entries:
        if entry.path and entry.path not in wanted:
            continue
        if (group := read_group(entry)) is not None:
            if group.place in groups:
                continue
            groups.add(group.place)
        wanted.pop(entry.path, None)
        kept.append(entry)
    return _without_gaps([*kept, *(Entry(f"Title of {path}", path) for path in wanted)])


def _without_gaps(entries: list[Entry]) -> list[Entry]:
    depth = -1
    fixed = []
    for entry in entries:
        depth = min(entry.depth, depth + 1) if entry.path else -1
        fixed.append(replace(entry, depth=max(depth, 0)) if entry.path else entry)
    return fixed


def split_sections(entries: Iterable[Entry]) -> list[list[Entry]]:
    """Given the lines, return those before the first group, and those of each group with its own line first."""
    sections: list[list[Entry]] = [[]]
    for entry in entries:
        if read_group(entry) is not None or (not entry.path and BREAK.match(entry.title)):
            sections.append([])
        sections[-1].append(entry)
    return sections


def below(path: str, name: str) -> str:
    """Given the path of a page, return where a page of some name below it lies."""
    folder = dirname(path) if path.endswith("README.md") else path.removesuffix(".md")
    return join(folder, name)
