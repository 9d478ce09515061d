"""Which declared item is which item on the platform: by the lock, by a former name, by a pin, or by what it is like.

Source: docs/decisions/0005-sites-have-a-lock-file.md.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from syncd.layout.site.read.declared import Item, SiteFile
from syncd.model.redirect import make_source_key
from syncd.model.ref import ROOT, Kind, Ref
from syncd.plan.site.live_state import ExistingItem, LiveSite, LockEntry, SiteLock
from syncd.plan.site.lockfile.in_flight import was_deleting, was_making
from syncd.plan.site.match.first_sections import format_expected_id
from syncd.plan.site.match.recorded import find_owners, is_recorded

KINDS: tuple[Kind, ...] = ("group", "section", "variant", "redirect")
"""The kinds of items that have ids of their own, each before what stands in it."""


@dataclass(frozen=True)
class Matches:
    """The outcome, by ref.

    Shape: `found` has what is there; `ambiguous` says why something could not be told; `former_refs` has the ref under
    which the lock knows what is found; `half_made` are items that an interrupted run made and could not write down;
    `disputed_ids` are the ids of all candidates of what is ambiguous; `lost_refs` has the refs of what the lock knows
    and nobody finds any more, each with the ref that the lock has for it; `deleted_refs` are those of what syncd itself
    deleted, as far as the lock has not heard of it; `refs` has the declared refs by the ids of what was found for them;
    `replaced` has, by their ids, refs for the groups that are made anew, which are in `refs`, too, and no longer in
    `found`.
    """

    found: Mapping[Ref, ExistingItem]
    ambiguous: Mapping[Ref, str]
    former_refs: Mapping[Ref, Ref]
    refs: Mapping[str, Ref]
    half_made: frozenset[Ref] = frozenset()
    disputed_ids: frozenset[str] = frozenset()
    lost_refs: Mapping[Ref, Ref] = field(default_factory=dict)
    deleted_refs: frozenset[Ref] = frozenset()
    replaced: Mapping[str, Ref] = field(default_factory=dict)

    def entry(self, lock: SiteLock, ref: Ref) -> LockEntry | None:
        """Return the lock's entry for the item that was matched with a ref, or None."""
        entry = lock.items.get(self.former_refs.get(ref, ref))
        return entry if entry is not None and ref in self.found and entry.id == self.found[ref].id else None


def match_items(file: SiteFile, live: LiveSite, lock: SiteLock) -> Matches:
    """Return which declared items, live items and lock entries belong together. Linear in their number."""
    matcher = _Matcher(file, live, lock)
    for kind in KINDS:
        matcher.by_lock(kind)
        items = [item for item in file.of(kind) if item.ref not in matcher.found]
        if lock.in_flight or matcher.halves:
            items.sort(key=matcher.is_less_likely)
        for step in (
            matcher.by_former_name,
            matcher.by_pin,
            matcher.by_nature,
            matcher.by_former_path,
            matcher.by_half,
            matcher.by_content,
        ):
            for item in items:
                if item.ref not in matcher.found and item.ref not in matcher.unclear:
                    step(item)
    former = {
        ref: matcher.owner[existing.id] for ref, existing in matcher.found.items() if existing.id in matcher.owner
    }
    known = {ref: other for ref, other in former.items() if other != ref}
    return Matches(
        found=matcher.found,
        ambiguous=matcher.unclear,
        former_refs=known,
        refs={existing.id: ref for ref, existing in matcher.found.items()},
        half_made=frozenset(matcher.halves),
        disputed_ids=frozenset(matcher.disputed),
        lost_refs=dict(matcher.list_lost()),
        deleted_refs=matcher.gone,
    )


def find_matched_ids(file: SiteFile, live: LiveSite, lock: SiteLock) -> dict[Ref, str]:
    """Return the ids of the declared groups, sections, variants and redirects that exist."""
    return {ref: existing.id for ref, existing in match_items(file, live, lock).found.items()}


