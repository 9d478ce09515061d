"""Plan a change request's content: the fewest operations that turn existing pages and files into the desired ones."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from syncd.errors import FileInvalid
from syncd.layout.page.frontmatter import read_fields
from syncd.layout.tree.lfs_pointers import parse_pointer
from syncd.layout.tree.paths import is_decodable, make_collision_key, replace_undecodable, slugify
from syncd.layout.tree.settings import derive_page_slug
from syncd.layout.tree.variables import TAGS, VARIABLES
from syncd.model.content_write import FILE_BYTES_MAX, TITLE_MAX
from syncd.model.text import clean_title
from syncd.plan.change import Change, Plan
from syncd.plan.fewest_moves import find_staying
from syncd.plan.propose import manual_steps
from syncd.plan.propose.alignment import DesiredSide, ExistingSide, align_sides
from syncd.plan.propose.page_tree import MOVING, Node, list_below
from syncd.plan.propose.steps import AddFile, DeleteStep, FormerPage, InsertStep, Step, UpdateStep, build_change
from syncd.plan.toc_match import TOP, OutlineEntry


@dataclass(frozen=True)
class ContentPlan:
    """Steps in the order in which they must be written; `report` is the same for people, with what cannot be written.

    Shape: `placed` are the paths of existing pages, by id, whose file is elsewhere now.
    """

    steps: tuple[Step, ...]
    report: Plan
    placed: Mapping[str, str] = field(default_factory=dict)

    @property
    def deleted(self) -> tuple[str, ...]:
        """Paths of all pages that would be deleted."""
        steps = [step for step in self.steps if isinstance(step, DeleteStep)]
        return tuple(path for step in steps for path in (step.path, *step.below))


def plan_proposal(desired: DesiredSide, existing: ExistingSide) -> ContentPlan:
    """Return the operations that turn existing content into the desired one, and reports of what no operation can do.

    Shape: a page stays the same page wherever that can be told; children of a page that is deleted are moved before it
    is deleted; deletions come last, except for those that make a slug free; a second plan after applying the first is
    empty.
    Source: `updateChangeRequestContent`, @gitbook/api 0.202.0.
    """
    return _Planner(desired, existing).run()


class _Planner:
    """Simulates each step on a copy of the existing tree as it is planned, so that positions and slugs are exact."""

    def __init__(self, desired: DesiredSide, existing: ExistingSide) -> None:
        self.desired, self.existing = desired, existing
        self.settings = desired.draft.settings
        both = align_sides(desired, existing)
        self.root, self.nodes, self.wanted, self.former, self.paths = both
        self.steps: list[Step] = []
        self.reports: list[Change] = []
        self.waiting_slugs: list[tuple[Node, str, int | None]] = []
        self.matched: set[Node] = set()
        self.resent: set[str] = set()
        self.queue: deque[tuple[Node, Sequence[OutlineEntry]]] = deque()
        self.manual_steps = manual_steps.ManualSteps(self.wanted, self.settings.add_root(self.settings.summary))
        self.knows_link_titles = any(node.page is not None and node.page.link_title for node in list_below(self.root))

    def run(self) -> ContentPlan:
        self.steps += self._plan_files()
        added = [step.path for step in self.steps if isinstance(step, AddFile)]
        # A page that was sent before its file links to nowhere on the platform until it is sent again.
        self.resent = {page for path in added for page in self.desired.linking.get(path, ())}
        self.queue.append((self.root, [self.wanted.spots[identity] for identity in self.wanted.order[TOP]]))
        while self.queue:
            parent, spots = self.queue.popleft()
            self._plan_children(parent, self._pair_children(parent, spots))
        self.steps += self._plan_deletions()
        self._free_slugs()
        self._report_rest()
        changes = [build_change(step) for step in self.steps if not (isinstance(step, UpdateStep) and step.later)]
        placed = {node.id: path for node, path in self.paths.items() if node.path != path and node.page is not None}
        return ContentPlan(tuple(self.steps), Plan.of([*changes, *self.reports]), placed)

    def _pair_children(self, parent: Node, spots: Sequence[OutlineEntry]) -> list[tuple[OutlineEntry, Node | None]]:
        """Pair entries with nodes.

        As it goes, report groups and links that a person has to create or move, and put the pages of missing ones in
        their place.
        """
        found: list[tuple[OutlineEntry, Node | None]] = []
        pending = list(reversed(spots))
        while pending:
            spot = pending.pop()
            node = self.nodes.get(spot.identity)
            if spot.is_page and not self.desired.has_page(spot):
                pending += reversed(spot.children)
            elif spot.is_page:
                found.append((spot, node))
                if node is not None:
                    self.matched.add(node)
            elif node is None or self._must_be_recreated(node, spot):
                self.reports.append(self.manual_steps.create(spot))
                pending += reversed(spot.children)
            else:
                pending += reversed(self._plan_kept(node, spot))
                if node.parent is parent:
                    found.append((spot, node))
                else:
                    self.reports.append(self.manual_steps.move(spot))
        return found

    def _must_be_recreated(self, node: Node, spot: OutlineEntry) -> bool:
        """Whether the node of a group, link or computed entry will be deleted with a page above it, or lies below
        something that the branch puts inside it."""
        for above in node.list_ancestors():
            if above.is_document and above not in self.paths:
                return True
            at = self.wanted.spots.get(("page", above.path or ""))
            while at is not None and at is not spot:
                at = at.parent
            if at is spot:
                return True
        return False

    def _plan_kept(self, node: Node, spot: OutlineEntry) -> list[OutlineEntry]:
        """Report what differs of a group, link or computed entry, and return what cannot be put below it."""
        self.matched.add(node)
        assert node.page is not None
        self.reports += self.manual_steps.edit(spot, node.page, self.former.spots[spot.identity].entry)
        if self.knows_link_titles and spot.entry.kind in ("document", "link"):
            self.reports += self.manual_steps.set_link_title(spot, node.page.link_title)
        if node.holds_pages:
            self.queue.append((node, spot.children))
            return []
        inside = [child for child in spot.children if self._hangs_below(child, node)]
        outside = [child for child in spot.children if not self._hangs_below(child, node)]
        self.queue.append((node, inside))
        self.reports += [self.manual_steps.nest(child, spot) for child in outside if self.desired.has_page(child)]
        return outside

    def _hangs_below(self, spot: OutlineEntry, node: Node) -> bool:
        found = self.nodes.get(spot.identity)
        return found is not None and found.parent is node

    def _plan_children(self, parent: Node, found: Sequence[tuple[OutlineEntry, Node | None]]) -> None:
        """Plan the children of one parent."""
        places = {node: place for place, node in enumerate(parent.children)}
        stay = find_staying(
            [places.get(node) if node is not None else None for _, node in found],
            [not spot.is_page for spot, _ in found],
        )
        previous: Node | None = None
        for (spot, node), stays in zip(found, stay, strict=True):
            if node is None:
                node = self._plan_insert(spot, parent, previous)
            elif spot.is_page:
                self._plan_update(spot, node, None if stays else parent, previous)
            elif not stays:
                self.reports.append(self.manual_steps.move(spot))
                continue
            previous = node
            if spot.is_page:
                self.queue.append((node, spot.children))

    def _plan_insert(self, spot: OutlineEntry, parent: Node, previous: Node | None) -> Node:
        path = spot.entry.path
        assert path is not None
        slug = derive_page_slug(path, settings=self.settings)
        former = self._find_former(path) if slug else None
        node = Node(former.id if former else path, None, path)
        node.slug = (
            self._claim_slug(node, parent, slug) if slug else parent.find_free_slug(slugify(spot.entry.title), but=node)
        )
        place = _find_position(parent, previous)
        at = None if place == len(parent.children) and former is None else place
        parent.insert(node, place)
        oid = self.desired.blobs[path]
        step = InsertStep(path, oid, self._find_title(spot), node.slug if slug else "", parent.id, at, former)
        self.steps.append(step)
        return node

    def _find_former(self, path: str) -> FormerPage | None:
        """The page that the change request has deleted at a path, if it can come back where it was."""
        former = self.existing.deleted.get(path)
        if former is None:
            return None
        parent = next((node for node in list_below(self.root) if node.id == former.parent), self.root)
        return former if parent.is_free(former.slug, but=Node(former.id, None, path)) else None

    def _plan_update(self, spot: OutlineEntry, node: Node, move_to: Node | None, previous: Node | None) -> None:
        page, path = node.page, spot.entry.path
        assert page is not None
        assert path is not None
        slug = self._find_new_slug(node, path)
        into, at, slug = (
            self._plan_move(node, move_to, previous, slug) if move_to else (None, None, self._plan_slug(node, slug))
        )
        oid = self.desired.blobs[path]
        is_edited = oid != self.existing.anchors[node.id].oid or path in self.resent
        title = self._find_title(spot) if clean_title(spot.entry.title) != clean_title(page.title) else ""
        is_retitled = bool(title) and clean_title(title) != clean_title(page.title)
        step = UpdateStep(
            node.id,
            path,
            oid=oid if is_edited else None,
            title=title if is_retitled else None,
            slug=slug,
            into=into,
            at=at,
            unchanged=oid if is_retitled and not is_edited else None,
        )
        known = page.link_title if self.knows_link_titles else self.existing.link_titles.get(node.path or "")
        self.reports += self.manual_steps.set_link_title(spot, known)
        if step:
            self.steps.append(step)

    def _find_title(self, spot: OutlineEntry) -> str:
        """The title that a page is to have: its frontmatter's wins, since the platform lets it win."""
        try:
            stated = read_fields(self.desired.read(spot.entry.path or "").decode("utf-8", "replace"), at="").get(
                "title"
            )
        except FileInvalid:
            stated = None
        if isinstance(stated, str) and stated and clean_title(stated) != clean_title(spot.entry.title):
            self.reports.append(self.manual_steps.warn_of_title(spot, stated))
            return stated[:TITLE_MAX]
        return clean_title(spot.entry.title)[:TITLE_MAX]

    def _find_new_slug(self, node: Node, path: str) -> str | None:
        """The slug that a page gets because its file has another name, or had to wait for it; None when it stays."""
        assert node.path is not None
        if node.path == path and MOVING not in node.slug:
            return None
        slug = derive_page_slug(path, settings=self.settings)
        is_renamed = node.path != path and slug != derive_page_slug(node.path, settings=self.settings)
        is_waiting = node.slug.partition(MOVING)[0] == slug and node.slug != slug
        return slug if slug and slug != node.slug and (is_renamed or is_waiting) else None

    def _plan_slug(self, node: Node, slug: str | None) -> str | None:
        if slug is None or node.parent is None:
            return None
        if MOVING in node.slug and not node.parent.is_free(slug, but=node):
            self.waiting_slugs.append((node, slug, None))  # a run that stopped has given it one for the time being
            return None
        slug = self._claim_slug(node, node.parent, slug)
        node.rename(slug)
        return slug

    def _plan_move(
        self, node: Node, parent: Node, previous: Node | None, slug: str | None
    ) -> tuple[str | None, int, str | None]:
        assert node.parent is not None
        into = parent.id if node.parent is not parent else None
        node.parent.remove(node)
        former, wanted = node.slug, slug or node.slug
        node.slug = self._claim_slug(node, parent, wanted) if wanted else ""
        place = _find_position(parent, previous)
        parent.insert(node, place)
        return into, place, node.slug if node.slug != former else None

    def _claim_slug(self, node: Node, parent: Node, slug: str) -> str:
        """The slug that a page can have at once below a parent: its own, or another until that is free."""
        if parent.is_free(slug, but=node):
            return slug
        # The index that the step of this page will have: the caller appends it next.
        self.waiting_slugs.append((node, slug, len(self.steps)))
        return parent.find_temporary_slug(slug, but=node)

    def _free_slugs(self) -> None:
        """Give pages that waited their slug; where another keeps it for good, they are numbered from the start."""
        waiting, left = self.waiting_slugs, len(self.waiting_slugs) + 1
        while waiting and len(waiting) < left:
            left, pending, waiting = len(waiting), waiting, []
            for node, slug, at in pending:
                if node.parent is not None and node.parent.is_free(slug, but=node):
                    node.rename(slug)
                    self.steps.append(self._build_rename(node))
                else:
                    waiting.append((node, slug, at))
        for node, slug, at in waiting:
            assert node.parent is not None
            node.rename(node.parent.find_free_slug(slug, but=node))
            step = self.steps[at] if at is not None else None
            if at is not None and isinstance(step, InsertStep | UpdateStep):
                self.steps[at] = replace(step, slug=node.slug)
            else:
                self.steps.append(self._build_rename(node))

    def _build_rename(self, node: Node) -> UpdateStep:
        return UpdateStep(node.id, self.paths.get(node) or node.path or "", slug=node.slug, later=True)

    def _plan_deletions(self) -> Iterator[DeleteStep]:
        pending = list(reversed(self.root.children))
        while pending:
            node = pending.pop()
            if node.page is None or node in self.matched or node.path is None:
                if node.page is not None and node not in self.matched and not node.is_document:
                    self.reports.append(self.manual_steps.delete(node.page))
                pending += () if node.page is not None and node.page.type == "computed" else reversed(node.children)
            else:
                below = tuple(child.path for child in list_below(node) if child.path is not None)
                assert node.parent is not None
                node.parent.remove(node)
                yield DeleteStep(node.id, node.path, below)

    def _plan_files(self) -> Iterator[AddFile]:
        existing = {a.path: a for a in self.existing.anchors.values() if a.kind == "file"}
        names = {make_collision_key(path): path for path in existing}
        for path in self.desired.draft.files:
            alike = names.setdefault(make_collision_key(path), path)
            oid = self.desired.blobs[path]
            data = self.desired.read(path) if path not in existing else b""
            if not is_decodable(path):
                what = "Rename this file: its name is not UTF-8, and the platform can hold no other."
                self.reports.append(manual_steps.report_file(replace_undecodable(path), what=what))
            elif parse_pointer(data) is not None:
                what = "Upload this file: Git has a Git LFS pointer, and not the object. To get it: git lfs pull"
                self.reports.append(manual_steps.report_file(path, what=what))
            elif len(data) > FILE_BYTES_MAX:
                what = f"Upload this file: it has more than {FILE_BYTES_MAX:,} bytes, which is too much for the API."
                self.reports.append(manual_steps.report_file(path, what=what))
            elif path not in existing and alike != path:
                is_renamed = alike in existing and alike not in self.desired.blobs
                what = (
                    f"Delete {alike} first: on many disks both names are one. The next push adds this file."
                    if is_renamed
                    else f"Rename this file: on many disks its name is the same as that of {alike}."
                )
                self.reports.append(manual_steps.report_file(path, what=what))
            elif path not in existing:
                yield AddFile(path, oid)
            elif existing[path].oid != oid:
                what = "Replace this file, or add it under a new name: the API cannot replace it."
                self.reports.append(manual_steps.report_file(path, what=what))
        for path in sorted(existing.keys() - self.desired.blobs.keys()):
            self.reports.append(manual_steps.report_deleted_file(path, self.desired.linking.get(path, ())))

    def _report_rest(self) -> None:
        draft, revision, blobs = self.desired.draft, self.existing.revision, self.desired.blobs
        includes = {a.path: a.oid for a in self.existing.anchors.values() if a.kind == "include"}
        wanted = {path: blobs[path] for path in (*draft.includes, *includes) if path in blobs}
        below = self.settings.add_root
        self.reports += manual_steps.report_includes(includes, wanted)
        self.reports += manual_steps.report_variables(revision.variables, draft.variables, path=below(VARIABLES))
        self.reports += manual_steps.report_tags(revision.tags, draft.tags, path=below(TAGS))


def _find_position(parent: Node, previous: Node | None) -> int:
    return 0 if previous is None or previous.parent is not parent else parent.children.index(previous) + 1
