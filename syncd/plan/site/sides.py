"""What a site's plan is made from: the desired, the existing and the base side, and what belongs together on them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from syncd.layout.site.read.declared import Item, Place, SiteFile
from syncd.model.redirect import make_source_key
from syncd.model.ref import ROOT, Area, Kind, Ref
from syncd.plan.site.differ import DriftRules, FieldDiff
from syncd.plan.site.live_state import By, ExistingItem, IdOf, LiveSite, LockEntry, SiteLock
from syncd.plan.site.match.first_sections import find_root_section
from syncd.plan.site.match.match import KINDS, Matches
from syncd.plan.site.match.recorded import find_owners, is_recorded
from syncd.plan.site.options import Options
from syncd.plan.site.steps import FieldChange


@dataclass(frozen=True)
class Sides:
    """The three sides of a plan, and how to plan; nothing here changes while a plan is made.

    Shape: `desired` is the site file, `existing` the platform, `base` the lock; `matches` says which declared item is
    which on the platform; `expected` is the ref of the section that the platform makes of what stands at the root.
    """

    desired: SiteFile
    existing: LiveSite
    base: SiteLock
    options: Options
    matches: Matches
    expected: Ref = ROOT

    @cached_property
    def children(self) -> Mapping[Ref, list[Item]]:
        """The declared groups, sections and variants by the ref of what they stand in, in the file's order."""
        found: defaultdict[Ref, list[Item]] = defaultdict(list)
        for item in self.desired.of("group", "section", "variant"):
            found[item.parent].append(item)
        return found

    @cached_property
    def _targets(self) -> Set[Ref]:
        """The targets with what they stand in, as far as that has to be made for them, and the variants in them."""
        found = set(self.options.target)
        for ref in self.options.target:
            item = self.desired.items.get(ref)
            while item is not None and item.parent != ROOT:
                item = self.desired.items.get(item.parent)
                if item is not None and item.ref not in self.matches.found:
                    found.add(item.ref)
            if ref.kind == "section":
                found |= {item.ref for item in self.children.get(ref, ())}
        return found

    @cached_property
    def root_section(self) -> Item | None:
        """The declared section that shows what stands at the root of a site without sections."""
        return find_root_section(self.desired, self.existing, self.base)

    def is_covered(self, ref: Ref) -> bool:
        """Return whether this plan is about a ref."""
        area = ref.area
        chosen = not self.options.target or ref in self._targets
        return chosen and area in self.desired.managed and area in self.options.areas

    def items(self, *kinds: Kind) -> Iterator[Item]:
        """Yield the declared items of some kinds that this plan is about."""
        return (item for item in self.desired.of(*kinds) if self.is_covered(item.ref))

    def find_id(self, ref: Ref) -> str | IdOf:
        """Return the id of a ref on the platform, else an IdOf in its place; the root's is empty."""
        if ref == ROOT:
            return ROOT
        existing = self.matches.found.get(ref)
        return IdOf(ref) if existing is None else existing.id

    @cached_property
    def absent_sources(self) -> Mapping[str, Place]:
        """The places where the file says that a redirect shall not be there, by the key of its source."""
        return {make_source_key(source): place for source, place in self.desired.absent.items()}

    @cached_property
    def _owners(self) -> Mapping[str, Ref]:
        return find_owners(self.base, self.existing)

    def find_ref(self, id: str) -> Ref:
        """Return the ref of an id: the file's, else the lock's, else one made of the id; the root's is empty."""
        if id == ROOT:
            return ROOT
        if id in self.matches.refs:
            return self.matches.refs[id]
        existing = self.existing.items.get(id)
        known = self._owners.get(id)
        if known is not None and known not in self.desired.items:
            return known
        return Ref(f"{existing.kind if existing is not None else 'thing'}:#{id}")

    def is_owned(self, id: str) -> bool:
        """Return whether the lock has an id."""
        return id in self._owners

    def find_base_ref(self, id: str) -> Ref:
        """Return the ref that the lock has for an id. Raises: KeyError for an id that it does not have."""
        return self._owners[id]

    def is_recorded(self, existing: ExistingItem) -> bool:
        """Return whether an item whose id the lock has is still what the lock recorded under that id."""
        ref = self._owners[existing.id]
        return is_recorded(ref, self.base.items[ref], existing)

    def find_origin(self, ref: Ref) -> By:
        """Return how something that this plan does not create came to be syncd's: created or adopted."""
        if ref in self.matches.half_made:
            return "created"
        entry = self.find_entry(ref) or self.base.items.get(ref)
        return "adopted" if entry is None else entry.by

    def find_entry(self, ref: Ref) -> LockEntry | None:
        """Return the lock's entry for a ref, if it is about the item that is matched with it now."""
        kind, key = ref.kind, ref.key
        if kind in KINDS:
            return self.matches.entry(self.base, ref)
        entry = self.base.items.get(ref)
        if kind == "override" and entry is not None and entry.id != self.find_id(Ref.of("variant", key)):
            return None
        return entry

    def find_base(self, ref: Ref) -> Mapping[str, Any]:
        """Return the values of an item that syncd last put on the platform."""
        entry = self.find_entry(ref)
        return {} if entry is None else entry.applied

    def judge(self, area: Area) -> DriftRules:
        """Return the rules that say who wins in an area."""
        return DriftRules(self.desired.policy.drift(area), self.options.prefer)

    def is_ignored(self, ref: Ref, name: str) -> bool:
        """Return whether the policy ignores a field."""
        return f"{ref}.{name}" in self.desired.policy.ignore

    def locate(self, ref: Ref, name: str = "") -> str:
        """Return where the file declares a ref or a field of it, as file:line:column, or ""."""
        item = self.desired.items.get(ref)
        return "" if item is None else str(item.where({"destination": "to"}.get(name, name)))

    def describe_fields(self, ref: Ref, found: Mapping[str, FieldDiff]) -> tuple[FieldChange, ...]:
        """Return what happens to the fields of an item, with names in the place of ids."""
        return tuple(
            FieldChange(
                name,
                self.describe_value(name, one.before),
                self.describe_value(name, one.after),
                one.cause,
                self.locate(ref, name),
            )
            for name, one in found.items()
        )

    def describe_value(self, name: str, value: Any) -> Any:
        """Return a value of a field in the API's terms with names in the place of ids."""
        if name == "space" and isinstance(value, str):
            return self._space_names.get(value, value)
        if name == "parent" and isinstance(value, str):
            return IdOf(self.find_ref(value)) if value else "the root"
        if name == "destination" and isinstance(value, dict):
            return {
                key: IdOf(self.find_ref(member))
                if key in ("siteSectionId", "siteSpaceId") and member in self._ids
                else member
                for key, member in value.items()
            }
        return value

    @cached_property
    def _ids(self) -> Set[Any]:
        return self.matches.refs.keys() | self._owners.keys()

    @cached_property
    def _space_names(self) -> Mapping[str, str]:
        return {id: alias for alias, id in self.desired.spaces.items()}


def replace_groups(sides: Sides) -> Sides:
    """Return the sides without the groups that have the wrong parent and may be created anew.

    Shape: only where the options allow it, and the server cannot move groups; the old ones are `matches.replaced`, and
    are deleted once they are empty.
    """
    if "group" not in sides.options.allow_replace or sides.existing.abilities.reparent:
        return sides
    found, replaced = dict(sides.matches.found), dict[str, Ref]()
    for item in sides.items("group"):
        existing, above = found.get(item.ref), found.get(item.parent)
        parent = ROOT if item.parent == ROOT else None if above is None else above.id
        if existing is not None and existing.parent != parent:
            del found[item.ref]
            replaced[existing.id] = Ref.of("group", f"#{existing.id}")
    return replace(sides, matches=replace(sides.matches, found=found, replaced=replaced))
