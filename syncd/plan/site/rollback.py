"""Take a plan back: what it is about to change, kept before it runs, and the site file that would restore that."""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from syncd.layout.site.read.customization import find_leaf, is_agreeing, list_leaves
from syncd.layout.site.read.declared import NOWHERE, Item, SiteFile
from syncd.layout.site.read.visitors import list_claims
from syncd.model.ref import ROOT, Ref
from syncd.plan.site.declare import find_own_settings
from syncd.plan.site.live_state import ExistingItem, LiveSite, SiteLock
from syncd.plan.site.steps import Line, SitePlan

UNANSWERED = "unanswered"
_DONE = ("create", "update", "move", "delete")
_PARTS = ("group", "section", "variant")
_ELSEWHERE = frozenset({"destination", "parent", "order"})
"""What the lock has among the values of an item, and a site file at another place."""


@dataclass(frozen=True)
class FormerState:
    """What a plan changes, as it was before; JSON in and out.

    Shape: `things` has by ref the former values, in the words of `Item.fields` (None where there was nothing), or None
    for what did not exist; `parents` has the ref of what a group, section or variant stood in; `orders` has the former
    order of the siblings of what was moved, as refs, by the ref of what they stand in; `actions` says what the plan
    did to each, `unanswered` where nobody heard what came of it.
    """

    path: str
    things: Mapping[Ref, Mapping[str, Any] | None] = field(default_factory=dict)
    parents: Mapping[Ref, Ref] = field(default_factory=dict)
    orders: Mapping[Ref, list[Ref]] = field(default_factory=dict)
    actions: Mapping[Ref, str] = field(default_factory=dict)


def parse_former_state(text: str) -> FormerState:
    """Return the former state in the JSON that was stored of it."""
    kept = json.loads(text)
    return FormerState(
        kept["path"],
        {Ref(ref): fields for ref, fields in kept["things"].items()},
        {Ref(ref): Ref(parent) for ref, parent in kept["parents"].items()},
        {Ref(parent): [Ref(ref) for ref in refs] for parent, refs in kept["orders"].items()},
        {Ref(ref): action for ref, action in kept["actions"].items()},
    )


def record_former_state(
    path: str, plan: SitePlan, live: LiveSite, lock: SiteLock, unanswered: Collection[Ref] = ()
) -> FormerState:
    """Return what a plan is about to change, or has changed, as it was before."""
    kept = _FormerStateRecorder(path, plan, live, lock).record()
    actions = {ref: UNANSWERED if ref in unanswered else action for ref, action in kept.actions.items()}
    return replace(kept, actions=actions)


def build_inverse(file: SiteFile, kept: FormerState, lock: SiteLock) -> SiteFile:
    """Return a site file that declares what a plan changed as it was before.

    Shape: to be planned with the result of `list_concerned_refs` as the target. Whatever the plan did not change is as
    the lock has it, so that it stays; what is declared and not created yet is left out.
    """
    refs = {entry.id: ref for ref, entry in lock.items.items() if ref.kind in _PARTS}
    known = (item for ref, item in file.items.items() if ref in lock.items or item.kind not in _PARTS)
    items = {item.ref: _restore_applied(item, lock, refs) for item in known}
    for ref, fields in kept.things.items():
        if fields is None:
            items.pop(ref, None)
            continue
        kind, key = ref.kind, ref.key
        item = items.get(ref) or Item(kind, key, {}, NOWHERE)
        said = {**item.fields, **fields}
        said = {name: value for name, value in said.items() if value is not None or kind != "visitors"}
        parent = kept.parents.get(ref, item.parent)
        items[ref] = replace(item, fields=said, place=NOWHERE, places={}, parent=parent, was=(), id="")
    areas = frozenset(ref.area for ref in kept.things)
    # Whatever the file says: what the plan created has to go, and what others have changed since is reported only.
    policy = replace(
        file.policy,
        prune={**file.policy.prune, **dict.fromkeys(areas, "owned")},
        on_drift=dict.fromkeys(areas, "report"),
        ignore=frozenset(),
    )
    orders = {parent: tuple(ref for ref in refs if ref in items) for parent, refs in kept.orders.items()}
    return replace(file, items=items, orders=orders, managed=areas, policy=policy, absent={})


def list_concerned_refs(kept: FormerState) -> frozenset[Ref]:
    """Return the refs that the inverse of a plan is about: what it changed, and the siblings of what it moved."""
    return frozenset(kept.things) | {ref for refs in kept.orders.values() for ref in refs}


def _restore_applied(item: Item, lock: SiteLock, refs: Mapping[str, Ref]) -> Item:
    """A declared item as syncd left it."""
    entry = lock.items.get(item.ref)
    if entry is None:
        return item
    applied = entry.applied
    parent = refs.get(applied["parent"], ROOT) if "parent" in applied else item.parent
    return replace(item, fields=_to_declared(applied, refs), parent=parent)


