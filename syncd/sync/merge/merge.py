"""Merge two commits: page by page, SUMMARY.md by structure. It is the only merge in the program.

An entry in conflict is left out by itself, so that all others merge. Source: docs/decisions/0002-one-recorded-base.md.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from syncd.layout.tree.summary import transform_entries
from syncd.plan.merge.pages import (
    LINKED,
    SIDES,
    TWO_NEW,
    Decision,
    EntryPaths,
    Page,
    Side,
    TextSource,
    decide_page,
    separate_conflicts,
)
from syncd.plan.merge.pair_pages import FileChange, may_be_one_page, pair_pages, prefer_transfers
from syncd.plan.merge.restore_entries import group_paths
from syncd.sync.binding import find_directory
from syncd.sync.directories import follow_places, follow_roots, follow_spaces
from syncd.sync.merge.base import find_base, find_base_changes, join_commits, list_former_tips
from syncd.sync.merge.compose import compose_result
from syncd.sync.merge.halves import join_halves
from syncd.sync.merge.lines import (
    explain_conflict,
    has_same_words,
    is_one_text,
    list_blobs,
    mark_conflicts,
    merge_lines,
    merge_new_texts,
)
from syncd.sync.merge.link_targets import find_deleted_targets
from syncd.sync.merge.lossy_forms import find_unseen_edits
from syncd.sync.merge.moves import (
    RecordedMoves,
    find_exchanged,
    find_moves_by_text,
    find_recorded_moves,
    find_renames,
    list_file_changes,
    pair_moved_files,
)
from syncd.sync.merge.result import (
    EXCLUDED,
    SEVERAL_BASES,
    Base,
    Decisions,
    EntryConflict,
    MergeResult,
    PagePlaces,
    SummaryVersions,
)
from syncd.sync.merge.summaries import drop_absent_pages, find_summaries, follow_renames
from syncd.sync.merge.titles import (
    TITLES_OF_TWO_SPACES,
    add_title_conflicts,
    carry_titles,
    find_changed_entries,
    list_titles,
)
from syncd.sync.outcome import LOST_WORDS
from syncd.sync.workspace import Workspace

_COMPARED = (TWO_NEW, LOST_WORDS, SEVERAL_BASES)
"""Reasons for which two texts are shown side by side, since no base helps to merge them."""


def merge(
    workspace: Workspace,
    ours: str,
    theirs: str,
    *,
    branch: str = "",
    base: Base | None = None,
    excluded: Collection[str] = (),
) -> MergeResult:
    """Return the merge of two commits, page by page; no ref is moved.

    Shape: `branch` is the branch with the tip `ours`, by which a rewrite is noticed. `base` is given where the platform
    has merged from another base than Git knows. Pages with a path in `excluded` are always left out. Cost grows with
    the difference; the result is cached for the run.
    Raises: GitFailed when the history is cut off, as in a shallow clone.
    """
    base = base or find_merge_base(workspace, ours, theirs, branch=branch)
    unseen_edits, excluded_paths = find_unseen_edits(workspace, ours, theirs), frozenset(excluded)
    key = ("merge", workspace.bindings, ours, theirs, base, unseen_edits, excluded_paths)
    if key not in workspace.cache:
        workspace.cache[key] = _Merge(
            workspace, base, ours, theirs, unseen_edits - excluded_paths, excluded_paths
        ).run()
    result: MergeResult = workspace.cache[key]
    return result


def find_merge_base(workspace: Workspace, ours: str, theirs: str, *, branch: str = "") -> Base:
    """Return the merge base of two commits; `branch` is the branch with the tip `ours`, if any.

    Raises: GitFailed when the history is cut off, as in a shallow clone.
    """
    former_tips = list_former_tips(workspace, branch, ours, theirs) if branch else ()
    key = ("base", workspace.bindings, ours, theirs, workspace.repository.resolve(workspace.main), former_tips)
    if key not in workspace.cache:
        plain = find_base(workspace, ours, theirs, partial(_merge_two_bases, workspace))
        found = _widen_base(workspace, former_tips, ours, theirs, plain) if former_tips else plain
        workspace.cache[key] = replace(found, former_tips=former_tips)
    base: Base = workspace.cache[key]
    return base


def _widen_base(workspace: Workspace, former_tips: Sequence[str], ours: str, theirs: str, plain: Base) -> Base:
    """The merge base of a rewritten branch that also counts what the branch had before, given the base without that."""
    repository, bindings = workspace.repository, workspace.bindings
    known = join_commits(repository, ours, former_tips)
    wide = find_base(workspace, known, theirs, partial(_merge_two_bases, workspace))
    # The rewrite may have lost the commit with which main content followed a new root.
    plain = replace(plain, tree=follow_roots(repository, bindings, plain.tree, wide.tree))
    if wide.tree == plain.tree:
        return plain
    orders = [order for tip in former_tips for order in ((plain.tree, ours, tip), (tip, ours, plain.tree))]
    names = [list_page_names(workspace, *order) for order in orders]
    exchanged = find_exchanged(repository, wide.tree, plain.tree)
    changes = find_base_changes(workspace, former_tips, (ours, theirs), (plain, wide), names, exchanged)
    tree = repository.write_tree(wide.tree, changes)
    if changes:  # SUMMARY.md may be that of `plain`, and a page that it lists that of `wide`, which has none
        tree = drop_absent_pages(repository, bindings, tree, (plain.tree, wide.tree))
    return Base(tree, plain.commits, wide.ambiguous | plain.ambiguous)


def find_moves(workspace: Workspace, former: str, later: str) -> dict[str, str]:
    """Return the new path of each file that was moved between a commit and a later one, by its old path."""
    base = Base(workspace.repository.read_root_tree(former), (former,))
    comparison = _Merge(workspace, base, later, former)
    return comparison.restore_paths(_list_renames(comparison.find_pages(), "ours"))


def list_page_names(workspace: Workspace, base: str, ours: str, theirs: str) -> dict[str, frozenset[str]]:
    """Return, for each path of a changed file, all paths that the file has in the base and on both sides.

    Shape: files that exchanged paths share all of their paths.
    """
    found = _Merge(workspace, Base(workspace.repository.read_root_tree(base), ()), ours, theirs).find_pages()
    return group_paths(page.paths for page in found)


def add_page_names(
    workspace: Workspace, entries: Iterable[Collection[str]], base: str, ours: str, theirs: str
) -> list[tuple[str, ...]]:
    """Return entries, each with all paths that its page has in the base and on both sides."""
    named = [*entries]
    names = list_page_names(workspace, base, ours, theirs) if named else {}
    return [tuple(sorted({*paths}.union(*(names.get(path, ()) for path in paths)))) for paths in named]


class _Merge:
    """The steps of one merge: find the pages that differ, decide about each, merge texts, and separate conflicts. All
    steps after the first use the summaries that it finds."""

    def __init__(
        self,
        workspace: Workspace,
        base: Base,
        ours: str,
        theirs: str,
        unseen_edits: frozenset[str] = frozenset(),
        excluded: frozenset[str] = frozenset(),
    ) -> None:
        self.repository, self.bindings = workspace.repository, workspace.bindings
        self.ours, self.theirs = ours, theirs
        moved, self.notes = follow_spaces(self.repository, self.bindings, base.tree, ours, theirs)
        self.given_base, self.base_tree, self.places = base, base.tree, [m.places for m in moved]
        self.base = replace(base, tree=moved[0].tree)
        self.workspace, self.unseen_edits, self.excluded = workspace, unseen_edits, excluded
        base_tree, *sides = (one.tree for one in moved)
        one, other = (follow_renames(self.repository, self.bindings, base_tree, side) for side in sides)
        trees = (base_tree, one, other)
        joined, self.joined_paths = join_halves(
            self.repository,
            self.bindings,
            (ours, theirs),
            trees,
            self._find_moves(),
            partial(find_renames, self.repository),
            former_tips=base.former_tips,
            excluded=excluded,
        )
        base_tree, one, other = (
            tree if tree == now else drop_absent_pages(self.repository, self.bindings, now, [tree])
            for tree, now in zip(trees, joined, strict=True)
        )
        self.trees = base_tree, one, other
        self.summaries: list[SummaryVersions] = []
        self.texts: dict[Page, bytes] = {}

    def run(self) -> MergeResult:
        base, ours, theirs = self.trees
        # When only one side changed, its tree is the result; but pages that are left out, that lost words or that
        # several bases have differently are in conflict even then.
        if theirs == ours or (
            base in (ours, theirs) and not (self.unseen_edits or self.excluded or self.base.ambiguous)
        ):
            tree = theirs if ours == base else ours
            return MergeResult(self.ours, self.theirs, self.base, tree, tree, notes=tuple(self.notes))
        clean, groups = self._decide()
        trees = carry_titles(self.repository, self.summaries, [decision.page for decision in clean], self.trees)
        if trees != self.trees:
            self.trees = trees
            clean, groups = self._decide()
        conflicts = tuple(zip(self._describe_conflicts(groups), map(tuple, groups), strict=True))
        notes = (*self.notes, *(decision.note for decision in clean if decision.note))
        decided = Decisions(self.trees, tuple(clean), conflicts, tuple(self.summaries), notes)
        result = compose_result(self.workspace, self.ours, self.theirs, self.base, decided, {})
        torn = [conflict for conflict in result.conflicts if not self.joined_paths.isdisjoint(conflict.paths)]
        return self._keep_halves(result, torn) if torn else result

    def _keep_halves(self, result: MergeResult, conflicts: Sequence[EntryConflict]) -> MergeResult:
        """The result with pages in conflict in both of the spaces in which a side has them, and not in one."""
        excluded = self.excluded.union(*(conflict.paths for conflict in conflicts))
        apart = merge(self.workspace, self.ours, self.theirs, base=self.given_base, excluded=excluded)
        return replace(result, tree_with_ours=apart.tree_with_ours, tree_with_theirs=apart.tree_with_theirs)

    def find_pages(self) -> list[Page]:
        """The pages that differ; cached by the three trees, so that merges that exclude different pages share them."""
        computed, moves = self.workspace.cache, self._find_moves()
        key = ("pages", self.bindings, self.trees, *(tuple(side.items()) for side in moves))
        if key not in computed:
            self.summaries = list(find_summaries(self.repository, self.bindings, self.trees))
            computed[key] = tuple(self.summaries), tuple(self._compare_sides(moves))
        summaries, pages = computed[key]
        self.summaries = [self._update_base_paths(summary, pages) for summary in summaries]
        return list(pages)

    def _decide(self) -> tuple[list[Decision], list[list[Decision]]]:
        """Clean decisions about the pages that differ, and groups in conflict."""
        pages = self.find_pages()
        merged, moves = self._merge_texts(self._decide_pages(pages)), _list_moves(pages)
        return self._separate_conflicts(add_title_conflicts(self.repository, self.trees, self.summaries, moves, merged))

    def restore_paths(self, moves: Mapping[str, str]) -> dict[str, str]:
        """The moves of ours, with each path as the base and ours have it."""
        base, ours = ({new: old for old, new in places.items()} for places in self.places[:2])
        stayed = {path: path for path in base if self.repository.lookup(self.trees[1], path) is not None}
        return follow_places(stayed | dict(moves), base, ours)

    def _find_moves(self) -> RecordedMoves:
        """The recorded moves of each side; a plain tree has none."""
        if self.repository.is_tree(self.ours) or self.repository.is_tree(self.theirs):
            return {}, {}
        key = ("moves", self.base_tree, self.base, self.ours, self.theirs)
        if key not in self.workspace.cache:
            found = find_recorded_moves(
                self.repository, self.base_tree, self.ours, self.theirs, bases=self.base.commits
            )
            before, one, other = self.places
            self.workspace.cache[key] = follow_places(found[0], before, one), follow_places(found[1], before, other)
        moves: RecordedMoves = self.workspace.cache[key]
        return moves

    def _compare_sides(self, moves: RecordedMoves) -> list[Page]:
        one, other = (self._list_changes(side, moved) for side, moved in zip(SIDES, moves, strict=True))
        titles = list_titles(self.summaries) if may_be_one_page(one, other) else ({}, {}, {})
        pages = pair_pages(one, other, titles, is_one_text=partial(is_one_text, self.repository))
        return list(prefer_transfers(pages, partial(find_directory, self.bindings)))

    def _list_changes(self, side: Side, recorded: Mapping[str, str]) -> list[FileChange]:
        """A side's changes but those of tables of contents, with each moved file as one; who moves a page onto
        another's path changes the table of contents."""
        base, tree = self.trees[0], self.trees[1 + SIDES.index(side)]
        former = {summary.base.path for summary in self.summaries if summary.base is not None}
        later = {summary.at(side).path for summary in self.summaries}
        changes = list(list_file_changes(self.repository.compare_trees(base, tree, renames=True), former, later))
        by_lines = any(summary.is_changed(side) for summary in self.summaries)
        moves = find_moves_by_text(self.repository, changes, recorded, by_lines=by_lines)
        return pair_moved_files(self.repository, changes, moves, base, tree)

    def _update_base_paths(self, summary: SummaryVersions, pages: Sequence[Page]) -> SummaryVersions:
        """The summaries with the base's entries at the paths that the base tree has.

        A base that was merged from several may list a file under a path that only one of these had.
        """
        paths = {later: former for side in SIDES for former, later in _list_renames(pages, side).items()}
        loose = {path for path in summary.index_base_pages().keys() & paths.keys() if not self._is_in_base(path)}
        if summary.base is None or not loose:
            return summary
        entries = transform_entries(
            summary.base.entries, lambda e: replace(e, path=paths[e.path]) if e.path in loose else e
        )
        return replace(summary, base=replace(summary.base, entries=entries))

    def _is_in_base(self, path: str) -> bool:
        """Whether the base has a file."""
        return self.repository.lookup(self.trees[0], path) is not None

    def _decide_pages(self, pages: Sequence[Page]) -> list[Decision]:
        moves = _list_moves(pages)
        same = {page for page in pages if has_same_words(self.repository, page, moves)}
        found = [decide_page(page, has_same_words=page in same) for page in pages]
        # SUMMARY.md matters only for a page that one side deleted: a new title is an edit that keeps it, and what is no
        # page any more is a file of that side's own.
        if any(d.text is TextSource.NONE and (d.page.ours or d.page.theirs) for d in found):
            entries = find_changed_entries(self.summaries, moves)
            found = [
                decide_page(page, entry_changes=_find_sides(page, entries), has_same_words=page in same)
                for page in pages
            ]
        return [replace(decision, why=decision.why or self._find_reason(decision.page)) for decision in found]

    def _find_reason(self, page: Page) -> str:
        if page.theirs != page.base and self.unseen_edits.intersection(
            page.paths
        ):  # else ours has that version already
            return LOST_WORDS
        if self.excluded.intersection(page.paths):
            return EXCLUDED
        return SEVERAL_BASES if page.ours != page.theirs and self.base.ambiguous.intersection(page.paths) else ""

    def _merge_texts(self, decisions: Sequence[Decision]) -> list[Decision]:
        """Merge the lines of all texts that need it, in one call of Git."""
        to_merge = [d for d in decisions if d.text is TextSource.MERGED and not d.why]
        with_base = [d for d in to_merge if d.page.base is not None]
        pages = [decision.page for decision in decisions]
        texts = merge_lines(self.repository, with_base, _list_moves(pages), decisions)
        known = {
            decision.page: replace(decision, oid=text.oid, why=explain_conflict(text))
            for decision, text in zip(with_base, texts, strict=True)
        }
        self.texts = {
            decision.page: text.text for decision, text in zip(with_base, texts, strict=True) if text.conflicts
        }
        known |= {decision.page: self._decide_two_new(decision) for decision in to_merge if decision.page.base is None}
        return [known.get(decision.page, decision) for decision in decisions]

    def _decide_two_new(self, decision: Decision) -> Decision:
        oid = merge_new_texts(self.repository, decision.page)
        return replace(decision, oid=oid) if oid else replace(decision, why=TWO_NEW)

    def _describe_conflicts(self, groups: Sequence[Sequence[Decision]]) -> list[EntryConflict]:
        """Each group of decisions as a conflict with its lines; texts without a usable base are compared directly."""
        without_base = [page for group in groups if group[0].why in _COMPARED for page in _find_on_both_sides(group)]
        trios = [("", *list_blobs(page)[1:]) for page in without_base]
        texts = mark_conflicts(self.repository, trios, self.repository.merge_texts(trios))
        known = self.texts | {page: text.text for page, text in zip(without_base, texts, strict=True)}
        return [_build_conflict(group, known) for group in groups]

    def _separate_conflicts(self, decisions: Sequence[Decision]) -> tuple[list[Decision], list[list[Decision]]]:
        """Clean decisions, and groups in conflict; a file is not deleted while a page in conflict links to it."""
        together: list[tuple[Page, Page]] = []
        # A file that is kept for such a link is in conflict itself, and may link to further deleted files.
        trees: dict[Side, str] = {"ours": self.trees[1], "theirs": self.trees[2]}
        while True:
            clean, groups = separate_conflicts(decisions, together)
            more = find_deleted_targets(self.repository, self.bindings, trees, clean, groups) if groups else []
            if not more:
                return clean, groups
            together += more
            linked = {page for _, page in more}
            decisions = [replace(d, why=LINKED) if d.page in linked else d for d in decisions]


