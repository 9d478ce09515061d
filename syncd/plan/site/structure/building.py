"""Groups, sections and variants: made, and kept as they are declared; what is gated stands on an empty space first.

Whatever shows real content publicly gets its condition before its content (W3 to W5).
Source: site-file notes, §4.2.
"""

from collections.abc import Mapping
from typing import Any

from syncd.layout.site.read.declared import Item
from syncd.model.ref import ROOT, Kind
from syncd.plan.site.call import Call
from syncd.plan.site.context import Case, Draft
from syncd.plan.site.gates.gating import is_exchange
from syncd.plan.site.live_state import IdOf
from syncd.plan.site.steps import Wave
from syncd.plan.site.structure.paths import Paths
from syncd.plan.site.structure.placing import in_making
from syncd.plan.site.structure.structure import gate_of

_UPDATES: Mapping[Kind, Call] = {
    "group": Call.GROUP_UPDATE,
    "section": Call.SECTION_UPDATE,
    "variant": Call.VARIANT_UPDATE,
}
_COMPLETED: Mapping[str, tuple[Wave, Call]] = {
    "section": (Wave.SECTIONS, Call.SECTION_UPDATE),
    "variant": (Wave.VARIANTS, Call.VARIANT_UPDATE),
}


def build_groups(case: Case) -> None:
    """Given a case, take down groups that are to be made, parents first, and new titles and icons (W3)."""
    for item in case.items("group"):
        if item.ref in case.new:
            wanted = case.desired[item.ref]
            body = {"title": wanted.get("title") or item.key, **_given(wanted, "icon")}
            if item.parent != ROOT:
                body["parent"] = case.id(item.parent)
            case.step(Wave.GROUPS, Call.GROUP_CREATE, item.ref, body, dict(wanted))
        else:
            _amend(case, item, ("title", "icon"), Wave.GROUPS)


def build_sections(case: Case, paths: Paths) -> None:
    """Given a case, take down sections that are to be made and what is said about those that are there (W4)."""
    for item in in_making(case, "section"):
        if item.ref in case.new:
            _new_section(case, item, paths)
        else:
            _amend(case, item, ("title", "icon", "description"), Wave.SECTIONS)


def build_variants(case: Case, paths: Paths) -> None:
    """Given a case, take down variants that are to be made, and the content of those that are there (W5)."""
    for item in in_making(case, "variant"):
        if item.ref in case.new:
            _new_variant(case, item, paths)
        else:
            diff = case.diffs.get(item.ref)
            names = ("condition", "space") if diff is not None and is_exchange(diff) else ("space",)
            _amend(case, item, names, Wave.VARIANTS)


def _new_section(case: Case, item: Item, paths: Paths) -> None:
    wanted, first = case.desired[item.ref], case.file.items[case.first[item.ref]]
    body = {"spaceId": _first_space(case, first), **_given(wanted, "title", "icon")}
    case.step(Wave.SECTIONS, Call.SECTION_CREATE, item.ref, body, _given(wanted, "title", "icon") | _nothing(wanted))
    if _is_open(case, first):
        _adopt_brought(case, first, Wave.SECTIONS)
        condition = _given(case.desired[first.ref], "condition")
        case.step(Wave.SECTIONS, Call.VARIANT_UPDATE, first.ref, condition, condition)
    _complete(case, item, paths, "condition", "description")


def _new_variant(case: Case, item: Item, paths: Paths) -> None:
    wanted, space = case.desired[item.ref], _first_space(case, item)
    if not _is_brought(case, item):
        body = {"spaceId": space} | ({} if item.parent == ROOT else {"sectionId": case.id(item.parent)})
        sets = {"space": space, "parent": wanted["parent"], **_nothing(wanted)}
        case.step(Wave.VARIANTS, Call.VARIANT_CREATE, item.ref, body, sets)
    elif not _is_open(case, item):
        _adopt_brought(case, item, Wave.VARIANTS)
    _complete(case, item, paths, *(("hidden",) if _is_open(case, item) else ("condition", "hidden")))
    if space != wanted.get("space"):
        case.step(
            Wave.VARIANTS, Call.VARIANT_UPDATE, item.ref, {"spaceId": wanted["space"]}, {"space": wanted["space"]}
        )


def _complete(case: Case, item: Item, paths: Paths, *names: str) -> None:
    """What a new section or variant is told next: these fields, and the path that it is born with."""
    wanted = case.desired[item.ref]
    more = _given(wanted, *names)
    sets: dict[str, Any] = dict(more)
    born = paths.born.get(item.ref)
    if born is not None:
        more["path"] = born
        sets |= {"path": born} if born == wanted.get("path") else {}
    if not more:
        return
    wave, call = _COMPLETED[item.kind]
    passing = born is not None and born != wanted.get("path")
    case.drafts.append(Draft(wave, call, item.ref, IdOf(item.ref), more, sets, temporary=passing))


def _adopt_brought(case: Case, item: Item, wave: Wave) -> None:
    wanted = case.desired[item.ref]
    sets = {"space": _first_space(case, item), "parent": wanted["parent"], **_nothing(wanted)}
    case.step(wave, Call.ADOPT, item.ref, {}, sets)


def _is_open(case: Case, item: Item) -> bool:
    """Whether a variant is made with its section, shows its content by then, and has a condition that is its only one.

    Then everybody can read it until it has that, and nothing else is said before.
    """
    if case.file.holding or not _is_brought(case, item):
        return False
    return bool(case.desired[item.ref].get("condition")) and not case.desired[item.parent].get("condition")


def _is_brought(case: Case, item: Item) -> bool:
    return case.first.get(item.parent) == item.ref


def _first_space(case: Case, item: Item) -> str:
    """The space that a variant is made with: an empty one while nothing keeps the public from it."""
    return case.file.holding if case.file.holding and gate_of(case, item) else str(case.desired[item.ref]["space"])


def _amend(case: Case, item: Item, names: tuple[str, ...], wave: Wave) -> None:
    diff = case.diffs.get(item.ref)
    found = {name: diff.act[name].after for name in names if name in diff.act} if diff is not None else {}
    if found:
        body = {"spaceId" if name == "space" else name: value for name, value in found.items()}
        case.step(wave, _UPDATES[item.kind], item.ref, body, found)


def _given(wanted: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: wanted[name] for name in names if wanted.get(name) is not None}


def _nothing(wanted: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that something new has as they are declared without a word: those that are to be empty."""
    return {name: value for name, value in wanted.items() if value is None or value == ROOT}
