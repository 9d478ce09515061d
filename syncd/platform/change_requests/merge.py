"""Three-way merge of two trees with one base, by page and member; where they differ, the change request's stays."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from syncd.layout.page.links import follow_moves
from syncd.platform.change_requests.merge_text import merge_text
from syncd.platform.change_requests.moved_pages import find_moves, follow_moved_pages, list_texts
from syncd.platform.revisions.metadata import apply_frontmatter
from syncd.platform.revisions.outline import Draft, Outline, TreeEntry
from syncd.platform.revisions.paths import DraftPaths, find_free_slug, find_sibling_slugs
from syncd.platform.revisions.references import DraftReferences
from syncd.platform.revisions.tree import ROOT, SECTIONS, TEXTS, Node

_FIXED = (ROOT, *SECTIONS)


@dataclass(frozen=True)
class MergedTree:
    """The merged tree as a draft of main content, and the ids of what both sides changed differently."""

    draft: Draft
    conflicts: tuple[str, ...]


@dataclass(frozen=True)
class MergeSides:
    """The three sides of a merge: `ours` is main content, `theirs` the change request's content."""

    base: Outline
    ours: Outline
    theirs: Outline

    def find_entries(self, id: str) -> tuple[TreeEntry | None, TreeEntry | None, TreeEntry | None]:
        """Return the entries with an id in base, ours and theirs; None on a side that lacks it."""
        return self.base.entries.get(id), self.ours.entries.get(id), self.theirs.entries.get(id)

    @cached_property
    def base_paths(self) -> Mapping[bytes, Mapping[str, str]]:
        """For each side, by its root, the base's path of each file that the side has elsewhere, by the side's path."""
        moves = {side.root: find_moves(self.base, Draft(side), self.base.entries) for side in (self.ours, self.theirs)}
        return {root: {later: former for former, later in found.items()} for root, found in moves.items()}


@dataclass
class _MergeState:
    sides: MergeSides
    read: Callable[[str], bytes]
    write: Callable[[bytes], str]
    parents: dict[str, str] = field(default_factory=dict)
    conflicts: set[str] = field(default_factory=set)
    merged: set[str] = field(default_factory=set)
    """The ids of texts with lines of both sides."""

    def add_conflict(self, id: str) -> None:
        self.conflicts.add(id)


def merge(sides: MergeSides, *, read: Callable[[str], bytes], write: Callable[[bytes], str]) -> MergedTree:
    """Return the three-way merge of two trees.

    Shape: `read` returns a blob by its id, `write` keeps one and returns its id. A page that one side of `sides`
    deleted and the other changed follows the change request's side, `theirs`; nothing that was added is lost. Cost:
    linear in pages; texts are read only where both sides changed them.
    """
    state = _MergeState(sides, read, write)
    _choose_survivors(state)
    _revive_parents(state)
    _break_cycles(state)
    draft = Draft(sides.ours)
    _merge_structure(draft, state)
    for id in (*_FIXED, *state.parents):
        _merge_node_at(draft, state, id)
    _resolve_clashes(draft, state)
    _follow_moves(draft, state)
    return MergedTree(draft, tuple(sorted(state.conflicts)))


def _choose_survivors(state: _MergeState) -> None:
    everything = {**state.sides.ours.entries, **state.sides.theirs.entries}
    for id in everything:
        if id in _FIXED:
            continue
        base, ours, theirs = state.sides.find_entries(id)
        if ours and theirs:
            state.parents[id] = _choose_parent(state, id)
        elif base is None:
            state.parents[id] = everything[id].parent
        elif theirs and _is_changed(state, base, state.sides.theirs, theirs):
            # Main content deleted a page that the change request changed: it stays.
            state.add_conflict(id)
            state.parents[id] = theirs.parent
        elif ours and _is_changed(state, base, state.sides.ours, ours):
            # The change request deleted a page that main content changed: it goes, as the change request's side wins.
            state.add_conflict(id)


def _choose_parent(state: _MergeState, id: str) -> str:
    base, ours, theirs = state.sides.find_entries(id)
    assert ours
    assert theirs
    parent, conflict = _pick_value(base and base.parent, ours.parent, theirs.parent)
    if conflict:
        state.add_conflict(id)
    return str(parent)


def _revive_parents(state: _MergeState) -> None:
    """Give every surviving entry a surviving parent: one of the change request is restored, another is skipped."""
    pending = list(state.parents)
    while pending:
        id = pending.pop()
        parent = state.parents[id]
        if parent in state.parents or parent in _FIXED:
            continue
        state.add_conflict(id)
        theirs = state.sides.theirs.entries.get(parent)
        if theirs:
            state.parents[parent] = theirs.parent
            pending.append(parent)
        else:
            state.parents[id] = state.sides.ours.entries[parent].parent
            pending.append(id)


def _break_cycles(state: _MergeState) -> None:
    """Where two moves put pages below each other, those that main content moved stay as the request has them."""
    sound: set[str] = set(_FIXED)
    for start in list(state.parents):
        trail: dict[str, None] = {}
        id = start
        while id not in sound:
            if id in trail:
                _undo_moves(state, trail, id)
                trail, id = {}, start
                continue
            trail[id] = None
            id = state.parents[id]
        sound.update(trail)


