"""Where parts stand: which group a section or group is in (W9), and which of its siblings visitors see first (W7)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from syncd.layout.site.read.declared import Item
from syncd.model.ref import ROOT, SITE, Kind, Ref
from syncd.plan.site.call import Call
from syncd.plan.site.live_state import IdOf
from syncd.plan.site.lockfile.in_flight import was_sending
from syncd.plan.site.part import Draft, PlanPart, draft_step
from syncd.plan.site.sides import Sides
from syncd.plan.site.steps import Gate, Wave
from syncd.plan.site.structure.decisions import PARTS, Structure


def draft_memberships(sides: Sides, structure: Structure) -> Iterator[Draft]:
    """Yield the requests that move sections and groups to other parents, behind what is there (W9)."""
    for item in sides.items("group", "section"):
        diff = structure.diffs.get(item.ref)
        is_new_section = item.kind == "section" and item.ref in structure.new
        is_moving = diff is not None and "parent" in diff.act
        if item.kind == "section" and item.parent != ROOT and (is_new_section or is_moving):
            group = sides.find_id(item.parent)
            add = {"section": sides.find_id(item.ref)}
            yield draft_step(sides, Wave.MEMBERSHIP, Call.GROUP_ADD, item.parent, add, {})
            after = {"after": IdOf(item.parent)}
            yield draft_step(sides, Wave.MEMBERSHIP, Call.ADOPT, item.ref, after, {"parent": group})
        elif is_moving:
            name = "parentSectionGroupId" if item.kind == "group" else "siteSectionGroupId"
            call = Call.GROUP_UPDATE if item.kind == "group" else Call.SECTION_UPDATE
            parent = sides.find_id(item.parent)
            yield draft_step(sides, Wave.MEMBERSHIP, call, item.ref, {name: parent or None}, {"parent": parent})


def sort_by_creation(sides: Sides, structure: Structure, kind: Kind) -> list[Item]:
    """Return the declared items of a kind in the order in which they are created.

    Where nothing exists yet, visitors see first what is created first: so the default is, and else the file's order
    counts.
    """
    beside = {item.parent if kind == "variant" else ROOT for item in sides.existing.of(kind)}
    first = {
        item.ref
        for item in structure.new.values()
        if item.kind == kind and item.fields.get("default") and (kind == "section" or item.parent == ROOT)
    }
    items = list(sides.items(kind))
    return items if ROOT in beside or not first else sorted(items, key=lambda item: item.ref not in first)


def list_children(sides: Sides, structure: Structure, memberships: Iterable[Draft]) -> Mapping[Ref, list[Ref]]:
    """Return what each list holds once W9 has run, by the parent's ref.

    Shape: what is new is at the end, but the variant that a section is created with is first.
    """
    lists: dict[Ref, list[Ref]] = {}
    for id, children in sides.existing.orders.items():
        lists[sides.find_ref(id)] = [sides.find_ref(child) for child in children]
    for kind in PARTS:
        for item in sort_by_creation(sides, structure, kind):
            if item.ref in structure.new:
                siblings = lists.setdefault(item.parent if kind != "section" else ROOT, [])
                is_first = kind == "variant" and structure.first_variants.get(item.parent) == item.ref
                siblings.insert(0 if is_first else len(siblings), item.ref)
    for draft in memberships:
        if "parent" in draft.sets:
            existing = sides.matches.found.get(draft.ref)
            parent = ROOT if existing is None else sides.find_ref(existing.parent)
            lists[parent].remove(draft.ref)
            lists.setdefault(sides.desired.items[draft.ref].parent, []).append(draft.ref)
    return lists


def plan_defaults(sides: Sides, structure: Structure, drafts: Sequence[Draft]) -> PlanPart:
    """Return which section and which variants visitors see first, after everything is created and moved (W7).

    A default that is declared and in place is written once more when its siblings change: the platform may have chosen
    it only because it was the first. That cannot be seen; so, when a run was killed meanwhile, the moves come first.
    """
    rearranged = {sides.desired.items[draft.ref].parent for draft in drafts if _rearranges(sides, draft)}
    are_sections = any(one.ref.kind in ("section", "group") and _rearranges(sides, one) for one in drafts)
    chosen: list[Draft] = []
    taken_over: list[Ref] = []
    for item in sides.items("variant", "section"):
        if not structure.desired.get(item.ref, {}).get("default"):
            continue
        diff, is_new = structure.diffs.get(item.ref), item.ref in structure.new
        takes_over = diff is not None and "default" in diff.act
        is_rearranged = are_sections if item.kind == "section" else item.parent in rearranged
        was_begun = was_choosing(sides, item.ref)
        if is_new or takes_over:
            chosen += _draft_default(sides, item.ref, Wave.DEFAULTS)
        elif is_rearranged and diff is not None and _is_default_in_place(sides, item.ref):
            chosen += _draft_default(sides, item.ref, Wave.ORDER if was_begun else Wave.DEFAULTS)
        if (takes_over and not was_begun) or (is_new and _has_default_beside(sides, item)):
            taken_over.append(item.ref)
    why = "visitors arrive at another place than before"
    gates = (Gate("defaults", tuple(taken_over), why, approval=True),) if taken_over else ()
    return PlanPart(drafts=tuple(chosen), gates=gates)


def was_choosing(sides: Sides, ref: Ref) -> bool:
    """Return whether a run that was killed was about to make a section or variant the default, as it was allowed to."""
    return ref in sides.matches.found and was_sending(sides.base, *_build_default(sides, ref))


def _rearranges(sides: Sides, draft: Draft) -> bool:
    """Whether a step changes which siblings something has, or their order."""
    is_move = draft.wave in (Wave.ORDER, Wave.MEMBERSHIP) or draft.call in (Call.SECTION_CREATE, Call.VARIANT_CREATE)
    return is_move and draft.call is not Call.ADOPT and draft.ref in sides.desired.items


def _is_default_in_place(sides: Sides, ref: Ref) -> bool:
    existing = sides.matches.found.get(ref)
    if existing is None or (
        existing.kind == "variant" and existing.parent != sides.find_id(sides.desired.items[ref].parent)
    ):
        return False
    return bool(existing.fields.get("default"))


def _has_default_beside(sides: Sides, item: Item) -> bool:
    """Whether something that was there before is the default among the siblings of something new."""
    existing = sides.existing
    if item.kind == "section":
        beside = existing.of("section")
    else:
        beside = tuple(existing.items[id] for id in existing.orders.get(str(sides.find_id(item.parent)), ()))
    return any(one.fields.get("default") for one in beside if one.kind == item.kind)


def _draft_default(sides: Sides, ref: Ref, wave: Wave) -> Iterator[Draft]:
    holder, body = _build_default(sides, ref)
    yield draft_step(sides, wave, Call.SITE_UPDATE if holder == SITE else Call.SECTION_UPDATE, holder, body, {})
    yield draft_step(sides, wave, Call.ADOPT, ref, {"after": IdOf(holder)}, {"default": True})


def _build_default(sides: Sides, ref: Ref) -> tuple[Ref, dict[str, Any]]:
    """The ref of what has to be told which of its sections or variants visitors see first, and the request's body."""
    item = sides.desired.items[ref]
    name = "defaultSiteSection" if item.kind == "section" else "defaultSiteSpace"
    holder = SITE if item.kind == "section" or item.parent == ROOT else item.parent
    return holder, {name: sides.find_id(ref)}
