"""Read the files of a directory in Git Sync layout as a space: its tree of pages, files and settings."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from posixpath import basename, dirname, join, normpath
from typing import Any
from urllib.parse import unquote

from syncd.errors import FileInvalid, PathRefused
from syncd.layout.markdown.addresses import resolve_address
from syncd.layout.page.frontmatter import read_heading
from syncd.layout.page.links import find_targets
from syncd.layout.tree import settings as settings_file
from syncd.layout.tree.infer import infer_entries
from syncd.layout.tree.lfs_pointers import parse_pointer
from syncd.layout.tree.paths import ASSETS, INCLUDES, check_safe_path, is_markdown
from syncd.layout.tree.settings import Settings, read_settings
from syncd.layout.tree.skipped import SkippedPart
from syncd.layout.tree.summary import Entry, parse_summary, transform_entries, walk_entries
from syncd.layout.tree.variables import TAGS, VARIABLES, parse_tags, parse_variables
from syncd.model.content_write import TEXT_MAX
from syncd.model.page import Scalar

README = "readme.md"
NOT_UTF8, HOLDS_NUL = "is not UTF-8", "holds the character NUL, which the platform refuses"
"""Why bytes are no text."""
IS_POINTER = "is a Git LFS pointer, no page"
TOO_LONG = f"has more than {TEXT_MAX:,} characters, which is too much for the API"
"""Why a text is no page that can be sent."""

ReadFile = Callable[[str], bytes]


@dataclass(frozen=True)
class Draft:
    """A space as its files declare it; every path, also of entries, is relative to the space's directory.

    `documents` are the listed pages that exist, in reading order; `missing` are entries without a file; `unlisted` are
    Markdown files that nothing lists, which are not published. An entry with an anchor, or for a page that is listed
    before, is no page of its own: it links to one. `skipped` are parts of files that were passed over.
    """

    entries: tuple[Entry, ...]
    documents: tuple[str, ...]
    files: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    variables: dict[str, Scalar] = field(default_factory=dict)
    tags: tuple[dict[str, Any], ...] = ()
    unlisted: tuple[str, ...] = ()
    missing: tuple[Entry, ...] = ()
    settings: Settings = field(default_factory=Settings)
    is_inferred: bool = False
    skipped: tuple[SkippedPart, ...] = ()


def read_draft(paths: Collection[str], read: ReadFile, *, links: bool = True, at: str = "") -> Draft:
    """Return the draft of a space from the paths of all files below its directory and a function that reads one.

    Shape: without SUMMARY.md the tree is inferred from folders; with links=False no page is read for files that it
    links to outside `.gitbook/assets`. Raises: FileInvalid for a SUMMARY.md, `.gitbook.yaml`, variables or tags file
    that cannot be read; its path is prefixed with `at`, the space's directory.
    """
    try:
        return _DraftReader(frozenset(paths), read).read_draft(links=links)
    except FileInvalid as invalid:
        path = join(at, invalid.path)
        raise FileInvalid(
            invalid.reason, path=path, line=invalid.line, column=invalid.column, hint=invalid.hint
        ) from invalid


def decode_text(data: bytes, *, at: str) -> str:
    """Return a file's bytes as text.

    Raises: FileInvalid when they are not UTF-8, or hold the character NUL, which no platform accepts.
    """
    try:
        text, start, reason = data.decode(), data.find(b"\0"), HOLDS_NUL
    except UnicodeDecodeError as error:
        text, start, reason = "", error.start, NOT_UTF8
    if start == -1:
        return text
    before = data[data.rfind(b"\n", 0, start) + 1 : start].decode()
    raise FileInvalid(reason, path=at, line=data.count(b"\n", 0, start) + 1, column=len(before) + 1)


def decode_page(data: bytes, *, at: str) -> str:
    """Return a page's bytes as the text that can be sent.

    Raises: FileInvalid when no platform accepts it: it is not text, a pointer of Git LFS, or too long.
    """
    if parse_pointer(data) is not None:
        raise FileInvalid(IS_POINTER, path=at, hint="git lfs pull")
    text = decode_text(data, at=at)
    if len(text) > TEXT_MAX:
        raise FileInvalid(TOO_LONG, path=at, hint="make two pages of it")
    return text


class _DraftReader:
    def __init__(self, present: frozenset[str], read: ReadFile) -> None:
        self.present, self.read = present, read
        self.settings = read_settings(self.read_text_if_present(settings_file.SETTINGS_PATH))
        self.skipped = list(self.settings.skipped)
        self.summary = self.settings.add_root(self.settings.summary)
        self.content_paths = frozenset(path for path in present if path.startswith(self.settings.add_root("")))

    def read_draft(self, *, links: bool) -> Draft:
        add_root = self.settings.add_root
        is_inferred = self.summary not in self.present
        entries = (
            infer_entries(self.find_inferred(), self.settings, self.read_title) if is_inferred else self.read_entries()
        )
        documents = tuple(dict.fromkeys(path for path in self.list_documents(entries) if path in self.content_paths))
        includes = sorted(
            path for path in self.content_paths if path.startswith(add_root(INCLUDES)) and is_markdown(path)
        )
        files = {path for path in self.content_paths if path.startswith(add_root(ASSETS))}
        files.update(
            self.find_linked_files(self.summary, (entry.target for entry, _ in walk_entries(entries) if entry.target))
        )
        for page in [*documents, *includes] if links else ():
            files.update(self.find_linked_files(page, (target.text for target in find_targets(self.read_page(page)))))
        return Draft(
            entries=entries,
            documents=documents,
            files=tuple(sorted(files)),
            includes=tuple(includes),
            variables=parse_variables(self.read_text_if_present(add_root(VARIABLES)) or "", at=add_root(VARIABLES)),
            tags=parse_tags(self.read_text_if_present(add_root(TAGS)) or "", at=add_root(TAGS)),
            unlisted=tuple(sorted(set(self.find_pages()).difference(documents))),
            missing=tuple(
                entry for entry, _ in walk_entries(entries) if entry.path and entry.path not in self.content_paths
            ),
            settings=self.settings,
            is_inferred=is_inferred,
            skipped=tuple(self.skipped),
        )

    def read_entries(self) -> tuple[Entry, ...]:
        return transform_entries(
            parse_summary(self.read_text(self.summary), at=self.summary, skipped=self.skipped), self.locate_file
        )

    def read_text(self, path: str) -> str:
        return decode_text(self.read(path), at=path)

    def read_text_if_present(self, path: str) -> str | None:
        return self.read_text(path) if path in self.present else None

    def read_page(self, path: str) -> str:
        """Return a page's text; bytes that are not UTF-8 become U+FFFD and stop nothing here."""
        return self.read(path).decode(errors="replace")

    def find_pages(self) -> Iterator[str]:
        """Every file that could be a page: Markdown below the root, hidden folders left out."""
        for path in self.content_paths:
            if may_be_page(path) and path != self.summary:
                yield path

    def find_inferred(self) -> Iterator[str]:
        """Every file that is a page where the space has no table of contents: that of a folder below is none."""
        name = basename(self.summary).lower()
        return (path for path in self.find_pages() if basename(path).lower() != name)

    def list_documents(self, entries: tuple[Entry, ...]) -> Iterator[str]:
        return (entry.path for entry, _ in walk_entries(entries) if entry.path and entry.anchor is None)

    def locate_file(self, entry: Entry) -> Entry:
        """Return the entry with the path of an existing file: as written, else percent-decoded."""
        if entry.path is None:
            return entry
        here = dirname(self.summary)
        if not here and entry.path in self.content_paths:
            return entry
        path = normpath(join(here, entry.path))
        if path not in self.content_paths:
            path = normpath(join(here, unquote(entry.path)))
        return entry if path == entry.path else replace(entry, path=path)

    def find_linked_files(self, at: str, addresses: Iterable[str]) -> Iterator[str]:
        """Yield the files that these addresses lead to; pages, hidden files and files with unsafe names are left
        out."""
        for address in addresses:
            found = resolve_address(address, at=at, root=self.settings.add_root(""))
            if found and found[0] in self.content_paths and self.is_asset(found[0]):
                yield found[0]

    def is_asset(self, path: str) -> bool:
        try:
            return not (is_markdown(path) or _is_hidden(check_safe_path(path)))
        except PathRefused:
            return False

    def read_title(self, path: str) -> str | None:
        return read_heading(self.read_page(path))


def may_be_page(path: str) -> bool:
    """Return whether a file with this path can be a page: it is Markdown, and in no hidden folder."""
    return is_markdown(path) and not _is_hidden(path)


def _is_hidden(path: str) -> bool:
    return path.startswith(".") or "/." in path
