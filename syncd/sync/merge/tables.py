"""SUMMARY.md where two sides meet: read from three trees, and merged by structure."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from posixpath import dirname, join, normpath
from urllib.parse import unquote

from syncd.errors import FileInvalid
from syncd.layout.page.links import relative
from syncd.layout.tree.paths import is_markdown
from syncd.layout.tree.summary import Entry, parse, render, transform, walk
from syncd.plan.merge.left_out import restore_entries
from syncd.plan.merge.pages import SIDES, EntryPaths, Page, Side
from syncd.plan.merge.summary import merge_entries
from syncd.repo import Blob, Repository
from syncd.sync.summary_files import read_settings_at
from syncd.sync.workspace import Binding


@dataclass(frozen=True)
class SummaryFile:
    """A space's SUMMARY.md in one tree; the paths of its entries are from the repository's root."""

    path: str
    oid: str
    entries: tuple[Entry, ...]

    def index_pages(self) -> dict[str, Entry]:
        """Return the entry of each page by its path; a second entry for a file only leads to it."""
        found: dict[str, Entry] = {}
        for entry, _ in walk(self.entries):
            if entry.path is not None and entry.anchor is None:
                found.setdefault(entry.path, entry)
        return found

    def render_entries(self, entries: Iterable[Entry]) -> bytes:
        """Given entries, return the file that says them."""
        return render(transform(entries, self._make_relative)).encode()

    def _make_relative(self, entry: Entry) -> Entry:
        return entry if entry.path is None else replace(entry, path=relative(entry.path, at=self.path))


def read_summary(repository: Repository, binding: Binding, tree: str) -> SummaryFile | None:
    """Given a tree, return the space's table of contents there; None when there is none, or none that can be read."""
    found = _locate_summary(repository, binding, tree)
    if found is None:
        return None
    path, oid = found
    try:
        entries = parse_entries(path, repository.read(oid), lambda file: repository.lookup(tree, file) is not None)
        return SummaryFile(path, oid, entries)
    except (FileInvalid, UnicodeDecodeError):
        return None


def _locate_summary(repository: Repository, binding: Binding, tree: str) -> tuple[str, str] | None:
    """Where the table of contents is in a tree, and its blob."""
    try:
        settings = read_settings_at(repository, binding, tree)
    except (FileInvalid, UnicodeDecodeError):
        return None
    path = binding.path(settings.below(settings.summary))
    oid = repository.lookup(tree, path)
    return (path, oid) if oid is not None else None


def parse_entries(path: str, text: bytes, exists: Callable[[str], bool]) -> tuple[Entry, ...]:
    """Given the text of a SUMMARY.md, return its entries, each with the path of its file from the repository's root.

    Raises: FileInvalid, UnicodeDecodeError.
    """
    folder = dirname(path)

    def located(entry: Entry) -> Entry:
        if entry.path is None:
            return entry
        written = normpath(join(folder, entry.path))
        plain = "%" not in written or exists(written)
        found = written if plain else normpath(join(folder, unquote(entry.path)))
        return entry if found == entry.path else replace(entry, path=found)

    return transform(parse(text.decode(), at=path), located)


@dataclass(frozen=True)
class SummaryVersions:
    """One space's table of contents on three sides; the base's may be absent."""

    binding: Binding
    base: SummaryFile | None
    ours: SummaryFile
    theirs: SummaryFile

    def is_changed(self, side: Side) -> bool:
        """Given a side, return whether it changed the table."""
        return self.base is None or self.at(side).oid != self.base.oid

    def at(self, side: Side) -> SummaryFile:
        """Given a side, return its table."""
        return self.ours if side == "ours" else self.theirs

    def index_base_pages(self) -> dict[str, Entry]:
        """Return the base's pages."""
        return self.base.index_pages() if self.base is not None else {}

    def find_retitled(self, side: Side, paths: Mapping[str, str]) -> set[str]:
        """Given where a side has the base's renamed files, return the base's pages that have another title there."""
        if not self.is_changed(side):
            return set()
        pages = self.at(side).index_pages()
        news = {path: pages.get(paths.get(path, path)) for path in self.index_base_pages()}
        return {
            path for path, told in self.index_base_pages().items() if (new := news[path]) and new.title != told.title
        }

    def find_title_conflicts(self, ours: Mapping[str, str], theirs: Mapping[str, str]) -> list[tuple[str, str, str]]:
        """Given where both sides have renamed files, return pages titled differently, by their three paths."""
        if not (self.is_changed("ours") and self.is_changed("theirs")):
            return []
        former, one, other = self.index_base_pages(), self.ours.index_pages(), self.theirs.index_pages()
        found = []
        for path in sorted({*former, *(one.keys() & other.keys())}):
            here, there = ours.get(path, path), theirs.get(path, path)
            told, first, second = former.get(path), one.get(here), other.get(there)
            if first is None or second is None or first.title == second.title:
                continue
            if told is None or told.title not in (first.title, second.title):
                found.append((path, here, there))
        return found


