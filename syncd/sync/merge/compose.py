"""Write the trees of a merge: pages as they were decided, and SUMMARY.md merged by structure."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from syncd.errors import FileInvalid
from syncd.layout.tree.paths import is_markdown
from syncd.layout.tree.summary import Entry
from syncd.plan.merge.pages import (
    LINKED,
    SAME_LINES,
    SIDES,
    TITLES,
    Decision,
    EntryPaths,
    Page,
    Side,
    Version,
    other_side,
)
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
from syncd.sync.merge.texts import LinkMoves, follow_links, follow_moved_targets, list_link_moves, store_texts
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
        self.bindings = workspace.bindings
        self.notes = list(decided.notes)
        self.relisted: list[str] = []
        """Pages that one side took out of SUMMARY.md, and that the other changed: they stay pages."""

    def compose_tree(self, keep: Side) -> str:
        """The tree with all decisions carried out, and pages in conflict as one side has them."""
        plan = _TreeChanges()
        moves = list_link_moves(self._list_targets(keep))
        parts = (self.decided.clean, *(group for _, group in self.decided.conflicts))
        sides: dict[Side, str] = {"ours": self.decided.trees[1], "theirs": self.decided.trees[2]}
        clean, *groups = (follow_moved_targets(self.repository, self.bindings, sides, part, moves) for part in parts)
        for decision in clean:
            plan.add_page(decision.page, decision.target)
        for (conflict, _), group in zip(self.decided.conflicts, groups, strict=True):
            choice = find_choice(conflict, self.choices)
            if choice is None:
                self._add_undecided(plan, keep, group, moves)
            else:
                self._add_decided(plan, choice, conflict, group, moves)
        changes = {**plan.removed, **plan.written}
        for summary in self.decided.summaries:
            changes |= self._compose_summary(
                summary, PagePlaces(plan.pages, plan.final_paths, plan.kept, plan.titles_kept), changes
            )
        return self.repository.write_tree(self.ours, changes)

    def _list_targets(self, keep: Side) -> Iterator[tuple[Decision, Version | None]]:
        """What each page is to be but for its links; what nobody decided stays as one side has it."""
        yield from ((decision, decision.target) for decision in self.decided.clean)
        for conflict, group in self.decided.conflicts:
            choice = find_choice(conflict, self.choices)
            for decision in group:
                chosen = decision.page.at(keep) if choice is None else _choose_version(decision, group, choice)
                yield decision, chosen

    def _add_undecided(self, plan: "_TreeChanges", keep: Side, group: Sequence[Decision], moves: LinkMoves) -> None:
        """Note that pages stay as one side has them."""
        plan.kept[keep] += (frozenset(decision.page.paths) for decision in group)
        for decision in group:
            version = decision.page.at(keep)
            # What waits on the platform stays byte for byte; a branch is to lead where it has its pages now.
            plan.add_page(decision.page, self._follow_links(version, moves[keep]) if keep == "ours" else version)

    def _add_decided(
        self,
        plan: "_TreeChanges",
        choice: Choice,
        conflict: EntryConflict,
        group: Sequence[Decision],
        moves: LinkMoves,
    ) -> None:
        """Note what a person decided for pages in conflict."""
        own = choice if isinstance(choice, OwnText) else None
        side: Side = "theirs" if choice == "theirs" else "ours"
        for decision in group:
            version, paths = _choose_version(decision, group, choice), frozenset(decision.page.paths)
            if _has_merged_place(decision, group, choice):
                # It is about the title or the lines alone: the page's name and place merge, as its text or title does.
                if conflict.titles is not None:
                    plan.titles_kept[own.title if own is not None else side].append(paths)
            else:
                plan.kept[side].append(paths)
                if decision.is_text_decided and version is not None:
                    version = self._move_text(decision, version)
                else:
                    version = self._follow_links(version, moves[side])
                if own is not None and own.title == "theirs" and decision is group[0]:
                    plan.titles_kept["theirs"].append(paths)
            if own is not None and decision is group[0] and version is not None:
                version = replace(version, oid=store_texts(self.repository, [own.text])[0])
            plan.add_page(decision.page, version)

    def _follow_links(self, version: Version | None, moves: Mapping[str, str]) -> Version | None:
        """A page's version of one side, with links that lead to where pages end up."""
        if version is None:
            return None
        text = follow_links(self.repository, version, moves, to=version.path)
        return version if text is None else replace(version, oid=store_texts(self.repository, [text])[0])

    def _move_text(self, decision: Decision, chosen: Version) -> Version:
        """A page at the place that a person chose, with what both sides wrote in it; its links are followed already."""
        text = follow_links(self.repository, Version(decision.path, decision.oid, decision.mode), {}, to=chosen.path)
        return replace(chosen, oid=decision.oid if text is None else store_texts(self.repository, [text])[0])

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


def _choose_version(decision: Decision, group: Sequence[Decision], choice: Choice) -> Version | None:
    """What a page in conflict is to be when a person decided, but for its links and a text of their own."""
    if _has_merged_place(decision, group, choice):
        return decision.target
    return decision.choose("theirs" if choice == "theirs" else "ours")


def _has_merged_place(decision: Decision, group: Sequence[Decision], choice: Choice) -> bool:
    """Whether a choice leaves open what else both sides did to a page: only its titles were to be chosen, or its lines.

    Shape: the other pages of the `group` wait only because of the first one's links.
    """
    if isinstance(choice, OwnText):
        are_lines_alone = group[0].why == SAME_LINES and all(other.why == LINKED for other in group[1:])
        return are_lines_alone and decision is group[0]
    return group[0].why == TITLES


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