def _undo_moves(state: _MergeState, trail: Iterable[str], first: str) -> None:
    cycle = list(trail)
    for id in cycle[cycle.index(first) :]:
        theirs = state.sides.theirs.entries.get(id)
        if theirs and theirs.parent != state.parents[id]:
            state.add_conflict(id)
            state.parents[id] = theirs.parent
    _revive_parents(state)


def _merge_structure(draft: Draft, state: _MergeState) -> None:
    order = _merge_orders(state)
    nodes = {**state.sides.theirs.entries, **state.sides.ours.entries}
    pending = list(SECTIONS)
    while pending:
        parent = pending.pop()
        for child in order[parent]:
            if child not in draft:
                draft.insert(replace(nodes[child].node, children=()), parent)
            elif draft.parent(child) != parent:
                draft.move(child, parent)
        pending += order[parent]
    draft.remove_all(id for id in state.sides.ours.entries if id not in state.parents and id not in _FIXED)
    for parent in order:
        draft.set_order(parent, order[parent])


def _merge_orders(state: _MergeState) -> dict[str, list[str]]:
    members: dict[str, list[str]] = defaultdict(list)
    for id, parent in state.parents.items():
        members[parent].append(id)
    sides = state.sides
    merged: dict[str, list[str]] = defaultdict(list)
    for parent, living in members.items():
        base, ours, theirs = (side.order.get(parent, ()) for side in (sides.base, sides.ours, sides.theirs))
        merged[parent] = merge_order(base, ours, theirs, members=living)
    return merged


def merge_order(
    base: Sequence[str], ours: Sequence[str], theirs: Sequence[str], *, members: Iterable[str]
) -> list[str]:
    """Return the members of a merged list in the merged order: that of the side that reordered it, else of either.

    A member that only the other side has comes behind the one that it follows there.
    """
    wanted = dict.fromkeys(members)
    lead, other = (ours, theirs) if _has_same_order(base, theirs) else (theirs, ours)
    result = [id for id in lead if id in wanted]
    behind: dict[str | None, list[str]] = defaultdict(list)
    here, anchor = set(result), None
    for id in other:
        if id in here:
            anchor = id
        elif id in wanted:
            behind[anchor].append(id)
    merged = behind[None] + [each for id in result for each in (id, *behind[id])]
    placed = set(merged)
    return merged + [id for id in wanted if id not in placed]


def _has_same_order(base: Sequence[str], side: Sequence[str]) -> bool:
    before, after = set(base), set(side)
    return [id for id in base if id in after] == [id for id in side if id in before]


def _merge_node_at(draft: Draft, state: _MergeState, id: str) -> None:
    base, ours, theirs = state.sides.find_entries(id)
    if ours is None or theirs is None or ours.hash == theirs.hash:
        return
    known = base.node if base else Node(id, theirs.node.type)
    merged, conflict = merge_node(known, ours.node, theirs.node)
    if len({known.body, ours.node.body, theirs.node.body}) == 3:  # both sides changed it, and not alike
        merged, clash = _merge_body(draft, state, merged)
        conflict = conflict or clash
    if conflict:
        state.add_conflict(id)
    draft.replace_node(merged)


def merge_node(base: Node, ours: Node, theirs: Node) -> tuple[Node, bool]:
    """Return a node with the changed members of both sides, and whether both changed one of them differently.

    Shape: where both changed the body it takes theirs; that is no conflict until the texts have been merged.
    """
    body, _ = _pick_value(base.body, ours.body, theirs.body)
    members: dict[str, Any] = {}
    clashes = []
    for name in ("type", "title", "slug", "path"):
        members[name], clash = _pick_value(getattr(base, name), getattr(ours, name), getattr(theirs, name))
        clashes.append(clash)
    # Each side dates whatever it changes, so that two dates are no conflict.
    moment = max(str(side.fields.get("updatedAt", "")) for side in (ours, theirs))
    fields, clash = _merge_fields(*({**side.fields, "updatedAt": moment or None} for side in (base, ours, theirs)))
    return Node(theirs.id, fields=fields, body=body, **members), clash or any(clashes)


def _merge_fields(
    base: Mapping[str, Any], ours: Mapping[str, Any], theirs: Mapping[str, Any]
) -> tuple[dict[str, Any], bool]:
    merged: dict[str, Any] = {}
    conflict = False
    for key in {**ours, **theirs}:
        was, mine, other = base.get(key), ours.get(key), theirs.get(key)
        if isinstance(was, Mapping) and isinstance(mine, Mapping) and isinstance(other, Mapping):
            value, clash = _merge_fields(was, mine, other)
        else:
            value, clash = _pick_value(was, mine, other)
        conflict = conflict or clash
        if value is not None:
            merged[key] = value
    return merged, conflict


