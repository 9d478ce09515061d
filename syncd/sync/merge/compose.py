"""Write the trees of a merge: pages as they were decided, and SUMMARY.md merged by structure."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from syncd.errors import FileInvalid
from syncd.layout.tree.paths import is_markdown
from syncd.layout.tree.summary import Entry
from syncd.plan.merge.pages import SIDES, TITLES, EntryPaths, Page, Side, Version, other_side
from syncd.plan.merge.restore_entries import restore_entries
from syncd.plan.merge.summary import merge_entries
from syncd.repo.repository import Repository
from syncd.repo.values import Blob
from syncd.sync.merge.result import (
    Base,
    Choice,
    Decisions,
    EntryConflict,
    MergeResult,
    OwnText,
    PagePlaces,
    SummaryVersions,
    parse_entries,
)
from syncd.sync.merge.texts import follow_links, list_side_moves, store_texts
from syncd.sync.workspace import Workspace


def compose_result(
    workspace: Workspace, ours: str, theirs: str, base: Base, decided: Decisions, choices: Mapping[str, Choice]
) -> MergeResult:
    """Write the merged trees of two commits from what was decided for each page, and return the result.

    Shape: `choices` says by path what a person decided for pages in conflict.
    """
    composer = _TreeComposer(workspace, decided, choices)
    conflicts = tuple(conflict for conflict, _ in decided.conflicts if find_choice(conflict, choices) is None)
    paths = [path for conflict in conflicts for path in conflict.paths]
    outside = tuple(path for path in paths if not any(binding.holds(path) for binding in workspace.bindings))
    tree_with_ours = composer.compose_tree("ours")
    tree_with_theirs = composer.compose_tree("theirs") if conflicts else tree_with_ours
    notes = tuple(dict.fromkeys(composer.notes))
    revived = dict.fromkeys(decision.path for decision in decided.clean if decision.is_revived)
    revived |= dict.fromkeys(composer.relisted)
    return MergeResult(
        ours, theirs, base, tree_with_ours, tree_with_theirs, conflicts, notes, outside, tuple(revived), decided
    )


def apply_choices(workspace: Workspace, result: MergeResult, choices: Mapping[str, Choice]) -> MergeResult:
    """Return a merge result with what a person decided, by path, for pages in conflict; nothing is merged again."""
    if result.decisions is None or not choices:
        return result
    return compose_result(workspace, result.ours, result.theirs, result.base, result.decisions, choices)


def find_choice(conflict: EntryConflict, choices: Mapping[str, Choice]) -> Choice | None:
    """Return the choice for any path of a page in conflict; None when there is none."""
    return next((choices[path] for path in conflict.paths if path in choices), None)


class _TreeComposer:
    def __init__(self, workspace: Workspace, decided: Decisions, choices: Mapping[str, Choice]) -> None:
        self.repository, self.decided, self.choices = workspace.repository, decided, choices
        self.moves = list_side_moves(decided.clean)
        self.notes = list(decided.notes)
        self.relisted: list[str] = []
        """Pages that one side took out of SUMMARY.md, and that the other changed: they stay pages."""

    def compose_tree(self, keep: Side) -> str:
        """The tree with all decisions carried out, and pages in conflict as one side has them."""
        plan = _TreeChanges()
        for decision in self.decided.clean:
            plan.add_page(decision.page, decision.target)
        for conflict, group in self.decided.conflicts:
            chosen = find_choice(conflict, self.choices)
            choice = keep if chosen is None else chosen
            # A text of their own goes to where ours has the page, and replaces ours' text below.
            side: Side = "theirs" if choice == "theirs" else "ours"
            # Where only the titles conflict, the texts have merged: the choice is about the title alone.
            title_only = conflict.why == TITLES and chosen is not None
            (plan.titles_kept if title_only else plan.kept)[side] += map(frozenset, conflict.paths_per_page)
            for decision in group:
                version = decision.page.at(side) if chosen is None else decision.choose(side)
                # What waits on the platform stays byte for byte; a branch is to lead where it has its pages now.
                if version is not None and (side == "ours" or chosen is not None):
                    version = self._follow_links(version, side)
                plan.add_page(decision.page, decision.target if title_only else version)
            if isinstance(choice, OwnText):
                plan.written[conflict.path] = choice.text
                if choice.title == "theirs":
                    plan.titles_kept["theirs"].append(frozenset(conflict.pages[0].paths))
        changes = {**plan.removed, **plan.written}
        for summary in self.decided.summaries:
            changes |= self._compose_summary(
                summary, PagePlaces(plan.pages, plan.final_paths, plan.kept, plan.titles_kept), changes
            )
        return self.repository.write_tree(self.ours, changes)

    def _follow_links(self, version: Version, side: Side) -> Version:
        """A page's version of one side, with links that lead to where the pages without a conflict end up."""
        text = follow_links(self.repository, version, self.moves[side], to=version.path)
        return version if text is None else replace(version, oid=store_texts(self.repository, [text])[0])

    def _compose_summary(
        self, summary: SummaryVersions, places: PagePlaces, changes: Mapping[str, Blob | bytes | None]
    ) -> dict[str, Blob | bytes | None]:
        binding = summary.binding
        present = {binding.path(inner) for inner in self.repository.list_files(self.ours, binding.directory)}
        present -= {path for path, content in changes.items() if content is None}
        present |= {path for path, content in changes.items() if content is not None and binding.holds(path)}
        found = [one for one in _find_delisted(summary, places) if self._is_in_base(one.path)]
        delisted = {one.final for one in found if not one.is_changed}
        self.relisted += (one.final for one in found if one.is_changed)
        missing = {path for path in _list_undropped(summary) - present if not self._has_file(path)}
        content, notes = merge_summary(self.repository, summary, places, (present - delisted) | missing)
        self.notes += notes
        if summary.path != summary.ours.path:
            text = self.repository.read(summary.ours.oid) if content is None else content
            return {summary.ours.path: None, summary.path: text}
        return {summary.path: content} if content is not None else {}

    @property
    def ours(self) -> str:
        return self.decided.trees[1]

    def _has_file(self, path: str) -> bool:
        """Whether a path is a file in base, ours or theirs."""
        return any(self.repository.lookup(tree, path) is not None for tree in self.decided.trees)

    def _is_in_base(self, path: str) -> bool:
        return self.repository.lookup(self.decided.trees[0], path) is not None


