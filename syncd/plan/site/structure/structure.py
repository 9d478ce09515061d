"""Groups, sections and variants: what is to change on them, and what of it the platform cannot do."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from syncd.layout.site.read.declared import Item
from syncd.model.ref import ROOT, Ref
from syncd.plan.site import resolve
from syncd.plan.site.differ import Diff, FieldDiff
from syncd.plan.site.format import quote_ref
from syncd.plan.site.lines import describe_obstacle
from syncd.plan.site.sides import Sides
from syncd.plan.site.steps import Line
from syncd.plan.site.structure.decisions import (
    PARTS,
    RemoteDeletions,
    Structure,
    block_field,
    is_opened_remotely,
    is_present,
)
from syncd.plan.site.structure.placing import was_choosing
from syncd.plan.site.structure.remote_deletions import find_lost_entry, find_remote_deletions

_DECLARE_BOTH = "declare one section with all of them, and a second section"
_DRAG = "drag it in the site's structure"


def is_same(name: str, desired: Any, existing: Any) -> bool:
    """Return whether two values of a structure's field are the same in meaning: absent, empty and off are."""
    return (desired or None) == (existing or None)


def compare_structure(sides: Sides) -> Structure:
    """Return what is to change in the declared parts that exist, and which parts are to be created.

    Shape: what is unclear, or cannot be done by the platform, is left out, with a line that says why.
    """
    structure = _compare_parts(sides, find_remote_deletions(sides))
    structure = _find_new(sides, _drop_impossible(sides, structure))
    notes: dict[Ref, tuple[str, str]] = {}
    for item in sides.items("group", "section"):
        diff = structure.diffs.get(item.ref)
        is_moving = diff is not None and "parent" in diff.act and item.parent != ROOT
        if is_moving and not structure.is_present(sides, item.parent):
            notes[item.ref] = f"{quote_ref(item.parent)} is not there, and this plan does not make it", ""
    structure = block_field(sides, structure, "parent", notes)
    return block_field(sides, structure, "parent", _find_cycles(sides, structure))


def _find_cycles(sides: Sides, structure: Structure) -> dict[Ref, tuple[str, str]]:
    """The moves of groups that cannot be made, as a group that stays where it is would come to hold itself."""
    parents = {sides.find_ref(group.id): sides.find_ref(group.parent) for group in sides.existing.of("group")}
    parents |= {item.ref: item.parent for item in structure.new.values() if item.kind == "group"}
    notes: dict[Ref, tuple[str, str]] = {}
    for item in sides.items("group"):
        diff = structure.diffs.get(item.ref)
        if diff is None or "parent" not in diff.act:
            continue
        if item.ref in _list_ancestors(parents, item.parent):
            why = f"{quote_ref(item.parent)} is within it and stays there"
            notes[item.ref] = why, f"let {quote_ref(item.parent)} leave it first"
        else:
            parents[item.ref] = item.parent
    return notes


def _list_ancestors(parents: Mapping[Ref, Ref], ref: Ref) -> list[Ref]:
    """A group and all that it is within, from the inside out."""
    found: list[Ref] = []
    while ref != ROOT and ref not in found:
        found.append(ref)
        ref = parents.get(ref, ROOT)
    return found


def _compare_parts(sides: Sides, remote: RemoteDeletions) -> Structure:
    desired: dict[Ref, Mapping[str, Any]] = {}
    diffs: dict[Ref, Diff] = {}
    lines: list[Line] = []
    for item in sides.items(*PARTS):
        desired[item.ref] = resolve.resolve_part(sides, item)
        if item.ref in sides.matches.ambiguous:
            note, manual = f"ambiguous: {sides.matches.ambiguous[item.ref]}", "name the right one with id: in the file"
            gone = remote.classify(item.ref)
            lines.append(describe_obstacle(sides, item.ref, note, manual=manual, gone=gone))
        elif (existing_item := sides.matches.found.get(item.ref)) is not None:
            existing = {**existing_item.fields, "parent": existing_item.parent}
            # A default that a dead run was about to choose is not there yet, so nobody has taken it away.
            is_unsent = not existing.get("default") and was_choosing(sides, item.ref)
            names = ("order", "default") if is_unsent else ("order",)
            base: Mapping[str, Any] = {
                name: value for name, value in sides.find_base(item.ref).items() if name not in names
            }
            if item.parent in remote.lost:
                base, desired[item.ref] = _stay_behind(sides, remote, item, base, desired[item.ref])
            diffs[item.ref] = sides.judge("structure").diff(base, desired[item.ref], existing, is_same)
    return Structure(desired, diffs, {}, remote, tuple(lines))


