"""The one place where two commits are merged: page by page, SUMMARY.md by structure, conflicts held one by one."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from syncd.layout.summary import transform
from syncd.plan.meeting import (
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
from syncd.repo import Blob, Difference, Repository
from syncd.sync.forms import contested
from syncd.sync.merge.base import Base, find_base, find_branch_base
from syncd.sync.merge.lines import READ_MAX, merged_lines
from syncd.sync.merge.linked import find_linked
from syncd.sync.merge.tables import Fates, Tables, merged_table, tables_of
from syncd.sync.workspace import Workspace

Choice = Side | bytes
"""What a person decided for a held page: a side, or a text of their own."""
SET_ASIDE = "it is set aside already"
SEVERAL_BASES = "both sides have merged it differently before"
LOST_WORDS = "the platform had lost words of it, and they were edited there in the same place"


@dataclass(frozen=True)
class HeldPage:
    """A page that waits for a person, or pages that hold each other; `path` is where people look for it."""

    path: str
    why: str
    pages: tuple[Page, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path that it has on a side."""
        return tuple(dict.fromkeys(path for page in self.pages for path in page.paths))

    @property
    def entries(self) -> tuple[tuple[str, ...], ...]:
        """The paths of each of its pages, as they are left out."""
        return tuple(page.paths for page in self.pages)

    def on(self, side: Side) -> tuple[str, ...]:
        """Given a side, return its paths there; none where it was deleted or never was."""
        return tuple(version.path for page in self.pages if (version := page.at(side)) is not None)


@dataclass(frozen=True)
class MergeResult:
    """What two commits come to together, and the pages in conflict, which need a person.

    Shape: the trees differ in the pages in conflict only, which are as the one side has them. `outside` are paths in
    conflict that lie in no space, `revived` those that a side deleted and that stay for what the other wrote.
    """

    ours: str
    theirs: str
    base: Base
    kept_ours: str
    kept_theirs: str
    held: tuple[HeldPage, ...] = ()
    notes: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    revived: tuple[str, ...] = ()


def merge(
    workspace: Workspace,
    ours: str,
    theirs: str,
    *,
    branch: str = "",
    base: Base | None = None,
    choices: Mapping[str, Choice] | None = None,
    aside: Collection[str] = (),
) -> MergeResult:
    """Given two commits, return what they come to together; nothing is moved.

    Shape: `branch` is the one that ours is the tip of, so that its rewriting is seen; `base` is given where the
    platform has merged from another one than Git knows of. `choices` says by path what a person decided for pages in
    conflict; pages with a path in `aside` are left out whatever their state. Cost follows the difference.
    Source: two-way, section 3.
    """
    base = base or find_base_of(workspace, ours, theirs, branch=branch)
    return _Merge(workspace, base, ours, theirs, choices or {}, frozenset(aside)).run()


def find_base_of(workspace: Workspace, ours: str, theirs: str, *, branch: str = "") -> Base:
    """Given two commits, the first of them a branch's or not, return what both have known."""
    fold = partial(_fold, workspace)
    if branch:
        return find_branch_base(workspace, branch, ours, theirs, fold)
    return find_base(workspace, ours, theirs, fold)


def find_moves(workspace: Workspace, former: str, later: str) -> dict[str, str]:
    """Given a commit and a later one, return where that has files that it moved, by where they were."""
    base = Base(_root(workspace.repository, former), (former,))
    return _renames(_Merge(workspace, base, later, former, {}, frozenset()).pages(), "ours")


