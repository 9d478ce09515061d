"""The one place where two commits are merged: page by page, SUMMARY.md by structure, conflicts held one by one."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from syncd.layout.tree.summary import transform
from syncd.plan.merge.left_out import join_names
from syncd.plan.merge.pages import (
    LINKED,
    SAME_LINES,
    SIDES,
    TITLES,
    TWO_NEW,
    Change,
    Decision,
    Knot,
    Page,
    Side,
    Text,
    Version,
    decide,
    longer,
    pages_of,
    tied,
)
from syncd.repo import Difference, Repository
from syncd.sync.merge.base import TIPS, Base, find_base, find_branch_base
from syncd.sync.merge.compose import compose_result
from syncd.sync.merge.lines import READ_MAX, merged_lines, trio
from syncd.sync.merge.linked import find_linked
from syncd.sync.merge.lossy_forms import contested
from syncd.sync.merge.moves import Recorded, find_exact_moves, find_recorded_moves, follow_moves
from syncd.sync.merge.result import LOST_WORDS, SET_ASIDE, SEVERAL_BASES, Decided, HeldPage, MergeResult
from syncd.sync.merge.tables import Fates, Tables, tables_of
from syncd.sync.workspace import Workspace

_COMPARED = (TWO_NEW, LOST_WORDS, SEVERAL_BASES)
"""Reasons for which two texts are laid side by side, and not merged."""


def merge(
    workspace: Workspace,
    ours: str,
    theirs: str,
    *,
    branch: str = "",
    base: Base | None = None,
    aside: Collection[str] = (),
) -> MergeResult:
    """Given two commits, return what they come to together; nothing is moved.

    Shape: `branch` is the one that ours is the tip of, so that its rewriting is seen; `base` is given where the
    platform has merged from another one than Git knows of. Pages with a path in `aside` are left out whatever their
    state. Cost follows the difference, once a run: whoever asks for the same two commits again gets the same value.
    Source: two-way, section 3.
    """
    base = base or find_base_of(workspace, ours, theirs, branch=branch)
    lost, set_aside = contested(workspace, ours, theirs), frozenset(aside)
    key = ("merge", workspace.bindings, ours, theirs, base, lost, set_aside)
    if key not in workspace.computed:
        workspace.computed[key] = _Merge(workspace, base, ours, theirs, lost - set_aside, set_aside).run()
    result: MergeResult = workspace.computed[key]
    return result


def find_base_of(workspace: Workspace, ours: str, theirs: str, *, branch: str = "") -> Base:
    """Given two commits, the first of them a branch's or not, return what both have known."""
    repository, fold = workspace.repository, partial(_fold, workspace)
    tip, main = repository.resolve(f"{TIPS}{branch}") if branch else None, repository.resolve(workspace.main)
    is_rewritten = tip is not None and not repository.is_ancestor(tip, ours)
    key = ("base", workspace.bindings, ours, theirs, main, tip if is_rewritten else None)
    if key not in workspace.computed:
        workspace.computed[key] = (
            find_branch_base(workspace, branch, ours, theirs, fold)
            if is_rewritten
            else find_base(workspace, ours, theirs, fold)
        )
    base: Base = workspace.computed[key]
    return base


def find_moves(workspace: Workspace, former: str, later: str) -> dict[str, str]:
    """Given a commit and a later one, return where that has files that it moved, by where they were."""
    base = Base(_root(workspace.repository, former), (former,))
    return _renames(_Merge(workspace, base, later, former).pages(), "ours")


def name_pages(workspace: Workspace, base: str, ours: str, theirs: str) -> dict[str, frozenset[str]]:
    """Given a base and two sides, return every name of the files that a side changed, by each of their names.

    Shape: of files that changed places, each has the names of both.
    """
    found = _Merge(workspace, Base(_root(workspace.repository, base), ()), ours, theirs).pages()
    return join_names(page.paths for page in found)


