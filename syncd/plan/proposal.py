"""Plan a change request's content: the fewest operations that turn existing pages and files into the desired ones."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from syncd.layout.draft import Draft, page_slug
from syncd.layout.paths import slugify
from syncd.layout.summary import Entry, walk
from syncd.model.anchor import Anchor
from syncd.model.page import Page
from syncd.model.revision import Revision
from syncd.plan.change import Change, Plan
from syncd.plan.order import settled

ROOT = ""
"""Stands for the space's root where a step names a parent."""


@dataclass(frozen=True)
class AddFile:
    """Upload the file at `path`."""

    path: str
    oid: str


@dataclass(frozen=True)
class InsertStep:
    """Insert the page of file `path` under `into` (a page id, the path of a page inserted earlier, or ROOT)."""

    path: str
    oid: str
    title: str
    slug: str
    into: str
    at: int | None


@dataclass(frozen=True)
class UpdateStep:
    """Edit, retitle, re-slug or move page `id`; None leaves a property as it is."""

    id: str
    path: str
    oid: str | None = None
    title: str | None = None
    slug: str | None = None
    into: str | None = None
    at: int | None = None

    def __bool__(self) -> bool:
        return any(value is not None for value in (self.oid, self.title, self.slug, self.into, self.at))


@dataclass(frozen=True)
class DeleteStep:
    """Delete page `id`, which was file `path`, and with it the files `below`."""

    id: str
    path: str
    below: tuple[str, ...] = ()


Step = AddFile | InsertStep | UpdateStep | DeleteStep


@dataclass(frozen=True)
class Existing:
    """The content that a proposal starts from: a revision, and the anchors of its pages and files by id."""

    revision: Revision
    anchors: Mapping[str, Anchor]


@dataclass(frozen=True)
class Desired:
    """The content that a branch asks for: its entries, its blobs by path, and renames since the existing one."""

    draft: Draft
    blobs: Mapping[str, str]
    renames: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Proposal:
    """Steps in the order in which they must be written; `plan` is the same for people, with what cannot be written."""

    steps: tuple[Step, ...]
    plan: Plan

    @property
    def deleted(self) -> tuple[str, ...]:
        """Paths of all pages that would be deleted."""
        steps = [step for step in self.steps if isinstance(step, DeleteStep)]
        return tuple(path for step in steps for path in (step.path, *step.below))


@dataclass(eq=False)
class _Node:
    """A page of the existing tree while the steps are rehearsed on it; a page to insert has its path for an id."""

    id: str
    page: Page | None
    path: str | None
    parent: "_Node | None" = None
    children: list["_Node"] = field(default_factory=list)


def plan_proposal(desired: Desired, existing: Existing) -> Proposal:
    """Given desired and existing content, return the operations between them, and reports of what none can do.

    Shape: identity by path, then by rename; parents before children; deletions last; a second plan after applying the
    first is empty. Source: content-write, section 1.
    """
    return _Rehearsal(desired, existing).run()