class _FormerStateRecorder:
    """Collects what the lines of one plan change."""

    def __init__(self, path: str, plan: SitePlan, live: LiveSite, lock: SiteLock) -> None:
        self.path, self.plan, self.live = path, plan, live
        self.ids = {ref: entry.id for ref, entry in lock.items.items()}
        self.ids |= {step.ref: step.id for step in plan.steps if isinstance(step.id, str) and step.id}
        self.refs = {id: ref for ref, id in self.ids.items() if ref.kind in _PARTS}
        self.claims = list_claims(live.schema) if live.schema else {}

    def record(self) -> FormerState:
        stepped = {step.ref for step in self.plan.steps}
        lines = [line for line in self.plan.lines if line.action in _DONE and line.ref in stepped]
        things: dict[Ref, Mapping[str, Any] | None] = {}
        for line in lines:
            fields, known = self._before(line), things.get(line.ref, {})
            things[line.ref] = None if fields is None or known is None else {**known, **fields}
            if "default" in {one.name for one in line.fields}:
                for ref in self._defaults(line):
                    things[ref] = {**(things.get(ref) or {}), "default": True}
            if line.action == "delete":
                things |= dict(self._variants(line.ref))
        there = [existing for ref in things if (existing := self._find_existing(ref)) is not None]
        parents = {self.refs[existing.id]: self._parent(existing) for existing in there if existing.id in self.refs}
        return FormerState(
            self.path, things, parents, dict(self._orders(lines)), {one.ref: one.action for one in lines}
        )

    def _variants(self, gone: Ref) -> Iterator[tuple[Ref, Mapping[str, Any]]]:
        """What goes with a section or variant: the variants of it, and what they have of their own."""
        id = self.ids.get(gone, "")
        for one in (id, *self.live.orders.get(id, ())) if gone.kind in ("section", "variant") else ():
            ref = self.refs.get(one)
            if ref is not None and ref.kind == "variant":
                yield ref, _to_declared(self.live.items[one].fields, self.refs)
                if own := self._own(self.live.overrides.get(one, {}), {"reset"}):
                    yield Ref.of("override", ref.key), own

    def _defaults(self, line: Line) -> Iterator[Ref]:
        """The refs of what visitors see first now where this line makes them see another item: nobody is denied."""
        kind, key = line.ref.kind, line.ref.key
        for existing in self.live.of(kind):
            ref = self.refs.get(existing.id)
            if ref is None or not existing.fields.get("default"):
                continue
            if kind == "section" or ref.key.rpartition("/")[0] == key.rpartition("/")[0]:
                yield ref

    def _find_existing(self, ref: Ref) -> ExistingItem | None:
        return self.live.items.get(self.ids.get(ref, ""))

    def _parent(self, existing: ExistingItem) -> Ref:
        return self.refs.get(existing.parent, ROOT)

    def _before(self, line: Line) -> Mapping[str, Any] | None:
        if line.action == "create":
            return None
        existing = self._find_existing(line.ref)
        if line.action == "delete" and existing is not None:
            return _to_declared(existing.fields, self.refs)
        names = {one.name for one in line.fields if one.cause != "converged"}
        match line.ref.kind:
            case "site":
                return {name: self.live.site.get(name) for name in names}
            case "visitors":
                return {name: self.claims.get(name) for name in names}
            case "customization":
                return {name: find_leaf(self.live.customization, name) for name in names}
            case "override":
                return self._own(self.live.overrides.get(self.ids.get(line.ref, ""), {}), names)
            case _:
                fields = existing.fields if existing is not None else {}
                return _to_declared({name: fields[name] for name in names if name in fields}, self.refs)

    def _own(self, effective: Mapping[str, Any], names: set[str]) -> dict[str, Any]:
        """What a variant shows; what it has from its site was not its own. A reset takes everything."""
        site = self.live.customization
        if "reset" in names:
            return list_leaves(find_own_settings(effective, site, frozenset()))
        own = {name: find_leaf(effective, name) for name in names}
        return {name: None if is_agreeing(value, find_leaf(site, name)) else value for name, value in own.items()}

    def _orders(self, lines: list[Line]) -> Iterator[tuple[Ref, list[Ref]]]:
        for line in lines:
            existing = self._find_existing(line.ref)
            left = line.action in ("move", "delete") or "parent" in {one.name for one in line.fields}
            if left and existing is not None and existing.kind in _PARTS:
                siblings = self.live.orders.get(existing.parent, ())
                yield self._parent(existing), [self.refs[id] for id in siblings if id in self.refs]


def _to_declared(fields: Mapping[str, Any], refs: Mapping[str, Ref] = MappingProxyType({})) -> dict[str, Any]:
    """Fields in the API's terms in the words of a site file; ids of destinations by their keys, where they have one."""
    found = {name: value for name, value in fields.items() if name not in _ELSEWHERE}
    destination = fields.get("destination")
    if isinstance(destination, Mapping):
        found["to"] = _to_destination(destination, refs)
    return found


def _to_destination(destination: Mapping[str, Any], refs: Mapping[str, Ref]) -> dict[str, Any]:
    """What is made anew has another id, so a key is better than an id."""
    match dict(destination):
        case {"kind": "site-section", "siteSectionId": str(id)} if id in refs:
            return {"section": refs[id].key}
        case {"kind": "site-space", "siteSpaceId": str(id)} if id in refs:
            return {"variant": refs[id].key}
        case other:
            return {"raw": other}