def _list_undropped(summary: SummaryVersions) -> set[str]:
    """The pages that a side lists and none has dropped; one without a file stays listed until its writer drops it."""
    former = set(summary.index_base_pages())
    ours, theirs = (set(summary.at(side).index_pages()) for side in SIDES)
    return ((ours | theirs) - former) | (ours & theirs)


class _Delisted(NamedTuple):
    """A page that one side took out of SUMMARY.md: its path in the base and its final one, and whether the other side
    changed it."""

    path: str
    final: str
    is_changed: bool


def _find_delisted(summary: SummaryVersions, places: PagePlaces) -> Iterator[_Delisted]:
    by_base = {page.base.path: page for page in places.pages if page.base is not None}
    for side, other in zip(SIDES, reversed(SIDES), strict=True):
        if not summary.is_changed(side):
            continue
        listed, paths = summary.at(side).index_pages(), places.list_renames(side, skip_kept=False)
        retitled = summary.find_retitled(other, places.list_renames(other, skip_kept=False))
        for path in summary.index_base_pages():
            page = by_base.get(path)
            is_there = page is None or page.at(side) is not None
            is_changed = path in retitled or (page is not None and page.is_edited(other))
            final = places.final.get(path, path)
            # Where the merge deletes the page, another one may have its path now.
            if final is not None and is_there and paths.get(path, path) not in listed:
                yield _Delisted(path, final, is_changed)


