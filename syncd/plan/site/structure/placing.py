"""Where parts stand: which group a section or group is in (W9), and which of its siblings visitors see first (W7)."""

from collections.abc import Mapping
from typing import Any

from syncd.layout.site.read.declared import Item
from syncd.model.ref import ROOT, SITE, Kind, Ref
from syncd.plan.site.call import Call
from syncd.plan.site.context import Case, Draft
from syncd.plan.site.live_state import IdOf
from syncd.plan.site.lockfile.in_flight import was_sending
from syncd.plan.site.steps import Wave


def place(case: Case) -> None:
    """Given a case, take down which sections and groups get another parent, each behind what stands there (W9)."""
    for item in case.items("group", "section"):
        diff = case.diffs.get(item.ref)
        if item.kind == "section" and item.ref in case.new and item.parent != ROOT:
            _join(case, item.ref, item.parent)
        elif diff is not None and "parent" in diff.act:
            if item.kind == "section" and item.parent != ROOT:
                _join(case, item.ref, item.parent)
            else:
                name = "parentSectionGroupId" if item.kind == "group" else "siteSectionGroupId"
                call = Call.GROUP_UPDATE if item.kind == "group" else Call.SECTION_UPDATE
                parent = case.id(item.parent)
                case.step(Wave.MEMBERSHIP, call, item.ref, {name: parent or None}, {"parent": parent})


def in_making(case: Case, kind: Kind) -> list[Item]:
    """Given a case and a kind, return the declared things of that kind in the order in which they are made.

    Where nothing stands yet, visitors see first what is made first: so that is the default, and else the file's order.
    """
    beside = {thing.parent if kind == "variant" else ROOT for thing in case.live.of(kind)}
    first = {
        item.ref
        for item in case.new.values()
        if item.kind == kind and item.fields.get("default") and (kind == "section" or item.parent == ROOT)
    }
    items = list(case.items(kind))
    return items if ROOT in beside or not first else sorted(items, key=lambda item: item.ref not in first)


def _join(case: Case, section: Ref, group: Ref) -> None:
    case.step(Wave.MEMBERSHIP, Call.GROUP_ADD, group, {"section": case.id(section)}, {})
    case.step(Wave.MEMBERSHIP, Call.ADOPT, section, {"after": IdOf(group)}, {"parent": case.id(group)})


def standing(case: Case) -> Mapping[Ref, list[Ref]]:
    """Given a case, return what stands in each list, by the parent's ref, once W9 has run: new things at the end."""
    lists: dict[Ref, list[Ref]] = {}
    for id, children in case.live.orders.items():
        lists[ROOT if id == ROOT else case.name(id)] = [case.name(child) for child in children]
    for kind in ("group", "section", "variant"):
        for item in in_making(case, kind):
            if item.ref in case.new:
                siblings = lists.setdefault(item.parent if kind != "section" else ROOT, [])
                siblings.insert(0 if _is_first(case, item) else len(siblings), item.ref)
    for draft in case.drafts:
        if draft.wave is Wave.MEMBERSHIP and "parent" in draft.sets:
            _take_out(lists, case, draft.ref)
            lists.setdefault(case.file.items[draft.ref].parent, []).append(draft.ref)
    return lists


def _is_first(case: Case, item: Item) -> bool:
    """Whether a section is made with this variant, so that it stands in it before all others."""
    return item.kind == "variant" and case.first.get(item.parent) == item.ref


def _take_out(lists: Mapping[Ref, list[Ref]], case: Case, ref: Ref) -> None:
    thing = case.thing(ref)
    parent = ROOT if thing is None or thing.parent == ROOT else case.name(thing.parent)
    lists[parent].remove(ref)


def choose_defaults(case: Case) -> None:
    """Given a case whose moves are known, take down which section and which variants visitors see first (W7).

    A default that is declared and in place is written once more when its siblings change: the platform may have
    chosen it only because it was the first. That cannot be seen; so, when a run died over it, the moves come first.
    """
    stirred = {case.file.items[draft.ref].parent for draft in case.drafts if _stirs(case, draft)}
    any_section = any(draft.ref.kind in ("section", "group") and _stirs(case, draft) for draft in case.drafts)
    for item in case.items("variant", "section"):
        if not case.desired.get(item.ref, {}).get("default"):
            continue
        diff = case.diffs.get(item.ref)
        takes_over = diff is not None and "default" in diff.act
        is_stirred = any_section if item.kind == "section" else item.parent in stirred
        was_begun = was_choosing(case, item.ref)
        if item.ref in case.new or takes_over:
            _choose(case, item.ref, Wave.DEFAULTS)
        elif is_stirred and diff is not None and _is_in_place(case, item.ref):
            _choose(case, item.ref, Wave.ORDER if was_begun else Wave.DEFAULTS)
        if (takes_over and not was_begun) or (item.ref in case.new and _has_default(case, item.ref)):
            case.defaults.append(item.ref)


def was_choosing(case: Case, ref: Ref) -> bool:
    """Given a section or variant, return whether a dead run was about to make it the default, as it was allowed to."""
    return ref in case.matches.found and was_sending(case.lock, *_choice(case, ref))


def _stirs(case: Case, draft: Draft) -> bool:
    moved = draft.wave in (Wave.ORDER, Wave.MEMBERSHIP) or draft.call in (Call.SECTION_CREATE, Call.VARIANT_CREATE)
    return moved and draft.call is not Call.ADOPT and draft.ref in case.file.items


def _is_in_place(case: Case, ref: Ref) -> bool:
    thing = case.thing(ref)
    if thing is None or (thing.kind == "variant" and thing.parent != case.id(case.file.items[ref].parent)):
        return False
    return bool(thing.fields.get("default"))


def _has_default(case: Case, ref: Ref) -> bool:
    """Whether something that was there before is the default among the siblings of something new."""
    item = case.file.items[ref]
    if item.kind == "section":
        beside = case.live.of("section")
    else:
        beside = tuple(case.live.things[id] for id in case.live.orders.get(str(case.id(item.parent)), ()))
    return any(thing.fields.get("default") for thing in beside if thing.kind == item.kind)


def _choose(case: Case, ref: Ref, wave: Wave) -> None:
    holder, body = _choice(case, ref)
    call = Call.SITE_UPDATE if holder == SITE else Call.SECTION_UPDATE
    case.step(wave, call, holder, body, {})
    case.step(wave, Call.ADOPT, ref, {"after": IdOf(holder)}, {"default": True})


def _choice(case: Case, ref: Ref) -> tuple[Ref, dict[str, Any]]:
    """What has to be told which of its sections or variants visitors see first, and how."""
    item = case.file.items[ref]
    name = "defaultSiteSection" if item.kind == "section" else "defaultSiteSpace"
    holder = SITE if item.kind == "section" or item.parent == ROOT else item.parent
    return holder, {name: case.id(ref)}
