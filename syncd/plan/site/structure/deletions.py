"""Which parts of a site's structure are deleted: only what is syncd's, or all when the policy says so, and only whole.

Source: syncd/manual/how-to/site.md, "Gates"; syncd/manual/reference/site-file.md, "policy".
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from syncd.layout.site.read.declared import Item
from syncd.model.ref import ROOT, Kind, Ref
from syncd.plan.site.call import Call
from syncd.plan.site.live_state import ExistingItem
from syncd.plan.site.part import Draft, PlanPart
from syncd.plan.site.sides import Sides
from syncd.plan.site.steps import FieldChange, Line, Wave
from syncd.plan.site.structure.decisions import PARTS, Structure, is_becoming_default

_NOT_DEFAULT = "it is the default, and no other is declared in its place"


@dataclass(frozen=True)
class Deletions:
    """What is deleted, as refs by id, and why something that is no longer declared is kept, as texts by id."""

    deleted: Mapping[str, Ref] = field(default_factory=dict)
    kept: Mapping[str, str] = field(default_factory=dict)


def find_deletions(sides: Sides, structure: Structure) -> Deletions:
    """Return which undeclared parts are deleted. Linear in the structure's size."""
    finder = _DeletionFinder(sides, structure)
    unclear = {kind: finder.find_missing(kind) for kind in PARTS}
    for existing in sides.existing.of(*PARTS):
        is_declared = existing.id in sides.matches.refs or existing.id in sides.matches.disputed_ids
        if not is_declared and existing.id not in finder.deleted:
            finder.judge(existing, unclear[existing.kind])
    finder.keep_all("section", finder.explain_section)
    finder.keep_all("variant", finder.explain_variant)
    for group in _sort_deepest_first(sides, (one for one in sides.existing.of("group") if one.id in finder.deleted)):
        if why := finder.explain_group(group):
            finder.keep(group, why)
    return Deletions(finder.deleted, finder.kept)


def plan_deletions(sides: Sides, deletions: Deletions) -> PlanPart:
    """Return the lines about deletions, and the requests in an order in which none deletes more than it should
    (W13).
    """
    existing = sides.existing.items
    gone = [existing[id] for id in deletions.deleted if id in existing]
    lines = [
        Line("report", sides.find_ref(id), _describe_name(existing[id]), why) for id, why in deletions.kept.items()
    ]
    lines += [
        Line("delete", deletions.deleted[one.id], _describe_name(one), _explain_deletion(sides, one)) for one in gone
    ]
    # Variants before sections, as a section takes its variants with it; those need no request of their own.
    variants = [one for one in gone if one.kind == "variant" and one.parent not in deletions.deleted]
    sections = [one for one in gone if one.kind == "section"]
    groups = _sort_deepest_first(sides, (one for one in gone if one.kind == "group"))
    drafts = [draft for one in (*variants, *sections, *groups) for draft in _draft_deletion(sides, deletions, one)]
    return PlanPart(deleted=deletions.deleted, drafts=tuple(drafts), lines=tuple(lines))


def _draft_deletion(sides: Sides, deletions: Deletions, existing: ExistingItem) -> Iterator[Draft]:
    calls = {"group": Call.GROUP_DELETE, "section": Call.SECTION_DELETE, "variant": Call.VARIANT_DELETE}
    yield Draft(Wave.DELETE, calls[existing.kind], deletions.deleted[existing.id], existing.id, drops=True)
    for id in sides.existing.orders.get(existing.id, ()) if existing.kind == "section" else ():
        if not deletions.deleted[id].key.startswith("#"):
            yield Draft(Wave.DELETE, Call.FORGET, deletions.deleted[id], id, drops=True)