def _stay_behind(
    sides: Sides, remote: RemoteDeletions, item: Item, base: Mapping[str, Any], desired: Mapping[str, Any]
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The base and the desired fields of what stood in something that was deleted.

    It stays where that left it, or follows when that is made anew.
    """
    entry = find_lost_entry(sides, item.parent)
    kept = {name: value for name, value in base.items() if name != "parent"}
    if entry is None or base.get("parent", entry.id) != entry.id:
        return {**kept, "parent": sides.find_base(item.ref)["parent"]}, desired
    if item.parent in remote.left:
        return kept, {name: value for name, value in desired.items() if name != "parent"}
    return kept, desired


def _drop_impossible(sides: Sides, structure: Structure) -> Structure:
    """The decisions without the changes that the platform cannot make, or that would show what is not to be seen."""
    diffs, lines = dict(structure.diffs), list(structure.lines)

    def drop(item: Item, name: str, note: str, manual: str = "") -> None:
        diff, gone = diffs[item.ref], structure.remote.classify(item.ref)
        found = diff.act.get(name)
        diffs[item.ref] = diff.without(name)
        lines.append(describe_obstacle(sides, item.ref, note, manual=manual, name=name, found=found, gone=gone))

    for item in sides.items(*PARTS):
        if item.ref not in diffs:
            continue
        if item.kind == "variant" and sides.matches.found[item.ref].parent != sides.find_id(item.parent):
            manual = "declare it there under a new key without was: or id:, and take the old one out"
            drop(item, "parent", "a variant cannot change its section", manual)
            # What else is declared for it is meant for another place; a condition keeps it from the public in any.
            diffs[item.ref] = replace(diffs[item.ref], act=_keep_condition(diffs[item.ref].act))
        if "parent" in diffs[item.ref].act and (why := _explain_parent(sides, item)):
            drop(item, "parent", *why)
        if "space" not in diffs[item.ref].act:
            continue
        if why_not := sides.existing.spaces.get(str(diffs[item.ref].act["space"].after)):
            drop(item, "space", f"its space cannot be used: {why_not}")
        elif is_opened_remotely(sides, diffs, item):
            note = "its condition was taken away on the platform, so that new content would be public"
            drop(item, "space", note, f"restore the condition, or take it out of {sides.desired.path}")
    return replace(structure, diffs=diffs, lines=tuple(lines))


def _keep_condition(act: Mapping[str, FieldDiff]) -> Mapping[str, FieldDiff]:
    return {name: found for name, found in act.items() if name == "condition" and found.after}


def _explain_parent(sides: Sides, item: Item) -> tuple[str, str] | None:
    """Why something cannot get another parent, and what a person can do; None when it can."""
    if sides.existing.abilities.reparent or (item.kind != "group" and item.parent != ROOT):
        return None
    if item.kind == "group":
        manual = f"{_DRAG}, or allow to make it anew with --allow-replace group"
        return "a group cannot be moved into another by this API", manual
    return "a section cannot leave its group by this API", _DRAG


def _find_new(sides: Sides, structure: Structure) -> Structure:
    """The decisions with what is to be made; what cannot be made gets a line that says why."""
    new: dict[Ref, Item] = {}
    lines = list(structure.lines)
    for kind in PARTS:
        for item in sides.items(kind):
            ref, matches, remote = item.ref, sides.matches, structure.remote
            if ref in matches.found or ref in matches.ambiguous or ref in remote.left:
                continue
            why, manual = _find_obstacle(sides, structure, new, item)
            if why:
                lines.append(describe_obstacle(sides, ref, why, manual=manual, gone=remote.classify(ref)))
            else:
                new[ref] = item
    return replace(structure, new=new, lines=tuple(lines))


def _find_obstacle(sides: Sides, structure: Structure, new: Mapping[Ref, Item], item: Item) -> tuple[str, str]:
    """Why something cannot be made, and what a person can do; two empty texts when it can."""
    if item.parent != ROOT and not is_present(sides, new, item.parent):
        return f"{quote_ref(item.parent)} is not there, and this plan does not make it", ""
    has_sections = bool(sides.existing.of("section"))
    if item.kind == "section":
        if not has_sections and any(item.parent == ROOT for item in sides.existing.of("variant")):
            why = "the platform puts all site-spaces at the root into one section, as soon as the site has another"
            root = sides.root_section
            if root is not None and not sides.is_covered(root.ref):
                return why, f"plan it together with {root.ref}"
            return why, _DECLARE_BOTH
        if not any(_is_usable(sides, variant) for variant in sides.children.get(item.ref, ())):
            return "it has no variant that could be made with it", "give it a variant with a space that can be used"
    if item.kind != "variant":
        return "", ""
    if item.parent == ROOT and has_sections:
        return "the site has sections, so that nothing can stand at its root", "declare it in a section"
    if not _is_usable(sides, item):
        why = sides.existing.spaces.get(str(item.fields.get("space")), "none is declared")
        return f"its space cannot be used: {why}", ""
    if is_opened_remotely(sides, structure.diffs, item):
        why = "its section's condition was taken away on the platform, so that it would be public"
        return why, "restore the condition, or take it out of the file"
    return "", ""


def _is_usable(sides: Sides, item: Item) -> bool:
    """Whether something new can be made of a declared variant."""
    space, matches = item.fields.get("space"), sides.matches
    is_new = item.ref not in matches.found and item.ref not in matches.ambiguous and sides.is_covered(item.ref)
    return is_new and bool(space) and not sides.existing.spaces.get(str(space))
