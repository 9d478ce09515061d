"""Which parts of a site's structure are deleted: only what is syncd's, or all when the policy says so, and only whole.

Source: site-file notes, §3.5 and §5.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from syncd.layout.site.read.declared import Item
from syncd.model.ref import ROOT, Kind, Ref
from syncd.plan.site.call import Call
from syncd.plan.site.context import Case, Draft
from syncd.plan.site.live_state import Existing
from syncd.plan.site.steps import FieldChange, Line, Wave

PARTS: tuple[Kind, ...] = ("group", "section", "variant")
_NOT_DEFAULT = "it is the default, and no other is declared in its place"


@dataclass
class Doom:
    """What is deleted, by id, and why something that is declared no more is kept all the same."""

    doomed: dict[str, Ref] = field(default_factory=dict)
    kept: dict[str, str] = field(default_factory=dict)


def doom(case: Case) -> Doom:
    """Given a case, return which undeclared parts are deleted. Linear in the size of the structure."""
    doom = Doom(dict(case.replaced))
    unclear = {kind: _unclear(case, kind) for kind in PARTS}
    for thing in case.live.of(*PARTS):
        if thing.id not in case.matches.refs and thing.id not in case.matches.disputed and thing.id not in doom.doomed:
            _judge(case, doom, thing, unclear[thing.kind])
    _spare(case, doom, "section", _of_section)
    _spare(case, doom, "variant", _of_variant)
    for group in _deepest_first(case, (thing for thing in case.live.of("group") if thing.id in doom.doomed)):
        if why := _of_group(case, doom, group):
            _keep(doom, group, why)
    return doom


def tell(case: Case, doom: Doom) -> None:
    """Given what is deleted, take down the lines, and the requests in the order in which nothing is lost by mistake."""
    for id, why in doom.kept.items():
        case.lines.append(Line("report", case.name(id), _shown(case.live.things[id]), why))
    gone = [case.live.things[id] for id in doom.doomed if id in case.live.things]
    for thing in gone:
        note = "made anew elsewhere" if thing.id in case.replaced else _why(case, thing)
        case.lines.append(Line("delete", doom.doomed[thing.id], _shown(thing), note))
    calls: tuple[tuple[str, Call], ...] = (("variant", Call.VARIANT_DELETE), ("section", Call.SECTION_DELETE))
    for kind, call in calls:
        for thing in gone:
            if thing.kind == kind and not (kind == "variant" and thing.parent in doom.doomed):
                _delete(case, doom, thing, call)
    for thing in _deepest_first(case, (one for one in gone if one.kind == "group")):
        _delete(case, doom, thing, Call.GROUP_DELETE)


def _delete(case: Case, doom: Doom, thing: Existing, call: Call) -> None:
    case.drafts.append(Draft(Wave.DELETE, call, doom.doomed[thing.id], thing.id, drops=True))
    if thing.kind == "section":
        for id in case.live.orders.get(thing.id, ()):
            if not doom.doomed[id].key.startswith("#"):
                case.drafts.append(Draft(Wave.DELETE, Call.FORGET, doom.doomed[id], id, drops=True))


def _judge(case: Case, doom: Doom, thing: Existing, unclear: str) -> None:
    ref = case.name(thing.id)
    if not case.covers(ref):
        return
    prune, owned = case.file.policy.pruned("structure"), case.owns(thing.id)
    if prune == "all" and not owned and unclear:
        doom.kept[thing.id] = f"kept: it could be {unclear}, which is not there"
    elif prune != "all" and owned and not case.is_as_left(thing):
        known = case.locked(thing.id).words
        doom.kept[thing.id] = f"kept: it is not {known}, as which the lock has its id"
    elif prune == "all" or (owned and prune == "owned"):
        doom.doomed[thing.id] = ref
    elif owned:
        doom.kept[thing.id] = f"no longer declared, kept: policy.prune.structure is {prune}"


def _unclear(case: Case, kind: Kind) -> str:
    """Something declared of this kind that is neither found nor going to be made."""
    return next((item.ref.words for item in case.items(kind) if not case.is_there(item.ref)), "")


def _spare(case: Case, doom: Doom, kind: str, why_not: Callable[[Case, Doom, Existing], str]) -> None:
    for id in list(doom.doomed):
        thing = case.live.things.get(id)
        if thing is not None and thing.kind == kind and (why := why_not(case, doom, thing)):
            _keep(doom, thing, why)


def _keep(doom: Doom, thing: Existing, why: str) -> None:
    del doom.doomed[thing.id]
    doom.kept[thing.id] = f"kept: {why}"


def _of_section(case: Case, doom: Doom, section: Existing) -> str:
    others = [id for id in case.live.orders.get(section.id, ()) if id not in doom.doomed]
    if others:
        return f"it holds {', '.join(case.name(id) for id in others[:3])}, which would go with it"
    return _NOT_DEFAULT if section.fields.get("default") and not _has_heir(case, case.file.of("section")) else ""


def _of_variant(case: Case, doom: Doom, variant: Existing) -> str:
    if variant.parent in doom.doomed:
        return ""
    if variant.parent == ROOT and _waits_for_sections(case):
        return "the sections that are declared in its place cannot be made yet"
    parent = ROOT if variant.parent == ROOT else case.name(variant.parent)
    stays = any(id not in doom.doomed for id in case.live.orders.get(variant.parent, ()))
    if not stays and not any(item.ref in case.new for item in case.below.get(parent, ())):
        return "it is the last variant"
    return _NOT_DEFAULT if variant.fields.get("default") and not _has_heir(case, case.below.get(parent, ())) else ""


def _waits_for_sections(case: Case) -> bool:
    """Whether the site is to have sections instead of what stands at its root, and has none."""
    declared = case.file.of("section") and not any(item.parent == ROOT for item in case.file.of("variant"))
    return bool(declared) and not case.live.of("section")


def _has_heir(case: Case, items: Iterable[Item]) -> bool:
    """Whether one of some declared things becomes the default in this plan."""
    for item in items:
        diff = case.diffs.get(item.ref)
        if item.fields.get("default") and (item.ref in case.new or (diff is not None and "default" in diff.act)):
            return True
    return False


def _of_group(case: Case, doom: Doom, group: Existing) -> str:
    held = [id for id in case.live.orders.get(group.id, ()) if id not in doom.doomed and not _leaves(case, id)]
    return f"it still holds {', '.join(case.name(id) for id in held[:3])}" if held else ""


def _leaves(case: Case, id: str) -> bool:
    diff = case.diffs.get(case.matches.refs.get(id, ROOT))
    return diff is not None and "parent" in diff.act


def _deepest_first(case: Case, groups: Iterable[Existing]) -> list[Existing]:
    return sorted(groups, key=lambda group: -_depth(case, group))


def _depth(case: Case, group: Existing) -> int:
    depth, seen = 0, {group.id}
    above = case.live.things.get(group.parent)
    while above is not None and above.id not in seen:
        seen.add(above.id)
        depth, above = depth + 1, case.live.things.get(above.parent)
    return depth


def _shown(thing: Existing) -> tuple[FieldChange, ...]:
    name = "title" if thing.kind == "group" else "path"
    return (FieldChange(name, thing.fields.get(name), None),)


def _why(case: Case, thing: Existing) -> str:
    return "no longer declared" if case.owns(thing.id) else "not declared: policy.prune.structure is all"
