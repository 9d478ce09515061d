"""A space as the rules see it: its files, what its table of contents says, and its pages with their words in place."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from posixpath import basename, dirname, splitext

from syncd.errors import FileInvalid
from syncd.layout.lint.finding import Finding, finding
from syncd.layout.lint.words import prose_only
from syncd.layout.markdown.blocks import prose
from syncd.layout.page.frontmatter import fields, heading, split, split_title
from syncd.layout.page.links import Target, targets
from syncd.layout.richtext.anchors import slug
from syncd.layout.richtext.outline import headings
from syncd.layout.tree.draft import HOLDS_NUL, NOT_UTF8, Draft, read_draft, text_of
from syncd.layout.tree.paths import collision_key, is_markdown
from syncd.layout.tree.settings import PATH as SETTINGS
from syncd.layout.tree.settings import Settings
from syncd.layout.tree.summary import Entry, walk
from syncd.layout.tree.variables import TAGS, VARIABLES

HEAVY = 4_000_000
"""Characters of a page above which its headings are not read; nobody writes such a page."""

HOUSEKEEPING = frozenset(
    {
        *("readme", "license", "licence", "copying", "notice", "contributing", "contributors", "authors", "changelog"),
        *("history", "code_of_conduct", "code-of-conduct", "security", "support", "governance", "maintainers"),
        *("agents", "claude", "gemini", "skill", "pull_request_template", "issue_template"),
    }
)
"""Names of files that tell people and tools about a repository, and are no pages."""

FOREIGN = frozenset(
    {"node_modules", "bower_components", "vendor", "venv", "site-packages", "__pycache__", "_book", "third_party"}
)
"""Folders that tools fill; what nobody lists there is no content."""

UNREADABLE = {NOT_UTF8: "not-utf8", HOLDS_NUL: "nul-character"}
"""The codes of the reasons for which bytes are no text."""

_ID = re.compile(r"""<[A-Za-z][^<>]*?\s(?:id|name)\s*=\s*["']([^"'<>]+)["']""")
_INVALID = {SETTINGS: "settings-invalid", VARIABLES: "variables-invalid", TAGS: "tags-invalid"}


@dataclass(frozen=True)
class Item:
    """One file: its size in bytes, a way to its bytes, and a digest that equal contents share; "" is not known yet."""

    size: int
    read: Callable[[], bytes]
    digest: str = ""


class Space:
    """The files below one directory in Git Sync layout; `problems` are what stands in the way of reading it."""

    def __init__(self, items: Mapping[str, Item]) -> None:
        self.items = items
        self.problems: list[Finding] = []
        self.broken: set[str] = set()
        self.draft = self._drafted()
        self.pages: dict[str, Page] = {}

    def _drafted(self) -> Draft:
        """The draft of the space; a file that cannot be read is reported, and the rest is read without it."""
        while True:
            try:
                return read_draft(self.items.keys() - self.broken, lambda path: self.items[path].read(), links=False)
            except FileInvalid as error:
                if error.path in self.broken or error.path not in self.items:
                    raise
                self.broken.add(error.path)
                self.problems.append(_invalid(error))

    @cached_property
    def summary(self) -> str:
        """Where SUMMARY.md is, or would be."""
        return self.draft.settings.below(self.draft.settings.summary)

    @cached_property
    def listed(self) -> frozenset[str]:
        """The pages of the space; one that is spelled otherwise in SUMMARY.md counts as listed."""
        meant = (self.spellings.get(collision_key(entry.path)) for entry in self.draft.missing if entry.path)
        return frozenset((*self.draft.documents, *(path for path in meant if path is not None)))

    @property
    def decided(self) -> bool:
        """Whether a SUMMARY.md that can be read says which files are pages."""
        return not self.draft.inferred

    @cached_property
    def entries(self) -> Mapping[str, Entry]:
        """The entry of each page."""
        found: dict[str, Entry] = {}
        for entry, _ in walk(self.draft.entries):
            if entry.path is not None and entry.anchor is None:
                found.setdefault(entry.path, entry)
        return found

    @cached_property
    def folders(self) -> frozenset[str]:
        """Every folder that holds a file."""
        found: set[str] = set()
        for path in self.items:
            folder = dirname(path)
            while folder and folder not in found:
                found.add(folder)
                folder = dirname(folder)
        return frozenset(found)

    @cached_property
    def spellings(self) -> Mapping[str, str]:
        """Files by their name without regard to case and to how Unicode writes it."""
        return {collision_key(path): path for path in self.items}

    def page(self, path: str) -> "Page":
        """Given the path of a text file, return it read."""
        if path not in self.pages:
            self.pages[path] = Page(path, self.items[path].read())
        return self.pages[path]

    def published(self) -> Iterator["Page"]:
        """Every page and include that readers see."""
        for path in (*self.draft.documents, *self.draft.includes):
            if self.decided or path.lower() == "readme.md" or not is_no_page(path, self.draft.settings):
                yield self.page(path)

    def markdown(self) -> Iterator[str]:
        """Every Markdown file of the space, listed or not."""
        yield from self.draft.documents
        yield from self.draft.includes
        yield from self.draft.unlisted


class Page:
    """One text file; places in it are offsets into `text`."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.problem: FileInvalid | None = None
        try:
            self.text = text_of(data, at=path)
        except FileInvalid as error:
            self.problem = error
            self.text = data.decode(errors="replace")

    def place(self, offset: int) -> tuple[int, int]:
        """Given an offset, return its line and column."""
        line = bisect_right(self._starts, offset) - 1
        return line + 1, offset - self._starts[line] + 1

    def offset(self, line: int) -> int:
        """Given the number of a line, return where it starts."""
        return self._starts[min(line, len(self._starts)) - 1]

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(found.end() for found in re.finditer("\n", self.text))]

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the text, without their ends."""
        return self.text.split("\n")

    @cached_property
    def body(self) -> int:
        """Where the body starts."""
        return len(split(self.text)[0])

    @cached_property
    def words(self) -> str:
        """The text with all code blank."""
        return prose_only(self.text, self.body) if is_markdown(self.path) else self.text

    @cached_property
    def prose(self) -> tuple[tuple[int, int], ...]:
        """The spans of the text that are no code block."""
        return tuple(prose(self.text, self.body))

    def is_prose(self, offset: int) -> bool:
        """Given an offset, return whether it lies in no code block."""
        at = bisect_right(self.prose, (offset, len(self.text))) - 1
        return at >= 0 and offset < self.prose[at][1]

    @cached_property
    def targets(self) -> tuple[Target, ...]:
        """The addresses in the page."""
        return tuple(targets(self.text))

    @cached_property
    def variables(self) -> frozenset[str]:
        """The names of the page's own variables."""
        try:
            own = fields(self.text, at=self.path).get("vars")
        except FileInvalid:
            return frozenset()
        return frozenset(own) if isinstance(own, dict) else frozenset()

    @cached_property
    def anchors(self) -> frozenset[str]:
        """The anchors of the page's headings, and ids that it gives itself."""
        found = {match[1] for match in _ID.finditer(self.text)}
        if len(self.text) <= HEAVY:
            # The title is no part of the document, so it takes no heading's anchor; links may name it all the same.
            found.update(part.anchor for part in headings(split_title(self.text)[1]))
            found.update([slug(title)] if (title := heading(self.text)) is not None else ())
        return frozenset(found)


def is_no_page(path: str, settings: Settings) -> bool:
    """Given a Markdown file that nothing lists, return whether it is one that is not meant to be a page."""
    at_top = dirname(path) in ("", settings.root)
    return (at_top and splitext(basename(path))[0].lower() in HOUSEKEEPING) or not FOREIGN.isdisjoint(path.split("/"))


def _invalid(error: FileInvalid) -> Finding:
    """The finding for a file that the layout refuses."""
    code = next((code for name, code in _INVALID.items() if error.path.endswith(name)), "summary-invalid")
    made = finding(code, error.path, (error.line, error.column), error.reason, error.hint)
    return replace(made, code=UNREADABLE.get(error.reason, code))