@dataclass
class _TreeChanges:
    """What has to change in ours' tree: files written and removed, and where each page of the base ends up.

    Shape: `kept` are the pages that stay as one side has them, by side, and `titles_kept` those of which only the title
    does.
    """

    written: dict[str, Blob | bytes | None] = field(default_factory=dict)
    removed: dict[str, Blob | bytes | None] = field(default_factory=dict)
    pages: list[Page] = field(default_factory=list)
    final_paths: dict[str, str | None] = field(default_factory=dict)
    kept: dict[Side, list[EntryPaths]] = field(default_factory=lambda: {side: [] for side in SIDES})
    titles_kept: dict[Side, list[EntryPaths]] = field(default_factory=lambda: {side: [] for side in SIDES})

    def add_page(self, page: Page, target: Version | None) -> None:
        """Note the changes to files that turn a page into its target; None deletes it."""
        self.pages.append(page)
        if page.base is not None:
            self.final_paths[page.base.path] = target.path if target is not None else None
        if page.ours is not None and (target is None or target.path != page.ours.path):
            self.removed[page.ours.path] = None
        if target is not None and target != page.ours:
            self.written[target.path] = Blob(target.oid, target.mode)


def merge_summary(
    repository: Repository, summary: SummaryVersions, places: PagePlaces, present: Collection[str]
) -> tuple[bytes | None, tuple[str, ...]]:
    """Return the merge of SUMMARY.md, None where ours stays, and notes for people.

    Shape: `places` says where pages end up, `present` are the files of the merged tree. The bytes of a side, or of a
    merge line by line, are used when they have the same entries.
    """
    if not summary.is_changed("theirs") and not summary.is_changed("ours"):
        return None, ()
    former = summary.index_base_pages()
    # A page that stays as one side has it must not change through the table of the other side: there, its entry is put
    # back to what the base has, so that the merge finds a change on one side only. A title that was chosen is given to
    # both sides: the base need not have the page.
    ours, theirs = (
        restore_entries(
            restore_entries(summary.at(side).entries, places.kept[other_side(side)], former),
            places.titles_kept[other_side(side)],
            summary.at(other_side(side)).index_pages(),
            titles_only=True,
        )
        for side in SIDES
    )
    for side, entries in zip(SIDES, (ours, theirs), strict=True):
        is_alone = entries == summary.at(side).entries and not summary.is_changed(other_side(side))
        if is_alone and _fits_pages(summary, places, side):
            return (repository.read(summary.theirs.oid) if side == "theirs" else None), ()
    structure = merge_entries(
        summary.base.entries if summary.base is not None else (),
        ours,
        theirs,
        ours_paths=places.list_renames("ours"),
        theirs_paths=places.list_renames("theirs"),
        present=present,
    )
    return _render_summary(repository, summary, structure.entries, present), structure.notes


def _render_summary(
    repository: Repository, summary: SummaryVersions, entries: tuple[Entry, ...], present: Collection[str]
) -> bytes | None:
    """The file for entries: ours', theirs', both merged line by line, or, when none has these entries, a new text."""
    # Rendering would replace the writer's own spacing and headings, so any text with these entries is preferred.
    if entries == summary.ours.entries:
        return None
    if entries == summary.theirs.entries:
        return repository.read(summary.theirs.oid)
    if summary.base is not None:
        (text,) = repository.merge_texts([(summary.base.oid, summary.ours.oid, summary.theirs.oid)])
        with suppress(FileInvalid, UnicodeDecodeError):
            merged = repository.read(text.oid)
            if not text.conflicts and parse_entries(summary.path, merged, present.__contains__) == entries:
                return merged
    return replace(summary.ours, path=summary.path).render_entries(entries)


def _fits_pages(summary: SummaryVersions, places: PagePlaces, side: Side) -> bool:
    """Whether the version of the one side that changed it is right for all pages that the other side changed."""
    listed, former = summary.at(side).index_pages(), summary.index_base_pages()
    for page in places.pages:
        version = page.at(side)
        # A page that a side moved here from another space is listed here as well.
        paths = [one.path for one in (page.base, version) if one is not None]
        if page.base is None or not is_markdown(page.base.path) or not any(map(summary.binding.holds, paths)):
            continue
        final = places.final[page.base.path]
        if final != (version.path if version is not None else None):
            return False
        if page.is_edited(other_side(side)) and page.base.path in former and final not in listed:
            return False
    return True
