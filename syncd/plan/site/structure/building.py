"""Groups, sections and variants: made, and kept as they are declared; what is gated stands on an empty space first.

Whatever shows real content publicly gets its condition before its content (W3 to W5).
Source: syncd/manual/how-to/site.md, "Who can read what".
"""

from collections.abc import Iterator, Mapping
from typing import Any

from syncd.layout.site.read.declared import Item
from syncd.model.ref import ROOT, Kind
from syncd.plan.site.call import Call
from syncd.plan.site.gates.gating import is_exchange
from syncd.plan.site.live_state import IdOf
from syncd.plan.site.part import Draft, draft_step
from syncd.plan.site.sides import Sides
from syncd.plan.site.steps import Wave
from syncd.plan.site.structure.decisions import Structure, find_condition
from syncd.plan.site.structure.paths import Paths
from syncd.plan.site.structure.placing import sort_by_creation

_UPDATES: Mapping[Kind, Call] = {
    "group": Call.GROUP_UPDATE,
    "section": Call.SECTION_UPDATE,
    "variant": Call.VARIANT_UPDATE,
}


def draft_groups(sides: Sides, structure: Structure) -> Iterator[Draft]:
    """Yield the groups that are to be created, parents first, and new titles and icons (W3)."""
    for item in sides.items("group"):
        if item.ref in structure.new:
            desired = structure.desired[item.ref]
            body = {"title": desired.get("title") or item.key, **_pick(desired, "icon")}
            if item.parent != ROOT:
                body["parent"] = sides.find_id(item.parent)
            yield draft_step(sides, Wave.GROUPS, Call.GROUP_CREATE, item.ref, body, dict(desired))
        else:
            yield from _draft_update(sides, structure, item, ("title", "icon"), Wave.GROUPS)


def draft_sections(sides: Sides, structure: Structure, paths: Paths) -> Iterator[Draft]:
    """Yield the sections that are to be created, and what changes in those that exist (W4)."""
    for item in sort_by_creation(sides, structure, "section"):
        if item.ref in structure.new:
            yield from _draft_section(sides, structure, paths, item)
        else:
            yield from _draft_update(sides, structure, item, ("title", "icon", "description"), Wave.SECTIONS)


def draft_variants(sides: Sides, structure: Structure, paths: Paths) -> Iterator[Draft]:
    """Yield the variants that are to be created, and the content of those that exist (W5)."""
    for item in sort_by_creation(sides, structure, "variant"):
        if item.ref in structure.new:
            yield from _draft_variant(sides, structure, paths, item)
        else:
            diff = structure.diffs.get(item.ref)
            names = ("condition", "space") if diff is not None and is_exchange(diff) else ("space",)
            yield from _draft_update(sides, structure, item, names, Wave.VARIANTS)


def _draft_section(sides: Sides, structure: Structure, paths: Paths, item: Item) -> Iterator[Draft]:
    desired, first = structure.desired[item.ref], sides.desired.items[structure.first_variants[item.ref]]
    given = _pick(desired, "title", "icon")
    body = {"spaceId": _choose_first_space(sides, structure, first), **given}
    yield draft_step(sides, Wave.SECTIONS, Call.SECTION_CREATE, item.ref, body, given | _pick_empty(desired))
    if _is_open_at_first(sides, structure, first):
        yield _draft_adoption(sides, structure, first, Wave.SECTIONS)
        condition = _pick(structure.desired[first.ref], "condition")
        yield draft_step(sides, Wave.SECTIONS, Call.VARIANT_UPDATE, first.ref, condition, condition)
    names = ("condition", "description")
    yield from _draft_rest(structure, paths, item, names, Wave.SECTIONS, Call.SECTION_UPDATE)


def _draft_variant(sides: Sides, structure: Structure, paths: Paths, item: Item) -> Iterator[Draft]:
    desired, space = structure.desired[item.ref], _choose_first_space(sides, structure, item)
    is_open = _is_open_at_first(sides, structure, item)
    if not _comes_with_section(structure, item):
        body = {"spaceId": space} | ({} if item.parent == ROOT else {"sectionId": sides.find_id(item.parent)})
        sets = {"space": space, "parent": desired["parent"], **_pick_empty(desired)}
        yield draft_step(sides, Wave.VARIANTS, Call.VARIANT_CREATE, item.ref, body, sets)
    elif not is_open:
        yield _draft_adoption(sides, structure, item, Wave.VARIANTS)
    names = ("hidden",) if is_open else ("condition", "hidden")
    yield from _draft_rest(structure, paths, item, names, Wave.VARIANTS, Call.VARIANT_UPDATE)
    if space != desired.get("space"):
        body, sets = {"spaceId": desired["space"]}, {"space": desired["space"]}
        yield draft_step(sides, Wave.VARIANTS, Call.VARIANT_UPDATE, item.ref, body, sets)


def _draft_rest(
    structure: Structure, paths: Paths, item: Item, names: tuple[str, ...], wave: Wave, call: Call
) -> Iterator[Draft]:
    """What a new section or variant is told next: these fields, and the path that it is made with."""
    desired = structure.desired[item.ref]
    body = _pick(desired, *names)
    sets: dict[str, Any] = dict(body)
    path = paths.first.get(item.ref)
    is_passing = path is not None and path != desired.get("path")
    if path is not None:
        body["path"] = path
        sets |= {} if is_passing else {"path": path}
    if body:
        yield Draft(wave, call, item.ref, IdOf(item.ref), body, sets, is_temporary=is_passing)


def _draft_adoption(sides: Sides, structure: Structure, item: Item, wave: Wave) -> Draft:
    """The step by which the lock takes over a variant that came with its section."""
    desired = structure.desired[item.ref]
    space = _choose_first_space(sides, structure, item)
    sets = {"space": space, "parent": desired["parent"], **_pick_empty(desired)}
    return draft_step(sides, wave, Call.ADOPT, item.ref, {}, sets)


def _is_open_at_first(sides: Sides, structure: Structure, item: Item) -> bool:
    """Whether a variant is made with its section, shows its content by then, and has a condition that is its only one.

    Then everybody can read it until it has that, and nothing else is said before.
    """
    if sides.desired.holding or not _comes_with_section(structure, item):
        return False
    desired = structure.desired
    return bool(desired[item.ref].get("condition")) and not desired[item.parent].get("condition")


def _comes_with_section(structure: Structure, item: Item) -> bool:
    return structure.first_variants.get(item.parent) == item.ref


def _choose_first_space(sides: Sides, structure: Structure, item: Item) -> str:
    """The space that a variant is made with: an empty one while nothing keeps the public from it."""
    holding = sides.desired.holding
    return holding if holding and find_condition(sides, item) else str(structure.desired[item.ref]["space"])


def _draft_update(
    sides: Sides, structure: Structure, item: Item, names: tuple[str, ...], wave: Wave
) -> Iterator[Draft]:
    diff = structure.diffs.get(item.ref)
    found = {name: diff.act[name].after for name in names if name in diff.act} if diff is not None else {}
    if found:
        body = {"spaceId" if name == "space" else name: value for name, value in found.items()}
        yield draft_step(sides, wave, _UPDATES[item.kind], item.ref, body, found)


def _pick(desired: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: desired[name] for name in names if desired.get(name) is not None}


def _pick_empty(desired: Mapping[str, Any]) -> dict[str, Any]:
    """The declared fields that something new has as declared without any request: those that are to be empty."""
    return {name: value for name, value in desired.items() if value is None or value == ROOT}