class _Merge:
    def __init__(
        self,
        workspace: Workspace,
        base: Base,
        ours: str,
        theirs: str,
        choices: Mapping[str, Choice],
        aside: frozenset[str],
    ) -> None:
        self.repository, self.bindings = workspace.repository, workspace.bindings
        self.ours, self.theirs, self.base = ours, theirs, base
        self.choices = choices
        self.lost = contested(workspace, ours, theirs) - aside
        self.aside = aside | self.lost
        self.trees = (base.tree, _root(self.repository, ours), _root(self.repository, theirs))
        self.tables: list[Tables] = []
        self.notes: list[str] = []

    def run(self) -> MergeResult:
        base, ours, theirs = self.trees
        if theirs == ours or (base in (ours, theirs) and not self.aside and not self.base.doubtful):
            tree = theirs if ours == base else ours
            return MergeResult(self.ours, self.theirs, self.base, tree, tree)
        pages = self.pages()
        self.tables = [self._grounded(table, pages) for table in self.tables]
        free, knots = self._tied(self._contested(pages, self._merged(self._decided(pages))))
        held = [(HeldPage(knot[0].page.path, knot[0].why, tuple(d.page for d in knot)), knot) for knot in knots]
        self.notes += [decision.note for decision in free if decision.note]
        open_ones = tuple(page for page, _ in held if self._choice(page) is None)
        outside = tuple(path for page in open_ones for path in page.paths if not self._is_inside(path))
        one = self._tree(free, held, "ours")
        other = self._tree(free, held, "theirs") if open_ones else one
        notes = tuple(dict.fromkeys(self.notes))
        revived = tuple(decision.path for decision in free if decision.is_revived)
        return MergeResult(self.ours, self.theirs, self.base, one, other, open_ones, notes, outside, revived)

    def pages(self) -> list[Page]:
        base, ours, theirs = self.trees
        self.tables = list(tables_of(self.repository, self.bindings, self.trees))
        summaries = {table.ours.path for table in self.tables}
        sides = (self.repository.differences(base, tree, renames=True) for tree in (ours, theirs))
        one, other = (list(_changes(differences, summaries)) for differences in sides)
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
        if self.lost.intersection(page.paths):
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

    def _choice(self, held: HeldPage) -> Choice | None:
        return next((self.choices[path] for path in held.paths if path in self.choices), None)

    def _is_inside(self, path: str) -> bool:
        return any(binding.holds(path) for binding in self.bindings)

    def _tree(self, free: Sequence[Decision], held: Sequence[tuple[HeldPage, list[Decision]]], keep: Side) -> str:
        """The tree of all that is decided, with held pages as one side has them."""
        plan = _Plan()
        for decision in free:
            plan.place(decision.page, decision.target)
        for page, knot in held:
            choice = self._choice(page) or keep
            side: Side = "theirs" if choice == "theirs" else "ours"
            title_only = page.why == TITLES and self._choice(page) is not None
            (plan.titled if title_only else plan.kept)[side] += map(frozenset, page.entries)
            for decision in knot:
                plan.place(decision.page, decision.target if title_only else decision.page.at(side))
            if isinstance(choice, bytes):
                plan.puts[page.path] = choice
        changes = {**plan.gone, **plan.puts}
        for table in self.tables:
            changes |= self._table(table, Fates(plan.pages, plan.final, plan.kept, plan.titled), changes)
        return self.repository.replaced(self.trees[1], changes) if changes else self.trees[1]

    def _table(
        self, table: Tables, fates: Fates, changes: Mapping[str, Blob | bytes | None]
    ) -> dict[str, Blob | bytes | None]:
        binding = table.binding
        present = {binding.path(inner) for inner in self.repository.tree(self.trees[1], binding.directory)}
        present -= {path for path, content in changes.items() if content is None}
        present |= {path for path, content in changes.items() if content is not None}
        delisted = {final for path, final in _delisted(table, fates) if self._has(path)}
        content, notes = merged_table(self.repository, table, fates, present - delisted)
        self.notes += notes
        return {table.ours.path: content} if content is not None else {}


def _delisted(table: Tables, fates: Fates) -> Iterator[tuple[str, str]]:
    """Pages that a side took out of the table and the other left alone: the base's path, and the final one."""
    by_base = {page.base.path: page for page in fates.pages if page.base is not None}
    for side, other in zip(SIDES, reversed(SIDES), strict=True):
        if not table.changed(side):
            continue
        listed, paths = table.at(side).pages(), fates.paths(side, calm=False)
        retitled = table.retitled(other, fates.paths(other, calm=False))
        for path in table.former():
            page = by_base.get(path)
            is_there = page is None or page.at(side) is not None
            is_changed = path in retitled or (page is not None and page.is_edited(other))
            if is_there and paths.get(path, path) not in listed and not is_changed:
                yield path, fates.final.get(path, path) or path


@dataclass
class _Plan:
    """What has to change in ours' tree, and what becomes of every page by it."""

    puts: dict[str, Blob | bytes | None] = field(default_factory=dict)
    gone: dict[str, Blob | bytes | None] = field(default_factory=dict)
    pages: list[Page] = field(default_factory=list)
    final: dict[str, str | None] = field(default_factory=dict)
    kept: dict[Side, list[Knot]] = field(default_factory=lambda: {side: [] for side in SIDES})
    titled: dict[Side, list[Knot]] = field(default_factory=lambda: {side: [] for side in SIDES})

    def place(self, page: Page, target: Version | None) -> None:
        """Given a page, let it be at its target."""
        self.pages.append(page)
        if page.base is not None:
            self.final[page.base.path] = target.path if target is not None else None
        if page.ours is not None and (target is None or target.path != page.ours.path):
            self.gone[page.ours.path] = None
        if target is not None and target != page.ours:
            self.puts[target.path] = Blob(target.oid, target.mode)


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
    """Two commits merged into a base for others; each two once, or bases of bases would be merged over and over."""
    key = (workspace.bindings, one, other)
    if key not in workspace.folds:
        result = merge(workspace, one, other)
        workspace.folds[key] = (result.kept_ours, frozenset(path for page in result.held for path in page.paths))
    return workspace.folds[key]