class _DeletionFinder:
    """Marks what is deleted, and takes back what cannot be."""

    def __init__(self, sides: Sides, structure: Structure) -> None:
        self.sides, self.structure = sides, structure
        self.deleted: dict[str, Ref] = dict(sides.matches.replaced)
        self.kept: dict[str, str] = {}

    def find_missing(self, kind: Kind) -> str:
        """Return something declared of this kind that is neither found nor going to be made, or ""."""
        items = self.sides.items(kind)
        return next((item.ref.words for item in items if not self.structure.is_present(self.sides, item.ref)), "")

    def judge(self, existing: ExistingItem, unclear: str) -> None:
        """Delete something undeclared, or note why it is kept; `unclear` is something declared that it could be."""
        sides, ref = self.sides, self.sides.find_ref(existing.id)
        if not sides.is_covered(ref):
            return
        prune, is_owned = sides.desired.policy.find_prune("structure"), sides.is_owned(existing.id)
        if prune == "all" and not is_owned and unclear:
            self.kept[existing.id] = f"kept: it could be {unclear}, which is not there"
        elif prune != "all" and is_owned and not sides.is_recorded(existing):
            known = sides.find_base_ref(existing.id).words
            self.kept[existing.id] = f"kept: it is not {known}, as which the lock has its id"
        elif prune == "all" or (is_owned and prune == "owned"):
            self.deleted[existing.id] = ref
        elif is_owned:
            self.kept[existing.id] = f"no longer declared, kept: policy.prune.structure is {prune}"

    def keep_all(self, kind: str, explain: Callable[[ExistingItem], str]) -> None:
        """Keep all of a kind that cannot be deleted; `explain` says why not, or ""."""
        for id in list(self.deleted):
            existing = self.sides.existing.items.get(id)
            if existing is not None and existing.kind == kind and (why := explain(existing)):
                self.keep(existing, why)

    def keep(self, existing: ExistingItem, why: str) -> None:
        """Keep something that was to be deleted."""
        del self.deleted[existing.id]
        self.kept[existing.id] = f"kept: {why}"

    def explain_section(self, section: ExistingItem) -> str:
        """Return why a section cannot be deleted, or ""."""
        others = [id for id in self.sides.existing.orders.get(section.id, ()) if id not in self.deleted]
        if others:
            return f"it holds {', '.join(self.sides.find_ref(id) for id in others[:3])}, which would go with it"
        is_needed = section.fields.get("default") and not self._has_heir(self.sides.desired.of("section"))
        return _NOT_DEFAULT if is_needed else ""

    def explain_variant(self, variant: ExistingItem) -> str:
        """Return why a variant cannot be deleted, or ""."""
        sides = self.sides
        if variant.parent in self.deleted:
            return ""
        if variant.parent == ROOT and _waits_for_sections(sides):
            return "the sections that are declared in its place cannot be made yet"
        siblings = sides.children.get(sides.find_ref(variant.parent), ())
        others_stay = any(id not in self.deleted for id in sides.existing.orders.get(variant.parent, ()))
        if not others_stay and not any(item.ref in self.structure.new for item in siblings):
            return "it is the last variant"
        return _NOT_DEFAULT if variant.fields.get("default") and not self._has_heir(siblings) else ""

    def explain_group(self, group: ExistingItem) -> str:
        """Return why a group cannot be deleted, or ""."""
        children = self.sides.existing.orders.get(group.id, ())
        staying = [id for id in children if id not in self.deleted and not self._is_leaving(id)]
        return f"it still holds {', '.join(self.sides.find_ref(id) for id in staying[:3])}" if staying else ""

    def _has_heir(self, items: Iterable[Item]) -> bool:
        """Whether one of some declared items becomes the default in this plan."""
        return any(is_becoming_default(self.structure, item) for item in items)

    def _is_leaving(self, id: str) -> bool:
        diff = self.structure.diffs.get(self.sides.matches.refs.get(id, ROOT))
        return diff is not None and "parent" in diff.act


def _waits_for_sections(sides: Sides) -> bool:
    """Whether the site is to have sections instead of what stands at its root, and has none."""
    desired = sides.desired
    declared = desired.of("section") and not any(item.parent == ROOT for item in desired.of("variant"))
    return bool(declared) and not sides.existing.of("section")


def _sort_deepest_first(sides: Sides, groups: Iterable[ExistingItem]) -> list[ExistingItem]:
    return sorted(groups, key=lambda group: -_find_depth(sides, group))


def _find_depth(sides: Sides, group: ExistingItem) -> int:
    depth, seen = 0, {group.id}
    above = sides.existing.items.get(group.parent)
    while above is not None and above.id not in seen:
        seen.add(above.id)
        depth, above = depth + 1, sides.existing.items.get(above.parent)
    return depth


def _describe_name(existing: ExistingItem) -> tuple[FieldChange, ...]:
    """What people know something by that goes away: a group's title, else its path."""
    name = "title" if existing.kind == "group" else "path"
    return (FieldChange(name, existing.fields.get(name), None),)


def _explain_deletion(sides: Sides, existing: ExistingItem) -> str:
    if existing.id in sides.matches.replaced:
        return "made anew elsewhere"
    return "no longer declared" if sides.is_owned(existing.id) else "not declared: policy.prune.structure is all"
