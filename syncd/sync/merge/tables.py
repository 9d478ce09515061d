"""Read SUMMARY.md from the three trees of a merge, and merge it by structure."""

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
        """Return the entry of each page by its path; a second entry for the same file is only a link to it."""
        found: dict[str, Entry] = {}
        for entry, _ in walk(self.entries):
            if entry.path is not None and entry.anchor is None:
                found.setdefault(entry.path, entry)
        return found

    def render_entries(self, entries: Iterable[Entry]) -> bytes:
        """Given entries, return the text of the file for them."""
        return render(transform(entries, self._make_relative)).encode()

    def _make_relative(self, entry: Entry) -> Entry:
        return entry if entry.path is None else replace(entry, path=relative(entry.path, at=self.path))


def read_summary(repository: Repository, binding: Binding, tree: str) -> SummaryFile | None:
    """Given a tree, return the space's SUMMARY.md there; None when there is none, or none that can be read."""
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
    """The path of SUMMARY.md in a tree, and its blob."""
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
    """One space's SUMMARY.md in base, ours and theirs; the base may lack it."""

    binding: Binding
    base: SummaryFile | None
    ours: SummaryFile
    theirs: SummaryFile

    def is_changed(self, side: Side) -> bool:
        """Given a side, return whether it changed the file."""
        return self.base is None or self.at(side).oid != self.base.oid

    def at(self, side: Side) -> SummaryFile:
        """Given a side, return its version."""
        return self.ours if side == "ours" else self.theirs

    def index_base_pages(self) -> dict[str, Entry]:
        """Return the entries of the base's pages by path."""
        return self.base.index_pages() if self.base is not None else {}

    def find_retitled(self, side: Side, paths: Mapping[str, str]) -> set[str]:
        """Given a side and its renames of the base's files, return the base's pages that it gave another title."""
        if not self.is_changed(side):
            return set()
        pages = self.at(side).index_pages()
        news = {path: pages.get(paths.get(path, path)) for path in self.index_base_pages()}
        return {
            path for path, entry in self.index_base_pages().items() if (new := news[path]) and new.title != entry.title
        }

    def find_title_conflicts(self, ours: Mapping[str, str], theirs: Mapping[str, str]) -> list[tuple[str, str, str]]:
        """Given the renames of both sides, return the paths in base, ours and theirs of pages whose titles conflict."""
        if not (self.is_changed("ours") and self.is_changed("theirs")):
            return []
        former, one, other = self.index_base_pages(), self.ours.index_pages(), self.theirs.index_pages()
        found = []
        for path in sorted({*former, *(one.keys() & other.keys())}):
            in_ours, in_theirs = ours.get(path, path), theirs.get(path, path)
            base, first, second = former.get(path), one.get(in_ours), other.get(in_theirs)
            if first is None or second is None or first.title == second.title:
                continue
            if base is None or base.title not in (first.title, second.title):
                found.append((path, in_ours, in_theirs))
        return found


def find_summaries(
    repository: Repository, bindings: Iterable[Binding], trees: tuple[str, str, str]
) -> Iterator[SummaryVersions]:
    """Given the trees of base, ours and theirs, return the summaries that can be merged by structure."""
    for binding in bindings:
        located = [_locate_summary(repository, binding, tree) for tree in trees]
        if len(set(located)) == 1:
            continue
        known = {place: read_summary(repository, binding, tree) for place, tree in zip(located, trees, strict=True)}
        base, ours, theirs = (known[place] for place in located)
        if ours is None or theirs is None or ours.path != theirs.path:
            continue
        if base is None and repository.lookup(trees[0], ours.path) is not None:
            continue
        if base is None or base.path == ours.path:
            yield SummaryVersions(binding, base, ours, theirs)


@dataclass(frozen=True)
class PagePlaces:
    """Where the pages of a merge are on each side, and where they end up.

    Shape: `final` are the final paths by those in the base, None for a deleted page. `kept` are the pages that stay as
    one side has them, by side; `titles_kept` those of which only the title does.
    """

    pages: Sequence[Page]
    final: Mapping[str, str | None]
    kept: Mapping[Side, Sequence[EntryPaths]]
    titles_kept: Mapping[Side, Sequence[EntryPaths]]

    def list_renames(self, side: Side, *, but_kept: bool = True) -> dict[str, str]:
        """Given a side, return its renames of the base's files; with `but_kept`, none of a page that stays as the other
        side has it."""
        unchanged = {path for paths in self.kept[_other(side)] for path in paths} if but_kept else set[str]()
        return {
            page.base.path: version.path
            for page in self.pages
            if page.base and (version := page.at(side)) and version.path != page.base.path
            if page.base.path not in unchanged
        }  # fmt: skip


def merge_summary(
    repository: Repository, tables: SummaryVersions, places: PagePlaces, present: Collection[str]
) -> tuple[Blob | bytes | None, tuple[str, ...]]:
    """Given the versions of SUMMARY.md and where pages end up, return the merged file (None: as ours), with notes.

    Shape: `present` are the files of the merged tree. The bytes of a side, or of a merge line by line, are used when
    they have the same entries.
    """
    if not tables.is_changed("theirs") and not tables.is_changed("ours"):
        return None, ()
    former = tables.index_base_pages()
    ours, theirs = (
        restore_entries(
            restore_entries(tables.at(side).entries, places.kept[_other(side)], former),
            places.titles_kept[_other(side)],
            former,
            titles=True,
        )
        for side in SIDES
    )
    for side, entries in zip(SIDES, (ours, theirs), strict=True):
        is_alone = entries == tables.at(side).entries and not tables.is_changed(_other(side))
        if is_alone and _fits_pages(tables, places, side):
            return (Blob(tables.theirs.oid, "100644") if side == "theirs" else None), ()
    structure = merge_entries(
        tables.base.entries if tables.base is not None else (),
        ours,
        theirs,
        ours_paths=places.list_renames("ours"),
        theirs_paths=places.list_renames("theirs"),
        present=present,
    )
    return _render_summary(repository, tables, structure.entries, present), structure.notes


def _render_summary(
    repository: Repository, tables: SummaryVersions, entries: tuple[Entry, ...], present: Collection[str]
) -> Blob | bytes | None:
    """The file for entries: ours', theirs', both merged line by line, or, when none has these entries, a new text."""
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


def _fits_pages(tables: SummaryVersions, places: PagePlaces, side: Side) -> bool:
    """Whether the version of the one side that changed it is right for all pages that the other side changed."""
    listed, former = tables.at(side).index_pages(), tables.index_base_pages()
    for page in places.pages:
        if page.base is None or not is_markdown(page.base.path) or not tables.binding.holds(page.base.path):
            continue
        version = page.at(side)
        final = places.final[page.base.path]
        if final != (version.path if version is not None else None):
            return False
        if page.is_edited(_other(side)) and page.base.path in former and final not in listed:
            return False
    return True


def _other(side: Side) -> Side:
    return "theirs" if side == "ours" else "ours"