class _Merge:
    def __init__(
        self,
        workspace: Workspace,
        base: Base,
        ours: str,
        theirs: str,
        lost: frozenset[str] = frozenset(),
        aside: frozenset[str] = frozenset(),
    ) -> None:
        self.repository, self.bindings = workspace.repository, workspace.bindings
        self.ours, self.theirs, self.base = ours, theirs, base
        self.workspace, self.lost, self.aside = workspace, lost, aside
        self.trees = (base.tree, _root(self.repository, ours), _root(self.repository, theirs))
        self.tables: list[Tables] = []
        self.texts: dict[Page, bytes] = {}

    def run(self) -> MergeResult:
        base, ours, theirs = self.trees
        if theirs == ours or (base in (ours, theirs) and not (self.lost or self.aside or self.base.doubtful)):
            tree = theirs if ours == base else ours
            return MergeResult(self.ours, self.theirs, self.base, tree, tree)
        pages = self.pages()
        self.tables = [self._grounded(table, pages) for table in self.tables]
        free, knots = self._tied(self._contested(pages, self._merged(self._decided(pages))))
        held = tuple(zip(self._held_pages(knots), map(tuple, knots), strict=True))
        notes = tuple(decision.note for decision in free if decision.note)
        decided = Decided(self.trees, tuple(free), held, tuple(self.tables), notes)
        return compose_result(self.workspace, self.ours, self.theirs, self.base, decided, {})

    def pages(self) -> list[Page]:
        """What differs, found once a run for three trees: merges that leave different pages out begin alike."""
        computed, moves = self.workspace.computed, self._find_moves()
        key = ("pages", self.bindings, self.trees, *(tuple(side.items()) for side in moves))
        if key not in computed:
            self.tables = list(tables_of(self.repository, self.bindings, self.trees))
            computed[key] = tuple(self.tables), tuple(self._find_pages(moves))
        tables, pages = computed[key]
        self.tables = list(tables)
        return list(pages)

    def _find_moves(self) -> Recorded:
        """Where each side has files that a record tells of; bare trees have none."""
        if self.trees[1] == self.ours or self.trees[2] == self.theirs:
            return {}, {}
        key = ("moves", self.base.tree, self.ours, self.theirs)
        if key not in self.workspace.computed:
            found = find_recorded_moves(self.repository, self.base.tree, self.ours, self.theirs)
            self.workspace.computed[key] = found
        moves: Recorded = self.workspace.computed[key]
        return moves

    def _find_pages(self, moves: Recorded) -> list[Page]:
        base, ours, theirs = self.trees
        summaries = {table.ours.path for table in self.tables}
        sides = (self.repository.differences(base, tree, renames=True) for tree in (ours, theirs))
        one, other = (list(_changes(differences, summaries)) for differences in sides)
        one = follow_moves(self.repository, one, moves[0] or find_exact_moves(one), base, ours)
        other = follow_moves(self.repository, other, moves[1] or find_exact_moves(other), base, theirs)
        return pages_of(one, other, self._titles() if _is_moved(one) or _is_moved(other) else ({}, {}, {}))

    def _grounded(self, table: Tables, pages: Sequence[Page]) -> Tables:
        """The table whose base lists files where the base has them, and not where one of its own bases had them."""
        paths = {later: former for side in SIDES for former, later in _renames(pages, side).items()}
        loose = {path for path in table.former().keys() & paths.keys() if not self._has(path)}
        if table.base is None or not loose:
            return table
        entries = transform(table.base.entries, lambda e: replace(e, path=paths[e.path]) if e.path in loose else e)
        return replace(table, base=replace(table.base, entries=entries))

    def _has(self, path: str) -> bool:
        """Whether the base has a file."""
        return self.repository.lookup(self.trees[0], path) is not None

    def _titles(self) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
        """What pages are called on each side, by path."""
        found: tuple[dict[str, str], dict[str, str], dict[str, str]] = ({}, {}, {})
        for table in self.tables:
            for names, pages in zip(found, (table.former(), table.ours.pages(), table.theirs.pages()), strict=True):
                names |= {path: entry.title for path, entry in pages.items()}
        return found

    def _decided(self, pages: Iterable[Page]) -> list[Decision]:
        found = [decide(page) for page in pages]
        if any(d.text is Text.NONE and (d.page.ours or d.page.theirs) for d in found):
            titles = self._retitled([decision.page for decision in found])
            found = [decide(d.page, retitled=_sides(d.page, titles)) for d in found]
        return [replace(decision, why=decision.why or self._why_left_out(decision.page)) for decision in found]

    def _why_left_out(self, page: Page) -> str:
        if page.theirs != page.base and self.lost.intersection(page.paths):  # else ours has seen it
            return LOST_WORDS
        if self.aside.intersection(page.paths):
            return SET_ASIDE
        return SEVERAL_BASES if page.ours != page.theirs and self.base.doubtful.intersection(page.paths) else ""

    def _retitled(self, pages: Sequence[Page]) -> dict[Side, set[str]]:
        return {
            side: {path for table in self.tables for path in table.retitled(side, _renames(pages, side))}
            for side in SIDES
        }

    def _merged(self, decisions: Sequence[Decision]) -> list[Decision]:
        """Merge the lines of all texts that need it, at once."""
        wanting = [d for d in decisions if d.text is Text.MERGED and not d.why]
        grown = [d for d in wanting if d.page.base is not None]
        pages = [decision.page for decision in decisions]
        texts = merged_lines(self.repository, grown, {side: _renames(pages, side) for side in SIDES}, decisions)
        known = {
            decision.page: replace(decision, oid=text.oid, why=SAME_LINES if text.conflicts else "")
            for decision, text in zip(grown, texts, strict=True)
        }
        self.texts = {decision.page: text.text for decision, text in zip(grown, texts, strict=True) if text.conflicts}
        known |= {decision.page: self._of_two_new(decision) for decision in wanting if decision.page.base is None}
        return [known.get(decision.page, decision) for decision in decisions]

    def _of_two_new(self, decision: Decision) -> Decision:
        ours, theirs = decision.page.ours, decision.page.theirs
        assert ours is not None
        assert theirs is not None
        one, other = (self.repository.read(version.oid) for version in (ours, theirs))
        is_text = b"\0" not in one + other and max(len(one), len(other)) <= READ_MAX
        side = longer(one, other) if is_text else None
        version = decision.page.at(side) if side is not None else None
        return replace(decision, why=TWO_NEW) if version is None else replace(decision, oid=version.oid)

    def _held_pages(self, knots: Sequence[Sequence[Decision]]) -> list[HeldPage]:
        """Pages in conflict with their lines; those that no base helps with are compared as they are, all at once."""
        bare = [page for knot in knots if knot[0].why in _COMPARED for page in _both_sided(knot)]
        texts = self.repository.merge_texts([("", *trio(page)[1:]) for page in bare])
        known = self.texts | {page: text.text for page, text in zip(bare, texts, strict=True)}
        return [_held_page(knot, known) for knot in knots]

    def _contested(self, pages: Sequence[Page], decisions: Sequence[Decision]) -> list[Decision]:
        """Hold the pages that both sides gave another title; a page of which nothing else changed joins the others."""
        found = list(decisions)
        where = {decision.page.paths[0]: number for number, decision in enumerate(found)}
        for table in self.tables:
            for base, ours, theirs in table.contested(_renames(pages, "ours"), _renames(pages, "theirs")):
                if (number := where.get(base)) is not None:
                    found[number] = replace(found[number], why=found[number].why or TITLES)
                else:
                    paths = zip(self.trees, (base, ours, theirs), strict=True)
                    versions = [self._version(tree, path) for tree, path in paths]
                    found.append(replace(decide(Page(*versions)), why=TITLES))
        return found

    def _tied(self, decisions: Sequence[Decision]) -> tuple[list[Decision], list[list[Decision]]]:
        """What can be carried out, and the knots; a file is not deleted while a page in conflict links to it."""
        together: list[tuple[Page, Page]] = []
        trees: dict[Side, str] = {"ours": self.trees[1], "theirs": self.trees[2]}
        while True:
            free, knots = tied(decisions, together)
            more = find_linked(self.repository, self.bindings, trees, free, knots) if knots else []
            if not more:
                return free, knots
            together += more
            linked = {page for _, page in more}
            decisions = [replace(d, why=LINKED) if d.page in linked else d for d in decisions]

    def _version(self, tree: str, path: str) -> Version | None:
        oid = self.repository.lookup(tree, path)
        return Version(path, oid, "100644") if oid is not None else None


