"""Groups, sections and variants: what is to change on them, and what of it the platform cannot do."""

from typing import Any

from syncd.layout.site.read.declared import Item
from syncd.model.ref import ROOT, Ref
from syncd.plan.site import resolve
from syncd.plan.site.context import Case
from syncd.plan.site.differ import Diff
from syncd.plan.site.format import quoted
from syncd.plan.site.structure import remote_deletions
from syncd.plan.site.structure.placing import was_choosing

_DECLARE_BOTH = "declare one section with all of them, and a second section"
_DRAG = "drag it in the site's structure"


def same(name: str, wanted: Any, live: Any) -> bool:
    """Given a field of the structure, return whether two values of it say the same: nothing, empty and off do."""
    return (wanted or None) == (live or None)


def compare(case: Case) -> None:
    """Given a case, find what is to change on the declared parts that are there; those that are unclear wait."""
    _replace_groups(case)
    remote_deletions.find(case)
    for item in case.items("group", "section", "variant"):
        case.desired[item.ref] = resolve.structure(case, item)
        if item.ref in case.matches.unclear:
            case.block(
                item.ref,
                f"ambiguous: {case.matches.unclear[item.ref]}",
                manual="name the right one with id: in the file",
            )
        elif (thing := case.matches.found.get(item.ref)) is not None:
            live = {**thing.fields, "parent": thing.parent}
            not_theirs = not live.get("default") and was_choosing(case, item.ref)
            unsure = ("order", "default") if not_theirs else ("order",)
            base = {name: value for name, value in case.base(item.ref).items() if name not in unsure}
            if item.parent in case.lost:
                _stay_behind(case, item, base)
            case.diffs[item.ref] = case.judge("structure").diff(base, case.desired[item.ref], live, same)
    for item in case.items("group", "section", "variant"):
        if item.ref in case.diffs:
            _require_possible(case, item, case.diffs[item.ref])


def arrive(case: Case) -> None:
    """Given a case, find which declared parts are to be made, and which of them cannot be."""
    for kind in ("group", "section", "variant"):
        for item in case.items(kind):
            if item.ref in case.matches.found or item.ref in case.matches.unclear or item.ref in case.left:
                continue
            why, manual = _in_the_way(case, item)
            if why:
                case.block(item.ref, why, manual=manual)
            else:
                case.new[item.ref] = item
    for item in case.items("group", "section"):
        diff = case.diffs.get(item.ref)
        if diff is not None and "parent" in diff.act and item.parent != ROOT and not case.is_there(item.parent):
            case.block(item.ref, f"{quoted(item.parent)} is not there, and this plan does not make it", name="parent")


def leave_out(case: Case, ref: Ref, why: str, manual: str = "") -> None:
    """Given something that was to be made and cannot be, leave it out, with all that was to be made in it."""
    del case.new[ref]
    case.block(ref, why, manual=manual)
    for item in case.below.get(ref, ()):
        if item.ref in case.new:
            leave_out(case, item.ref, f"{quoted(ref)} is blocked")


def pair(case: Case) -> None:
    """Given a case in which it is decided what is made, choose the variant that each new section is made with."""
    for ref, item in case.new.items():
        if item.kind == "section":
            made = [variant for variant in case.below.get(ref, ()) if variant.ref in case.new]
            chosen = [variant for variant in made if variant.fields.get("default")]
            case.first[ref] = (chosen or made)[0].ref


def gate_of(case: Case, item: Item) -> str:
    """Given a variant or section, return the condition that keeps it from the public, its section's included."""
    section = case.file.items.get(item.parent) if item.kind == "variant" else None
    own = item.fields.get("condition")
    return str(own or (section.fields.get("condition") if section is not None else "") or "")


def is_open(case: Case, item: Item) -> bool:
    """Given a variant or section whose file gates it, return whether it is open on the platform and stays so.

    That is so while somebody's edit there, which is only reported, has taken its condition away.
    """
    refs = [item.ref, *([item.parent] if item.kind == "variant" and item.parent != ROOT else [])]
    gated = [ref for ref in refs if (one := case.file.items.get(ref)) is not None and one.fields.get("condition")]
    return bool(gated) and not any(_closes(case, ref) for ref in gated)