def find_summaries(
    repository: Repository, bindings: Iterable[Binding], trees: tuple[str, str, str]
) -> Iterator[SummaryVersions]:
    """Given base's, ours' and theirs' tree, return the tables that can be merged by structure."""
    for binding in bindings:
        places = [_locate_summary(repository, binding, tree) for tree in trees]
        if len(set(places)) == 1:
            continue
        known = {place: read_summary(repository, binding, tree) for place, tree in zip(places, trees, strict=True)}
        base, ours, theirs = (known[place] for place in places)
        if ours is None or theirs is None or ours.path != theirs.path:
            continue
        if base is None and repository.lookup(trees[0], ours.path) is not None:
            continue
        if base is None or base.path == ours.path:
            yield SummaryVersions(binding, base, ours, theirs)


@dataclass(frozen=True)
class PagePlaces:
    """What became of the files: who is where, and what is there in the end.

    Shape: `kept` are the pages that stand as one side has them, `titled` those with the title of one side.
    """

    pages: Sequence[Page]
    final: Mapping[str, str | None]
    kept: Mapping[Side, Sequence[EntryPaths]]
    titles_kept: Mapping[Side, Sequence[EntryPaths]]

    def list_renames(self, side: Side, *, calm: bool = True) -> dict[str, str]:
        """Given a side, return where it has each file that it renamed; with `calm`, none that the other side keeps."""
        still = {path for knot in self.kept[_other(side)] for path in knot} if calm else set[str]()
        return {
            page.base.path: version.path
            for page in self.pages
            if page.base and (version := page.at(side)) and version.path != page.base.path
            if page.base.path not in still
        }  # fmt: skip


def merge_summary(
    repository: Repository, tables: SummaryVersions, fates: PagePlaces, present: Collection[str]
) -> tuple[Blob | bytes | None, tuple[str, ...]]:
    """Given tables and what became of the files, return the merged table (None: ours), with notes.

    Shape: bytes of a side, or of a merge line by line, are kept when they say the same.
    """
    if not tables.is_changed("theirs") and not tables.is_changed("ours"):
        return None, ()
    former = tables.index_base_pages()
    ours, theirs = (
        restore_entries(
            restore_entries(tables.at(side).entries, fates.kept[_other(side)], former),
            fates.titles_kept[_other(side)],
            former,
            titles=True,
        )
        for side in SIDES
    )
    for side, entries in zip(SIDES, (ours, theirs), strict=True):
        is_alone = entries == tables.at(side).entries and not tables.is_changed(_other(side))
        if is_alone and _fits_pages(tables, fates, side):
            return (Blob(tables.theirs.oid, "100644") if side == "theirs" else None), ()
    structure = merge_entries(
        tables.base.entries if tables.base is not None else (),
        ours,
        theirs,
        ours_paths=fates.list_renames("ours"),
        theirs_paths=fates.list_renames("theirs"),
        present=present,
    )
    return _render_summary(repository, tables, structure.entries, present), structure.notes


def _render_summary(
    repository: Repository, tables: SummaryVersions, entries: tuple[Entry, ...], present: Collection[str]
) -> Blob | bytes | None:
    """The bytes for entries: ours', theirs', both merged line by line, or, when none says the same, new ones."""
    if entries == tables.ours.entries:
        return None
    if entries == tables.theirs.entries:
        return Blob(tables.theirs.oid, "100644")
    if tables.base is not None:
        (text,) = repository.merge_texts([(tables.base.oid, tables.ours.oid, tables.theirs.oid)])
        with suppress(FileInvalid, UnicodeDecodeError):
            found = parse_entries(tables.ours.path, repository.read(text.oid), present.__contains__)
            if not text.conflicts and found == entries:
                return Blob(text.oid, "100644")
    return tables.ours.render_entries(entries)


def _fits_pages(tables: SummaryVersions, fates: PagePlaces, side: Side) -> bool:
    """Whether the table of the one side that changed it is right for all pages that the other side changed."""
    listed, former = tables.at(side).index_pages(), tables.index_base_pages()
    for page in fates.pages:
        if page.base is None or not is_markdown(page.base.path) or not tables.binding.holds(page.base.path):
            continue
        version = page.at(side)
        final = fates.final[page.base.path]
        if final != (version.path if version is not None else None):
            return False
        if page.is_edited(_other(side)) and page.base.path in former and final not in listed:
            return False
    return True


def _other(side: Side) -> Side:
    return "theirs" if side == "ours" else "ours"