class _Rehearsal:
    """Applies each step to a copy of the existing tree as it is planned, so that every position is exact."""

    def __init__(self, desired: Desired, existing: Existing) -> None:
        self.desired, self.existing = desired, existing
        self.root = _Node(ROOT, None, None)
        self.by_path: dict[str, _Node] = {}
        self.matched: set[_Node] = set()
        self.steps: list[Step] = []
        self.reports: list[Change] = []
        self.former = {new: old for old, new in desired.renames.items()}
        self.pages = _pages_among(desired.draft.entries)
        self._grow()

    def run(self) -> Proposal:
        self.steps += self._file_steps()
        pending: list[tuple[_Node, tuple[Entry, ...]]] = [(self.root, self.desired.draft.entries)]
        while pending:
            parent, entries = pending.pop()
            pending += reversed(list(self._arrange(parent, self._present(entries))))
        self.steps += self._deletions()
        self._report_rest()
        return Proposal(tuple(self.steps), Plan.of([*map(_change, self.steps), *self.reports]))

    def _grow(self) -> None:
        pending = [(self.root, page) for page in reversed(self.existing.revision.pages)]
        while pending:
            parent, page = pending.pop()
            anchor = self.existing.anchors.get(page.id)
            node = _Node(page.id, page, anchor.path if anchor else None, parent)
            parent.children.append(node)
            if node.path is not None:
                self.by_path[node.path] = node
            pending += [(node, child) for child in reversed(page.pages)]

    def _present(self, entries: Sequence[Entry]) -> list[Entry]:
        """Given entries, return them without those whose file is gone; their children take their place."""
        found: list[Entry] = []
        for entry in entries:
            if entry.kind == "document" and id(entry) not in self.pages:
                found.append(replace(entry, kind="link"))  # a second entry for a page only leads to it
            elif entry.kind == "document" and entry.path not in self.desired.blobs:
                found += self._present(entry.children)
            else:
                found.append(entry)
        return found

    def _arrange(self, parent: _Node, entries: list[Entry]) -> Iterator[tuple[_Node, tuple[Entry, ...]]]:
        """Plan the children of one parent, and return each child with the entries to arrange below it."""
        found = list(self._match(parent, entries))
        places = {node: place for place, node in enumerate(parent.children)}
        stay = settled([places.get(node) if node is not None else None for _, node in found])
        previous: _Node | None = None
        for (entry, node), stays in zip(found, stay, strict=True):
            if node is None:
                node = self._insert(entry, parent, previous)
            else:
                self._update(entry, node, None if stays else parent, previous)
            previous = node
            yield node, entry.children

    def _match(self, parent: _Node, entries: Sequence[Entry]) -> Iterator[tuple[Entry, _Node | None]]:
        """Pair entries with nodes; what only a person can create is reported, and its pages stand in its place."""
        for entry in entries:
            node = self._find(entry, parent)
            if node is None and entry.kind != "document":
                self._by_hand(entry, "created")
                yield from self._match(parent, self._present(entry.children))
            else:
                yield entry, node

    def _find(self, entry: Entry, parent: _Node) -> _Node | None:
        node = self._find_document(entry.path) if entry.kind == "document" else _find_other(entry, parent, self.matched)
        if node is not None:
            self.matched.add(node)
        return node

    def _find_document(self, path: str | None) -> _Node | None:
        assert path is not None
        if (node := self.by_path.get(path)) is not None:
            return node
        former = self.former.get(path)
        node = self.by_path.get(former) if former is not None and former not in self.desired.blobs else None
        return node if node is not None and node not in self.matched else None

    def _insert(self, entry: Entry, parent: _Node, previous: _Node | None) -> _Node:
        assert entry.path is not None
        node = _Node(entry.path, None, entry.path, parent)
        place = _place(parent, previous)
        at = None if place == len(parent.children) else place
        parent.children.insert(place, node)
        slug = page_slug(entry.path, settings=self.desired.draft.settings)
        oid = self.desired.blobs[entry.path]
        self.steps.append(InsertStep(entry.path, oid, entry.title, slug, parent.id, at))
        return node

    def _update(self, entry: Entry, node: _Node, move_to: _Node | None, previous: _Node | None) -> None:
        page = node.page
        assert page is not None
        into, at = self._move(entry, node, move_to, previous) if move_to is not None else (None, None)
        if entry.kind != "document":
            if entry.kind == "group" and entry.title != page.title:
                self._by_hand(entry, "renamed")
            return
        assert entry.path is not None
        settings = self.desired.draft.settings
        oid = self.desired.blobs[entry.path]
        anchor = self.existing.anchors[node.id]
        slug = page_slug(entry.path, settings=settings)
        renamed = node.path != entry.path and slug != page_slug(anchor.path, settings=settings) and slug != page.slug
        step = UpdateStep(
            node.id,
            entry.path,
            oid=oid if oid != anchor.oid else None,
            title=entry.title if entry.title != page.title else None,
            slug=slug if renamed and slug else None,
            into=into,
            at=at,
        )
        if step:
            self.steps.append(step)

    def _move(self, entry: Entry, node: _Node, parent: _Node, previous: _Node | None) -> tuple[str | None, int | None]:
        if entry.kind != "document":
            self._by_hand(entry, "moved")
            return None, None
        into = parent.id if node.parent is not parent else None
        assert node.parent is not None
        node.parent.children.remove(node)
        node.parent = parent
        place = _place(parent, previous)
        parent.children.insert(place, node)
        return into, place

    def _by_hand(self, entry: Entry, what: str) -> None:
        """Report what only a person can do on the platform."""
        message = f"{entry.kind} {entry.title!r} has to be {what} on the platform by hand"
        self.reports.append(Change("report", entry.kind, entry.title, message, where=f"SUMMARY.md:{entry.line}"))

    def _deletions(self) -> Iterator[DeleteStep]:
        pending = list(reversed(self.root.children))
        while pending:
            node = pending.pop()
            if node.path is None or node in self.matched or node.page is None:
                pending += reversed(node.children)
            else:
                yield DeleteStep(node.id, node.path, tuple(_paths_below(node)))

    def _file_steps(self) -> Iterator[AddFile]:
        existing = {a.path: a for a in self.existing.anchors.values() if a.kind == "file"}
        for path in self.desired.draft.files:
            oid = self.desired.blobs[path]
            if path not in existing:
                yield AddFile(path, oid)
            elif existing[path].oid != oid:
                what = (
                    "a file cannot be replaced through the API: add it under a new name, or replace it on the platform"
                )
                self.reports.append(Change("report", "file", path, what, where=path))
        for path in sorted(existing.keys() - self.desired.blobs.keys()):
            what = "a file cannot be deleted through the API: delete it on the platform"
            self.reports.append(Change("report", "file", path, what))

    def _report_rest(self) -> None:
        for anchor in self.existing.anchors.values():
            if anchor.kind == "include" and self.desired.blobs.get(anchor.path) != anchor.oid:
                what = "reusable content cannot be written through the API: edit it on the platform"
                self.reports.append(Change("report", "include", anchor.path, what, where=anchor.path))
        if self.desired.draft.variables != dict(self.existing.revision.variables):
            what = "variables cannot be written through the API: set them on the platform"
            self.reports.append(Change("report", "variables", ".gitbook/vars.yaml", what, where=".gitbook/vars.yaml"))