def _closes(case: Case, ref: Ref) -> bool:
    thing, diff = case.matches.found.get(ref), case.diffs.get(ref)
    if thing is None:
        return True
    return bool(thing.fields.get("condition")) or (diff is not None and "condition" in diff.act)


def _stay_behind(case: Case, item: Item, base: dict[str, Any]) -> None:
    """What stood in something that was deleted stays where that left it, or follows when that is made anew."""
    entry = remote_deletions.entry_of(case, item.parent)
    if entry is None or base.pop("parent", entry.id) != entry.id:
        base["parent"] = case.base(item.ref)["parent"]
    elif item.parent in case.left:
        case.desired[item.ref] = {name: value for name, value in case.desired[item.ref].items() if name != "parent"}


def _require_possible(case: Case, item: Item, diff: Diff) -> None:
    if item.kind == "variant" and case.matches.found[item.ref].parent != case.id(item.parent):
        manual = "declare it there under a new key without was: or id:, and take the old one out"
        case.block(item.ref, "a variant cannot change its section", name="parent", manual=manual)
        # What else is declared for it is meant for another place; a condition keeps it from the public in any.
        for name in [name for name, found in diff.act.items() if name != "condition" or not found.after]:
            del diff.act[name]
    if "parent" in diff.act:
        _require_place(case, item)
    if "space" not in diff.act:
        return
    if why := case.live.spaces.get(str(diff.act["space"].after)):
        case.block(item.ref, f"its space cannot be used: {why}", name="space")
    elif is_open(case, item):
        note = "its condition was taken away on the platform, so that new content would be public"
        case.block(item.ref, note, name="space", manual=f"restore the condition, or take it out of {case.file.path}")


def _require_place(case: Case, item: Item) -> None:
    abilities = case.live.abilities
    wanted = item.parent
    if not abilities.reparent and (item.kind == "group" or wanted == ROOT):
        what = "a group cannot be moved into another" if item.kind == "group" else "a section cannot leave its group"
        more = ", or allow to make it anew with --allow-replace group" if item.kind == "group" else ""
        case.block(item.ref, f"{what} by this API", name="parent", manual=f"{_DRAG}{more}")


def _in_the_way(case: Case, item: Item) -> tuple[str, str]:
    if item.parent != ROOT and not case.is_there(item.parent):
        return f"{quoted(item.parent)} is not there, and this plan does not make it", ""
    sections = bool(case.live.of("section"))
    if item.kind == "section":
        if not sections and any(thing.parent == ROOT for thing in case.live.of("variant")):
            why = "the platform puts all site-spaces at the root into one section, as soon as the site has another"
            root = case.root_section
            if root is not None and not case.covers(root.ref):
                return why, f"plan it together with {root.ref}"
            return why, _DECLARE_BOTH
        if not any(_usable(case, variant) for variant in case.below.get(item.ref, ())):
            return "it has no variant that could be made with it", "give it a variant with a space that can be used"
    if item.kind != "variant":
        return "", ""
    if item.parent == ROOT and sections:
        return "the site has sections, so that nothing can stand at its root", "declare it in a section"
    if not _usable(case, item):
        why = case.live.spaces.get(str(item.fields.get("space")), "none is declared")
        return f"its space cannot be used: {why}", ""
    if is_open(case, item):
        why = "its section's condition was taken away on the platform, so that it would be public"
        return why, "restore the condition, or take it out of the file"
    return "", ""


def _usable(case: Case, item: Item) -> bool:
    space = item.fields.get("space")
    is_new = item.ref not in case.matches.found and item.ref not in case.matches.unclear and case.covers(item.ref)
    return is_new and bool(space) and not case.live.spaces.get(str(space))


def _replace_groups(case: Case) -> None:
    """Where it is allowed, let a group that stands in the wrong place be made anew; the old one goes when empty."""
    if "group" not in case.options.allow_replace or case.live.abilities.reparent:
        return
    for item in case.items("group"):
        thing = case.matches.found.get(item.ref)
        if thing is not None and case.id(item.parent) != thing.parent:
            del case.matches.found[item.ref]
            case.replaced[thing.id] = Ref.of("group", f"#{thing.id}")