def _merge_body(draft: Draft, state: _MergeState, merged: Node) -> tuple[Node, bool]:
    theirs = state.sides.theirs.entries[merged.id].node
    if merged.type not in TEXTS:
        # Size and kind belong to the bytes that stay.
        return replace(merged, fields=theirs.fields), True
    text = merge_text(*_read_texts(state, merged.id))
    state.merged.add(merged.id)
    fields = dict(merged.fields)
    if merged.type == "document":
        base = state.sides.base.entries.get(merged.id)
        at = base.node.path if base is not None else merged.path
        refer = partial(DraftReferences(draft).build_reference, at=at or "")
        fields = apply_frontmatter(fields, text.text, refer=refer)
    return replace(merged, body=state.write(text.text.encode()), fields=fields), text.has_conflict


def _read_texts(state: _MergeState, id: str) -> tuple[str, str, str]:
    """The texts of base, ours and theirs, with links as the base has them: one that follows a page is no change."""
    base, ours, theirs = state.sides.find_entries(id)
    assert ours is not None
    assert theirs is not None
    if base is None:
        return "", _read_text(state, ours), _read_text(state, theirs)
    sides = (state.sides.ours, ours), (state.sides.theirs, theirs)
    one, other = (_read_as_base(state, side, entry, base) for side, entry in sides)
    return _read_text(state, base), one, other


def _read_text(state: _MergeState, entry: TreeEntry) -> str:
    return state.read(entry.node.body).decode() if entry.node.body else ""


def _read_as_base(state: _MergeState, side: Outline, entry: TreeEntry, base: TreeEntry) -> str:
    """The text of a side with its links as the base would write them."""
    paths = state.sides.base_paths[side.root]
    return follow_moves(_read_text(state, entry), paths, at=entry.node.path or "", to=base.node.path or "")


def _follow_moves(draft: Draft, state: _MergeState) -> None:
    """Let the links of every text lead to where the other side, or this merge, has the pages."""
    sides, written = state.sides, defaultdict[str, list[str]](list)
    for id in list_texts(draft):
        base, ours, theirs = (entry and entry.node.body for entry in sides.find_entries(id))
        if id in state.merged:
            written["both" if base is None else "merged"].append(id)
        elif ours == theirs:
            written["both"].append(id)
        else:
            written["ours" if draft.node(id).body == ours else "theirs"].append(id)
    befores = {"ours": sides.ours, "theirs": sides.theirs, "merged": sides.base, "both": sides.theirs}
    for name, ids in written.items():
        before = befores[name]
        moves = find_moves(before, draft, before.entries)
        if name == "both":
            # A text that both sides have leads to no page that one of them moved: there, it would be another text.
            known = find_moves(sides.theirs, Draft(sides.ours), sides.theirs.entries)
            moves = {path: later for path, later in moves.items() if known.get(path) != later}
        for id, text in follow_moved_pages(draft, before, moves, ids, read=state.read):
            draft.replace_node(replace(draft.node(id), body=state.write(text)))


def _resolve_clashes(draft: Draft, state: _MergeState) -> None:
    """Let no two siblings share a slug and no two pages a file; main content is published, so it keeps its own."""
    ours = state.sides.ours.entries
    touched = [id for id in draft.touched_ids if id not in _FIXED]
    for id in touched:
        node, parent = draft.node(id), draft.parent(id)
        named = id in ours and (ours[id].parent, ours[id].node.slug) == (parent, node.slug)
        if node.slug and not named and node.slug.casefold() in find_sibling_slugs(draft, parent, but=id):
            draft.replace_node(replace(node, slug=find_free_slug(draft, parent, node.slug, but=id)))
            state.add_conflict(id)
    placing = DraftPaths(draft)
    for id in placing.resolve_clashes(
        id for id in touched if id not in ours or ours[id].node.path != draft.node(id).path
    ):
        state.add_conflict(id)
    left = {entry.parent for id, entry in ours.items() if id not in draft or draft.parent(id) != entry.parent}
    placing.allocate_page_paths((), left | {draft.parent(id) for id in touched})


def _is_changed(state: _MergeState, base: TreeEntry, side: Outline, entry: TreeEntry) -> bool:
    """Whether a side changed an entry; that links in its text follow pages that the side moved is no change."""
    if entry.parent != base.parent:
        return True
    former, members = _read_members(base.node), _read_members(entry.node)
    if former == members:
        return False
    is_text = base.node.type in TEXTS and base.node.body and entry.node.body
    if not is_text or former | {"body": None} != members | {"body": None}:
        return True
    return _read_as_base(state, side, entry, base) != _read_text(state, base)


def _read_members(node: Node) -> dict[str, Any]:
    names = ("type", "title", "slug", "fields", "body", "path")
    return {name: getattr(node, name) for name in names}


def _pick_value(base: Any, ours: Any, theirs: Any) -> tuple[Any, bool]:
    """Return the value that only one side changed; else theirs, and whether that ignores a change of ours."""
    if ours in (base, theirs):
        return theirs, False
    return (ours, False) if theirs == base else (theirs, True)