class _Matcher:
    """Claims one item after another; nothing is claimed twice."""

    def __init__(self, file: SiteFile, live: LiveSite, lock: SiteLock) -> None:
        self.file, self.live, self.lock = file, live, lock
        self.owner = find_owners(lock, live)
        self.found: dict[Ref, ExistingItem] = {}
        self.unclear: dict[Ref, str] = {}
        self.claimed: set[str] = set()
        self.halves: set[Ref] = set()
        self.disputed: set[str] = set()
        self.gone = frozenset(
            ref for ref in lock.in_flight if was_deleting(lock, ref) and lock.items[ref].id not in live.items
        )

    def is_less_likely(self, item: Item) -> tuple[bool, bool]:
        """Return a sort key that puts what a killed run was creating first, then what it was creating inside of
        that.
        """
        is_inner = item.parent in self.halves and bool(item.fields.get("default"))
        return not was_making(self.lock, item.ref), not is_inner

    def by_lock(self, kind: Kind) -> None:
        """Claim what the lock knows and the platform still has; a pin that says otherwise makes it unclear."""
        for item in self.file.of(kind):
            entry = self.lock.items.get(item.ref)
            existing = self.live.items.get(entry.id) if entry is not None else None
            if entry is None or existing is None or existing.kind != item.kind or existing.id in self.claimed:
                continue
            if self.owner[existing.id] != item.ref or (not item.id and self._is_elsewhere(item, entry, existing)):
                continue
            if item.id and item.id != existing.id:
                self._dispute(item, f"the lock says {existing.id}, the file says {item.id}", (existing.id, item.id))
            else:
                self._claim(item, existing)

    def by_former_name(self, item: Item) -> None:
        """Claim what the lock knows under a former name.

        A redirect that has the source already is the one meant, if the file does not say by its id that it is another.
        """
        if item.kind == "redirect" and any(self._pins.get(one.id, item.ref) == item.ref for one in self._alike(item)):
            return
        for name in self._former_refs(item):
            entry = self.lock.items.get(name)
            existing = self.live.items.get(entry.id) if entry is not None else None
            if existing is not None and existing.kind == item.kind and self._is_free(existing):
                self._claim(item, existing)
                return

    def by_former_path(self, item: Item) -> None:
        """Claim what has a former path; something that has the present one already comes first.

        An item that the lock knows has been renamed already, and whoever has its former path is another.
        """
        if self._is_known(item.ref):
            return
        for path in item.was:
            there = self._with_path(item, path)
            if len(there) == 1:
                self._claim(item, there[0])
                return

    def by_pin(self, item: Item) -> None:
        """Claim what a file names by its id."""
        if not item.id:
            return
        existing, entry = self.live.items.get(item.id), self.lock.items.get(item.ref)
        if existing is None and entry is not None and entry.id == item.id:
            return  # it was there, and somebody deleted it
        if existing is None or existing.kind != item.kind or not self._is_free(existing):
            why = "which is not there" if existing is None or existing.kind != item.kind else "which is another item's"
            self._dispute(item, f"the file says {item.id}, {why}", (item.id,))
        else:
            self._claim(item, existing)

    def by_nature(self, item: Item) -> None:
        """Claim the one item that is like the declared one; two are unclear."""
        candidates = self._alike(item)
        if len(candidates) == 1:
            self._claim(item, candidates[0])
            self._take_for_half(item, candidates[0])
        elif candidates:
            ids = tuple(existing.id for existing in candidates)
            self._dispute(item, f"it could be {' or '.join(ids)}", ids)

    def by_half(self, item: Item) -> None:
        """Claim what an interrupted run left half-made: known by nothing but the space that it was made from.

        Whatever the lock knows was finished, and has been forgotten before it is made once more.
        """
        for existing in self._list_unfinished(item) if not self._is_known(item.ref) else ():
            self._claim(item, existing)
            self.halves.add(item.ref)
            return

    def by_content(self, item: Item) -> None:
        """Claim the section, of which nobody knows, that holds what the lock took over at the root as a variant of it.

        A variant never leaves its section; it is the platform that makes one for those at the root. So the lock knows
        no section of such a variant.
        """
        for variant in self._variants.get(item.ref, ()) if item.kind == "section" else ():
            entry = self.lock.items.get(variant.ref)
            existing = self.live.items.get(entry.id) if entry is not None else None
            section = self.live.items.get(existing.parent) if existing is not None else None
            if entry is None or existing is None or section is None or "parent" in entry.applied:
                continue
            is_free = self._is_free(section) and section.id not in self.owner and section.id not in self.disputed
            is_its_own = self.owner[existing.id] == variant.ref and is_recorded(variant.ref, entry, existing)
            if section.kind == "section" and is_free and is_its_own:
                self._claim(item, section)
                self.halves.add(item.ref)
                return

    def _take_for_half(self, item: Item, existing: ExistingItem) -> None:
        """Remember that what looks finished is not, when a dead run was making it, or what it came with."""
        if existing.id not in self.owner and (was_making(self.lock, item.ref) or item.parent in self.halves):
            self.halves.add(item.ref)

    def list_lost(self) -> Iterator[tuple[Ref, Ref]]:
        """Yield the refs of what syncd had and is nowhere now, each with the ref that the lock has for it."""
        for item in self.file.of(*KINDS):
            if item.ref not in self.found and item.ref not in self.unclear:
                former = [name for name in self._former_refs(item) if name not in self.file.items]
                known = next((name for name in (item.ref, *former) if self._is_known(name)), None)
                if known and self.lock.items[known].id not in self.live.items:
                    yield item.ref, known

    def _claim(self, item: Item, existing: ExistingItem) -> None:
        self.found[item.ref] = existing
        self.claimed.add(existing.id)

    def _is_elsewhere(self, item: Item, entry: LockEntry, existing: ExistingItem) -> bool:
        """Whether the lock has another item's id for an item, while what it is like stands there and is nobody's.

        Titles of groups repeat, so that likeness says nothing of them.
        """
        if item.kind == "group" or existing.fields.get("source") == item.fields.get("source", ""):
            return False
        return not is_recorded(item.ref, entry, existing) and any(map(self._is_nobodys, self._alike(item)))

    def _is_nobodys(self, existing: ExistingItem) -> bool:
        owner = self.owner.get(existing.id)
        return owner is None or owner not in self.file.items or not is_recorded(owner, self.lock.items[owner], existing)

    def _dispute(self, item: Item, why: str, ids: Iterable[str]) -> None:
        self.unclear[item.ref] = why
        self.disputed |= set(ids)

    def _is_known(self, ref: Ref) -> bool:
        return ref in self.lock.items and ref not in self.gone

    def _is_free(self, existing: ExistingItem) -> bool:
        return existing.id not in self.claimed

    def _former_refs(self, item: Item) -> list[Ref]:
        if item.kind == "redirect":
            return [Ref.of("redirect", make_source_key(name)) for name in item.was]
        if item.kind != "variant" or "/" not in item.key:
            return [Ref.of(item.kind, name) for name in item.was]
        section, _, key = item.key.partition("/")
        parent = self.file.items.get(item.parent)
        sections = (section, *(parent.was if parent is not None else ()))
        names = [name if "/" in name else f"{section}/{name}" for name in item.was]
        return [Ref.of("variant", name) for name in (*names, *(f"{name}/{key}" for name in sections[1:]))]

    def _alike(self, item: Item) -> list[ExistingItem]:
        if item.kind == "group":
            return self._among(self._groups, (self._parent_id(item), item.fields.get("title")))
        if item.kind == "redirect":
            return self._among(self._sources, item.key)
        if item.kind == "section":
            expected = self.live.items.get(format_expected_id(item))
            return self._with_path(item, item.fields.get("path")) if expected is None else [expected]
        same_space = self._among(self._variant_spaces, (self._parent_id(item), item.fields.get("space")))
        same_path = self._with_path(item, item.fields.get("path"))
        if len(same_space) > 1:
            return [existing for existing in same_space if existing in same_path] or same_space
        return same_space or same_path

    def _with_path(self, item: Item, path: object) -> list[ExistingItem]:
        if not isinstance(path, str) or item.kind not in ("section", "variant"):
            return []
        if item.kind == "section":
            return self._among(self._section_paths, path.casefold())
        return self._among(self._variant_paths, (self._parent_id(item), path.casefold()))

    def _list_unfinished(self, item: Item) -> list[ExistingItem]:
        if item.kind == "section":
            spaces = {self.file.holding} | {other.fields.get("space") for other in self._variants.get(item.ref, ())}
            return [
                existing
                for existing in self._among(self._section_titles, item.fields.get("title"))
                if self._only_space(existing) in spaces - {"", None} and existing.id not in self.owner
            ]
        parent = self._parent_id(item)
        if item.kind != "variant" or not self.file.holding or parent is None:
            return []
        held = self._among(self._variant_spaces, (parent, self.file.holding))
        return [existing for existing in held if existing.id not in self.owner]

    def _only_space(self, section: ExistingItem) -> object:
        within = self.live.orders.get(section.id, ())
        is_new = len(within) == 1 and within[0] not in self.owner
        return self.live.items[within[0]].fields.get("space") if is_new else None

    def _parent_id(self, item: Item) -> str | None:
        """The id of what an item stands in; None while that is not there."""
        if item.parent == ROOT:
            return ROOT
        parent = self.found.get(item.parent)
        return None if parent is None else parent.id

    def _among(self, index: Mapping[object, list[ExistingItem]], key: object) -> list[ExistingItem]:
        return [existing for existing in index.get(key, ()) if self._is_free(existing)]

    @cached_property
    def _variants(self) -> Mapping[Ref, list[Item]]:
        found: defaultdict[Ref, list[Item]] = defaultdict(list)
        for item in self.file.of("variant"):
            found[item.parent].append(item)
        return found

    @cached_property
    def _groups(self) -> Mapping[object, list[ExistingItem]]:
        return self._index("group", lambda existing: (existing.parent, existing.fields.get("title")))

    @cached_property
    def _section_paths(self) -> Mapping[object, list[ExistingItem]]:
        return self._index("section", lambda existing: str(existing.fields.get("path") or "").casefold())

    @cached_property
    def _section_titles(self) -> Mapping[object, list[ExistingItem]]:
        return self._index("section", lambda existing: existing.fields.get("title"))

    @cached_property
    def _variant_spaces(self) -> Mapping[object, list[ExistingItem]]:
        return self._index("variant", lambda existing: (existing.parent, existing.fields.get("space")))

    @cached_property
    def _variant_paths(self) -> Mapping[object, list[ExistingItem]]:
        return self._index(
            "variant", lambda existing: (existing.parent, str(existing.fields.get("path") or "").casefold())
        )

    @cached_property
    def _pins(self) -> dict[str, Ref]:
        """The refs of the declared redirects that the file names by their ids."""
        return {item.id: item.ref for item in self.file.of("redirect") if item.id}

    @cached_property
    def _sources(self) -> Mapping[object, list[ExistingItem]]:
        return self._index("redirect", lambda existing: make_source_key(str(existing.fields.get("source") or "")))

    def _index(self, kind: Kind, key: Callable[[ExistingItem], object]) -> Mapping[object, list[ExistingItem]]:
        found: defaultdict[object, list[ExistingItem]] = defaultdict(list)
        for existing in self.live.of(kind):
            found[key(existing)].append(existing)
        return found
