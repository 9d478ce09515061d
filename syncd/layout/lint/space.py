"""A space as the rules see it: its files, its table of contents, and its pages with positions."""

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from posixpath import basename, dirname, splitext
from typing import Any

from syncd.errors import FileInvalid
from syncd.layout.lint.blank_code import blank_code
from syncd.layout.lint.finding import Finding, make_finding
from syncd.layout.markdown.blocks import find_prose
from syncd.layout.page.anchors import find_anchor_sources
from syncd.layout.page.frontmatter import read_fields, read_heading, split_after_title, split_frontmatter
from syncd.layout.page.links import Target, find_targets
from syncd.layout.page.specifications import load_specification
from syncd.layout.richtext.anchors import make_anchor
from syncd.layout.richtext.nodes import Node
from syncd.layout.richtext.reading import to_document
from syncd.layout.tree.draft import HOLDS_NUL, NOT_UTF8, Draft, decode_text, read_draft
from syncd.layout.tree.paths import is_markdown, make_collision_key
from syncd.layout.tree.settings import SETTINGS_PATH as SETTINGS
from syncd.layout.tree.settings import Settings
from syncd.layout.tree.summary import Entry, walk_entries
from syncd.layout.tree.variables import TAGS, VARIABLES

REPOSITORY_FILES = frozenset(
    {
        *("readme", "license", "licence", "copying", "notice", "contributing", "contributors", "authors", "changelog"),
        *("history", "code_of_conduct", "code-of-conduct", "security", "support", "governance", "maintainers"),
        *("agents", "claude", "gemini", "skill", "pull_request_template", "issue_template"),
    }
)
"""Names of files that tell people and tools about a repository, and are no pages."""

TOOL_FOLDERS = frozenset(
    {"node_modules", "bower_components", "vendor", "venv", "site-packages", "__pycache__", "_book", "third_party"}
)
"""Folders that tools fill; what nobody lists there is no content."""

UNREADABLE = {NOT_UTF8: "not-utf8", HOLDS_NUL: "nul-character"}
"""The codes of the reasons for which bytes are no text."""

_ID = re.compile(r"""<[A-Za-z][^<>]*?\s(?:id|name)\s*=\s*["']([^"'<>]+)["']""")
_INVALID = {SETTINGS: "settings-invalid", VARIABLES: "variables-invalid", TAGS: "tags-invalid"}


FindAddress = Callable[[str], str]
"""Returns the address of a page of another space, by its path from the space's directory, or "" where none is known."""


@dataclass(frozen=True)
class SpaceFile:
    """One file: its size in bytes, a function that reads it, and a digest that equal contents share, "" when not
    known yet."""

    size: int
    read: Callable[[], bytes]
    digest: str = ""


class Space:
    """The files below one directory in Git Sync layout; `problems` are findings about files that could not be read."""

    def __init__(
        self,
        items: Mapping[str, SpaceFile],
        *,
        only: Collection[str] | None = None,
        known: MutableMapping[str, "Page"] | None = None,
        find_address: FindAddress = lambda path: "",
    ) -> None:
        """Read the table of contents; with `only`, no other pages are looked at, `known` are pages read before."""
        self.files, self.only, self.find_address = items, only, find_address
        self.problems: list[Finding] = []
        self.unreadable: set[str] = set()
        self.draft = self._read_draft()
        self.pages: MutableMapping[str, Page] = {} if known is None else known

    def _read_draft(self) -> Draft:
        """Return the draft of the space; a file that cannot be read is reported, and the rest is read without it."""
        while True:
            try:
                return read_draft(
                    self.files.keys() - self.unreadable, lambda path: self.files[path].read(), links=False
                )
            except FileInvalid as error:
                if error.path in self.unreadable or error.path not in self.files:
                    raise
                self.unreadable.add(error.path)
                self.problems.append(_report_invalid_file(error))

    @cached_property
    def summary(self) -> str:
        """The path of SUMMARY.md, whether it exists or not."""
        return self.draft.settings.add_root(self.draft.settings.summary)

    @cached_property
    def listed_paths(self) -> frozenset[str]:
        """The pages of the space; a page that is spelled differently in SUMMARY.md counts as listed."""
        respelled = (self.spellings.get(make_collision_key(entry.path)) for entry in self.draft.missing if entry.path)
        return frozenset((*self.draft.documents, *(path for path in respelled if path is not None)))

    @property
    def has_summary(self) -> bool:
        """Return whether a SUMMARY.md that can be read lists the pages."""
        return not self.draft.is_inferred

    @cached_property
    def entries(self) -> Mapping[str, Entry]:
        """The entry of each page."""
        found: dict[str, Entry] = {}
        for entry, _ in walk_entries(self.draft.entries):
            if entry.path is not None and entry.anchor is None:
                found.setdefault(entry.path, entry)
        return found

    @cached_property
    def folders(self) -> frozenset[str]:
        """Every folder that holds a file."""
        found: set[str] = set()
        for path in self.files:
            folder = dirname(path)
            while folder and folder not in found:
                found.add(folder)
                folder = dirname(folder)
        return frozenset(found)

    @cached_property
    def spellings(self) -> Mapping[str, str]:
        """The files by their path without regard to case and to how Unicode writes it."""
        return {make_collision_key(path): path for path in self.files}

    def read_page(self, path: str) -> "Page":
        """Return the text file at a path, read once."""
        if path not in self.pages:
            self.pages[path] = Page(path, self.files[path].read())
        return self.pages[path]

    def read_published_pages(self) -> Iterator["Page"]:
        """Yield every page and include that readers see."""
        for path in self._select((*self.draft.documents, *self.draft.includes)):
            if self.has_summary or path.lower() == "readme.md" or not is_non_page(path, self.draft.settings):
                yield self.read_page(path)

    def list_markdown_paths(self) -> Iterator[str]:
        """Yield every Markdown file of the space, listed or not."""
        yield from self._select((*self.draft.documents, *self.draft.includes, *self.draft.unlisted))

    def _select(self, paths: Sequence[str]) -> Sequence[str]:
        return paths if self.only is None else [path for path in paths if path in self.only]


