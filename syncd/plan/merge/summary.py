"""Merge two tables of contents with their base: parents, order and titles of entries, each by a three-way merge."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from syncd.layout.tree.summary import Entry, assemble_entries
from syncd.plan.fewest_moves import find_staying
from syncd.plan.toc_match import TOP, Identity, Outline, OutlineEntry, match_outlines


@dataclass(frozen=True)
class MergedSummary:
    """A merged table of contents.

    Shape: `notes` say what both sides changed and which side won. A page to which both gave different titles has ours,
    without a note: it is in conflict.
    """

    entries: tuple[Entry, ...]
    notes: tuple[str, ...] = ()


def merge_entries(
    base: Iterable[Entry],
    ours: Iterable[Entry],
    theirs: Iterable[Entry],
    *,
    ours_paths: Mapping[str, str],
    theirs_paths: Mapping[str, str],
    present: Container[str],
) -> MergedSummary:
    """Return the three-way merge of tables of contents.

    Shape: `ours_paths` and `theirs_paths` have both sides' renames of the base's files. A page is in the result exactly
    once when a side lists it and it is `present` after the merge under its final path, which is ours when both sides
    renamed it. A file that a side only took out of its table must not be in `present`. Other entries are removed when a
    side deleted them, unless the other side retitled them or added something to them. Children of a removed entry move
    up. The order of mappings does not matter; cost is n log n; works at any depth.
    """
    sides = match_outlines(base, ours, theirs, ours_paths=ours_paths, theirs_paths=theirs_paths)
    return _SummaryMerge(*sides, ours_paths=ours_paths, theirs_paths=theirs_paths).run(present)


class _SummaryMerge:
    """Merges by identity; a removed entry keeps its parent until its children have moved up to there."""

    def __init__(
        self,
        base: Outline,
        ours: Outline,
        theirs: Outline,
        *,
        ours_paths: Mapping[str, str],
        theirs_paths: Mapping[str, str],
    ) -> None:
        self.base, self.ours, self.theirs = base, ours, theirs
        self.ours_paths, self.theirs_paths = ours_paths, theirs_paths
        self.all = list(dict.fromkeys((*ours.spots, *theirs.spots)))
        self.notes: list[str] = []
        self.paths: dict[Identity, str] = {}
        self.parents: dict[Identity, Identity] = {}
        self.below: dict[Identity, list[Identity]] = {}
        self.living: set[Identity] = set()

    def run(self, present: Container[str]) -> MergedSummary:
        for spot in (*self.ours.spots.values(), *self.theirs.spots.values()):
            if spot.page is not None and spot.entry.path is not None:
                self.paths.setdefault(spot.page, self._find_path(spot.page, spot.entry.path))
        for identity in self.all:
            self.parents[identity] = self._find_parent(identity)
        self._break_cycles()
        self._find_kept(present)
        kept: dict[Identity, list[Identity]] = {}
        for identity in self.all:
            kept.setdefault(self.parents[identity], []).append(identity)
        self.below = {parent: self._order_children(parent, set(children)) for parent, children in kept.items()}
        shown = {parent: self._list_children(parent) for parent in (TOP, *self.living)}
        early = set(self._find_early_links(shown))
        entries = assemble_entries(
            shown[TOP],
            lambda identity: shown[identity],
            lambda identity, children: self._build_entry(identity, children, early=identity in early),
        )
        return MergedSummary(entries, tuple(dict.fromkeys(self.notes)))

    def _find_path(self, page: Identity, own: str) -> str:
        """The final path of a page: as ours renamed it, else as theirs did."""
        kind, base = page
        if kind != "page" or not isinstance(base, str):
            return own
        one, other = self.ours_paths.get(base, base), self.theirs_paths.get(base, base)
        return one if one != base else other

    def _find_parent(self, identity: Identity) -> Identity:
        one, other = self.ours.spots.get(identity), self.theirs.spots.get(identity)
        if one is None or other is None:
            spot = one or other
            assert spot is not None
            return spot.parent_identity
        former = self.base.spots.get(identity)
        if one.parent_identity == other.parent_identity or (
            former is not None and other.parent_identity == former.parent_identity
        ):
            return one.parent_identity
        if former is not None and one.parent_identity == former.parent_identity:
            return other.parent_identity
        self.notes.append(f"{_describe_spot(one)}: both sides moved it; it stays where this side has it")
        return one.parent_identity

    def _break_cycles(self) -> None:
        """Where both sides' moves make an entry its own ancestor, give the entry of the cycle that theirs moved, and
        that was reached last, the parent that it has in ours. It ends, since ours alone has no cycle."""
        fine: set[Identity] = {TOP}
        for start in self.all:
            way: dict[Identity, None] = {}
            here = start
            while here not in fine:
                if here in way:
                    here = self._undo_last_move(way)
                else:
                    way[here] = None
                    here = self.parents[here]
            fine.update(way)

    def _undo_last_move(self, way: dict[Identity, None]) -> Identity:
        while True:
            identity, _ = way.popitem()
            own = self.ours.spots.get(identity)
            if own is not None and own.parent_identity != self.parents[identity]:
                self.parents[identity] = own.parent_identity
                self.notes.append(
                    f"{_describe_spot(own)}: the other side moved it below what this side moved below it; it stays"
                )
                return identity

    def _find_kept(self, present: Container[str]) -> None:
        taken: set[str] = set()
        # Two entries may end at one path, as when a page was replaced: what no side took out goes first and has it.
        for identity in sorted(self.all, key=self._is_deleted_by_one):
            if not self._find_spot(identity).is_page:
                if not self._is_deleted_by_one(identity):
                    self.living.add(identity)
            elif (path := self.paths[identity]) not in present:
                continue
            elif path not in taken:
                taken.add(path)
                self.living.add(identity)
            elif not self._is_deleted_by_one(identity):
                self.notes.append(f"{path}: each side has another page there; this side's entry stands")
        self._restore_changed()

    def _is_deleted_by_one(self, identity: Identity) -> bool:
        return identity in self.base.spots and (identity in self.ours.spots) != (identity in self.theirs.spots)

    def _restore_changed(self) -> None:
        """Bring back what one side deleted and the other changed, or put something into; children before parents."""
        filled = {parent for identity in self.living if self._is_put_into(identity, parent := self.parents[identity])}
        for identity in reversed(self.all):
            spot = self._find_spot(identity)
            if spot.is_page or identity in self.living:
                continue
            if identity in filled or _list_words(spot) != _list_words(self.base.spots[identity]):
                self.living.add(identity)
                if self._is_put_into(identity, self.parents[identity]):
                    filled.add(self.parents[identity])

    def _is_put_into(self, identity: Identity, parent: Identity) -> bool:
        former = self.base.spots.get(identity)
        return former is None or former.parent_identity != parent

    def _order_children(self, parent: Identity, kept: set[Identity]) -> list[Identity]:
        """The children of one parent in the order of the side that reordered them.

        Where both did, ours' moves within theirs' order. Entries that only one side has follow their neighbour there.
        """
        base, ours, theirs = (
            [identity for identity in side.order.get(parent, ()) if identity in kept]
            for side in (self.base, self.ours, self.theirs)
        )
        ours_moved, theirs_moved = _find_moved(base, ours), _find_moved(base, theirs)
        if not theirs_moved:
            return _join_orders(ours, theirs)
        if not ours_moved:
            return _join_orders(theirs, ours)
        common = set(ours) & set(theirs)
        if ours_moved & theirs_moved and [i for i in ours if i in common] != [i for i in theirs if i in common]:
            where = _describe_spot(self._find_spot(parent)) if parent != TOP else "the top level"
            self.notes.append(f"{where}: both sides put its entries into another order; this side's stands")
        return _join_orders([i for i in ours if i in ours_moved or i not in theirs_moved], theirs)

    def _list_children(self, parent: Identity) -> list[Identity]:
        """The children of one parent that live, and what hangs below those that do not, in its place."""
        found: list[Identity] = []
        pending = list(reversed(self.below.get(parent, ())))
        while pending:
            identity = pending.pop()
            if identity in self.living:
                found.append(identity)
            else:
                pending.extend(reversed(self.below.get(identity, ())))
        return found

    def _find_early_links(self, shown: Mapping[Identity, Sequence[Identity]]) -> Iterator[Identity]:
        """Links that come before the page they lead to: the first entry of a file would be taken for its page."""
        seen: set[Identity] = set()
        pending = list(reversed(shown[TOP]))
        while pending:
            identity = pending.pop()
            spot = self._find_spot(identity)
            if spot.is_page:
                seen.add(identity)
            elif spot.page is not None and spot.page not in seen:
                yield identity
            pending.extend(reversed(shown[identity]))

    def _build_entry(self, identity: Identity, children: tuple[Entry, ...], *, early: bool) -> Entry:
        spot, other = self._find_spot(identity), self.theirs.spots.get(identity)
        entry, page = spot.entry, spot.page
        if other is not None and other is not spot:
            former = self.base.spots.get(identity)
            entry = self._merge_fields(spot, other, former)
            page = other.page if former is not None and page == former.page else page
        path = self.paths[page] if page is not None else None
        # An empty anchor makes an entry a link to the page instead of the page.
        anchor = entry.anchor or "" if early else entry.anchor
        return replace(entry, path=path, anchor=anchor, children=children)

    def _merge_fields(self, spot: OutlineEntry, other: OutlineEntry, former: OutlineEntry | None) -> Entry:
        """Our entry with what only theirs changed."""
        news: dict[str, Any] = {}
        for name, words in _FIELDS.items():
            one, two = getattr(spot.entry, name), getattr(other.entry, name)
            base = getattr(former.entry, name) if former is not None else None
            if one == two or (former is not None and two == base):
                continue
            if former is not None and one == base:
                news[name] = two
            elif name != "title" or not spot.is_page:
                self.notes.append(f"{_describe_spot(spot)}: both sides changed its {words}; this side's stands")
        return replace(spot.entry, **news)

    def _find_spot(self, identity: Identity) -> OutlineEntry:
        return self.ours.spots.get(identity) or self.theirs.spots[identity]


_FIELDS = {
    "title": "title",
    "slug": "slug",
    "link_title": "link title",
    "anchor": "address",
    "target": "address",
    "computed": "YAML",
}


def _find_moved(base: Sequence[Identity], side: Sequence[Identity]) -> set[Identity]:
    """The fewest entries that one side must have moved among those that it shares with the base."""
    places = {identity: place for place, identity in enumerate(base)}
    shared = [identity for identity in side if identity in places]
    stay = find_staying([places[identity] for identity in shared])
    return {identity for identity, stays in zip(shared, stay, strict=True) if not stays}


def _join_orders(first: Sequence[Identity], second: Sequence[Identity]) -> list[Identity]:
    """`first`, with each item that only `second` has behind its predecessor in `second`; those without one go before
    the first item that both have."""
    have = set(first)
    after: dict[Identity | None, list[Identity]] = {}
    anchor: Identity | None = None
    for identity in second:
        if identity in have:
            anchor = identity
        else:
            after.setdefault(anchor, []).append(identity)
    leader = next((identity for identity in second if identity in have), None)
    found: list[Identity] = [] if leader is not None else [*first, *after.get(None, ())]
    for identity in first if leader is not None else ():
        if identity == leader:
            found += after.get(None, ())
        found.append(identity)
        found += after.get(identity, ())
    return found


def _list_words(spot: OutlineEntry) -> tuple[object, ...]:
    entry = spot.entry
    return entry.title, entry.slug, entry.link_title, spot.link_address, entry.computed


def _describe_spot(spot: OutlineEntry) -> str:
    return (
        spot.entry.path if spot.is_page and spot.entry.path is not None else f"{spot.entry.kind} {spot.entry.title!r}"
    )