def _pages_among(entries: Sequence[Entry]) -> set[int]:
    """The entries that stand for a page of their own: the first for each file, without an anchor."""
    first: dict[str, int] = {}
    for entry, _ in walk(entries):
        if entry.path is not None and entry.anchor is None:
            first.setdefault(entry.path, id(entry))
    return set(first.values())


def _paths_below(node: _Node) -> Iterator[str]:
    pending = list(node.children)
    while pending:
        child = pending.pop()
        pending += child.children
        if child.path is not None:
            yield child.path


def _find_other(entry: Entry, parent: _Node, taken: set[_Node]) -> _Node | None:
    """Given a group, link or computed entry, return the node beside it that stands for the same thing."""
    for node in parent.children:
        page = node.page
        if page is None or node in taken or page.type != entry.kind:
            continue
        slug = entry.slug or slugify(entry.title)
        if page.title == entry.title or (entry.kind == "group" and slug == (page.slug or slugify(page.title))):
            return node
    return None


def _place(parent: _Node, previous: _Node | None) -> int:
    return 0 if previous is None or previous.parent is not parent else parent.children.index(previous) + 1


def _change(step: Step) -> Change:
    match step:
        case AddFile():
            return Change("create", "file", step.path, after=step.oid)
        case InsertStep():
            return Change("create", "page", step.path, f"as {step.title!r}", after=[step.oid, step.into, step.at])
        case UpdateStep():
            what = {"oid": "text", "title": "title", "slug": "slug", "into": "parent", "at": "position"}
            parts = [word for name, word in what.items() if getattr(step, name) is not None]
            after = [step.oid, step.title, step.slug, step.into, step.at]
            return Change("update", "page", step.path, ", ".join(parts), after=after)
        case DeleteStep():
            note = f"with {len(step.below)} below it" if step.below else ""
            return Change("delete", "page", step.path, note)