def _both_sided(knot: Sequence[Decision]) -> list[Page]:
    """The files of a knot that both sides have; others were deleted on one, and a page in conflict links to them."""
    versions = ((decision.page, decision.page.ours, decision.page.theirs) for decision in knot)
    return [page for page, ours, theirs in versions if ours and theirs and ours.is_regular and theirs.is_regular]


def _held_page(knot: Sequence[Decision], texts: Mapping[Page, bytes]) -> HeldPage:
    """The pages of a knot as one that waits: first the one that is in conflict itself."""
    lead = next((decision for decision in knot if decision.why not in ("", LINKED)), knot[0])
    pages = (lead.page, *(decision.page for decision in knot if decision is not lead))
    text = texts.get(lead.page, b"") if len(_both_sided(knot)) == 1 else b""
    return HeldPage(lead.page.path, lead.why, pages, text)


def _changes(differences: Iterable[Difference], summaries: Collection[str]) -> Iterable[Change]:
    """Differences as changes of pages, without the tables of contents."""
    for difference in differences:
        before, after = difference.before, difference.after
        old = Version(difference.old_path or difference.path, before.oid, before.mode) if before is not None else None
        new = Version(difference.path, after.oid, after.mode) if after is not None else None
        old = None if old is not None and old.path in summaries else old
        new = None if new is not None and new.path in summaries else new
        if old is not None or new is not None:
            yield old, new


def _is_moved(changes: Sequence[Change]) -> bool:
    """Whether a file went and another came, which may be one page."""
    return any(old is None for old, _ in changes) and any(new is None for _, new in changes)


def _renames(pages: Iterable[Page], side: Side) -> dict[str, str]:
    nothing: dict[Side, list[Knot]] = {one: [] for one in SIDES}
    return Fates(tuple(pages), {}, nothing, nothing).paths(side)


def _sides(page: Page, titles: Mapping[Side, Collection[str]]) -> list[Side]:
    return [side for side, paths in titles.items() if page.base is not None and page.base.path in paths]


def _root(repository: Repository, commit: str) -> str:
    tree = repository.subtree(commit)
    assert tree is not None
    return tree


def _fold(workspace: Workspace, one: str, other: str) -> tuple[str, frozenset[str]]:
    """Two commits merged into a base for others."""
    result = merge(workspace, one, other)
    return result.kept_ours, frozenset(path for page in result.held for path in page.paths)
