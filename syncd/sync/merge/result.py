"""The result of merging two commits: two trees, and the entries in conflict."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from posixpath import dirname, join, normpath
from urllib.parse import unquote

from syncd.layout.markdown.addresses import make_relative
from syncd.layout.tree.paths import is_markdown
from syncd.layout.tree.summary import (
    PARSED_MAX,
    Entry,
    parse_summary,
    render_summary,
    transform_entries,
    walk_entries,
)
from syncd.plan.merge.pages import SIDES, TITLES, Decision, EntryPaths, Page, Side, other_side
from syncd.sync.binding import Binding


@dataclass(frozen=True)
class OwnText:
    """A text that a person chose for a page in conflict, and the side whose title it gets."""

    text: bytes
    title: Side = "ours"


Choice = Side | OwnText
"""What a person decided for a page in conflict: a side, or a text of their own."""
EXCLUDED = "it was left out by the caller"
SEVERAL_BASES = "both sides have merged it differently before"


@dataclass(frozen=True)
class Base:
    """The tree of a merge base, and its commits.

    Shape: `tree` need not be that of `commits`: for a rewritten branch, it also counts former tips. `commits` become
    the parents of a part, so no former tip is among them: that would bring the dropped commits back. `ambiguous` are
    paths that are in conflict between several best common ancestors: where the sides differ in one of these, they are
    in conflict too, since choosing one ancestor would favour a side. `former_tips` are what the branch was before a
    rewrite: their commits tell which pages they had moved.
    """

    tree: str
    commits: tuple[str, ...]
    ambiguous: frozenset[str] = frozenset()
    former_tips: tuple[str, ...] = ()


@dataclass(frozen=True)
class TitleConflict:
    """A page that both sides gave different titles: its paths in base, ours and theirs, and its titles there.

    Shape: a title is "" where the base lacks the page.
    """

    paths: tuple[str, str, str]
    titles: tuple[str, str, str]


@dataclass(frozen=True)
class SummaryFile:
    """A space's SUMMARY.md in one tree; the paths of its entries are from the repository's root."""

    path: str
    oid: str
    entries: tuple[Entry, ...]

    def index_pages(self) -> dict[str, Entry]:
        """Return the entry of each page by its path; a second entry for the same file is only a link to it."""
        found: dict[str, Entry] = {}
        for entry, _ in walk_entries(self.entries):
            if entry.path is not None and entry.anchor is None:
                found.setdefault(entry.path, entry)
        return found

    def list_paths(self) -> set[str]:
        """Return the paths of all files that the table lists."""
        return {entry.path for entry, _ in walk_entries(self.entries) if entry.path is not None}

    def find_former_names(self, renames: Mapping[str, str]) -> dict[str, str]:
        """Return the renames of files that the table lists under their former names alone."""
        listed = self.list_paths()
        return {old: new for old, new in renames.items() if old in listed and new not in listed}

    def render_entries(self, entries: Iterable[Entry]) -> bytes:
        """Return the text of the file for entries."""
        return render_summary(transform_entries(entries, self._make_relative)).encode()

    def _make_relative(self, entry: Entry) -> Entry:
        return entry if entry.path is None else replace(entry, path=make_relative(entry.path, at=self.path))


def parse_entries(path: str, text: bytes, exists: Callable[[str], bool]) -> tuple[Entry, ...]:
    """Return the entries in the text of a SUMMARY.md, each with the path of its file from the repository's root.

    Raises: FileInvalid, UnicodeDecodeError.
    """
    if b"%" not in text and "%" not in path:
        return _parse_unencoded(path, text)
    return _parse(path, text, exists)


@lru_cache(maxsize=PARSED_MAX)
def _parse_unencoded(path: str, text: bytes) -> tuple[Entry, ...]:
    """Parse with a small cache: a run asks for the files of the same few large tables many times."""
    return _parse(path, text, lambda file: True)


def _parse(path: str, text: bytes, exists: Callable[[str], bool]) -> tuple[Entry, ...]:
    folder = dirname(path)

    def find_path(entry: Entry) -> Entry:
        if entry.path is None:
            return entry
        written = normpath(join(folder, entry.path))
        # A percent sign may be part of a file's name; only where no such file exists does it encode a character.
        plain = "%" not in written or exists(written)
        found = written if plain else normpath(join(folder, unquote(entry.path)))
        return entry if found == entry.path else replace(entry, path=found)

    return transform_entries(parse_summary(text.decode(), at=path), find_path)


@dataclass(frozen=True)
class SummaryVersions:
    """One space's SUMMARY.md in base, ours and theirs; the base may lack it.

    Shape: one side may have moved it, or both alike: `.gitbook.yaml` says where it lies.
    """

    binding: Binding
    base: SummaryFile | None
    ours: SummaryFile
    theirs: SummaryFile

    @property
    def path(self) -> str:
        """Where the file lies after the merge."""
        is_moved_by_theirs = self.base is not None and self.ours.path == self.base.path
        return self.theirs.path if is_moved_by_theirs else self.ours.path

    def is_changed(self, side: Side) -> bool:
        """Return whether a side changed the text of the file."""
        return self.base is None or self.at(side).oid != self.base.oid

    def at(self, side: Side) -> SummaryFile:
        """Return the version of a side."""
        return self.ours if side == "ours" else self.theirs

    def index_base_pages(self) -> dict[str, Entry]:
        """Return the entries of the base's pages by path."""
        return self.base.index_pages() if self.base is not None else {}

    def find_retitled(self, side: Side, paths: Mapping[str, str]) -> set[str]:
        """Return the base's pages to which a side gave another title; `paths` has its renames."""
        if not self.is_changed(side):
            return set()
        pages = self.at(side).index_pages()
        news = {path: pages.get(paths.get(path, path)) for path in self.index_base_pages()}
        return {
            path for path, entry in self.index_base_pages().items() if (new := news[path]) and new.title != entry.title
        }

    def find_unlisted(self, listed: Collection[str], paths: Mapping[str, str]) -> set[str]:
        """Return the base's pages that are at none of the listed paths any more; `paths` are a side's renames."""
        pages = filter(is_markdown, self.index_base_pages())
        return {path for path in pages if paths.get(path, path) not in listed}

    def find_title_conflicts(self, ours: Mapping[str, str], theirs: Mapping[str, str]) -> list[TitleConflict]:
        """Return the pages whose titles conflict.

        Shape: `ours` and `theirs` are the new paths of each side by the former ones. Where one side added a page at a
        path to which the other moved one, these are two pages.
        """
        if not (self.is_changed("ours") and self.is_changed("theirs")):
            return []
        former, one, other = self.index_base_pages(), self.ours.index_pages(), self.theirs.index_pages()
        found = []
        added = (one.keys() & other.keys()) - {*ours.values(), *theirs.values()}
        for path in sorted({*former, *added}):
            in_ours, in_theirs = ours.get(path, path), theirs.get(path, path)
            base, first, second = former.get(path), one.get(in_ours), other.get(in_theirs)
            if first is None or second is None or first.title == second.title:
                continue
            if base is None or base.title not in (first.title, second.title):
                titles = base.title if base is not None else "", first.title, second.title
                found.append(TitleConflict((path, in_ours, in_theirs), titles))
        return found


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

    def list_renames(self, side: Side, *, skip_kept: bool = True) -> dict[str, str]:
        """Return a side's renames, by the former path; with `skip_kept`, without pages that stay as the other side
        has them.
        """
        unchanged = {path for paths in self.kept[other_side(side)] for path in paths} if skip_kept else set[str]()
        return {
            page.former_path: version.path
            for page in self.pages
            if (version := page.at(side)) and version.path != page.former_path
            if page.former_path not in unchanged
        }  # fmt: skip


