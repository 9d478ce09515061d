"""From files to a tree: what a directory in Git Sync layout says about a space."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from posixpath import basename, dirname, join, normpath, splitext
from typing import Any
from urllib.parse import unquote

from syncd.errors import FileInvalid, PathRefused
from syncd.layout.page.frontmatter import heading
from syncd.layout.page.links import resolve, targets
from syncd.layout.tree import settings as settings_file
from syncd.layout.tree.infer import infer
from syncd.layout.tree.lfs_pointers import pointer_of
from syncd.layout.tree.paths import is_markdown, safe_path
from syncd.layout.tree.settings import Settings, read_settings
from syncd.layout.tree.skipped import SkippedPart
from syncd.layout.tree.summary import Entry, parse, transform, walk
from syncd.layout.tree.variables import TAGS, VARIABLES, parse_tags, parse_variables
from syncd.model.content_write import TEXT_MAX
from syncd.model.revision import Scalar

ASSETS = ".gitbook/assets/"
INCLUDES = ".gitbook/includes/"
README = "readme.md"
NOT_UTF8, HOLDS_NUL = "is not UTF-8", "holds the character NUL, which the platform refuses"
"""Why bytes are no text."""
IS_POINTER = "is a Git LFS pointer, no page"
TOO_LONG = f"has more than {TEXT_MAX:,} characters, which is too much for the API"
"""Why a text is no page that can be sent."""

Read = Callable[[str], bytes]


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
    inferred: bool = False
    skipped: tuple[SkippedPart, ...] = ()


def read_draft(paths: Collection[str], read: Read, *, links: bool = True, at: str = "") -> Draft:
    """Given every file below a space's directory and a way to read one, return the draft of the space.

    Shapes: without SUMMARY.md the tree is inferred from folders; with links=False no page is read for files that it
    links to outside `.gitbook/assets`.
    Raises: FileInvalid for a SUMMARY.md, `.gitbook.yaml`, variables or tags file that cannot be read, named from where
    the directory `at` lies.
    """
    try:
        return _Reader(frozenset(paths), read).draft(links=links)
    except FileInvalid as invalid:
        path = join(at, invalid.path)
        raise FileInvalid(
            invalid.reason, path=path, line=invalid.line, column=invalid.column, hint=invalid.hint
        ) from invalid


def page_slug(path: str, *, settings: Settings) -> str:
    """Given a page's file, return its slug: the stem, the folder's name for a README, "" for the home page."""
    if path == settings.below(settings.readme):
        return ""
    folder, name = dirname(path), basename(path)
    if name.lower() == README and folder not in ("", settings.root):
        return basename(folder)
    return splitext(name)[0]


def text_of(data: bytes, *, at: str) -> str:
    """Given a file's bytes, return its text.

    Raises: FileInvalid when they are not UTF-8, or hold the character NUL, which no platform takes.
    """
    try:
        text, start, reason = data.decode(), data.find(b"\0"), HOLDS_NUL
    except UnicodeDecodeError as error:
        text, start, reason = "", error.start, NOT_UTF8
    if start == -1:
        return text
    before = data[data.rfind(b"\n", 0, start) + 1 : start].decode()
    raise FileInvalid(reason, path=at, line=data.count(b"\n", 0, start) + 1, column=len(before) + 1)


def page_text(data: bytes, *, at: str) -> str:
    """Given a page's bytes, return its text, as it can be sent.

    Raises: FileInvalid when no platform takes it: it is no text, a pointer of Git LFS, or too long.
    """
    if pointer_of(data) is not None:
        raise FileInvalid(IS_POINTER, path=at, hint="git lfs pull")
    text = text_of(data, at=at)
    if len(text) > TEXT_MAX:
        raise FileInvalid(TOO_LONG, path=at, hint="make two pages of it")
    return text


class _Reader:
    def __init__(self, present: frozenset[str], read: Read) -> None:
        self.present, self.read = present, read
        self.settings = read_settings(self.text(settings_file.PATH))
        self.skipped = list(self.settings.skipped)
        self.summary = self.settings.below(self.settings.summary)
        self.content_paths = frozenset(path for path in present if path.startswith(self.settings.below("")))

    def draft(self, *, links: bool) -> Draft:
        below = self.settings.below
        inferred = self.summary not in self.present
        entries = infer(self.pages(), self.settings, self.title) if inferred else self.declared()
        documents = tuple(dict.fromkeys(path for path in self.listed(entries) if path in self.content_paths))
        includes = sorted(path for path in self.content_paths if path.startswith(below(INCLUDES)) and is_markdown(path))
        files = {path for path in self.content_paths if path.startswith(below(ASSETS))}
        files.update(self.linked(self.summary, (entry.target for entry, _ in walk(entries) if entry.target)))
        for page in [*documents, *includes] if links else ():
            files.update(self.linked(page, (target.text for target in targets(self.page(page)))))
        return Draft(
            entries=entries,
            documents=documents,
            files=tuple(sorted(files)),
            includes=tuple(includes),
            variables=parse_variables(self.text(below(VARIABLES)) or "", at=below(VARIABLES)),
            tags=parse_tags(self.text(below(TAGS)) or "", at=below(TAGS)),
            unlisted=tuple(sorted(set(self.pages()).difference(documents))),
            missing=tuple(entry for entry, _ in walk(entries) if entry.path and entry.path not in self.content_paths),
            settings=self.settings,
            inferred=inferred,
            skipped=tuple(self.skipped),
        )

    def declared(self) -> tuple[Entry, ...]:
        return transform(parse(self.content(self.summary), at=self.summary, skipped=self.skipped), self.locate)

    def content(self, path: str) -> str:
        return text_of(self.read(path), at=path)

    def text(self, path: str) -> str | None:
        return self.content(path) if path in self.present else None

    def page(self, path: str) -> str:
        """A page's text; bytes that are not UTF-8 stay in the page and stop nothing here."""
        return self.read(path).decode(errors="replace")

    def pages(self) -> Iterator[str]:
        """Every file that could be a page: Markdown below the root, hidden folders left out."""
        for path in self.content_paths:
            if is_markdown(path) and path != self.summary and not _is_hidden(path):
                yield path

    def listed(self, entries: tuple[Entry, ...]) -> Iterator[str]:
        return (entry.path for entry, _ in walk(entries) if entry.path and entry.anchor is None)

    def locate(self, entry: Entry) -> Entry:
        """The entry with the path of the file that it means: as written, else percent-decoded."""
        if entry.path is None:
            return entry
        here = dirname(self.summary)
        spellings = [normpath(join(here, path)) for path in (entry.path, unquote(entry.path))]
        found = (path for path in spellings if path in self.content_paths)
        path = next(found, spellings[1])
        return entry if path == entry.path else replace(entry, path=path)

    def linked(self, at: str, addresses: Iterable[str]) -> Iterator[str]:
        """Files that are no pages and that these addresses mean; hidden and dangerous names stay at home."""
        for address in addresses:
            found = resolve(address, at=at, root=self.settings.below(""))
            if found and found[0] in self.content_paths and self.is_asset(found[0]):
                yield found[0]

    def is_asset(self, path: str) -> bool:
        try:
            return not (is_markdown(path) or _is_hidden(safe_path(path)))
        except PathRefused:
            return False

    def title(self, path: str) -> str | None:
        return heading(self.page(path))


def _is_hidden(path: str) -> bool:
    return path.startswith(".") or "/." in path