def _find_on_both_sides(group: Sequence[Decision]) -> list[Page]:
    """The files of a group that both sides have; one side deleted the others, and a page in conflict links to them."""
    versions = ((decision.page, decision.page.ours, decision.page.theirs) for decision in group)
    return [page for page, ours, theirs in versions if ours and theirs and ours.is_regular and theirs.is_regular]


def _build_conflict(group: Sequence[Decision], texts: Mapping[Page, bytes]) -> EntryConflict:
    """A group of decisions as one conflict: first the page that is in conflict itself."""
    main_decision = next((decision for decision in group if decision.why not in ("", LINKED)), group[0])
    pages = (main_decision.page, *(decision.page for decision in group if decision is not main_decision))
    why, titles = main_decision.why, main_decision.titles
    to_choose = [decision for decision in group if not decision.is_text_decided]
    has_lines = len(_find_on_both_sides(to_choose)) == 1 and why != TITLES_OF_TWO_SPACES
    text = texts.get(main_decision.page, b"") if has_lines else b""
    return EntryConflict(main_decision.page.path, why, pages, text, titles)


def _list_renames(pages: Iterable[Page], side: Side) -> dict[str, str]:
    nothing: dict[Side, list[EntryPaths]] = {one: [] for one in SIDES}
    return PagePlaces(tuple(pages), {}, nothing, nothing).list_renames(side)


def _list_moves(pages: Sequence[Page]) -> dict[Side, dict[str, str]]:
    return {side: _list_renames(pages, side) for side in SIDES}


def _find_sides(page: Page, titles: Mapping[Side, Collection[str]]) -> list[Side]:
    return [side for side, paths in titles.items() if page.base is not None and page.base.path in paths]


def _merge_two_bases(workspace: Workspace, one: str, other: str) -> tuple[str, frozenset[str]]:
    """Merge two best common ancestors into one tree, and return with it the paths in conflict."""
    result = merge(workspace, one, other)
    return result.tree_with_ours, frozenset(path for page in result.conflicts for path in page.paths)