class Page:
    """One text file; offsets are into `text`."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.problem: FileInvalid | None = None
        try:
            self.text = decode_text(data, at=path)
        except FileInvalid as error:
            self.problem = error
            self.text = data.decode(errors="replace")

    def locate(self, offset: int) -> tuple[int, int]:
        """Return the line and column of an offset."""
        line = bisect_right(self._starts, offset) - 1
        return line + 1, offset - self._starts[line] + 1

    def find_line_start(self, line: int) -> int:
        """Return the offset at which a line starts."""
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
        return len(split_frontmatter(self.text)[0])

    @cached_property
    def blanked_text(self) -> str:
        """The text with all code blank."""
        return blank_code(self.text, self.body) if is_markdown(self.path) else self.text

    @cached_property
    def prose(self) -> tuple[tuple[int, int], ...]:
        """The spans of the text that are not code blocks."""
        return tuple(find_prose(self.text, self.body))

    def is_prose(self, offset: int) -> bool:
        """Return whether an offset lies in no code block."""
        at = bisect_right(self.prose, (offset, len(self.text))) - 1
        return at >= 0 and offset < self.prose[at][1]

    @cached_property
    def targets(self) -> tuple[Target, ...]:
        """The addresses in the page."""
        return tuple(find_targets(self.text))

    @cached_property
    def specification(self) -> Mapping[str, Any] | FileInvalid:
        """The OpenAPI specification that the file is, or why it is none that syncd reads."""
        try:
            return load_specification(self.text, at=self.path)
        except FileInvalid as error:
            return error

    @cached_property
    def variables(self) -> frozenset[str]:
        """The names of the page's own variables."""
        try:
            own = read_fields(self.text, at=self.path).get("vars")
        except FileInvalid:
            return frozenset()
        return frozenset(own) if isinstance(own, dict) else frozenset()

    @cached_property
    def anchor_sources(self) -> Sequence[str | Node]:
        """What gives the page its anchors, which its title does not have."""
        return tuple(find_anchor_sources(to_document(split_after_title(self.text)[1]).nodes))

    @cached_property
    def included_anchor_sources(self) -> Sequence[str | Node]:
        """What gives a page that includes this text more anchors."""
        return tuple(find_anchor_sources(to_document(split_frontmatter(self.text)[1]).nodes))

    @cached_property
    def title_anchors(self) -> frozenset[str]:
        """What the anchors of the page's title would be: it is no part of the document, and renderers give it none."""
        title = read_heading(self.text)
        found = {match[1] for match in _ID.finditer(split_after_title(self.text)[0])}
        return frozenset(found if title is None else {*found, make_anchor(title)})


def is_non_page(path: str, settings: Settings) -> bool:
    """Return whether a Markdown file that nothing lists is not meant to be a page."""
    at_top = dirname(path) in ("", settings.root)
    return (at_top and splitext(basename(path))[0].lower() in REPOSITORY_FILES) or not TOOL_FOLDERS.isdisjoint(
        path.split("/")
    )


def _report_invalid_file(error: FileInvalid) -> Finding:
    """Return the finding for a file that cannot be read."""
    code = next((code for name, code in _INVALID.items() if error.path.endswith(name)), "summary-invalid")
    made = make_finding(code, error.path, (error.line, error.column), error.reason, error.hint)
    return replace(made, code=UNREADABLE.get(error.reason, code))
