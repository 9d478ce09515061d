"""Titles of pages, as the tables of contents of base, ours and theirs have them.

Where one side moved a page to another space, and the other gave it a new title in the former one, no table has both
changes: the title is carried to the new space.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from syncd.errors import FileInvalid
from syncd.layout.tree.summary import Entry, escape_title, transform_entries, walk_entries
from syncd.plan.merge.pages import SAME_LINES, SIDES, TITLES, Decision, Page, Side, Version, decide_page, other_side
from syncd.repo.repository import Repository
from syncd.repo.values import Blob
from syncd.sync.merge.result import SummaryFile, SummaryVersions, parse_entries

_LINE_ENDS = re.compile(r"(\r\n|\r|\n)")
TITLES_OF_TWO_SPACES = "both sides gave it another title, and one of them moved it to another space"


@dataclass(frozen=True)
class _Transfer:
    """A page that one side moved to another space: its entry there, and the title that the other side gave it.

    Shape: `is_contested` says that the entry has a new title, too.
    """

    page: Page
    side: Side
    summary: SummaryVersions
    entry: Entry
    other_title: str
    is_contested: bool


def list_titles(summaries: Iterable[SummaryVersions]) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """Return the titles of pages in base, ours and theirs, by path."""
    found: tuple[dict[str, str], dict[str, str], dict[str, str]] = ({}, {}, {})
    for summary in summaries:
        tables = (summary.index_base_pages(), summary.ours.index_pages(), summary.theirs.index_pages())
        for names, pages in zip(found, tables, strict=True):
            names |= {path: entry.title for path, entry in pages.items()}
    return found


def find_changed_entries(
    summaries: Sequence[SummaryVersions], renames: Mapping[Side, Mapping[str, str]]
) -> dict[Side, set[str]]:
    """Return, for each side, the base's pages to which it gave another title, or that it took out of the tables of
    contents; `renames` are its new paths by the former ones."""
    found: dict[Side, set[str]] = {}
    for side in SIDES:
        listed = {path for summary in summaries for path in summary.at(side).list_paths()}
        found[side] = set()
        for summary in summaries:
            found[side] |= summary.find_retitled(side, renames[side]) | summary.find_unlisted(listed, renames[side])
    return found


def carry_titles(
    repository: Repository,
    summaries: Sequence[SummaryVersions],
    pages: Sequence[Page],
    trees: tuple[str, str, str],
) -> tuple[str, str, str]:
    """Return the trees of a merge in which the table of contents of each page's new space has its new title.

    Shape: `trees` are those of base, ours and theirs; `pages` are in no conflict, in which a title stays as each side
    has it.
    """
    found, transfers = list(trees), list(_list_transfers(summaries, pages))
    for number, side in enumerate(SIDES, 1):
        changes: dict[str, Blob | bytes | None] = {}
        for summary in summaries:
            titles = {
                transfer.entry.line: transfer.other_title
                for transfer in transfers
                if (transfer.summary, transfer.side) == (summary, side) and not transfer.is_contested
            }
            if titles:
                table = summary.at(side)
                changes[table.path] = _retitle_entries(repository, table, titles, trees[number])
        if changes:
            found[number] = repository.write_tree(trees[number], changes)
    base, ours, theirs = found
    return base, ours, theirs


def add_title_conflicts(
    repository: Repository,
    trees: tuple[str, str, str],
    summaries: Sequence[SummaryVersions],
    renames: Mapping[Side, Mapping[str, str]],
    decisions: Sequence[Decision],
) -> list[Decision]:
    """Return decisions in which pages that both sides gave different titles are in conflict, each with its titles.

    Shape: pages of which nothing else changed come last. `trees` are those of base, ours and theirs; `renames` are each
    side's new paths by the former ones.
    """
    found = list(decisions)
    where = {decision.page.paths[0]: number for number, decision in enumerate(found)}
    for conflict in (
        one for summary in summaries for one in summary.find_title_conflicts(renames["ours"], renames["theirs"])
    ):
        if (number := where.get(conflict.paths[0])) is not None:
            found[number] = replace(found[number], why=found[number].why or TITLES, titles=conflict.titles)
        else:
            versions = zip(trees, conflict.paths, strict=True)
            before, one, other = (_find_version(repository, tree, path) for tree, path in versions)
            found.append(replace(decide_page(Page(before, one, other)), why=TITLES, titles=conflict.titles))
    # Two tables of contents have the titles: they cannot be chosen beside the lines, only with the page as a whole.
    for page in find_contested_transfers(summaries, [decision.page for decision in decisions]):
        number = where[page.paths[0]]
        if found[number].why in ("", SAME_LINES):
            found[number] = replace(found[number], why=TITLES_OF_TWO_SPACES)
    return found


def _find_version(repository: Repository, tree: str, path: str) -> Version | None:
    blob = repository.find_file(tree, path)
    return Version(path, blob.oid, blob.mode) if blob is not None else None


def find_contested_transfers(summaries: Sequence[SummaryVersions], pages: Sequence[Page]) -> set[Page]:
    """Return the pages to which both sides gave different titles, and that one of them moved to another space."""
    return {transfer.page for transfer in _list_transfers(summaries, pages) if transfer.is_contested}


def _list_transfers(summaries: Sequence[SummaryVersions], pages: Sequence[Page]) -> Iterator[_Transfer]:
    """The pages that one side moved to another space, and to which the other side gave another title."""
    known: dict[int, dict[str, Entry]] = {}

    def index(table: SummaryFile) -> dict[str, Entry]:
        if id(table) not in known:  # cost is that of one reading, however many pages have moved
            known[id(table)] = table.index_pages()
        return known[id(table)]

    for page in pages if len(summaries) > 1 else ():
        for side in SIDES:
            moved, stayed = page.at(side), page.at(other_side(side))
            if page.base is None or moved is None or stayed is None or moved.path == page.base.path:
                continue
            former, later = (_find_summary(summaries, one) for one in (page.base, moved))
            if former is None or former.base is None or later is None or later is former:
                continue
            base = index(former.base).get(page.base.path)
            entry = index(later.at(side)).get(moved.path)
            other = index(former.at(other_side(side))).get(stayed.path)
            if base and entry and other and other.title not in (base.title, entry.title):
                yield _Transfer(page, side, later, entry, other.title, is_contested=entry.title != base.title)


def _find_summary(summaries: Sequence[SummaryVersions], version: Version) -> SummaryVersions | None:
    """The table of contents of the space, the innermost one, that a file lies in."""
    holding = [one for one in summaries if one.binding.holds(version.path)]
    return max(holding, key=lambda one: len(one.binding.directory), default=None)


def _retitle_entries(repository: Repository, table: SummaryFile, titles: Mapping[int, str], tree: str) -> bytes:
    """The text of a table of contents with other titles, by line, as it is written as far as possible."""

    def retitle(entry: Entry) -> Entry:
        return replace(entry, title=titles.get(entry.line, entry.title))

    entries = transform_entries(table.entries, retitle)
    parts = _LINE_ENDS.split(repository.read(table.oid).decode())  # lines, and their ends between them
    for entry, _ in walk_entries(table.entries):
        if (title := titles.get(entry.line)) is not None:
            at, new = 2 * (entry.line - 1), f"[{escape_title(title)}]"
            parts[at] = parts[at].replace(f"[{escape_title(entry.title)}]", new, 1)
    text = "".join(parts).encode()
    with suppress(FileInvalid):
        if parse_entries(table.path, text, lambda file: repository.lookup(tree, file) is not None) == entries:
            return text
    return table.render_entries(entries)
