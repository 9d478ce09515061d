"""One site's case while it is planned: the three sides, what belongs together, and what was decided so far."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from syncd.layout.site.read.declared import Item, Place, SiteFile
from syncd.model.redirect import source_key
from syncd.model.ref import ROOT, Area, Kind, Ref
from syncd.plan.site.call import Call
from syncd.plan.site.differ import Diff, Found, Judge
from syncd.plan.site.live_state import By, Entry, Existing, IdOf, Live, Lock
from syncd.plan.site.match.first_sections import find_root_section
from syncd.plan.site.match.match import KINDS, Matches
from syncd.plan.site.match.recorded import is_recorded, owners
from syncd.plan.site.options import Options
from syncd.plan.site.steps import Action, FieldChange, Gate, Line, Lost, Wave


@dataclass(slots=True)
class Draft:
    """A step before it is known what the lock has of its thing by then; `sets` are the values that it puts there."""

    wave: Wave
    call: Call
    ref: Ref
    id: str | IdOf = ""
    body: Mapping[str, Any] = field(default_factory=dict)
    sets: Mapping[str, Any] = field(default_factory=dict)
    drops: bool = False
    temporary: bool = False


@dataclass
class Case:
    """The sides and the decisions; each wave reads it and adds its drafts, lines, gates and warnings.

    Shapes: `diffs` by ref, of what is there; `new` are the refs that are going to be made; `desired` has the declared
    fields in the API's terms by ref; `first` has the variant that each new section is made with; `doomed` are the refs,
    by their ids, of what is going to be deleted, `replaced` those of them that are made anew; `defaults` are the refs
    that take another default's place; `lost` are the refs of what somebody deleted on the platform, `left` those of
    them that stay away; `expected` is the ref of the section that the platform makes of what stands at the root.
    """

    file: SiteFile
    live: Live
    lock: Lock
    options: Options
    matches: Matches
    diffs: dict[Ref, Diff] = field(default_factory=dict)
    desired: dict[Ref, Mapping[str, Any]] = field(default_factory=dict)
    new: dict[Ref, Item] = field(default_factory=dict)
    first: dict[Ref, Ref] = field(default_factory=dict)
    doomed: dict[str, Ref] = field(default_factory=dict)
    replaced: dict[str, Ref] = field(default_factory=dict)
    drafts: list[Draft] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    gates: list[Gate] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    beyond: dict[Area, tuple[str, ...]] = field(default_factory=dict)
    defaults: list[Ref] = field(default_factory=list)
    lost: dict[Ref, Lost] = field(default_factory=dict)
    left: set[Ref] = field(default_factory=set)
    expected: Ref = ROOT

    @cached_property
    def below(self) -> Mapping[Ref, list[Item]]:
        """The declared groups, sections and variants by the ref of what they stand in, in the file's order."""
        found: defaultdict[Ref, list[Item]] = defaultdict(list)
        for item in self.file.of("group", "section", "variant"):
            found[item.parent].append(item)
        return found

    @cached_property
    def _targets(self) -> Set[Ref]:
        """The targets with what they stand in, as far as that has to be made for them, and the variants in them."""
        found = set(self.options.target)
        for ref in self.options.target:
            item = self.file.items.get(ref)
            while item is not None and item.parent != ROOT:
                item = self.file.items.get(item.parent)
                if item is not None and item.ref not in self.matches.found:
                    found.add(item.ref)
            if ref.kind == "section":
                found |= {item.ref for item in self.below.get(ref, ())}
        return found

    @cached_property
    def root_section(self) -> Item | None:
        """The declared section that shows what stands at the root of a site without sections."""
        return find_root_section(self.file, self.live, self.lock)

    def covers(self, ref: Ref) -> bool:
        """Given a ref, return whether this plan is about it."""
        area = ref.area
        chosen = not self.options.target or ref in self._targets
        return chosen and area in self.file.managed and area in self.options.areas

    def items(self, *kinds: Kind) -> Iterator[Item]:
        """Given kinds, yield the declared things of these kinds that this plan is about."""
        return (item for item in self.file.of(*kinds) if self.covers(item.ref))

    def is_there(self, ref: Ref) -> bool:
        """Given a ref, return whether it is on the platform, or will be once this plan has made it."""
        return ref in self.matches.found or ref in self.new

    def thing(self, ref: Ref) -> Existing | None:
        """Given a ref, return what is on the platform for it."""
        return self.matches.found.get(ref)

    def id(self, ref: Ref) -> str | IdOf:
        """Given the ref of something that is there, return its id, or what stands for it; the root's is empty."""
        if ref == ROOT:
            return ROOT
        thing = self.matches.found.get(ref)
        return IdOf(ref) if thing is None else thing.id

    @cached_property
    def absent(self) -> Mapping[str, Place]:
        """The places where the file says that a redirect shall not be there, by the key of its source."""
        return {source_key(source): place for source, place in self.file.absent.items()}

    @cached_property
    def _locked(self) -> Mapping[str, Ref]:
        return owners(self.lock, self.live)

    def name(self, id: str) -> Ref:
        """Given an id, return the ref of what it belongs to: the file's, else the lock's, else one of its own."""
        if id in self.matches.refs:
            return self.matches.refs[id]
        thing = self.live.things.get(id)
        known = self._locked.get(id)
        if known is not None and known not in self.file.items:
            return known
        return Ref(f"{thing.kind if thing is not None else 'thing'}:#{id}")

    def owns(self, id: str) -> bool:
        """Given an id, return whether the lock has it."""
        return id in self._locked

    def locked(self, id: str) -> Ref:
        """Given the id of something that the lock has, return its ref there."""
        return self._locked[id]

    def is_as_left(self, thing: Existing) -> bool:
        """Given something that the lock has by its id, return whether it is what syncd left there."""
        ref = self._locked[thing.id]
        return is_recorded(ref, self.lock.items[ref], thing)

    def by(self, ref: Ref) -> By:
        """Given a ref, return how the thing came to be syncd's."""
        if ref in self.new or ref in self.matches.halves:
            return "created"
        entry = self.entry(ref) or self.lock.items.get(ref)
        return "adopted" if entry is None else entry.by

    def entry(self, ref: Ref) -> Entry | None:
        """Given a ref, return what the lock knows of just the thing that is there for it now."""
        kind, key = ref.kind, ref.key
        if kind in KINDS:
            return self.matches.entry(self.lock, ref)
        entry = self.lock.items.get(ref)
        if kind == "override" and entry is not None and entry.id != self.id(Ref.of("variant", key)):
            return None
        return entry

    def base(self, ref: Ref) -> Mapping[str, Any]:
        """Given a ref, return the values that syncd last put there."""
        entry = self.entry(ref)
        return {} if entry is None else entry.applied

    def judge(self, area: Area) -> Judge:
        """Given an area, return who wins in it."""
        return Judge(self.file.policy.drift(area), self.options.prefer)

    def ignored(self, ref: Ref, name: str) -> bool:
        """Given a field, return whether the policy says to leave it alone."""
        return f"{ref}.{name}" in self.file.policy.ignore

    def step(self, wave: Wave, call: Call, ref: Ref, body: Mapping[str, Any], sets: Mapping[str, Any]) -> None:
        """Given a request about a declared thing and the values that it puts there, take it down."""
        kind, key = ref.kind, ref.key
        id = self.id(Ref.of("variant", key) if kind == "override" else ref) if key else self.file.site
        self.drafts.append(Draft(wave, call, ref, id, body, sets))

    def block(self, ref: Ref, note: str, *, manual: str = "", name: str = "") -> None:
        """Given something that cannot be done, take down why and what a person can do about it.

        A field that was to be written is not.
        """
        diff = self.diffs.get(ref)
        found = diff.act.pop(name, None) if diff is not None else None
        fields = () if found is None else self.changes(ref, {name: found})
        self.lines.append(Line("blocked", ref, fields, note, self.where(ref, name), manual, self.lost.get(ref, "")))

    def line(self, action: Action, ref: Ref, found: Mapping[str, Found], note: str = "") -> None:
        """Given what happens to the fields of a thing, take it down as people read it."""
        fields = self.changes(ref, found)
        where = fields[0].where if action == "update" and fields else self.where(ref)
        self.lines.append(Line(action, ref, fields, note, where, gone=self.lost.get(ref, "")))

    def changes(self, ref: Ref, found: Mapping[str, Found]) -> tuple[FieldChange, ...]:
        """Given what happens to the fields of a thing, return it with names in the place of ids."""
        return tuple(
            FieldChange(name, self.shown(name, one.before), self.shown(name, one.after), one.of, self.where(ref, name))
            for name, one in found.items()
        )

    def where(self, ref: Ref, name: str = "") -> str:
        """Given a ref and a field, return where the file speaks of it, or nothing."""
        item = self.file.items.get(ref)
        return "" if item is None else str(item.where({"destination": "to"}.get(name, name)))

    def shown(self, name: str, value: Any) -> Any:
        """Given a field and its value in the API's terms, return it as people read it: names in the place of ids."""
        if name == "space" and isinstance(value, str):
            return self._aliases.get(value, value)
        if name == "parent" and isinstance(value, str):
            return IdOf(self.name(value)) if value else "the root"
        if name == "destination" and isinstance(value, dict):
            return {
                key: IdOf(self.name(member))
                if key in ("siteSectionId", "siteSpaceId") and member in self._ids
                else member
                for key, member in value.items()
            }
        return value

    @cached_property
    def _ids(self) -> Set[Any]:
        return self.matches.refs.keys() | self._locked.keys()

    @cached_property
    def _aliases(self) -> Mapping[str, str]:
        return {id: alias for alias, id in self.file.spaces.items()}