@dataclass(frozen=True)
class EntryConflict:
    """A page that a person has to decide about, or several pages that can only be decided together.

    Shape: `path` is where people look for it; `why` is what keeps it from being merged. `text` has both sides' lines,
    with Git's markers around those in conflict; b"" where no lines were merged. `titles` are those of the page in base,
    ours and theirs where both sides gave it another one, whatever else is in conflict.
    """

    path: str
    why: str
    pages: tuple[Page, ...]
    text: bytes = field(default=b"", repr=False)
    titles: tuple[str, str, str] | None = None

    @property
    def reason(self) -> str:
        """Why it is in conflict, as a sentence for people."""
        is_hidden = self.titles is not None and self.why not in (TITLES, EXCLUDED)
        return f"{self.why}, and its titles differ" if is_hidden else self.why

    @property
    def choices(self) -> str:
        """The options of `syncd resolve` that can decide it: an editor takes a text with lines in conflict."""
        return "--ours, --theirs or --edit" if b"<<<<<<<" in self.text else "--ours or --theirs"

    def find_title(self, side: Side) -> str:
        """Return the title that a side gave the page, where titles are in conflict; else ""."""
        return self.titles[1 + SIDES.index(side)] if self.titles is not None else ""

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path that it has on a side."""
        return tuple(dict.fromkeys(path for page in self.pages for path in page.paths))

    @property
    def paths_per_page(self) -> tuple[tuple[str, ...], ...]:
        """The paths of each of its pages on all sides, as `leave_out` takes them."""
        return tuple(page.paths for page in self.pages)

    def list_paths(self, side: Side) -> tuple[str, ...]:
        """Return the paths of a side; none where the page was deleted or never existed there."""
        return tuple(version.path for page in self.pages if (version := page.at(side)) is not None)


@dataclass(frozen=True)
class Decisions:
    """What becomes of each page of base, ours and theirs: `clean` pages merge, `conflicts` need a person's choice.

    Shape: `trees` are those of base, ours and theirs.
    """

    trees: tuple[str, str, str]
    clean: tuple[Decision, ...]
    conflicts: tuple[tuple[EntryConflict, tuple[Decision, ...]], ...]
    summaries: tuple[SummaryVersions, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class MergeResult:
    """The trees that merging two commits gives, and the pages in conflict, which need a person.

    Shape: the trees differ only in the pages in conflict, and in links to these: `tree_with_ours` has them as ours,
    `tree_with_theirs` as theirs. `outside_paths` are paths in conflict that lie in no space. `revived_paths` are files
    that one side deleted, or took out of the table of contents, and that stay pages because the other changed them.
    `decisions` is what the trees were made from; None where one side has all of the other.
    """

    ours: str
    theirs: str
    base: Base
    tree_with_ours: str
    tree_with_theirs: str
    conflicts: tuple[EntryConflict, ...] = ()
    notes: tuple[str, ...] = ()
    outside_paths: tuple[str, ...] = ()
    revived_paths: tuple[str, ...] = ()
    decisions: Decisions | None = field(default=None, repr=False, compare=False)

    def has_conflict_in(self, binding: Binding) -> bool:
        """Return whether a page of a space is in conflict."""
        return any(binding.holds(path) for page in self.conflicts for path in page.paths)
